/* collision_binding.c - boxes around shapes in Python: a handle per robot. */
#include "wholebody/binding.h"
#include "wholebody/kinematics/collision.h"

#define BOXES_HANDLE "wholebody.Boxes"

typedef struct {
    Borrowed arrays;
    Boxes boxes;
} BoxesHandle;

static PyObject *kinematics_boxes(Given *given)
{
    BoxesHandle *handle;
    PyObject *capsule = new_handle(given, sizeof *handle, BOXES_HANDLE, (void **)&handle);
    const int64_t *link = given_integers(given, 0, ANY, "links");
    Py_ssize_t shapes = given_count(given);
    int64_t *near = given_written_integers(given, 7, ANY, "near");
    Py_ssize_t pairs = given_count(given);
    Boxes boxes = {
        .shapes = (int)shapes,
        .pairs = (int)pairs,
        .link = link,
        .at = (const double (*)[16])given_numbers(given, 1, 16 * shapes, "at"),
        .half = (const double (*)[3])given_numbers(given, 2, 3 * shapes, "half"),
        .low = (double (*)[3])given_written(given, 3, 3 * shapes, "low"),
        .high = (double (*)[3])given_written(given, 4, 3 * shapes, "high"),
        .pair = (const int64_t (*)[2])given_integers(given, 5, 2 * pairs, "pairs"),
        .gap = given_written(given, 6, pairs, "gap"),
        .near = near,
    };
    if (!all_within(given, link, shapes, 0, INT32_MAX, "links") ||
        !all_within(given, (const int64_t *)boxes.pair, 2 * pairs, 0, shapes, "pairs"))
        return capsule;
    for (Py_ssize_t i = 0; i < shapes; i++)
        boxes.links = link[i] >= boxes.links ? link[i] + 1 : boxes.links;
    handle->boxes = boxes;
    return capsule;
}

static PyObject *kinematics_place_boxes(Given *given)
{
    BoxesHandle *handle = given_handle(given, 0, BOXES_HANDLE);
    const double *placements = given_numbers(given, 1, ANY, "placements");
    bool fits = !given->failed && given_count(given) >= 16 * handle->boxes.links;
    double within = given_number(given, 2);
    if (given->failed || !fits)
        return refuse(given, "placements are of fewer links than the shapes");
    return PyLong_FromLong(place_boxes(&handle->boxes, placements, within));
}

const Kernel collision_kernels[] = {
    {"kinematics_boxes", kinematics_boxes, 8},
    {"kinematics_place_boxes", kinematics_place_boxes, 3},
    {0},
};
