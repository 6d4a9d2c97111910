/* forces.c - forces of contacts: which follow from the motion, and the levels that decide on the others.
 *
 * Columns of the factors of lambda: joints without a motor, tasks on forces, joints with one. */
#include <string.h>

#include "wholebody/control/quadratic/quadratic.h"

/* P Jc^T lambda = P f, the rows of tasks on forces, and S Jc^T lambda, side by side. */
static void fill_force_columns(Quadratic *q, const Snapshot *now)
{
    const Problem *problem = q->problem;
    Factors *force = &q->force;
    int passive = problem->passive_count, motors = passive + q->pressed, width = force->width;
    double (*A)[width] = (double (*)[width])force->A;
    for (int c = 0; c < width; c++) {
        force->origin[c] = c;
        force->target[c] = 0.0;
    }
    for (int k = 0; k < q->held; k++) {
        force->y[k] = 0.0;
        for (int c = 0; c < passive; c++)
            A[k][c] = q->K.at[problem->passive[c] * q->held + k];
        for (int c = passive; c < motors; c++)
            A[k][c] = 0.0;
        for (int c = 0; c < problem->driven_count; c++)
            A[k][motors + c] = q->K.at[problem->driven[c] * q->held + k];
    }
    if (q->pressed > 0)
        fill_force_tasks(problem, now, &q->rows, (Columns){force->A, width}, force->target, passive);
}

/* W with W^T P Jc^T = 0, by rows, from the triangle of what contacts push. */
static void find_free(Quadratic *q)
{
    const Factors *force = &q->force;
    int passive = q->problem->passive_count, width = force->width, rank = q->pushed;
    double (*A)[width] = (double (*)[width])force->A;
    for (int k = 0; k < q->free; k++) {
        double *direction = q->free_directions + (long)k * passive;
        memset(direction, 0, (size_t)passive * sizeof(double));
        direction[force->origin[rank + k]] = 1.0;
        for (int i = rank - 1; i >= 0; i--) {
            double total = -A[i][rank + k];
            for (int j = i + 1; j < rank; j++)
                total -= A[i][j] * direction[force->origin[j]];
            direction[force->origin[i]] = total / A[i][i];
        }
    }
}

void factor_pushes(Quadratic *q, const Snapshot *now)
{
    const Problem *problem = q->problem;
    q->pressed = count_force_tasks(problem, &q->rows);
    q->force.n = q->held;
    q->force.stride = q->held > 0 ? q->held : 1;
    q->force.width = problem->nv + q->pressed;
    fill_force_columns(q, now);
    double hard = q->given.settings->hard_tolerance;
    q->pushed = factor_columns(&q->force, 0, problem->passive_count, q->force.width, 0, hard);
    q->turned = q->pushed;
    q->free = problem->passive_count - q->pushed;
    find_free(q);
}

/* Of a row on rotated lambda: add what it has on u, by way of P Jc^T lambda = P L^T u. */
void add_pushes(Quadratic *q, const double *on_force, double *on_motion)
{
    const Factors *force = &q->force;
    int n = q->problem->nv, width = force->width;
    double (*A)[width] = (double (*)[width])force->A, (*L)[n] = (double (*)[n])q->L, *p = q->push;
    for (int i = q->pushed - 1; i >= 0; i--) {
        double total = on_force[i];
        for (int j = i + 1; j < q->pushed; j++)
            total -= A[i][j] * p[j];
        p[i] = total / A[i][i];
    }
    for (int c = 0; c < q->pushed; c++) {
        int64_t column = q->problem->passive[force->origin[c]];
        for (int64_t i = column; i < n; i++)
            on_motion[i] += p[c] * L[i][column];
    }
}

/* One level of forces: columns first ... first + columns, in the rows of lambda that nobody has used. */
static void factor_force_level(Quadratic *q, int first, int columns, double tolerance)
{
    Level level = {.kind = FORCE_LEVEL, .first = first, .columns = columns, .at = q->turned};
    level.rank = factor_columns(&q->force, first, first + columns, q->force.width, q->turned, tolerance);
    weigh_level(&q->force, &level);
    note_level(q, level);
    q->turned += level.rank;
}

/* The tasks on forces, those of one level of the problem together; the least efforts; and what no motor feels. */
void factor_force_levels(Quadratic *q)
{
    const Problem *problem = q->problem;
    const QuadraticSettings *settings = q->given.settings;
    int first = problem->passive_count, columns = 0, level = 0;
    for (int index = 0; index < (q->pressed > 0 ? problem->task_count : 0); index++) {
        const ProblemTask *task = &problem->tasks[index];
        if (!acts_on_forces(task, &q->rows))
            continue;
        if (task->level != level && columns > 0) {
            factor_force_level(q, first, columns, settings->task_tolerance);
            first += columns;
            columns = 0;
        }
        level = task->level;
        columns += task->task->rows;
    }
    if (columns > 0)
        factor_force_level(q, first, columns, settings->task_tolerance);
    factor_force_level(q, problem->passive_count + q->pressed, problem->driven_count, settings->hard_tolerance);
    note_level(q, (Level){.kind = REST_OF_FORCE, .at = q->turned, .rank = q->held - q->turned});
}
