/* gate.c - what each joint is told, whatever its controller wants: the daemon's gate, docs/robot_layer.md.
 *
 * position   into the range, and at most a step from the last command, or from where the joint is measured if it
 *            followed something else until now.
 * velocity   at most the limit, and so slow that the joint does not come to an end of its range within LOOK_AHEAD.
 * effort     at most the limit.
 * impedance  stiffness and damping at most their bounds; the effort that the command makes where the joint is,
 *                e = stiffness (q* - q) + damping (v* - v) + effort,
 *            at most the limit. A command with a part beyond its limit is written as q* = q, v* = v, effort = e, with
 *            the same stiffness and damping: what a board makes of it as the joint moves on is the same,
 *                e - stiffness (q(t) - q) - damping (v(t) - v).
 *
 * A joint that follows one of the last three and is about to leave its range or its velocity limit is taken over: it
 * follows positions that come to rest, within the range, with the time constant LOOK_AHEAD. It is handed back when it is
 * slow enough, has been held for HOLD and is not pushed beyond the same end again. */
#include "kernels.h"

#include <math.h>

#define LOOK_AHEAD 0.05                /* s */
#define HOLD 0.1                       /* s. A joint that came to an end of its range is kept for so long */
#define EDGE 0.002                     /* rad. So far beyond an end counts where nobody pushes: sensors are noisy */
#define SLACK 1.1                      /* of the velocity limit: nobody is faster, whoever drives the joint */
#define CALM 0.8                       /* of the velocity limit: a joint that was too fast goes on from here */
#define FARTHEST 100.0                 /* rad. A target of an endless joint is no farther away */
#define FASTEST_MEASURED 1e6           /* rad/s. Nothing turns faster: it is a sensor that fails */

enum { POSITION, VELOCITY, EFFORT, IMPEDANCE };                                          /* messages.Mode */
enum { LOWER, UPPER, FASTEST, STEP, STRONGEST, STIFFEST, MOST_DAMPING, LIMITS };         /* rows of limits */
enum { BRAKE, SLOW, BEFORE, HELD, MEMORY };                                              /* rows of memory */
enum { FREE, ABOVE, BELOW, FAST };                                                       /* why a joint is taken over */

/* One joint in one cycle. */
typedef struct Joint {
    double lower, upper, fastest, step, strongest, stiffest, most_damping;
    double q, v, gain;                 /* measured; what v gains in LOOK_AHEAD, going on as before */
    double position, velocity, effort, stiffness, damping; /* wanted; then told */
    uint64_t *refused;                 /* of this joint, `joints` apart */
    Py_ssize_t joints;
    uint8_t mode;
} Joint;

static double clamp(double x, double least, double most)
{
    return x < least ? least : x > most ? most : x;
}

static void count(const Joint *joint, int why)
{
    joint->refused[why * joint->joints]++;
}

/* The position that is told: finite, towards the range, at most a step from `last`. */
static inline double limited(double wanted, double last, const double *limit, uint64_t *refused, Py_ssize_t n)
{
    const double lower = limit[LOWER * n], upper = limit[UPPER * n], step = limit[STEP * n];
    double position = wanted;
    if (!isfinite(last))
        last = isfinite(wanted) ? wanted : clamp(0.0, lower, upper);
    if (!isfinite(position)) {
        refused[NOT_FINITE * n]++;
        position = last;
    }
    if (position < lower) {
        refused[BELOW_MINIMUM * n]++;
        position = lower;
    }
    if (position > upper) {
        refused[ABOVE_MAXIMUM * n]++;
        position = upper;
    }
    if (!(fabs(position - last) <= step)) {
        refused[TOO_FAST * n]++;
        position = position > last ? last + step : last - step;
    }
    return position;
}

static double finite_or(double value, double instead, int *wrong)
{
    *wrong |= !isfinite(value);
    return isfinite(value) ? value : instead;
}

/* Velocity: so slow that it would take LOOK_AHEAD to an end of the range; from beyond one, back. */
static void limit_velocity(Joint *joint)
{
    const double wanted = joint->velocity;
    const double most = (joint->upper - joint->q) / LOOK_AHEAD, least = (joint->lower - joint->q) / LOOK_AHEAD;
    if (wanted > most)
        count(joint, ABOVE_MAXIMUM);
    if (wanted < least)
        count(joint, BELOW_MINIMUM);
    if (fabs(wanted) > joint->fastest)
        count(joint, TOO_FAST);
    joint->velocity = clamp(clamp(wanted, least, most), -joint->fastest, joint->fastest);
    joint->position = clamp(joint->q, joint->lower, joint->upper);
    joint->effort = joint->stiffness = joint->damping = 0.0;
}

static void limit_effort(Joint *joint)
{
    if (fabs(joint->effort) > joint->strongest)
        count(joint, TOO_STRONG);
    joint->effort = clamp(joint->effort, -joint->strongest, joint->strongest);
    joint->position = clamp(joint->q, joint->lower, joint->upper);
    joint->velocity = joint->stiffness = joint->damping = 0.0;
}

/* The effort that the command makes where the joint is; not a number comes of infinities that cancel out. */
static double effort_of(const Joint *joint)
{
    const double e = joint->stiffness * (joint->position - joint->q) + joint->damping * (joint->velocity - joint->v) +
                     joint->effort;
    return isnan(e) ? 0.0 : e;
}

static void limit_gains(Joint *joint)
{
    const double stiffness = clamp(joint->stiffness, 0.0, joint->stiffest);
    const double damping = clamp(joint->damping, 0.0, joint->most_damping);
    if (stiffness != joint->stiffness || damping != joint->damping)
        count(joint, TOO_STIFF);
    joint->stiffness = stiffness;
    joint->damping = damping;
}

static void limit_impedance(Joint *joint)
{
    const double e = effort_of(joint), most = joint->strongest, saturated = clamp(e, -most, most);
    if (saturated != e)
        count(joint, TOO_STRONG);
    else if (joint->position >= joint->lower && joint->position <= joint->upper &&
             fabs(joint->position - joint->q) <= FARTHEST && fabs(joint->velocity) <= joint->fastest &&
             fabs(joint->effort) <= most)
        return;
    joint->position = clamp(joint->q, joint->lower, joint->upper);
    joint->velocity = clamp(joint->v, -joint->fastest, joint->fastest);
    joint->effort = 0.0;
    joint->effort = saturated - effort_of(joint);
    if (!(fabs(joint->effort) <= most)) { /* the joint is far beyond its own limits: then the effort alone */
        joint->stiffness = joint->damping = 0.0;
        joint->effort = saturated;
    }
}

/* How far above a joint gets within LOOK_AHEAD as its velocity changes now; q, v and gain upwards, v >= 0. */
static double reach(double q, double v, double gain)
{
    return gain < 0.0 && v < -gain ? q - LOOK_AHEAD * v * v / (2.0 * gain) : q + LOOK_AHEAD * (v + gain / 2.0);
}

static int about_to_leave(const Joint *joint, double push)
{
    const double q = joint->q, v = joint->v, gain = joint->gain, soon = q + LOOK_AHEAD * v;
    if ((push > 0.0 && soon > joint->upper) || (v >= 0.0 && reach(q, v, gain) > joint->upper + EDGE))
        return ABOVE;
    if ((push < 0.0 && soon < joint->lower) || (v <= 0.0 && -reach(-q, -v, -gain) < joint->lower - EDGE))
        return BELOW;
    return fabs(v) > SLACK * joint->fastest || (push * v > 0.0 && fabs(v + gain) > joint->fastest) ? FAST : FREE;
}

static int may_go_on(const Joint *joint, double push, int why, double held)
{
    if (fabs(joint->v) > CALM * joint->fastest || fabs(joint->v + joint->gain) > joint->fastest)
        return 0;
    return why == FAST || (held >= HOLD && !(why == ABOVE ? push > 0.0 : push < 0.0));
}

/* Whether the joint is taken over, or still is; then it is told a position, from `last` on. */
static int take_over(Joint *joint, double push, double last, double *memory, uint8_t *taken, double period)
{
    const Py_ssize_t n = joint->joints;
    if (*taken && may_go_on(joint, push, *taken, memory[HELD * n]))
        *taken = FREE;
    if (!*taken) {
        *taken = (uint8_t)about_to_leave(joint, push);
        if (!*taken)
            return 0;
        memory[HELD * n] = 0.0;
        memory[BRAKE * n] = clamp(joint->v, *taken == ABOVE ? 0.0 : -joint->fastest,
                                  *taken == BELOW ? 0.0 : joint->fastest);
    }
    memory[HELD * n] += period;
    joint->mode = POSITION;
    joint->position = clamp(last + memory[BRAKE * n] * period, joint->lower, joint->upper);
    memory[BRAKE * n] *= 1.0 - fmin(1.0, period / LOOK_AHEAD);
    return 1;
}

/* What is measured of a joint, into `joint`; 0 if nobody knows where it is. */
static int look(const Loop *loop, Py_ssize_t j, Joint *joint, int anew)
{
    const Py_buffer *b = loop->b;
    const Py_ssize_t n = joint->joints;
    const uint8_t measured = ((const uint8_t *)b[5].buf)[j];
    double *memory = (double *)b[10].buf + j;
    joint->q = ((const double *)b[3].buf)[j];
    joint->v = ((const double *)b[4].buf)[j];
    if (!(measured & 1) || !isfinite(joint->q)) /* messages.Measured */
        return 0;
    if (anew)
        memory[BEFORE * n] = joint->q;
    if (!(measured & 2) || !isfinite(joint->v))
        joint->v = (joint->q - memory[BEFORE * n]) / loop->period;
    joint->v = clamp(joint->v, -FASTEST_MEASURED, FASTEST_MEASURED);
    if (anew)
        memory[SLOW * n] = joint->v;
    memory[SLOW * n] += (joint->v - memory[SLOW * n]) * fmin(1.0, loop->period / LOOK_AHEAD);
    memory[BEFORE * n] = joint->q;
    joint->gain = joint->v - memory[SLOW * n];
    return 1;
}

static void want(const Loop *loop, Py_ssize_t j, Joint *joint)
{
    const double *values = (const double *)loop->b[1].buf + j;
    const Py_ssize_t n = joint->joints;
    int wrong = 0;
    joint->position = finite_or(((const double *)loop->b[0].buf)[j], joint->q, &wrong);
    joint->velocity = finite_or(values[n], 0.0, &wrong);
    joint->effort = finite_or(values[2 * n], 0.0, &wrong);
    joint->stiffness = finite_or(values[3 * n], 0.0, &wrong);
    joint->damping = finite_or(values[4 * n], 0.0, &wrong);
    if (wrong)
        count(joint, NOT_FINITE);
}

/* A joint that follows no position, or followed none until now, or is taken over. */
static void pass_joint(const Loop *loop, Py_ssize_t j)
{
    const Py_buffer *b = loop->b;
    const Py_ssize_t n = b[2].len;
    const double *limit = (const double *)b[6].buf + j;
    double *told = (double *)b[7].buf + j;
    uint8_t *told_mode = (uint8_t *)b[8].buf + j, *taken = (uint8_t *)b[9].buf + j;
    Joint joint = {limit[LOWER * n], limit[UPPER * n], limit[FASTEST * n], limit[STEP * n], limit[STRONGEST * n],
                   limit[STIFFEST * n], limit[MOST_DAMPING * n], .refused = (uint64_t *)b[11].buf + j, .joints = n,
                   .mode = ((const uint8_t *)b[2].buf)[j]};
    const int known = look(loop, j, &joint, *told_mode == POSITION && !*taken);
    const double last = *told_mode == POSITION || !known ? told[0] : joint.q;
    if (joint.mode > IMPEDANCE || (joint.mode != POSITION && !known)) {
        count(&joint, joint.mode > IMPEDANCE ? WRONG_MODE : NOT_READY);
        joint.mode = POSITION;
        joint.position = last;
    } else if (joint.mode == POSITION) {
        joint.position = ((const double *)b[0].buf)[j];
    } else {
        want(loop, j, &joint);
        if (joint.mode == IMPEDANCE)
            limit_gains(&joint);
        const double push = joint.mode == EFFORT ? joint.effort : joint.mode == IMPEDANCE ? effort_of(&joint) : 0.0;
        if (take_over(&joint, push, last, (double *)b[10].buf + j, taken, loop->period)) {
            count(&joint, *taken == ABOVE ? ABOVE_MAXIMUM : *taken == BELOW ? BELOW_MINIMUM : TOO_FAST);
        } else {
            (joint.mode == VELOCITY ? limit_velocity : joint.mode == EFFORT ? limit_effort : limit_impedance)(&joint);
        }
    }
    if (joint.mode == POSITION) {
        *taken = ((const uint8_t *)b[2].buf)[j] == POSITION ? FREE : *taken;
        joint.position = limited(joint.position, last, limit, joint.refused, n);
        joint.velocity = joint.effort = joint.stiffness = joint.damping = 0.0;
    }
    *told_mode = joint.mode;
    told[0] = joint.position;
    told[n] = joint.velocity;
    told[2 * n] = joint.effort;
    told[3 * n] = joint.stiffness;
    told[4 * n] = joint.damping;
}

static int run_gate(const Loop *loop)
{
    const Py_buffer *b = loop->b;
    const double *positions = b[0].buf, *limits = b[6].buf;
    const uint8_t *modes = b[2].buf, *told_modes = b[8].buf, *taken = b[9].buf;
    double *told = b[7].buf;
    uint64_t *refused = b[11].buf;
    const Py_ssize_t n = b[2].len;
    int any_taken = 0;
    for (Py_ssize_t j = 0; j < n; j++) {
        if ((modes[j] | told_modes[j] | taken[j]) == 0)
            told[j] = limited(positions[j], told[j], limits + j, refused + j, n);
        else {
            pass_joint(loop, j);
            any_taken |= taken[j];
        }
    }
    return any_taken != 0;
}

PyObject *new_gate(PyObject *Py_UNUSED(module), PyObject *args)
{
    Loop *loop = new_loop(run_gate);
    if (!loop)
        return NULL;
    Py_buffer *b = loop->b;
    if (!PyArg_ParseTuple(args, "y*y*y*y*y*y*y*w*w*w*w*w*d", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5], &b[6], &b[7],
                          &b[8], &b[9], &b[10], &b[11], &loop->period)) {
        Py_DECREF((PyObject *)loop);
        return NULL;
    }
    loop->buffers = 12;
    const Py_ssize_t n = b[2].len, length[] = {8 * n, 8 * VALUES * n, n, 8 * n, 8 * n, n, 8 * LIMITS * n,
                                               8 * VALUES * n, n, n, 8 * MEMORY * n, 8 * REFUSALS * n};
    for (int i = 0; i < 12; i++)
        if (b[i].len != length[i])
            return refuse(loop);
    return loop->period > 0.0 ? (PyObject *)loop : refuse(loop);
}
