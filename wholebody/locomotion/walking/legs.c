/* legs.c - joints that put the centre of mass and both soles where they are to be, by the closed form of the legs. */
#include "wholebody/locomotion/walking/legs.h"

#include <math.h>

/* Where the pelvis is, from where the centre of mass is to be: c - R c_pelvis. */
static void place_pelvis(const LegGoal *goal, const double com_in_pelvis[3], double pelvis[3])
{
    rotate(goal->rotation, com_in_pelvis, pelvis);
    for (int i = 0; i < 3; i++)
        pelvis[i] = goal->com[i] - pelvis[i];
}

/* A sole in the axes of the pelvis: R^T (sole - pelvis). */
static void see_from_pelvis(const LegGoal *goal, const double pelvis[3], int side, double pose[16])
{
    const double (*sole)[4] = goal->sole[side], *R = goal->rotation;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++)
            pose[4 * i + k] = R[i] * sole[0][k] + R[3 + i] * sole[1][k] + R[6 + i] * sole[2][k];
        pose[4 * i + 3] = R[i] * (sole[0][3] - pelvis[0]) + R[3 + i] * (sole[1][3] - pelvis[1]) +
                          R[6 + i] * (sole[2][3] - pelvis[2]);
        pose[12 + i] = 0.0;
    }
    pose[15] = 1.0;
}

/* Put one sole to a pose, and move the centre of mass along by J dq; how far the sole stays away, or -1. */
static double put_leg(const Leg *leg, const double pose[16], const double *com_jacobian, int nv, double *joints,
                      double com[3])
{
    double near[MOST_JOINTS];
    NearestPose answer;
    for (int j = 0; j < leg->chain->joints; j++)
        near[j] = joints[leg->columns[j]];
    Choice choice = {near, NAN, leg->chain->radian};
    if (nearest_joints(leg->chain, pose, choice, &answer) != NEAREST_FOUND)
        return -1.0;
    for (int j = 0; j < leg->chain->joints; j++) {
        joints[leg->columns[j]] = answer.joints[j];
        for (int i = 0; i < 3; i++)
            com[i] += com_jacobian[i * nv + 6 + leg->columns[j]] * (answer.joints[j] - near[j]);
    }
    return answer.distance;
}

/* The pelvis goes to where it would be right if the joints stayed as they are, and again after they moved. */
double put_legs(const Tree *tree, const Snapshot *before, const Leg legs[2], const LegGoal *goal, double *joints)
{
    double com[3] = {before->com[0], before->com[1], before->com[2]}, pelvis[3], pose[16], reach = 0.0;
    for (int round = 0; round < goal->rounds; round++) {
        place_pelvis(goal, com, pelvis);
        reach = 0.0;
        for (int side = 0; side < 2; side++) {
            see_from_pelvis(goal, pelvis, side, pose);
            double away = put_leg(&legs[side], pose, before->com_jacobian, tree->nv, joints, com);
            if (away < 0.0)
                return -1.0;
            reach = larger(reach, away);
        }
    }
    return reach;
}
