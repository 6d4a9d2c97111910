/* support_binding.c - support polygons in Python. */
#include "wholebody/binding.h"
#include "wholebody/model/support.h"

static PyObject *model_convex_hull(Given *given)
{
    double *points = given_written(given, 0, ANY, "points");
    Py_ssize_t number = given_count(given) / 2;
    double grid = given_number(given, 1), *chain = given_written(given, 2, 2 * (2 * number + 1), "chain");
    if (given->failed)
        return NULL;
    return PyLong_FromLong(convex_hull((double (*)[2])points, (int)number, grid, (double (*)[2])chain));
}

static PyObject *model_signed_distance(Given *given)
{
    double x = given_number(given, 1), y = given_number(given, 2), *corners = given_numbers(given, 0, ANY, "corners");
    if (given->failed)
        return NULL;
    return PyFloat_FromDouble(signed_distance((double (*)[2])corners, (int)(given_count(given) / 2), x, y));
}

const Kernel support_kernels[] = {
    {"model_convex_hull", model_convex_hull, 3},
    {"model_signed_distance", model_signed_distance, 3},
    {0},
};
