/* quadratic.h - whole-body control with limits: levels, what they leave free, and every limit as a row.
 *
 * As in wbosc.h, u = L^-T (M dv/dt + h) is the whitened effort, M = L^T L; with it goes lambda, the forces of the
 * constraints. In rotated coordinates, those of u and then those of lambda, every level decides a block of its own:
 *
 *     constraints, what nothing pushes     decided once and for all
 *     tasks on motion, level by level      X^T u = ddx* - dJ/dt v + X^T L^-T h
 *     the rest of u                        u = 0
 *     what joints without a motor need     P Jc^T lambda = P L^T u: follows from u
 *     tasks on forces, level by level      F lambda = target
 *     the rest of lambda                   tau = S (L^T u - Jc^T lambda) as small as possible
 *
 * A limit is a row on all of these. A level that cannot have all it asks for because of limits loses some: e, in
 * coordinates in which the squares of its rows grow by |e|^2. The solution is the least losses, level by level from the
 * top, that keep all limits. Where there are none, bounds on accelerations are relaxed: by how much is the loss of a level
 * above all others. */
#ifndef WHOLEBODY_QUADRATIC_H
#define WHOLEBODY_QUADRATIC_H

#include "wholebody/control/problem.h"
#include "wholebody/control/quadratic/factors.h"

/* How a cycle can end beside the verdicts of problem.h: no set of active limits was found for the law, or for the blend
 * with the law before; fallback.py goes on from there. controller.py has the same numbers. */
enum { UNSETTLED = 3, UNSETTLED_BLEND = 4 };

/* What can be changed while it runs, in one array of Python's. `strict` is 0 or 1. */
typedef struct {
    double period, task_tolerance, hard_tolerance;
    double braking;   /* acceleration that stops joints before their limits */
    double bound;     /* greatest acceleration of a joint: braking, or infinite */
    double clearance; /* between links */
    double closing;   /* acceleration that stops links before they touch */
    double strict;
    double contact_damping, contact_stiffness; /* of the feedback on constraints, 1/s and 1/s^2 */
    double limits[];  /* 4 x joints: lower, upper, velocity, effort */
} QuadraticSettings;

/* Which rows of ContactRow belong to a contact; of integers, as Python lays them out. */
typedef struct {
    int64_t constraint;
    int64_t frame; /* whose axes the wrench is in; -1 is the world */
    int64_t first, rows;
} ContactLimits;

/* wrench . (force, torque) >= least, divided by scale. */
typedef struct {
    double wrench[6], least, scale;
} ContactRow;

/* The nearest points of two links, the normal from one to the other, and their distance; infinite in an unused row. */
typedef struct {
    double point[2][3], normal[3], distance;
} Gap;

/* Everything the controller is given when a problem is made; Python owns it, and may change numbers between cycles. */
typedef struct {
    const QuadraticSettings *settings;
    const double *weights; /* of each task */
    int contact_count, contact_rows, pair_count;
    const ContactLimits *contacts;
    const ContactRow *contact_limits; /* contact_rows */
    const int64_t (*pair_frames)[2];
    const Gap *gaps;               /* pair_count */
} QuadraticInput;

/* Numbers that Python's fallback reads and writes too. */
typedef struct {
    int64_t rows;   /* of limits */
    int64_t listed; /* limits whose gradients are known */
    int64_t active; /* limits that hold as equations */
    int64_t solved; /* how often the least losses were sought */
    int64_t relaxing; /* whether bounds on accelerations may be exceeded, as little as possible, before levels lose */
    int64_t strict; /* levels that lose strictly one after the other, the last of them with all that follow */
    int64_t last;   /* the end of all losses */
} Counts;

/* All limits as rows: of each joint's motion, each motor's effort, contacts, each joint's acceleration, distances. Python
 * owns the arrays. Values and bounds are divided by `scale`, what is large for their kind. To the values of accelerations
 * is added by how much their bounds are relaxed. */
typedef struct {
    double *value, *begun;          /* of each row, now and without any losses */
    double *lower, *upper, *scale;
    double *gradients;              /* rows x unknowns: on the losses, of the rows that are known */
    int64_t *listed;                /* the rows whose gradients are known, or asked for */
    int *known;                     /* of each row: UNKNOWN, KNOWN or ASKED_FOR */
} Limits;

enum { UNKNOWN = 0, KNOWN = 1, ASKED_FOR = 2 };

/* The limits that hold as equations, and what each of them costs each level. There are at most `most`. */
typedef struct {
    int most, orders;
    int64_t *row;      /* which limits these are; Python's */
    int64_t *side;     /* 1 at a lower bound, -1 at an upper one; Python's */
    int64_t *first_loss; /* of each strict level, then the end of all; Python's */
    double *losses;    /* unknowns; Python's */
    double *measure;   /* unknowns; Python's: how great a loss counts as one, where levels lose together */
    double *M;         /* most x unknowns: gradients, rotated so that a row speaks to one level and those above */
    double *Q;         /* most x most: that rotation */
    double *gram;      /* most x most: scratch */
    double *excess;    /* of each rotated row: what losses must make up for */
    double *weight;    /* of each row: what makes its gradient one of length 1 */
    double *slack;     /* what is left of each row that cannot be met */
    double *price;     /* most x orders: how hard each row presses on slack, then on each level */
    double *before;    /* most x orders: the same where a step begins */
    double *share;     /* most: scratch */
    double *along;     /* unknowns: scratch */
    int *begin;        /* of each level: the first rotated row that speaks to it */
} ActiveSet;

/* The transition from one law to another (transitions.c). Python writes all before `rest`; zeros when there is none. */
typedef struct {
    double *share;        /* 1: alpha, from 1 to 0 */
    double *fresh;        /* 1: 1 until the differences are known; until then they are what was */
    double *acceleration; /* nv: difference of dv/dt */
    double *borne;        /* nv: Jc^T lambda of constraints that are off now */
    double *effort;       /* of each motor: difference of tau */
    double *force;        /* constraint rows: difference of lambda */
    double *added;        /* of each constraint: 1 if it was off before */
    double *rest;         /* nv: what is left of u, in rotated coordinates */
    double *loose;        /* constraint rows: what is left of lambda, in rotated coordinates */
    double *kept;         /* of each motor: the effort that is asked for where lambda is free */
} Blend;

/* The memory of one problem. Unknowns are joints, by how much their accelerations exceed their bounds, then nv, then the
 * rows of constraints. */
typedef struct {
    const Problem *problem;
    QuadraticInput given;
    Counts *counts;
    ProblemRows rows;
    Limits limits;
    ActiveSet active;
    Blend blend;
    Factors motion, force; /* of u and of lambda */
    Level *levels;
    int level_count;
    int unknowns, most_levels;
    int held;       /* rows of the constraints that are enabled */
    int free;       /* directions that nothing pushes */
    int pushed;     /* rank of what contacts push on joints without a motor */
    int width;      /* columns of motion */
    int pressed;    /* rows of tasks on forces */
    int rotated;    /* reflections of u */
    int turned;     /* reflections of lambda */
    double *L;            /* nv x nv, M = L^T L */
    double *h;            /* nv, whitened */
    Columns K;            /* nv x held: Jc^T */
    double *free_directions; /* passive x passive: W by rows, W^T P Jc^T = 0 */
    double *contact;      /* contact rows x held: what contacts can bear, on lambda */
    double *pairs;        /* pairs x nv: rows of distances; Python's, as the next two */
    double *pair_rate, *pair_bias; /* of each pair: rate of the distance, and dJ/dt v */
    double *u, *f;        /* nv: whitened efforts, M dv/dt + h */
    double *acceleration; /* nv */
    double *lambda;       /* held */
    double *gradient;     /* unknowns: scratch */
    double *on_force;     /* held: scratch */
    double *push;         /* held: scratch */
} Quadratic;

static inline int first_task_column(const Quadratic *q)
{
    return q->held + q->free;
}

static inline int first_effort_row(const Quadratic *q)
{
    return q->problem->joints;
}

static inline int first_contact_row(const Quadratic *q)
{
    return q->problem->joints + q->problem->driven_count;
}

static inline int first_acceleration_row(const Quadratic *q)
{
    return first_contact_row(q) + q->given.contact_rows;
}

static inline int first_pair_row(const Quadratic *q)
{
    return first_acceleration_row(q) + q->problem->joints;
}

/* Whether a row bounds the acceleration of a joint: it is relaxed before any other is violated. */
static inline bool bounds_acceleration(const Quadratic *q, int64_t row)
{
    return row >= first_acceleration_row(q) && row < first_pair_row(q);
}

/* levels.c: memory for a problem; the levels of a cycle, factored once; and all levels solved with their losses, with the
 * value of every limit. */
void lay_out_quadratic(Quadratic *q, Arena *arena);
int factor_levels(Quadratic *q, const Snapshot *now, double *errors);
void note_level(Quadratic *q, Level level);

/* levels.c: solve all levels, each with its losses, and evaluate all limits; NOT_FINITE if one is no number. */
int solve_levels(Quadratic *q);

/* forces.c: what contacts push on joints without a motor, the rows on lambda as rows on u, the levels of forces. */
void factor_pushes(Quadratic *q, const Snapshot *now);
void add_pushes(Quadratic *q, const double *on_force, double *on_motion);
void factor_force_levels(Quadratic *q);

/* rows.c: bounds of all limits, and rows of contacts and distances. */
void fill_limits(Quadratic *q, const Snapshot *now);
typedef struct {
    double least, greatest;
} Range;
typedef struct {
    double lower, upper, velocity;
} JointLimits;
Range velocity_range(double position, double velocity, JointLimits limits, double braking, double period);
double closing_range(double distance, double rate, double least, double braking, double period);

/* rows.c: how a limit depends on the losses. */
void fill_gradient(Quadratic *q, int row);

/* least_losses.c: which levels lose strictly, and the least losses that bring the active limits to their bounds. */
void lose_forces_with_motion(Quadratic *q);
void lose_strictly(Quadratic *q);
void find_least_losses(Quadratic *q);

/* active_set.c: from the solution without limits to the one that keeps them. */
int settle_limits(Quadratic *q);
bool list_violated(Quadratic *q);
void learn_listed(Quadratic *q);

/* transitions.c */
void keep_nothing(Quadratic *q);
void ask_for_blend(Quadratic *q);

/* cycle.c: one cycle; SOLVED, or UNSETTLED, or what went wrong. What follows a fallback: blend, then write. */
typedef struct {
    Output out;
    double *slack;    /* of each row of limits: how far it is from its bounds, negative beyond them */
    double *residual; /* of each task: what it asked for and did not get, as a length over its rows */
} Report;
int solve_quadratic(Quadratic *q, const Snapshot *now, Report report);
int blend_quadratic(Quadratic *q);
void write_quadratic(Quadratic *q, const Snapshot *now, Report report);

#endif
