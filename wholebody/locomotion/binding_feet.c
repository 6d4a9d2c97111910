/* binding_feet.c - ground contact, foot compliance and the feed-forward of servos in Python. */
#include "wholebody/locomotion/binding.h"
#include "wholebody/model/binding.h"

#define SERVOS_HANDLE "wholebody.Servos"

typedef struct {
    Borrowed arrays;
    Servos servos;
    int nv, frames; /* of the tree that it was made for */
} ServosHandle;

FUNCTION(locomotion_find_ground)
{
    (void)module;
    double n[5], left_share, *gains = NULL, *wrench = NULL;
    if (!takes(10, count, "locomotion_find_ground") || !locomotion_numbers(arguments + 3, 5, n) ||
        !locomotion_numbers(arguments + 9, 1, &left_share))
        return NULL;
    long support = PyLong_AsLong(arguments[8]);
    if (PyErr_Occurred())
        return NULL;
    Borrowed arrays = {0};
    double *contact = borrow_written(&arrays, arguments[0], sizeof(GroundContact) / sizeof(double), "contact");
    if (contact)
        gains = borrow_numbers(&arrays, arguments[1], sizeof(GroundGains) / sizeof(double), "gains");
    if (gains)
        wrench = borrow_numbers(&arrays, arguments[2], 12, "wrench");
    GroundStep step = {{n[0], n[1]}, {n[2], -n[2]}, (const double (*)[6])wrench, n[3], n[4], (int)support, left_share};
    bool early = wrench && find_ground((const GroundGains *)gains, (GroundContact *)contact, &step);
    give_back(&arrays);
    return wrench ? Py_BuildValue("Oid", early ? Py_True : Py_False, step.support, step.left_share) : NULL;
}

FUNCTION(locomotion_turn_feet)
{
    (void)module;
    static const Wanted READ[] = {{"gains", sizeof(ComplianceGains) / sizeof(double)}, {"left", 16}, {"right", 16},
                                  {"zmp", 2}, {"wrench", 12}, {"cop", 4}, {"seen", 32}};
    double n[2], *found[7];
    if (!takes(11, count, "locomotion_turn_feet") || !locomotion_numbers(arguments + 8, 2, n))
        return NULL;
    int uneven = PyObject_IsTrue(arguments[10]);
    Borrowed arrays = {0};
    double *feet = borrow_written(&arrays, arguments[0], sizeof(FootCompliance) / sizeof(double), "compliance");
    bool well = uneven >= 0 && feet && locomotion_borrow(&arrays, arguments + 1, READ, 7, found);
    if (well) {
        ComplianceStep step = {
            .sole = {(const double (*)[4])found[1], (const double (*)[4])found[2]}, .zmp = found[3],
            .left_share = n[0], .wrench = (const double (*)[6])found[4], .cop = (const double (*)[2])found[5],
            .seen = (const double (*)[4][4])found[6], .uneven = uneven == 1, .period = n[1],
        };
        turn_feet((const ComplianceGains *)found[0], &step, (FootCompliance *)feet);
    }
    give_back(&arrays);
    return well ? Py_NewRef(Py_None) : NULL;
}

FUNCTION(locomotion_turn_sole)
{
    (void)module;
    static const Wanted READ[] = {{"sole", 16}, {"lean", 2}};
    double *found[2], *result = NULL;
    if (!takes(3, count, "locomotion_turn_sole"))
        return NULL;
    Borrowed arrays = {0};
    if (locomotion_borrow(&arrays, arguments, READ, 2, found))
        result = borrow_written(&arrays, arguments[2], 16, "result");
    if (result)
        turn_sole((const double (*)[4])found[0], found[1], (double (*)[4])result);
    give_back(&arrays);
    return result ? Py_NewRef(Py_None) : NULL;
}

/* The arrays of a call, for as long as the handle lives; false with a Python error. */
static bool fill_servos(ServosHandle *handle, const Tree *tree, PyObject *const *arguments)
{
    const Wanted joints[] = {{"compliance", tree->nv - 6}, {"lag", tree->nv - 6}, {"softness", tree->nv - 6},
                             {"from_spring", 6}};
    double *found[4], mass;
    const int64_t *soles = borrow_integers(&handle->arrays, arguments[1], 2, "soles");
    if (!soles || !locomotion_borrow(&handle->arrays, arguments + 2, joints, 4, found) ||
        !locomotion_numbers(arguments + 6, 1, &mass))
        return false;
    if (soles[0] < 0 || soles[0] >= tree->frames || soles[1] < 0 || soles[1] >= tree->frames) {
        PyErr_SetString(PyExc_IndexError, "soles are no frames of the model");
        return false;
    }
    handle->nv = tree->nv;
    handle->frames = tree->frames;
    handle->servos = (Servos){soles, found[0], found[1], found[2], (const double (*)[3])found[3], mass};
    return true;
}

FUNCTION(locomotion_servos)
{
    (void)module;
    if (!takes(7, count, "locomotion_servos"))
        return NULL;
    const Tree *tree = tree_of(arguments[0]);
    if (tree && !tree->floating)
        return PyErr_Format(PyExc_ValueError, "the robot has no floating base");
    ServosHandle *handle;
    PyObject *capsule = tree ? new_handle(sizeof *handle, SERVOS_HANDLE, (void **)&handle) : NULL;
    if (capsule && !fill_servos(handle, tree, arguments))
        Py_CLEAR(capsule);
    return capsule;
}

FUNCTION(locomotion_lead_servos)
{
    (void)module;
    double left_share, *found[7], *told = NULL;
    if (!takes(12, count, "locomotion_lead_servos") || !locomotion_numbers(arguments + 10, 1, &left_share))
        return NULL;
    ServosHandle *handle = handle_of(arguments[0], SERVOS_HANDLE);
    const Tree *tree = handle ? tree_of(arguments[1]) : NULL;
    const Snapshot *now = tree ? snapshot_of(arguments[2], tree) : NULL;
    if (!now)
        return NULL;
    if (tree->nv != handle->nv || tree->frames != handle->frames)
        return PyErr_Format(PyExc_ValueError, "the servos are of another robot");
    Py_ssize_t joints = tree->nv - 6;
    const Wanted READ[] = {{"joints", joints}, {"velocities", joints}, {"acceleration", 2}, {"rotation", 9},
                           {"left", 16}, {"right", 16}, {"zmp", 2}};
    Borrowed arrays = {0};
    if (locomotion_borrow(&arrays, arguments + 3, READ, 7, found))
        told = borrow_written(&arrays, arguments[11], joints, "told");
    if (told) {
        LegMotion motion = {
            .joints = found[0], .velocities = found[1], .acceleration = found[2], .rotation = found[3],
            .sole = {(const double (*)[4])found[4], (const double (*)[4])found[5]}, .zmp = found[6],
            .left_share = left_share,
        };
        lead_servos(tree, now, &handle->servos, &motion, told);
    }
    give_back(&arrays);
    return told ? Py_NewRef(Py_None) : NULL;
}
