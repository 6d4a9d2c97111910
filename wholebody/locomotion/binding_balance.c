/* binding_balance.c - support areas, feedback of the divergent component and anchoring in Python. */
#include "wholebody/locomotion/binding.h"

#include <string.h>

#include "wholebody/rotations.h"

#define ANCHORING_HANDLE "wholebody.Anchoring"

typedef struct {
    Borrowed arrays;
    Anchoring anchoring;
} AnchoringHandle;

static PyObject *locomotion_place_outline(Given *given)
{
    Polygon outline = given_polygon(given, 0, "outline");
    const double place[3] = {given_number(given, 1), given_number(given, 2), given_number(given, 3)};
    double *corners = given_written(given, 4, 2 * (Py_ssize_t)outline.count, "corners");
    if (!given->failed)
        place_outline(outline, place, (double (*)[2])corners);
    return nothing();
}

static PyObject *locomotion_nearest_inside(Given *given)
{
    Polygon area = given_polygon(given, 0, "corners");
    double *point = given_numbers(given, 1, 2, "point"), *result = given_written(given, 2, 2, "result");
    if (!given->failed)
        nearest_inside(area, point, result);
    return nothing();
}

static PyObject *locomotion_share_of_area(Given *given)
{
    Polygon area = given_polygon(given, 0, "corners");
    const double *point = given_numbers(given, 1, 2, "point");
    return given->failed ? NULL : PyFloat_FromDouble(share_of_area(area, point));
}

static PyObject *locomotion_feed_back_dcm(Given *given)
{
    double *feedback = given_written(given, 0, NUMBERS_IN(DcmFeedback), "feedback");
    Polygon area = given_polygon(given, 1, "area");
    DcmInput input = {
        given_numbers(given, 2, 2, "zmp"),  given_numbers(given, 3, 2, "dcm"),
        given_numbers(given, 4, 2, "pull"), given_numbers(given, 5, 3, "com"),
        given_numbers(given, 6, 3, "com_velocity"), given_number(given, 8), given_number(given, 9),
    };
    const double *gains = given_numbers(given, 7, NUMBERS_IN(DcmGains), "gains");
    if (given->failed)
        return NULL;
    DcmVerdict verdict = feed_back_dcm(area, &input, (const DcmGains *)gains, (DcmFeedback *)feedback);
    return PyTuple_Pack(2, verdict.kept_inside ? Py_True : Py_False, verdict.falling ? Py_True : Py_False);
}

static PyObject *locomotion_lean_trunk(Given *given)
{
    Trunk *trunk = (Trunk *)given_written(given, 0, NUMBERS_IN(Trunk), "trunk");
    double *push = given_numbers(given, 1, 2, "push"), *rotation = given_written(given, 5, 9, "rotation");
    double upright = given_number(given, 2), most = given_number(given, 3), period = given_number(given, 4);
    if (given->failed)
        return NULL;
    double turn[9], before[9];
    lean_trunk(trunk, push, upright, most, period);
    matrix_of_rotation_vector((double[]){-trunk->lean[1], trunk->lean[0], 0.0}, turn);
    memcpy(before, rotation, sizeof before);
    product_of_rotations(turn, before, rotation);
    return nothing();
}

static PyObject *locomotion_rotation(Given *given)
{
    double *vector = given_numbers(given, 0, 3, "vector"), *result = given_written(given, 1, 9, "result");
    if (!given->failed)
        matrix_of_rotation_vector(vector, result);
    return nothing();
}

static PyObject *locomotion_anchoring(Given *given)
{
    AnchoringHandle *handle;
    PyObject *capsule = new_handle(given, sizeof *handle, ANCHORING_HANDLE, (void **)&handle);
    Anchoring anchoring = {
        .wrench = (const double (*)[6])given_numbers(given, 0, 12, "wrench"),
        .contact = given_flags(given, 1, 2, "contact"),
        .vectors = {given_numbers(given, 2, 3, "com_velocity"), given_numbers(given, 3, 3, "base"),
                    given_numbers(given, 4, 3, "com"), given_numbers(given, 5, 3, "capture_point"),
                    given_numbers(given, 6, 3, "cop")},
        .soles = (const double (*)[4][4])given_numbers(given, 7, 32, "soles"),
        .orientation = given_numbers(given, 8, 4, "orientation"),
        .share = given_written(given, 9, 1, "share"),
        .moved_vectors = (double (*)[3])given_written(given, 10, 15, "moved_vectors"),
        .moved_soles = (double (*)[4][4])given_written(given, 11, 32, "moved_soles"),
        .moved_orientation = given_written(given, 12, 4, "moved_orientation"),
    };
    if (!given->failed)
        handle->anchoring = anchoring;
    return capsule;
}

static PyObject *locomotion_anchor(Given *given)
{
    AnchoringHandle *handle = given_handle(given, 0, ANCHORING_HANDLE);
    PlannedFoot feet[2];
    for (int side = 0; side < 2; side++) {
        int first = 1 + 4 * side;
        feet[side] = (PlannedFoot){
            {given_number(given, first), given_number(given, first + 1), given_number(given, first + 2)},
            given_number(given, first + 3),
        };
    }
    if (!given->failed)
        anchor_balance(&handle->anchoring, feet);
    return nothing();
}

const Kernel stabilizer_kernels[] = {
    {"locomotion_place_outline", locomotion_place_outline, 5},
    {"locomotion_nearest_inside", locomotion_nearest_inside, 3},
    {"locomotion_share_of_area", locomotion_share_of_area, 2},
    {"locomotion_feed_back_dcm", locomotion_feed_back_dcm, 10},
    {"locomotion_lean_trunk", locomotion_lean_trunk, 6},
    {"locomotion_rotation", locomotion_rotation, 2},
    {"locomotion_anchoring", locomotion_anchoring, 13},
    {"locomotion_anchor", locomotion_anchor, 9},
    {0},
};
