/* binding.c - the filters' functions in Python: handles of each, and one update. */
#include "wholebody/estimation/binding.h"

typedef struct {
    Borrowed arrays;
    Attitude *attitude;
    Kalman kalman;
    double memory[KALMAN_ROWS * 6];
} AttitudeHandle;

static PyObject *estimation_attitude(Given *given)
{
    AttitudeHandle *handle;
    PyObject *capsule = new_handle(given, sizeof *handle, ATTITUDE_HANDLE, (void **)&handle);
    Attitude *attitude = (Attitude *)(void *)given_written(given, 0, NUMBERS_IN(Attitude), "attitude");
    if (attitude) {
        handle->attitude = attitude;
        handle->kalman = kalman_in(6, attitude->covariance, handle->memory, attitude->gate);
    }
    return capsule;
}

static PyObject *estimation_update_attitude(Given *given)
{
    AttitudeHandle *handle = given_handle(given, 0, ATTITUDE_HANDLE);
    double dt = given_number(given, 1);
    return given->failed ? NULL : PyLong_FromLong(update_attitude(handle->attitude, &handle->kalman, dt));
}

/* x has the body's state and then each foot's, P is the covariance. */
static PyObject *estimation_support(Given *given)
{
    double *x = given_written(given, 0, ANY, "x");
    Py_ssize_t feet = (given_count(given) - NUMBERS_IN(BodyState)) / NUMBERS_IN(FootState);
    Py_ssize_t size = BODY_ERROR + FOOT_ERROR * feet;
    if (feet < 1 || feet > 1000)
        return refuse(given, "a state of %zd numbers has no feet", given_count(given));
    SupportHandle *handle;
    size_t memory = (size_t)((KALMAN_ROWS + 3) * size) * sizeof(double);
    PyObject *capsule = new_handle(given, sizeof *handle + memory, SUPPORT_HANDLE, (void **)&handle);
    x = given_written(given, 0, NUMBERS_IN(BodyState) + NUMBERS_IN(FootState) * feet, "x");
    double *P = given_written(given, 1, size * size, "P");
    double *legs = given_written(given, 2, NUMBERS_IN(Leg) * feet, "legs");
    double *settings = given_numbers(given, 3, NUMBERS_IN(SupportSettings), "settings");
    double *motion = given_written(given, 4, NUMBERS_IN(Motion), "motion");
    double *last = given_written(given, 5, NUMBERS_IN(SupportMemory), "memory");
    if (given->failed)
        return capsule;
    handle->filter = (SupportFilter){
        .feet = (int)feet,
        .body = (BodyState *)(void *)x,
        .foot = (FootState *)(void *)(x + NUMBERS_IN(BodyState)),
        .leg = (Leg *)(void *)legs,
        .settings = (const SupportSettings *)(void *)settings,
        .motion = (Motion *)(void *)motion,
        .memory = (SupportMemory *)(void *)last,
        .kalman = kalman_in((int)size, P, handle->memory, ((const SupportSettings *)(void *)settings)->gate),
        .rows = handle->memory + KALMAN_ROWS * size,
    };
    return capsule;
}

static PyObject *estimation_update_support(Given *given)
{
    SupportHandle *handle = given_handle(given, 0, SUPPORT_HANDLE);
    double dt = given_number(given, 1);
    if (!given->failed)
        support_cycle(&handle->filter, dt);
    return nothing();
}

static PyObject *estimation_contacts(Given *given)
{
    ContactsHandle *handle;
    PyObject *capsule = new_handle(given, sizeof *handle, CONTACTS_HANDLE, (void **)&handle);
    double *settings = given_numbers(given, 0, NUMBERS_IN(ContactSettings), "settings");
    double *contact = given_written(given, 2, ANY, "contact");
    Py_ssize_t feet = given_count(given);
    double *firm = given_written(given, 3, feet, "firm");
    double *probability = given_written(given, 4, feet, "probability");
    double *since = given_written(given, 5, 2 * feet, "since");
    double *edges = given_numbers(given, 1, ANY, "edges");
    if (given->failed)
        return capsule;
    handle->detector = (ContactDetector){
        .feet = (int)feet,
        .edges_each = feet ? (int)(given_count(given) / (3 * feet)) : 0,
        .settings = (const ContactSettings *)(void *)settings,
        .edges = edges,
        .contact = contact,
        .firm = firm,
        .probability = probability,
        .differs_for = since,
        .flat_for = since + feet,
    };
    return capsule;
}

static PyObject *estimation_detect_contacts(Given *given)
{
    ContactsHandle *handle = given_handle(given, 0, CONTACTS_HANDLE);
    double *wrench = given_numbers(given, 1, handle ? 6 * handle->detector.feet : 0, "wrench"), dt = given_number(given, 2);
    if (!given->failed)
        detect_contacts(&handle->detector, (double (*)[6])wrench, dt);
    return nothing();
}

static PyObject *estimation_frozen(Given *given)
{
    FrozenHandle *handle;
    PyObject *capsule = new_handle(given, sizeof *handle, FROZEN_HANDLE, (void **)&handle);
    double *settings = given_numbers(given, 0, NUMBERS_IN(FrozenSettings), "settings");
    double *wanted = given_written(given, 4, ANY, "wanted");
    Py_ssize_t joints = given_count(given);
    uint8_t *frozen = given_written_flags(given, 5, ANY, "frozen");
    Py_ssize_t sensors = given_count(given), feet = sensors - joints - FIRST_FOOT;
    double *last = given_written(given, 1, 6 * sensors, "last");
    double *since = given_written(given, 2, sensors, "since");
    double *starts = given_written(given, 3, (FIRST_FOOT + feet) * joints, "starts");
    if (given->failed)
        return capsule;
    handle->watch = (FrozenSensors){
        .feet = (int)feet,
        .joints = (int)joints,
        .settings = (const FrozenSettings *)(void *)settings,
        .last = (double (*)[6])last,
        .since = since,
        .starts = starts,
        .wanted = wanted,
        .frozen = frozen,
    };
    return capsule;
}

static PyObject *estimation_first_frozen(Given *given)
{
    FrozenHandle *handle = given_handle(given, 0, FROZEN_HANDLE);
    if (!handle)
        return NULL;
    int feet = handle->watch.feet, joints = handle->watch.joints;
    SensorReadings now = {
        given_numbers(given, 1, 10, "motion"),          (double (*)[6])given_numbers(given, 2, 6 * feet, "wrenches"),
        given_numbers(given, 3, joints, "position"), given_numbers(given, 4, joints, "reference"),
        given_number(given, 5),
    };
    double dt = given_number(given, 6);
    return given->failed ? NULL : PyLong_FromLong(first_frozen(&handle->watch, &now, dt));
}

const Kernel estimation_kernels[] = {
    {"estimation_attitude", estimation_attitude, 1},
    {"estimation_update_attitude", estimation_update_attitude, 2},
    {"estimation_support", estimation_support, 6},
    {"estimation_update_support", estimation_update_support, 2},
    {"estimation_contacts", estimation_contacts, 6},
    {"estimation_detect_contacts", estimation_detect_contacts, 3},
    {"estimation_frozen", estimation_frozen, 6},
    {"estimation_first_frozen", estimation_first_frozen, 7},
    {0},
};
