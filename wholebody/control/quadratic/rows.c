/* rows.c - limits as rows: what contacts can bear, how fast joints and distances may be, all bounds, and how each row
 * depends on what the levels lose.
 *
 * A joint at q with velocity v' after a period, that brakes with a from then on, in steps of dt, goes on by at most
 * (v' - a dt/2)^2 / 2a <= v'^2 / 2a. It is at q + v' dt by then; so it stays below the limit u if
 *
 *     v'^2 / 2a + v' dt <= u - q,   that is   v' <= -a dt + sqrt(a^2 dt^2 + 2a (u - q))
 *
 * and braking with a keeps that true for ever: the bounds on dv/dt never contradict each other, and +-a always meets
 * them. So a bound of a on all accelerations contradicts none of them. */
#include <math.h>
#include <string.h>

#include "wholebody/control/quadratic/quadratic.h"
#include "wholebody/rotations.h"

/* How fast one may go towards a limit; from beyond it, back at a tenth of what braking permits. */
static double speed_towards(double room, double step, double braking)
{
    if (room >= 0.0)
        return -step + sqrt(step * step + 2.0 * braking * room);
    return -0.1 * sqrt(-2.0 * braking * room);
}

/* The least and greatest velocity a joint may have after a period. A joint that is too fast already brakes until it is
 * not; one between limits that are hardly apart stands still. */
Range velocity_range(double position, double velocity, JointLimits limits, double braking, double period)
{
    double step = braking * period, high = limits.velocity, low = -limits.velocity;
    if (limits.upper < INFINITY)
        high = fmin(high, speed_towards(limits.upper - position, step, braking));
    if (limits.lower > -INFINITY)
        low = fmax(low, -speed_towards(position - limits.lower, step, braking));
    if (low > high)
        low = high = 0.0;
    return (Range){fmin(low, velocity + step), fmax(high, velocity - step)};
}

/* The least rate that a distance may have after a period, so that it never comes below `least`. */
double closing_range(double distance, double rate, double least, double braking, double period)
{
    double step = braking * period;
    return fmin(-speed_towards(distance - least, step, braking), rate + step);
}

/* One row of a contact on lambda; `first` is where the contact's forces stand. */
static void fill_contact_row(const Constraint *constraint, double (*R)[4], const double wrench[6], double *row)
{
    if (!R) { /* axes of the world */
        memcpy(row, wrench, 3 * sizeof(double));
    } else {
        rotate_by_placement(R, wrench, row);
        if (constraint->kind == CONSTRAINT_FLAT)
            rotate_by_placement(R, wrench + 3, row + 3);
    }
    if (constraint->kind == CONSTRAINT_LINE) {
        double across[2][3];
        across_axis(constraint->numbers + 1, across[0], across[1]);
        row[3] += dot3(across[0], wrench + 3);
        row[4] += dot3(across[1], wrench + 3);
    }
}

/* What contacts can bear, as rows on lambda; those of a contact that is off, or comes little by little, have less of a
 * bound. */
static void fill_contact_limits(Quadratic *q, const Snapshot *now)
{
    const QuadraticInput *given = &q->given;
    int above = first_contact_row(q);
    memset(q->contact, 0, (size_t)given->contact_rows * (size_t)q->held * sizeof(double));
    for (int r = 0; r < given->contact_rows; r++) {
        q->limits.scale[above + r] = given->contact_limits[r].scale;
        q->limits.upper[above + r] = INFINITY;
    }
    for (int index = 0; index < given->contact_count; index++) {
        const ContactLimits *contact = &given->contacts[index];
        int first = q->rows.first_of_constraint[contact->constraint];
        double on = 1.0 - *q->blend.share * q->blend.added[contact->constraint];
        const Constraint *constraint = q->problem->constraints[contact->constraint].constraint;
        double (*R)[4] = contact->frame < 0 ? NULL : now->placement[contact->frame];
        for (int64_t r = contact->first; r < contact->first + contact->rows; r++) {
            const ContactRow *row = &given->contact_limits[r];
            q->limits.lower[above + r] = first < 0 ? -INFINITY : on * row->least / row->scale;
            if (first >= 0)
                fill_contact_row(constraint, R, row->wrench, q->contact + r * q->held + first);
        }
    }
}

/* Rows of distances: n . (J_other - J_one), with the rate of the distance and n . (dJ_other/dt - dJ_one/dt) v. */
static void fill_pairs(Quadratic *q, const Snapshot *now)
{
    int nv = q->problem->nv;
    for (int pair = 0; pair < q->given.pair_count; pair++) {
        const Gap *gap = &q->given.gaps[pair];
        double *row = q->pairs + (long)pair * nv, rate = 0.0, bias = 0.0;
        memset(row, 0, (size_t)nv * sizeof(double));
        for (int side = 0; side < 2 && gap->distance < INFINITY; side++) {
            int frame = (int)q->given.pair_frames[pair][side];
            double sign = side == 0 ? -1.0 : 1.0, d[3], at[3], velocity[3], acceleration[3], B[1][6] = {{0}};
            for (int k = 0; k < 3; k++) {
                d[k] = gap->point[side][k] - now->position[frame][k];
                at[k] = now->lever[frame][k] + d[k];
                B[0][k] = sign * gap->normal[k];
            }
            point_motion(now, frame, d, velocity, acceleration);
            rate += dot3(B[0], velocity);
            bias += dot3(B[0], acceleration);
            add_point_rows(q->problem->tree, now, frame, at, B, 1, (Columns){row, 1}, 0);
        }
        q->pair_rate[pair] = rate;
        q->pair_bias[pair] = bias;
    }
}

static void fill_pair_limits(Quadratic *q)
{
    const QuadraticSettings *settings = q->given.settings;
    double period = settings->period, closing = settings->closing;
    int above = first_pair_row(q);
    for (int pair = 0; pair < q->given.pair_count; pair++) {
        double distance = q->given.gaps[pair].distance, rate = q->pair_rate[pair];
        double least = closing_range(distance, rate, settings->clearance, closing, period);
        q->limits.scale[above + pair] = closing;
        q->limits.lower[above + pair] = ((least - rate) / period - q->pair_bias[pair]) / closing;
        q->limits.upper[above + pair] = INFINITY;
    }
}

/* Bounds on dv/dt of joints, by what their limits leave and by what is never exceeded; and on the efforts of motors. */
static void fill_joint_limits_rows(Quadratic *q, const Snapshot *now)
{
    const Problem *problem = q->problem;
    const QuadraticSettings *settings = q->given.settings;
    double period = settings->period, braking = settings->braking;
    int joints = problem->joints, base = problem->base, shift = problem->tree->nq - problem->nv;
    double *lower = q->limits.lower, *upper = q->limits.upper, *scale = q->limits.scale;
    const double *of = settings->limits;
    int bounds = first_acceleration_row(q);
    for (int i = 0; i < joints; i++) {
        double v = now->v[base + i];
        JointLimits limits = {of[i], of[joints + i], of[2 * joints + i]};
        Range range = velocity_range(now->q[base + shift + i], v, limits, braking, period);
        scale[i] = braking;
        lower[i] = (range.least - v) / period / braking;
        upper[i] = (range.greatest - v) / period / braking;
        scale[bounds + i] = braking;
        lower[bounds + i] = -settings->bound / braking;
        upper[bounds + i] = settings->bound / braking;
    }
    for (int k = 0; k < problem->driven_count; k++) {
        double most = of[3 * joints + problem->driven[k] - base];
        int row = joints + k;
        scale[row] = most > 0.0 && most < INFINITY ? most : 1.0;
        lower[row] = -most / scale[row];
        upper[row] = most / scale[row];
    }
}

void fill_limits(Quadratic *q, const Snapshot *now)
{
    fill_joint_limits_rows(q, now);
    fill_contact_limits(q, now);
    fill_pairs(q, now);
    fill_pair_limits(q);
    q->counts->rows = first_pair_row(q) + q->given.pair_count;
    q->counts->listed = 0;
    memset(q->limits.known, 0, (size_t)q->counts->rows * sizeof(int));
}

/* Gradients. A limit is a row on dv/dt, on tau or on lambda. First it becomes one on u and on the rotated lambda; then,
 * from the last level up, what a level decides is written as its loss e and what those above decide. So the gradient says
 * by how much a limit gives way if a level loses e and all levels below make the best of it. */

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
