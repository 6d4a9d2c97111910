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

/* The places of a problem's fields in the tuple that Python has of it: Problem in inverse.py. */
enum {
    INTEGERS_OF_MODEL, NUMBERS_OF_MODEL, TASKS, ROW, TOLERANCE, SCALE, VARIABLE, RATIO, PLACE, LOWER, UPPER, HOME,
    MOBILITY, SEEDS, SUPPORT, EVALUATE_OWN, OWN_Q, OWN_ERROR, OWN_JACOBIAN, FIELDS
};

/* Settings in inverse.py has the same order. */
static Settings given_settings(Given *given, int index)
{
    enum { COUNT = 7 };
    PyObject *items[COUNT];
    Given of = open_tuple(given, index, COUNT, items);
    Settings settings = {
        .regularisation = given_number(&of, 0),
        .locality = given_number(&of, 1),
        .stall = given_number(&of, 2),
        .patience = (int)given_integer(&of, 3),
        .iterations = (int)given_integer(&of, 4),
        .transpose = given_truth(&of, 5),
        .homing = (int)given_integer(&of, 6),
    };
    close_tuple(given, &of);
    return settings;
}

/* How many rows an array has, or items a tuple. */
static int length(Given *of, int index)
{
    Py_ssize_t found = of->failed ? 0 : PyObject_Size(of->arguments[index]);
    of->failed = of->failed || found < 0;
    return found > 0 ? (int)found : 0;
}

/* Borrow the arrays of a problem whose sizes are known. */
static void take_problem(Given *of, Problem *problem)
{
    Py_ssize_t goals = problem->goals, rows = problem->rows, n = problem->variables, nv = problem->tree.nv;
    given_integers(of, INTEGERS_OF_MODEL, ANY, "integers");
    given_numbers(of, NUMBERS_OF_MODEL, ANY, "numbers");
    problem->row = (const int64_t (*)[2])given_integers(of, ROW, 2 * rows, "row");
    problem->tolerance = (const double (*)[2])given_numbers(of, TOLERANCE, 2 * goals, "tolerance");
    problem->scale = given_numbers(of, SCALE, rows, "scale");
    problem->variable = given_integers(of, VARIABLE, nv, "variable");
    problem->ratio = given_numbers(of, RATIO, nv, "ratio");
    problem->place = given_integers(of, PLACE, n, "place");
    problem->lower = given_numbers(of, LOWER, n, "lower");
    problem->upper = given_numbers(of, UPPER, n, "upper");
    problem->home = given_numbers(of, HOME, n, "home");
    problem->mobility = given_numbers(of, MOBILITY, n, "mobility");
    problem->seeds = given_numbers(of, SEEDS, problem->throws * n, "seeds");
    int64_t support = given_integer(of, SUPPORT);
    problem->support = (int)support;
    problem->own.q = given_written(of, OWN_Q, problem->tree.nq, "own_q");
    problem->own.error = given_numbers(of, OWN_ERROR, rows, "own_error");
    problem->own.J = given_numbers(of, OWN_JACOBIAN, nv * rows, "own_jacobian");
    all_within(of, problem->variable, nv, -1, n, "variable");
    all_within(of, problem->place, n, -1, problem->tree.nq, "place");
    all_within(of, &support, 1, -1, problem->tree.frames, "support");
}

/* Whether a kind of task says where something is to be, in rows that never come or go. */
static bool can_be_a_goal(TaskKind kind)
{
    return kind <= TASK_CENTER_OF_MASS;
}

/* The tasks of a problem, given as a tuple of handles, which must be of this robot. */
static void copy_tasks(Given *given, PyObject *handles, Problem *problem, Task *tasks)
{
    for (int goal = 0; goal < problem->goals && !given->failed; goal++) {
        const Task *task = task_of(given, PyTuple_GetItem(handles, goal));
        if (!task || !(task_fits(task, &problem->tree) && can_be_a_goal(task->kind))) {
            refuse(given, "a task is of another robot, or does not say where something is to be");
            return;
        }
        tasks[goal] = *task;
        problem->weighs = problem->weighs || task->kind == TASK_CENTER_OF_MASS;
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

/* What a solver calls to have users' own tasks evaluated; a Python error stays until the solve ends. */
static void evaluate_own(void *context)
{
    InverseHandle *handle = context;
    if (!PyErr_Occurred())
        Py_XDECREF(PyObject_CallNoArgs(handle->evaluate));
}

static PyObject *kinematics_inverse(Given *given)
{
    PyObject *items[FIELDS];
    const Tree *tree = given_tree(given, 0);
    Given of = open_tuple(given, 1, FIELDS, items);
    Problem problem = {.goals = length(&of, TASKS), .rows = length(&of, SCALE), .variables = length(&of, PLACE),
                       .throws = length(&of, SEEDS)};
    close_tuple(given, &of);
    Settings settings = given_settings(given, 2);
    if (given->failed || problem.rows == 0 || problem.variables == 0)
        return refuse(given, "a problem has rows and variables");
    problem.tree = *tree;
    InverseHandle *handle;
    size_t numbers = inverse_size(&problem);
    size_t size = sizeof *handle + sizeof(double) * numbers + sizeof(Task) * (size_t)problem.goals;
    PyObject *capsule = new_handle(given, size, INVERSE_HANDLE, (void **)&handle);
    PyObject *kept = capsule ? PyTuple_Pack(3, given->arguments[0], items[TASKS], items[EVALUATE_OWN]) : NULL;
    if (!kept) {
        Py_XDECREF(capsule);
        return NULL;
    }
    keep(&handle->arrays, kept);
    Py_DECREF(kept);
    of.arrays = given->arrays;
    take_problem(&of, &problem);
    close_tuple(given, &of);
    copy_tasks(given, items[TASKS], &problem, (Task *)(handle->memory + numbers));
    if (given->failed || !rows_are_of_tasks(&problem)) {
        refuse(given, "the rows are not those of the tasks");
        return capsule;
    }
    problem.own.evaluate = items[EVALUATE_OWN] != Py_None ? evaluate_own : NULL;
    problem.own.context = handle;
    handle->evaluate = items[EVALUATE_OWN];
    handle->solver = (Solver){problem, settings, work_in(&problem, handle->memory)};
    return capsule;
}

static PyObject *kinematics_inverse_solve(Given *given)
{
    InverseHandle *handle = given_handle(given, 0, INVERSE_HANDLE);
    if (!handle)
        return NULL;
    const Problem *problem = &handle->solver.problem;
    double *q = given_written(given, 1, problem->tree.nq, "q");
    double *gaps = given_written(given, 2, 2 * problem->goals, "gaps");
    History history = {.rows = given_written(given, 3, ANY, "history")};
    history.capacity = (int)(given_count(given) / (problem->tree.nq + 1));
    if (given->failed)
        return NULL;
    PyThreadState *released = problem->own.evaluate ? NULL : PyEval_SaveThread();
    Outcome outcome = solve_inverse(&handle->solver, q, gaps, &history);
    if (released)
        PyEval_RestoreThread(released);
    return PyErr_Occurred() ? NULL : Py_BuildValue("iiii", (int)outcome.ending, outcome.iterations, outcome.restarts,
                                                   history.count);
}

static PyObject *kinematics_rotation_gap(Given *given)
{
    double gap[3];
    const double *to = given_numbers(given, 0, 9, "to"), *at = given_numbers(given, 1, 16, "at");
    if (given->failed)
        return NULL;
    rotation_gap(to, at, gap);
    return Py_BuildValue("ddd", gap[0], gap[1], gap[2]);
}

const Kernel inverse_kernels[] = {
    {"kinematics_inverse", kinematics_inverse, 3},
    {"kinematics_inverse_solve", kinematics_inverse_solve, 4},
    {"kinematics_rotation_gap", kinematics_rotation_gap, 2},
    {0},
};
