/* balance_binding.c - BalanceEstimator in Python: its handle, and one cycle of all that works together in it. */
#include "wholebody/estimation/binding.h"
#include "wholebody/model/binding.h"

typedef struct {
    Borrowed arrays;
    BalanceEstimator estimator;
    double memory[]; /* 6 x feet wrenches, then a reference for each joint */
} BalanceHandle;

/* A handle with room for so many feet and joints. */
static PyObject *new_estimator(Py_ssize_t feet, Py_ssize_t joints, BalanceHandle **handle)
{
    size_t memory = (size_t)(6 * feet + joints) * sizeof(double);
    PyObject *capsule = new_handle(sizeof **handle + memory, BALANCE_HANDLE, (void **)handle);
    if (!capsule)
        return NULL;
    (*handle)->estimator.feet = (int)feet;
    (*handle)->estimator.joints = (int)joints;
    (*handle)->estimator.wrench = (double (*)[6])(*handle)->memory;
    (*handle)->estimator.reference = (*handle)->memory + 6 * feet;
    return capsule;
}

/* Whether a field of `size` bytes from `offset` on lies in a state's record, and numbers where numbers may lie. */
static bool lies_within(int64_t offset, int64_t size, Py_ssize_t record, int64_t alignment)
{
    return offset >= 0 && offset % alignment == 0 && offset <= record && size <= record - offset;
}

/* Whether all that the layout and the places name is there; a Python error if not. */
static bool is_layout(const BalanceEstimator *estimator, Py_ssize_t record)
{
    enum { NUMBER = 8, FLAGS = 2, IMU_NUMBERS = 10, WRENCH = 6 };
    const StateLayout *at = estimator->at;
    const int64_t *joint = estimator->joint;
    int64_t most = 0;
    if (!all_within((const int64_t *)at, NUMBERS_IN(StateLayout), -1, INT32_MAX, "layout") ||
        !all_within(joint, estimator->joints, 0, INT32_MAX, "joints"))
        return false;
    for (int k = 0; k < estimator->joints; k++)
        most = joint[k] >= most ? joint[k] + 1 : most;
    bool fits = lies_within(at->position, NUMBER * most, record, NUMBER) &&
                lies_within(at->velocity, NUMBER * most, record, NUMBER) &&
                lies_within(at->reference, NUMBER * most, record, NUMBER) && lies_within(at->measured, most, record, 1);
    if (at->imu >= 0)
        fits = fits && lies_within(at->imu, NUMBER * IMU_NUMBERS, record, NUMBER) &&
               lies_within(at->imu + at->imu_measured, FLAGS, record, 1);
    for (int foot = 0; foot < estimator->feet && fits; foot++) {
        int64_t sensor = estimator->place[foot].sensor, there;
        fits = sensor >= 0 && sensor < INT32_MAX;
        there = fits ? at->force_torque + sensor * at->force_torque_size : 0;
        fits = fits && lies_within(there, NUMBER * WRENCH, record, NUMBER) &&
               lies_within(there + at->force_torque_measured, FLAGS, record, 1);
    }
    if (!fits)
        PyErr_SetString(PyExc_ValueError, "the layout is not that of the state");
    return fits;
}

/* Whether the frames of feet and IMU are those of a robot whose base floats; a Python error if not. */
static bool has_frames(const BalanceEstimator *estimator, const Tree *tree)
{
    int64_t imu = estimator->imu;
    bool fits = tree->floating && all_within(&imu, 1, 0, tree->frames, "imu");
    for (int foot = 0; foot < estimator->feet && fits; foot++)
        fits = all_within(&estimator->place[foot].ankle, 2, 0, tree->frames, "places");
    if (!fits && !PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "the robot has no floating base");
    return fits;
}

static PyObject *estimation_balance(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (!takes(10, count, "estimation_balance"))
        return NULL;
    Py_ssize_t feet = PyObject_Size(arguments[3]), joints = feet >= 0 ? PyObject_Size(arguments[2]) : -1;
    long imu = joints >= 0 ? PyLong_AsLong(arguments[9]) : -1;
    if (PyErr_Occurred())
        return NULL;
    BalanceHandle *handle;
    PyObject *capsule = new_estimator(feet, joints, &handle);
    if (!capsule)
        return NULL;
    Borrowed *arrays = &handle->arrays;
    BalanceEstimator *estimator = &handle->estimator;
    estimator->imu = (int)imu;
    estimator->state = borrow_bytes(arrays, arguments[0], ANY, "state");
    Py_ssize_t record = estimator->state ? borrowed_count(arrays) : 0;
    int64_t *at = estimator->state ? borrow_integers(arrays, arguments[1], NUMBERS_IN(StateLayout), "layout") : NULL;
    estimator->joint = at ? borrow_integers(arrays, arguments[2], joints, "joints") : NULL;
    int64_t *places =
        estimator->joint ? borrow_integers(arrays, arguments[3], NUMBERS_IN(FootPlace) * feet, "places") : NULL;
    double *geometry =
        places ? borrow_numbers(arrays, arguments[4], NUMBERS_IN(FootGeometry) * feet, "geometry") : NULL;
    double *odometry =
        geometry ? borrow_written(arrays, arguments[5], NUMBERS_IN(FootOdometry) * feet, "odometry") : NULL;
    double *memory = odometry ? borrow_written(arrays, arguments[6], NUMBERS_IN(BalanceMemory), "memory") : NULL;
    double *balance = memory ? borrow_written(arrays, arguments[7], balance_size((int)feet), "balance") : NULL;
    uint8_t *contact = balance ? borrow_written_flags(arrays, arguments[8], feet, "contact") : NULL;
    if (!contact) {
        Py_DECREF(capsule);
        return NULL;
    }
    estimator->at = (const StateLayout *)(void *)at;
    estimator->place = (const FootPlace *)(void *)places;
    estimator->geometry = (const FootGeometry *)(void *)geometry;
    estimator->odometry = (FootOdometry *)(void *)odometry;
    estimator->memory = (BalanceMemory *)(void *)memory;
    estimator->balance = balance_in((int)feet, balance, contact);
    if (!is_layout(estimator, record))
        Py_CLEAR(capsule);
    return capsule;
}

/* Open the handles of all parts, and check that they are of the same robot; false with a Python error if not. */
static bool open_parts(PyObject *const *arguments, BalanceParts *parts)
{
    BalanceHandle *balance = handle_of(arguments[0], BALANCE_HANDLE);
    parts->tree = balance ? tree_of(arguments[1]) : NULL;
    parts->now = parts->tree ? snapshot_of(arguments[2], parts->tree) : NULL;
    SupportHandle *support = parts->now ? handle_of(arguments[3], SUPPORT_HANDLE) : NULL;
    ContactsHandle *contacts = support ? handle_of(arguments[4], CONTACTS_HANDLE) : NULL;
    FrozenHandle *frozen = contacts ? handle_of(arguments[5], FROZEN_HANDLE) : NULL;
    if (!frozen)
        return false;
    parts->estimator = &balance->estimator;
    parts->filter = &support->filter;
    parts->contacts = &contacts->detector;
    parts->frozen = &frozen->watch;
    int feet = parts->estimator->feet, joints = parts->estimator->joints;
    bool fits = feet == parts->filter->feet && feet == parts->contacts->feet && feet == parts->frozen->feet &&
                joints == parts->frozen->joints && joints + 6 == parts->tree->nv;
    if (!fits)
        PyErr_SetString(PyExc_ValueError, "these parts of an estimator are not of the same robot");
    return fits && has_frames(parts->estimator, parts->tree);
}

/* Read joints, feet and legs, and look for frozen sensors: flags of what was wrong. */
static int sense(const BalanceParts *parts, double dt)
{
    int wrong = read_joints(parts->estimator, parts->now, dt) | read_wrenches(parts->estimator, parts->filter);
    if (evaluate_snapshot(parts->tree, parts->now) != STATE_WELL)
        return wrong | STATE_FAULT;
    look_at_legs(parts->estimator, parts->now, parts->filter);
    return wrong | look_for_frozen(parts, dt);
}

/* Contacts, then the filter. */
static int advance(const BalanceParts *parts, double dt)
{
    detect_contacts(parts->contacts, parts->estimator->balance.wrench_in_sole, dt);
    for (int foot = 0; foot < parts->estimator->feet; foot++) {
        parts->filter->leg[foot].contact = parts->contacts->contact[foot];
        parts->filter->leg[foot].firm = parts->contacts->firm[foot];
    }
    int wrong = read_motion(parts->estimator, parts->filter, parts->frozen);
    support_cycle(parts->filter, dt);
    return wrong;
}

/* The first cycle in three parts: sense; begin, which is Python's; show. */
static PyObject *estimation_sense(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    BalanceParts parts;
    if (!takes(6, count, "estimation_sense") || !open_parts(arguments, &parts))
        return NULL;
    return PyLong_FromLong(sense(&parts, 0.0));
}

static PyObject *estimation_show(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    BalanceParts parts;
    if (!takes(6, count, "estimation_show") || !open_parts(arguments, &parts))
        return NULL;
    show_balance(&parts, 0.0);
    Py_RETURN_NONE;
}

static PyObject *estimation_cycle(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    BalanceParts parts;
    if (!takes(7, count, "estimation_cycle") || !open_parts(arguments, &parts))
        return NULL;
    double dt = PyFloat_AsDouble(arguments[6]);
    if (PyErr_Occurred())
        return NULL;
    int wrong = sense(&parts, dt);
    if (!(wrong & STATE_FAULT)) {
        wrong |= advance(&parts, dt);
        show_balance(&parts, dt);
    }
    return PyLong_FromLong(wrong);
}

PyMethodDef estimation_balance_methods[] = {
    {"estimation_balance", METHOD(estimation_balance),
     "estimation_balance(state, layout, joints, places, geometry, odometry, memory, balance, contact, imu): a handle."},
    {"estimation_sense", METHOD(estimation_sense),
     "estimation_sense(balance, tree, snapshot, support, contacts, frozen): read the first state."},
    {"estimation_show", METHOD(estimation_show),
     "estimation_show(balance, tree, snapshot, support, contacts, frozen): fill in the first balance."},
    {"estimation_cycle", METHOD(estimation_cycle),
     "estimation_cycle(balance, tree, snapshot, support, contacts, frozen, dt): take the state that is there."},
    {0},
};
