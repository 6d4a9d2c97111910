/* distances.h - shapes of links, and which pairs of them may come too near within a period.
 *
 * Every shape lies within a capsule of its own: a segment, thickened. The distance of two capsules is never more than that
 * of the shapes in them, and it is found a hundred times faster; only pairs whose capsules are near need be looked at. */
#ifndef WHOLEBODY_QUADRATIC_DISTANCES_H
#define WHOLEBODY_QUADRATIC_DISTANCES_H

#include "wholebody/model/model.h"

/* Shapes on frames, and where they are in this cycle; Python owns all arrays. */
typedef struct {
    int count;
    double (*at)[4][4];      /* shape to frame */
    const double (*axis)[3]; /* half the segment, in the shape's axes */
    const double (*radius)[2]; /* of the capsule, and of a sphere about it */
    const double (*box)[3];  /* half the size of a box about it, or zeros for one that is its capsule */
    const int64_t *frame;
    double (*rotation)[9];   /* shape to world: written here, as all below */
    double (*centre)[3];     /* in world */
    double (*half)[3];       /* half the segment, in world */
    double (*velocity)[3];   /* of the centre */
    double (*spin)[3];       /* in world */
} Shapes;

/* How pairs are braked: closing faster than that is `sudden`. */
typedef struct {
    double clearance, braking, sudden, period;
} Reach;

/* The distance of two capsules, and where on their segments, -1 ... 1, the nearest points are. */
typedef struct {
    double distance, s, t;
} Nearest;

void place_shapes(const Shapes *shapes, const Snapshot *now);
Nearest capsule_distance(const Shapes *shapes, int64_t one, int64_t other);

/* The pairs that could be too near, or too fast to stop in time, after a period, to `near`; how many. Their room is what
 * they have of what they need to stop in: 0 at the clearance, below 1 for all that are listed. */
int list_near(const Shapes *shapes, const int64_t (*pairs)[2], int count, Reach reach, int64_t *near, double *room);

#endif
