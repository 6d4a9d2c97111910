/* inverse.h - iterative inverse kinematics: from a start to a configuration in which all goals are reached.
 *
 * The variables z are the numbers that may change: joints, joints that one motor moves counted once, and the base if it
 * is free. J has one row for each variable and one column for each coordinate of a goal, both scaled by sqrt(weight). */
#ifndef WHOLEBODY_KINEMATICS_INVERSE_H
#define WHOLEBODY_KINEMATICS_INVERSE_H

#include "wholebody/kinematics/least_squares.h"
#include "wholebody/model/model.h"

/* What a coordinate of a goal is of: a frame's position, its rotation, or the centre of mass. */
typedef enum { LINEAR = 0, ANGULAR = 1, COM = 2 } Coordinate;

typedef enum { CONVERGED = 0, STALLED = 1, OUT_OF_ITERATIONS = 2 } Ending;

/* All that stays the same from one iteration to the next. The arrays are Python's. */
typedef struct {
    Tree tree;
    int goals, rows, variables, throws;
    const int64_t *frame;          /* of each goal, -1 for the centre of mass */
    const double (*target)[12];    /* of each goal: rotation to world by rows, position in world */
    const double (*tolerance)[2];  /* of each goal: m, rad; infinite for what it does not ask for */
    const double (*axes)[3];       /* of each goal: 1 for the axes of the world on which it asks for a position */
    const int64_t (*row)[3];       /* goal, Coordinate, axis */
    const double *scale;           /* sqrt(weight) of each row */
    const int64_t *variable;       /* of each column of v: the variable that moves it, -1 if none does */
    const double *ratio;           /* of each column of v: how far it moves with its variable */
    const int64_t *place;          /* in q, of each variable; -1 for one of the base */
    const double *lower, *upper, *home, *mobility; /* of each variable; mobility is W^-1 */
    const double *seeds;           /* throws x variables: where to restart */
    int support;                   /* the frame that stays where it is while the base moves, or -1 */
    bool weighs;                   /* whether a goal is of the centre of mass */
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
    double *gap, *trial_gap;       /* goals x 6, there */
    double *error, *trial_error;   /* rows */
    double *J;                     /* variables x rows */
    double *step, *wish, *lower, *upper; /* variables */
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

/* inverse.c: from q to the best configuration, in place, and the gap of each goal there (goals x 6). */
Outcome solve_inverse(Solver *solver, double *q, double *gaps, History *history);

/* inverse_rows.c */
size_t inverse_size(const Problem *problem);
Work work_in(const Problem *problem, double *memory);
void anchor_support(const Problem *problem, Work *work, const double *q);
void look(const Problem *problem, const Work *work);
double measure(const Problem *problem, const Snapshot *now, double *gaps, double *error);
bool reached(const Problem *problem, const double *gaps);
bool goal_reached(const Problem *problem, const double *gaps, int goal);
void fill_rows(const Problem *problem, const Work *work);
void move_variables(const Problem *problem, const Work *work);
void keep_within(const Problem *problem, double *q);
void rotation_gap(const double to[9], const double at[16], double gap[3]);

#endif
