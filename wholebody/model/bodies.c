/* bodies.c - where each body is, how it moves, and how it accelerates with zero acceleration of v.
 *
 * Classical mechanics in the axes of the world, about O, the fixed point where the base is at this instant: sums over a
 * subtree are then plain additions, and nothing loses digits when the robot walks far away. Body 0 is the base (or the
 * world, for a robot bolted to it); body i > 0 moves about or along the z axis of its own frame, and stands after its
 * parent. */

/* Vectors of three: packing them into vector registers costs more than it saves. */
#pragma GCC optimize("no-tree-vectorize")
#include "wholebody/model/lanes.h"
#include "wholebody/model/model.h"

#include <math.h>

#include "wholebody/rotations.h"

/* A quaternion whose length is off by no more than this is normalised; beyond, it is an error. */
static const double QUATERNION_TOLERANCE = 1e-3;

/* Rotation and velocity of the base: v is in its own axes, so with zero acceleration of v its origin accelerates by
 * w x v. */
bool place_base(const Snapshot *now)
{
    double *quaternion = now->q + 3;
    double length = sqrt(quaternion[0] * quaternion[0] + quaternion[1] * quaternion[1] + quaternion[2] * quaternion[2] +
                         quaternion[3] * quaternion[3]);
    if (fabs(length - 1.0) > QUATERNION_TOLERANCE)
        return false;
    for (int k = 0; k < 4; k++)
        quaternion[k] /= length;
    matrix_of_quaternion(quaternion, now->rotation[0]);
    double *twist = now->twist[0];
    rotate(now->rotation[0], now->v, twist);
    rotate(now->rotation[0], now->v + 3, twist + 3);
    cross3(twist + 3, twist, now->drift[0]);
    return true;
}

/* A joint at this instant: its axes in the world before it moves, the lever from its parent's origin, and its motion
 * along (slide) and about (turn) its z axis. */
typedef struct {
    double x[3], y[3], z[3], lever[3];
    double slide, turn;
} Joint;

static Joint joint_of(const Tree *tree, const Snapshot *now, int i)
{
    const double *R = now->rotation[tree->parent[i]];
    double position = tree->scale[i][0] * now->q[tree->column[i] + tree->floating] + tree->scale[i][1];
    double rate = tree->scale[i][0] * now->v[tree->column[i]];
    Joint at = {.slide = 0.0, .turn = rate};
    double axes[3][4]; /* row k: entry k of x, y, z and the lever */
    for (int k = 0; k < 3; k++) {
        turn_rows(R + 3 * k, tree->joint[i], axes[k]);
        at.z[k] = axes[k][2];
        at.lever[k] = axes[k][3];
    }
    double cosine = 1.0, sine = 0.0;
    if (tree->prismatic[i]) {
        for (int k = 0; k < 3; k++)
            at.lever[k] += position * at.z[k];
        at.slide = rate;
        at.turn = 0.0;
    } else {
        cosine = cos(position);
        sine = sin(position);
    }
    for (int k = 0; k < 3; k++) {
        at.x[k] = cosine * axes[k][0] + sine * axes[k][1];
        at.y[k] = cosine * axes[k][1] - sine * axes[k][0];
    }
    return at;
}

/* w x r and a x r + w x (w x r) of the parent carry the body's origin; sliding adds Coriolis' 2 w x z s. */
static void carry(const Joint *at, const double twist[6], const double drift[6], double own_twist[6],
                  double own_drift[6])
{
    const double *w = twist + 3, *a = drift + 3;
    double wr[3], ar[3], wwr[3], wz[3];
    cross3(w, at->lever, wr);
    cross3(a, at->lever, ar);
    cross3(w, wr, wwr);
    cross3(w, at->z, wz);
    for (int k = 0; k < 3; k++) {
        own_twist[k] = twist[k] + wr[k] + at->slide * at->z[k];
        own_twist[3 + k] = w[k] + at->turn * at->z[k];
        own_drift[k] = drift[k] + ar[k] + wwr[k] + 2.0 * at->slide * wz[k];
        own_drift[3 + k] = a[k] + at->turn * wz[k];
    }
}

/* From the base outwards. */
void move_bodies(const Tree *tree, const Snapshot *now)
{
    for (int i = 1; i < tree->bodies; i++) {
        int64_t parent = tree->parent[i];
        double *R = now->rotation[i], *origin = now->origin[i], *screw = now->screw[i];
        Joint at = joint_of(tree, now, i);
        for (int k = 0; k < 3; k++) {
            R[3 * k] = at.x[k];
            R[3 * k + 1] = at.y[k];
            R[3 * k + 2] = at.z[k];
            origin[k] = now->origin[parent][k] + at.lever[k];
        }
        carry(&at, now->twist[parent], now->drift[parent], now->twist[i], now->drift[i]);
        double axis[3];
        for (int k = 0; k < 3; k++)
            axis[k] = tree->scale[i][0] * at.z[k];
        if (tree->prismatic[i]) {
            for (int k = 0; k < 3; k++)
                screw[k] = axis[k], screw[3 + k] = 0.0;
        } else {
            cross3(origin, axis, screw);
            for (int k = 0; k < 3; k++)
                screw[3 + k] = axis[k];
        }
    }
}
