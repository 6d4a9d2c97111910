/* binding.c - problems of whole-body control for Python; a controller's own functions are beside its source. */
#include "wholebody/control/binding.h"

#include "wholebody/constraints/binding.h"
#include "wholebody/control/transitions.h"
#include "wholebody/tasks/binding.h"

enum { OF_TASK = 4, OF_CONSTRAINT = 1, MOST_LEVELS = 1 << 12 };

/* The memory of a problem's handle: lines of tasks and constraints after it. */
typedef struct {
    ProblemHandle handle;
    const int64_t *lines; /* of each task: level, two contacts, where in `own`; of each constraint: where in `own` */
    const double *own;
    int64_t own_count;
    ProblemTask *tasks;
    ProblemConstraint *constraints;
} Building;

/* Whether the contacts that a task on forces needs are there, and bear such forces. */
static bool speaks_of_contacts(const Building *build, const Task *task, const int64_t contact[2])
{
    int needed = is_force_task(task) ? (task->kind == TASK_INTERNAL_FORCE ? 2 : 1) : 0;
    for (int k = 0; k < 2; k++) {
        if (contact[k] >= build->handle.problem.constraint_count || (k < needed && contact[k] < 0))
            return false;
        if (contact[k] < 0 || needed == 0)
            continue;
        const Constraint *of = build->constraints[contact[k]].constraint;
        bool bears = of->kind == CONSTRAINT_FLAT || of->kind == CONSTRAINT_POINT || of->kind == CONSTRAINT_LINE;
        if (!bears || (task->kind == TASK_CENTER_OF_PRESSURE && of->kind != CONSTRAINT_FLAT))
            return false;
    }
    return true;
}

static bool add_task(Building *build, PyObject *handle, int index)
{
    const int64_t *line = build->lines + OF_TASK * index;
    Problem *problem = &build->handle.problem;
    const Task *task = task_of(handle);
    if (!task)
        return false;
    int64_t own = task->kind == TASK_CUSTOM ? line[3] : 0;
    int64_t owned = task->kind == TASK_CUSTOM ? (int64_t)task->rows * (problem->nv + 3) : 0;
    bool fits = task_fits(task, problem->tree) && line[0] >= problem->level_count - 1 && line[0] < MOST_LEVELS &&
                line[0] >= 0 && speaks_of_contacts(build, task, line + 1) && own >= 0 && own + owned <= build->own_count;
    if (!fits) {
        PyErr_Format(PyExc_ValueError, "task %d does not fit the robot, or its line the problem", index);
        return false;
    }
    build->tasks[index] = (ProblemTask){
        .task = task,
        .level = (int)line[0],
        .errors_at = problem->error_rows,
        .contact = {(int)line[1], (int)line[2]},
        .own = build->own + own,
    };
    problem->error_rows += task->rows;
    problem->level_count = (int)line[0] + 1;
    if (task->kind <= TASK_CENTER_OF_PRESSURE)
        problem->motion_rows += task->rows;
    if (is_force_task(task))
        problem->force_rows += task->rows;
    return true;
}

static bool add_constraint(Building *build, PyObject *handle, int index)
{
    const int64_t *line = build->lines + OF_TASK * build->handle.problem.task_count + OF_CONSTRAINT * index;
    const Constraint *constraint = constraint_of(handle);
    if (!constraint)
        return false;
    bool custom = constraint->kind == CONSTRAINT_CUSTOM;
    int64_t own = custom ? line[0] : 0;
    int64_t owned = custom ? (int64_t)constraint->rows * (build->handle.problem.nv + 1) : 0;
    if (!constraint_fits(constraint, build->handle.problem.tree) || own < 0 || own + owned > build->own_count) {
        PyErr_Format(PyExc_ValueError, "constraint %d does not fit the robot, or its line the problem", index);
        return false;
    }
    build->constraints[index] = (ProblemConstraint){constraint, build->own + own};
    build->handle.problem.constraint_rows += constraint->rows;
    return true;
}

/* The arrays and handles that a problem points into; all of them are kept. */
static bool borrow_problem(Building *build, PyObject *const *args)
{
    Problem *problem = &build->handle.problem;
    Borrowed *arrays = &build->handle.arrays;
    Py_ssize_t lines = OF_TASK * (Py_ssize_t)problem->task_count + OF_CONSTRAINT * (Py_ssize_t)problem->constraint_count;
    build->lines = borrow_integers(arrays, args[3], lines, "lines");
    problem->passive = build->lines ? borrow_integers(arrays, args[4], ANY, "passive") : NULL;
    if (!problem->passive)
        return false;
    problem->passive_count = (int)borrowed_count(arrays);
    if (problem->passive_count > problem->nv) {
        PyErr_SetString(PyExc_ValueError, "passive has more columns than the robot");
        return false;
    }
    problem->driven = borrow_integers(arrays, args[5], problem->nv - problem->passive_count, "driven");
    problem->driven_count = problem->nv - problem->passive_count;
    build->own = problem->driven ? borrow_numbers(arrays, args[6], ANY, "own") : NULL;
    build->own_count = build->own ? borrowed_count(arrays) : 0;
    if (build->own && (!all_within(problem->passive, problem->passive_count, 0, problem->nv, "passive") ||
                       !all_within(problem->driven, problem->driven_count, 0, problem->nv, "driven")))
        return false;
    PyObject *kept = build->own ? PyTuple_Pack(3, args[0], args[1], args[2]) : NULL;
    if (!kept)
        return false;
    keep(arrays, kept);
    Py_DECREF(kept);
    return true;
}

/* control_problem(tree, tasks, constraints, lines, passive, driven, own): tuples of handles; see Building. */
static PyObject *control_problem(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    (void)self;
    Building *build;
    if (!takes(7, count, "control_problem"))
        return NULL;
    const Tree *tree = tree_of(args[0]);
    Py_ssize_t tasks = tree ? PyTuple_Size(args[1]) : -1, constraints = tasks >= 0 ? PyTuple_Size(args[2]) : -1;
    if (constraints < 0)
        return NULL;
    size_t size = sizeof *build + (size_t)tasks * sizeof(ProblemTask) + (size_t)constraints * sizeof(ProblemConstraint);
    PyObject *handle = new_handle(size, PROBLEM_HANDLE, (void **)&build);
    if (!handle)
        return NULL;
    build->tasks = (ProblemTask *)(build + 1);
    build->constraints = (ProblemConstraint *)(build->tasks + tasks);
    Problem *problem = &build->handle.problem;
    *problem = (Problem){
        .tree = tree,
        .nv = tree->nv,
        .base = tree->floating ? 6 : 0,
        .joints = tree->nv - (tree->floating ? 6 : 0),
        .task_count = (int)tasks,
        .constraint_count = (int)constraints,
        .tasks = build->tasks,
        .constraints = build->constraints,
    };
    bool built = borrow_problem(build, args);
    for (int i = 0; built && i < constraints; i++)
        built = add_constraint(build, PyTuple_GetItem(args[2], i), i);
    for (int i = 0; built && i < tasks; i++)
        built = add_task(build, PyTuple_GetItem(args[1], i), i);
    if (built)
        problem->most_columns = problem->constraint_rows + problem->passive_count + problem->motion_rows;
    else
        Py_CLEAR(handle);
    return handle;
}

/* control_changes(problem, seen, motion_jump, force_jump): see transitions.h; `seen` has all numbers of all tasks and
 * constraints. */
static PyObject *control_changes(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    (void)self;
    Borrowed borrowed = {0};
    if (!takes(4, count, "control_changes"))
        return NULL;
    const Problem *problem = problem_of(args[0]);
    double motion_jump = problem ? PyFloat_AsDouble(args[2]) : 0.0;
    double force_jump = problem ? PyFloat_AsDouble(args[3]) : 0.0;
    if (!problem || PyErr_Occurred())
        return NULL;
    double *seen = borrow_written(&borrowed, args[1], count_parameters(problem), "seen");
    int found = seen ? find_changes(problem, seen, motion_jump, force_jump) : 0;
    give_back(&borrowed);
    return seen ? PyLong_FromLong(found) : NULL;
}

PyMethodDef control_methods[] = {
    {"control_changes", METHOD(control_changes), NULL},
    {"control_problem", METHOD(control_problem), NULL},
    {0},
};
