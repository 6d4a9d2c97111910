/* collision.h - how far apart the boxes around shapes are: what is not near need not be looked at closely. */
#ifndef WHOLEBODY_KINEMATICS_COLLISION_H
#define WHOLEBODY_KINEMATICS_COLLISION_H

#include <stdint.h>

/* The shapes of a robot and the pairs that must not touch. The arrays are Python's. */
typedef struct {
    int shapes, pairs;
    int64_t links;               /* of the robot at least: one more than the largest of `link` */
    const int64_t *link;         /* of each shape */
    const double (*at)[16];      /* of each shape: to its link, 4 x 4 */
    const double (*half)[3];     /* of each shape: half the size of the box around it */
    const int64_t (*pair)[2];    /* two shapes */
    double (*low)[3], (*high)[3]; /* of each shape: bounds along the axes of the world */
    double *gap;                 /* of each pair: how far apart its boxes are */
    int64_t *near;               /* pairs that are near, as many as there are */
} Boxes;

/* collision.c: bounds of all shapes, with links placed so (links x 16), and gaps of all pairs; how many pairs are not
 * further apart than `within`. */
int place_boxes(const Boxes *boxes, const double *placements, double within);

#endif
