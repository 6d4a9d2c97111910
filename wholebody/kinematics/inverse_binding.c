/* inverse_binding.c - iterative inverse kinematics in Python: the handle of a solver with all its memory. */
#include "wholebody/binding.h"
#include "wholebody/kinematics/inverse.h"
#include "wholebody/model/binding.h"
#include "wholebody/tasks/binding.h"

#define INVERSE_HANDLE "wholebody.InverseKinematics"

typedef struct {
    Borrowed arrays; /* of the problem, and of the model's tree */
    Solver solver;
    PyObject *evaluate; /* a function of no arguments that evaluates users' own tasks; borrowed from what is kept */
    double memory[];    /* inverse_size doubles, then a Task for each goal */
} InverseHandle;

/* An attribute that is an array, borrowed by its name; NULL with a Python error, also if there is one already. */
static void *attribute(Borrowed *arrays, PyObject *object, const char *name, Py_ssize_t count, bool integers)
{
    PyObject *array = PyErr_Occurred() ? NULL : PyObject_GetAttrString(object, name);
    void *found = NULL;
    if (array && integers)
        found = borrow_integers(arrays, array, count, name);
    else if (array)
        found = borrow_numbers(arrays, array, count, name);
    Py_XDECREF(array);
    return found;
}

static double number(PyObject *object, const char *name)
{
    PyObject *value = PyErr_Occurred() ? NULL : PyObject_GetAttrString(object, name);
    double result = value ? PyFloat_AsDouble(value) : 0.0;
    Py_XDECREF(value);
    return result;
}

static int integer(PyObject *object, const char *name)
{
    PyObject *value = PyErr_Occurred() ? NULL : PyObject_GetAttrString(object, name);
    int result = value ? (int)PyLong_AsLong(value) : 0;
    Py_XDECREF(value);
    return result;
}

/* How many rows an attribute has; 0 with a Python error. */
static int length(PyObject *object, const char *name)
{
    PyObject *array = PyErr_Occurred() ? NULL : PyObject_GetAttrString(object, name);
    Py_ssize_t found = array ? PyObject_Size(array) : 0;
    Py_XDECREF(array);
    return found > 0 ? (int)found : 0;
}

static Settings settings_of(PyObject *given)
{
    return (Settings){
        .regularisation = number(given, "regularisation"),
        .locality = number(given, "locality"),
        .stall = number(given, "stall"),
        .patience = integer(given, "patience"),
        .iterations = integer(given, "iterations"),
        .homing = integer(given, "homing"),
        .transpose = integer(given, "transpose") != 0,
    };
}

/* Borrow the arrays of a problem whose sizes are known. */
static void borrow_problem(Borrowed *arrays, PyObject *given, Problem *problem)
{
    Py_ssize_t goals = problem->goals, rows = problem->rows, n = problem->variables, nv = problem->tree.nv;
    attribute(arrays, given, "integers", ANY, true);
    attribute(arrays, given, "numbers", ANY, false);
    problem->tolerance = attribute(arrays, given, "tolerance", 2 * goals, false);
    problem->row = attribute(arrays, given, "row", 2 * rows, true);
    problem->scale = attribute(arrays, given, "scale", rows, false);
    problem->variable = attribute(arrays, given, "variable", nv, true);
    problem->ratio = attribute(arrays, given, "ratio", nv, false);
    problem->place = attribute(arrays, given, "place", n, true);
    problem->lower = attribute(arrays, given, "lower", n, false);
    problem->upper = attribute(arrays, given, "upper", n, false);
    problem->home = attribute(arrays, given, "home", n, false);
    problem->mobility = attribute(arrays, given, "mobility", n, false);
    problem->seeds = attribute(arrays, given, "seeds", problem->throws * n, false);
    problem->support = integer(given, "support");
    PyObject *own_q = PyErr_Occurred() ? NULL : PyObject_GetAttrString(given, "own_q");
    problem->own.q = own_q ? borrow_written(arrays, own_q, problem->tree.nq, "own_q") : NULL;
    Py_XDECREF(own_q);
    problem->own.error = attribute(arrays, given, "own_error", rows, false);
    problem->own.J = attribute(arrays, given, "own_jacobian", nv * rows, false);
}

/* Whether a kind of task says where something is to be, in rows that never come or go. */
static bool can_be_a_goal(TaskKind kind)
{
    return kind <= TASK_CENTER_OF_MASS;
}

/* The tasks of a problem, given as a tuple of handles; a Python error if one of them is not of this robot. */
static void copy_tasks(PyObject *handles, Problem *problem, Task *tasks)
{
    for (int goal = 0; !PyErr_Occurred() && goal < problem->goals; goal++) {
        const Task *task = task_of(PyTuple_GetItem(handles, goal));
        if (task && !(task_fits(task, &problem->tree) && can_be_a_goal(task->kind)))
            PyErr_SetString(PyExc_ValueError, "a task is of another robot, or does not say where something is to be");
        if (!PyErr_Occurred())
            tasks[goal] = *task;
        problem->weighs = problem->weighs || (task && task->kind == TASK_CENTER_OF_MASS);
    }
    problem->task = tasks;
}

/* Whether the rows are those of the tasks, one after the other. */
static bool rows_are_of_tasks(const Problem *problem)
{
    int row = 0;
    for (int goal = 0; goal < problem->goals; goal++) {
        int count = count_task_rows(problem->task + goal, &problem->tree, &(Snapshot){0});
        for (int k = 0; k < count; k++, row++)
            if (row >= problem->rows || problem->row[row][0] != goal || (problem->row[row][1] & ~1))
                return false;
    }
    return row == problem->rows;
}

/* Whether every index of a problem leads to something; a Python error if not. */
static bool is_problem(const Problem *problem)
{
    const Tree *tree = &problem->tree;
    int64_t support = problem->support;
    if (!all_within(problem->variable, tree->nv, -1, problem->variables, "variable") ||
        !all_within(problem->place, problem->variables, -1, tree->nq, "place") ||
        !all_within(&support, 1, -1, tree->frames, "support"))
        return false;
    if (!rows_are_of_tasks(problem))
        PyErr_SetString(PyExc_ValueError, "the rows are not those of the tasks");
    return !PyErr_Occurred();
}

/* What a solver calls to have users' own tasks evaluated; a Python error stays until the solve ends. */
static void evaluate_own(void *context)
{
    InverseHandle *handle = context;
    if (!PyErr_Occurred())
        Py_XDECREF(PyObject_CallNoArgs(handle->evaluate));
}

static PyObject *kinematics_inverse(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    const Tree *tree = takes(3, count, "kinematics_inverse") ? tree_of(arguments[0]) : NULL;
    if (!tree)
        return NULL;
    PyObject *given = arguments[1], *capsule = NULL;
    Problem problem = {.tree = *tree, .goals = length(given, "tasks"), .rows = length(given, "scale"),
                       .variables = length(given, "place"), .throws = length(given, "seeds")};
    Settings settings = settings_of(arguments[2]);
    PyObject *tasks = PyErr_Occurred() ? NULL : PyObject_GetAttrString(given, "tasks");
    PyObject *evaluate = tasks ? PyObject_GetAttrString(given, "evaluate_own") : NULL;
    InverseHandle *handle;
    size_t numbers = inverse_size(&problem);
    if (evaluate && problem.rows > 0 && problem.variables > 0)
        capsule = new_handle(sizeof *handle + sizeof(double) * numbers + sizeof(Task) * (size_t)problem.goals,
                             INVERSE_HANDLE, (void **)&handle);
    else if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "a problem has rows and variables");
    PyObject *kept = capsule ? PyTuple_Pack(3, arguments[0], tasks, evaluate) : NULL;
    Py_XDECREF(tasks);
    Py_XDECREF(evaluate);
    if (kept) {
        keep(&handle->arrays, kept);
        Py_DECREF(kept);
        borrow_problem(&handle->arrays, given, &problem);
        copy_tasks(tasks, &problem, (Task *)(handle->memory + numbers));
        if (evaluate != Py_None)
            problem.own.evaluate = evaluate_own;
        problem.own.context = handle;
        handle->evaluate = evaluate;
    }
    if (PyErr_Occurred() || !is_problem(&problem)) {
        Py_XDECREF(capsule);
        return NULL;
    }
    handle->solver = (Solver){problem, settings, work_in(&problem, handle->memory)};
    return capsule;
}

static PyObject *kinematics_inverse_solve(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (!takes(4, count, "kinematics_inverse_solve"))
        return NULL;
    InverseHandle *handle = handle_of(arguments[0], INVERSE_HANDLE);
    if (!handle)
        return NULL;
    Problem *problem = &handle->solver.problem;
    Borrowed arrays = {0};
    Outcome outcome = {0};
    History history = {0};
    Py_ssize_t goals = problem->goals, nq = problem->tree.nq;
    double *q = borrow_written(&arrays, arguments[1], nq, "q");
    double *gaps = q ? borrow_written(&arrays, arguments[2], 2 * goals, "gaps") : NULL;
    history.rows = gaps ? borrow_written(&arrays, arguments[3], ANY, "history") : NULL;
    if (history.rows) {
        history.capacity = (int)(borrowed_count(&arrays) / (nq + 1));
        if (problem->own.evaluate) {
            outcome = solve_inverse(&handle->solver, q, gaps, &history);
        } else {
            Py_BEGIN_ALLOW_THREADS
            outcome = solve_inverse(&handle->solver, q, gaps, &history);
            Py_END_ALLOW_THREADS
        }
    }
    give_back(&arrays);
    return PyErr_Occurred() ? NULL : Py_BuildValue("iiii", (int)outcome.ending, outcome.iterations, outcome.restarts,
                                                   history.count);
}

static PyObject *kinematics_rotation_gap(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (!takes(2, count, "kinematics_rotation_gap"))
        return NULL;
    Borrowed arrays = {0};
    double gap[3];
    const double *to = borrow_numbers(&arrays, arguments[0], 9, "to");
    const double *at = to ? borrow_numbers(&arrays, arguments[1], 16, "at") : NULL;
    if (at)
        rotation_gap(to, at, gap);
    give_back(&arrays);
    return at ? Py_BuildValue("ddd", gap[0], gap[1], gap[2]) : NULL;
}

PyMethodDef inverse_methods[] = {
    {"kinematics_inverse", METHOD(kinematics_inverse),
     "kinematics_inverse(tree, problem, settings): the handle of a solver; it borrows the problem's arrays."},
    {"kinematics_inverse_solve", METHOD(kinematics_inverse_solve),
     "kinematics_inverse_solve(solver, q, gaps, history): ending, iterations, restarts, rows of history."},
    {"kinematics_rotation_gap", METHOD(kinematics_rotation_gap),
     "kinematics_rotation_gap(to, at): the rotation vector of R* R^T, R* in nine numbers, R in a 4 x 4 placement."},
    {0},
};
