/* binding.h - the handle of a constraint. */
#ifndef WHOLEBODY_CONSTRAINTS_BINDING_H
#define WHOLEBODY_CONSTRAINTS_BINDING_H

#include "wholebody/binding.h"
#include "wholebody/constraints/constraints.h"

#define CONSTRAINT_HANDLE "wholebody.Constraint"

typedef struct {
    Borrowed arrays;
    Constraint constraint;
    ContactPlace place;
} ConstraintHandle;

/* The constraint of a handle, or NULL with a Python error. */
static inline const Constraint *constraint_of(PyObject *handle)
{
    ConstraintHandle *found = handle_of(handle, CONSTRAINT_HANDLE);
    return found ? &found->constraint : NULL;
}

#endif
