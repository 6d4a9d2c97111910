/* servo_feed_forward.c - how far ahead joints are told to be, for their servos to push as they must.
 *
 *     told = q* + (g - sum J^T w + D q*') / K - flexion
 *
 * with the wrenches w of the ground; each foot pushes as far from its middle as the zmp is from between them. A spring
 * under an ankle bends by the moment of w about its own place. */
#include "wholebody/locomotion/locomotion.h"

#include "wholebody/rotations.h"

/* Of one foot, in the axes of the pelvis: force and moment at the sole, and the moment that bends the spring. */
typedef struct {
    double wrench[6], bending[3];
} Push;

static Push push_of(const Snapshot *now, const Servos *servos, const LegMotion *motion, const double share[2], int side)
{
    double off[2];
    for (int i = 0; i < 2; i++)
        off[i] = motion->zmp[i] - share[0] * motion->sole[0][i][3] - share[1] * motion->sole[1][i][3];
    double mass = share[side] * servos->mass;
    double force[3] = {mass * motion->acceleration[0], mass * motion->acceleration[1], mass * GRAVITY};
    double moment[3] = {off[1] * force[2], -off[0] * force[2], off[0] * force[1] - off[1] * force[0]};
    Push push;
    rotate_back(motion->rotation, force, push.wrench);
    rotate_back(motion->rotation, moment, push.wrench + 3);
    double arm[3], lever[3];
    rotate_by_placement(now->placement[servos->soles[side]], servos->from_spring[side], arm);
    cross3(arm, push.wrench, lever);
    for (int i = 0; i < 3; i++)
        push.bending[i] = push.wrench[3 + i] + lever[i];
    return push;
}

void lead_servos(const Tree *tree, const Snapshot *now, const Servos *servos, const LegMotion *motion, double *told)
{
    int nv = tree->nv;
    double share[2] = {motion->left_share, 1.0 - motion->left_share};
    Push push[2] = {push_of(now, servos, motion, share, 0), push_of(now, servos, motion, share, 1)};
    const double *J[2] = {jacobian_of(tree, now, (int)servos->soles[0]), jacobian_of(tree, now, (int)servos->soles[1])};
    for (int j = 0; j < nv - 6; j++) {
        double load = now->g[6 + j], bent = 0.0;
        for (int side = 0; side < 2; side++) {
            const double *column = J[side] + 6 + j;
            for (int i = 0; i < 6; i++)
                load -= column[i * nv] * push[side].wrench[i];
            for (int i = 0; i < 3; i++)
                bent += servos->softness[j] * column[(3 + i) * nv] * push[side].bending[i];
        }
        told[j] = motion->joints[j] + servos->compliance[j] * load - bent + servos->lag[j] * motion->velocities[j];
    }
}
