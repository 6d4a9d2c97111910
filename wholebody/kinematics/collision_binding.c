/* collision_binding.c - boxes around shapes in Python: a handle per robot. */
#include "wholebody/binding.h"
#include "wholebody/kinematics/collision.h"

#define BOXES_HANDLE "wholebody.Boxes"

typedef struct {
    Borrowed arrays;
    Boxes boxes;
} BoxesHandle;

static bool borrow_boxes(Borrowed *arrays, PyObject *const *given, Boxes *boxes)
{
    Py_ssize_t shapes, pairs;
    if (!(boxes->link = borrow_integers(arrays, given[0], ANY, "links")))
        return false;
    shapes = borrowed_count(arrays);
    if (!(boxes->at = (const double (*)[16])borrow_numbers(arrays, given[1], 16 * shapes, "at")) ||
        !(boxes->half = (const double (*)[3])borrow_numbers(arrays, given[2], 3 * shapes, "half")) ||
        !(boxes->low = (double (*)[3])borrow_written(arrays, given[3], 3 * shapes, "low")) ||
        !(boxes->high = (double (*)[3])borrow_written(arrays, given[4], 3 * shapes, "high")) ||
        !(boxes->near = borrow_written_integers(arrays, given[7], ANY, "near")))
        return false;
    pairs = borrowed_count(arrays);
    if (!(boxes->pair = (const int64_t (*)[2])borrow_integers(arrays, given[5], 2 * pairs, "pairs")) ||
        !(boxes->gap = borrow_written(arrays, given[6], pairs, "gap")))
        return false;
    boxes->shapes = (int)shapes;
    boxes->pairs = (int)pairs;
    for (Py_ssize_t i = 0; i < shapes; i++)
        boxes->links = boxes->link[i] >= boxes->links ? boxes->link[i] + 1 : boxes->links;
    return all_within(boxes->link, shapes, 0, INT32_MAX, "links") &&
           all_within((const int64_t *)boxes->pair, 2 * pairs, 0, shapes, "pairs");
}

static PyObject *kinematics_boxes(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (!takes(8, count, "kinematics_boxes"))
        return NULL;
    BoxesHandle *handle;
    PyObject *capsule = new_handle(sizeof *handle, BOXES_HANDLE, (void **)&handle);
    if (capsule && !borrow_boxes(&handle->arrays, arguments, &handle->boxes))
        Py_CLEAR(capsule);
    return capsule;
}

static PyObject *kinematics_place_boxes(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    BoxesHandle *handle = takes(3, count, "kinematics_place_boxes") ? handle_of(arguments[0], BOXES_HANDLE) : NULL;
    if (!handle)
        return NULL;
    Borrowed arrays = {0};
    double within = PyFloat_AsDouble(arguments[2]);
    int near = 0;
    const double *placements = PyErr_Occurred() ? NULL : borrow_numbers(&arrays, arguments[1], ANY, "placements");
    if (placements && borrowed_count(&arrays) < 16 * handle->boxes.links) {
        PyErr_SetString(PyExc_ValueError, "placements are of fewer links than the shapes");
        placements = NULL;
    }
    if (placements)
        near = place_boxes(&handle->boxes, placements, within);
    give_back(&arrays);
    return placements ? PyLong_FromLong(near) : NULL;
}

PyMethodDef collision_methods[] = {
    {"kinematics_boxes", METHOD(kinematics_boxes),
     "kinematics_boxes(links, at, half, low, high, pairs, gap, near): the handle of a robot's shapes."},
    {"kinematics_place_boxes", METHOD(kinematics_place_boxes),
     "kinematics_place_boxes(boxes, placements, within): bounds, gaps, and how many pairs are near."},
    {0},
};
