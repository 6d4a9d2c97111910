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

/* Where all is to be, in world: the goals of tasks, in their memory. Quaternions are x y z w. */
typedef struct {
    double *foot[2]; /* position, then orientation of each sole */
    double *pelvis;  /* orientation */
    double *com;     /* 3 */
} LegGoals;

/* legs.c: set the goals: the rotation of the pelvis by rows, and the frames of the soles. */
void aim_legs(const LegGoals *goals, const double com[3], const double rotation[9], const double (*const sole[2])[4]);

/* legs.c: move `joints` (those of the model, without its base) to the goals. `before` is the robot with the joints as
 * they are, seen from its pelvis; the centre of mass is put right in some rounds. How far a sole stays away from its
 * goal, m, or -1 if that is no pose. */
double put_legs(const Tree *tree, const Snapshot *before, const Leg legs[2], const LegGoals *goals, int rounds,
                double *joints);

#endif
