/* binding.c - the closed form in Python: the handle of a chain, one pose or many; and a step of least squares. */
#include "wholebody/kinematics/binding.h"

#include <math.h>
#include <string.h>

#include "wholebody/kinematics/least_squares.h"

enum { AFTER_JOINTS = 3 /* columns of a branch: within limits, m, rad */, AFTER_NEAREST = 18 /* pose, m, rad */ };

static PyObject *kinematics_closed_form(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (!takes(1, count, "kinematics_closed_form"))
        return NULL;
    ClosedFormHandle *handle;
    PyObject *capsule = new_handle(sizeof *handle, CLOSED_FORM_HANDLE, (void **)&handle);
    if (!capsule)
        return NULL;
    const double *numbers = borrow_numbers(&handle->arrays, arguments[0], sizeof(ClosedForm) / 8, "chain");
    if (numbers)
        memcpy(&handle->chain, numbers, sizeof(ClosedForm));
    give_back(&handle->arrays);
    if (numbers && (handle->chain.joints < 4 || handle->chain.joints > MOST_JOINTS))
        PyErr_SetString(PyExc_ValueError, "the closed form has 4, 5 or 6 joints");
    if (PyErr_Occurred())
        Py_CLEAR(capsule);
    return capsule;
}

/* How many rows of that width the array that was borrowed last has, or -1 with a Python error. */
static Py_ssize_t rows_of(const Borrowed *arrays, int64_t width, const char *name)
{
    Py_ssize_t found = borrowed_count(arrays);
    if (found % width == 0)
        return found / (Py_ssize_t)width;
    PyErr_Format(PyExc_ValueError, "%s has %zd elements, which are no rows of %d", name, found, (int)width);
    return -1;
}

static PyObject *kinematics_forward(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    const ClosedForm *chain = takes(3, count, "kinematics_forward") ? closed_form_of(arguments[0]) : NULL;
    if (!chain)
        return NULL;
    Borrowed arrays = {0};
    const double *joints = borrow_numbers(&arrays, arguments[1], ANY, "joints");
    Py_ssize_t rows = joints ? rows_of(&arrays, chain->joints, "joints") : -1;
    double *poses = rows >= 0 ? borrow_written(&arrays, arguments[2], 16 * rows, "poses") : NULL;
    for (Py_ssize_t i = 0; poses && i < rows; i++)
        forward_kinematics(chain, joints + i * chain->joints, poses + 16 * i);
    give_back(&arrays);
    return poses ? Py_NewRef(Py_None) : NULL;
}

/* A pose: an array of float64, 4 x 4. */
static const double *borrow_pose(Borrowed *arrays, PyObject *array)
{
    const double *pose = borrow_numbers(arrays, array, 16, "pose");
    const Py_buffer *view = pose ? &arrays->views[arrays->count - 1] : NULL;
    if (view && (view->ndim != 2 || view->shape[0] != 4)) {
        PyErr_SetString(PyExc_ValueError, "a pose is a 4 x 4 matrix");
        return NULL;
    }
    return pose;
}

static void write_branches(const ClosedForm *chain, const Branches *found, double *table)
{
    int n = (int)chain->joints;
    for (int i = 0; i < found->count; i++, table += n + AFTER_JOINTS) {
        const Branch *branch = &found->branch[i];
        for (int k = 0; k < n; k++)
            table[k] = branch->joints[k];
        table[n] = branch->within_limits;
        table[n + 1] = branch->distance;
        table[n + 2] = branch->turn;
    }
}

/* How many numbers the table of all branches has. */
static Py_ssize_t table_size(const ClosedForm *chain)
{
    int branches = chain->joints == MOST_JOINTS ? MOST_BRANCHES : MOST_BRANCHES_OF_FEW;
    return (Py_ssize_t)branches * (Py_ssize_t)(chain->joints + AFTER_JOINTS);
}

static PyObject *kinematics_solve(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    const ClosedForm *chain = takes(5, count, "kinematics_solve") ? closed_form_of(arguments[0]) : NULL;
    if (!chain)
        return NULL;
    Borrowed arrays = {0};
    Branches found = {.count = -1};
    double swivel = PyFloat_AsDouble(arguments[2]);
    int limits = PyObject_IsTrue(arguments[3]);
    const double *pose = PyErr_Occurred() ? NULL : borrow_pose(&arrays, arguments[1]);
    double *table = pose ? borrow_written(&arrays, arguments[4], table_size(chain), "table") : NULL;
    if (table && !all_branches(chain, pose, chain->rest, swivel, &found)) {
        found.count = -1;
    } else if (table) {
        if (limits)
            keep_within_limits(&found);
        write_branches(chain, &found, table);
    }
    give_back(&arrays);
    return table ? PyLong_FromLong(found.count) : NULL;
}

/* All branches of many poses, NaN where there is none; -1, or the row that is no pose. */
static Py_ssize_t solve_many(const ClosedForm *chain, Py_ssize_t rows, const double *poses, double *table,
                             int64_t *counts)
{
    Py_ssize_t size = table_size(chain), width = (Py_ssize_t)chain->joints + AFTER_JOINTS;
    for (Py_ssize_t i = 0; i < rows; i++, poses += 16, table += size) {
        Branches found;
        if (!all_branches(chain, poses, chain->rest, NAN, &found))
            return i;
        counts[i] = found.count;
        write_branches(chain, &found, table);
        for (Py_ssize_t k = found.count * width; k < size; k++)
            table[k] = NAN;
    }
    return -1;
}

static PyObject *kinematics_solve_many(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    const ClosedForm *chain = takes(4, count, "kinematics_solve_many") ? closed_form_of(arguments[0]) : NULL;
    if (!chain)
        return NULL;
    Borrowed arrays = {0};
    const double *poses = borrow_numbers(&arrays, arguments[1], ANY, "poses");
    Py_ssize_t bad = -1, rows = poses ? rows_of(&arrays, 16, "poses") : -1;
    double *table = rows >= 0 ? borrow_written(&arrays, arguments[2], rows * table_size(chain), "table") : NULL;
    int64_t *counts = table ? borrow_written_integers(&arrays, arguments[3], rows, "counts") : NULL;
    if (counts) {
        Py_BEGIN_ALLOW_THREADS
        bad = solve_many(chain, rows, poses, table, counts);
        Py_END_ALLOW_THREADS
    }
    give_back(&arrays);
    return counts ? PyLong_FromSsize_t(bad) : NULL;
}

static void write_nearest(const ClosedForm *chain, const NearestPose *found, double *answer)
{
    memcpy(answer, found->joints, sizeof(double) * (size_t)chain->joints);
    answer += chain->joints;
    memcpy(answer, found->pose, sizeof found->pose);
    answer[16] = found->distance;
    answer[17] = found->turn;
}

static PyObject *kinematics_nearest(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    const ClosedForm *chain = takes(6, count, "kinematics_nearest") ? closed_form_of(arguments[0]) : NULL;
    if (!chain)
        return NULL;
    Borrowed arrays = {0};
    NearestPose found;
    NearestVerdict verdict = NEAREST_FOUND;
    Choice choice = {.swivel = PyFloat_AsDouble(arguments[3]), .radian = PyFloat_AsDouble(arguments[4])};
    const double *goal = PyErr_Occurred() ? NULL : borrow_pose(&arrays, arguments[1]);
    choice.near = goal ? borrow_numbers(&arrays, arguments[2], (Py_ssize_t)chain->joints, "near") : NULL;
    double *answer = NULL;
    if (choice.near)
        answer = borrow_written(&arrays, arguments[5], (Py_ssize_t)chain->joints + AFTER_NEAREST, "answer");
    if (answer) {
        verdict = nearest_joints(chain, goal, choice, &found);
        if (verdict == NEAREST_FOUND)
            write_nearest(chain, &found, answer);
    }
    give_back(&arrays);
    return answer ? PyLong_FromLong(verdict) : NULL;
}

/* Of each goal the joints nearest to it, chosen by those of the one before; -1, or the row that is no pose. */
static Py_ssize_t follow(const ClosedForm *chain, Py_ssize_t rows, const double *goals, double *near, double *answers)
{
    for (Py_ssize_t i = 0; i < rows; i++, goals += 16, answers += chain->joints + AFTER_NEAREST) {
        NearestPose found;
        Choice choice = {near, NAN, chain->radian};
        if (nearest_joints(chain, goals, choice, &found) != NEAREST_FOUND)
            return i;
        write_nearest(chain, &found, answers);
        memcpy(near, found.joints, sizeof(double) * (size_t)chain->joints);
    }
    return -1;
}

static PyObject *kinematics_follow(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    const ClosedForm *chain = takes(4, count, "kinematics_follow") ? closed_form_of(arguments[0]) : NULL;
    if (!chain)
        return NULL;
    Borrowed arrays = {0};
    const double *goals = borrow_numbers(&arrays, arguments[1], ANY, "goals");
    Py_ssize_t bad = -1, rows = goals ? rows_of(&arrays, 16, "goals") : -1, n = (Py_ssize_t)chain->joints;
    double *near = rows >= 0 ? borrow_written(&arrays, arguments[2], n, "near") : NULL;
    double *answers = near ? borrow_written(&arrays, arguments[3], rows * (n + AFTER_NEAREST), "answers") : NULL;
    if (answers) {
        Py_BEGIN_ALLOW_THREADS
        bad = follow(chain, rows, goals, near, answers);
        Py_END_ALLOW_THREADS
    }
    give_back(&arrays);
    return answers ? PyLong_FromSsize_t(bad) : NULL;
}

static PyObject *kinematics_boxed_step(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (!takes(11, count, "kinematics_boxed_step"))
        return NULL;
    Borrowed arrays = {0};
    BoxedLeastSquares problem = {.damping = PyFloat_AsDouble(arguments[4])};
    StepMemory memory = {0};
    Py_ssize_t n = 0, m = 0;
    double *step = PyErr_Occurred() ? NULL : borrow_written(&arrays, arguments[10], ANY, "step");
    if (step)
        n = borrowed_count(&arrays), problem.error = borrow_numbers(&arrays, arguments[1], ANY, "error");
    if (problem.error)
        m = borrowed_count(&arrays), problem.J = borrow_numbers(&arrays, arguments[0], n * m, "J");
    if (problem.J)
        problem.mobility = borrow_numbers(&arrays, arguments[2], n, "mobility");
    if (problem.mobility)
        problem.wish = borrow_numbers(&arrays, arguments[3], n, "wish");
    if (problem.wish)
        problem.lower = borrow_numbers(&arrays, arguments[5], n, "lower");
    if (problem.lower)
        problem.upper = borrow_numbers(&arrays, arguments[6], n, "upper");
    if (problem.upper)
        memory.stopped = borrow_written_integers(&arrays, arguments[7], n, "stopped");
    if (memory.stopped)
        memory.A = borrow_written(&arrays, arguments[8], m * m, "A");
    if (memory.A)
        memory.y = borrow_written(&arrays, arguments[9], m, "y");
    if (memory.y) {
        problem.n = (int)n, problem.m = (int)m;
        if (m > 0)
            boxed_step(&problem, &memory, step);
        else
            PyErr_SetString(PyExc_ValueError, "error is empty");
    }
    give_back(&arrays);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static PyObject *kinematics_arctangent(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (!takes(2, count, "kinematics_arctangent"))
        return NULL;
    double y = PyFloat_AsDouble(arguments[0]), x = PyFloat_AsDouble(arguments[1]);
    return PyErr_Occurred() ? NULL : PyFloat_FromDouble(arctangent(y, x));
}

PyMethodDef kinematics_methods[] = {
    {"kinematics_arctangent", METHOD(kinematics_arctangent), "kinematics_arctangent(y, x): the closed form's atan2."},
    {"kinematics_closed_form", METHOD(kinematics_closed_form), "kinematics_closed_form(chain): the handle of a chain."},
    {"kinematics_forward", METHOD(kinematics_forward), "kinematics_forward(chain, joints, poses): where the tip is."},
    {"kinematics_solve", METHOD(kinematics_solve),
     "kinematics_solve(chain, pose, swivel, limits, table): how many branches, -1 if it is no pose."},
    {"kinematics_solve_many", METHOD(kinematics_solve_many),
     "kinematics_solve_many(chain, poses, table, counts): -1, or the row that is no pose."},
    {"kinematics_nearest", METHOD(kinematics_nearest),
     "kinematics_nearest(chain, goal, near, swivel, radian, answer): 0, -1 if it is no pose, -2 if near is not finite."},
    {"kinematics_follow", METHOD(kinematics_follow),
     "kinematics_follow(chain, goals, near, answers): -1, or the row that is no pose."},
    {"kinematics_boxed_step", METHOD(kinematics_boxed_step),
     "kinematics_boxed_step(J, error, mobility, wish, damping, lower, upper, stopped, A, y, step)."},
    {0},
};
