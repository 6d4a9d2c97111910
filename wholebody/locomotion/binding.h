/* binding.h - shared by the files that bind locomotion to Python: several arrays or numbers at once. */
#ifndef WHOLEBODY_LOCOMOTION_BINDING_H
#define WHOLEBODY_LOCOMOTION_BINDING_H

#include "wholebody/binding.h"
#include "wholebody/locomotion/locomotion.h"

/* An array of float64 that an argument is to be. */
typedef struct {
    const char *name;
    Py_ssize_t count; /* or ANY */
} Wanted;

/* Borrow as many arrays as there are wanted, one after the other; false with a Python error if one is another. */
bool locomotion_borrow(Borrowed *arrays, PyObject *const *arguments, const Wanted *wanted, int count, double **found);

/* The same, to be written. */
bool locomotion_borrow_written(Borrowed *arrays, PyObject *const *arguments, const Wanted *wanted, int count,
                               double **found);

/* Numbers, one after the other; false with a Python error if one is none. */
bool locomotion_numbers(PyObject *const *arguments, int count, double *found);

/* The polygon in an array of corners; false with a Python error if it has none. */
bool locomotion_polygon(Borrowed *arrays, PyObject *corners, const char *name, Polygon *found);

/* The functions of binding_plan.c, binding_balance.c, binding_feet.c and binding_legs.c; binding.c has the table. */
#define FUNCTION(name) PyObject *name(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
FUNCTION(locomotion_path);
FUNCTION(locomotion_path_at);
FUNCTION(locomotion_swing);
FUNCTION(locomotion_swing_at);
FUNCTION(locomotion_place_outline);
FUNCTION(locomotion_nearest_inside);
FUNCTION(locomotion_share_of_area);
FUNCTION(locomotion_feed_back_dcm);
FUNCTION(locomotion_lean_trunk);
FUNCTION(locomotion_rotation);
FUNCTION(locomotion_anchoring);
FUNCTION(locomotion_anchor);
FUNCTION(locomotion_find_ground);
FUNCTION(locomotion_turn_feet);
FUNCTION(locomotion_turn_sole);
FUNCTION(locomotion_servos);
FUNCTION(locomotion_lead_servos);
FUNCTION(locomotion_legs);
FUNCTION(locomotion_aim_legs);
FUNCTION(locomotion_put_legs);

#endif
