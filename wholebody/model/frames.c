/* frames.c - where each frame is, how it moves, and its Jacobian. */

/* Vectors of three: packing them into vector registers costs more than it saves. */
#pragma GCC optimize("no-tree-vectorize")
#include "wholebody/model/lanes.h"
#include "wholebody/model/model.h"

#include "wholebody/rotations.h"

/* Where a frame is, how it moves, and its bias: how its velocity changes with zero acceleration of v. */
void place_frame(const Tree *tree, const Snapshot *now, int frame)
{
    int64_t body = tree->frame_body[frame];
    const double *restrict R = now->rotation[body], *restrict origin = now->origin[body];
    const double *restrict twist = now->twist[body], *restrict drift = now->drift[body], *w = twist + 3;
    double (*restrict at)[4] = now->placement[frame];
    double *restrict lever = now->lever[frame], *restrict position = now->position[frame];
    double *restrict velocity = now->velocity[frame], *restrict bias = now->bias[frame];
    double d[3], wd[3], ad[3], wwd[3];
    for (int row = 0; row < 3; row++) {
        turn_rows(R + 3 * row, tree->frame[frame], at[row]);
        d[row] = at[row][3];
    }
    cross3(w, d, wd);
    cross3(drift + 3, d, ad);
    cross3(w, wd, wwd);
    for (int k = 0; k < 3; k++) {
        lever[k] = origin[k] + d[k];
        position[k] = lever[k] + (tree->floating ? now->q[k] : 0.0);
        at[k][3] = position[k];
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
