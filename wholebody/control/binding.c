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

static void add_task(Given *given, Building *build, PyObject *handle, int index)
{
    const int64_t *line = build->lines + OF_TASK * index;
    Problem *problem = &build->handle.problem;
    const Task *task = task_of(given, handle);
    if (!task)
        return;
    int64_t own = task->kind == TASK_CUSTOM ? line[3] : 0;
    int64_t owned = task->kind == TASK_CUSTOM ? (int64_t)task->rows * (problem->nv + 3) : 0;
    bool fits = task_fits(task, problem->tree) && line[0] >= problem->level_count - 1 && line[0] < MOST_LEVELS &&
                line[0] >= 0 && speaks_of_contacts(build, task, line + 1) && own >= 0 && own + owned <= build->own_count;
    if (!fits) {
        refuse(given, "task %d does not fit the robot, or its line the problem", index);
        return;
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
}

static void add_constraint(Given *given, Building *build, PyObject *handle, int index)
{
    const int64_t *line = build->lines + OF_TASK * build->handle.problem.task_count + OF_CONSTRAINT * index;
    const Constraint *constraint = constraint_of(given, handle);
    if (!constraint)
        return;
    bool custom = constraint->kind == CONSTRAINT_CUSTOM;
    int64_t own = custom ? line[0] : 0;
    int64_t owned = custom ? (int64_t)constraint->rows * (build->handle.problem.nv + 1) : 0;
    if (!constraint_fits(constraint, build->handle.problem.tree) || own < 0 || own + owned > build->own_count) {
        refuse(given, "constraint %d does not fit the robot, or its line the problem", index);
        return;
    }
    build->constraints[index] = (ProblemConstraint){constraint, build->own + own};
    build->handle.problem.constraint_rows += constraint->rows;
}

/* The arrays that a problem points into. */
static void take_arrays(Given *given, Building *build)
{
    Problem *problem = &build->handle.problem;
    Py_ssize_t lines = OF_TASK * (Py_ssize_t)problem->task_count + OF_CONSTRAINT * (Py_ssize_t)problem->constraint_count;
    build->lines = given_integers(given, 3, lines, "lines");
    problem->passive = given_integers(given, 4, ANY, "passive");
    problem->passive_count = (int)given_count(given);
    if (problem->passive_count > problem->nv)
        refuse(given, "passive has more columns than the robot");
    problem->driven_count = problem->nv - problem->passive_count;
    problem->driven = given_integers(given, 5, problem->driven_count, "driven");
    build->own = given_numbers(given, 6, ANY, "own");
    build->own_count = given_count(given);
    all_within(given, problem->passive, problem->passive_count, 0, problem->nv, "passive");
    all_within(given, problem->driven, problem->driven_count, 0, problem->nv, "driven");
}

/* See Building. Tree, tasks and constraints are kept. */
static PyObject *control_problem(Given *given)
{
    PyObject *const *args = given->arguments;
    const Tree *tree = given_tree(given, 0);
    Py_ssize_t tasks = tree ? PyTuple_Size(args[1]) : -1, constraints = tasks >= 0 ? PyTuple_Size(args[2]) : -1;
    PyObject *kept = constraints >= 0 ? PyTuple_Pack(3, args[0], args[1], args[2]) : NULL;
    if (!kept)
        return NULL;
    size_t size = sizeof(Building) + (size_t)tasks * sizeof(ProblemTask) +
                  (size_t)constraints * sizeof(ProblemConstraint);
    Building *build;
    PyObject *handle = new_handle(given, size, PROBLEM_HANDLE, (void **)&build);
    if (handle)
        keep(&build->handle.arrays, kept);
    Py_DECREF(kept);
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
    take_arrays(given, build);
    for (int i = 0; i < constraints && !given->failed; i++)
        add_constraint(given, build, PyTuple_GetItem(args[2], i), i);
    for (int i = 0; i < tasks && !given->failed; i++)
        add_task(given, build, PyTuple_GetItem(args[1], i), i);
    problem->most_columns = problem->constraint_rows + problem->passive_count + problem->motion_rows;
    return handle;
}

static PyObject *control_changes(Given *given)
{
    const Problem *problem = given_problem(given, 0);
    double *seen = given_written(given, 1, problem ? count_parameters(problem) : 0, "seen");
    double motion_jump = given_number(given, 2), force_jump = given_number(given, 3);
    return given->failed ? NULL : PyLong_FromLong(find_changes(problem, seen, motion_jump, force_jump));
}

const Kernel control_kernels[] = {
    {"control_changes", control_changes, 4},
    {"control_problem", control_problem, 7},
    {0},
};
