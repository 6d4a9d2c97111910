/* rows.c - the rows of a problem: of the constraints that are enabled, and of the tasks, level by level. */
#include "wholebody/control/problem.h"

#include <math.h>
#include <string.h>

int count_constraints(const Problem *problem, ProblemRows *rows)
{
    int total = 0;
    for (int index = 0; index < problem->constraint_count; index++) {
        const Constraint *constraint = problem->constraints[index].constraint;
        bool on = state_of_constraint(constraint) == ENABLED;
        rows->first_of_constraint[index] = on ? total : -1;
        if (!on)
            constraint->place->known = false;
        total += on ? constraint->rows : 0;
    }
    rows->constraint_rows = total;
    return total;
}

/* A user's own rows, written by Python as rows of nv numbers, become columns. */
static void copy_own_jacobian(const double *own, int count, int nv, Columns J)
{
    size_t width = (size_t)J.width;
    double (*into)[width] = (double (*)[width])J.at;
    for (int r = 0; r < count; r++)
        for (int i = 0; i < nv; i++)
            into[i][r] = own[r * nv + i];
}

/* bias <- dJ/dt v + kd J v + kp e, so that J dv/dt + bias = 0 brings constraints back to where they hold. */
static void add_feedback(const Constraint *constraint, const Snapshot *now, int nv, ContactFeedback feedback,
                         ConstraintColumns out)
{
    size_t width = (size_t)out.J.width;
    double (*J)[width] = (double (*)[width])out.J.at;
    if (feedback.damping > 0.0)
        for (int i = 0; i < nv; i++)
            for (int r = 0; r < constraint->rows; r++)
                out.bias[r] += feedback.damping * J[i][r] * now->v[i];
    ConstraintKind kind = constraint->kind;
    if (feedback.stiffness > 0.0 && (kind == CONSTRAINT_FLAT || kind == CONSTRAINT_POINT || kind == CONSTRAINT_LINE))
        add_contact_stiffness(constraint, now, feedback.stiffness, out.bias);
}

void fill_constraints(const Problem *problem, const Snapshot *now, const ProblemRows *rows, ContactFeedback feedback,
                      Columns K)
{
    memset(K.at, 0, (size_t)problem->nv * (size_t)K.width * sizeof(double));
    for (int index = 0; index < problem->constraint_count; index++) {
        int first = rows->first_of_constraint[index];
        if (first < 0)
            continue;
        const Constraint *constraint = problem->constraints[index].constraint;
        ConstraintColumns out = {{K.at + first, K.width}, rows->constraint_bias + first};
        if (constraint->kind == CONSTRAINT_CUSTOM) {
            const double *own = problem->constraints[index].own;
            copy_own_jacobian(own, constraint->rows, problem->nv, out.J);
            memcpy(out.bias, own + constraint->rows * problem->nv, (size_t)constraint->rows * sizeof(double));
        } else {
            fill_constraint_rows(constraint, problem->tree, now, out);
        }
        add_feedback(constraint, now, problem->nv, feedback, out);
    }
}

/* Whether a centre of pressure is enabled and motion: see `bound`. */
static bool becomes_motion(const ProblemTask *each, const ProblemRows *rows, bool bound)
{
    return bound && each->task->kind == TASK_CENTER_OF_PRESSURE && state_of_task(each->task) == ENABLED &&
           rows->first_of_constraint[each->contact[0]] >= 0;
}

int count_tasks(const Problem *problem, const Snapshot *now, const ProblemRows *rows, int first, bool bound)
{
    int level = 0, total = first;
    rows->first_of_level[0] = first;
    for (int index = 0; index < problem->task_count; index++) {
        const ProblemTask *each = &problem->tasks[index];
        while (level < each->level)
            rows->first_of_level[++level] = total;
        if (becomes_motion(each, rows, bound))
            total += each->task->rows;
        else if (!is_force_task(each->task) && state_of_task(each->task) == ENABLED)
            total += count_task_rows(each->task, problem->tree, now);
    }
    while (level < problem->level_count)
        rows->first_of_level[++level] = total;
    return total;
}

/* Columns that the controller fills, because they speak of efforts. */
static void fill_pressure(const ProblemTask *each, const ProblemRows *rows, int at)
{
    for (int c = at; c < at + each->task->rows; c++) {
        rows->error[c] = rows->bias[c] = rows->force[c] = rows->spring[c] = rows->pull[c] = 0.0;
        rows->activation[c] = 1.0;
        rows->source[c] = -1;
    }
}

/* A user's own rows, as Python wrote them: Jacobian, error, velocity, bias. */
static void copy_own_rows(const ProblemTask *each, int nv, TaskColumns out)
{
    int count = each->task->rows;
    const double *rest = each->own + count * nv;
    copy_own_jacobian(each->own, count, nv, out.J);
    for (int r = 0; r < count; r++) {
        out.error[r] = rest[r];
        out.velocity[r] = rest[count + r];
        out.bias[r] = rest[2 * count + r];
        out.source[r] = r;
    }
}

/* The integral of a row's error, which only a task that acts moves on, and never to what is no number. */
static double accumulate(const Task *task, int i, double error, double period)
{
    double limit = *task->integral_limit;
    double accumulated = task->accumulated[i] + error * period;
    if (accumulated < -limit)
        accumulated = -limit;
    if (accumulated > limit)
        accumulated = limit;
    if (isfinite(accumulated))
        task->accumulated[i] = accumulated;
    return accumulated;
}

/* The law of each row, in place of its error: kp e + kd (dx* - dx) + ki (integral of e) + ddx*.
 * A task that exerts a force has F* + kp e + ki (integral of e) as its force, and no spring. */
static void ask(const ProblemTask *each, const ProblemRows *rows, int at, int count, double period, double *errors)
{
    const Task *task = each->task;
    bool acts = state_of_task(task) == ENABLED;
    for (int r = 0; r < task->rows; r++)
        errors[r] = 0.0;
    for (int c = at; c < at + count; c++) {
        int i = rows->source[c];
        double error = rows->error[c];
        double accumulated = acts ? accumulate(task, i, error, period) : task->accumulated[i];
        double spring = task->stiffness[i] * error + task->integral_gain[i] * accumulated;
        errors[i] = error;
        rows->force[c] = 0.0;
        if (task->kind == TASK_EXTERNAL_FORCE) {
            rows->force[c] = task->goal[i] + spring;
            spring = 0.0;
        }
        rows->spring[c] = spring;
        rows->pull[c] = task->stiffness[i] * *task->error_limit;
        rows->asked[c] = spring + task->damping[i] * task->goal_velocity[i] + task->goal_acceleration[i];
        rows->error[c] = rows->asked[c] - task->damping[i] * rows->velocity[c];
    }
}

void fill_tasks(const Problem *problem, const Snapshot *now, const ProblemRows *rows, TaskFilling filling, Columns A,
                double *errors)
{
    int at = filling.first;
    for (int index = 0; index < problem->task_count; index++) {
        const ProblemTask *each = &problem->tasks[index];
        int state = state_of_task(each->task);
        rows->first_of_task[index] = -1;
        if (is_force_task(each->task)) {
            if (becomes_motion(each, rows, filling.bound)) {
                fill_pressure(each, rows, at);
                rows->first_of_task[index] = at;
                at += each->task->rows;
            }
            continue;
        }
        if (state == DISABLED)
            continue;
        int count = count_task_rows(each->task, problem->tree, now);
        Columns J = state == ENABLED ? (Columns){A.at + at, A.width} : (Columns){rows->spare, count > 0 ? count : 1};
        TaskColumns out = {J, rows->error + at, rows->velocity + at, rows->bias + at, rows->activation + at,
                           rows->source + at};
        for (int r = 0; r < count; r++)
            out.activation[r] = 1.0;
        if (each->task->kind == TASK_CUSTOM)
            copy_own_rows(each, problem->nv, out);
        else
            fill_task_rows(each->task, problem->tree, now, out);
        ask(each, rows, at, count, filling.period, errors + each->errors_at);
        if (state == ENABLED) {
            rows->first_of_task[index] = at;
            at += count;
        }
    }
}
