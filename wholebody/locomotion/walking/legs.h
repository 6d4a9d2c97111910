/* legs.h - both legs in closed form: the joints below a centre of mass and above two soles. */
#ifndef WHOLEBODY_LOCOMOTION_LEGS_H
#define WHOLEBODY_LOCOMOTION_LEGS_H

#include "wholebody/kinematics/closed_form.h"
#include "wholebody/locomotion/locomotion.h"

/* A leg: its chain from the pelvis to the sole, and where its joints are among those of the model. */
typedef struct {
    const ClosedForm *chain;
    const int64_t *columns;
} Leg;

/* Where all is to be, in world. */
typedef struct {
    const double *com;          /* 3 */
    const double *rotation;     /* of the pelvis, by rows */
    const double (*sole[2])[4]; /* frames, 4 x 4 */
    int rounds;                 /* how often the centre of mass is put right */
} LegGoal;

/* legs.c: move `joints` (those of the model, without its base) to the goal. `before` is the robot with the joints as
 * they are, seen from its pelvis. How far a sole stays away from its goal, m, or -1 if that is no pose. */
double put_legs(const Tree *tree, const Snapshot *before, const Leg legs[2], const LegGoal *goal, double *joints);

#endif
