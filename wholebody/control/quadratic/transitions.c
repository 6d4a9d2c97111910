/* transitions.c - transitions from one law to another, inside the controller.
 *
 * At a switch the last motion, efforts and forces, xo = (dv/dt, tau, lambda), differ from what the new law gives by
 * D = xo - x. D is frozen. From then on, in every cycle, the new law is solved, with all its limits; then every level is
 * asked for what it would get by x + alpha D, alpha from 1 to 0, and the levels are solved once more, with all limits:
 *
 *     tasks, constraints    J dv/dt = J (new + alpha D)      tasks on forces     F lambda = F (new + alpha D)
 *     what is left of u     as by new + alpha D              what is left        tau = new + alpha D
 *
 * Factors stay as they are, so that the second solution costs a fraction of the first. A constraint that was switched off
 * still bears alpha times what it bore: h - alpha Jc^T lambda_o takes the place of h. Where x + alpha D keeps the limits
 * it is the command; limits are convex, so it does as long as the robot has hardly moved since the switch. Else each level
 * gets as much of it as the limits permit, which no mixture of commands does. */
#include <string.h>

#include "wholebody/control/quadratic/quadratic.h"

/* While the new law is solved, nothing of what was is kept. */
void keep_nothing(Quadratic *q)
{
    memset(q->blend.rest, 0, (size_t)q->problem->nv * sizeof(double));
    memset(q->blend.loose, 0, (size_t)q->problem->constraint_rows * sizeof(double));
    memset(q->blend.kept, 0, (size_t)q->problem->driven_count * sizeof(double));
}

static double effort_of(const Quadratic *q, int motor)
{
    int row = first_effort_row(q) + motor;
    return q->limits.value[row] * q->limits.scale[row];
}

/* D = what was - what the new law gives. */
static void find_differences(Quadratic *q)
{
    Blend *blend = &q->blend;
    for (int i = 0; i < q->problem->nv; i++)
        blend->acceleration[i] -= q->acceleration[i];
    for (int k = 0; k < q->problem->driven_count; k++)
        blend->effort[k] -= effort_of(q, k);
    for (int c = 0; c < q->held; c++)
        blend->force[c] -= q->lambda[c];
    *blend->fresh = 0.0;
}

/* y + alpha Q^T L D of motion, in rotated coordinates of u. */
static void blend_motion(Quadratic *q)
{
    int n = q->problem->nv;
    double (*L)[n] = (double (*)[n])q->L, *x = q->blend.rest, share = *q->blend.share;
    for (int k = 0; k < n; k++) {
        x[k] = 0.0;
        for (int i = 0; i <= k; i++)
            x[k] += share * L[k][i] * q->blend.acceleration[i];
    }
    to_rotated(&q->motion, q->rotated, n, x);
    for (int k = 0; k < n; k++)
        x[k] += q->motion.y[k];
}

/* The same of lambda, in its rotated coordinates, and of tau. */
static void blend_forces(Quadratic *q)
{
    Blend *blend = &q->blend;
    for (int c = 0; c < q->held; c++)
        blend->loose[c] = *blend->share * blend->force[c];
    to_rotated(&q->force, q->turned, q->held, blend->loose);
    for (int c = 0; c < q->held; c++)
        blend->loose[c] += q->force.y[c];
    for (int k = 0; k < q->problem->driven_count; k++)
        blend->kept[k] = effort_of(q, k) + *blend->share * blend->effort[k];
}

/* Let the columns of a level ask for what x gives them, in the coordinates of the level and those above. */
static void ask(Factors *factors, const Level *level, const double *x)
{
    int width = factors->width;
    double (*A)[width] = (double (*)[width])factors->A;
    for (int c = level->first; c < level->first + level->columns; c++) {
        double total = 0.0;
        for (int i = 0; i < level->at + level->rank; i++)
            total += A[i][c] * x[i];
        factors->target[c] = total;
    }
}

void ask_for_blend(Quadratic *q)
{
    int motors = q->problem->passive_count + q->pressed;
    if (*q->blend.fresh > 0.0)
        find_differences(q);
    memset(q->active.losses, 0, (size_t)q->unknowns * sizeof(double));
    blend_motion(q);
    blend_forces(q);
    for (int i = 0; i < q->levels[0].at; i++)
        q->motion.y[i] = q->blend.rest[i];
    for (int index = 0; index < q->level_count; index++) {
        const Level *level = &q->levels[index];
        if (level->kind == MOTION_LEVEL)
            ask(&q->motion, level, q->blend.rest);
        else if (level->kind == FORCE_LEVEL && level->first < motors)
            ask(&q->force, level, q->blend.loose);
    }
}
