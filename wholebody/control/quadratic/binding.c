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

/* Whether contacts and pairs lead to constraints, rows and frames that are there. */
static bool is_given(const Problem *problem, const Given *given)
{
    for (int i = 0; i < given->contact_count; i++) {
        const ContactLimits *contact = &given->contacts[i];
        if (!all_within(&contact->constraint, 1, 0, problem->constraint_count, "constraints of contacts") ||
            !all_within(&contact->frame, 1, -1, problem->tree->frames, "frames of contacts") ||
            !all_within(&contact->rows, 1, 0, given->contact_rows + 1, "rows of contacts") ||
            !all_within(&contact->first, 1, 0, given->contact_rows - contact->rows + 1, "first rows of contacts"))
            return false;
    }
    return all_within((const int64_t *)given->pair_frames, 2 * (Py_ssize_t)given->pair_count, 0, problem->tree->frames,
                      "frames of pairs");
}

/* What a controller is given: settings, weights, contacts, contact rows, frames of pairs, gaps. */
static bool borrow_given(Borrowed *arrays, Quadratic *q, PyObject *tuple)
{
    PyObject *of[GIVEN];
    for (int i = 0; i < GIVEN; i++)
        if (!(of[i] = PyTuple_GetItem(tuple, i)))
            return false;
    const Problem *problem = q->problem;
    Given *given = &q->given;
    Py_ssize_t settings = BEFORE_LIMITS + JOINT_LIMITS * (Py_ssize_t)problem->joints;
    if (!(given->settings = (const QuadraticSettings *)borrow_numbers(arrays, of[0], settings, "settings")) ||
        !(given->weights = borrow_numbers(arrays, of[1], problem->task_count, "weights")) ||
        !(given->contacts = (const ContactLimits *)borrow_integers(arrays, of[2], ANY, "contacts")))
        return false;
    given->contact_count = (int)(borrowed_count(arrays) / OF_CONTACT);
    if (!(given->contact_limits = (const ContactRow *)borrow_numbers(arrays, of[3], ANY, "contact_rows")))
        return false;
    given->contact_rows = (int)(borrowed_count(arrays) / OF_CONTACT_ROW);
    if (!(given->pair_frames = (const int64_t (*)[2])borrow_integers(arrays, of[4], ANY, "pair_frames")))
        return false;
    given->pair_count = (int)(borrowed_count(arrays) / 2);
    given->gaps = (const Gap *)borrow_numbers(arrays, of[5], OF_GAP * (Py_ssize_t)given->pair_count, "gaps");
    return given->gaps && is_given(problem, given);
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
static bool borrow_memory(Borrowed *arrays, Quadratic *q, PyObject *tuple)
{
    PyObject *of[MEMORY];
    for (int i = 0; i < MEMORY; i++)
        if (!(of[i] = PyTuple_GetItem(tuple, i)))
            return false;
    Py_ssize_t pairs = q->given.pair_count, rows = first_pair_row(q) + pairs, unknowns = q->unknowns;
    ActiveSet *active = &q->active;
    Limits *limits = &q->limits;
    double *bounds, *blend;
    if (!(bounds = borrow_written(arrays, of[0], OF_LIMIT * rows, "limits")) ||
        !(limits->gradients = borrow_written(arrays, of[1], rows * unknowns, "gradients")) ||
        !(active->losses = borrow_written(arrays, of[2], unknowns, "losses")) ||
        !(active->measure = borrow_written(arrays, of[3], unknowns, "measure")) ||
        !(blend = borrow_written(arrays, of[4], carve_blend(&q->blend, q->problem, NULL), "blend")) ||
        !(q->pairs = borrow_written(arrays, of[5], pairs * (q->problem->nv + 2), "pairs")) ||
        !(q->counts = (Counts *)borrow_written_integers(arrays, of[6], COUNTS, "counts")) ||
        !(active->first_loss = borrow_written_integers(arrays, of[7], active->orders, "first_loss")) ||
        !(limits->listed = borrow_written_integers(arrays, of[8], rows, "listed")) ||
        !(active->row = borrow_written_integers(arrays, of[9], active->most, "active")) ||
        !(active->side = borrow_written_integers(arrays, of[10], active->most, "sides")))
        return false;
    q->pair_rate = q->pairs + pairs * q->problem->nv;
    q->pair_bias = q->pair_rate + pairs;
    limits->value = bounds;
    limits->begun = bounds + rows;
    limits->lower = bounds + 2 * rows;
    limits->upper = bounds + 3 * rows;
    limits->scale = bounds + 4 * rows;
    carve_blend(&q->blend, q->problem, blend);
    return true;
}

static void set_sizes(Quadratic *q, const Problem *problem)
{
    q->problem = problem;
    q->unknowns = problem->joints + problem->nv + problem->constraint_rows;
    q->most_levels = 2 * problem->level_count + 4;
    q->active.most = q->unknowns + 1;
    q->active.orders = q->most_levels + 1;
}

/* quadratic_problem(problem, given, memory): the handle of a problem. */
static PyObject *quadratic_problem(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (!takes(3, count, "quadratic_problem"))
        return NULL;
    const Problem *problem = problem_of(args[0]);
    if (!problem)
        return NULL;
    Borrowed arrays = {0};
    Quadratic counted = {0};
    Arena arena = {NULL, 0};
    set_sizes(&counted, problem);
    bool given = borrow_given(&arrays, &counted, args[1]);
    give_back(&arrays);
    if (!given)
        return NULL;
    lay_out_quadratic(&counted, &arena);
    QuadraticHandle *memory;
    PyObject *handle = new_handle(sizeof *memory + ALIGNED + arena.taken, QUADRATIC_HANDLE, (void **)&memory);
    if (!handle)
        return NULL;
    Quadratic *q = &memory->quadratic;
    uintptr_t behind = (uintptr_t)(memory + 1);
    arena = (Arena){(char *)(memory + 1) + (ALIGNED - behind % ALIGNED) % ALIGNED, 0};
    keep(&memory->arrays, args[0]);
    set_sizes(q, problem);
    bool borrowed = borrow_given(&memory->arrays, q, args[1]) && borrow_memory(&memory->arrays, q, args[2]);
    if (borrowed)
        lay_out_quadratic(q, &arena);
    else
        Py_CLEAR(handle);
    return handle;
}

typedef struct {
    Quadratic *quadratic;
    const Snapshot *now;
    Report report;
} Cycle;

/* A handle, a snapshot, the output, the report: slack of each limit, then the residual of each task. */
static bool open_cycle(Borrowed *borrowed, PyObject *const *args, Cycle *cycle)
{
    QuadraticHandle *handle = handle_of(args[0], QUADRATIC_HANDLE);
    cycle->now = handle ? snapshot_of(args[1], handle->quadratic.problem->tree) : NULL;
    if (!cycle->now)
        return false;
    Quadratic *q = cycle->quadratic = &handle->quadratic;
    const Problem *problem = q->problem;
    Py_ssize_t size = 6 * (Py_ssize_t)problem->joints + problem->nv + problem->constraint_rows + problem->error_rows;
    Py_ssize_t rows = first_pair_row(q) + (Py_ssize_t)q->given.pair_count;
    double *output = borrow_written(borrowed, args[2], size, "output");
    double *report = output ? borrow_written(borrowed, args[3], rows + problem->task_count, "report") : NULL;
    if (report)
        cycle->report = (Report){output_in(problem, output), report, report + rows};
    return report != NULL;
}

/* quadratic_solve(quadratic, snapshot, output, report): one cycle; a verdict. */
static PyObject *quadratic_solve(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (!takes(4, count, "quadratic_solve"))
        return NULL;
    Borrowed borrowed = {0};
    Cycle cycle;
    bool opened = open_cycle(&borrowed, args, &cycle);
    int verdict = opened ? solve_quadratic(cycle.quadratic, cycle.now, cycle.report) : 0;
    give_back(&borrowed);
    return opened ? PyLong_FromLong(verdict) : NULL;
}

/* quadratic_write(quadratic, snapshot, output, report): the command, after a fallback. */
static PyObject *quadratic_write(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (!takes(4, count, "quadratic_write"))
        return NULL;
    Borrowed borrowed = {0};
    Cycle cycle;
    bool opened = open_cycle(&borrowed, args, &cycle);
    if (opened)
        write_quadratic(cycle.quadratic, cycle.now, cycle.report);
    give_back(&borrowed);
    return opened ? Py_NewRef(Py_None) : NULL;
}

/* quadratic_blend(quadratic): solve once more, asked for what was and what the law gives; a verdict. */
static PyObject *quadratic_blend(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    QuadraticHandle *handle = takes(1, count, "quadratic_blend") ? handle_of(args[0], QUADRATIC_HANDLE) : NULL;
    return handle ? PyLong_FromLong(blend_quadratic(&handle->quadratic)) : NULL;
}

/* quadratic_evaluate(quadratic): go where the losses say; list the limits that are violated there, with their gradients,
 * and say if any are. */
static PyObject *quadratic_evaluate(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    QuadraticHandle *handle = takes(1, count, "quadratic_evaluate") ? handle_of(args[0], QUADRATIC_HANDLE) : NULL;
    if (!handle)
        return NULL;
    Quadratic *q = &handle->quadratic;
    solve_levels(q);
    bool violated = list_violated(q);
    learn_listed(q);
    return PyBool_FromLong(violated);
}

/* quadratic_constraints(quadratic, first): the first row of each constraint in the newest cycle, -1 if it was off. */
static PyObject *quadratic_constraints(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    QuadraticHandle *handle = takes(2, count, "quadratic_constraints") ? handle_of(args[0], QUADRATIC_HANDLE) : NULL;
    if (!handle)
        return NULL;
    Borrowed borrowed = {0};
    int constraints = handle->quadratic.problem->constraint_count;
    int64_t *first = borrow_written_integers(&borrowed, args[1], constraints, "first");
    for (int i = 0; first && i < constraints; i++)
        first[i] = handle->quadratic.rows.first_of_constraint[i];
    give_back(&borrowed);
    return first ? Py_NewRef(Py_None) : NULL;
}

#define SHAPES_HANDLE "wholebody.Shapes"

enum { SHAPES = 10, RANGE = 7, CLOSING = 5 };

typedef struct {
    Borrowed arrays;
    Shapes shapes;
} ShapesHandle;

/* quadratic_shapes(arrays): at, axis, radius, box, frame, then what is written: rotation, centre, half, velocity, spin. */
static PyObject *quadratic_shapes(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    PyObject *of[SHAPES], *handle = NULL;
    ShapesHandle *memory;
    if (!takes(1, count, "quadratic_shapes"))
        return NULL;
    for (int i = 0; i < SHAPES; i++)
        if (!(of[i] = PyTuple_GetItem(args[0], i)))
            return NULL;
    if (!(handle = new_handle(sizeof *memory, SHAPES_HANDLE, (void **)&memory)))
        return NULL;
    Borrowed *arrays = &memory->arrays;
    Shapes *shapes = &memory->shapes;
    shapes->frame = borrow_integers(arrays, of[4], ANY, "frame");
    Py_ssize_t n = shapes->frame ? borrowed_count(arrays) : 0;
    shapes->count = (int)n;
    bool borrowed = shapes->frame && (shapes->at = (double (*)[4][4])borrow_numbers(arrays, of[0], 16 * n, "at")) &&
                    (shapes->axis = (const double (*)[3])borrow_numbers(arrays, of[1], 3 * n, "axis")) &&
                    (shapes->radius = (const double (*)[2])borrow_numbers(arrays, of[2], 2 * n, "radius")) &&
                    (shapes->box = (const double (*)[3])borrow_numbers(arrays, of[3], 3 * n, "box")) &&
                    (shapes->rotation = (double (*)[9])borrow_written(arrays, of[5], 9 * n, "rotation")) &&
                    (shapes->centre = (double (*)[3])borrow_written(arrays, of[6], 3 * n, "centre")) &&
                    (shapes->half = (double (*)[3])borrow_written(arrays, of[7], 3 * n, "half")) &&
                    (shapes->velocity = (double (*)[3])borrow_written(arrays, of[8], 3 * n, "velocity")) &&
                    (shapes->spin = (double (*)[3])borrow_written(arrays, of[9], 3 * n, "spin"));
    if (!borrowed)
        Py_CLEAR(handle);
    return handle;
}

/* quadratic_near(shapes, snapshot, pairs, reach, near, room): place all shapes; how many pairs are near. reach is clearance,
 * braking, sudden acceleration, period. */
static PyObject *quadratic_near(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (!takes(6, count, "quadratic_near"))
        return NULL;
    ShapesHandle *handle = handle_of(args[0], SHAPES_HANDLE);
    const SnapshotHandle *snapshot = handle ? handle_of(args[1], SNAPSHOT_HANDLE) : NULL;
    if (!snapshot || !all_within(handle->shapes.frame, handle->shapes.count, 0, snapshot->frames, "frames of shapes"))
        return NULL;
    Borrowed borrowed = {0};
    const int64_t (*pairs)[2] = (const int64_t (*)[2])borrow_integers(&borrowed, args[2], ANY, "pairs");
    Py_ssize_t n = pairs ? borrowed_count(&borrowed) / 2 : 0;
    const double *reach = pairs ? borrow_numbers(&borrowed, args[3], 4, "reach") : NULL;
    int64_t *near = reach ? borrow_written_integers(&borrowed, args[4], n, "near") : NULL;
    double *room = near ? borrow_written(&borrowed, args[5], n, "room") : NULL;
    if (room && !all_within((const int64_t *)pairs, 2 * n, 0, handle->shapes.count, "pairs"))
        room = NULL;
    int found = 0;
    if (room) {
        place_shapes(&handle->shapes, &snapshot->now);
        found = list_near(&handle->shapes, pairs, (int)n, (Reach){reach[0], reach[1], reach[2], reach[3]}, near, room);
    }
    give_back(&borrowed);
    return room ? PyLong_FromLong(found) : NULL;
}

/* quadratic_capsule_distance(shapes, one, other): of the capsules of two shapes, as they were placed last. */
static PyObject *quadratic_capsule_distance(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    ShapesHandle *handle = takes(3, count, "quadratic_capsule_distance") ? handle_of(args[0], SHAPES_HANDLE) : NULL;
    if (!handle)
        return NULL;
    long one = PyLong_AsLong(args[1]), other = PyLong_AsLong(args[2]);
    if (PyErr_Occurred())
        return NULL;
    if (one < 0 || other < 0 || one >= handle->shapes.count || other >= handle->shapes.count)
        return PyErr_Format(PyExc_IndexError, "no shapes %ld and %ld", one, other);
    return PyFloat_FromDouble(capsule_distance(&handle->shapes, one, other).distance);
}

static bool read_floats(PyObject *const *args, double *numbers, int count)
{
    for (int i = 0; i < count; i++)
        numbers[i] = PyFloat_AsDouble(args[i]);
    return !PyErr_Occurred();
}

/* quadratic_velocity_range(q, v, lower, upper, fastest, braking, period): least and greatest velocity after a period. */
static PyObject *quadratic_velocity_range(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    double x[RANGE];
    if (!takes(RANGE, count, "quadratic_velocity_range") || !read_floats(args, x, RANGE))
        return NULL;
    Range range = velocity_range(x[0], x[1], (JointLimits){x[2], x[3], x[4]}, x[5], x[6]);
    return Py_BuildValue("dd", range.least, range.greatest);
}

/* quadratic_closing_range(distance, rate, least, braking, period): the least rate after a period. */
static PyObject *quadratic_closing_range(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    double x[CLOSING];
    if (!takes(CLOSING, count, "quadratic_closing_range") || !read_floats(args, x, CLOSING))
        return NULL;
    return PyFloat_FromDouble(closing_range(x[0], x[1], x[2], x[3], x[4]));
}

PyMethodDef quadratic_methods[] = {
    {"quadratic_problem", METHOD(quadratic_problem), NULL},
    {"quadratic_solve", METHOD(quadratic_solve), NULL},
    {"quadratic_blend", METHOD(quadratic_blend), NULL},
    {"quadratic_write", METHOD(quadratic_write), NULL},
    {"quadratic_evaluate", METHOD(quadratic_evaluate), NULL},
    {"quadratic_constraints", METHOD(quadratic_constraints), NULL},
    {"quadratic_shapes", METHOD(quadratic_shapes), NULL},
    {"quadratic_near", METHOD(quadratic_near), NULL},
    {"quadratic_capsule_distance", METHOD(quadratic_capsule_distance), NULL},
    {"quadratic_velocity_range", METHOD(quadratic_velocity_range), NULL},
    {"quadratic_closing_range", METHOD(quadratic_closing_range), NULL},
    {0},
};
