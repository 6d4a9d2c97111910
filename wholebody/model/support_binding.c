/* support_binding.c - support polygons in Python. */
#include "wholebody/binding.h"
#include "wholebody/model/support.h"

static PyObject *model_convex_hull(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (!takes(3, count, "model_convex_hull"))
        return NULL;
    double grid = PyFloat_AsDouble(arguments[1]);
    if (PyErr_Occurred())
        return NULL;
    Borrowed arrays = {0};
    double *points = borrow_written(&arrays, arguments[0], ANY, "points");
    Py_ssize_t number = points ? borrowed_count(&arrays) / 2 : 0;
    double *chain = points ? borrow_written(&arrays, arguments[2], 2 * (2 * number + 1), "chain") : NULL;
    int size = chain ? convex_hull((double (*)[2])points, (int)number, grid, (double (*)[2])chain) : 0;
    give_back(&arrays);
    return chain ? PyLong_FromLong(size) : NULL;
}

static PyObject *model_signed_distance(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (!takes(3, count, "model_signed_distance"))
        return NULL;
    double x = PyFloat_AsDouble(arguments[1]), y = PyFloat_AsDouble(arguments[2]), distance = 0.0;
    if (PyErr_Occurred())
        return NULL;
    Borrowed arrays = {0};
    double *corners = borrow_numbers(&arrays, arguments[0], ANY, "corners");
    if (corners)
        distance = signed_distance((double (*)[2])corners, (int)(borrowed_count(&arrays) / 2), x, y);
    give_back(&arrays);
    return corners ? PyFloat_FromDouble(distance) : NULL;
}

PyMethodDef support_methods[] = {
    {"model_convex_hull", METHOD(model_convex_hull),
     "model_convex_hull(points, grid, chain): how many corners there are at the beginning of the chain."},
    {"model_signed_distance", METHOD(model_signed_distance),
     "model_signed_distance(corners, x, y): how far inside a convex polygon a point is."},
    {0},
};
