/* binding_feet.c - ground contact, foot compliance and the feed-forward of servos in Python. */
#include "wholebody/locomotion/binding.h"
#include "wholebody/model/binding.h"

#define SERVOS_HANDLE "wholebody.Servos"

typedef struct {
    Borrowed arrays;
    Servos servos;
    int nv, frames; /* of the tree that it was made for */
} ServosHandle;

static PyObject *locomotion_find_ground(Given *given)
{
    double *contact = given_written(given, 0, NUMBERS_IN(GroundContact), "contact");
    double *gains = given_numbers(given, 1, NUMBERS_IN(GroundGains), "gains");
    double *wrench = given_numbers(given, 2, 12, "wrench"), n[5];
    for (int i = 0; i < 5; i++)
        n[i] = given_number(given, 3 + i);
    long support = given_integer(given, 8);
    double left_share = given_number(given, 9);
    if (given->failed)
        return NULL;
    GroundStep step = {{n[0], n[1]}, {n[2], -n[2]}, (const double (*)[6])wrench, n[3], n[4], (int)support, left_share};
    bool early = find_ground((const GroundGains *)gains, (GroundContact *)contact, &step);
    return Py_BuildValue("Oid", early ? Py_True : Py_False, step.support, step.left_share);
}

static PyObject *locomotion_turn_feet(Given *given)
{
    double *feet = given_written(given, 0, NUMBERS_IN(FootCompliance), "compliance");
    double *gains = given_numbers(given, 1, NUMBERS_IN(ComplianceGains), "gains");
    ComplianceStep step = {
        .sole = {given_placement(given, 2, "left"), given_placement(given, 3, "right")},
        .zmp = given_numbers(given, 4, 2, "zmp"),
        .wrench = (const double (*)[6])given_numbers(given, 5, 12, "wrench"),
        .cop = (const double (*)[2])given_numbers(given, 6, 4, "cop"),
        .seen = (const double (*)[4][4])given_numbers(given, 7, 32, "seen"),
        .left_share = given_number(given, 8),
        .period = given_number(given, 9),
        .uneven = given_truth(given, 10),
    };
    if (!given->failed)
        turn_feet((const ComplianceGains *)gains, &step, (FootCompliance *)feet);
    return nothing();
}

static PyObject *locomotion_turn_sole(Given *given)
{
    const double (*sole)[4] = given_placement(given, 0, "sole"), *lean = given_numbers(given, 1, 2, "lean");
    double *result = given_written(given, 2, 16, "result");
    if (!given->failed)
        turn_sole(sole, lean, (double (*)[4])result);
    return nothing();
}

static PyObject *locomotion_servos(Given *given)
{
    const Tree *tree = given_tree(given, 0);
    ServosHandle *handle;
    PyObject *capsule = new_handle(given, sizeof *handle, SERVOS_HANDLE, (void **)&handle);
    if (!capsule)
        return NULL;
    if (!tree->floating)
        refuse(given, "the robot has no floating base");
    int joints = tree->nv - 6;
    handle->nv = tree->nv;
    handle->frames = tree->frames;
    handle->servos = (Servos){
        given_integers(given, 1, 2, "soles"),         given_numbers(given, 2, joints, "compliance"),
        given_numbers(given, 3, joints, "lag"), given_numbers(given, 4, joints, "softness"),
        (const double (*)[3])given_numbers(given, 5, 6, "from_spring"), given_number(given, 6),
    };
    all_within(given, handle->servos.soles, 2, 0, tree->frames, "soles");
    return capsule;
}

static PyObject *locomotion_lead_servos(Given *given)
{
    ServosHandle *handle = given_handle(given, 0, SERVOS_HANDLE);
    const Tree *tree = given_tree(given, 1);
    const Snapshot *now = given_snapshot(given, 2, tree);
    if (given->failed || tree->nv != handle->nv || tree->frames != handle->frames)
        return refuse(given, "the servos are of another robot");
    int joints = tree->nv - 6;
    LegMotion motion = {
        .joints = given_numbers(given, 3, joints, "joints"),
        .velocities = given_numbers(given, 4, joints, "velocities"),
        .acceleration = given_numbers(given, 5, 2, "acceleration"),
        .rotation = given_numbers(given, 6, 9, "rotation"),
        .sole = {given_placement(given, 7, "left"), given_placement(given, 8, "right")},
        .zmp = given_numbers(given, 9, 2, "zmp"),
        .left_share = given_number(given, 10),
    };
    double *told = given_written(given, 11, joints, "told");
    if (!given->failed)
        lead_servos(tree, now, &handle->servos, &motion, told);
    return nothing();
}

const Kernel foot_kernels[] = {
    {"locomotion_find_ground", locomotion_find_ground, 10},
    {"locomotion_turn_feet", locomotion_turn_feet, 11},
    {"locomotion_turn_sole", locomotion_turn_sole, 3},
    {"locomotion_servos", locomotion_servos, 7},
    {"locomotion_lead_servos", locomotion_lead_servos, 12},
    {0},
};
