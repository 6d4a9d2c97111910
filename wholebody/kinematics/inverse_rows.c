/* inverse_rows.c - what the goals ask for at one configuration: the rows of the error, and of the Jacobian. */
#include <math.h>
#include <string.h>

#include "wholebody/kinematics/inverse.h"
#include "wholebody/rotations.h"

static double *take(double **memory, size_t count)
{
    double *taken = *memory;
    *memory += count;
    return taken;
}

size_t inverse_size(const Problem *problem)
{
    size_t n = (size_t)problem->variables, m = (size_t)problem->rows, goals = (size_t)problem->goals;
    return snapshot_size(&problem->tree) + 2 * (size_t)problem->tree.nq + (size_t)problem->tree.nv + 12 * goals +
           m * m + 3 * m + n * m + 5 * n;
}

Work work_in(const Problem *problem, double *memory)
{
    size_t n = (size_t)problem->variables, m = (size_t)problem->rows, goals = (size_t)problem->goals;
    Work work = {.now = snapshot_in(&problem->tree, take(&memory, snapshot_size(&problem->tree)))};
    work.q = take(&memory, (size_t)problem->tree.nq);
    work.before = take(&memory, (size_t)problem->tree.nq);
    work.velocity = take(&memory, (size_t)problem->tree.nv);
    work.gap = take(&memory, 6 * goals);
    work.trial_gap = take(&memory, 6 * goals);
    work.error = take(&memory, m);
    work.trial_error = take(&memory, m);
    work.J = take(&memory, n * m);
    work.step = take(&memory, n);
    work.wish = take(&memory, n);
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
    if (problem->weighs) {
        evaluate_snapshot(tree, now);
        return;
    }
    if (tree->floating)
        place_base(now);
    move_bodies(tree, now);
    if (problem->support >= 0)
        place_frame(tree, now, problem->support);
    for (int goal = 0; goal < problem->goals; goal++)
        place_frame(tree, now, (int)problem->frame[goal]);
}

/* The gap of each goal, target - present, as position and rotation vector; the rows scaled; sum of weight gap^2. */
double measure(const Problem *problem, const Snapshot *now, double *gaps, double *error)
{
    double (*gap)[6] = (double (*)[6])gaps, total = 0.0;
    for (int goal = 0; goal < problem->goals; goal++) {
        int64_t frame = problem->frame[goal];
        const double *to = problem->target[goal];
        for (int k = 0; k < 3; k++)
            gap[goal][k] = to[9 + k] - (frame < 0 ? now->com[k] : now->placement[frame][k][3]);
        if (frame >= 0 && problem->tolerance[goal][1] < INFINITY)
            rotation_gap(to, now->placement[frame][0], gap[goal] + 3);
    }
    for (int k = 0; k < problem->rows; k++) {
        const int64_t *row = problem->row[k];
        error[k] = problem->scale[k] * gap[row[0]][row[1] == ANGULAR ? 3 + row[2] : row[2]];
        total += error[k] * error[k];
    }
    return total;
}

bool goal_reached(const Problem *problem, const double *gaps, int goal)
{
    const double *gap = gaps + 6 * goal, *axes = problem->axes[goal], *tolerance = problem->tolerance[goal];
    double linear = 0.0, angular = 0.0;
    for (int k = 0; k < 3; k++) {
        linear += axes[k] * gap[k] * gap[k];
        angular += gap[3 + k] * gap[3 + k];
    }
    return linear <= tolerance[0] * tolerance[0] && angular <= tolerance[1] * tolerance[1];
}

bool reached(const Problem *problem, const double *gaps)
{
    for (int goal = 0; goal < problem->goals; goal++)
        if (!goal_reached(problem, gaps, goal))
            return false;
    return true;
}

/* What the robot as a whole turns back, in one coordinate, so that the support stays: v_s + w_s x (p - s). */
static double turned_back(const Problem *problem, const Snapshot *now, const int64_t *row, int column)
{
    int nv = problem->tree.nv, axis = (int)row[2], i = (axis + 1) % 3, j = (axis + 2) % 3;
    const double *back = jacobian_of(&problem->tree, now, problem->support) + column;
    if (row[1] == ANGULAR)
        return back[(3 + axis) * nv];
    const double *point = row[1] == COM ? now->com : now->position[problem->frame[row[0]]];
    const double *foot = now->position[problem->support];
    return back[axis * nv] + back[(3 + i) * nv] * (point[j] - foot[j]) - back[(3 + j) * nv] * (point[i] - foot[i]);
}

/* J at the configuration that was looked at last. With a support that stays, a point p moves by
 * v_p - v_s - w_s x (p - s): the reversed chain. */
void fill_rows(const Problem *problem, const Work *work)
{
    const Tree *tree = &problem->tree;
    const Snapshot *now = &work->now;
    int m = problem->rows;
    for (int goal = 0; goal < problem->goals; goal++)
        if (problem->frame[goal] >= 0)
            fill_jacobian(tree, now, (int)problem->frame[goal]);
    if (problem->support >= 0)
        fill_jacobian(tree, now, problem->support);
    memset(work->J, 0, sizeof(double) * (size_t)problem->variables * (size_t)m);
    for (int column = 0; column < tree->nv; column++) {
        int64_t z = problem->variable[column];
        if (z < 0)
            continue;
        for (int k = 0; k < m; k++) {
            const int64_t *row = problem->row[k];
            double entry;
            if (row[1] == COM) {
                entry = now->com_jacobian[row[2] * tree->nv + column];
            } else {
                int64_t coordinate = row[1] == ANGULAR ? 3 + row[2] : row[2];
                entry = jacobian_of(tree, now, (int)problem->frame[row[0]])[coordinate * tree->nv + column];
            }
            if (problem->support >= 0)
                entry -= turned_back(problem, now, row, column);
            work->J[z * m + k] += problem->scale[k] * problem->ratio[column] * entry;
        }
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
