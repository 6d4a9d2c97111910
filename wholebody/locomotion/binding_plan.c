/* binding_plan.c - the pendulum's path and the swing in Python, as handles that a plan makes and a cycle asks. */
#include "wholebody/locomotion/binding.h"

#define PATH_HANDLE "wholebody.ZmpPath"
#define SWING_HANDLE "wholebody.FootSwing"

typedef struct {
    Borrowed arrays;
    ZmpPath path;
} PathHandle;

typedef struct {
    Borrowed arrays;
    FootSwing swing;
} SwingHandle;

static PyObject *locomotion_path(Given *given)
{
    PathHandle *handle;
    PyObject *capsule = new_handle(given, sizeof *handle, PATH_HANDLE, (void **)&handle);
    const double *times = given_numbers(given, 0, ANY, "times");
    Py_ssize_t knots = given_count(given);
    const double *curves = given_numbers(given, 1, knots * ORDERS * 2, "curves");
    double *coefficients = given_written(given, 2, knots * 4, "coefficients"), omega = given_number(given, 3);
    double *start = given_numbers(given, 4, 2, "start");
    if (given->failed || knots < 1) {
        refuse(given, "times must be one or more");
        return capsule;
    }
    handle->path = (ZmpPath){(int)knots, times, (const double (*)[ORDERS][2])curves, (double (*)[4])coefficients, omega};
    solve_path(&handle->path, start);
    return capsule;
}

static PyObject *locomotion_path_at(Given *given)
{
    PathHandle *handle = given_handle(given, 0, PATH_HANDLE);
    double time = given_number(given, 1), *result = given_written(given, 2, NUMBERS_IN(PendulumState), "result");
    if (!given->failed)
        evaluate_path(&handle->path, time, (PendulumState *)result);
    return nothing();
}

static PyObject *locomotion_swing(Given *given)
{
    SwingHandle *handle;
    PyObject *capsule = new_handle(given, sizeof *handle, SWING_HANDLE, (void **)&handle);
    FootSwing swing = {
        .end = given_number(given, 0),
        .state = (const double (*)[3])given_numbers(given, 1, 9, "state"),
        .goal = given_numbers(given, 2, 3, "goal"),
        .derivatives = (double (*)[3])given_written(given, 4, ORDERS * 3, "derivatives"),
    };
    swing.rise = given_numbers(given, 3, ANY, "rise");
    Py_ssize_t rise = given_count(given);
    swing.knots = (int)(rise / 3);
    if (rise < 6 || rise % 3 != 0)
        refuse(given, "rise must be three rows of two knots or more");
    if (!given->failed)
        handle->swing = swing;
    return capsule;
}

static PyObject *locomotion_swing_at(Given *given)
{
    SwingHandle *handle = given_handle(given, 0, SWING_HANDLE);
    double since = given_number(given, 1), time = given_number(given, 2);
    if (given->failed)
        return NULL;
    swing_foot(&handle->swing, since, time);
    return PyFloat_FromDouble(swing_height(&handle->swing, time));
}

const Kernel plan_kernels[] = {
    {"locomotion_path", locomotion_path, 5},
    {"locomotion_path_at", locomotion_path_at, 3},
    {"locomotion_swing", locomotion_swing, 5},
    {"locomotion_swing_at", locomotion_swing_at, 3},
    {0},
};
