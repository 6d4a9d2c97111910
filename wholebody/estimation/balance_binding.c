/* balance_binding.c - BalanceEstimator in Python: its handle, and one cycle of all that works together in it. */
#include "wholebody/estimation/binding.h"
#include "wholebody/model/binding.h"

typedef struct {
    Borrowed arrays;
    BalanceEstimator estimator;
    double memory[]; /* 6 x feet wrenches, then a reference for each joint */
} BalanceHandle;

/* Whether a field of `size` bytes from `offset` on lies in a state's record, and numbers where numbers may lie. */
static bool lies_within(int64_t offset, int64_t size, Py_ssize_t record, int64_t alignment)
{
    return offset >= 0 && offset % alignment == 0 && offset <= record && size <= record - offset;
}

/* Refuse a layout or places that name what is not there. */
static void check_layout(Given *given, const BalanceEstimator *estimator, Py_ssize_t record)
{
    enum { NUMBER = 8, FLAGS = 2, IMU_NUMBERS = 10, WRENCH = 6 };
    const StateLayout *at = estimator->at;
    const int64_t *joint = estimator->joint;
    int64_t most = 0;
    if (!all_within(given, (const int64_t *)at, NUMBERS_IN(StateLayout), -1, INT32_MAX, "layout") ||
        !all_within(given, joint, estimator->joints, 0, INT32_MAX, "joints"))
        return;
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
        refuse(given, "the layout is not that of the state");
}

/* Refuse frames of feet and IMU that are not those of a robot whose base floats. */
static void check_frames(Given *given, const BalanceEstimator *estimator, const Tree *tree)
{
    int64_t imu = estimator->imu;
    if (!tree->floating)
        refuse(given, "the robot has no floating base");
    all_within(given, &imu, 1, 0, tree->frames, "imu");
    for (int foot = 0; foot < estimator->feet; foot++)
        all_within(given, &estimator->place[foot].ankle, 2, 0, tree->frames, "places");
}

static PyObject *estimation_balance(Given *given)
{
    const int64_t *joint = given_integers(given, 2, ANY, "joints");
    Py_ssize_t joints = given_count(given);
    const int64_t *places = given_integers(given, 3, ANY, "places");
    Py_ssize_t feet = given_count(given) / NUMBERS_IN(FootPlace);
    size_t memory = (size_t)(6 * feet + joints) * sizeof(double);
    BalanceHandle *handle;
    PyObject *capsule = new_handle(given, sizeof *handle + memory, BALANCE_HANDLE, (void **)&handle);
    const uint8_t *state = given_bytes(given, 0, ANY, "state");
    Py_ssize_t record = given_count(given);
    int64_t *at = given_integers(given, 1, NUMBERS_IN(StateLayout), "layout");
    joint = given_integers(given, 2, joints, "joints");
    places = given_integers(given, 3, NUMBERS_IN(FootPlace) * feet, "places");
    double *geometry = given_numbers(given, 4, NUMBERS_IN(FootGeometry) * feet, "geometry");
    double *odometry = given_written(given, 5, NUMBERS_IN(FootOdometry) * feet, "odometry");
    double *last = given_written(given, 6, NUMBERS_IN(BalanceMemory), "memory");
    double *balance = given_written(given, 7, balance_size((int)feet), "balance");
    uint8_t *contact = given_written_flags(given, 8, feet, "contact");
    long imu = given_integer(given, 9);
    if (given->failed)
        return capsule;
    handle->estimator = (BalanceEstimator){
        .feet = (int)feet,
        .joints = (int)joints,
        .imu = (int)imu,
        .state = state,
        .at = (const StateLayout *)(void *)at,
        .joint = joint,
        .place = (const FootPlace *)(const void *)places,
        .geometry = (const FootGeometry *)(void *)geometry,
        .odometry = (FootOdometry *)(void *)odometry,
        .memory = (BalanceMemory *)(void *)last,
        .balance = balance_in((int)feet, balance, contact),
        .wrench = (double (*)[6])handle->memory,
        .reference = handle->memory + 6 * feet,
    };
    check_layout(given, &handle->estimator, record);
    return capsule;
}

/* Open the handles of all parts, which must be of the same robot. */
static BalanceParts take_parts(Given *given)
{
    BalanceHandle *balance = given_handle(given, 0, BALANCE_HANDLE);
    const Tree *tree = given_tree(given, 1);
    const Snapshot *now = given_snapshot(given, 2, tree);
    SupportHandle *support = given_handle(given, 3, SUPPORT_HANDLE);
    ContactsHandle *contacts = given_handle(given, 4, CONTACTS_HANDLE);
    FrozenHandle *frozen = given_handle(given, 5, FROZEN_HANDLE);
    if (given->failed)
        return (BalanceParts){0};
    int feet = balance->estimator.feet, joints = balance->estimator.joints;
    bool fits = feet == support->filter.feet && feet == contacts->detector.feet && feet == frozen->watch.feet &&
                joints == frozen->watch.joints && joints + 6 == tree->nv;
    if (!fits)
        refuse(given, "these parts of an estimator are not of the same robot");
    check_frames(given, &balance->estimator, tree);
    return (BalanceParts){
        .tree = tree, .now = now, .estimator = &balance->estimator, .filter = &support->filter,
        .contacts = &contacts->detector, .frozen = &frozen->watch,
    };
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
static PyObject *estimation_sense(Given *given)
{
    BalanceParts parts = take_parts(given);
    return given->failed ? NULL : PyLong_FromLong(sense(&parts, 0.0));
}

static PyObject *estimation_show(Given *given)
{
    BalanceParts parts = take_parts(given);
    if (!given->failed)
        show_balance(&parts, 0.0);
    return nothing();
}

static PyObject *estimation_cycle(Given *given)
{
    BalanceParts parts = take_parts(given);
    double dt = given_number(given, 6);
    int wrong = given->failed ? STATE_FAULT : sense(&parts, dt);
    if (!(wrong & STATE_FAULT)) {
        wrong |= advance(&parts, dt);
        show_balance(&parts, dt);
    }
    return PyLong_FromLong(wrong);
}

const Kernel balance_kernels[] = {
    {"estimation_balance", estimation_balance, 10},
    {"estimation_sense", estimation_sense, 6},
    {"estimation_show", estimation_show, 6},
    {"estimation_cycle", estimation_cycle, 7},
    {0},
};
