/* hessian.c - how the Jacobian of a frame changes with the configuration. */
#include "wholebody/model/model.h"

#include <string.h>

#include "wholebody/rotations.h"

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
