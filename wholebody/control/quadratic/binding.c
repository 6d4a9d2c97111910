/* binding.c - whole-body control with limits for Python: a handle of each problem, one cycle, what fallbacks need, distances
 * of links, and ranges of velocities. */
#include "wholebody/control/binding.h"
#include "wholebody/control/quadratic/distances.h"
#include "wholebody/control/quadratic/quadratic.h"

#define QUADRATIC_HANDLE "wholebody.Quadratic"

enum { BEFORE_LIMITS = 10, JOINT_LIMITS = 4, GIVEN = 6, MEMORY = 11, ALIGNED = 32 };
enum { OF_CONTACT = 4, OF_CONTACT_ROW = 8, OF_GAP = 10, OF_LIMIT = 5, COUNTS = sizeof(Counts) / sizeof(int64_t) };

/* The memory that quadratic points into follows, from a multiple of ALIGNED bytes on. */
typedef struct {
    Borrowed arrays;
    Quadratic quadratic;
} QuadraticHandle;

/* What a controller is given: settings, weights, contacts, contact rows, frames of pairs, gaps. */
static void take_given(Given *call, int index, Quadratic *q)
{
    PyObject *items[GIVEN];
    Given arrays = open_tuple(call, index, GIVEN, items);
    const Problem *problem = q->problem;
    Py_ssize_t settings = BEFORE_LIMITS + JOINT_LIMITS * (Py_ssize_t)problem->joints;
    Given *of = &arrays;
    QuadraticInput *given = &q->given;
    given->settings = (const QuadraticSettings *)given_numbers(of, 0, settings, "settings");
    given->weights = given_numbers(of, 1, problem->task_count, "weights");
    given->contacts = (const ContactLimits *)given_integers(of, 2, ANY, "contacts");
    given->contact_count = (int)(given_count(of) / OF_CONTACT);
    given->contact_limits = (const ContactRow *)given_numbers(of, 3, ANY, "contact_rows");
    given->contact_rows = (int)(given_count(of) / OF_CONTACT_ROW);
    given->pair_frames = (const int64_t (*)[2])given_integers(of, 4, ANY, "pair_frames");
    given->pair_count = (int)(given_count(of) / 2);
    given->gaps = (const Gap *)given_numbers(of, 5, OF_GAP * (Py_ssize_t)given->pair_count, "gaps");
    for (int i = 0; i < given->contact_count && !of->failed; i++) {
        const ContactLimits *contact = &given->contacts[i];
        all_within(of, &contact->constraint, 1, 0, problem->constraint_count, "constraints of contacts");
        all_within(of, &contact->frame, 1, -1, problem->tree->frames, "frames of contacts");
        all_within(of, &contact->rows, 1, 0, given->contact_rows + 1, "rows of contacts");
        all_within(of, &contact->first, 1, 0, given->contact_rows - contact->rows + 1, "first rows of contacts");
    }
    all_within(of, (const int64_t *)given->pair_frames, 2 * (Py_ssize_t)given->pair_count, 0, problem->tree->frames,
               "frames of pairs");
    close_tuple(call, of);
}

/* Where the parts of a blend stand that Python writes: share, fresh, then vectors. */
static Py_ssize_t carve_blend(Blend *blend, const Problem *problem, double *flat)
{
    int nv = problem->nv, motors = problem->driven_count, held = problem->constraint_rows;
    if (flat) {
        blend->share = flat;
        blend->fresh = flat + 1;
        blend->acceleration = flat + 2;
        blend->borne = blend->acceleration + nv;
        blend->effort = blend->borne + nv;
        blend->force = blend->effort + motors;
        blend->added = blend->force + held;
    }
    return 2 + 2 * (Py_ssize_t)nv + motors + held + problem->constraint_count;
}

/* Memory that Python sees too: limits, gradients, losses, measure, blend, pairs; counts, first losses, listed, rows,
 * sides. */
static void take_memory(Given *call, int index, Quadratic *q)
{
    PyObject *items[MEMORY];
    Given arrays = open_tuple(call, index, MEMORY, items), *of = &arrays;
    Py_ssize_t pairs = q->given.pair_count, rows = first_pair_row(q) + pairs, unknowns = q->unknowns;
    ActiveSet *active = &q->active;
    Limits *limits = &q->limits;
    double *bounds = given_written(of, 0, OF_LIMIT * rows, "limits");
    limits->gradients = given_written(of, 1, rows * unknowns, "gradients");
    active->losses = given_written(of, 2, unknowns, "losses");
    active->measure = given_written(of, 3, unknowns, "measure");
    double *blend = given_written(of, 4, carve_blend(&q->blend, q->problem, NULL), "blend");
    q->pairs = given_written(of, 5, pairs * (q->problem->nv + 2), "pairs");
    q->counts = (Counts *)given_written_integers(of, 6, COUNTS, "counts");
    active->first_loss = given_written_integers(of, 7, active->orders, "first_loss");
    limits->listed = given_written_integers(of, 8, rows, "listed");
    active->row = given_written_integers(of, 9, active->most, "active");
    active->side = given_written_integers(of, 10, active->most, "sides");
    close_tuple(call, of);
    if (call->failed)
        return;
    q->pair_rate = q->pairs + pairs * q->problem->nv;
    q->pair_bias = q->pair_rate + pairs;
    limits->value = bounds;
    limits->begun = bounds + rows;
    limits->lower = bounds + 2 * rows;
    limits->upper = bounds + 3 * rows;
    limits->scale = bounds + 4 * rows;
    carve_blend(&q->blend, q->problem, blend);
}

static void set_sizes(Quadratic *q, const Problem *problem)
{
    q->problem = problem;
    q->unknowns = problem->joints + problem->nv + problem->constraint_rows;
    q->most_levels = 2 * problem->level_count + 4;
    q->active.most = q->unknowns + 1;
    q->active.orders = q->most_levels + 1;
}

static PyObject *quadratic_problem(Given *given)
{
    const Problem *problem = given_problem(given, 0);
    Quadratic counted = {0};
    Arena arena = {NULL, 0};
    if (!problem)
        return NULL;
    set_sizes(&counted, problem);
    take_given(given, 1, &counted);
    if (given->failed)
        return NULL;
    lay_out_quadratic(&counted, &arena);
    QuadraticHandle *memory;
    PyObject *handle = new_handle(given, sizeof *memory + ALIGNED + arena.taken, QUADRATIC_HANDLE, (void **)&memory);
    if (!handle)
        return NULL;
    Quadratic *q = &memory->quadratic;
    uintptr_t behind = (uintptr_t)(memory + 1);
    arena = (Arena){(char *)(memory + 1) + (ALIGNED - behind % ALIGNED) % ALIGNED, 0};
    keep(&memory->arrays, given->arguments[0]);
    set_sizes(q, problem);
    take_given(given, 1, q);
    take_memory(given, 2, q);
    if (!given->failed)
        lay_out_quadratic(q, &arena);
    return handle;
}

/* The problem of a handle, or NULL with a Python error. */
static Quadratic *given_quadratic(Given *given, int index)
{
    QuadraticHandle *handle = given_handle(given, index, QUADRATIC_HANDLE);
    return handle ? &handle->quadratic : NULL;
}

/* What a cycle hands back: the output, and in another array the slack of each limit, then the residual of each task. */
static Report given_report(Given *given, const Quadratic *q)
{
    Py_ssize_t rows = first_pair_row(q) + (Py_ssize_t)q->given.pair_count;
    Output output = given_output(given, 2, q->problem);
    double *report = given_written(given, 3, rows + q->problem->task_count, "report");
    return report ? (Report){output, report, report + rows} : (Report){0};
}

static PyObject *quadratic_solve(Given *given)
{
    Quadratic *q = given_quadratic(given, 0);
    if (!q)
        return NULL;
    const Snapshot *now = given_snapshot(given, 1, q->problem->tree);
    Report report = given_report(given, q);
    return given->failed ? NULL : PyLong_FromLong(solve_quadratic(q, now, report));
}

static PyObject *quadratic_write(Given *given)
{
    Quadratic *q = given_quadratic(given, 0);
    if (!q)
        return NULL;
    const Snapshot *now = given_snapshot(given, 1, q->problem->tree);
    Report report = given_report(given, q);
    if (!given->failed)
        write_quadratic(q, now, report);
    return nothing();
}

static PyObject *quadratic_blend(Given *given)
{
    Quadratic *q = given_quadratic(given, 0);
    return q ? PyLong_FromLong(blend_quadratic(q)) : NULL;
}

static PyObject *quadratic_evaluate(Given *given)
{
    Quadratic *q = given_quadratic(given, 0);
    if (!q)
        return NULL;
    solve_levels(q);
    bool violated = list_violated(q);
    learn_listed(q);
    return PyBool_FromLong(violated);
}

static PyObject *quadratic_constraints(Given *given)
{
    const Quadratic *q = given_quadratic(given, 0);
    int constraints = q ? q->problem->constraint_count : 0;
    int64_t *first = given_written_integers(given, 1, constraints, "first");
    for (int i = 0; i < constraints && first; i++)
        first[i] = q->rows.first_of_constraint[i];
    return nothing();
}

#define SHAPES_HANDLE "wholebody.Shapes"

enum { SHAPES = 10 };

typedef struct {
    Borrowed arrays;
    Shapes shapes;
} ShapesHandle;

static PyObject *quadratic_shapes(Given *given)
{
    PyObject *items[SHAPES];
    ShapesHandle *memory;
    PyObject *handle = new_handle(given, sizeof *memory, SHAPES_HANDLE, (void **)&memory);
    if (!handle)
        return NULL;
    Given arrays = open_tuple(given, 0, SHAPES, items), *of = &arrays;
    Shapes *shapes = &memory->shapes;
    shapes->frame = given_integers(of, 4, ANY, "frame");
    Py_ssize_t n = given_count(of);
    shapes->count = (int)n;
    shapes->at = (double (*)[4][4])given_numbers(of, 0, 16 * n, "at");
    shapes->axis = (const double (*)[3])given_numbers(of, 1, 3 * n, "axis");
    shapes->radius = (const double (*)[2])given_numbers(of, 2, 2 * n, "radius");
    shapes->box = (const double (*)[3])given_numbers(of, 3, 3 * n, "box");
    shapes->rotation = (double (*)[9])given_written(of, 5, 9 * n, "rotation");
    shapes->centre = (double (*)[3])given_written(of, 6, 3 * n, "centre");
    shapes->half = (double (*)[3])given_written(of, 7, 3 * n, "half");
    shapes->velocity = (double (*)[3])given_written(of, 8, 3 * n, "velocity");
    shapes->spin = (double (*)[3])given_written(of, 9, 3 * n, "spin");
    close_tuple(given, of);
    return handle;
}

static PyObject *quadratic_near(Given *given)
{
    ShapesHandle *handle = given_handle(given, 0, SHAPES_HANDLE);
    const SnapshotHandle *snapshot = given_handle(given, 1, SNAPSHOT_HANDLE);
    const int64_t (*pairs)[2] = (const int64_t (*)[2])given_integers(given, 2, ANY, "pairs");
    Py_ssize_t n = given_count(given) / 2;
    const double *reach = given_numbers(given, 3, 4, "reach");
    int64_t *near = given_written_integers(given, 4, n, "near");
    double *room = given_written(given, 5, n, "room");
    if (given->failed ||
        !all_within(given, handle->shapes.frame, handle->shapes.count, 0, snapshot->frames, "frames of shapes") ||
        !all_within(given, (const int64_t *)pairs, 2 * n, 0, handle->shapes.count, "pairs"))
        return NULL;
    place_shapes(&handle->shapes, &snapshot->now);
    return PyLong_FromLong(
        list_near(&handle->shapes, pairs, (int)n, (Reach){reach[0], reach[1], reach[2], reach[3]}, near, room));
}

static PyObject *quadratic_capsule_distance(Given *given)
{
    ShapesHandle *handle = given_handle(given, 0, SHAPES_HANDLE);
    int64_t pair[2] = {given_integer(given, 1), given_integer(given, 2)};
    if (given->failed || !all_within(given, pair, 2, 0, handle->shapes.count, "shapes"))
        return NULL;
    return PyFloat_FromDouble(capsule_distance(&handle->shapes, pair[0], pair[1]).distance);
}

static PyObject *quadratic_velocity_range(Given *given)
{
    double x[7];
    for (int i = 0; i < 7; i++)
        x[i] = given_number(given, i);
    Range range = velocity_range(x[0], x[1], (JointLimits){x[2], x[3], x[4]}, x[5], x[6]);
    return given->failed ? NULL : Py_BuildValue("dd", range.least, range.greatest);
}

static PyObject *quadratic_closing_range(Given *given)
{
    double x[5];
    for (int i = 0; i < 5; i++)
        x[i] = given_number(given, i);
    return given->failed ? NULL : PyFloat_FromDouble(closing_range(x[0], x[1], x[2], x[3], x[4]));
}

const Kernel quadratic_kernels[] = {
    {"quadratic_problem", quadratic_problem, 3},
    {"quadratic_solve", quadratic_solve, 4},
    {"quadratic_blend", quadratic_blend, 1},
    {"quadratic_write", quadratic_write, 4},
    {"quadratic_evaluate", quadratic_evaluate, 1},
    {"quadratic_constraints", quadratic_constraints, 2},
    {"quadratic_shapes", quadratic_shapes, 1},
    {"quadratic_near", quadratic_near, 6},
    {"quadratic_capsule_distance", quadratic_capsule_distance, 3},
    {"quadratic_velocity_range", quadratic_velocity_range, 7},
    {"quadratic_closing_range", quadratic_closing_range, 5},
    {0},
};
