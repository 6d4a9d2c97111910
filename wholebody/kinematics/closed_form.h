/* closed_form.h - inverse kinematics of legs and arms by formulas: a pose of the tip to all joint vectors that reach it.
 *
 * Poses are tip to base, 4 x 4 by rows. Joints stand in the order from the base to the tip, in rad. No function keeps
 * or allocates memory; all may be called without Python's lock. */
#ifndef WHOLEBODY_KINEMATICS_CLOSED_FORM_H
#define WHOLEBODY_KINEMATICS_CLOSED_FORM_H

#include <stdbool.h>
#include <stdint.h>

#include "wholebody/rotations.h"

enum { MOST_JOINTS = 6, MOST_BRANCHES = 8, MOST_BRANCHES_OF_FEW = 4 };

#define POSITION_REACHED 1e-9 /* m: nearer than that is there */

/* The axis of a joint in the base's frame, with all joints at zero: a unit direction and a point on it. */
typedef struct {
    Vector3 axis, point;
} JointLine;

/* A chain with a closed form, as chains.py finds it: the fields of its Numbers, in the same order, 8 bytes each.
 * M is the tip's placement with all joints at zero. Arrays of joints are longer than a chain of four or five. */
typedef struct {
    int64_t joints;                   /* 4, 5 or 6 */
    double radian;                    /* m: how much a radian counts, where a pose can not be reached */
    double lower[MOST_JOINTS], upper[MOST_JOINTS];
    double rest[MOST_JOINTS];         /* the posture nearest to zero within limits */
    JointLine line[MOST_JOINTS];
    double home[16];                  /* M */
    Vector3 home_back[3];             /* rotation of M^-1, by rows */
    Vector3 home_back_translation;
    Vector3 centre;                   /* C, of the spherical hip, shoulder or wrist */
    Vector3 frame_1[3], frame_3[3];   /* columns of F1 and F3: e1 e2 e3 = F1 Rz(q1) Ry(q2 + tilt) Rz(q3) F3^T */
    double tilt;
    /* Of six joints only. */
    int64_t backwards;                /* whether the spherical end is at the tip: solved from G^-1 */
    int64_t single_last;              /* whether the single comes after the pair */
    int64_t parallel;                 /* whether the axes of the pair are parallel; else they meet */
    JointLine single, pair_i, pair_j; /* the three joints that place C */
    Vector3 meeting;                  /* where the axes of the pair meet */
    Vector3 knot;                     /* where the last two axes meet */
    double least_reach, most_reach;   /* distance of C from the knot */
    double elbow_along, elbow_beside; /* seen from the knot: distance of the elbow along the forearm, and beside it */
    double upper_arm;                 /* radius of C about the elbow; 0 if there is no such elbow */
} ClosedForm;

/* One joint vector that reaches a pose, or comes nearest to it. */
typedef struct {
    double joints[MOST_JOINTS];
    bool within_limits;
    double distance, turn;            /* of the tip from the goal, in m and rad */
} Branch;

typedef struct {
    Branch branch[MOST_BRANCHES];
    int count;
} Branches;

/* Joints within limits, the pose they reach, and how far that is from the goal, in m and rad. */
typedef struct {
    double joints[MOST_JOINTS];
    double pose[16];
    double distance, turn;
} NearestPose;

/* What to choose by: a posture to be near, the swivel of an arm's elbow (4 or 5 joints; NaN: free), m per radian. */
typedef struct {
    const double *near;
    double swivel, radian;
} Choice;

typedef enum { NEAREST_FOUND = 0, NEAREST_NO_POSE = -1, NEAREST_BAD_POSTURE = -2 } NearestVerdict;

/* closed_form.c: where the tip stands. */
void forward_kinematics(const ClosedForm *chain, const double *joints, double pose[16]);

/* closed_form.c: all branches of a pose; false if the pose is none. If the goal is reachable, every branch reaches it,
 * else every branch leads to the nearest pose. near: values of joints that can be anywhere. */
bool all_branches(const ClosedForm *chain, const double pose[16], const double *near, double swivel, Branches *found);

/* closed_form.c: leave only branches within limits. */
void keep_within_limits(Branches *found);

/* closed_form.c: joints within limits that come nearest to a goal. Of branches that reach it, the one nearest to the
 * posture; else the least sqrt(distance^2 + (radian turn)^2), found from every branch. */
NearestVerdict nearest_joints(const ClosedForm *chain, const double goal[16], Choice choice, NearestPose *answer);

/* closed_form_nearest.c: the same where no branch can be taken; and the rotation vector from one pose to another, in the
 * axes of the base, with its length as the result. */
void nearest_within_limits(const ClosedForm *chain, const double goal[16], Choice choice, const Branches *found,
                           double *joints);
double rotation_between(const double pose[16], const double goal[16], double rotation[3]);

/* closed_form_six.c, closed_form_few.c: of a matrix that is a pose. */
void branches_of_six(const ClosedForm *chain, const double pose[16], const double *near, Branches *found);
void branches_of_few(const ClosedForm *chain, const double pose[16], const double *near, double swivel,
                     Branches *found);

/* closed_form.c: keep the branches that come nearest to the goal, to POSITION_REACHED. */
void keep_nearest(Branches *found, double least);

#endif
