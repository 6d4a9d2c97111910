/* support.h - convex polygons in the horizontal plane. */
#ifndef WHOLEBODY_MODEL_SUPPORT_H
#define WHOLEBODY_MODEL_SUPPORT_H

#include <stdbool.h>

/* The corners of the convex hull, counter-clockwise from the leftmost, and how many they are. The points are
 * put on a grid, where rounding cannot take a neighbour for a corner, and sorted; the chain has room for 2 count + 1 points. */
int convex_hull(double (*points)[2], int count, double grid, double (*chain)[2]);

/* From a point to the border of a convex polygon: positive inside, negative outside, -inf if there is none. */
double signed_distance(double (*corners)[2], int count, double x, double y);

#endif
