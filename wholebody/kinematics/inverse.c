/* inverse.c - the whole iteration: down the error by damped least squares, restarts, then home in the null space. */
#include "wholebody/kinematics/inverse.h"

#include <math.h>
#include <string.h>

static const double DAMPING_FLOOR = 1e-10, DAMPING_CEILING = 1e8;
static const double TIGHT = 1e-6;   /* share by which the error must fall for the last descent to go on */
static const double WEAKEST = 1e-3; /* least strength of damping, as a factor on the regularisation */

enum { CORRECTIONS = 4 /* steps that bring the goals back after one towards home, before it is given up */ };

/* Where a descent ended. */
typedef struct {
    Ending ending;
    double cost;
    int iterations;
} Descent;

static void copy(double *to, const double *from, int count)
{
    memcpy(to, from, sizeof(double) * (size_t)count);
}

static void record(const Solver *solver, double cost, History *history)
{
    int nq = solver->problem.tree.nq;
    if (history->count >= history->capacity)
        return;
    double *row = history->rows + (size_t)history->count++ * (size_t)(nq + 1);
    copy(row, solver->work.q, nq);
    row[nq] = cost;
}

/* Look at the best configuration; the error there. */
static double look_at_best(const Solver *solver)
{
    const Work *work = &solver->work;
    copy(work->now.q, work->q, solver->problem.tree.nq);
    look(&solver->problem, work);
    return measure(&solver->problem, work, work->gap, work->error);
}

/* Look at q (+) step; the error there. */
static double try_step(const Solver *solver)
{
    const Work *work = &solver->work;
    move_variables(&solver->problem, work);
    look(&solver->problem, work);
    return measure(&solver->problem, work, work->trial_gap, work->trial_error);
}

static void accept(const Solver *solver)
{
    const Work *work = &solver->work;
    copy(work->q, work->now.q, solver->problem.tree.nq);
    copy(work->gap, work->trial_gap, 2 * solver->problem.goals);
    copy(work->error, work->trial_error, solver->problem.rows);
}

/* The rows of this configuration, and how far each variable may still go. */
static BoxedLeastSquares linearised(const Solver *solver)
{
    const Problem *problem = &solver->problem;
    const Work *work = &solver->work;
    fill_rows(problem, work);
    for (int z = 0; z < problem->variables; z++) {
        int64_t place = problem->place[z];
        work->lower[z] = place >= 0 ? problem->lower[z] - work->q[place] : -INFINITY;
        work->upper[z] = place >= 0 ? problem->upper[z] - work->q[place] : INFINITY;
    }
    return (BoxedLeastSquares){problem->variables, problem->rows, work->J, work->error, problem->mobility, work->preferred,
                               DAMPING_FLOOR, work->lower, work->upper};
}

/* A step with so strong a damping, no longer than the locality threshold; its largest move. */
static double find_step(const Solver *solver, BoxedLeastSquares *linear, double cost, double strength)
{
    const Settings *settings = &solver->settings;
    const Work *work = &solver->work;
    if (settings->transpose) {
        linear->damping = 0.0;
        transposed_step(linear, work->memory.y, work->step);
        for (int z = 0; z < linear->n; z++)
            work->step[z] /= fmax(strength, 1.0);
    } else {
        linear->damping = settings->regularisation * strength * fmin(cost, 1.0) + DAMPING_FLOOR;
        boxed_step(linear, &work->memory, work->step);
    }
    return keep_local(linear->n, work->step, settings->locality);
}

/* Whether all errors are numbers, and none is so large that its goal must be a mistake. */
static bool is_sensible(const Solver *solver)
{
    for (int k = 0; k < 2 * solver->problem.goals; k++)
        if (!(solver->work.gap[k] <= FARTHEST))
            return false;
    return true;
}

/* Go down the error from the best configuration, never up.
 *
 * Steps are those of Eq. 4.10 with a damping that goes to zero with the squared error, so that the last steps are
 * Newton's, and grows after each step that would raise the error. It stalls when the root of the error falls by less
 * than the share `stall` for as many iterations in a row as there is patience, or when no step lowers it any more. */
static Descent descend(Solver *solver, double stall, History *history)
{
    const Settings *settings = &solver->settings;
    const Work *work = &solver->work;
    double cost = look_at_best(solver), strength = 1.0;
    copy(work->q, work->now.q, solver->problem.tree.nq);
    if (!is_sensible(solver))
        return (Descent){GOAL_TOO_FAR, cost, 0};
    record(solver, cost, history);
    memset(work->preferred, 0, sizeof(double) * (size_t)solver->problem.variables);
    int tired = 0, count = 0;
    while (true) {
        if (reached(&solver->problem, work->gap))
            return (Descent){CONVERGED, cost, count};
        if (tired >= settings->patience)
            return (Descent){STALLED, cost, count};
        BoxedLeastSquares linear = linearised(solver);
        double there, promised;
        while (true) {
            if (count >= settings->iterations)
                return (Descent){OUT_OF_ITERATIONS, cost, count};
            count++;
            double moved = find_step(solver, &linear, cost, strength);
            promised = cost - predicted_error(&linear, work->step, work->memory.y);
            there = try_step(solver);
            if (there < cost)
                break;
            strength *= 4.0;
            if (strength > DAMPING_CEILING || moved < 1e-12)
                return (Descent){STALLED, cost, count};
        }
        tired = sqrt(there) > (1.0 - stall) * sqrt(cost) ? tired + 1 : 0;
        double kept = promised > 0.0 ? (cost - there) / promised : 0.0;
        if (kept > 0.75)
            strength = fmax(0.2 * strength, WEAKEST);
        else if (kept < 0.25)
            strength *= 2.0;
        accept(solver);
        cost = there;
        record(solver, cost, history);
    }
}

/* Start anew from the best so far, at random in the variables that move a goal not reached yet.
 *
 * Every fourth time all variables are thrown. J is of the end of the last descent: good enough to tell which variables
 * move which goal. */
static void restart(const Solver *solver, const double *gaps, int number)
{
    const Problem *problem = &solver->problem;
    const Work *work = &solver->work;
    const double *seed = problem->seeds + (size_t)(number - 1) * (size_t)problem->variables;
    for (int z = 0; z < problem->variables; z++) {
        if (problem->place[z] < 0)
            continue;
        bool thrown = number % 4 == 0;
        for (int k = 0; k < problem->rows && !thrown; k++)
            thrown = work->J[z * problem->rows + k] != 0.0 && !goal_reached(problem, gaps, (int)problem->row[k][0]);
        if (thrown)
            work->q[problem->place[z]] = seed[z];
    }
    keep_within(problem, work->q);
}

/* How far from home: sum of W (q* - q)^2. */
static double away_from_home(const Problem *problem, const double *q)
{
    double total = 0.0;
    for (int z = 0; z < problem->variables; z++)
        if (problem->place[z] >= 0) {
            double distance = problem->home[z] - q[problem->place[z]];
            total += distance * distance / problem->mobility[z];
        }
    return total;
}

/* The error up to which goals count as kept: what it is, or what is far below all tolerances. */
static double allowed_cost(const Problem *problem, double cost)
{
    double tolerance = INFINITY, scale = INFINITY;
    for (int goal = 0; goal < problem->goals; goal++)
        tolerance = fmin(tolerance, fmin(problem->tolerance[goal][0], problem->tolerance[goal][1]));
    for (int k = 0; k < problem->rows; k++)
        scale = fmin(scale, problem->scale[k]);
    return fmax(cost, 1e-4 * tolerance * tolerance * scale * scale);
}

/* One step towards home, seen through the undamped projector, then corrections that bring the goals back; the error. */
static double step_home(const Solver *solver, double share, double allowed, int *count)
{
    const Problem *problem = &solver->problem;
    const Work *work = &solver->work;
    double cost = look_at_best(solver);
    for (int z = 0; z < problem->variables; z++) {
        int64_t place = problem->place[z];
        work->preferred[z] = place >= 0 ? share * (problem->home[z] - work->q[place]) : 0.0;
    }
    keep_local(problem->variables, work->preferred, share * solver->settings.locality);
    for (int correction = 0; correction <= CORRECTIONS; correction++) {
        if (correction > 0) {
            memset(work->preferred, 0, sizeof(double) * (size_t)problem->variables);
            if (cost <= allowed)
                break;
        }
        BoxedLeastSquares linear = linearised(solver);
        boxed_step(&linear, &work->memory, work->step);
        keep_local(problem->variables, work->step, solver->settings.locality);
        (*count)++;
        cost = try_step(solver);
        accept(solver);
    }
    return cost;
}

/* Nearer to the home posture in what the goals leave free; they stay within tolerance, or where they were. Returns the
 * number of iterations. */
static int go_home(const Solver *solver, double cost, History *history)
{
    const Problem *problem = &solver->problem;
    const Work *work = &solver->work;
    int nq = problem->tree.nq, count = 0;
    double allowed = allowed_cost(problem, cost), away = away_from_home(problem, work->q), share = 1.0;
    for (int round = 0; round < solver->settings.homing; round++) {
        copy(work->before, work->q, nq);
        cost = step_home(solver, share, allowed, &count);
        double nearer = away_from_home(problem, work->q);
        if (cost <= allowed && nearer < away) {
            bool done = away - nearer < 1e-6 * away;
            away = nearer;
            share = fmin(1.0, 2.0 * share);
            record(solver, cost, history);
            if (done || away < 1e-16)
                break;
        } else {
            copy(work->q, work->before, nq);
            share *= 0.5;
            if (share < 1e-3)
                break;
        }
    }
    look_at_best(solver);
    return count;
}

Outcome solve_inverse(Solver *solver, double *q, double *gaps, History *history)
{
    const Problem *problem = &solver->problem;
    Work *work = &solver->work;
    int nq = problem->tree.nq, last = problem->throws == 0 ? 0 : problem->throws + 1;
    Outcome outcome = {STALLED, 0, 0};
    double cost = INFINITY;
    anchor_support(problem, work, q);
    keep_within(problem, q);
    for (int attempt = 0; attempt <= last; attempt++) {
        copy(work->q, q, nq);
        if (attempt > 0 && attempt <= problem->throws) {
            outcome.restarts = attempt;
            restart(solver, gaps, attempt);
        }
        Descent descent = descend(solver, attempt == last ? TIGHT : solver->settings.stall, history);
        outcome.iterations += descent.iterations;
        if (descent.ending == GOAL_TOO_FAR) {
            outcome.ending = descent.ending;
            copy(gaps, work->gap, 2 * problem->goals);
            return outcome;
        }
        if (descent.ending == CONVERGED || descent.cost <= cost) {
            outcome.ending = descent.ending;
            cost = descent.cost;
            copy(q, work->q, nq);
            copy(gaps, work->gap, 2 * problem->goals);
        }
        if (outcome.ending == CONVERGED)
            break;
    }
    if (solver->settings.homing > 0) {
        copy(work->q, q, nq);
        outcome.iterations += go_home(solver, cost, history);
        copy(q, work->q, nq);
        copy(gaps, work->gap, 2 * problem->goals);
    }
    return outcome;
}
