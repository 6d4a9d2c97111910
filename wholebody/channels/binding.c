/* binding.c - the ring for Python: thin types over ring.h.
 *
 * Ring    an open channel.
 * Writer  put() copies the buffer it was given (a numpy array) into the ring.
 * Reader  latest(), next(), at() and wait() fill the buffer it was given.
 *
 * A writer or reader whose channel was pulled away asks its method renew(status) what to do, and tries again.
 *
 * Looks and Copies, for many readers and writers in one call, are in together.c.
 * What goes wrong becomes an exception made by wholebody.channels.faults.fault(status, path). */
#include "binding.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#define SLICE 50000000                 /* ns between two looks for Ctrl-C */
#define FIRST_LOOKS 50                 /* of a wait that spins, with the GIL held: about 2 us */
#define PAUSE 5000000                  /* ns between two looks for a channel that was pulled away and is not there yet */
#define RENEWALS 3                     /* of a channel within one call; more is a fight that nobody wins */

PyTypeObject *ring_type, *reader_type, *writer_type;

PyObject *raise_fault(int64_t status, const char *path)
{
    PyObject *module = PyImport_ImportModule("wholebody.channels.faults");
    if (!module)
        return NULL;
    PyObject *error = PyObject_CallMethod(module, "fault", "Ls", (long long)status, path ? path : "");
    Py_DECREF(module);
    if (error) {
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
        Py_DECREF(error);
    }
    return NULL;
}

void free_object(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = __extension__(freefunc) PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

PyObject *allocate(PyTypeObject *type)
{
    allocfunc allocate_instance = __extension__(allocfunc) PyType_GetSlot(type, Py_tp_alloc);
    return allocate_instance(type, 0);
}

/* --- Ring --------------------------------------------------------------------------------------- */

static PyObject *ring_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"path", "payload_size", "layout_hash", "layout_text", "depth", "writers", NULL};
    const char *path, *text = NULL;
    Py_ssize_t text_size = 0;
    unsigned long long payload_size = 0, hash = 0;
    unsigned int depth = 0, writers = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s|KKz#II", names, &path, &payload_size, &hash, &text, &text_size,
                                     &depth, &writers))
        return NULL;
    if (text_size > WB_TEXT_MAX)
        return raise_fault(WB_SIZE, path);
    Ring *self = (Ring *)allocate(type);
    if (!self)
        return NULL;
    wb_layout layout = {.payload_size = payload_size, .hash = hash, .text = text, .text_size = (uint32_t)text_size};
    self->path = PyMem_Malloc(strlen(path) + 1);
    int status = self->path ? 0 : -ENOMEM;
    if (status == 0) {
        strcpy(self->path, path);
        Py_BEGIN_ALLOW_THREADS
        status = wb_open(&self->ring, path, text ? &layout : NULL, depth, writers);
        Py_END_ALLOW_THREADS
    }
    if (status < 0) {
        Py_DECREF((PyObject *)self);
        return raise_fault(status, path);
    }
    wb_info info;
    wb_describe(self->ring, &info);
    self->payload_size = info.layout.payload_size;
    return (PyObject *)self;
}

static void ring_dealloc(PyObject *object)
{
    Ring *self = (Ring *)object;
    wb_close(self->ring);
    PyMem_Free(self->path);
    free_object(object);
}

static PyObject *ring_describe(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    wb_info info;
    wb_describe(((Ring *)object)->ring, &info);
    return Py_BuildValue("{s:K,s:K,s:y#,s:K,s:K,s:I,s:I,s:O}", "payload_size", (unsigned long long)info.layout.payload_size,
                         "layout_hash", (unsigned long long)info.layout.hash, "layout_text", info.layout.text,
                         (Py_ssize_t)info.layout.text_size, "newest", (unsigned long long)info.newest, "file_size",
                         (unsigned long long)info.file_size, "depth", info.depth, "writers", info.writers,
                         "read_only", info.read_only ? Py_True : Py_False);
}

static PyObject *ring_writer_processes(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    Ring *self = (Ring *)object;
    wb_info info;
    wb_describe(self->ring, &info);
    PyObject *processes = PyList_New(0);
    for (uint32_t lease = 0; processes && lease < info.writers; lease++) {
        long long process = wb_writer_process(self->ring, lease);
        PyObject *item = process ? PyLong_FromLongLong(process) : NULL;
        if (item && PyList_Append(processes, item) < 0)
            Py_CLEAR(processes);
        Py_XDECREF(item);
    }
    return processes;
}

static PyObject *ring_path(PyObject *object, void *Py_UNUSED(closure))
{
    return PyUnicode_DecodeFSDefault(((Ring *)object)->path);
}

static PyObject *ring_gone(PyObject *object, void *Py_UNUSED(closure))
{
    return PyBool_FromLong(wb_look(((Ring *)object)->ring) < 0);
}

static PyGetSetDef ring_properties[] = {
    {"path", ring_path, NULL, "The channel's file.", NULL},
    {"gone", ring_gone, NULL, "Whether the file was truncated, replaced or removed.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef ring_methods[] = {
    {"describe", ring_describe, METH_NOARGS, "Sizes, layout and newest sequence of the channel."},
    {"writer_processes", ring_writer_processes, METH_NOARGS, "Process ids of the living writers."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot ring_slots[] = {
    {Py_tp_new, SLOT(ring_new)},
    {Py_tp_dealloc, SLOT(ring_dealloc)},
    {Py_tp_methods, ring_methods},
    {Py_tp_getset, ring_properties},
    {Py_tp_doc, "An open channel."},
    {0, NULL},
};

static PyType_Spec ring_spec = {"wholebody.channels._ring.Ring", sizeof(Ring), 0, Py_TPFLAGS_DEFAULT, ring_slots};

/* Another ring for a handle, of messages as long; false with an exception set. */
static bool fits(PyObject *object, const Ring *before)
{
    if (!PyObject_TypeCheck(object, ring_type) || ((Ring *)object)->payload_size != before->payload_size) {
        PyErr_SetString(PyExc_TypeError, "a handle goes over to a Ring with messages as long as those it had");
        return false;
    }
    return true;
}

static bool is_pulled_away(int64_t status)
{
    return status == WB_GONE || status == WB_CORRUPT || status == WB_EXHAUSTED;
}

/* What a handle does when its channel was pulled away: 1, try again; 0, not now; -1 with an exception set. */
static int renew(PyObject *handle, int64_t status)
{
    PyObject *done = PyObject_CallMethod(handle, "renew", "L", (long long)status);
    int again = done ? PyObject_IsTrue(done) : -1;
    Py_XDECREF(done);
    return again;
}

/* The arguments of Writer and Reader: a Ring, and a buffer of one message. */
static Ring *ring_and_message(PyObject *args, PyObject *kwargs, Py_buffer *message)
{
    static char *names[] = {"ring", "message", NULL};
    PyObject *object, *buffer;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!O", names, ring_type, &object, &buffer))
        return NULL;
    Ring *ring = (Ring *)object;
    if (PyObject_GetBuffer(buffer, message, PyBUF_WRITABLE) < 0)
        return NULL;
    if ((uint64_t)message->len == ring->payload_size)
        return ring;
    PyErr_Format(PyExc_ValueError, "the channel's messages have %zu bytes, the buffer has %zd",
                 (size_t)ring->payload_size, message->len);
    PyBuffer_Release(message);
    return NULL;
}

/* --- Writer ------------------------------------------------------------------------------------- */

static PyObject *writer_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    Py_buffer message;
    Ring *ring = ring_and_message(args, kwargs, &message);
    if (!ring)
        return NULL;
    Writer *self = (Writer *)allocate(type);
    if (!self) {
        PyBuffer_Release(&message);
        return NULL;
    }
    Py_INCREF((PyObject *)ring);
    self->ring = ring;
    self->message = message;
    int status;
    Py_BEGIN_ALLOW_THREADS
    status = wb_writer_open(&self->writer, ring->ring);
    Py_END_ALLOW_THREADS
    if (status < 0) {
        raise_fault(status, ring->path);
        Py_DECREF((PyObject *)self);
        return NULL;
    }
    return (PyObject *)self;
}

static void writer_dealloc(PyObject *object)
{
    Writer *self = (Writer *)object;
    wb_writer_close(self->writer);
    PyBuffer_Release(&self->message);
    Py_XDECREF((PyObject *)self->ring);
    free_object(object);
}

PyObject *put_stamped(Writer *self, int64_t stamp)
{
    int64_t sequence = self->writer ? wb_put_stamped(self->writer, self->message.buf, stamp) : -EBADF;
    for (int renewals = 0; is_pulled_away(sequence) && renewals < RENEWALS; renewals++) {
        int again = renew((PyObject *)self, sequence);
        if (again < 0)
            return NULL;
        if (again)
            sequence = self->writer ? wb_put_stamped(self->writer, self->message.buf, stamp) : -EBADF;
    }
    if (sequence < 0)
        return raise_fault(sequence, self->ring->path);
    self->sequence = sequence;
    Py_RETURN_NONE;
}

static PyObject *writer_renew(PyObject *object, PyObject *argument)
{
    long long status = PyLong_AsLongLong(argument);
    return status == -1 && PyErr_Occurred() ? NULL : raise_fault(status, ((Writer *)object)->ring->path);
}

static PyObject *writer_move(PyObject *object, PyObject *argument)
{
    Writer *self = (Writer *)object;
    wb_writer *writer;
    if (!fits(argument, self->ring))
        return NULL;
    int status;
    Py_BEGIN_ALLOW_THREADS
    status = wb_writer_open(&writer, ((Ring *)argument)->ring);
    Py_END_ALLOW_THREADS
    if (status < 0)
        return raise_fault(status, ((Ring *)argument)->path);
    wb_writer_close(self->writer);
    self->writer = writer;
    Py_INCREF(argument);
    Py_DECREF((PyObject *)self->ring);
    self->ring = (Ring *)argument;
    Py_RETURN_NONE;
}

static PyObject *writer_ring(PyObject *object, void *Py_UNUSED(closure))
{
    Ring *ring = ((Writer *)object)->ring;
    Py_INCREF((PyObject *)ring);
    return (PyObject *)ring;
}

static PyObject *writer_put(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    return put_stamped((Writer *)object, -1);
}

static PyObject *writer_put_stamped(PyObject *object, PyObject *args)
{
    long long stamp;
    unsigned long long lost = 0;
    if (!PyArg_ParseTuple(args, "L|K", &stamp, &lost))
        return NULL;
    if (stamp < 0) {
        PyErr_SetString(PyExc_ValueError, "a stamp is nanoseconds of CLOCK_MONOTONIC, so at least 0");
        return NULL;
    }
    Writer *self = (Writer *)object;
    if (self->writer)
        wb_say_lost(self->writer, lost);
    return put_stamped((Writer *)object, stamp);
}

static PyObject *writer_close(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    Writer *self = (Writer *)object;
    wb_writer_close(self->writer);
    self->writer = NULL;
    Py_RETURN_NONE;
}

static PyObject *writer_sequence(PyObject *object, void *Py_UNUSED(closure))
{
    return PyLong_FromLongLong(((Writer *)object)->sequence);
}

static PyMethodDef writer_methods[] = {
    {"put", writer_put, METH_NOARGS, "Publish the message; never waits."},
    {"put_stamped", writer_put_stamped, METH_VARARGS,
     "Publish the message with a time stamp of another origin (ns of CLOCK_MONOTONIC); how many were lost on its way here, from 1."},
    {"close", writer_close, METH_NOARGS, "Give the place back to other writers. Closing twice is fine."},
    {"renew", writer_renew, METH_O, "Called with the status of a channel that was pulled away: raise what it means."},
    {"move", writer_move, METH_O, "Register with another ring, and leave this one."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef writer_properties[] = {
    {"ring", writer_ring, NULL, "The ring it puts messages on.", NULL},
    {"sequence", writer_sequence, NULL, "Sequence of the message put last; 0 before the first.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot writer_slots[] = {
    {Py_tp_new, SLOT(writer_new)},
    {Py_tp_dealloc, SLOT(writer_dealloc)},
    {Py_tp_methods, writer_methods},
    {Py_tp_getset, writer_properties},
    {Py_tp_doc, "Puts messages on a channel."},
    {0, NULL},
};

static PyType_Spec writer_spec = {"wholebody.channels._ring.Writer", sizeof(Writer), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, writer_slots};

/* --- Reader ------------------------------------------------------------------------------------- */

static PyObject *reader_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    Py_buffer message;
    Ring *ring = ring_and_message(args, kwargs, &message);
    if (!ring)
        return NULL;
    Reader *self = (Reader *)allocate(type);
    if (!self) {
        PyBuffer_Release(&message);
        return NULL;
    }
    Py_INCREF((PyObject *)ring);
    self->ring = ring;
    self->message = message;
    int status = wb_reader_open(&self->reader, ring->ring);
    if (status < 0) {
        raise_fault(status, ring->path);
        Py_DECREF((PyObject *)self);
        return NULL;
    }
    return (PyObject *)self;
}

static void reader_dealloc(PyObject *object)
{
    Reader *self = (Reader *)object;
    wb_reader_close(self->reader);
    PyBuffer_Release(&self->message);
    Py_XDECREF((PyObject *)self->ring);
    free_object(object);
}

int reader_is_usable(Reader *self)
{
    if (self->waiting || !self->reader)
        raise_fault(self->waiting ? -EBUSY : -EBADF, self->ring->path);
    return self->reader && !self->waiting;
}

/* Read; if the channel was pulled away, in the one that has taken its place. 1, 0, or -1 with an exception set. */
int take_message(Reader *self, int (*read)(wb_reader *, void *))
{
    int status = read(self->reader, self->message.buf);
    for (int renewals = 0; is_pulled_away(status) && renewals < RENEWALS; renewals++) {
        int again = renew((PyObject *)self, status);
        if (again <= 0)
            return again;
        status = self->reader ? read(self->reader, self->message.buf) : -EBADF;
    }
    if (status < 0)
        raise_fault(status, self->ring->path);
    return status < 0 ? -1 : status;
}

static PyObject *truth(int status) { return status < 0 ? NULL : PyBool_FromLong(status); }

static PyObject *reader_latest(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    Reader *self = (Reader *)object;
    return reader_is_usable(self) ? truth(take_message(self, wb_latest)) : NULL;
}

static PyObject *reader_next(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    Reader *self = (Reader *)object;
    return reader_is_usable(self) ? truth(take_message(self, wb_next)) : NULL;
}

static PyObject *reader_at(PyObject *object, PyObject *argument)
{
    Reader *self = (Reader *)object;
    unsigned long long sequence = PyLong_AsUnsignedLongLong(argument);
    if (sequence == (unsigned long long)-1 && PyErr_Occurred())
        return NULL;
    if (!reader_is_usable(self))
        return NULL;
    int status = wb_at(self->reader, sequence, self->message.buf);
    return status < 0 ? raise_fault(status, self->ring->path) : PyBool_FromLong(status);
}

static PyObject *reader_renew(PyObject *object, PyObject *argument)
{
    long long status = PyLong_AsLongLong(argument);
    return status == -1 && PyErr_Occurred() ? NULL : raise_fault(status, ((Reader *)object)->ring->path);
}

static PyObject *reader_move(PyObject *object, PyObject *argument)
{
    Reader *self = (Reader *)object;
    wb_reader *reader;
    if (!fits(argument, self->ring) || !reader_is_usable(self))
        return NULL;
    int status = wb_reader_open(&reader, ((Ring *)argument)->ring);
    if (status < 0)
        return raise_fault(status, ((Ring *)argument)->path);
    wb_reader_close(self->reader);
    self->reader = reader;
    Py_INCREF(argument);
    Py_DECREF((PyObject *)self->ring);
    self->ring = (Ring *)argument;
    Py_RETURN_NONE;
}

static PyObject *reader_ring(PyObject *object, void *Py_UNUSED(closure))
{
    Ring *ring = ((Reader *)object)->ring;
    Py_INCREF((PyObject *)ring);
    return (PyObject *)ring;
}

/* Seconds from now, or an instant, or None, to an instant in nanoseconds. -1 with an exception set. */
static int64_t deadline_of(PyObject *timeout, PyObject *until)
{
    int relative = timeout != Py_None;
    if (relative && until != Py_None) {
        PyErr_SetString(PyExc_TypeError, "give timeout or until, not both");
        return -1;
    }
    if (!relative && until == Py_None)
        return WB_FOREVER;
    double seconds = PyFloat_AsDouble(relative ? timeout : until);
    if (seconds == -1.0 && PyErr_Occurred())
        return -1;
    if (seconds != seconds) {
        PyErr_SetString(PyExc_ValueError, "the time to wait is not a number");
        return -1;
    }
    if (seconds > 9e9)
        return WB_FOREVER;
    int64_t span = seconds > 0 ? (int64_t)(seconds * 1e9) : 0;
    return relative ? wb_now() + span : span;
}

/* Wait without the GIL, looking for signals between slices. 1, 0, or -1 with an exception set. */
static int wait_in_slices(wb_reader *const readers[], int count, int64_t until, int64_t spin, const char *path)
{
    for (;;) {
        int status;
        Py_BEGIN_ALLOW_THREADS
        int64_t now = wb_now();
        status = wb_wait(readers, count, until - now < SLICE ? until : now + SLICE, spin < SLICE ? spin : SLICE);
        Py_END_ALLOW_THREADS
        if (status == 1)
            return 1;
        if (status < 0 && status != -EINTR) {
            raise_fault(status, path);
            return -1;
        }
        if (PyErr_CheckSignals() < 0)
            return -1;
        if (wb_now() >= until)
            return 0;
        spin = spin > SLICE ? spin - SLICE : 0;
    }
}

/* Let others run for a moment, though not beyond a deadline. */
static void pause_until(int64_t deadline)
{
    int64_t now = wb_now(), until = deadline - now < PAUSE ? deadline : now + PAUSE;
    struct timespec rest = {.tv_nsec = until > now ? (long)(until - now) : 0};
    Py_BEGIN_ALLOW_THREADS
    nanosleep(&rest, NULL);
    Py_END_ALLOW_THREADS
}

/* Wait until a message can be taken, and take it; a channel that was pulled away may come back meanwhile. */
static int wait_and_take(Reader *self, int64_t deadline, int64_t spin, int (*read)(wb_reader *, void *))
{
    for (;;) {
        self->waiting = 1;
        int found = wait_in_slices(&self->reader, 1, deadline, spin, self->ring->path);
        self->waiting = 0;
        if (found <= 0)
            return found;
        int taken = take_message(self, read);
        if (taken != 0 || wb_now() >= deadline)
            return taken;
        pause_until(deadline);
        if (PyErr_CheckSignals() < 0)
            return -1;
    }
}

static PyObject *reader_wait(PyObject *object, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"timeout", "mode", "spin", "until", NULL};
    Reader *self = (Reader *)object;
    PyObject *timeout = Py_None, *until = Py_None;
    const char *mode = "latest";
    double spin = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OsdO", names, &timeout, &mode, &spin, &until))
        return NULL;
    int in_order = strcmp(mode, "next") == 0;
    if (!in_order && strcmp(mode, "latest") != 0) {
        PyErr_Format(PyExc_ValueError, "mode is 'latest' or 'next', not '%s'", mode);
        return NULL;
    }
    if (!reader_is_usable(self))
        return NULL;
    int (*read)(wb_reader *, void *) = in_order ? wb_next : wb_latest;
    if (spin > 0)                      /* letting go of the GIL costs as much as these looks */
        for (int look = 0; look < FIRST_LOOKS && !wb_unread(self->reader); look++)
            wb_relax();
    if (wb_unread(self->reader)) {
        int taken = take_message(self, read);
        if (taken != 0)
            return truth(taken);
    }
    int64_t deadline = deadline_of(timeout, until);
    return deadline < 0 ? NULL : truth(wait_and_take(self, deadline, (int64_t)(spin * 1e9), read));
}

static PyObject *reader_close(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    Reader *self = (Reader *)object;
    if (self->waiting)
        return raise_fault(-EBUSY, self->ring->path);
    wb_reader_close(self->reader);
    self->reader = NULL;
    Py_RETURN_NONE;
}

static wb_message message_of(PyObject *object)
{
    wb_message message = {0};
    Reader *self = (Reader *)object;
    if (self->reader)
        wb_message_of(self->reader, &message);
    return message;
}

static PyObject *reader_sequence(PyObject *object, void *Py_UNUSED(closure))
{
    return PyLong_FromUnsignedLongLong(message_of(object).sequence);
}

static PyObject *reader_stamp(PyObject *object, void *Py_UNUSED(closure))
{
    return PyFloat_FromDouble((double)message_of(object).stamp * 1e-9);
}

static PyObject *reader_stamp_ns(PyObject *object, void *Py_UNUSED(closure))
{
    return PyLong_FromLongLong(message_of(object).stamp);
}

static PyObject *reader_age(PyObject *object, void *Py_UNUSED(closure))
{
    wb_message message = message_of(object);
    int64_t age = wb_now() - message.stamp;
    if (message.sequence == 0)
        return PyFloat_FromDouble(Py_HUGE_VAL);
    if (age < 0)
        return raise_fault(-ETIME, ((Reader *)object)->ring->path);
    return PyFloat_FromDouble((double)age * 1e-9);
}

static PyObject *reader_missed(PyObject *object, void *Py_UNUSED(closure))
{
    return PyLong_FromUnsignedLongLong(message_of(object).missed);
}

static PyObject *reader_missed_total(PyObject *object, void *Py_UNUSED(closure))
{
    return PyLong_FromUnsignedLongLong(message_of(object).missed_total);
}

static PyObject *reader_process(PyObject *object, void *Py_UNUSED(closure))
{
    return PyLong_FromUnsignedLong(message_of(object).process);
}

static PyObject *reader_unread(PyObject *object, void *Py_UNUSED(closure))
{
    Reader *self = (Reader *)object;
    return PyBool_FromLong(self->reader ? wb_unread(self->reader) : 0);
}

static PyMethodDef reader_methods[] = {
    {"latest", reader_latest, METH_NOARGS, "Take the newest message; False if it was taken before."},
    {"next", reader_next, METH_NOARGS, "Take the oldest unread message; False if there is none."},
    {"at", reader_at, METH_O,
     "Fetch the message of that sequence again, without moving on; False if it is overwritten or not yet put."},
    {"wait", (PyCFunction)(void (*)(void))reader_wait, METH_VARARGS | METH_KEYWORDS,
     "wait(timeout=None, mode='latest', spin=0.0, until=None)\n\n"
     "Wait for something new and take it; False when the time is over.\n\n"
     "timeout is in seconds from now, until an instant of time.monotonic(), neither waits for ever;\n"
     "the first spin seconds are spent looking instead of sleeping."},
    {"close", reader_close, METH_NOARGS, "Let go of the channel. Closing twice is fine."},
    {"renew", reader_renew, METH_O, "Called with the status of a channel that was pulled away: raise what it means."},
    {"move", reader_move, METH_O, "Read another ring, from its oldest message on."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef reader_properties[] = {
    {"ring", reader_ring, NULL, "The ring it reads.", NULL},
    {"sequence", reader_sequence, NULL, "Sequence of the message; 0 before the first.", NULL},
    {"stamp", reader_stamp, NULL, "When the message was put, in seconds of time.monotonic().", NULL},
    {"stamp_ns", reader_stamp_ns, NULL, "When the message was put, in nanoseconds of time.monotonic_ns().", NULL},
    {"age", reader_age, NULL, "Seconds since the message was put; infinite before the first.", NULL},
    {"missed", reader_missed, NULL, "Messages between this one and the one taken before it.", NULL},
    {"missed_total", reader_missed_total, NULL, "Messages missed since the reader was opened.", NULL},
    {"process", reader_process, NULL, "Process id of the message's writer.", NULL},
    {"unread", reader_unread, NULL, "True if there is something new.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot reader_slots[] = {
    {Py_tp_new, SLOT(reader_new)},
    {Py_tp_dealloc, SLOT(reader_dealloc)},
    {Py_tp_methods, reader_methods},
    {Py_tp_getset, reader_properties},
    {Py_tp_doc, "Takes messages from a channel."},
    {0, NULL},
};

static PyType_Spec reader_spec = {"wholebody.channels._ring.Reader", sizeof(Reader), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, reader_slots};

/* --- module ------------------------------------------------------------------------------------- */

/* Fill `readers` from a sequence of idle Readers, marking each as waiting; the count, or -1. */
static int collect(PyObject *sequence, Reader *objects[], wb_reader *readers[])
{
    Py_ssize_t count = PySequence_Size(sequence);
    if (count < 1 || count > WB_WAIT_MAX) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_ValueError, "wait_any takes 1 to %d readers, not %zd", WB_WAIT_MAX, count);
        return -1;
    }
    int taken = 0;
    for (; taken < count; taken++) {
        PyObject *item = PySequence_GetItem(sequence, taken);
        if (!item)
            break;
        if (!PyObject_TypeCheck(item, reader_type)) {
            PyErr_SetString(PyExc_TypeError, "wait_any takes readers");
            Py_DECREF(item);
            break;
        }
        if (!reader_is_usable((Reader *)item)) {
            Py_DECREF(item);
            break;
        }
        objects[taken] = (Reader *)item;
        readers[taken] = objects[taken]->reader;
        objects[taken]->waiting = 1;
    }
    if (taken == count)
        return taken;
    while (taken-- > 0) {
        objects[taken]->waiting = 0;
        Py_DECREF((PyObject *)objects[taken]);
    }
    return -1;
}

static PyObject *module_wait_any(PyObject *Py_UNUSED(module), PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"readers", "timeout", "spin", "until", NULL};
    PyObject *sequence, *timeout = Py_None, *until = Py_None;
    Reader *objects[WB_WAIT_MAX];
    wb_reader *readers[WB_WAIT_MAX];
    double spin = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OdO", names, &sequence, &timeout, &spin, &until))
        return NULL;
    int64_t deadline = deadline_of(timeout, until);
    int count = deadline < 0 ? -1 : collect(sequence, objects, readers);
    if (count < 0)
        return NULL;
    int found = wait_in_slices(readers, count, deadline, (int64_t)(spin * 1e9), objects[0]->ring->path);
    PyObject *ready = found < 0 ? NULL : PyList_New(0);
    for (int i = 0; i < count; i++) {
        objects[i]->waiting = 0;
        if (ready && wb_unread(readers[i]) && PyList_Append(ready, (PyObject *)objects[i]) < 0)
            Py_CLEAR(ready);
        Py_DECREF((PyObject *)objects[i]);
    }
    return ready;
}

static PyObject *module_path(PyObject *Py_UNUSED(module), PyObject *argument)
{
    char path[WB_PATH_MAX];
    PyObject *name = PyUnicode_Check(argument) ? PyUnicode_AsUTF8String(argument) : NULL;
    if (!name) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "a channel's name is a str");
        return NULL;
    }
    const char *text = PyBytes_AsString(name);
    int status = strlen(text) == (size_t)PyBytes_Size(name) ? wb_path(text, path) : WB_NAME;
    PyObject *result = status < 0 ? raise_fault(status, text) : PyUnicode_DecodeFSDefault(path);
    Py_DECREF(name);
    return result;
}

static PyMethodDef module_methods[] = {
    {"wait_any", (PyCFunction)(void (*)(void))module_wait_any, METH_VARARGS | METH_KEYWORDS,
     "wait_any(readers, timeout=None, spin=0.0, until=None)\n\n"
     "Wait until at least one reader has something new; return those that have, in the order given."},
    {"path", module_path, METH_O, "The file of the channel of that name."},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject *add_type(PyObject *module, PyType_Spec *spec, const char *name)
{
    PyObject *type = PyType_FromSpec(spec);
    if (type && PyModule_AddObjectRef(module, name, type) < 0)
        Py_CLEAR(type);
    return (PyTypeObject *)type;
}

static int add_constants(PyObject *module)
{
    static const struct {
        const char *name;
        long value;
    } constants[] = {
        {"NAME_MAX", WB_NAME_MAX},     {"DEPTH_MAX", WB_DEPTH_MAX},   {"WRITERS_MAX", WB_WRITERS_MAX},
        {"PAYLOAD_MAX", WB_PAYLOAD_MAX}, {"TEXT_MAX", WB_TEXT_MAX},   {"VERSION", WB_VERSION},
        {"NAME", WB_NAME},             {"SIZE", WB_SIZE},             {"FOREIGN", WB_FOREIGN},
        {"OLD", WB_OLD},               {"TRUNCATED", WB_TRUNCATED},   {"CORRUPT", WB_CORRUPT},
        {"STALE", WB_STALE},           {"LAYOUT", WB_LAYOUT},         {"WRITERS", WB_WRITERS},
        {"BUSY", WB_BUSY},             {"FORKED", WB_FORKED},         {"EXHAUSTED", WB_EXHAUSTED},
        {"OVERRUN", WB_OVERRUN},       {"GONE", WB_GONE},             {"UNSAFE", WB_UNSAFE},
    };
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (PyModule_AddIntConstant(module, constants[i].name, constants[i].value) < 0)
            return -1;
    return 0;
}

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_ring", "The swap ring (see ring.h).", -1,
                                        module_methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__ring(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (!module)
        return NULL;
    ring_type = add_type(module, &ring_spec, "Ring");
    reader_type = add_type(module, &reader_spec, "Reader");
    writer_type = add_type(module, &writer_spec, "Writer");
    if (!ring_type || !reader_type || !writer_type || !add_type(module, &looks_spec, "Looks") ||
        !add_type(module, &copies_spec, "Copies") || add_constants(module) < 0)
        Py_CLEAR(module);
    return module;
}
