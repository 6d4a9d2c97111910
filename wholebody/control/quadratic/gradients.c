/* gradients.c - how each limit depends on what the levels lose.
 *
 * A limit is a row on dv/dt, on tau or on lambda. First it becomes one on u and on the rotated lambda; then, from the last
 * level up, what a level decides is written as its loss e and what those above decide. So the gradient says by how much a
 * limit gives way if a level loses e and all levels below make the best of it. */
#include <string.h>

#include "wholebody/control/quadratic/quadratic.h"

/* g <- L^-T g, with nothing after `last` in it. */
static void unwhiten(const Quadratic *q, double *g, int last)
{
    int n = q->problem->nv;
    double (*L)[n] = (double (*)[n])q->L;
    for (int k = last; k >= 0; k--) {
        g[k] /= L[k][k];
        if (g[k] != 0.0)
            for (int i = 0; i < k; i++)
                g[i] -= L[k][i] * g[k];
    }
}

/* A limit as a row on u and on lambda; whether there is anything on lambda. */
static bool fill_rows(const Quadratic *q, int row, double *on_motion, double *on_force)
{
    const Problem *problem = q->problem;
    int n = problem->nv, held = q->held;
    double (*L)[n] = (double (*)[n])q->L;
    memset(on_motion, 0, (size_t)n * sizeof(double));
    memset(on_force, 0, (size_t)held * sizeof(double));
    int joint = bounds_acceleration(q, row) ? row - first_acceleration_row(q) : row;
    if (joint < first_effort_row(q)) {
        on_motion[problem->base + joint] = 1.0;
        unwhiten(q, on_motion, problem->base + joint);
        return false;
    }
    if (row >= first_pair_row(q)) {
        memcpy(on_motion, q->pairs + (long)(row - first_pair_row(q)) * n, (size_t)n * sizeof(double));
        unwhiten(q, on_motion, n - 1);
        return false;
    }
    if (row >= first_contact_row(q)) {
        memcpy(on_force, q->contact + (long)(row - first_contact_row(q)) * held, (size_t)held * sizeof(double));
        return held > 0;
    }
    int64_t j = problem->driven[row - first_effort_row(q)];
    for (int64_t i = j; i < n; i++)
        on_motion[i] = L[i][j];
    for (int c = 0; c < held; c++)
        on_force[c] = -q->K.at[j * held + c];
    return held > 0;
}

/* From rotated lambda to the losses of the levels of forces; the least efforts follow those that the motion needs. */
static void lose_forces(Quadratic *q, double *on_force, double *on_motion)
{
    const Problem *problem = q->problem;
    int n = problem->nv, motors = problem->passive_count + q->pressed;
    double (*L)[n] = (double (*)[n])q->L;
    for (int index = q->level_count - 1; index >= 0; index--) {
        const Level *level = &q->levels[index];
        if (level->kind != FORCE_LEVEL)
            continue;
        gradient_on_losses(&q->force, level, on_force);
        for (int c = level->first > motors ? level->first : motors; c < level->first + level->columns; c++) {
            int64_t j = problem->driven[q->force.origin[c] - motors];
            for (int64_t k = j; k < n; k++)
                on_motion[k] += q->force.w[c] * L[k][j];
        }
    }
}

void fill_gradient(Quadratic *q, int row)
{
    int n = q->problem->nv, pushed = q->pushed, joints = q->problem->joints, decided = q->levels[0].at;
    double *gradient = q->gradient, *on_force = q->on_force, *kept = q->limits.gradients + (long)row * q->unknowns;
    if (fill_rows(q, row, gradient, on_force)) {
        to_rotated(&q->force, q->turned, q->held, on_force);
        lose_forces(q, on_force, gradient);
        add_pushes(q, on_force, gradient);
    }
    to_rotated(&q->motion, q->rotated, n, gradient);
    for (int index = q->level_count - 1; index >= 0; index--)
        if (q->levels[index].kind == MOTION_LEVEL)
            gradient_on_losses(&q->motion, &q->levels[index], gradient);
    double inverse = 1.0 / q->limits.scale[row];
    memset(kept, 0, (size_t)(joints + decided) * sizeof(double));
    if (bounds_acceleration(q, row))
        kept[row - first_acceleration_row(q)] = 1.0;
    kept += joints;
    for (int i = decided; i < n; i++)
        kept[i] = gradient[i] * inverse;
    for (int i = pushed; i < q->held; i++)
        kept[n + i - pushed] = on_force[i] * inverse;
    q->limits.known[row] = KNOWN;
}
