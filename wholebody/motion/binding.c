/* binding.c - profiles and polynomials in Python. Arrays are borrowed for each call. */
#include "wholebody/binding.h"
#include "wholebody/motion/motion.h"

/* numbers: position, velocity, acceleration and both limits, 5 x joints. */
static PyObject *motion_advance(Given *given)
{
    const double *goal = given_numbers(given, 1, ANY, "goal");
    Py_ssize_t n = given_count(given);
    double *numbers = given_written(given, 0, 5 * n, "numbers"), period = given_number(given, 2);
    if (given->failed)
        return NULL;
    Profile profile = {(int)n, numbers, numbers + n, numbers + 2 * n, numbers + 3 * n, numbers + 4 * n};
    return PyLong_FromLong(advance_profile(&profile, goal, period));
}

enum { MOST_POWERS = 64 };

/* times: pieces + 1; coefficients: pieces x powers x numbers; asked: rows; result: 3 x rows x numbers. */
static PyObject *motion_evaluate(Given *given)
{
    const double *times = given_numbers(given, 0, ANY, "times");
    Py_ssize_t pieces = given_count(given) - 1;
    const double *coefficients = given_numbers(given, 1, ANY, "coefficients");
    Py_ssize_t found = given_count(given);
    long powers = given_integer(given, 2);
    bool fits = powers > 0 && powers <= MOST_POWERS && pieces > 0 && found % (pieces * powers) == 0;
    if (!fits)
        return refuse(given, "times, at least two, coefficients and powers make no polynomials");
    Py_ssize_t numbers = found / (pieces * powers);
    const double *asked = given_numbers(given, 3, ANY, "asked");
    Py_ssize_t rows = given_count(given);
    double *result = given_written(given, 4, 3 * rows * numbers, "result");
    Polynomials polynomials = {(int)pieces, (int)powers, (int)numbers, times, coefficients};
    if (!given->failed)
        evaluate_polynomials(&polynomials, asked, (int)rows, result);
    return nothing();
}

const Kernel motion_kernels[] = {
    {"motion_advance", motion_advance, 3},
    {"motion_evaluate", motion_evaluate, 5},
    {0},
};
