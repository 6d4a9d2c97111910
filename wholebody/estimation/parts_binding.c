/* parts_binding.c - the parts of the filters in Python: what tests hold against finite differences and textbooks. */
#include <math.h>
#include <string.h>

#include "wholebody/estimation/binding.h"

/* A filter of the covariance and the error given first, with memory of its own, to be freed; NULL with a Python error. */
static double *new_kalman(Given *given, double gate, Kalman *filter)
{
    double *error = given_written(given, 1, ANY, "error");
    Py_ssize_t size = given_count(given);
    double *covariance = given_written(given, 0, size * size, "P");
    double *memory = given->failed ? NULL : PyMem_Calloc((size_t)(KALMAN_ROWS * size + 1), sizeof(double));
    if (!given->failed && !memory)
        PyErr_NoMemory();
    given->failed = !memory;
    if (memory) {
        *filter = kalman_in((int)size, covariance, memory, gate);
        filter->error = error;
    }
    return memory;
}

static PyObject *estimation_believe(Given *given)
{
    Kalman filter = {0};
    double difference = given_number(given, 3), variance = given_number(given, 4), gate = given_number(given, 5);
    double *memory = new_kalman(given, gate, &filter);
    const double *row = given_numbers(given, 2, filter.size, "row");
    double surprise = given->failed ? 0.0 : believe(&filter, row, difference, variance);
    PyMem_Free(memory);
    return PyFloat_FromDouble(surprise);
}

static PyObject *estimation_see_up(Given *given)
{
    Kalman filter = {0};
    double scale = given_number(given, 4), variance = given_number(given, 5);
    double *memory = new_kalman(given, (double)INFINITY, &filter);
    const double *orientation = given_numbers(given, 2, 4, "orientation"), *up = given_numbers(given, 3, 3, "up");
    bool fits = !given->failed && filter.size >= 3;
    double surprise = fits ? see_up(&filter, orientation, up, scale, variance) : 0.0;
    PyMem_Free(memory);
    return PyFloat_FromDouble(surprise);
}

static PyObject *estimation_turn_attitude(Given *given)
{
    double memory[KALMAN_ROWS * 6] = {0.0}, dt = given_number(given, 1);
    Attitude *attitude = (Attitude *)(void *)given_written(given, 0, NUMBERS_IN(Attitude), "attitude");
    double *F = given_written(given, 2, 36, "F");
    if (given->failed)
        return NULL;
    Kalman filter = kalman_in(6, attitude->covariance, memory, attitude->gate);
    turn_attitude(attitude, &filter, dt, F);
    return nothing();
}

/* The state of a filter on feet, the first argument. */
typedef struct {
    BodyState *body;
    FootState *foot;
    int feet;
} State;

static State take_state(Given *given)
{
    double *numbers = given_written(given, 0, ANY, "x");
    Py_ssize_t rest = given_count(given) - NUMBERS_IN(BodyState);
    if (given->failed || rest < 0 || rest % NUMBERS_IN(FootState) != 0) {
        refuse(given, "x is no body with feet");
        return (State){0};
    }
    return (State){(BodyState *)(void *)numbers, (FootState *)(void *)(numbers + NUMBERS_IN(BodyState)),
                   (int)(rest / NUMBERS_IN(FootState))};
}

static PyObject *estimation_apply_error(Given *given)
{
    State x = take_state(given);
    double *error = given_written(given, 1, BODY_ERROR + FOOT_ERROR * x.feet, "error");
    if (!given->failed)
        apply_error(x.body, x.foot, x.feet, error);
    return nothing();
}

static PyObject *estimation_move_body(Given *given)
{
    State x = take_state(given);
    double *motion = given_numbers(given, 1, NUMBERS_IN(Motion), "motion");
    double gravity = given_number(given, 2), dt = given_number(given, 3);
    double *F = given_written(given, 4, BODY_ERROR * BODY_ERROR, "F");
    if (!given->failed)
        move_body(x.body, (const Motion *)(void *)motion, gravity, dt, F);
    return nothing();
}

/* Three rows, which are zero from then on, and their parts of the body and of a foot. */
static void take_rows(Given *given, int index, State x, BodyError *on_body[3], FootError *on_feet[3])
{
    int size = BODY_ERROR + FOOT_ERROR * x.feet;
    double *rows = given_written(given, index, 3 * size, "rows");
    if (rows)
        memset(rows, 0, (size_t)(3 * size) * sizeof *rows);
    for (int i = 0; i < 3 && rows; i++) {
        on_body[i] = (BodyError *)(void *)(rows + i * size);
        on_feet[i] = (FootError *)(void *)(rows + i * size + BODY_ERROR);
    }
}

static PyObject *estimation_sole_turn(Given *given)
{
    BodyError *on_body[3];
    FootError *on_feet[3];
    State x = take_state(given);
    int64_t index = given_integer(given, 1);
    const double *E = given_numbers(given, 2, 9, "E");
    take_rows(given, 3, x, on_body, on_feet);
    double *value = given_written(given, 4, 3, "value");
    if (!all_within(given, &index, 1, 0, x.feet, "foot"))
        return NULL;
    for (int i = 0; i < 3; i++)
        on_feet[i] += index;
    sole_turn(x.body, &x.foot[index], E, on_feet, on_body, value);
    return nothing();
}

static PyObject *estimation_ankle_velocity(Given *given)
{
    BodyError *on_body[3];
    FootError *on_feet[3];
    State x = take_state(given);
    const double *gyro = given_numbers(given, 1, 3, "gyro"), *p = given_numbers(given, 2, 3, "p");
    const double *p_dot = given_numbers(given, 3, 3, "p_dot");
    take_rows(given, 4, x, on_body, on_feet);
    double *value = given_written(given, 5, 3, "value");
    if (!given->failed)
        ankle_velocity(x.body, gyro, p, p_dot, on_body, value);
    return nothing();
}

const Kernel estimation_part_kernels[] = {
    {"estimation_believe", estimation_believe, 6},
    {"estimation_see_up", estimation_see_up, 6},
    {"estimation_turn_attitude", estimation_turn_attitude, 3},
    {"estimation_apply_error", estimation_apply_error, 2},
    {"estimation_move_body", estimation_move_body, 5},
    {"estimation_sole_turn", estimation_sole_turn, 5},
    {"estimation_ankle_velocity", estimation_ankle_velocity, 6},
    {0},
};
