/* problem.h - a problem of whole-body control for one robot: its tasks, its constraints, and their rows of one cycle.
 *
 * A Problem is made once (layout.py, binding.c) and never changes; goals, gains and states are read through it in every
 * cycle. ProblemRows is the memory that is written in a cycle, part of a controller's handle. */
#ifndef WHOLEBODY_CONTROL_PROBLEM_H
#define WHOLEBODY_CONTROL_PROBLEM_H

#include "wholebody/constraints/constraints.h"
#include "wholebody/tasks/tasks.h"

/* One task of a problem. */
typedef struct {
    const Task *task;
    int level;
    int errors_at;          /* where in the output its errors go */
    int contact[2];         /* the constraints whose forces it speaks of; -1 is none */
    const double *own;      /* a user's own rows, as Python writes them: Jacobian rows x nv, error, velocity, bias */
} ProblemTask;

/* One constraint of a problem. */
typedef struct {
    const Constraint *constraint;
    const double *own;      /* a user's own rows: Jacobian rows x nv, bias */
} ProblemConstraint;

/* Rows are counted as if everything were enabled: the most there can be. */
typedef struct {
    const Tree *tree;
    int nv, joints, base;           /* base: columns of v before the joints */
    int task_count, constraint_count, level_count;
    int constraint_rows;
    int motion_rows;                /* of tasks on motion, and of centres of pressure, which can become motion */
    int force_rows;                 /* of tasks on the forces of contacts */
    int error_rows;                 /* of all tasks: numbers of errors in the output */
    int passive_count, driven_count;
    int most_columns;               /* constraint_rows + passive_count + motion_rows */
    const ProblemTask *tasks;       /* by level */
    const ProblemConstraint *constraints;
    const int64_t *passive;         /* columns of v without a motor */
    const int64_t *driven;          /* columns of v with one */
} Problem;

/* The rows of one cycle. Vectors have `most_columns` numbers unless told: one for each column of the wide matrix in which
 * all levels stand side by side, constraints first, then directions that nothing pushes, then tasks. */
typedef struct {
    int constraint_rows;            /* of the constraints that are enabled */
    int *first_of_constraint;       /* constraint_count: its first row, -1 if it is off */
    int *first_of_task;             /* task_count: its first column, -1 without rows on motion */
    int *first_of_level;            /* level_count + 1: its first column */
    double *constraint_bias;        /* constraint_rows */
    double *error;                  /* of a task's rows, replaced by the acceleration asked for: kp e + kd (..) + .. */
    double *velocity, *bias;
    double *force;                  /* of each row that exerts one */
    double *spring;                 /* kp e + ki (integral of e) */
    double *asked;                  /* that, and what the goal's velocity and acceleration ask for */
    double *pull;                   /* kp times the limit of the error */
    double *activation;             /* how much a row counts */
    int *source;                    /* the row of its task; -1 for one on forces that became motion */
    double *spare;                  /* nv x (motion_rows + 1): Jacobians of tasks that only sense */
} ProblemRows;

/* What a controller hands back, in one flat array of Python's. */
typedef struct {
    double *effort, *position, *velocity;                               /* of each joint */
    double *unlimited_effort, *unlimited_position, *unlimited_velocity; /* of each joint */
    double *acceleration;                                               /* nv */
    double *contact;                                                    /* of each row of constraints */
    double *error;                                                      /* error_rows */
} Output;

/* How a cycle can end. beginning.py has the same numbers. */
typedef enum { SOLVED = 0, NOT_FINITE = 1, NOT_POSITIVE = 2 } Verdict;

/* Memory that is carved piece by piece from one block; `taken` counts its bytes. With a NULL block, it only counts. */
typedef struct {
    char *block;
    size_t taken;
} Arena;

/* layout.c: the next pieces of an arena, of at least one element; NULL while it only counts. */
double *take_numbers(Arena *arena, size_t count);
int *take_integers(Arena *arena, size_t count);
ProblemRows take_problem_rows(Arena *arena, const Problem *problem);
Output output_in(const Problem *problem, double *flat);

/* rows.c: count before you fill. Whether motion alone decides the forces of contacts (their rows leave no freedom among
 * themselves) is told by `bound`: then a centre of pressure is motion.
 *
 * count_constraints notes where the constraints begin that are enabled, and returns how many rows they have. Contacts that
 * are off have no place.
 * fill_constraints clears K (nv x width) and writes their Jacobians as its columns; the bias has the feedback, too.
 * count_tasks notes where levels begin, tasks after column `first`; it returns the width: first + all rows.
 * fill_tasks writes the Jacobians of tasks as columns of A from `first` on, which must be zero there; everything else goes
 * to `rows`, and errors, also of tasks that only sense, to `errors` (error_rows numbers). Columns of centres of pressure
 * that are motion stay zero: they speak of efforts, and the controller fills them. */
typedef struct {
    int first;
    bool bound;
    double period;
} TaskFilling;

int count_constraints(const Problem *problem, ProblemRows *rows);
void fill_constraints(const Problem *problem, const Snapshot *now, const ProblemRows *rows, ContactFeedback feedback,
                      Columns K);
int count_tasks(const Problem *problem, const Snapshot *now, const ProblemRows *rows, int first, bool bound);
void fill_tasks(const Problem *problem, const Snapshot *now, const ProblemRows *rows, TaskFilling filling, Columns A,
                double *errors);

/* contact_forces.c: tasks on the forces of contacts, which are rows on lambda. `acts_on_forces` is whether a task has any
 * now: it is enabled, and its contacts are. fill_force_tasks writes them as columns of A (constraint_rows x width, zero
 * there) from `first` on, and what they ask for to wanted[first ...]. */
bool acts_on_forces(const ProblemTask *task, const ProblemRows *rows);
int count_force_tasks(const Problem *problem, const ProblemRows *rows);
void fill_force_tasks(const Problem *problem, const Snapshot *now, const ProblemRows *rows, Columns A, double *wanted,
                      int first);

/* The frame of a contact that a task speaks of: 0 or 1. */
static inline int contact_frame(const Problem *problem, const ProblemTask *task, int which)
{
    return problem->constraints[task->contact[which]].constraint->frame;
}

/* limits.c: where joints will be after a period, and commands cut at what joints can do. Settings of a controller. */
typedef struct {
    bool effort, position, velocity; /* whether limits of these are enforced */
    double period;
    const double *limits; /* 4 x joints: lower, upper, velocity, effort */
} Enforced;

void enforce_limits(const Problem *problem, const Snapshot *now, Enforced enforced, Output out);

#endif
