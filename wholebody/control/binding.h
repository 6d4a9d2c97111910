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
static inline const Problem *given_problem(Given *given, int index)
{
    ProblemHandle *found = given_handle(given, index, PROBLEM_HANDLE);
    return found ? &found->problem : NULL;
}

/* What a controller hands back, in an array of Python's. */
static inline Output given_output(Given *given, int index, const Problem *problem)
{
    int size = 6 * problem->joints + problem->nv + problem->constraint_rows + problem->error_rows;
    double *flat = given_written(given, index, size, "output");
    return flat ? output_in(problem, flat) : (Output){0};
}

#endif
