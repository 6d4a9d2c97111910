/* binding.c - tasks for Python: a handle of each, and its rows at one instant. */
#include "wholebody/tasks/binding.h"

#include <string.h>

#include "wholebody/model/binding.h"

enum { LEAST_INTEGERS = 5, BEFORE_ROWS = 3, EACH_ROW = 6, MOST_ROWS = 1 << 15 };

/* tasks_task(integers, numbers): what describes a task, and its parameters. */
static PyObject *tasks_task(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    (void)self;
    TaskHandle *memory;
    if (!takes(2, count, "tasks_task"))
        return NULL;
    PyObject *handle = new_handle(sizeof *memory, TASK_HANDLE, (void **)&memory);
    if (!handle)
        return NULL;
    int64_t *integers = borrow_integers(&memory->arrays, args[0], ANY, "integers");
    Py_ssize_t described = integers ? borrowed_count(&memory->arrays) : 0;
    double *numbers = integers ? borrow_written(&memory->arrays, args[1], ANY, "numbers") : NULL;
    if (!numbers)
        goto failed;
    Py_ssize_t length = borrowed_count(&memory->arrays);
    if (described < LEAST_INTEGERS || integers[4] < 0 || integers[4] > MOST_ROWS ||
        length < BEFORE_ROWS + EACH_ROW * integers[4]) {
        PyErr_Format(PyExc_ValueError, "a task of %zd integers and %zd numbers is none", described, length);
        goto failed;
    }
    memory->task = task_in(integers, (int)described, numbers, (int)length);
    return handle;
failed:
    Py_DECREF(handle);
    return NULL;
}

/* tasks_rows(task, tree, snapshot, jacobian, values): the transposed Jacobian, nv x rows, and 5 x rows: error, velocity,
 * bias, activation, and which row of the task each is; rows are the most that the task can have, and how many there
 * are now is returned. */
static PyObject *tasks_rows(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    (void)self;
    Borrowed borrowed = {0};
    if (!takes(5, count, "tasks_rows"))
        return NULL;
    const Task *task = task_of(args[0]);
    const Tree *tree = task ? tree_of(args[1]) : NULL;
    const Snapshot *now = tree ? snapshot_of(args[2], tree) : NULL;
    if (now && !task_fits(task, tree)) {
        PyErr_SetString(PyExc_ValueError, "the task is of another robot, or none");
        return NULL;
    }
    if (!now)
        return NULL;
    int rows = task->rows, found = 0;
    int *source = PyMem_Calloc((size_t)rows + 1, sizeof *source);
    double *J = source ? borrow_written(&borrowed, args[3], (Py_ssize_t)tree->nv * rows, "jacobian") : NULL;
    double *values = J ? borrow_written(&borrowed, args[4], 5 * (Py_ssize_t)rows, "values") : NULL;
    if (values) {
        memset(J, 0, (size_t)(tree->nv * rows) * sizeof(double));
        TaskColumns out = {{J, rows}, values, values + rows, values + 2 * rows, values + 3 * rows, source};
        for (int r = 0; r < rows; r++)
            out.activation[r] = 1.0;
        found = count_task_rows(task, tree, now);
        fill_task_rows(task, tree, now, out);
        for (int r = 0; r < found; r++)
            values[4 * rows + r] = source[r];
    }
    PyMem_Free(source);
    give_back(&borrowed);
    return values ? PyLong_FromLong(found) : NULL;
}

PyMethodDef tasks_methods[] = {
    {"tasks_task", METHOD(tasks_task), NULL},
    {"tasks_rows", METHOD(tasks_rows), NULL},
    {0},
};
