/* parts_binding.c - the parts of the filters in Python: what tests hold against finite differences and textbooks. */
#include <math.h>
#include <string.h>

#include "wholebody/estimation/binding.h"

/* A filter of the error and covariance given, with memory of its own; NULL with a Python error. */
static double *new_kalman(Borrowed *arrays, PyObject *P, PyObject *error, double gate, Kalman *filter)
{
    double *given = borrow_written(arrays, error, ANY, "error");
    Py_ssize_t size = given ? borrowed_count(arrays) : 0;
    double *covariance = given ? borrow_written(arrays, P, size * size, "P") : NULL;
    double *memory = covariance ? PyMem_Calloc((size_t)(KALMAN_ROWS * size), sizeof(double)) : NULL;
    if (covariance && !memory)
        PyErr_NoMemory();
    if (memory) {
        *filter = kalman_in((int)size, covariance, memory, gate);
        filter->error = given;
    }
    return memory;
}

static PyObject *estimation_believe(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (!takes(6, count, "estimation_believe"))
        return NULL;
    double difference = PyFloat_AsDouble(arguments[3]), variance = PyFloat_AsDouble(arguments[4]);
    double gate = PyFloat_AsDouble(arguments[5]), surprise = 0.0;
    if (PyErr_Occurred())
        return NULL;
    Borrowed arrays = {0};
    Kalman filter;
    double *memory = new_kalman(&arrays, arguments[0], arguments[1], gate, &filter);
    const double *row = memory ? borrow_numbers(&arrays, arguments[2], filter.size, "row") : NULL;
    if (row)
        surprise = believe(&filter, row, difference, variance);
    PyMem_Free(memory);
    give_back(&arrays);
    return row ? PyFloat_FromDouble(surprise) : NULL;
}

static PyObject *estimation_see_up(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (!takes(6, count, "estimation_see_up"))
        return NULL;
    double scale = PyFloat_AsDouble(arguments[4]), variance = PyFloat_AsDouble(arguments[5]), surprise = 0.0;
    if (PyErr_Occurred())
        return NULL;
    Borrowed arrays = {0};
    Kalman filter;
    double *memory = new_kalman(&arrays, arguments[0], arguments[1], (double)INFINITY, &filter);
    const double *orientation = memory ? borrow_numbers(&arrays, arguments[2], 4, "orientation") : NULL;
    const double *up = orientation ? borrow_numbers(&arrays, arguments[3], 3, "up") : NULL;
    if (up && filter.size >= 3)
        surprise = see_up(&filter, orientation, up, scale, variance);
    PyMem_Free(memory);
    give_back(&arrays);
    return up ? PyFloat_FromDouble(surprise) : NULL;
}

static PyObject *estimation_turn_attitude(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (!takes(3, count, "estimation_turn_attitude"))
        return NULL;
    double dt = PyFloat_AsDouble(arguments[1]), memory[KALMAN_ROWS * 6] = {0.0};
    if (PyErr_Occurred())
        return NULL;
    Borrowed arrays = {0};
    double *numbers = borrow_written(&arrays, arguments[0], NUMBERS_IN(Attitude), "attitude");
    double *F = numbers ? borrow_written(&arrays, arguments[2], 36, "F") : NULL;
    if (F) {
        Attitude *attitude = (Attitude *)(void *)numbers;
        Kalman filter = kalman_in(6, attitude->covariance, memory, attitude->gate);
        turn_attitude(attitude, &filter, dt, F);
    }
    give_back(&arrays);
    return F ? Py_NewRef(Py_None) : NULL;
}

/* The state x of a filter on feet, its feet, and how many there are; NULL with a Python error. */
static BodyState *borrow_state(Borrowed *arrays, PyObject *x, FootState **foot, int *feet)
{
    double *numbers = borrow_written(arrays, x, ANY, "x");
    Py_ssize_t rest = numbers ? borrowed_count(arrays) - NUMBERS_IN(BodyState) : 0;
    if (numbers && (rest < 0 || rest % NUMBERS_IN(FootState) != 0)) {
        PyErr_SetString(PyExc_ValueError, "x is no body with feet");
        return NULL;
    }
    *feet = (int)(rest / NUMBERS_IN(FootState));
    *foot = numbers ? (FootState *)(void *)(numbers + NUMBERS_IN(BodyState)) : NULL;
    return (BodyState *)(void *)numbers;
}

static PyObject *estimation_apply_error(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (!takes(2, count, "estimation_apply_error"))
        return NULL;
    Borrowed arrays = {0};
    FootState *foot;
    int feet;
    BodyState *body = borrow_state(&arrays, arguments[0], &foot, &feet);
    double *error = body ? borrow_written(&arrays, arguments[1], BODY_ERROR + FOOT_ERROR * feet, "error") : NULL;
    if (error)
        apply_error(body, foot, feet, error);
    give_back(&arrays);
    return error ? Py_NewRef(Py_None) : NULL;
}

static PyObject *estimation_move_body(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (!takes(5, count, "estimation_move_body"))
        return NULL;
    double gravity = PyFloat_AsDouble(arguments[2]), dt = PyFloat_AsDouble(arguments[3]);
    if (PyErr_Occurred())
        return NULL;
    Borrowed arrays = {0};
    FootState *foot;
    int feet;
    BodyState *body = borrow_state(&arrays, arguments[0], &foot, &feet);
    double *motion = body ? borrow_numbers(&arrays, arguments[1], NUMBERS_IN(Motion), "motion") : NULL;
    double *F = motion ? borrow_written(&arrays, arguments[4], BODY_ERROR * BODY_ERROR, "F") : NULL;
    if (F)
        move_body(body, (const Motion *)(void *)motion, gravity, dt, F);
    give_back(&arrays);
    return F ? Py_NewRef(Py_None) : NULL;
}

/* Three rows, which are zero from then on, and their parts of the body and of a foot. */
static double *borrow_rows(Borrowed *arrays, PyObject *given, int feet, BodyError *on_body[3], FootError *on_feet[3])
{
    int size = BODY_ERROR + FOOT_ERROR * feet;
    double *rows = borrow_written(arrays, given, 3 * size, "rows");
    if (!rows)
        return NULL;
    memset(rows, 0, (size_t)(3 * size) * sizeof *rows);
    for (int i = 0; i < 3; i++) {
        on_body[i] = (BodyError *)(void *)(rows + i * size);
        on_feet[i] = (FootError *)(void *)(rows + i * size + BODY_ERROR);
    }
    return rows;
}

static PyObject *estimation_sole_turn(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (!takes(5, count, "estimation_sole_turn"))
        return NULL;
    long index = PyLong_AsLong(arguments[1]);
    if (PyErr_Occurred())
        return NULL;
    Borrowed arrays = {0};
    FootState *foot;
    int feet;
    BodyError *on_body[3];
    FootError *on_feet[3];
    BodyState *body = borrow_state(&arrays, arguments[0], &foot, &feet);
    const double *E = body ? borrow_numbers(&arrays, arguments[2], 9, "E") : NULL;
    double *rows = E ? borrow_rows(&arrays, arguments[3], feet, on_body, on_feet) : NULL;
    double *value = rows ? borrow_written(&arrays, arguments[4], 3, "value") : NULL;
    if (value && (index < 0 || index >= feet)) {
        PyErr_Format(PyExc_IndexError, "no foot %ld", index);
        value = NULL;
    }
    for (int i = 0; i < 3 && value; i++)
        on_feet[i] += index;
    if (value)
        sole_turn(body, &foot[index], E, on_feet, on_body, value);
    give_back(&arrays);
    return value ? Py_NewRef(Py_None) : NULL;
}

static PyObject *estimation_ankle_velocity(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (!takes(6, count, "estimation_ankle_velocity"))
        return NULL;
    Borrowed arrays = {0};
    FootState *foot;
    int feet;
    BodyError *on_body[3];
    FootError *on_feet[3];
    BodyState *body = borrow_state(&arrays, arguments[0], &foot, &feet);
    const double *gyro = body ? borrow_numbers(&arrays, arguments[1], 3, "gyro") : NULL;
    const double *p = gyro ? borrow_numbers(&arrays, arguments[2], 3, "p") : NULL;
    const double *p_dot = p ? borrow_numbers(&arrays, arguments[3], 3, "p_dot") : NULL;
    double *rows = p_dot ? borrow_rows(&arrays, arguments[4], feet, on_body, on_feet) : NULL;
    double *value = rows ? borrow_written(&arrays, arguments[5], 3, "value") : NULL;
    if (value)
        ankle_velocity(body, gyro, p, p_dot, on_body, value);
    give_back(&arrays);
    return value ? Py_NewRef(Py_None) : NULL;
}

PyMethodDef estimation_parts_methods[] = {
    {"estimation_believe", METHOD(estimation_believe),
     "estimation_believe(P, error, row, difference, variance, gate): the normalised innovation squared."},
    {"estimation_see_up", METHOD(estimation_see_up),
     "estimation_see_up(P, error, orientation, up, scale, variance): the normalised innovation squared."},
    {"estimation_turn_attitude", METHOD(estimation_turn_attitude),
     "estimation_turn_attitude(attitude, dt, F): turn by the gyro; F is what that does to the error."},
    {"estimation_apply_error", METHOD(estimation_apply_error), "estimation_apply_error(x, error): the state moved."},
    {"estimation_move_body", METHOD(estimation_move_body),
     "estimation_move_body(x, motion, gravity, dt, F): the body moved; F is what that does to the error."},
    {"estimation_sole_turn", METHOD(estimation_sole_turn),
     "estimation_sole_turn(x, foot, E, rows, value): how a sole lies on its ground, and the derivative."},
    {"estimation_ankle_velocity", METHOD(estimation_ankle_velocity),
     "estimation_ankle_velocity(x, gyro, p, p_dot, rows, value): of an ankle that stands, and the derivative."},
    {0},
};
