/* binding.c - arrays and handles, borrowed from Python. */
#include "wholebody/binding.h"

#include <string.h>

typedef enum { NUMBERS, INTEGERS, FLAGS, BYTES } Kind;

static const char *const KINDS[] = {"float64", "int64", "bool", "uint8"};

/* numpy writes int64 as l or q, whichever the platform calls it. */
static bool is_of(Kind kind, const Py_buffer *view)
{
    const char *format = view->format ? view->format : "B";
    if (kind == NUMBERS)
        return strcmp(format, "d") == 0;
    if (kind == INTEGERS)
        return view->itemsize == 8 && (strcmp(format, "l") == 0 || strcmp(format, "q") == 0);
    return strcmp(format, kind == FLAGS ? "?" : "B") == 0;
}

static void *borrow(Borrowed *borrowed, PyObject *array, Kind kind, Py_ssize_t count, bool written, const char *name)
{
    if (borrowed->count == MOST_BORROWED) {
        PyErr_Format(PyExc_SystemError, "%s is one array more than a call can borrow", name);
        return NULL;
    }
    Py_buffer *view = &borrowed->views[borrowed->count];
    int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (written ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(array, view, flags) != 0) {
        PyErr_Format(PyExc_ValueError, "%s must be a contiguous array%s", name, written ? " that can be written" : "");
        return NULL;
    }
    borrowed->count++;
    if (!is_of(kind, view)) {
        PyErr_Format(PyExc_ValueError, "%s must be an array of %s", name, KINDS[kind]);
        return NULL;
    }
    Py_ssize_t found = view->len / view->itemsize;
    if (count != ANY && found != count) {
        PyErr_Format(PyExc_ValueError, "%s has %zd elements, not %zd", name, found, count);
        return NULL;
    }
    return view->buf;
}

double *borrow_numbers(Borrowed *borrowed, PyObject *array, Py_ssize_t count, const char *name)
{
    return borrow(borrowed, array, NUMBERS, count, false, name);
}

double *borrow_written(Borrowed *borrowed, PyObject *array, Py_ssize_t count, const char *name)
{
    return borrow(borrowed, array, NUMBERS, count, true, name);
}

int64_t *borrow_integers(Borrowed *borrowed, PyObject *array, Py_ssize_t count, const char *name)
{
    return borrow(borrowed, array, INTEGERS, count, false, name);
}

int64_t *borrow_written_integers(Borrowed *borrowed, PyObject *array, Py_ssize_t count, const char *name)
{
    return borrow(borrowed, array, INTEGERS, count, true, name);
}

uint8_t *borrow_flags(Borrowed *borrowed, PyObject *array, Py_ssize_t count, const char *name)
{
    return borrow(borrowed, array, FLAGS, count, false, name);
}

uint8_t *borrow_written_flags(Borrowed *borrowed, PyObject *array, Py_ssize_t count, const char *name)
{
    return borrow(borrowed, array, FLAGS, count, true, name);
}

uint8_t *borrow_bytes(Borrowed *borrowed, PyObject *array, Py_ssize_t count, const char *name)
{
    return borrow(borrowed, array, BYTES, count, false, name);
}

Py_ssize_t borrowed_count(const Borrowed *borrowed)
{
    const Py_buffer *view = &borrowed->views[borrowed->count - 1];
    return view->len / view->itemsize;
}

bool all_within(const int64_t *values, Py_ssize_t count, int64_t least, int64_t bound, const char *name)
{
    for (Py_ssize_t i = 0; i < count; i++)
        if (values[i] < least || values[i] >= bound) {
            PyErr_Format(PyExc_ValueError, "%s has %lld, which is not from %lld to %lld", name, (long long)values[i],
                         (long long)least, (long long)bound - 1);
            return false;
        }
    return true;
}

void keep(Borrowed *borrowed, PyObject *object)
{
    Py_XDECREF(borrowed->kept);
    borrowed->kept = Py_NewRef(object);
}

void give_back(Borrowed *borrowed)
{
    while (borrowed->count > 0)
        PyBuffer_Release(&borrowed->views[--borrowed->count]);
    Py_CLEAR(borrowed->kept);
}

bool takes(Py_ssize_t expected, Py_ssize_t given, const char *function)
{
    if (expected != given)
        PyErr_Format(PyExc_TypeError, "%s takes %zd arguments, not %zd", function, expected, given);
    return expected == given;
}

static void end_handle(PyObject *handle)
{
    Borrowed *memory = PyCapsule_GetPointer(handle, PyCapsule_GetName(handle));
    if (memory) {
        give_back(memory);
        PyMem_Free(memory);
    }
}

PyObject *new_handle(size_t size, const char *kind, void **memory)
{
    *memory = PyMem_Calloc(1, size);
    if (!*memory)
        return PyErr_NoMemory();
    PyObject *handle = PyCapsule_New(*memory, kind, end_handle);
    if (!handle)
        PyMem_Free(*memory);
    return handle;
}
