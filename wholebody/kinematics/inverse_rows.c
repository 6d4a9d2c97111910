/* inverse_rows.c - what the tasks ask for at one configuration: the rows of the error, and of the Jacobian. */
#include <math.h>
#include <string.h>

#include "wholebody/kinematics/inverse.h"
#include "wholebody/rotations.h"

#define ROUNDING 1e-13 /* of a Jacobian: what is left of equal terms that cancel, for a joint that moves nothing */

static double *take(double **memory, size_t count)
{
    double *taken = *memory;
    *memory += count;
    return taken;
}

size_t inverse_size(const Problem *problem)
{
    size_t n = (size_t)problem->variables, m = (size_t)problem->rows, goals = (size_t)problem->goals;
    size_t nv = (size_t)problem->tree.nv;
    return snapshot_size(&problem->tree) + 2 * (size_t)problem->tree.nq + nv + 4 * goals + m * m + 7 * m + nv * m + n * m +
           5 * n;
}

Work work_in(const Problem *problem, double *memory)
{
    size_t n = (size_t)problem->variables, m = (size_t)problem->rows, goals = (size_t)problem->goals;
    Work work = {.now = snapshot_in(&problem->tree, take(&memory, snapshot_size(&problem->tree)))};
    work.q = take(&memory, (size_t)problem->tree.nq);
    work.before = take(&memory, (size_t)problem->tree.nq);
    work.velocity = take(&memory, (size_t)problem->tree.nv);
    work.gap = take(&memory, 2 * goals);
    work.trial_gap = take(&memory, 2 * goals);
    work.error = take(&memory, m);
    work.trial_error = take(&memory, m);
    work.rates = take(&memory, 3 * m);
    work.source = (int *)take(&memory, m);
    work.columns = take(&memory, (size_t)problem->tree.nv * m);
    work.J = take(&memory, n * m);
    work.step = take(&memory, n);
    work.preferred = take(&memory, n);
    work.lower = take(&memory, n);
    work.upper = take(&memory, n);
    work.memory = (StepMemory){.A = take(&memory, m * m), .y = take(&memory, m)};
    work.memory.stopped = (int64_t *)take(&memory, n);
    if (!problem->tree.floating)
        work.now.rotation[0][0] = work.now.rotation[0][4] = work.now.rotation[0][8] = 1.0;
    return work;
}

/* The quaternion of R* R^T, R* by rows, R in a 4 x 4 placement. */
static void quaternion_between(const double to[9], const double at[16], double quaternion[4])
{
    double R[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            R[3 * i + j] = to[3 * i] * at[4 * j] + to[3 * i + 1] * at[4 * j + 1] + to[3 * i + 2] * at[4 * j + 2];
    quaternion_of_matrix(R, quaternion);
}

/* The rotation vector of R* R^T, in world, by the shorter way. */
void rotation_gap(const double to[9], const double at[16], double gap[3])
{
    double q[4];
    quaternion_between(to, at, q);
    double sign = q[3] < 0.0 ? -1.0 : 1.0, sine = norm3(q);
    double scale = sine > 1e-12 ? 2.0 * atan2(sine, sign * q[3]) / sine : 2.0;
    for (int k = 0; k < 3; k++)
        gap[k] = sign * scale * q[k];
}

/* Remember where the support stands at q. */
void anchor_support(const Problem *problem, Work *work, const double *q)
{
    if (problem->support < 0)
        return;
    memcpy(work->now.q, q, sizeof(double) * (size_t)problem->tree.nq);
    place_base(&work->now);
    move_bodies(&problem->tree, &work->now);
    place_frame(&problem->tree, &work->now, problem->support);
    for (int i = 0; i < 3; i++) {
        const double *row = work->now.placement[problem->support][i];
        memcpy(work->anchor + 3 * i, row, 3 * sizeof(double));
        work->anchor[9 + i] = row[3];
    }
}

/* Move the base so that the support is at its anchor: base <- anchor support^-1 base. */
static void stand_on(const double support[16], const double anchor[12], double *q)
{
    double turn[4], next[4], moved[3];
    quaternion_between(anchor, support, turn);
    const double d[3] = {q[0] - support[3], q[1] - support[7], q[2] - support[11]};
    rotate_by_quaternion(turn, d, moved);
    quaternion_product(turn, q + 3, next);
    double length = sqrt(next[0] * next[0] + next[1] * next[1] + next[2] * next[2] + next[3] * next[3]);
    for (int k = 0; k < 3; k++)
        q[k] = anchor[9 + k] + moved[k];
    for (int k = 0; k < 4; k++)
        q[3 + k] = next[k] / length;
}

/* Place base, bodies and frames at the q of the snapshot. */
void look(const Problem *problem, const Work *work)
{
    const Tree *tree = &problem->tree;
    const Snapshot *now = &work->now;
    if (problem->support >= 0) {
        place_base(now);
        move_bodies(tree, now);
        place_frame(tree, now, problem->support);
        stand_on(now->placement[problem->support][0], work->anchor, now->q);
    }
    if (problem->own.evaluate) {
        memcpy(problem->own.q, now->q, sizeof(double) * (size_t)tree->nq);
        problem->own.evaluate(problem->own.context);
    }
    if (problem->weighs) {
        evaluate_snapshot(tree, now);
        return;
    }
    if (tree->floating)
        place_base(now);
    move_bodies(tree, now);
    if (problem->support >= 0)
        place_frame(tree, now, problem->support);
    for (int goal = 0; goal < problem->goals; goal++) {
        if (problem->task[goal].frame >= 0)
            place_frame(tree, now, problem->task[goal].frame);
        if (problem->task[goal].reference >= 0)
            place_frame(tree, now, problem->task[goal].reference);
    }
}

/* Where the rows of a task go that begin with this one; without a Jacobian, only the error is asked for. */
static TaskColumns columns_from(const Problem *problem, const Work *work, double *error, bool jacobian, int row)
{
    double *rates = work->rates + row;
    size_t m = (size_t)problem->rows;
    return (TaskColumns){{jacobian ? work->columns + row : NULL, problem->rows}, error + row, rates, rates + m,
                         rates + 2 * m, work->source + row};
}

/* The error of each task that is enabled, in m and in rad; the rows scaled; sum of weight error^2. */
double measure(const Problem *problem, const Work *work, double *gaps, double *error)
{
    double total = 0.0;
    memset(gaps, 0, sizeof(double) * 2 * (size_t)problem->goals);
    for (int goal = 0, row = 0; goal < problem->goals; goal++) {
        const Task *task = problem->task + goal;
        int first = row;
        while (row < problem->rows && problem->row[row][0] == goal)
            row++;
        if (state_of_task(task) != ENABLED)
            memset(error + first, 0, sizeof(double) * (size_t)(row - first));
        else if (task->kind == TASK_CUSTOM)
            memcpy(error + first, problem->own.error + first, sizeof(double) * (size_t)(row - first));
        else
            fill_task_rows(task, &problem->tree, &work->now, columns_from(problem, work, error, false, first));
        double *gap = gaps + 2 * goal;
        for (int k = first; k < row; k++) {
            gap[problem->row[k][1]] += error[k] * error[k];
            error[k] *= problem->scale[k];
            total += error[k] * error[k];
        }
        gap[0] = sqrt(gap[0]);
        gap[1] = sqrt(gap[1]);
    }
    return total;
}

bool goal_reached(const Problem *problem, const double *gaps, int goal)
{
    return gaps[2 * goal] <= problem->tolerance[goal][0] && gaps[2 * goal + 1] <= problem->tolerance[goal][1];
}

bool reached(const Problem *problem, const double *gaps)
{
    for (int goal = 0; goal < problem->goals; goal++)
        if (!goal_reached(problem, gaps, goal))
            return false;
    return true;
}

/* How the base moves with a unit of a column of v while the support stays: J_base^-1 J_column of the support, turned
 * back, in the axes of the base. The reversed chain: a point p moves by v_p - v_s - w_s x (p - s). */
static void base_turned_back(const Problem *problem, const Snapshot *now, int column, double twist[6])
{
    size_t nv = (size_t)problem->tree.nv;
    const double *J = jacobian_of(&problem->tree, now, problem->support) + column, *R = now->rotation[0];
    const double w[3] = {-J[3 * nv], -J[4 * nv], -J[5 * nv]};
    double v[3], turning[3];
    cross3(w, now->lever[problem->support], turning);
    for (int k = 0; k < 3; k++)
        v[k] = -J[(size_t)k * nv] - turning[k];
    for (int k = 0; k < 3; k++) {
        twist[k] = R[k] * v[0] + R[3 + k] * v[1] + R[6 + k] * v[2];
        twist[3 + k] = R[k] * w[0] + R[3 + k] * w[1] + R[6 + k] * w[2];
    }
}

/* The Jacobian of every task that is enabled, as columns of one wide matrix. */
static void fill_columns(const Problem *problem, const Work *work)
{
    size_t m = (size_t)problem->rows, nv = (size_t)problem->tree.nv;
    memset(work->columns, 0, sizeof(double) * nv * m);
    for (int row = 0; row < problem->rows; row++) {
        int goal = (int)problem->row[row][0];
        const Task *task = problem->task + goal;
        bool first = row == 0 || problem->row[row - 1][0] != goal, enabled = state_of_task(task) == ENABLED;
        if (enabled && task->kind == TASK_CUSTOM)
            for (size_t column = 0; column < nv; column++)
                work->columns[column * m + (size_t)row] = problem->own.J[column * m + (size_t)row];
        else if (enabled && first)
            fill_task_rows(task, &problem->tree, &work->now, columns_from(problem, work, work->trial_error, true, row));
    }
}

/* J at the configuration that was looked at last. */
void fill_rows(const Problem *problem, const Work *work)
{
    int m = problem->rows, nv = problem->tree.nv;
    fill_columns(problem, work);
    if (problem->support >= 0)
        fill_jacobian(&problem->tree, &work->now, problem->support);
    memset(work->J, 0, sizeof(double) * (size_t)problem->variables * (size_t)m);
    for (int column = 0; column < nv; column++) {
        int64_t z = problem->variable[column];
        if (z < 0)
            continue;
        double *into = work->J + z * m, *from = work->columns + column * m;
        if (problem->support >= 0) {
            double twist[6];
            base_turned_back(problem, &work->now, column, twist);
            for (int i = 0; i < 6; i++)
                for (int k = 0; k < m; k++)
                    from[k] += twist[i] * work->columns[i * m + k];
            for (int k = 0; k < m; k++)
                from[k] = fabs(from[k]) > ROUNDING ? from[k] : 0.0;
        }
        for (int k = 0; k < m; k++)
            into[k] += problem->scale[k] * problem->ratio[column] * from[k];
    }
}

/* The snapshot's q = q (+) step of the variables, within the limits of the joints to the last digit. */
void move_variables(const Problem *problem, const Work *work)
{
    for (int column = 0; column < problem->tree.nv; column++) {
        int64_t z = problem->variable[column];
        work->velocity[column] = z >= 0 ? problem->ratio[column] * work->step[z] : 0.0;
    }
    integrate_configuration(&problem->tree, work->q, work->velocity, 1.0, work->now.q);
    keep_within(problem, work->now.q);
}

/* Clamp the variables to their limits, and let joints of the same motor follow. */
void keep_within(const Problem *problem, double *q)
{
    int offset = problem->tree.nq - problem->tree.nv;
    for (int z = 0; z < problem->variables; z++)
        if (problem->place[z] >= 0) {
            double *value = &q[problem->place[z]];
            *value = fmin(fmax(*value, problem->lower[z]), problem->upper[z]);
        }
    for (int column = 0; column < problem->tree.nv; column++) {
        int64_t z = problem->variable[column];
        if (z >= 0 && problem->place[z] >= 0)
            q[column + offset] = problem->ratio[column] * q[problem->place[z]];
    }
}
