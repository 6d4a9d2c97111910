/* binding.c - the table of locomotion's functions in Python, and how they take their arguments. */
#include "wholebody/locomotion/binding.h"

bool locomotion_borrow(Borrowed *arrays, PyObject *const *arguments, const Wanted *wanted, int count, double **found)
{
    for (int i = 0; i < count; i++) {
        found[i] = borrow_numbers(arrays, arguments[i], wanted[i].count, wanted[i].name);
        if (!found[i])
            return false;
    }
    return true;
}

bool locomotion_borrow_written(Borrowed *arrays, PyObject *const *arguments, const Wanted *wanted, int count,
                               double **found)
{
    for (int i = 0; i < count; i++) {
        found[i] = borrow_written(arrays, arguments[i], wanted[i].count, wanted[i].name);
        if (!found[i])
            return false;
    }
    return true;
}

bool locomotion_numbers(PyObject *const *arguments, int count, double *found)
{
    for (int i = 0; i < count; i++) {
        found[i] = PyFloat_AsDouble(arguments[i]);
        if (found[i] == -1.0 && PyErr_Occurred())
            return false;
    }
    return true;
}

bool locomotion_polygon(Borrowed *arrays, PyObject *corners, const char *name, Polygon *found)
{
    double *numbers = borrow_numbers(arrays, corners, ANY, name);
    if (!numbers)
        return false;
    Py_ssize_t count = borrowed_count(arrays);
    if (count == 0 || count % 2 != 0) {
        PyErr_Format(PyExc_ValueError, "%s must be rows of x and y, one or more", name);
        return false;
    }
    *found = (Polygon){(int)(count / 2), (const double (*)[2])numbers};
    return true;
}

PyMethodDef locomotion_methods[] = {
    {"locomotion_path", METHOD(locomotion_path),
     "locomotion_path(times, curves, coefficients, omega, start): the handle of a path of the zero moment point."},
    {"locomotion_path_at", METHOD(locomotion_path_at),
     "locomotion_path_at(path, time, result): zmp, dcm, com and its velocity."},
    {"locomotion_swing", METHOD(locomotion_swing),
     "locomotion_swing(end, state, goal, rise, derivatives): the handle of a foot's swing."},
    {"locomotion_swing_at", METHOD(locomotion_swing_at),
     "locomotion_swing_at(swing, since, time): the height; fills in the derivatives."},
    {"locomotion_place_outline", METHOD(locomotion_place_outline),
     "locomotion_place_outline(outline, x, y, yaw, corners)."},
    {"locomotion_nearest_inside", METHOD(locomotion_nearest_inside),
     "locomotion_nearest_inside(corners, point, result)."},
    {"locomotion_share_of_area", METHOD(locomotion_share_of_area), "locomotion_share_of_area(corners, point)."},
    {"locomotion_feed_back_dcm", METHOD(locomotion_feed_back_dcm),
     "locomotion_feed_back_dcm(feedback, area, zmp, dcm, pull, com, com_velocity, gains, omega, period): whether the zmp "
     "was kept inside, and whether the robot falls."},
    {"locomotion_lean_trunk", METHOD(locomotion_lean_trunk),
     "locomotion_lean_trunk(trunk, push, upright, most, period, rotation): lean on, and turn the rotation so."},
    {"locomotion_rotation", METHOD(locomotion_rotation), "locomotion_rotation(vector, result): its matrix."},
    {"locomotion_anchoring", METHOD(locomotion_anchoring),
     "locomotion_anchoring(wrench, contact, com_velocity, base, com, capture_point, cop, soles, orientation, share, "
     "moved_vectors, moved_soles, moved_orientation): a handle."},
    {"locomotion_anchor", METHOD(locomotion_anchor),
     "locomotion_anchor(anchoring, x, y, yaw, height, x, y, yaw, height): move the balance to the feet."},
    {"locomotion_find_ground", METHOD(locomotion_find_ground),
     "locomotion_find_ground(contact, gains, wrench, left_height, right_height, rise, phase_left, period, support, "
     "left_share): whether a foot is early, support and left share as found."},
    {"locomotion_turn_feet", METHOD(locomotion_turn_feet),
     "locomotion_turn_feet(compliance, gains, left, right, zmp, wrench, cop, seen, left_share, period, uneven)."},
    {"locomotion_turn_sole", METHOD(locomotion_turn_sole), "locomotion_turn_sole(sole, lean, result)."},
    {"locomotion_servos", METHOD(locomotion_servos),
     "locomotion_servos(tree, soles, compliance, lag, softness, from_spring, mass): a handle."},
    {"locomotion_lead_servos", METHOD(locomotion_lead_servos),
     "locomotion_lead_servos(servos, tree, snapshot, joints, velocities, acceleration, rotation, left, right, zmp, "
     "left_share, told)."},
    {"locomotion_legs", METHOD(locomotion_legs),
     "locomotion_legs(left, right, left_columns, right_columns, joints, tasks): the handle of two legs in closed form."},
    {"locomotion_aim_legs", METHOD(locomotion_aim_legs),
     "locomotion_aim_legs(legs, com, rotation, left, right): set the goals of the tasks."},
    {"locomotion_put_legs", METHOD(locomotion_put_legs),
     "locomotion_put_legs(legs, tree, snapshot, rounds): to the goals; how far a sole stays away, or -1."},
    {0},
};
