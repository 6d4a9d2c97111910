/* cycle.c - one cycle: levels, limits, the least losses that keep them, the blend with the law before, the command. */
#include <math.h>

#include "wholebody/control/quadratic/quadratic.h"

static Factors take_factors(Arena *arena, size_t n, size_t width)
{
    return (Factors){
        .n = (int)n,
        .width = width > 0 ? (int)width : 1,
        .stride = n > 0 ? (int)n : 1,
        .A = take_numbers(arena, n * width),
        .target = take_numbers(arena, width),
        .y = take_numbers(arena, n),
        .reflections = take_numbers(arena, n * n),
        .strength = take_numbers(arena, n),
        .C = take_numbers(arena, n * n),
        .w = take_numbers(arena, width),
        .z = take_numbers(arena, n),
        .origin = (int64_t *)take_numbers(arena, width),
    };
}

static void take_active(Quadratic *q, Arena *arena)
{
    ActiveSet *active = &q->active;
    size_t most = (size_t)active->most, orders = (size_t)active->orders, unknowns = (size_t)q->unknowns;
    active->M = take_numbers(arena, most * unknowns);
    active->Q = take_numbers(arena, most * most);
    active->gram = take_numbers(arena, most * most);
    active->excess = take_numbers(arena, most);
    active->weight = take_numbers(arena, most);
    active->slack = take_numbers(arena, most);
    active->price = take_numbers(arena, most * orders);
    active->before = take_numbers(arena, most * orders);
    active->share = take_numbers(arena, most);
    active->along = take_numbers(arena, unknowns);
    active->begin = take_integers(arena, orders);
}

/* Memory beyond what Python has given; sizes are those of the problem and of what was given. */
void lay_out_quadratic(Quadratic *q, Arena *arena)
{
    const Problem *problem = q->problem;
    size_t nv = (size_t)problem->nv, held = (size_t)problem->constraint_rows, passive = (size_t)problem->passive_count;
    size_t pairs = (size_t)q->given.pair_count, motors = (size_t)problem->driven_count;
    q->rows = take_problem_rows(arena, problem);
    q->motion = take_factors(arena, nv, (size_t)problem->most_columns);
    q->force = take_factors(arena, held, nv + (size_t)problem->force_rows);
    take_active(q, arena);
    q->limits.known = take_integers(arena, (size_t)first_pair_row(q) + pairs);
    q->levels = (Level *)take_integers(arena, (size_t)q->most_levels * sizeof(Level) / sizeof(int));
    q->L = take_numbers(arena, nv * nv);
    q->h = take_numbers(arena, nv);
    q->K = (Columns){take_numbers(arena, nv * held), (int)held};
    q->free_directions = take_numbers(arena, passive * passive);
    q->contact = take_numbers(arena, (size_t)q->given.contact_rows * held);
    q->u = take_numbers(arena, nv);
    q->f = take_numbers(arena, nv);
    q->acceleration = take_numbers(arena, nv);
    q->lambda = take_numbers(arena, held);
    q->gradient = take_numbers(arena, nv);
    q->on_force = take_numbers(arena, held);
    q->push = take_numbers(arena, held);
    q->blend.rest = take_numbers(arena, nv);
    q->blend.loose = take_numbers(arena, held);
    q->blend.kept = take_numbers(arena, motors);
}

int blend_quadratic(Quadratic *q)
{
    ask_for_blend(q);
    int verdict = solve_levels(q);
    verdict = verdict == SOLVED ? settle_limits(q) : verdict;
    return verdict == UNSETTLED ? UNSETTLED_BLEND : verdict;
}

int solve_quadratic(Quadratic *q, const Snapshot *now, Report report)
{
    int verdict = factor_levels(q, now, report.out.error);
    if (verdict != SOLVED)
        return verdict;
    fill_limits(q, now);
    verdict = solve_levels(q);
    verdict = verdict == SOLVED ? settle_limits(q) : verdict;
    if (verdict == SOLVED && *q->blend.share > 0.0)
        verdict = blend_quadratic(q);
    if (verdict == SOLVED)
        write_quadratic(q, now, report);
    return verdict;
}

/* Efforts, and the positions and velocities that they lead to. */
static void write_command(const Quadratic *q, const Snapshot *now, Output out)
{
    const Problem *problem = q->problem;
    double period = q->given.settings->period;
    int base = problem->base, shift = problem->tree->nq - problem->nv;
    for (int i = 0; i < problem->nv; i++)
        out.acceleration[i] = q->acceleration[i];
    for (int i = 0; i < problem->joints; i++) {
        double velocity = now->v[base + i] + period * out.acceleration[base + i];
        out.velocity[i] = out.unlimited_velocity[i] = velocity;
        out.position[i] = out.unlimited_position[i] = now->q[base + shift + i] + period * velocity;
        out.effort[i] = out.unlimited_effort[i] = 0.0;
    }
    for (int k = 0; k < problem->driven_count; k++) {
        int row = first_effort_row(q) + k;
        int64_t joint = problem->driven[k] - base;
        out.effort[joint] = out.unlimited_effort[joint] = q->limits.value[row] * q->limits.scale[row];
    }
    for (int c = 0; c < q->held; c++)
        out.contact[c] = q->lambda[c];
}

/* The task that a column of motion belongs to, or -1. */
static int task_of_column(const Quadratic *q, int64_t column)
{
    const int *first = q->rows.first_of_task;
    int best = -1;
    for (int index = 0; index < q->problem->task_count; index++)
        if (first[index] >= 0 && first[index] <= column && (best < 0 || first[index] > first[best]))
            best = index;
    return best;
}

/* What each task asked for and did not get, as a length over its rows. */
static void write_residuals(const Quadratic *q, double *residual)
{
    const Factors *motion = &q->motion;
    int width = motion->width, tasks = q->problem->task_count;
    double (*A)[width] = (double (*)[width])motion->A;
    for (int index = 0; index < tasks; index++)
        residual[index] = 0.0;
    for (int c = first_task_column(q); c < q->width; c++) {
        double total = -motion->target[c];
        for (int i = 0; i < q->problem->nv; i++)
            total += A[i][c] * motion->y[i];
        int task = task_of_column(q, motion->origin[c]);
        if (task >= 0)
            residual[task] += total * total;
    }
    for (int index = 0; index < tasks; index++)
        residual[index] = sqrt(residual[index] / q->given.weights[index]);
}

void write_quadratic(Quadratic *q, const Snapshot *now, Report report)
{
    const Limits *limits = &q->limits;
    write_command(q, now, report.out);
    for (int row = 0; row < q->counts->rows; row++)
        report.slack[row] = fmin(limits->value[row] - limits->lower[row], limits->upper[row] - limits->value[row]);
    double bound = q->given.settings->bound, braking = q->given.settings->braking;
    for (int i = 0; i < q->problem->joints; i++) /* without what the bounds are relaxed by */
        report.slack[first_acceleration_row(q) + i] = (bound - fabs(q->acceleration[q->problem->base + i])) / braking;
    write_residuals(q, report.residual);
}
