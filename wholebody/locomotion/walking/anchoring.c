/* anchoring.c - an estimate of balance, turned and moved about the vertical to where the feet are thought to stand. */
#include "wholebody/locomotion/locomotion.h"

#include <math.h>

#define HASTE 0.3 /* how far the share of each foot goes, in one cycle, to what is measured */

/* p <- Rz p + d */
typedef struct {
    double cosine, sine, turn;
    double d[3];
} PlanarMotion;

/* The motion with sum s_i (Rz sole_i + d) = sum s_i foot_i; heading is that of the foot that bears more. */
static PlanarMotion motion_to_feet(const Anchoring *anchoring, const PlannedFoot feet[2])
{
    const double (*soles)[4][4] = anchoring->soles;
    double left = larger(anchoring->wrench[0][2], 0.0), right = larger(anchoring->wrench[1][2], 0.0);
    if ((anchoring->contact[0] || anchoring->contact[1]) && left + right > 0.0)
        anchoring->share[0] += HASTE * (left / (left + right) - anchoring->share[0]);
    double s = anchoring->share[0], place[3], foot[3];
    int bears = s > 0.5 ? 0 : 1;
    for (int i = 0; i < 3; i++) {
        place[i] = s * soles[0][i][3] + (1.0 - s) * soles[1][i][3];
        foot[i] = i < 2 ? s * feet[0].place[i] + (1.0 - s) * feet[1].place[i]
                        : s * feet[0].height + (1.0 - s) * feet[1].height;
    }
    double turn = feet[bears].place[2] - atan2(soles[bears][1][0], soles[bears][0][0]);
    PlanarMotion motion = {cos(turn), sin(turn), turn, {0}};
    motion.d[0] = foot[0] - motion.cosine * place[0] + motion.sine * place[1];
    motion.d[1] = foot[1] - motion.sine * place[0] - motion.cosine * place[1];
    motion.d[2] = foot[2] - place[2];
    return motion;
}

/* Rz v */
static void turn_vector(const PlanarMotion *motion, const double v[3], double result[3])
{
    result[0] = motion->cosine * v[0] - motion->sine * v[1];
    result[1] = motion->sine * v[0] + motion->cosine * v[1];
    result[2] = v[2];
}

static void move_sole(const PlanarMotion *motion, const double (*sole)[4], double (*moved)[4])
{
    for (int k = 0; k < 4; k++) {
        moved[0][k] = motion->cosine * sole[0][k] - motion->sine * sole[1][k];
        moved[1][k] = motion->sine * sole[0][k] + motion->cosine * sole[1][k];
        moved[2][k] = sole[2][k];
    }
    for (int i = 0; i < 3; i++)
        moved[i][3] += motion->d[i];
}

void anchor_balance(const Anchoring *anchoring, const PlannedFoot feet[2])
{
    PlanarMotion motion = motion_to_feet(anchoring, feet);
    for (int which = 0; which < 5; which++) {
        double *moved = anchoring->moved_vectors[which];
        turn_vector(&motion, anchoring->vectors[which], moved);
        for (int i = 0; which > 0 && i < 3; i++) /* the first one is a velocity */
            moved[i] += motion.d[i];
    }
    for (int side = 0; side < 2; side++)
        move_sole(&motion, anchoring->soles[side], anchoring->moved_soles[side]);
    double c = cos(0.5 * motion.turn), s = sin(0.5 * motion.turn);
    const double *q = anchoring->orientation;
    double *moved = anchoring->moved_orientation;
    moved[0] = c * q[0] - s * q[1], moved[1] = c * q[1] + s * q[0];
    moved[2] = c * q[2] + s * q[3], moved[3] = c * q[3] - s * q[2];
}
