/* binding_balance.c - support areas, feedback of the divergent component and anchoring in Python. */
#include "wholebody/locomotion/binding.h"

#include <string.h>

#include "wholebody/rotations.h"

#define ANCHORING_HANDLE "wholebody.Anchoring"

typedef struct {
    Borrowed arrays;
    Anchoring anchoring;
} AnchoringHandle;

FUNCTION(locomotion_place_outline)
{
    (void)module;
    double place[3], *corners = NULL;
    Polygon outline;
    if (!takes(5, count, "locomotion_place_outline") || !locomotion_numbers(arguments + 1, 3, place))
        return NULL;
    Borrowed arrays = {0};
    if (locomotion_polygon(&arrays, arguments[0], "outline", &outline))
        corners = borrow_written(&arrays, arguments[4], 2 * (Py_ssize_t)outline.count, "corners");
    if (corners)
        place_outline(outline, place, (double (*)[2])corners);
    give_back(&arrays);
    return corners ? Py_NewRef(Py_None) : NULL;
}

FUNCTION(locomotion_nearest_inside)
{
    (void)module;
    double *point = NULL, *result = NULL;
    Polygon area;
    if (!takes(3, count, "locomotion_nearest_inside"))
        return NULL;
    Borrowed arrays = {0};
    if (locomotion_polygon(&arrays, arguments[0], "corners", &area))
        point = borrow_numbers(&arrays, arguments[1], 2, "point");
    if (point)
        result = borrow_written(&arrays, arguments[2], 2, "result");
    if (result)
        nearest_inside(area, point, result);
    give_back(&arrays);
    return result ? Py_NewRef(Py_None) : NULL;
}

FUNCTION(locomotion_share_of_area)
{
    (void)module;
    double *point = NULL, share = 0.0;
    Polygon area;
    if (!takes(2, count, "locomotion_share_of_area"))
        return NULL;
    Borrowed arrays = {0};
    if (locomotion_polygon(&arrays, arguments[0], "corners", &area))
        point = borrow_numbers(&arrays, arguments[1], 2, "point");
    if (point)
        share = share_of_area(area, point);
    give_back(&arrays);
    return point ? PyFloat_FromDouble(share) : NULL;
}

FUNCTION(locomotion_feed_back_dcm)
{
    (void)module;
    static const Wanted READ[] = {{"zmp", 2}, {"dcm", 2}, {"pull", 2}, {"com", 3}, {"com_velocity", 3}, {"gains", 4}};
    double *found[6], times[2];
    Polygon area;
    DcmVerdict verdict = {false, false};
    if (!takes(10, count, "locomotion_feed_back_dcm") || !locomotion_numbers(arguments + 8, 2, times))
        return NULL;
    Borrowed arrays = {0};
    double *feedback = borrow_written(&arrays, arguments[0], sizeof(DcmFeedback) / sizeof(double), "feedback");
    bool well = feedback && locomotion_polygon(&arrays, arguments[1], "area", &area) &&
                locomotion_borrow(&arrays, arguments + 2, READ, 6, found);
    if (well) {
        DcmInput input = {found[0], found[1], found[2], found[3], found[4], times[0], times[1]};
        verdict = feed_back_dcm(area, &input, (const DcmGains *)found[5], (DcmFeedback *)feedback);
    }
    give_back(&arrays);
    return well ? PyTuple_Pack(2, verdict.kept_inside ? Py_True : Py_False, verdict.falling ? Py_True : Py_False) : NULL;
}

FUNCTION(locomotion_lean_trunk)
{
    (void)module;
    double numbers[3], *push = NULL, *rotation = NULL;
    if (!takes(6, count, "locomotion_lean_trunk") || !locomotion_numbers(arguments + 2, 3, numbers))
        return NULL;
    Borrowed arrays = {0};
    Trunk *trunk = (Trunk *)borrow_written(&arrays, arguments[0], sizeof(Trunk) / sizeof(double), "trunk");
    if (trunk)
        push = borrow_numbers(&arrays, arguments[1], 2, "push");
    if (push)
        rotation = borrow_written(&arrays, arguments[5], 9, "rotation");
    if (rotation) {
        double turn[9], before[9];
        lean_trunk(trunk, push, numbers[0], numbers[1], numbers[2]);
        matrix_of_rotation_vector((double[]){-trunk->lean[1], trunk->lean[0], 0.0}, turn);
        memcpy(before, rotation, sizeof before);
        product_of_rotations(turn, before, rotation);
    }
    give_back(&arrays);
    return rotation ? Py_NewRef(Py_None) : NULL;
}

FUNCTION(locomotion_rotation)
{
    (void)module;
    if (!takes(2, count, "locomotion_rotation"))
        return NULL;
    Borrowed arrays = {0};
    double *vector = borrow_numbers(&arrays, arguments[0], 3, "vector");
    double *result = vector ? borrow_written(&arrays, arguments[1], 9, "result") : NULL;
    if (result)
        matrix_of_rotation_vector(vector, result);
    give_back(&arrays);
    return result ? Py_NewRef(Py_None) : NULL;
}

/* The arrays of a call, for as long as the handle lives; false with a Python error. */
static bool fill_anchoring(AnchoringHandle *handle, PyObject *const *arguments)
{
    static const Wanted READ[] = {{"com_velocity", 3}, {"base", 3}, {"com", 3}, {"capture_point", 3},
                                  {"cop", 3}, {"soles", 32}, {"orientation", 4}};
    static const Wanted WRITTEN[] = {{"share", 1}, {"moved_vectors", 15}, {"moved_soles", 32}, {"moved_orientation", 4}};
    Borrowed *arrays = &handle->arrays;
    double *read[7], *written[4];
    double *wrench = borrow_numbers(arrays, arguments[0], 12, "wrench");
    uint8_t *contact = wrench ? borrow_flags(arrays, arguments[1], 2, "contact") : NULL;
    if (!contact || !locomotion_borrow(arrays, arguments + 2, READ, 7, read) ||
        !locomotion_borrow_written(arrays, arguments + 9, WRITTEN, 4, written))
        return false;
    handle->anchoring = (Anchoring){
        .wrench = (const double (*)[6])wrench, .contact = contact,
        .vectors = {read[0], read[1], read[2], read[3], read[4]},
        .soles = (const double (*)[4][4])read[5], .orientation = read[6], .share = written[0],
        .moved_vectors = (double (*)[3])written[1], .moved_soles = (double (*)[4][4])written[2],
        .moved_orientation = written[3],
    };
    return true;
}

FUNCTION(locomotion_anchoring)
{
    (void)module;
    if (!takes(13, count, "locomotion_anchoring"))
        return NULL;
    AnchoringHandle *handle;
    PyObject *capsule = new_handle(sizeof *handle, ANCHORING_HANDLE, (void **)&handle);
    if (capsule && !fill_anchoring(handle, arguments))
        Py_CLEAR(capsule);
    return capsule;
}

FUNCTION(locomotion_anchor)
{
    (void)module;
    PlannedFoot feet[2];
    double n[8];
    if (!takes(9, count, "locomotion_anchor") || !locomotion_numbers(arguments + 1, 8, n))
        return NULL;
    AnchoringHandle *handle = handle_of(arguments[0], ANCHORING_HANDLE);
    if (!handle)
        return NULL;
    for (int side = 0; side < 2; side++)
        feet[side] = (PlannedFoot){{n[4 * side], n[4 * side + 1], n[4 * side + 2]}, n[4 * side + 3]};
    anchor_balance(&handle->anchoring, feet);
    Py_RETURN_NONE;
}
