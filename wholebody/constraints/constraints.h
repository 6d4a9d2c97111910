/* constraints.h - constraints as kernels see them: rows that must hold, J dv/dt + dJ/dt v = -kd J v - kp e.
 *
 * Parameters are numpy's: the flat array of a `Packed` record. A user's own constraint is of kind CONSTRAINT_CUSTOM:
 * Python writes its rows. */
#ifndef WHOLEBODY_CONSTRAINTS_H
#define WHOLEBODY_CONSTRAINTS_H

#include "wholebody/model/model.h"

/* constraint.py has the same numbers. */
typedef enum {
    CONSTRAINT_CUSTOM = 0,
    CONSTRAINT_FLAT = 1,
    CONSTRAINT_POINT = 2,
    CONSTRAINT_LINE = 3,
    CONSTRAINT_OMNI_WHEEL = 4,
    CONSTRAINT_COACTUATION = 5,
    CONSTRAINT_FIXED_BASE = 6,
} ConstraintKind;

/* Where a contact has been since it was switched on. */
typedef struct {
    bool known;
    double position[3], rotation[9]; /* of its frame, in world; rotation by rows */
} ContactPlace;

/* Gains of the feedback on constraints: kd on velocities J v, in 1/s, kp on how far contacts are from their place, in
 * 1/s^2. */
typedef struct {
    double damping, stiffness;
} ContactFeedback;

/* One constraint: fixed but for its numbers. */
typedef struct {
    ConstraintKind kind;
    int frame;
    int rows;
    int joint_count;
    const int64_t *joints; /* columns of v; of a co-actuation: the master, then the slaves */
    int length;
    double *numbers;       /* the state, then the parameters that the kind has */
    ContactPlace *place;   /* of a contact; written by controllers */
} Constraint;

static inline int state_of_constraint(const Constraint *constraint)
{
    return (int)constraint->numbers[0];
}

/* Where the rows of one constraint go: its Jacobian as columns, from the first on, of a wide matrix whose entries are
 * zero; the bias with one number a row. */
typedef struct {
    Columns J; /* nv x rows: the transposed Jacobian */
    double *bias;
} ConstraintColumns;

/* evaluate.c: a constraint from the integers that constraint.py describes it by (kind, frame, rows, then its joints),
 * and its parameters; and its rows, unless they are a user's own. */
Constraint constraint_in(const int64_t *integers, int count, double *numbers, int length);

/* evaluate.c: whether a constraint has what its kind needs, and its frame and joints are of that robot. */
bool constraint_fits(const Constraint *constraint, const Tree *tree);

void fill_constraint_rows(const Constraint *constraint, const Tree *tree, const Snapshot *now, ConstraintColumns out);

/* contacts.c: add kp e to the bias of a contact, e from its place, which is where it is if it has none yet. */
void add_contact_stiffness(const Constraint *constraint, const Snapshot *now, double stiffness, double *bias);

/* contacts.c, omni_wheel.c */
void fill_contact(const Constraint *constraint, const Tree *tree, const Snapshot *now, ConstraintColumns out);
void fill_omni_wheel(const Constraint *constraint, const Tree *tree, const Snapshot *now, ConstraintColumns out);

#endif
