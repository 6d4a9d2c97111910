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

/* The constraint of a handle, or NULL with a Python error; the call fails. */
static inline const Constraint *constraint_of(Given *given, PyObject *handle)
{
    ConstraintHandle *found = given->failed ? NULL : handle_of(handle, CONSTRAINT_HANDLE);
    given->failed = !found;
    return found ? &found->constraint : NULL;
}

#endif
