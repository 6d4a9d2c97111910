/* together.c - many channels in one call: Looks, latest() of readers, and Copies, put() of writers.
 *
 * A loop with twenty bindings pays for two calls from Python instead of twenty. */
#include "binding.h"

#include <string.h>

/* --- Looks: many readers in one call -------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    Py_ssize_t count;
    Reader **readers;
} Looks;

static PyObject *looks_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"readers", NULL};
    PyObject *sequence;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O", names, &sequence))
        return NULL;
    Py_ssize_t count = PySequence_Size(sequence);
    Looks *self = count < 0 ? NULL : (Looks *)allocate(type);
    if (!self)
        return NULL;
    self->readers = PyMem_Calloc((size_t)count + 1, sizeof *self->readers);
    for (; self->readers && self->count < count; self->count++) {
        PyObject *item = PySequence_GetItem(sequence, self->count);
        if (!item || !PyObject_TypeCheck(item, reader_type)) {
            if (item)
                PyErr_SetString(PyExc_TypeError, "Looks takes readers");
            Py_XDECREF(item);
            break;
        }
        self->readers[self->count] = (Reader *)item;
    }
    if (self->readers && self->count == count)
        return (PyObject *)self;
    if (!PyErr_Occurred())
        PyErr_NoMemory();
    Py_DECREF((PyObject *)self);
    return NULL;
}

static void looks_dealloc(PyObject *object)
{
    Looks *self = (Looks *)object;
    for (Py_ssize_t i = 0; i < self->count; i++)
        Py_DECREF((PyObject *)self->readers[i]);
    PyMem_Free(self->readers);
    free_object(object);
}

static PyObject *looks_latest(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    Looks *self = (Looks *)object;
    PyObject *found = PyList_New(0);
    for (Py_ssize_t i = 0; found && i < self->count; i++) {
        Reader *reader = self->readers[i];
        int status = reader_is_usable(reader) ? take_message(reader, wb_latest) : -1;
        PyObject *position = status > 0 ? PyLong_FromSsize_t(i) : NULL;
        if (PyErr_Occurred() || (position && PyList_Append(found, position) < 0))
            Py_CLEAR(found);
        Py_XDECREF(position);
    }
    return found;
}

static PyMethodDef looks_methods[] = {
    {"latest", looks_latest, METH_NOARGS, "Take the newest message of each reader; the positions of those that had one."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot looks_slots[] = {
    {Py_tp_new, SLOT(looks_new)},
    {Py_tp_dealloc, SLOT(looks_dealloc)},
    {Py_tp_methods, looks_methods},
    {Py_tp_doc, "Takes the newest messages of many channels in one call."},
    {0, NULL},
};

PyType_Spec looks_spec = {"wholebody.channels._ring.Looks", sizeof(Looks), 0, Py_TPFLAGS_DEFAULT, looks_slots};

/* --- Copies: many writers in one call ------------------------------------------------------------- */

typedef struct {
    Writer *writer;
    Py_buffer numbers;
} Copy;

typedef struct {
    PyObject_HEAD
    Py_ssize_t count;
    Copy *copies;
} Copies;

/* Fill a copy from a pair (writer, numbers): a message is a time, and then the numbers. -1 with an exception set. */
static int copy_of(PyObject *pair, Copy *copy)
{
    PyObject *writer, *numbers;
    if (!PyTuple_Check(pair)) {
        PyErr_SetString(PyExc_TypeError, "Copies takes pairs of a writer and numbers");
        return -1;
    }
    if (!PyArg_ParseTuple(pair, "O!O", writer_type, &writer, &numbers) ||
        PyObject_GetBuffer(numbers, &copy->numbers, PyBUF_SIMPLE) < 0)
        return -1;
    Py_ssize_t size = ((Writer *)writer)->message.len, given = copy->numbers.len;
    if (size != (Py_ssize_t)sizeof(double) + given) {
        PyErr_Format(PyExc_ValueError, "messages of %zd bytes do not hold a time and %zd bytes of numbers", size, given);
        PyBuffer_Release(&copy->numbers);
        return -1;
    }
    Py_INCREF(writer);
    copy->writer = (Writer *)writer;
    return 0;
}

static PyObject *copies_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"pairs", NULL};
    PyObject *sequence;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O", names, &sequence))
        return NULL;
    Py_ssize_t count = PySequence_Size(sequence);
    Copies *self = count < 0 ? NULL : (Copies *)allocate(type);
    if (!self)
        return NULL;
    self->copies = PyMem_Calloc((size_t)count + 1, sizeof *self->copies);
    for (; self->copies && self->count < count; self->count++) {
        PyObject *pair = PySequence_GetItem(sequence, self->count);
        int status = pair ? copy_of(pair, &self->copies[self->count]) : -1;
        Py_XDECREF(pair);
        if (status < 0)
            break;
    }
    if (self->copies && self->count == count)
        return (PyObject *)self;
    if (!PyErr_Occurred())
        PyErr_NoMemory();
    Py_DECREF((PyObject *)self);
    return NULL;
}

static void copies_dealloc(PyObject *object)
{
    Copies *self = (Copies *)object;
    for (Py_ssize_t i = 0; i < self->count; i++) {
        PyBuffer_Release(&self->copies[i].numbers);
        Py_DECREF((PyObject *)self->copies[i].writer);
    }
    PyMem_Free(self->copies);
    free_object(object);
}

static PyObject *copies_put(PyObject *object, PyObject *argument)
{
    Copies *self = (Copies *)object;
    double time = PyFloat_AsDouble(argument);
    if (time == -1.0 && PyErr_Occurred())
        return NULL;
    int64_t stamp = wb_now();
    for (Py_ssize_t i = 0; i < self->count; i++) {
        const Copy *copy = &self->copies[i];
        char *message = copy->writer->message.buf;
        memcpy(message, &time, sizeof time);
        memcpy(message + sizeof time, copy->numbers.buf, (size_t)copy->numbers.len);
        PyObject *done = put_stamped(copy->writer, stamp);
        if (!done)
            return NULL;
        Py_DECREF(done);
    }
    Py_RETURN_NONE;
}

static PyMethodDef copies_methods[] = {
    {"put", copies_put, METH_O, "Publish a time and the numbers as they are now, on every channel; never waits."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot copies_slots[] = {
    {Py_tp_new, SLOT(copies_new)},
    {Py_tp_dealloc, SLOT(copies_dealloc)},
    {Py_tp_methods, copies_methods},
    {Py_tp_doc, "Puts numbers that lie elsewhere on many channels in one call."},
    {0, NULL},
};

PyType_Spec copies_spec = {"wholebody.channels._ring.Copies", sizeof(Copies), 0, Py_TPFLAGS_DEFAULT,
                                  copies_slots};
