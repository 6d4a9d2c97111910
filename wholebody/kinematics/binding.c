/* binding.c - the closed form in Python: the handle of a chain, one pose or many; and a step of least squares. */
#include "wholebody/kinematics/binding.h"

#include <math.h>
#include <string.h>

#include "wholebody/kinematics/least_squares.h"

enum { AFTER_JOINTS = 3 /* columns of a branch: within limits, m, rad */, AFTER_NEAREST = 18 /* pose, m, rad */ };

static PyObject *kinematics_closed_form(Given *given)
{
    ClosedFormHandle *handle;
    const double *numbers = given_numbers(given, 0, sizeof(ClosedForm) / 8, "chain");
    PyObject *capsule = new_handle(given, sizeof *handle, CLOSED_FORM_HANDLE, (void **)&handle);
    if (!capsule)
        return NULL;
    memcpy(&handle->chain, numbers, sizeof(ClosedForm));
    if (!(handle->chain.joints >= 4 && handle->chain.joints <= MOST_JOINTS))
        refuse(given, "the closed form has 4, 5 or 6 joints");
    return capsule;
}

/* Rows of so many numbers, which are counted. */
static const double *given_rows(Given *given, int index, Py_ssize_t width, Py_ssize_t *rows, const char *name)
{
    const double *found = given_numbers(given, index, ANY, name);
    *rows = given_count(given) / width;
    if (given_count(given) % width != 0)
        refuse(given, "%s has %zd elements, which are no rows of %zd", name, given_count(given), width);
    return found;
}

static PyObject *kinematics_forward(Given *given)
{
    const ClosedForm *chain = given_closed_form(given, 0);
    if (!chain)
        return NULL;
    Py_ssize_t rows;
    const double *joints = given_rows(given, 1, (Py_ssize_t)chain->joints, &rows, "joints");
    double *poses = given_written(given, 2, 16 * rows, "poses");
    for (Py_ssize_t i = 0; i < rows && !given->failed; i++)
        forward_kinematics(chain, joints + i * chain->joints, poses + 16 * i);
    return nothing();
}

/* A pose: an array of float64, 4 x 4. */
static const double *given_pose(Given *given, int index)
{
    const double *pose = given_numbers(given, index, 16, "pose");
    const Py_buffer *view = pose ? &given->arrays->views[given->arrays->count - 1] : NULL;
    if (view && (view->ndim != 2 || view->shape[0] != 4))
        refuse(given, "a pose is a 4 x 4 matrix");
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

static PyObject *kinematics_solve(Given *given)
{
    const ClosedForm *chain = given_closed_form(given, 0);
    if (!chain)
        return NULL;
    Branches found = {.count = -1};
    const double *pose = given_pose(given, 1);
    double swivel = given_number(given, 2), *table = given_written(given, 4, table_size(chain), "table");
    bool limits = given_truth(given, 3);
    if (given->failed || !all_branches(chain, pose, chain->rest, swivel, &found))
        return PyLong_FromLong(-1);
    if (limits)
        keep_within_limits(&found);
    write_branches(chain, &found, table);
    return PyLong_FromLong(found.count);
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

static PyObject *kinematics_solve_many(Given *given)
{
    const ClosedForm *chain = given_closed_form(given, 0);
    Py_ssize_t bad, rows;
    const double *poses = given_rows(given, 1, 16, &rows, "poses");
    double *table = given_written(given, 2, chain ? rows * table_size(chain) : 0, "table");
    int64_t *counts = given_written_integers(given, 3, rows, "counts");
    if (given->failed)
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    bad = solve_many(chain, rows, poses, table, counts);
    Py_END_ALLOW_THREADS
    return PyLong_FromSsize_t(bad);
}

static void write_nearest(const ClosedForm *chain, const NearestPose *found, double *answer)
{
    memcpy(answer, found->joints, sizeof(double) * (size_t)chain->joints);
    answer += chain->joints;
    memcpy(answer, found->pose, sizeof found->pose);
    answer[16] = found->distance;
    answer[17] = found->turn;
}

static PyObject *kinematics_nearest(Given *given)
{
    const ClosedForm *chain = given_closed_form(given, 0);
    Py_ssize_t n = chain ? (Py_ssize_t)chain->joints : 0;
    const double *goal = given_pose(given, 1);
    Choice choice = {.near = given_numbers(given, 2, n, "near"), .swivel = given_number(given, 3)};
    choice.radian = given_number(given, 4);
    double *answer = given_written(given, 5, n + AFTER_NEAREST, "answer");
    if (given->failed)
        return NULL;
    NearestPose found;
    NearestVerdict verdict = nearest_joints(chain, goal, choice, &found);
    if (verdict == NEAREST_FOUND)
        write_nearest(chain, &found, answer);
    return PyLong_FromLong(verdict);
}

static PyObject *kinematics_boxed_step(Given *given)
{
    double *step = given_written(given, 10, ANY, "step");
    Py_ssize_t n = given_count(given);
    const double *error = given_numbers(given, 1, ANY, "error");
    Py_ssize_t m = given_count(given);
    BoxedLeastSquares problem = {
        .n = (int)n,
        .m = (int)m,
        .J = given_numbers(given, 0, n * m, "J"),
        .error = error,
        .mobility = given_numbers(given, 2, n, "mobility"),
        .preferred = given_numbers(given, 3, n, "preferred"),
        .damping = given_number(given, 4),
        .lower = given_numbers(given, 5, n, "lower"),
        .upper = given_numbers(given, 6, n, "upper"),
    };
    StepMemory memory = {
        .stopped = given_written_integers(given, 7, n, "stopped"),
        .A = given_written(given, 8, m * m, "A"),
        .y = given_written(given, 9, m, "y"),
    };
    if (given->failed || m == 0)
        return refuse(given, "error is empty");
    boxed_step(&problem, &memory, step);
    return nothing();
}

static PyObject *kinematics_arctangent(Given *given)
{
    double y = given_number(given, 0), x = given_number(given, 1);
    return PyFloat_FromDouble(arctangent(y, x));
}

const Kernel kinematics_kernels[] = {
    {"kinematics_arctangent", kinematics_arctangent, 2},
    {"kinematics_closed_form", kinematics_closed_form, 1},
    {"kinematics_forward", kinematics_forward, 3},
    {"kinematics_solve", kinematics_solve, 5},
    {"kinematics_solve_many", kinematics_solve_many, 4},
    {"kinematics_nearest", kinematics_nearest, 6},
    {"kinematics_boxed_step", kinematics_boxed_step, 11},
    {0},
};
