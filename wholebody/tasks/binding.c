/* binding.c - tasks for Python: a handle of each, and its rows at one instant. */
#include "wholebody/tasks/binding.h"

#include <string.h>

#include "wholebody/model/binding.h"

enum { LEAST_INTEGERS = 5, BEFORE_ROWS = 3, EACH_ROW = 6, MOST_ROWS = 1 << 15 };

static PyObject *tasks_task(Given *given)
{
    TaskHandle *memory;
    PyObject *handle = new_handle(given, sizeof *memory, TASK_HANDLE, (void **)&memory);
    int64_t *integers = given_integers(given, 0, ANY, "integers");
    Py_ssize_t described = given_count(given);
    double *numbers = given_written(given, 1, ANY, "numbers");
    Py_ssize_t length = given_count(given);
    if (given->failed || described < LEAST_INTEGERS || integers[4] < 0 || integers[4] > MOST_ROWS ||
        length < BEFORE_ROWS + EACH_ROW * integers[4])
        refuse(given, "a task of %zd integers and %zd numbers is none", described, length);
    else
        memory->task = task_in(integers, (int)described, numbers, (int)length);
    return handle;
}

/* Rows are the most that the task can have, and how many there are now is returned. */
static PyObject *tasks_rows(Given *given)
{
    const Task *task = task_of(given, given->arguments[0]);
    const Tree *tree = given_tree(given, 1);
    const Snapshot *now = given_snapshot(given, 2, tree);
    if (given->failed || !task_fits(task, tree))
        return refuse(given, "the task is of another robot, or none");
    int rows = task->rows;
    double *J = given_written(given, 3, (Py_ssize_t)tree->nv * rows, "jacobian");
    double *values = given_written(given, 4, 5 * (Py_ssize_t)rows, "values");
    int *source = given->failed ? NULL : PyMem_Calloc((size_t)rows + 1, sizeof *source);
    if (!source)
        return given->failed ? NULL : PyErr_NoMemory();
    memset(J, 0, (size_t)(tree->nv * rows) * sizeof(double));
    TaskColumns out = {{J, rows}, values, values + rows, values + 2 * rows, values + 3 * rows, source};
    for (int r = 0; r < rows; r++)
        out.activation[r] = 1.0;
    int found = count_task_rows(task, tree, now);
    fill_task_rows(task, tree, now, out);
    for (int r = 0; r < found; r++)
        values[4 * rows + r] = source[r];
    PyMem_Free(source);
    return PyLong_FromLong(found);
}

const Kernel task_kernels[] = {
    {"tasks_task", tasks_task, 2},
    {"tasks_rows", tasks_rows, 5},
    {0},
};
