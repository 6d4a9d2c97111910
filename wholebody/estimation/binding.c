/* binding.c - the filters' functions in Python: handles of each, and one update. */
#include "wholebody/estimation/binding.h"

typedef struct {
    Borrowed arrays;
    Attitude *attitude;
    Kalman kalman;
    double memory[KALMAN_ROWS * 6];
} AttitudeHandle;

static PyObject *estimation_attitude(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (!takes(1, count, "estimation_attitude"))
        return NULL;
    AttitudeHandle *handle;
    PyObject *capsule = new_handle(sizeof *handle, ATTITUDE_HANDLE, (void **)&handle);
    if (!capsule)
        return NULL;
    handle->attitude =
        (Attitude *)(void *)borrow_written(&handle->arrays, arguments[0], NUMBERS_IN(Attitude), "attitude");
    if (!handle->attitude) {
        Py_DECREF(capsule);
        return NULL;
    }
    handle->kalman = kalman_in(6, handle->attitude->covariance, handle->memory, handle->attitude->gate);
    return capsule;
}

static PyObject *estimation_update_attitude(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (!takes(2, count, "estimation_update_attitude"))
        return NULL;
    AttitudeHandle *handle = handle_of(arguments[0], ATTITUDE_HANDLE);
    double dt = handle ? PyFloat_AsDouble(arguments[1]) : 0.0;
    if (!handle || PyErr_Occurred())
        return NULL;
    return PyLong_FromLong(update_attitude(handle->attitude, &handle->kalman, dt));
}

/* x has the body's state and then each foot's, P is the covariance. */
static PyObject *estimation_support(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (!takes(6, count, "estimation_support"))
        return NULL;
    Py_ssize_t numbers = PyObject_Size(arguments[0]);
    if (numbers < 0)
        return NULL;
    int feet = (int)((numbers - NUMBERS_IN(BodyState)) / NUMBERS_IN(FootState)), size = BODY_ERROR + FOOT_ERROR * feet;
    if (feet < 1 || feet > 1000)
        return PyErr_Format(PyExc_ValueError, "a state of %zd numbers has no feet", numbers);
    SupportHandle *handle;
    size_t memory = (size_t)((KALMAN_ROWS + 3) * size) * sizeof(double);
    PyObject *capsule = new_handle(sizeof *handle + memory, SUPPORT_HANDLE, (void **)&handle);
    if (!capsule)
        return NULL;
    Borrowed *arrays = &handle->arrays;
    Py_ssize_t state = NUMBERS_IN(BodyState) + NUMBERS_IN(FootState) * feet;
    double *x = borrow_written(arrays, arguments[0], state, "x");
    double *P = x ? borrow_written(arrays, arguments[1], (Py_ssize_t)size * size, "P") : NULL;
    double *legs = P ? borrow_written(arrays, arguments[2], NUMBERS_IN(Leg) * feet, "legs") : NULL;
    double *settings =
        legs ? borrow_numbers(arrays, arguments[3], NUMBERS_IN(SupportSettings), "settings") : NULL;
    double *motion = settings ? borrow_written(arrays, arguments[4], NUMBERS_IN(Motion), "motion") : NULL;
    double *last = motion ? borrow_written(arrays, arguments[5], NUMBERS_IN(SupportMemory), "memory") : NULL;
    if (!last) {
        Py_DECREF(capsule);
        return NULL;
    }
    handle->filter = (SupportFilter){
        .feet = feet,
        .body = (BodyState *)(void *)x,
        .foot = (FootState *)(void *)(x + NUMBERS_IN(BodyState)),
        .leg = (Leg *)(void *)legs,
        .settings = (const SupportSettings *)(void *)settings,
        .motion = (Motion *)(void *)motion,
        .memory = (SupportMemory *)(void *)last,
        .kalman = kalman_in(size, P, handle->memory, ((const SupportSettings *)(void *)settings)->gate),
        .rows = handle->memory + KALMAN_ROWS * size,
    };
    return capsule;
}

static PyObject *estimation_update_support(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (!takes(2, count, "estimation_update_support"))
        return NULL;
    SupportHandle *handle = handle_of(arguments[0], SUPPORT_HANDLE);
    double dt = handle ? PyFloat_AsDouble(arguments[1]) : 0.0;
    if (!handle || PyErr_Occurred())
        return NULL;
    support_cycle(&handle->filter, dt);
    Py_RETURN_NONE;
}

static PyObject *estimation_contacts(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (!takes(6, count, "estimation_contacts"))
        return NULL;
    ContactsHandle *handle;
    PyObject *capsule = new_handle(sizeof *handle, CONTACTS_HANDLE, (void **)&handle);
    if (!capsule)
        return NULL;
    Borrowed *arrays = &handle->arrays;
    double *settings = borrow_numbers(arrays, arguments[0], NUMBERS_IN(ContactSettings), "settings");
    double *contact = settings ? borrow_written(arrays, arguments[2], ANY, "contact") : NULL;
    Py_ssize_t feet = contact ? borrowed_count(arrays) : 0;
    double *firm = contact ? borrow_written(arrays, arguments[3], feet, "firm") : NULL;
    double *probability = firm ? borrow_written(arrays, arguments[4], feet, "probability") : NULL;
    double *since = probability ? borrow_written(arrays, arguments[5], 2 * feet, "since") : NULL;
    double *edges = since ? borrow_numbers(arrays, arguments[1], ANY, "edges") : NULL;
    if (!edges) {
        Py_DECREF(capsule);
        return NULL;
    }
    handle->detector = (ContactDetector){
        .feet = (int)feet,
        .edges_each = feet ? (int)(borrowed_count(arrays) / (3 * feet)) : 0,
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

static PyObject *estimation_detect_contacts(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (!takes(3, count, "estimation_detect_contacts"))
        return NULL;
    ContactsHandle *handle = handle_of(arguments[0], CONTACTS_HANDLE);
    double dt = handle ? PyFloat_AsDouble(arguments[2]) : 0.0;
    if (!handle || PyErr_Occurred())
        return NULL;
    Borrowed arrays = {0};
    double *wrench = borrow_numbers(&arrays, arguments[1], 6 * handle->detector.feet, "wrench");
    if (wrench)
        detect_contacts(&handle->detector, (double (*)[6])wrench, dt);
    give_back(&arrays);
    return wrench ? Py_NewRef(Py_None) : NULL;
}

static PyObject *estimation_frozen(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (!takes(6, count, "estimation_frozen"))
        return NULL;
    FrozenHandle *handle;
    PyObject *capsule = new_handle(sizeof *handle, FROZEN_HANDLE, (void **)&handle);
    if (!capsule)
        return NULL;
    Borrowed *arrays = &handle->arrays;
    double *settings = borrow_numbers(arrays, arguments[0], NUMBERS_IN(FrozenSettings), "settings");
    double *wanted = settings ? borrow_written(arrays, arguments[4], ANY, "wanted") : NULL;
    Py_ssize_t joints = wanted ? borrowed_count(arrays) : 0;
    uint8_t *frozen = wanted ? borrow_written_flags(arrays, arguments[5], ANY, "frozen") : NULL;
    Py_ssize_t sensors = frozen ? borrowed_count(arrays) : 0, feet = sensors - joints - FIRST_FOOT;
    double *last = frozen ? borrow_written(arrays, arguments[1], 6 * sensors, "last") : NULL;
    double *since = last ? borrow_written(arrays, arguments[2], sensors, "since") : NULL;
    double *starts = since ? borrow_written(arrays, arguments[3], (FIRST_FOOT + feet) * joints, "starts") : NULL;
    if (!starts) {
        Py_DECREF(capsule);
        return NULL;
    }
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

static PyObject *estimation_first_frozen(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (!takes(7, count, "estimation_first_frozen"))
        return NULL;
    FrozenHandle *handle = handle_of(arguments[0], FROZEN_HANDLE);
    double borne = handle ? PyFloat_AsDouble(arguments[5]) : 0.0, dt = handle ? PyFloat_AsDouble(arguments[6]) : 0.0;
    if (!handle || PyErr_Occurred())
        return NULL;
    Borrowed arrays = {0};
    const double *imu = borrow_numbers(&arrays, arguments[1], 10, "motion");
    double *wrench = imu ? borrow_numbers(&arrays, arguments[2], 6 * handle->watch.feet, "wrenches") : NULL;
    const double *position = wrench ? borrow_numbers(&arrays, arguments[3], handle->watch.joints, "position") : NULL;
    const double *reference =
        position ? borrow_numbers(&arrays, arguments[4], handle->watch.joints, "reference") : NULL;
    SensorReadings now = {imu, (double (*)[6])wrench, position, reference, borne};
    int first = reference ? first_frozen(&handle->watch, &now, dt) : -1;
    give_back(&arrays);
    return reference ? PyLong_FromLong(first) : NULL;
}

PyMethodDef estimation_methods[] = {
    {"estimation_attitude", METHOD(estimation_attitude), "estimation_attitude(attitude): a filter's handle."},
    {"estimation_update_attitude", METHOD(estimation_update_attitude),
     "estimation_update_attitude(handle, dt): take the reading that is there; flags of what was wrong with it."},
    {"estimation_support", METHOD(estimation_support),
     "estimation_support(x, P, legs, settings, motion, memory): the handle of a filter on feet."},
    {"estimation_update_support", METHOD(estimation_update_support),
     "estimation_update_support(handle, dt): go on by dt with the motion and the legs that are there."},
    {"estimation_contacts", METHOD(estimation_contacts),
     "estimation_contacts(settings, edges, contact, firm, probability, since): the handle of a contact detector."},
    {"estimation_detect_contacts", METHOD(estimation_detect_contacts),
     "estimation_detect_contacts(handle, wrench, dt): take the wrenches at the soles, feet x 6."},
    {"estimation_frozen", METHOD(estimation_frozen),
     "estimation_frozen(settings, last, since, starts, wanted, frozen): the handle of a watch for frozen sensors."},
    {"estimation_first_frozen", METHOD(estimation_first_frozen),
     "estimation_first_frozen(handle, motion, wrenches, position, reference, borne, dt): the first one, or -1."},
    {0},
};
