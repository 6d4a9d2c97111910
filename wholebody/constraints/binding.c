/* binding.c - constraints for Python: a handle of each, and its rows at one instant. */
#include "wholebody/constraints/binding.h"

#include <string.h>

#include "wholebody/model/binding.h"

enum { LEAST_INTEGERS = 3, MOST_ROWS = 1 << 15 };

static PyObject *constraints_constraint(Given *given)
{
    ConstraintHandle *memory;
    PyObject *handle = new_handle(given, sizeof *memory, CONSTRAINT_HANDLE, (void **)&memory);
    int64_t *integers = given_integers(given, 0, ANY, "integers");
    Py_ssize_t described = given_count(given);
    double *numbers = given_written(given, 1, ANY, "numbers");
    Py_ssize_t length = given_count(given);
    if (given->failed || described < LEAST_INTEGERS || length < 1 || integers[2] < 0 || integers[2] > MOST_ROWS)
        refuse(given, "a constraint of %zd integers and %zd numbers is none", described, length);
    else
        memory->constraint = constraint_in(integers, (int)described, numbers, (int)length);
    if (!given->failed)
        memory->constraint.place = &memory->place;
    return handle;
}

static PyObject *constraints_rows(Given *given)
{
    const Constraint *constraint = constraint_of(given, given->arguments[0]);
    const Tree *tree = given_tree(given, 1);
    const Snapshot *now = given_snapshot(given, 2, tree);
    if (given->failed || !constraint_fits(constraint, tree))
        return refuse(given, "the constraint is of another robot, or none");
    int rows = constraint->rows;
    double *J = given_written(given, 3, (Py_ssize_t)tree->nv * rows, "jacobian");
    double *bias = given_written(given, 4, rows, "bias");
    if (given->failed)
        return NULL;
    memset(J, 0, (size_t)(tree->nv * rows) * sizeof(double));
    fill_constraint_rows(constraint, tree, now, (ConstraintColumns){{J, rows}, bias});
    return nothing();
}

static PyObject *constraints_release(Given *given)
{
    const Constraint *constraint = constraint_of(given, given->arguments[0]);
    if (constraint)
        constraint->place->known = false;
    return nothing();
}

const Kernel constraint_kernels[] = {
    {"constraints_constraint", constraints_constraint, 2},
    {"constraints_rows", constraints_rows, 5},
    {"constraints_release", constraints_release, 1},
    {0},
};
