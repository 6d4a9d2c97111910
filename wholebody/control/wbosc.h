/* wbosc.h - whole-body operational space control: the memory of one problem, and one cycle of it.
 *
 * M dv/dt + h = f = S^T tau + Jc^T lambda. With M = L^T L, let u = L^-T f be the whitened effort. Then J dv/dt = X^T (u - L^-T h) with
 * X = L^-T J^T: dynamically consistent inverses become plain orthogonal ones, and the whole law is a chain of levels in u:
 *
 *     constraints                               Xc^T u = -dJc/dt v + Xc^T L^-T h
 *     what no motor or contact can push         W^T P L^T u = 0, W the left null space of P Jc^T
 *     tasks, level by level                     X^T u = ddx* - dJ/dt v + X^T L^-T h
 *     whatever is left                          u = 0
 *
 * P takes the columns of v without a motor. Then lambda is a chain of its own: P Jc^T lambda = P f; the tasks on forces,
 * in their order; and tau = S (f - Jc^T lambda) as small as possible; and tau is what remains. */
#ifndef WHOLEBODY_CONTROL_WBOSC_H
#define WHOLEBODY_CONTROL_WBOSC_H

#include "wholebody/control/chain.h"

/* What can be changed while it runs, in one array of Python's: see settings.py. Flags are 0 or 1. */
typedef struct {
    double period;
    double task_tolerance;  /* how small the mobility may be in a direction and still be regular */
    double force_tolerance; /* the same for tasks on the forces of contacts */
    double hard_tolerance;  /* below which numbers are rounding, and for constraints and motors */
    double shared;          /* whether singular directions are shared between levels, or truncated */
    double contact_damping, contact_stiffness; /* of the feedback on constraints, 1/s and 1/s^2 */
    double enforce_effort, enforce_position, enforce_velocity;
    double limits[];        /* 4 x joints: lower, upper, velocity, effort */
} WboscSettings;

/* Which rows of tasks are measured together, and how easily they are moved: of each column. */
typedef struct {
    int *block;     /* the first of the rows that a row is measured with */
    double *mobile; /* the mobility of these; 0 if constraints hold them altogether */
} Mobility;

/* Memory of the rows of one task that pull together: G, the factor of G + mu, what is solved for, and half of that. */
typedef struct {
    int stride; /* the most rows that a task has */
    double *G, *factor, *f, *half;
} SpringMemory;

/* What a chain has of its tasks before any of them is solved, to begin from again; and the mean of what came. */
typedef struct {
    int used, reflected;
    double *A, *wanted; /* of the columns of tasks */
    double *y, *mean;   /* nv */
} Saved;

typedef struct {
    const Problem *problem;
    const WboscSettings *settings;
    ProblemRows rows;
    Mobility mobility;
    SpringMemory springs;
    Eigensolver eigensolver;
    double *L;        /* nv x nv, M = L^T L */
    double *h;        /* nv, then whitened */
    double *efforts;  /* nv: f */
    double *free;     /* passive x passive: W by rows */
    Columns K;        /* nv x rows of constraints: Jc^T */
    Chain levels;     /* in u */
    Chain pushes;     /* in the columns without a motor: what contacts push there */
    Chain shares;     /* in lambda */
    Saved saved;
} Wbosc;

/* wbosc.c: memory for a problem; and one cycle. If it is not SOLVED, nothing in the output counts. */
void lay_out_wbosc(Wbosc *wbosc, Arena *arena, const Problem *problem, Dsyevd dsyevd);
Verdict solve_wbosc(Wbosc *wbosc, const Snapshot *now, Output out);

/* pushes.c: the directions of columns without a motor in which no contact pushes either, into wbosc->free; how many they
 * are. `bound` is whether contacts have no freedom left among themselves: P Jc^T has full column rank. */
int find_free_directions(Wbosc *wbosc, bool *bound);

/* pushes.c: columns that speak of u itself: of the free directions, and of centres of pressure that are motion. */
void fill_effort_columns(Wbosc *wbosc, const Snapshot *now, int free, bool bound);

/* mobility.c: measure the rows of tasks, by what constraints and motors leave; the least mobile row of a level. */
void measure_mobility(Wbosc *wbosc);
double level_mobility(const Wbosc *wbosc, int first, int end);

/* springs.c: take from what the rows of a level want what would need more force than their springs may have. The greatest
 * mu / mobility, at most 1. */
double bound_springs(Wbosc *wbosc, int first, int end);

/* singular.c: solve the levels of tasks, with singular directions truncated, or shared between levels. */
void solve_truncated(Wbosc *wbosc);
void solve_shared(Wbosc *wbosc);

/* sharing.c: lambda and tau. */
void share_out(Wbosc *wbosc, const Snapshot *now, Output out);

#endif
