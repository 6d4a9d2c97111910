/* binding.c - constraints for Python: a handle of each, and its rows at one instant. */
#include "wholebody/constraints/binding.h"

#include <string.h>

#include "wholebody/model/binding.h"

enum { LEAST_INTEGERS = 3, MOST_ROWS = 1 << 15 };

/* constraints_constraint(integers, numbers): what describes a constraint, and its parameters. */
static PyObject *constraints_constraint(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    (void)self;
    ConstraintHandle *memory;
    if (!takes(2, count, "constraints_constraint"))
        return NULL;
    PyObject *handle = new_handle(sizeof *memory, CONSTRAINT_HANDLE, (void **)&memory);
    if (!handle)
        return NULL;
    int64_t *integers = borrow_integers(&memory->arrays, args[0], ANY, "integers");
    Py_ssize_t described = integers ? borrowed_count(&memory->arrays) : 0;
    double *numbers = integers ? borrow_written(&memory->arrays, args[1], ANY, "numbers") : NULL;
    if (!numbers)
        goto failed;
    Py_ssize_t length = borrowed_count(&memory->arrays);
    if (described < LEAST_INTEGERS || length < 1 || integers[2] < 0 || integers[2] > MOST_ROWS) {
        PyErr_Format(PyExc_ValueError, "a constraint of %zd integers and %zd numbers is none", described, length);
        goto failed;
    }
    memory->constraint = constraint_in(integers, (int)described, numbers, (int)length);
    memory->constraint.place = &memory->place;
    return handle;
failed:
    Py_DECREF(handle);
    return NULL;
}

/* constraints_rows(constraint, tree, snapshot, jacobian, bias): the transposed Jacobian, nv x rows, and the bias. */
static PyObject *constraints_rows(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    (void)self;
    Borrowed borrowed = {0};
    if (!takes(5, count, "constraints_rows"))
        return NULL;
    const Constraint *constraint = constraint_of(args[0]);
    const Tree *tree = constraint ? tree_of(args[1]) : NULL;
    const Snapshot *now = tree ? snapshot_of(args[2], tree) : NULL;
    if (now && !constraint_fits(constraint, tree)) {
        PyErr_SetString(PyExc_ValueError, "the constraint is of another robot, or none");
        return NULL;
    }
    if (!now)
        return NULL;
    int rows = constraint->rows;
    double *J = borrow_written(&borrowed, args[3], (Py_ssize_t)tree->nv * rows, "jacobian");
    double *bias = J ? borrow_written(&borrowed, args[4], rows, "bias") : NULL;
    if (bias) {
        memset(J, 0, (size_t)(tree->nv * rows) * sizeof(double));
        fill_constraint_rows(constraint, tree, now, (ConstraintColumns){{J, rows}, bias});
    }
    give_back(&borrowed);
    return bias ? Py_NewRef(Py_None) : NULL;
}

/* constraints_release(constraint): forget where a contact is held; the next cycle notes where it is by then. */
static PyObject *constraints_release(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    (void)self;
    const Constraint *constraint = takes(1, count, "constraints_release") ? constraint_of(args[0]) : NULL;
    if (!constraint)
        return NULL;
    constraint->place->known = false;
    return Py_NewRef(Py_None);
}

PyMethodDef constraints_methods[] = {
    {"constraints_constraint", METHOD(constraints_constraint), NULL},
    {"constraints_rows", METHOD(constraints_rows), NULL},
    {"constraints_release", METHOD(constraints_release), NULL},
    {0},
};
