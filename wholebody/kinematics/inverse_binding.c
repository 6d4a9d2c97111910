/* inverse_binding.c - iterative inverse kinematics in Python: the handle of a solver with all its memory. */
#include "wholebody/binding.h"
#include "wholebody/kinematics/inverse.h"
#include "wholebody/model/binding.h"

#define INVERSE_HANDLE "wholebody.InverseKinematics"

typedef struct {
    Borrowed arrays; /* of the problem, and of the model's tree */
    Solver solver;
    double memory[]; /* inverse_size doubles */
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
    problem->frame = attribute(arrays, given, "frame", goals, true);
    problem->tolerance = attribute(arrays, given, "tolerance", 2 * goals, false);
    problem->axes = attribute(arrays, given, "axes", 3 * goals, false);
    problem->row = attribute(arrays, given, "row", 3 * rows, true);
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
    for (int goal = 0; !PyErr_Occurred() && goal < problem->goals; goal++)
        problem->weighs = problem->weighs || problem->frame[goal] < 0;
}

/* Whether every index of a problem leads to something; a Python error if not. */
static bool is_problem(const Problem *problem)
{
    const Tree *tree = &problem->tree;
    int64_t support = problem->support;
    if (!all_within(problem->frame, problem->goals, -1, tree->frames, "frame") ||
        !all_within(problem->variable, tree->nv, -1, problem->variables, "variable") ||
        !all_within(problem->place, problem->variables, -1, tree->nq, "place") ||
        !all_within(&support, 1, -1, tree->frames, "support"))
        return false;
    for (int i = 0; i < problem->rows; i++) {
        const int64_t *row = problem->row[i];
        if (!all_within(row, 1, 0, problem->goals, "goals of rows") || !all_within(row + 1, 1, 0, COM + 1, "kinds of rows") ||
            !all_within(row + 2, 1, 0, 3, "axes of rows"))
            return false;
        if ((row[1] == COM) != (problem->frame[row[0]] < 0)) {
            PyErr_SetString(PyExc_ValueError, "a row is of a frame, or of the centre of mass, and its goal is not");
            return false;
        }
    }
    return true;
}

static PyObject *kinematics_inverse(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    const Tree *tree = takes(3, count, "kinematics_inverse") ? tree_of(arguments[0]) : NULL;
    if (!tree)
        return NULL;
    PyObject *given = arguments[1], *capsule = NULL;
    Problem problem = {.tree = *tree, .goals = length(given, "frame"), .rows = length(given, "scale"),
                       .variables = length(given, "place"), .throws = length(given, "seeds")};
    Settings settings = settings_of(arguments[2]);
    InverseHandle *handle;
    if (!PyErr_Occurred() && problem.rows > 0 && problem.variables > 0)
        capsule = new_handle(sizeof *handle + sizeof(double) * inverse_size(&problem), INVERSE_HANDLE, (void **)&handle);
    else if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "a problem has rows and variables");
    if (!capsule)
        return NULL;
    keep(&handle->arrays, arguments[0]);
    borrow_problem(&handle->arrays, given, &problem);
    if (PyErr_Occurred() || !is_problem(&problem)) {
        Py_DECREF(capsule);
        return NULL;
    }
    handle->solver = (Solver){problem, settings, work_in(&problem, handle->memory)};
    return capsule;
}

static PyObject *kinematics_inverse_solve(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (!takes(5, count, "kinematics_inverse_solve"))
        return NULL;
    InverseHandle *handle = handle_of(arguments[0], INVERSE_HANDLE);
    if (!handle)
        return NULL;
    Problem *problem = &handle->solver.problem;
    Borrowed arrays = {0};
    Outcome outcome = {0};
    History history = {0};
    Py_ssize_t goals = problem->goals, nq = problem->tree.nq;
    const double *targets = borrow_numbers(&arrays, arguments[1], 12 * goals, "targets");
    double *q = targets ? borrow_written(&arrays, arguments[2], nq, "q") : NULL;
    double *gaps = q ? borrow_written(&arrays, arguments[3], 6 * goals, "gaps") : NULL;
    history.rows = gaps ? borrow_written(&arrays, arguments[4], ANY, "history") : NULL;
    if (history.rows) {
        history.capacity = (int)(borrowed_count(&arrays) / (nq + 1));
        problem->target = (const double (*)[12])targets;
        Py_BEGIN_ALLOW_THREADS
        outcome = solve_inverse(&handle->solver, q, gaps, &history);
        Py_END_ALLOW_THREADS
        problem->target = NULL;
    }
    bool solved = history.rows != NULL;
    give_back(&arrays);
    return solved ? Py_BuildValue("iiii", (int)outcome.ending, outcome.iterations, outcome.restarts, history.count)
                  : NULL;
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
     "kinematics_inverse_solve(solver, targets, q, gaps, history): ending, iterations, restarts, rows of history."},
    {"kinematics_rotation_gap", METHOD(kinematics_rotation_gap),
     "kinematics_rotation_gap(to, at): the rotation vector of R* R^T, R* in nine numbers, R in a 4 x 4 placement."},
    {0},
};
