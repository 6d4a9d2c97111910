/* frames.c - where each frame is, how it moves, its Jacobian, and how that changes. */

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

/* What one joint, or one axis of the base, gives a point: velocity and angular velocity for a unit of its column. */
typedef struct {
    int64_t column;
    double v[3], w[3];
} Push;

static Push push_of_body(const Tree *tree, const Snapshot *now, int64_t body, const double p[3])
{
    const double *screw = now->screw[body];
    Push push = {.column = tree->column[body], .w = {screw[3], screw[4], screw[5]}};
    cross3(push.w, p, push.v);
    for (int k = 0; k < 3; k++)
        push.v[k] += screw[k];
    return push;
}

static Push push_of_base(const Snapshot *now, int column, const double p[3])
{
    const double *R = now->rotation[0];
    const double a[3] = {R[column % 3], R[3 + column % 3], R[6 + column % 3]};
    Push push = {.column = column};
    memcpy(column < 3 ? push.v : push.w, a, sizeof a);
    if (column >= 3)
        cross3(a, p, push.v);
    return push;
}

/* With a unit of the column above, what is below turns along: d(v, w) = (w_above x v, w_above x w). The other way
 * round the axis above stays, and the point moves by v: dv_above = w_above x v, the same vector. */
static void add_pair(double *hessian, size_t nv, const Push *above, const Push *below, bool both)
{
    double v[3], w[3];
    size_t i = (size_t)above->column, j = (size_t)below->column;
    cross3(above->w, below->v, v);
    cross3(above->w, below->w, w);
    for (size_t k = 0; k < 3; k++) {
        hessian[(k * nv + j) * nv + i] += v[k];
        hessian[((3 + k) * nv + j) * nv + i] += w[k];
        if (both)
            hessian[(k * nv + i) * nv + j] += v[k];
    }
}

void fill_hessian(const Tree *tree, const Snapshot *now, int frame, double *hessian)
{
    size_t nv = (size_t)tree->nv;
    const double *p = now->lever[frame];
    memset(hessian, 0, 6 * nv * nv * sizeof(double));
    for (int64_t j = tree->frame_body[frame]; j > 0; j = tree->parent[j]) {
        Push below = push_of_body(tree, now, j, p);
        for (int64_t i = j; i > 0; i = tree->parent[i]) {
            Push above = push_of_body(tree, now, i, p);
            add_pair(hessian, nv, &above, &below, i != j);
        }
        for (int column = 0; tree->floating && column < 6; column++) {
            Push above = push_of_base(now, column, p);
            add_pair(hessian, nv, &above, &below, true);
        }
    }
    for (int j = 0; tree->floating && j < 6; j++)
        for (int i = 3; i < 6; i++) { /* the axes of the base turn with it */
            Push above = push_of_base(now, i, p), below = push_of_base(now, j, p);
            add_pair(hessian, nv, &above, &below, false);
        }
}
