/* inverse.h - iterative inverse kinematics: from a start to a configuration in which the errors of all tasks are zero.
 *
 * The variables z are the numbers that may change: joints, joints that one motor moves counted once, and the base if it
 * is free. J has one row for each variable and one column for each row of a task, both scaled by sqrt(weight). */
#ifndef WHOLEBODY_KINEMATICS_INVERSE_H
#define WHOLEBODY_KINEMATICS_INVERSE_H

#include "wholebody/kinematics/least_squares.h"
#include "wholebody/model/model.h"
#include "wholebody/tasks/tasks.h"

typedef enum { CONVERGED = 0, STALLED = 1, OUT_OF_ITERATIONS = 2, GOAL_TOO_FAR = 3 } Ending;

#define FARTHEST 1e6 /* m or rad: a task with a larger error at the start is taken for a mistake, as one that is none */

/* Errors and Jacobians of users' own tasks, which only Python can compute; a solve with such tasks keeps the lock. */
typedef struct {
    void (*evaluate)(void *context);
    void *context;
    double *q;                     /* nq: the configuration to look at */
    const double *error;           /* rows: of these tasks, once `evaluate` is done */
    const double *J;               /* nv x rows */
} OwnTasks;

/* All that stays the same from one iteration to the next. The arrays are Python's. */
typedef struct {
    Tree tree;
    int goals, rows, variables, throws;
    const Task *task;              /* of each goal */
    const int64_t (*row)[2];       /* of each row, goal by goal: its goal; 0 if it counts in m, 1 if in rad */
    const double (*tolerance)[2];  /* of each goal: m, rad; infinite for what it does not ask for */
    const double *scale;           /* sqrt(weight) of each row */
    const int64_t *variable;       /* of each column of v: the variable that moves it, -1 if none does */
    const double *ratio;           /* of each column of v: how far it moves with its variable */
    const int64_t *place;          /* in q, of each variable; -1 for one of the base */
    const double *lower, *upper, *home, *mobility; /* of each variable; mobility is W^-1 */
    const double *seeds;           /* throws x variables: where to restart */
    int support;                   /* the frame that stays where it is while the base moves, or -1 */
    bool weighs;                   /* whether a task is of the centre of mass */
    OwnTasks own;                  /* `evaluate` is NULL if there are none */
} Problem;

/* How to iterate. */
typedef struct {
    double regularisation, locality, stall;
    int patience, iterations, homing;
    bool transpose;
} Settings;

/* Memory of a solver, of which `inverse_size` says the number of doubles. */
typedef struct {
    Snapshot now;
    double anchor[12];             /* where the support stands: rotation by rows, position */
    double *q, *before;            /* nq: the best configuration of this descent; that before a step towards home */
    double *gap, *trial_gap;       /* goals x 2, there: m, rad */
    double *error, *trial_error;   /* rows */
    double *rates;                 /* 3 x rows: what tasks say besides */
    int *source;                   /* rows: likewise */
    double *columns;               /* nv x rows: J of the tasks, before support, couplings and weights */
    double *J;                     /* variables x rows */
    double *step, *preferred, *lower, *upper; /* variables */
    double *velocity;              /* nv */
    StepMemory memory;
} Work;

typedef struct {
    Problem problem;
    Settings settings;
    Work work;
} Solver;

/* The iterates of a solve, for who wants to see them: q and cost of each, as many as fit. */
typedef struct {
    double *rows;                  /* capacity x (nq + 1) */
    int capacity, count;
} History;

typedef struct {
    Ending ending;
    int iterations, restarts;
} Outcome;

/* inverse.c: from q to the best configuration, in place, and the gaps there (goals x 2). */
Outcome solve_inverse(Solver *solver, double *q, double *gaps, History *history);

/* inverse_rows.c */
size_t inverse_size(const Problem *problem);
Work work_in(const Problem *problem, double *memory);
void anchor_support(const Problem *problem, Work *work, const double *q);
void look(const Problem *problem, const Work *work);
double measure(const Problem *problem, const Work *work, double *gaps, double *error);
bool reached(const Problem *problem, const double *gaps);
bool goal_reached(const Problem *problem, const double *gaps, int goal);
void fill_rows(const Problem *problem, const Work *work);
void move_variables(const Problem *problem, const Work *work);
void keep_within(const Problem *problem, double *q);
void rotation_gap(const double to[9], const double at[16], double gap[3]);

#endif
