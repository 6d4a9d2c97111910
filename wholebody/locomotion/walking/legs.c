/* legs.c - joints that put the centre of mass and both soles where they are to be, by the closed form of the legs. */
#include "wholebody/locomotion/walking/legs.h"

#include <math.h>
#include <string.h>

#include "wholebody/rotations.h"

/* A sole as its goal has it, in the axes of the pelvis: R^T (sole - pelvis). */
static void see_from_pelvis(const double R[9], const double pelvis[3], const double goal[7], double pose[16])
{
    double sole[9];
    matrix_of_quaternion(goal + 3, sole);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++)
            pose[4 * i + k] = R[i] * sole[k] + R[3 + i] * sole[3 + k] + R[6 + i] * sole[6 + k];
        pose[4 * i + 3] =
            R[i] * (goal[0] - pelvis[0]) + R[3 + i] * (goal[1] - pelvis[1]) + R[6 + i] * (goal[2] - pelvis[2]);
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

/* The pelvis goes to where it would be right if the joints stayed as they are, c - R c_pelvis, and again after they
 * moved. */
double put_legs(const Tree *tree, const Snapshot *before, const Leg legs[2], const LegGoals *goals, int rounds,
                double *joints)
{
    double com[3] = {before->com[0], before->com[1], before->com[2]}, R[9], pelvis[3], pose[16], reach = 0.0;
    matrix_of_quaternion(goals->pelvis, R);
    for (int round = 0; round < rounds; round++) {
        rotate(R, com, pelvis);
        for (int i = 0; i < 3; i++)
            pelvis[i] = goals->com[i] - pelvis[i];
        reach = 0.0;
        for (int side = 0; side < 2; side++) {
            see_from_pelvis(R, pelvis, goals->foot[side], pose);
            double away = put_leg(&legs[side], pose, before->com_jacobian, tree->nv, joints, com);
            if (away < 0.0)
                return -1.0;
            reach = larger(reach, away);
        }
    }
    return reach;
}

void aim_legs(const LegGoals *goals, const double com[3], const double rotation[9], const double (*const sole[2])[4])
{
    memcpy(goals->com, com, 3 * sizeof *com);
    quaternion_of_matrix(rotation, goals->pelvis);
    for (int side = 0; side < 2; side++) {
        double turn[9];
        for (int i = 0; i < 3; i++) {
            goals->foot[side][i] = sole[side][i][3];
            memcpy(turn + 3 * i, sole[side][i], 3 * sizeof *turn);
        }
        quaternion_of_matrix(turn, goals->foot[side] + 3);
    }
}
