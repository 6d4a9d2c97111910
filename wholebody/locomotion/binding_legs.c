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

/* The goals of the tasks of left foot, right foot, pelvis and centre of mass. */
static void take_goals(Given *given, int index, LegGoals *goals)
{
    static const TaskKind KINDS[] = {TASK_POSE, TASK_POSE, TASK_ORIENTATION_3D, TASK_CENTER_OF_MASS};
    double **goal[] = {&goals->foot[0], &goals->foot[1], &goals->pelvis, &goals->com};
    PyObject *items[4];
    Given of = open_tuple(given, index, 4, items);
    for (int i = 0; i < 4 && !of.failed; i++) {
        const Task *task = task_of(&of, items[i]);
        if (task && task->kind == KINDS[i])
            *goal[i] = task->goal;
        else
            refuse(&of, "legs take the tasks of two poses, a pelvis and a centre of mass");
    }
    close_tuple(given, &of);
}

static PyObject *locomotion_legs(Given *given)
{
    LegsHandle *handle;
    const ClosedForm *chains[] = {given_closed_form(given, 0), given_closed_form(given, 1)};
    PyObject *capsule = new_handle(given, sizeof *handle, LEGS_HANDLE, (void **)&handle);
    if (!capsule)
        return NULL;
    handle->joints = given_written(given, 4, ANY, "joints");
    handle->count = given_count(given);
    for (int side = 0; side < 2; side++) {
        Py_ssize_t n = (Py_ssize_t)chains[side]->joints;
        int64_t *columns = given_integers(given, 2 + side, n, "columns");
        all_within(given, columns, n, 0, handle->count, "columns");
        handle->chains[side] = *chains[side];
        handle->legs[side] = (Leg){&handle->chains[side], columns};
    }
    take_goals(given, 5, &handle->goals);
    keep(&handle->arrays, given->arguments[5]);
    return capsule;
}

static PyObject *locomotion_aim_legs(Given *given)
{
    LegsHandle *handle = given_handle(given, 0, LEGS_HANDLE);
    double *com = given_numbers(given, 1, 3, "com"), *rotation = given_numbers(given, 2, 9, "rotation");
    const double (*const soles[2])[4] = {given_placement(given, 3, "left"), given_placement(given, 4, "right")};
    if (!given->failed)
        aim_legs(&handle->goals, com, rotation, soles);
    return nothing();
}

static PyObject *locomotion_put_legs(Given *given)
{
    LegsHandle *handle = given_handle(given, 0, LEGS_HANDLE);
    const Tree *tree = given_tree(given, 1);
    const Snapshot *before = given_snapshot(given, 2, tree);
    long rounds = given_integer(given, 3);
    if (given->failed || !tree->floating || tree->nv - 6 != handle->count)
        return refuse(given, "the tree has another number of joints than the legs");
    return PyFloat_FromDouble(put_legs(tree, before, handle->legs, &handle->goals, (int)rounds, handle->joints));
}

const Kernel leg_kernels[] = {
    {"locomotion_legs", locomotion_legs, 6},
    {"locomotion_aim_legs", locomotion_aim_legs, 5},
    {"locomotion_put_legs", locomotion_put_legs, 4},
    {0},
};
