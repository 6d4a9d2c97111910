/* binding.h - the handle of a problem, for the bindings of controllers. */
#ifndef WHOLEBODY_CONTROL_BINDING_H
#define WHOLEBODY_CONTROL_BINDING_H

#include "wholebody/control/problem.h"
#include "wholebody/model/binding.h"

#define PROBLEM_HANDLE "wholebody.Problem"

/* It keeps the tree, and the handles of all tasks and constraints. A controller's handle keeps the problem's: see
 * `keep` in wholebody/binding.h. */
typedef struct {
    Borrowed arrays;
    Problem problem;
} ProblemHandle;

/* The problem of a handle, or NULL with a Python error. */
static inline const Problem *problem_of(PyObject *handle)
{
    ProblemHandle *found = handle_of(handle, PROBLEM_HANDLE);
    return found ? &found->problem : NULL;
}

#endif
