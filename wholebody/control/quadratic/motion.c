/* motion.c - from what levels lose to motion and forces, and to the value of every limit. */
#include <math.h>
#include <string.h>

#include "wholebody/control/quadratic/quadratic.h"

static void solve_levels_of(Quadratic *q, Factors *factors, LevelKind tasks, LevelKind rest, const double *kept)
{
    for (int index = 0; index < q->level_count; index++) {
        const Level *level = &q->levels[index];
        const double *losses = q->active.losses + level->loss;
        if (level->kind == tasks)
            solve_factored_level(factors, level, losses);
        else if (level->kind == rest)
            for (int k = 0; k < level->rank; k++)
                factors->y[level->at + k] = kept[level->at + k] + losses[k];
    }
}

/* From rotated coordinates of u to f = L^T u, and to that part of lambda which follows from it. */
static void move(Quadratic *q)
{
    const Problem *problem = q->problem;
    Factors *force = &q->force;
    int n = problem->nv, width = force->width, motors = problem->passive_count + q->pressed;
    double (*L)[n] = (double (*)[n])q->L, (*A)[width] = (double (*)[width])force->A, *f = q->f;
    memcpy(q->u, q->motion.y, (size_t)n * sizeof(double));
    memset(f, 0, (size_t)n * sizeof(double));
    from_rotated(&q->motion, q->rotated, n, q->u);
    for (int k = 0; k < n; k++)
        for (int i = 0; i <= k; i++)
            f[i] += L[k][i] * q->u[k];
    for (int c = 0; c < q->pushed; c++) {
        double total = f[problem->passive[force->origin[c]]];
        for (int i = 0; i < c; i++)
            total -= A[i][c] * force->y[i];
        force->y[c] = total / A[c][c];
    }
    for (int c = motors; c < width; c++) {
        int64_t k = force->origin[c] - motors;
        force->target[c] = f[problem->driven[k]] - q->blend.kept[k];
    }
}

/* dv/dt = L^-1 (u - L^-T h), and lambda in its own coordinates. */
static void find_motion_and_forces(Quadratic *q)
{
    int n = q->problem->nv;
    double (*L)[n] = (double (*)[n])q->L, *acceleration = q->acceleration;
    for (int k = 0; k < n; k++) {
        double total = q->u[k] - q->h[k];
        for (int i = 0; i < k; i++)
            total -= L[k][i] * acceleration[i];
        acceleration[k] = total / L[k][k];
    }
    memcpy(q->lambda, q->force.y, (size_t)q->held * sizeof(double));
    from_rotated(&q->force, q->turned, q->held, q->lambda);
}

static double dot(const double *a, const double *b, int count)
{
    double total = 0.0;
    for (int i = 0; i < count; i++)
        total += a[i] * b[i];
    return total;
}

/* All rows of limits; NOT_FINITE if one is no number. */
static int evaluate_limits(Quadratic *q)
{
    const Problem *problem = q->problem;
    double *value = q->limits.value, total = 0.0;
    int n = problem->nv, held = q->held, row = 0;
    for (int i = 0; i < problem->joints; i++)
        value[row++] = q->acceleration[problem->base + i];
    for (int k = 0; k < problem->driven_count; k++) {
        int64_t j = problem->driven[k];
        value[row++] = q->f[j] - dot(q->K.at + j * held, q->lambda, held);
    }
    for (int r = 0; r < q->given.contact_rows; r++)
        value[row++] = dot(q->contact + (long)r * held, q->lambda, held);
    for (int i = 0; i < problem->joints; i++)
        value[row++] = q->acceleration[problem->base + i];
    for (int r = 0; r < q->given.pair_count; r++)
        value[row++] = dot(q->pairs + (long)r * n, q->acceleration, n);
    for (int r = 0; r < row; r++) {
        value[r] /= q->limits.scale[r];
        if (bounds_acceleration(q, r))
            value[r] += q->active.losses[r - first_acceleration_row(q)];
        total += value[r];
    }
    return isfinite(total) ? SOLVED : NOT_FINITE;
}

int solve_levels(Quadratic *q)
{
    solve_levels_of(q, &q->motion, MOTION_LEVEL, REST_OF_MOTION, q->blend.rest);
    move(q);
    solve_levels_of(q, &q->force, FORCE_LEVEL, REST_OF_FORCE, q->blend.loose);
    find_motion_and_forces(q);
    return evaluate_limits(q);
}
