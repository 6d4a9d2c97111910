/* sharing.c - which forces of contacts there are to the efforts f, and which efforts are left for the motors.
 *
 * f = S^T tau + Jc^T lambda is solved as a chain of levels in lambda: what joints without a motor need, P Jc^T lambda = P f;
 * what tasks on forces ask for, level by level; then tau = S (f - Jc^T lambda) as small as possible, and of all such lambda
 * the shortest. */
#include <string.h>

#include "wholebody/control/wbosc.h"

/* Columns: joints without a motor, tasks on forces, joints with one. */
static void fill_shares(Wbosc *wbosc, const Snapshot *now, int pressed)
{
    const Problem *problem = wbosc->problem;
    Chain *shares = &wbosc->shares;
    int passive = problem->passive_count, driven = problem->driven_count, held = wbosc->rows.constraint_rows;
    size_t width = (size_t)shares->A.width, constraints = (size_t)wbosc->K.width;
    double (*A)[width] = (double (*)[width])shares->A.at, (*K)[constraints] = (double (*)[constraints])wbosc->K.at;
    memset(shares->A.at, 0, (size_t)held * width * sizeof(double));
    for (int k = 0; k < passive; k++) {
        const double *row = K[problem->passive[k]];
        for (int c = 0; c < held; c++)
            A[c][k] = row[c];
        shares->wanted[k] = wbosc->efforts[problem->passive[k]];
    }
    for (int k = 0; k < driven; k++) {
        const double *row = K[problem->driven[k]];
        for (int c = 0; c < held; c++)
            A[c][passive + pressed + k] = row[c];
        shares->wanted[passive + pressed + k] = wbosc->efforts[problem->driven[k]];
    }
    if (pressed > 0)
        fill_force_tasks(problem, now, &wbosc->rows, shares->A, shares->wanted, passive);
}

/* The levels of the tasks on forces, those of one level of the problem together. They have a tolerance of their own: what
 * they ask for is not to be had at any price. */
static void solve_force_tasks(Wbosc *wbosc)
{
    const Problem *problem = wbosc->problem;
    double tolerance = wbosc->settings->force_tolerance;
    int at = problem->passive_count, count = 0, level = 0;
    for (int index = 0; index < problem->task_count; index++) {
        const ProblemTask *each = &problem->tasks[index];
        if (!acts_on_forces(each, &wbosc->rows))
            continue;
        if (each->level != level) {
            solve_chain_level(&wbosc->shares, at, count, tolerance, 0.0);
            at += count;
            count = 0;
            level = each->level;
        }
        count += each->task->rows;
    }
    solve_chain_level(&wbosc->shares, at, count, tolerance, 0.0);
}

static void solve_shares(Wbosc *wbosc, const Snapshot *now)
{
    const Problem *problem = wbosc->problem;
    Chain *shares = &wbosc->shares;
    int passive = problem->passive_count, pressed = count_force_tasks(problem, &wbosc->rows);
    open_chain(shares, wbosc->rows.constraint_rows, passive + pressed + problem->driven_count);
    fill_shares(wbosc, now, pressed);
    begin_chain(shares);
    solve_chain_level(shares, 0, passive, wbosc->settings->hard_tolerance, 0.0);
    if (pressed > 0)
        solve_force_tasks(wbosc);
    solve_chain_level(shares, passive + pressed, problem->driven_count, wbosc->settings->hard_tolerance, 0.0);
    finish_chain(shares);
}

void share_out(Wbosc *wbosc, const Snapshot *now, Output out)
{
    const Problem *problem = wbosc->problem;
    const double *lambda = wbosc->shares.y;
    int held = wbosc->rows.constraint_rows;
    if (held > 0)
        solve_shares(wbosc, now);
    memcpy(out.contact, lambda, (size_t)held * sizeof(double));
    memset(out.effort, 0, (size_t)problem->joints * sizeof(double));
    for (int k = 0; k < problem->driven_count; k++) {
        int64_t i = problem->driven[k];
        const double *row = wbosc->K.at + (size_t)i * (size_t)wbosc->K.width;
        double total = wbosc->efforts[i];
        for (int c = 0; c < held; c++)
            total -= row[c] * lambda[c];
        out.effort[i - problem->base] = total;
    }
}
