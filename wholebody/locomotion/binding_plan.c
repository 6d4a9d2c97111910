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

/* The path in the arrays of a call, solved; false with a Python error. */
static bool fill_path(PathHandle *handle, PyObject *const *arguments)
{
    Borrowed *arrays = &handle->arrays;
    double omega, *start;
    const double *times = borrow_numbers(arrays, arguments[0], ANY, "times");
    if (!times || !locomotion_numbers(arguments + 3, 1, &omega))
        return false;
    Py_ssize_t knots = borrowed_count(arrays);
    if (knots < 1) {
        PyErr_SetString(PyExc_ValueError, "times must be one or more");
        return false;
    }
    const double *curves = borrow_numbers(arrays, arguments[1], knots * ORDERS * 2, "curves");
    double *coefficients = curves ? borrow_written(arrays, arguments[2], knots * 4, "coefficients") : NULL;
    if (!coefficients || !(start = borrow_numbers(arrays, arguments[4], 2, "start")))
        return false;
    handle->path = (ZmpPath){(int)knots, times, (const double (*)[ORDERS][2])curves, (double (*)[4])coefficients, omega};
    solve_path(&handle->path, start);
    return true;
}

FUNCTION(locomotion_path)
{
    (void)module;
    if (!takes(5, count, "locomotion_path"))
        return NULL;
    PathHandle *handle;
    PyObject *capsule = new_handle(sizeof *handle, PATH_HANDLE, (void **)&handle);
    if (capsule && !fill_path(handle, arguments))
        Py_CLEAR(capsule);
    return capsule;
}

FUNCTION(locomotion_path_at)
{
    (void)module;
    double time;
    if (!takes(3, count, "locomotion_path_at") || !locomotion_numbers(arguments + 1, 1, &time))
        return NULL;
    PathHandle *handle = handle_of(arguments[0], PATH_HANDLE);
    if (!handle)
        return NULL;
    Borrowed arrays = {0};
    double *result = borrow_written(&arrays, arguments[2], sizeof(PendulumState) / sizeof(double), "result");
    if (result)
        evaluate_path(&handle->path, time, (PendulumState *)result);
    give_back(&arrays);
    return result ? Py_NewRef(Py_None) : NULL;
}

/* The swing in the arrays of a call; false with a Python error. */
static bool fill_swing(SwingHandle *handle, PyObject *const *arguments)
{
    static const Wanted READ[] = {{"state", 9}, {"goal", 3}, {"rise", ANY}};
    double end, *found[3];
    if (!locomotion_numbers(arguments, 1, &end) || !locomotion_borrow(&handle->arrays, arguments + 1, READ, 3, found))
        return false;
    Py_ssize_t rise = borrowed_count(&handle->arrays);
    if (rise < 6 || rise % 3 != 0) {
        PyErr_SetString(PyExc_ValueError, "rise must be three rows of two knots or more");
        return false;
    }
    double *derivatives = borrow_written(&handle->arrays, arguments[4], ORDERS * 3, "derivatives");
    handle->swing = (FootSwing){
        .end = end, .state = (const double (*)[3])found[0], .goal = found[1], .knots = (int)(rise / 3),
        .rise = found[2], .derivatives = (double (*)[3])derivatives,
    };
    return derivatives != NULL;
}

FUNCTION(locomotion_swing)
{
    (void)module;
    if (!takes(5, count, "locomotion_swing"))
        return NULL;
    SwingHandle *handle;
    PyObject *capsule = new_handle(sizeof *handle, SWING_HANDLE, (void **)&handle);
    if (capsule && !fill_swing(handle, arguments))
        Py_CLEAR(capsule);
    return capsule;
}

FUNCTION(locomotion_swing_at)
{
    (void)module;
    double times[2];
    if (!takes(3, count, "locomotion_swing_at") || !locomotion_numbers(arguments + 1, 2, times))
        return NULL;
    SwingHandle *handle = handle_of(arguments[0], SWING_HANDLE);
    if (!handle)
        return NULL;
    swing_foot(&handle->swing, times[0], times[1]);
    return PyFloat_FromDouble(swing_height(&handle->swing, times[1]));
}
