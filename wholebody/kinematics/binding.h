/* binding.h - the handle of a closed form, for the bindings of packages that use one. */
#ifndef WHOLEBODY_KINEMATICS_BINDING_H
#define WHOLEBODY_KINEMATICS_BINDING_H

#include "wholebody/binding.h"
#include "wholebody/kinematics/closed_form.h"

#define CLOSED_FORM_HANDLE "wholebody.ClosedForm"

typedef struct {
    Borrowed arrays; /* none: the chain is a copy */
    ClosedForm chain;
} ClosedFormHandle;

/* The chain of a handle, or NULL with a Python error. */
static inline const ClosedForm *given_closed_form(Given *given, int index)
{
    ClosedFormHandle *found = given_handle(given, index, CLOSED_FORM_HANDLE);
    return found ? &found->chain : NULL;
}

#endif
