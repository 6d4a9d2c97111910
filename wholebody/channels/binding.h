/* binding.h - what the types of the Python binding share. */
#ifndef WHOLEBODY_BINDING_H
#define WHOLEBODY_BINDING_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "ring.h"

#pragma GCC visibility push(hidden)

typedef struct {
    PyObject_HEAD
    wb_ring *ring;
    char *path;
    uint64_t payload_size;
} Ring;

typedef struct {
    PyObject_HEAD
    Ring *ring;
    wb_writer *writer;
    Py_buffer message;
    int64_t sequence;
} Writer;

typedef struct {
    PyObject_HEAD
    Ring *ring;
    wb_reader *reader;
    Py_buffer message;
    int waiting;                       /* a thread waits with the GIL released */
} Reader;

/* A function as Python's slots of types hold it, void *, which ISO C lacks. */
#define SLOT(function) (__extension__(void *)(function))

extern PyTypeObject *ring_type, *reader_type, *writer_type;
extern PyType_Spec looks_spec, copies_spec;

/* Set the exception that a status means; NULL. */
PyObject *raise_fault(int64_t status, const char *path);

/* Memory for an object of a type, and back. */
PyObject *allocate(PyTypeObject *type);
void free_object(PyObject *self);

/* Whether a reader is open and nobody waits with it; if not, an exception is set. */
int reader_is_usable(Reader *self);

/* Read with wb_latest or wb_next, wherever the channel is now: 1, 0, or -1 with an exception set. */
int take_message(Reader *self, int (*read)(wb_reader *, void *));

/* Put the message of a writer: None, or NULL with an exception. */
PyObject *put_stamped(Writer *self, int64_t stamp);

#pragma GCC visibility pop
#endif
