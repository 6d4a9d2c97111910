/* binding_legs.c - the legs in Python. */
#include "wholebody/kinematics/binding.h"
#include "wholebody/locomotion/binding.h"
#include "wholebody/locomotion/walking/legs.h"
#include "wholebody/model/binding.h"
#include "wholebody/tasks/binding.h"

#define LEGS_HANDLE "wholebody.Legs"

typedef struct {
    Borrowed arrays;
    ClosedForm chains[2]; /* copies */
    Leg legs[2];
    LegGoals goals;
    double *joints;
    Py_ssize_t count; /* of joints */
} LegsHandle;

/* Chains, columns and joints of a call, for as long as the handle lives; false with a Python error. */
static bool fill_legs(LegsHandle *handle, PyObject *const *arguments)
{
    handle->joints = borrow_written(&handle->arrays, arguments[4], ANY, "joints");
    if (!handle->joints)
        return false;
    handle->count = borrowed_count(&handle->arrays);
    for (int side = 0; side < 2; side++) {
        const ClosedForm *chain = closed_form_of(arguments[side]);
        if (!chain)
            return false;
        handle->chains[side] = *chain;
        int64_t *columns = borrow_integers(&handle->arrays, arguments[2 + side], (Py_ssize_t)chain->joints, "columns");
        if (!columns)
            return false;
        for (int j = 0; j < chain->joints; j++)
            if (columns[j] < 0 || columns[j] >= handle->count) {
                PyErr_Format(PyExc_IndexError, "no joint %lld", (long long)columns[j]);
                return false;
            }
        handle->legs[side] = (Leg){&handle->chains[side], columns};
    }
    return true;
}

/* The goals of the tasks of left foot, right foot, pelvis and centre of mass; false with a Python error. */
static bool fill_goals(LegsHandle *handle, PyObject *tasks)
{
    static const TaskKind KINDS[] = {TASK_POSE, TASK_POSE, TASK_ORIENTATION_3D, TASK_CENTER_OF_MASS};
    double **goals[] = {&handle->goals.foot[0], &handle->goals.foot[1], &handle->goals.pelvis, &handle->goals.com};
    for (int i = 0; i < 4; i++) {
        PyObject *item = PyTuple_Check(tasks) && PyTuple_Size(tasks) == 4 ? PyTuple_GetItem(tasks, i) : NULL;
        const Task *task = item ? task_of(item) : NULL;
        if (!task || task->kind != KINDS[i]) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_TypeError, "legs take the tasks of two poses, a pelvis and a centre of mass");
            return false;
        }
        *goals[i] = task->goal;
    }
    keep(&handle->arrays, tasks);
    return true;
}

FUNCTION(locomotion_legs)
{
    (void)module;
    if (!takes(6, count, "locomotion_legs"))
        return NULL;
    LegsHandle *handle;
    PyObject *capsule = new_handle(sizeof *handle, LEGS_HANDLE, (void **)&handle);
    if (capsule && !(fill_legs(handle, arguments) && fill_goals(handle, arguments[5])))
        Py_CLEAR(capsule);
    return capsule;
}

FUNCTION(locomotion_aim_legs)
{
    (void)module;
    static const Wanted READ[] = {{"com", 3}, {"rotation", 9}, {"left", 16}, {"right", 16}};
    double *found[4];
    if (!takes(5, count, "locomotion_aim_legs"))
        return NULL;
    LegsHandle *handle = handle_of(arguments[0], LEGS_HANDLE);
    Borrowed arrays = {0};
    bool well = handle && locomotion_borrow(&arrays, arguments + 1, READ, 4, found);
    if (well) {
        const double (*const soles[2])[4] = {(const double (*)[4])found[2], (const double (*)[4])found[3]};
        aim_legs(&handle->goals, found[0], found[1], soles);
    }
    give_back(&arrays);
    return well ? Py_NewRef(Py_None) : NULL;
}

FUNCTION(locomotion_put_legs)
{
    (void)module;
    if (!takes(4, count, "locomotion_put_legs"))
        return NULL;
    LegsHandle *handle = handle_of(arguments[0], LEGS_HANDLE);
    const Tree *tree = handle ? tree_of(arguments[1]) : NULL;
    const Snapshot *before = tree ? snapshot_of(arguments[2], tree) : NULL;
    long rounds = before ? PyLong_AsLong(arguments[3]) : 0;
    if (!before || PyErr_Occurred())
        return NULL;
    if (!tree->floating || tree->nv - 6 != handle->count)
        return PyErr_Format(PyExc_ValueError, "the tree has %d joints, not %zd", tree->nv - 6, handle->count);
    return PyFloat_FromDouble(put_legs(tree, before, handle->legs, &handle->goals, (int)rounds, handle->joints));
}
