/* binding.c - profiles, polynomials and poses in Python. Arrays are borrowed for each call. */
#include "wholebody/binding.h"
#include "wholebody/motion/motion.h"

/* numbers: position, velocity, acceleration and both limits, 5 x joints. */
static PyObject *motion_advance(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (!takes(3, count, "motion_advance"))
        return NULL;
    double period = PyFloat_AsDouble(arguments[2]);
    if (PyErr_Occurred())
        return NULL;
    Borrowed arrays = {0};
    const double *goal = borrow_numbers(&arrays, arguments[1], ANY, "goal");
    Py_ssize_t n = goal ? borrowed_count(&arrays) : 0;
    double *numbers = goal ? borrow_written(&arrays, arguments[0], 5 * n, "numbers") : NULL;
    int bad = -1;
    if (numbers) {
        Profile profile = {(int)n, numbers, numbers + n, numbers + 2 * n, numbers + 3 * n, numbers + 4 * n};
        bad = advance_profile(&profile, goal, period);
    }
    give_back(&arrays);
    return numbers ? PyLong_FromLong(bad) : NULL;
}

enum { MOST_POWERS = 64 };

/* times: pieces + 1; coefficients: pieces x powers x numbers; asked: rows; result: 3 x rows x numbers. */
static PyObject *motion_evaluate(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (!takes(5, count, "motion_evaluate"))
        return NULL;
    long powers = PyLong_AsLong(arguments[2]);
    if (PyErr_Occurred())
        return NULL;
    Borrowed arrays = {0};
    const double *times = borrow_numbers(&arrays, arguments[0], ANY, "times");
    Py_ssize_t pieces = times ? borrowed_count(&arrays) - 1 : 0;
    const double *coefficients = pieces > 0 ? borrow_numbers(&arrays, arguments[1], ANY, "coefficients") : NULL;
    Py_ssize_t given = coefficients ? borrowed_count(&arrays) : 0;
    Py_ssize_t numbers = powers > 0 && powers <= MOST_POWERS && pieces > 0 ? given / (pieces * powers) : 0;
    bool fits = coefficients && numbers * pieces * powers == given;
    const double *asked = fits ? borrow_numbers(&arrays, arguments[3], ANY, "asked") : NULL;
    Py_ssize_t rows = asked ? borrowed_count(&arrays) : 0;
    double *result = asked ? borrow_written(&arrays, arguments[4], 3 * rows * numbers, "result") : NULL;
    if (result) {
        Polynomials polynomials = {(int)pieces, (int)powers, (int)numbers, times, coefficients};
        evaluate_polynomials(&polynomials, asked, (int)rows, result);
    } else if (!PyErr_Occurred()) {
        PyErr_SetString(PyExc_ValueError, "times, at least two, coefficients and powers make no polynomials");
    }
    give_back(&arrays);
    return result ? Py_NewRef(Py_None) : NULL;
}

/* start: 3 x 3; phi: turns x 3; betas and their rates: rows x (3 + turns); results: rows x 4, 3, 3. */
static PyObject *motion_turn(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (!takes(8, count, "motion_turn"))
        return NULL;
    static const char *const NAMES[] = {"betas", "rates", "second_rates"};
    static const char *const RESULTS[] = {"quaternion", "angular_velocity", "angular_acceleration"};
    const double *given[3] = {0};
    double *results[3] = {0};
    Borrowed arrays = {0};
    const double *start = borrow_numbers(&arrays, arguments[0], 9, "start");
    const double *phi = start ? borrow_numbers(&arrays, arguments[1], ANY, "phi") : NULL;
    Py_ssize_t turns = phi ? borrowed_count(&arrays) / 3 : 0, rows = 0;
    bool fits = phi != NULL;
    for (int i = 0; i < 3 && fits; i++) {
        given[i] = borrow_numbers(&arrays, arguments[2 + i], i ? rows * (3 + turns) : ANY, NAMES[i]);
        fits = given[i] != NULL;
        rows = fits ? borrowed_count(&arrays) / (3 + turns) : 0;
    }
    for (int i = 0; i < 3 && fits; i++) {
        results[i] = borrow_written(&arrays, arguments[5 + i], rows * (i ? 3 : 4), RESULTS[i]);
        fits = results[i] != NULL;
    }
    Turning turning = {(int)turns, start, phi};
    for (Py_ssize_t row = 0; row < rows && fits; row++) {
        Py_ssize_t at = row * (3 + turns);
        const double *const rates[3] = {given[0] + at, given[1] + at, given[2] + at};
        turn_pose(&turning, rates, results[0] + 4 * row, results[1] + 3 * row, results[2] + 3 * row);
    }
    give_back(&arrays);
    return fits ? Py_NewRef(Py_None) : NULL;
}

PyMethodDef motion_methods[] = {
    {"motion_advance", METHOD(motion_advance),
     "motion_advance(numbers, goal, period): one period of a profile; the first joint whose goal is none, or -1."},
    {"motion_evaluate", METHOD(motion_evaluate),
     "motion_evaluate(times, coefficients, powers, asked, result): piecewise polynomials and two derivatives."},
    {"motion_turn", METHOD(motion_turn),
     "motion_turn(start, phi, betas, rates, second_rates, quaternion, angular_velocity, angular_acceleration)"},
    {0},
};
