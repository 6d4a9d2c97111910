/* limits_binding.c - distances of links and ranges of velocities for Python. */
#include "wholebody/control/quadratic/distances.h"
#include "wholebody/control/quadratic/quadratic.h"
#include "wholebody/model/binding.h"

#define SHAPES_HANDLE "wholebody.Shapes"

enum { SHAPES = 10, RANGE = 7, CLOSING = 5 };

typedef struct {
    Borrowed arrays;
    Shapes shapes;
} ShapesHandle;

/* quadratic_shapes(arrays): at, axis, radius, box, frame, then what is written: rotation, centre, half, velocity, spin. */
static PyObject *quadratic_shapes(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    PyObject *of[SHAPES], *handle = NULL;
    ShapesHandle *memory;
    if (!takes(1, count, "quadratic_shapes"))
        return NULL;
    for (int i = 0; i < SHAPES; i++)
        if (!(of[i] = PyTuple_GetItem(args[0], i)))
            return NULL;
    if (!(handle = new_handle(sizeof *memory, SHAPES_HANDLE, (void **)&memory)))
        return NULL;
    Borrowed *arrays = &memory->arrays;
    Shapes *shapes = &memory->shapes;
    shapes->frame = borrow_integers(arrays, of[4], ANY, "frame");
    Py_ssize_t n = shapes->frame ? borrowed_count(arrays) : 0;
    shapes->count = (int)n;
    bool borrowed = shapes->frame && (shapes->at = (double (*)[4][4])borrow_numbers(arrays, of[0], 16 * n, "at")) &&
                    (shapes->axis = (const double (*)[3])borrow_numbers(arrays, of[1], 3 * n, "axis")) &&
                    (shapes->radius = (const double (*)[2])borrow_numbers(arrays, of[2], 2 * n, "radius")) &&
                    (shapes->box = (const double (*)[3])borrow_numbers(arrays, of[3], 3 * n, "box")) &&
                    (shapes->rotation = (double (*)[9])borrow_written(arrays, of[5], 9 * n, "rotation")) &&
                    (shapes->centre = (double (*)[3])borrow_written(arrays, of[6], 3 * n, "centre")) &&
                    (shapes->half = (double (*)[3])borrow_written(arrays, of[7], 3 * n, "half")) &&
                    (shapes->velocity = (double (*)[3])borrow_written(arrays, of[8], 3 * n, "velocity")) &&
                    (shapes->spin = (double (*)[3])borrow_written(arrays, of[9], 3 * n, "spin"));
    if (!borrowed)
        Py_CLEAR(handle);
    return handle;
}

/* quadratic_near(shapes, snapshot, pairs, reach, near, room): place all shapes; how many pairs are near. reach is clearance,
 * braking, sudden acceleration, period. */
static PyObject *quadratic_near(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (!takes(6, count, "quadratic_near"))
        return NULL;
    ShapesHandle *handle = handle_of(args[0], SHAPES_HANDLE);
    const SnapshotHandle *snapshot = handle ? handle_of(args[1], SNAPSHOT_HANDLE) : NULL;
    if (!snapshot || !all_within(handle->shapes.frame, handle->shapes.count, 0, snapshot->frames, "frames of shapes"))
        return NULL;
    Borrowed borrowed = {0};
    const int64_t (*pairs)[2] = (const int64_t (*)[2])borrow_integers(&borrowed, args[2], ANY, "pairs");
    Py_ssize_t n = pairs ? borrowed_count(&borrowed) / 2 : 0;
    const double *reach = pairs ? borrow_numbers(&borrowed, args[3], 4, "reach") : NULL;
    int64_t *near = reach ? borrow_written_integers(&borrowed, args[4], n, "near") : NULL;
    double *room = near ? borrow_written(&borrowed, args[5], n, "room") : NULL;
    if (room && !all_within((const int64_t *)pairs, 2 * n, 0, handle->shapes.count, "pairs"))
        room = NULL;
    int found = 0;
    if (room) {
        place_shapes(&handle->shapes, &snapshot->now);
        found = list_near(&handle->shapes, pairs, (int)n, (Reach){reach[0], reach[1], reach[2], reach[3]}, near, room);
    }
    give_back(&borrowed);
    return room ? PyLong_FromLong(found) : NULL;
}

/* quadratic_capsule_distance(shapes, one, other): of the capsules of two shapes, as they were placed last. */
static PyObject *quadratic_capsule_distance(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    ShapesHandle *handle = takes(3, count, "quadratic_capsule_distance") ? handle_of(args[0], SHAPES_HANDLE) : NULL;
    if (!handle)
        return NULL;
    long one = PyLong_AsLong(args[1]), other = PyLong_AsLong(args[2]);
    if (PyErr_Occurred())
        return NULL;
    if (one < 0 || other < 0 || one >= handle->shapes.count || other >= handle->shapes.count)
        return PyErr_Format(PyExc_IndexError, "no shapes %ld and %ld", one, other);
    return PyFloat_FromDouble(capsule_distance(&handle->shapes, one, other).distance);
}

static bool read_floats(PyObject *const *args, double *numbers, int count)
{
    for (int i = 0; i < count; i++)
        numbers[i] = PyFloat_AsDouble(args[i]);
    return !PyErr_Occurred();
}

/* quadratic_velocity_range(q, v, lower, upper, fastest, braking, period): least and greatest velocity after a period. */
static PyObject *quadratic_velocity_range(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    double x[RANGE];
    if (!takes(RANGE, count, "quadratic_velocity_range") || !read_floats(args, x, RANGE))
        return NULL;
    Range range = velocity_range(x[0], x[1], (JointLimits){x[2], x[3], x[4]}, x[5], x[6]);
    return Py_BuildValue("dd", range.least, range.greatest);
}

/* quadratic_closing_range(distance, rate, least, braking, period): the least rate after a period. */
static PyObject *quadratic_closing_range(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    double x[CLOSING];
    if (!takes(CLOSING, count, "quadratic_closing_range") || !read_floats(args, x, CLOSING))
        return NULL;
    return PyFloat_FromDouble(closing_range(x[0], x[1], x[2], x[3], x[4]));
}

PyMethodDef quadratic_limits_methods[] = {
    {"quadratic_shapes", METHOD(quadratic_shapes), NULL},
    {"quadratic_near", METHOD(quadratic_near), NULL},
    {"quadratic_capsule_distance", METHOD(quadratic_capsule_distance), NULL},
    {"quadratic_velocity_range", METHOD(quadratic_velocity_range), NULL},
    {"quadratic_closing_range", METHOD(quadratic_closing_range), NULL},
    {0},
};
