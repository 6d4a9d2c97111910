/* wbosc.c - one cycle of whole-body operational space control; the method is described in wbosc.h. */
#include "wholebody/control/wbosc.h"

#include <math.h>
#include <string.h>

#include "wholebody/control/linear_algebra.h"

static SpringMemory take_spring_memory(Arena *arena, const Problem *problem)
{
    int most = 1;
    for (int index = 0; index < problem->task_count; index++)
        if (problem->tasks[index].task->rows > most)
            most = problem->tasks[index].task->rows;
    size_t rows = (size_t)most;
    return (SpringMemory){
        .stride = most,
        .G = take_numbers(arena, rows * rows),
        .factor = take_numbers(arena, rows * rows),
        .f = take_numbers(arena, rows),
        .half = take_numbers(arena, rows),
    };
}

void lay_out_wbosc(Wbosc *wbosc, Arena *arena, const Problem *problem, Dsyevd dsyevd)
{
    size_t nv = (size_t)problem->nv, passive = (size_t)problem->passive_count, most = (size_t)problem->most_columns + 4;
    int held = problem->constraint_rows, shares = problem->nv + problem->force_rows;
    int greatest = problem->nv > held ? problem->nv : held;
    wbosc->problem = problem;
    wbosc->rows = take_problem_rows(arena, problem);
    wbosc->mobility = (Mobility){take_integers(arena, most), take_numbers(arena, most)};
    wbosc->springs = take_spring_memory(arena, problem);
    wbosc->eigensolver = take_eigensolver(arena, dsyevd, greatest);
    wbosc->L = take_numbers(arena, nv * nv);
    wbosc->h = take_numbers(arena, nv);
    wbosc->efforts = take_numbers(arena, nv);
    wbosc->free = take_numbers(arena, passive * passive);
    wbosc->K = (Columns){take_numbers(arena, nv * (size_t)held), held};
    wbosc->levels = take_chain(arena, &wbosc->eigensolver, problem->nv, problem->most_columns);
    wbosc->pushes = take_chain(arena, &wbosc->eigensolver, problem->passive_count, held);
    wbosc->shares = take_chain(arena, &wbosc->eigensolver, held, shares);
    wbosc->saved = (Saved){
        .A = take_numbers(arena, nv * most),
        .wanted = take_numbers(arena, most),
        .y = take_numbers(arena, nv),
        .mean = take_numbers(arena, nv),
    };
}

/* The columns of constraints, and room for all others. */
static void begin_columns(Wbosc *wbosc)
{
    size_t width = (size_t)wbosc->levels.A.width, held = (size_t)wbosc->rows.constraint_rows;
    double (*A)[width] = (double (*)[width])wbosc->levels.A.at;
    for (int i = 0; i < wbosc->problem->nv; i++) {
        memcpy(A[i], wbosc->K.at + (size_t)i * held, held * sizeof(double));
        memset(A[i] + held, 0, (width - held) * sizeof(double));
    }
}

/* The right-hand side of each column: ddx* - dJ/dt v + X^T L^-T h; nothing in columns that speak of u itself. */
static void fill_wanted(Wbosc *wbosc, int free, int end)
{
    const ProblemRows *rows = &wbosc->rows;
    size_t width = (size_t)wbosc->levels.A.width;
    double (*A)[width] = (double (*)[width])wbosc->levels.A.at, *restrict wanted = wbosc->levels.wanted;
    int held = rows->constraint_rows;
    for (int c = 0; c < held; c++)
        wanted[c] = -rows->constraint_bias[c];
    for (int c = held; c < end; c++)
        wanted[c] = rows->error[c] - rows->bias[c];
    for (int i = 0; i < wbosc->problem->nv; i++) {
        const double h = wbosc->h[i], *restrict row = A[i];
        for (int c = 0; c < end; c++)
            wanted[c] += row[c] * h;
    }
    for (int c = held; c < end; c++)
        if (c < held + free || rows->source[c] < 0)
            wanted[c] = 0.0;
}

/* Add mobility times force to what is wanted, task by task, with the mobility of what constraints and motors leave: the
 * rows not used. */
static void add_forces(Wbosc *wbosc, int first, int end)
{
    Chain *chain = &wbosc->levels;
    const ProblemRows *rows = &wbosc->rows;
    size_t width = (size_t)chain->A.width;
    double (*A)[width] = (double (*)[width])chain->A.at;
    int begun = first;
    for (int c = first; c < end; c++) {
        if (rows->source[c] == 0) /* a task begins */
            begun = c;
        if (rows->force[c] == 0.0)
            continue;
        for (int other = begun; other < begun + 3 && other < end; other++) {
            double total = 0.0;
            for (int i = chain->used; i < chain->n; i++)
                total += A[i][c] * A[i][other];
            chain->wanted[other] += total * rows->force[c];
        }
    }
}

/* f = L^T u, and dv/dt = L^-1 (u - L^-T h). */
static void find_efforts(Wbosc *wbosc, double *acceleration)
{
    size_t n = (size_t)wbosc->problem->nv;
    double (*L)[n] = (double (*)[n])wbosc->L, *restrict f = wbosc->efforts;
    const double *u = wbosc->levels.y;
    memset(f, 0, n * sizeof(double));
    for (size_t k = 0; k < n; k++) {
        const double *restrict row = L[k];
        double total = u[k] - wbosc->h[k];
        for (size_t i = 0; i < k; i++) {
            total -= row[i] * acceleration[i];
            f[i] += row[i] * u[k];
        }
        acceleration[k] = total / row[k];
        f[k] += row[k] * u[k];
    }
}

static bool all_finite(const double *numbers, int count)
{
    bool finite = true;
    for (int i = 0; i < count; i++)
        finite = finite && isfinite(numbers[i]);
    return finite;
}

/* The rows of everything, whitened; `end` is where the columns end, `free` how many directions nothing pushes. */
static Verdict gather_rows(Wbosc *wbosc, const Snapshot *now, double *errors, int *free, int *end)
{
    const Problem *problem = wbosc->problem;
    bool bound;
    int held = count_constraints(problem, &wbosc->rows);
    wbosc->K.width = held;
    ContactFeedback feedback = {wbosc->settings->contact_damping, wbosc->settings->contact_stiffness};
    fill_constraints(problem, now, &wbosc->rows, feedback, wbosc->K);
    *free = find_free_directions(wbosc, &bound);
    *end = count_tasks(problem, now, &wbosc->rows, held + *free, bound);
    open_chain(&wbosc->levels, problem->nv, *end);
    begin_columns(wbosc);
    TaskFilling filling = {held + *free, bound, wbosc->settings->period};
    fill_tasks(problem, now, &wbosc->rows, filling, wbosc->levels.A, errors);
    for (int i = 0; i < problem->nv; i++)
        wbosc->h[i] = now->h[i] - now->g[i] + now->compensation[i];
    if (!factor_mass(now->M, wbosc->L, problem->nv))
        return NOT_POSITIVE;
    whiten(wbosc->L, problem->nv, wbosc->levels.A, wbosc->h);
    fill_effort_columns(wbosc, now, *free, bound);
    fill_wanted(wbosc, *free, *end);
    begin_chain(&wbosc->levels);
    return all_finite(wbosc->levels.size, *end) ? SOLVED : NOT_FINITE;
}

Verdict solve_wbosc(Wbosc *wbosc, const Snapshot *now, Output out)
{
    const Problem *problem = wbosc->problem;
    const WboscSettings *settings = wbosc->settings;
    Chain *levels = &wbosc->levels;
    int free, end;
    Verdict verdict = gather_rows(wbosc, now, out.error, &free, &end);
    if (verdict != SOLVED)
        return verdict;
    int held = wbosc->rows.constraint_rows;
    solve_chain_level(levels, 0, held, settings->hard_tolerance, 0.0);
    solve_chain_level(levels, held, free, settings->hard_tolerance, 0.0);
    add_forces(wbosc, held + free, end);
    if (settings->shared > 0.0) {
        square_columns(levels->A, levels->n, levels->used, held + free, end, levels->left);
        solve_shared(wbosc);
    } else {
        solve_truncated(wbosc);
    }
    find_efforts(wbosc, out.acceleration);
    share_out(wbosc, now, out);
    if (!all_finite(out.acceleration, problem->nv) || !all_finite(out.effort, problem->joints))
        return NOT_FINITE;
    Enforced enforced = {settings->enforce_effort > 0.0, settings->enforce_position > 0.0,
                         settings->enforce_velocity > 0.0, settings->period, settings->limits};
    enforce_limits(problem, now, enforced, out);
    return SOLVED;
}
