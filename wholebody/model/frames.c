/* frames.c - where each frame is, how it moves, and its Jacobian. */

/* Vectors of three: packing them into vector registers costs more than it saves. */
#pragma GCC optimize("no-tree-vectorize")
#include "wholebody/model/model.h"

#include <string.h>

#include "wholebody/rotations.h"

/* The frame of most links is that of their body. */
static const double FRAME_OF_BODY[12] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0};

static void place_frame_of_body(const Tree *tree, const Snapshot *now, int frame)
{
    int64_t body = tree->frame_body[frame];
    double (*restrict at)[4] = now->placement[frame];
    for (int k = 0; k < 3; k++) {
        memcpy(at[k], now->rotation[body] + 3 * k, 3 * sizeof(double));
        now->lever[frame][k] = now->origin[body][k];
        at[k][3] = now->position[frame][k] = now->origin[body][k] + (tree->floating ? now->q[k] : 0.0);
    }
    at[3][3] = 1.0;
    memcpy(now->velocity[frame], now->twist[body], 6 * sizeof(double));
    memcpy(now->bias[frame], now->drift[body], 6 * sizeof(double));
}

/* Where a frame is, how it moves, and its bias: how its velocity changes with zero acceleration of v. */
void place_frame(const Tree *tree, const Snapshot *now, int frame)
{
    if (memcmp(tree->frame[frame], FRAME_OF_BODY, sizeof FRAME_OF_BODY) == 0) {
        place_frame_of_body(tree, now, frame);
        return;
    }
    int64_t body = tree->frame_body[frame];
    const double *restrict there = tree->frame[frame], *restrict R = now->rotation[body];
    const double *restrict twist = now->twist[body], *restrict drift = now->drift[body], *w = twist + 3;
    double (*restrict at)[4] = now->placement[frame];
    double *restrict velocity = now->velocity[frame], *restrict bias = now->bias[frame];
    double d[3], wd[3], ad[3], wwd[3];
    for (int row = 0; row < 3; row++) {
        const double *r = R + 3 * row;
        for (int k = 0; k < 3; k++)
            at[row][k] = r[0] * there[k] + r[1] * there[3 + k] + r[2] * there[6 + k];
        d[row] = r[0] * there[9] + r[1] * there[10] + r[2] * there[11];
    }
    cross3(w, d, wd);
    cross3(drift + 3, d, ad);
    cross3(w, wd, wwd);
    for (int k = 0; k < 3; k++) {
        now->lever[frame][k] = now->origin[body][k] + d[k];
        now->position[frame][k] = now->lever[frame][k] + (tree->floating ? now->q[k] : 0.0);
        at[k][3] = now->position[frame][k];
        velocity[k] = twist[k] + wd[k];
        velocity[3 + k] = w[k];
        bias[k] = drift[k] + ad[k] + wwd[k];
        bias[3 + k] = drift[3 + k];
    }
    at[3][3] = 1.0;
}

/* J of a frame's own origin p in the axes of the world: a joint with screw (s, a) gives it s + a x p, and a. Columns of
 * joints that do not move the frame are never written: they are zero from the start. */
void fill_jacobian(const Tree *tree, const Snapshot *now, int frame)
{
    size_t nv = (size_t)tree->nv;
    double (*J)[nv] = (double (*)[nv])jacobian_of(tree, now, frame);
    const double *p = now->lever[frame], *R = now->rotation[0];
    if (tree->floating)
        for (int k = 0; k < 3; k++) {
            double a[3] = {R[k], R[3 + k], R[6 + k]}, ap[3];
            cross3(a, p, ap);
            for (int j = 0; j < 3; j++) {
                J[j][k] = a[j];
                J[3 + j][3 + k] = a[j];
                J[j][3 + k] = ap[j];
            }
        }
    for (int64_t i = tree->frame_body[frame]; i > 0; i = tree->parent[i])
        for (int k = 0; k < 6; k++)
            J[k][tree->column[i]] = 0.0;
    for (int64_t i = tree->frame_body[frame]; i > 0; i = tree->parent[i]) { /* a column may move several bodies */
        const double *screw = now->screw[i];
        double ap[3];
        cross3(screw + 3, p, ap);
        for (int k = 0; k < 3; k++) {
            J[k][tree->column[i]] += screw[k] + ap[k];
            J[3 + k][tree->column[i]] += screw[3 + k];
        }
    }
}
