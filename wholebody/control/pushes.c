/* pushes.c - what contacts push in the columns of v without a motor, and columns that speak of efforts. */
#include <string.h>

#include "wholebody/control/wbosc.h"

/* P Jc^T into the chain, and the columns of zeros behind. */
static void fill_pushes(Wbosc *wbosc)
{
    const Problem *problem = wbosc->problem;
    size_t width = (size_t)wbosc->pushes.A.width, constraints = (size_t)wbosc->K.width;
    double (*A)[width] = (double (*)[width])wbosc->pushes.A.at;
    for (int i = 0; i < problem->passive_count; i++) {
        const double *row = wbosc->K.at + (size_t)problem->passive[i] * constraints;
        for (size_t c = 0; c < width; c++)
            A[i][c] = c < constraints ? row[c] : 0.0;
    }
}

int find_free_directions(Wbosc *wbosc, bool *bound)
{
    Chain *pushes = &wbosc->pushes;
    int passive = wbosc->problem->passive_count, held = wbosc->rows.constraint_rows;
    *bound = held == 0;
    if (passive == 0)
        return 0;
    open_chain(pushes, passive, held);
    fill_pushes(wbosc);
    memset(pushes->wanted, 0, (size_t)held * sizeof(double));
    begin_chain(pushes);
    solve_chain_level(pushes, 0, held, wbosc->settings->hard_tolerance, 0.0);
    int rank = pushes->used;
    for (int k = 0; k < passive - rank; k++) {
        memset(pushes->y, 0, (size_t)passive * sizeof(double));
        pushes->y[rank + k] = 1.0;
        finish_chain(pushes);
        memcpy(wbosc->free + k * passive, pushes->y, (size_t)passive * sizeof(double));
    }
    *bound = rank == held;
    return passive - rank;
}

/* L P^T w, into a column. */
static void fill_as_column(Wbosc *wbosc, const double *w, int at)
{
    const Problem *problem = wbosc->problem;
    size_t n = (size_t)problem->nv, width = (size_t)wbosc->levels.A.width;
    double (*A)[width] = (double (*)[width])wbosc->levels.A.at, (*L)[n] = (double (*)[n])wbosc->L;
    for (size_t i = 0; i < n; i++) {
        double total = 0.0;
        for (int k = 0; k < problem->passive_count; k++)
            if (problem->passive[k] <= (int64_t)i)
                total += L[i][problem->passive[k]] * w[k];
        A[i][at] = total;
    }
}

/* lambda = (P Jc^T)^+ P L^T u where contacts have no freedom left; so a row b on lambda is the column
 * L P^T (P Jc^T)^+T b. */
static void fill_pressure_columns(Wbosc *wbosc, const Snapshot *now, const ProblemTask *each, int at)
{
    const Problem *problem = wbosc->problem;
    Chain *pushes = &wbosc->pushes;
    int held = wbosc->rows.constraint_rows, first = wbosc->rows.first_of_constraint[each->contact[0]];
    double B[2][6];
    center_of_pressure_rows(now->placement[contact_frame(problem, each, 0)], each->task->goal, B);
    for (int r = 0; r < 2; r++) {
        fill_pushes(wbosc);
        for (int c = 0; c < held; c++)
            pushes->wanted[c] = first <= c && c < first + 6 ? B[r][c - first] : 0.0;
        begin_chain(pushes);
        solve_chain_level(pushes, 0, held, wbosc->settings->hard_tolerance, 0.0);
        finish_chain(pushes);
        fill_as_column(wbosc, pushes->y, at + r);
    }
}

void fill_effort_columns(Wbosc *wbosc, const Snapshot *now, int free, bool bound)
{
    const Problem *problem = wbosc->problem;
    const ProblemRows *rows = &wbosc->rows;
    for (int k = 0; k < free; k++) {
        int at = rows->constraint_rows + k;
        fill_as_column(wbosc, wbosc->free + k * problem->passive_count, at);
        rows->error[at] = rows->bias[at] = 0.0;
    }
    for (int index = 0; bound && index < problem->task_count; index++) {
        const ProblemTask *each = &problem->tasks[index];
        if (each->task->kind == TASK_CENTER_OF_PRESSURE && rows->first_of_task[index] >= 0)
            fill_pressure_columns(wbosc, now, each, rows->first_of_task[index]);
    }
}
