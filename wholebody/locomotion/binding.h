/* binding.h - shared by the files that bind locomotion to Python. */
#ifndef WHOLEBODY_LOCOMOTION_BINDING_H
#define WHOLEBODY_LOCOMOTION_BINDING_H

#include "wholebody/binding.h"
#include "wholebody/locomotion/locomotion.h"

/* The polygon in an array of corners; the call fails if it has none. */
static inline Polygon given_polygon(Given *given, int index, const char *name)
{
    const double *numbers = given_numbers(given, index, ANY, name);
    Py_ssize_t count = given_count(given);
    if (count == 0 || count % 2 != 0)
        refuse(given, "%s must be rows of x and y, one or more", name);
    return (Polygon){(int)(count / 2), (const double (*)[2])numbers};
}

/* A placement, 4 x 4. */
static inline const double (*given_placement(Given *given, int index, const char *name))[4]
{
    return (const double (*)[4])given_numbers(given, index, 16, name);
}

#endif
