/* levels.c - the levels of a problem, factored once in a cycle, and solved as often as limits change what they lose: from
 * losses to motion and forces, and to the value of every limit. */
#include <math.h>
#include <string.h>

#include "wholebody/control/linear_algebra.h"
#include "wholebody/control/quadratic/quadratic.h"

void note_level(Quadratic *q, Level level)
{
    level.loss = (int)q->counts->last;
    q->counts->last += level.rank;
    q->levels[q->level_count++] = level;
}

/* The columns of constraints, and zeros for all others. */
static void begin_columns(Quadratic *q)
{
    int width = q->motion.width, held = q->held;
    double (*A)[width] = (double (*)[width])q->motion.A;
    for (int i = 0; i < q->problem->nv; i++)
        for (int c = 0; c < width; c++)
            A[i][c] = c < held ? q->K.at[(long)i * held + c] : 0.0;
}

/* L P^T w of each direction w that nothing pushes. */
static void fill_free_columns(Quadratic *q)
{
    const Problem *problem = q->problem;
    int n = problem->nv, width = q->motion.width, passive = problem->passive_count;
    double (*A)[width] = (double (*)[width])q->motion.A, (*L)[n] = (double (*)[n])q->L;
    for (int k = 0; k < q->free; k++)
        for (int i = 0; i < n; i++) {
            double total = 0.0;
            for (int c = 0; c < passive; c++)
                if (problem->passive[c] <= i)
                    total += L[i][problem->passive[c]] * q->free_directions[(long)k * passive + c];
            A[i][q->held + k] = total;
        }
}

/* Centres of pressure that are motion, because contacts have no freedom left among themselves: rows on lambda as columns
 * on u. */
static void fill_pressure_columns(Quadratic *q, const Snapshot *now)
{
    const Problem *problem = q->problem;
    int width = q->motion.width;
    double (*A)[width] = (double (*)[width])q->motion.A, rows[2][6];
    for (int index = 0; index < problem->task_count; index++) {
        const ProblemTask *task = &problem->tasks[index];
        int at = q->rows.first_of_task[index];
        if (task->task->kind != TASK_CENTER_OF_PRESSURE || at < 0)
            continue;
        int first = q->rows.first_of_constraint[task->contact[0]];
        center_of_pressure_rows(now->placement[contact_frame(problem, task, 0)], task->task->goal, rows);
        for (int r = 0; r < task->task->rows; r++) {
            for (int c = 0; c < q->held; c++)
                q->on_force[c] = c >= first && c < first + 6 ? rows[r][c - first] : 0.0;
            memset(q->gradient, 0, (size_t)problem->nv * sizeof(double));
            to_rotated(&q->force, q->turned, q->held, q->on_force);
            add_pushes(q, q->on_force, q->gradient);
            for (int i = 0; i < problem->nv; i++)
                A[i][at + r] = q->gradient[i];
        }
    }
}

/* The right-hand side of each column: ddx* - dJ/dt v + X^T L^-T h; nothing in columns that speak of u itself. */
static void fill_targets(Quadratic *q)
{
    const ProblemRows *rows = &q->rows;
    int width = q->motion.width, held = q->held;
    double (*A)[width] = (double (*)[width])q->motion.A, *target = q->motion.target;
    for (int c = 0; c < held; c++)
        target[c] = -rows->constraint_bias[c];
    for (int c = held; c < q->width; c++)
        target[c] = rows->error[c] - rows->bias[c];
    for (int i = 0; i < q->problem->nv; i++)
        for (int c = 0; c < q->width; c++)
            target[c] += A[i][c] * q->h[i];
    for (int c = held; c < q->width; c++)
        if (c < first_task_column(q) || rows->source[c] < 0)
            target[c] = 0.0;
}

/* Whether all columns and targets are numbers. */
static bool columns_are_finite(const Quadratic *q)
{
    int width = q->motion.width;
    double (*A)[width] = (double (*)[width])q->motion.A, total = 0.0;
    for (int i = 0; i < q->problem->nv; i++)
        for (int c = 0; c < q->width; c++)
            total += A[i][c] * 0.0;
    for (int c = 0; c < q->width; c++)
        total += q->motion.target[c] * 0.0;
    return total == 0.0;
}

/* All rows, whitened: constraints, directions that nothing pushes, tasks. */
static int gather_rows(Quadratic *q, const Snapshot *now, double *errors)
{
    const Problem *problem = q->problem;
    q->held = count_constraints(problem, &q->rows);
    q->K.width = q->held;
    ContactFeedback feedback = {q->given.settings->contact_damping, q->given.settings->contact_stiffness};
    fill_constraints(problem, now, &q->rows, feedback, q->K);
    factor_pushes(q, now);
    bool bound = q->pushed == q->held;
    q->width = count_tasks(problem, now, &q->rows, first_task_column(q), bound);
    q->motion.width = q->width > 0 ? q->width : 1;
    begin_columns(q);
    Columns A = {q->motion.A, q->motion.width};
    fill_tasks(problem, now, &q->rows, (TaskFilling){first_task_column(q), bound, q->given.settings->period}, A, errors);
    for (int i = 0; i < problem->nv; i++)
        q->h[i] = now->h[i] - now->g[i] + now->compensation[i] - *q->blend.share * q->blend.borne[i];
    if (!factor_mass(now->M, q->L, problem->nv))
        return NOT_POSITIVE;
    whiten(q->L, problem->nv, A, q->h);
    fill_free_columns(q);
    if (bound)
        fill_pressure_columns(q, now);
    fill_targets(q);
    for (int c = 0; c < q->width; c++)
        q->motion.origin[c] = c;
    return columns_are_finite(q) ? SOLVED : NOT_FINITE;
}

/* Add mobility times force to what is wanted, task by task, with the mobility of what constraints and motors leave: the
 * rows not used. */
static void add_forces(Quadratic *q, int used)
{
    const ProblemRows *rows = &q->rows;
    int width = q->motion.width, begun = first_task_column(q);
    double (*A)[width] = (double (*)[width])q->motion.A;
    for (int c = begun; c < q->width; c++) {
        if (rows->source[c] == 0) /* a task begins */
            begun = c;
        if (rows->force[c] == 0.0)
            continue;
        for (int other = begun; other < begun + 3 && other < q->width; other++) {
            double total = 0.0;
            for (int i = used; i < q->problem->nv; i++)
                total += A[i][c] * A[i][other];
            q->motion.target[other] += total * rows->force[c];
        }
    }
}

/* Multiply the rows of each task by the root of its weight. */
static void weigh_tasks(Quadratic *q)
{
    int width = q->motion.width, tasks = q->problem->task_count;
    const int *first = q->rows.first_of_task;
    double (*A)[width] = (double (*)[width])q->motion.A;
    for (int index = 0; index < tasks; index++) {
        double root = sqrt(q->given.weights[index]);
        if (first[index] < 0 || root == 1.0)
            continue;
        int end = q->width;
        for (int other = 0; other < tasks; other++)
            if (first[other] > first[index] && first[other] < end)
                end = first[other];
        for (int c = first[index]; c < end; c++) {
            q->motion.target[c] *= root;
            for (int i = 0; i < q->problem->nv; i++)
                A[i][c] *= root;
        }
    }
}

/* Decide on what no limit can change: columns first ... first + columns; how many rows of u are used then. */
static int decide_once(Quadratic *q, int first, int columns, int used)
{
    Level level = {.kind = MOTION_LEVEL, .first = first, .columns = columns, .at = used};
    level.rank = factor_columns(&q->motion, first, first + columns, q->width, used, q->given.settings->hard_tolerance);
    weigh_level(&q->motion, &level);
    solve_factored_level(&q->motion, &level, q->active.losses); /* which are zero */
    return used + level.rank;
}

int factor_levels(Quadratic *q, const Snapshot *now, double *errors)
{
    const QuadraticSettings *settings = q->given.settings;
    bool strict = settings->strict > 0.0;
    int *first_of_level = q->rows.first_of_level, levels = q->problem->level_count;
    keep_nothing(q);
    memset(q->active.losses, 0, (size_t)q->unknowns * sizeof(double));
    int verdict = gather_rows(q, now, errors);
    if (verdict != SOLVED)
        return verdict;
    int used = decide_once(q, 0, q->held, 0);
    used = decide_once(q, q->held, q->free, used);
    add_forces(q, used);
    for (int level = 1; !strict && level < levels; level++)
        first_of_level[level] = q->width;
    weigh_tasks(q);
    q->level_count = 0;
    q->counts->last = 0;
    note_level(q, (Level){.kind = RELAXATION, .at = used, .rank = q->problem->joints});
    q->counts->last += used;
    double tolerance = strict ? settings->task_tolerance : settings->hard_tolerance;
    for (int index = 0; index < levels; index++) {
        int first = first_of_level[index], end = first_of_level[index + 1];
        Level level = {.kind = MOTION_LEVEL, .first = first, .columns = end - first, .at = used};
        level.rank = factor_columns(&q->motion, first, end, q->width, used, tolerance);
        weigh_level(&q->motion, &level);
        note_level(q, level);
        used += level.rank;
    }
    q->rotated = used;
    note_level(q, (Level){.kind = REST_OF_MOTION, .at = used, .rank = q->problem->nv - used});
    factor_force_levels(q);
    return SOLVED;
}

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
