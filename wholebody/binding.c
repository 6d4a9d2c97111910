/* binding.c - arguments, arrays and handles, borrowed from Python. */
#include "wholebody/binding.h"

#include <stdarg.h>
#include <string.h>

static const char *const NAMES[] = {"float64", "int64", "bool", "uint8"};

/* numpy writes int64 as l or q, whichever the platform calls it. */
static bool has(Elements elements, const Py_buffer *view)
{
    const char *format = view->format ? view->format : "B";
    if (elements == NUMBERS)
        return strcmp(format, "d") == 0;
    if (elements == INTEGERS)
        return view->itemsize == 8 && (strcmp(format, "l") == 0 || strcmp(format, "q") == 0);
    return strcmp(format, elements == FLAGS ? "?" : "B") == 0;
}

void *borrow(Borrowed *borrowed, PyObject *array, Elements elements, Py_ssize_t count, bool written, const char *name)
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
    if (!has(elements, view)) {
        PyErr_Format(PyExc_ValueError, "%s must be an array of %s", name, NAMES[elements]);
        return NULL;
    }
    Py_ssize_t found = view->len / view->itemsize;
    if (count != ANY && found != count) {
        PyErr_Format(PyExc_ValueError, "%s has %zd elements, not %zd", name, found, count);
        return NULL;
    }
    return view->buf;
}

static void *take(Given *given, int index, Elements elements, Py_ssize_t count, bool written, const char *name)
{
    if (given->failed)
        return NULL;
    void *found = borrow(given->arrays, given->arguments[index], elements, count, written, name);
    given->failed = !found;
    return found;
}

double *given_numbers(Given *given, int index, Py_ssize_t count, const char *name)
{
    return take(given, index, NUMBERS, count, false, name);
}

double *given_written(Given *given, int index, Py_ssize_t count, const char *name)
{
    return take(given, index, NUMBERS, count, true, name);
}

int64_t *given_integers(Given *given, int index, Py_ssize_t count, const char *name)
{
    return take(given, index, INTEGERS, count, false, name);
}

int64_t *given_written_integers(Given *given, int index, Py_ssize_t count, const char *name)
{
    return take(given, index, INTEGERS, count, true, name);
}

uint8_t *given_flags(Given *given, int index, Py_ssize_t count, const char *name)
{
    return take(given, index, FLAGS, count, false, name);
}

uint8_t *given_written_flags(Given *given, int index, Py_ssize_t count, const char *name)
{
    return take(given, index, FLAGS, count, true, name);
}

uint8_t *given_bytes(Given *given, int index, Py_ssize_t count, const char *name)
{
    return take(given, index, BYTES, count, false, name);
}

uint8_t *given_written_bytes(Given *given, int index, Py_ssize_t count, const char *name)
{
    return take(given, index, BYTES, count, true, name);
}

Py_ssize_t given_count(const Given *given)
{
    if (given->failed)
        return 0;
    const Py_buffer *view = &given->arrays->views[given->arrays->count - 1];
    return view->len / view->itemsize;
}

double given_number(Given *given, int index)
{
    double found = given->failed ? 0.0 : PyFloat_AsDouble(given->arguments[index]);
    given->failed = given->failed || (found == -1.0 && PyErr_Occurred());
    return found;
}

long given_integer(Given *given, int index)
{
    long found = given->failed ? 0 : PyLong_AsLong(given->arguments[index]);
    given->failed = given->failed || (found == -1 && PyErr_Occurred());
    return found;
}

bool given_truth(Given *given, int index)
{
    int found = given->failed ? 0 : PyObject_IsTrue(given->arguments[index]);
    given->failed = given->failed || found < 0;
    return found == 1;
}

void *given_handle(Given *given, int index, const char *kind)
{
    void *found = given->failed ? NULL : handle_of(given->arguments[index], kind);
    given->failed = !found;
    return found;
}

Given open_tuple(Given *given, int index, int count, PyObject **items)
{
    for (int i = 0; i < count && !given->failed; i++)
        given->failed = !(items[i] = PyTuple_GetItem(given->arguments[index], i));
    return (Given){items, given->arrays, given->failed};
}

void close_tuple(Given *given, const Given *tuple)
{
    given->failed = tuple->failed;
}

bool all_within(Given *given, const int64_t *values, Py_ssize_t count, int64_t least, int64_t bound, const char *name)
{
    for (Py_ssize_t i = 0; i < count && !given->failed; i++)
        if (values[i] < least || values[i] >= bound)
            refuse(given, "%s has %lld, which is not from %lld to %lld", name, (long long)values[i], (long long)least,
                   (long long)bound - 1);
    return !given->failed;
}

PyObject *refuse(Given *given, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    if (!given->failed)
        PyErr_FormatV(PyExc_ValueError, format, values);
    va_end(values);
    given->failed = true;
    return NULL;
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

static void end_handle(PyObject *handle)
{
    Borrowed *memory = PyCapsule_GetPointer(handle, PyCapsule_GetName(handle));
    if (memory) {
        give_back(memory);
        PyMem_Free(memory);
    }
}

PyObject *new_handle(Given *given, size_t size, const char *kind, void **memory)
{
    *memory = given->failed ? NULL : PyMem_Calloc(1, size);
    PyObject *handle = *memory ? PyCapsule_New(*memory, kind, end_handle) : NULL;
    if (handle)
        given->arrays = *memory;
    else
        PyMem_Free(*memory);
    if (!handle && !PyErr_Occurred())
        PyErr_NoMemory();
    given->failed = !handle;
    return handle;
}

/* Every function of the extension as Python calls it; self is a capsule around its kernel. */
static PyObject *call(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    const Kernel *kernel = PyCapsule_GetPointer(self, NULL);
    if (count != kernel->arguments)
        return PyErr_Format(PyExc_TypeError, "%s takes %d arguments, not %zd", kernel->name, kernel->arguments, count);
    Borrowed arrays; /* {0} would clear two kilobytes */
    arrays.count = 0;
    arrays.kept = NULL;
    Given given = {arguments, &arrays, false};
    PyObject *result = kernel->function(&given);
    give_back(&arrays);
    if (given.failed)
        Py_CLEAR(result);
    return result;
}

bool add_kernels(PyObject *module, const Kernel *kernels)
{
    bool added = true;
    for (const Kernel *kernel = kernels; added && kernel->name; kernel++) {
        PyMethodDef *method = PyMem_Calloc(1, sizeof *method); /* as long as the process lives, as its function may */
        PyObject *self = method ? PyCapsule_New((void *)kernel, NULL, NULL) : PyErr_NoMemory();
        if (method)
            *method = (PyMethodDef){kernel->name, (PyCFunction)(void (*)(void))call, METH_FASTCALL, NULL};
        PyObject *function = self ? PyCFunction_NewEx(method, self, NULL) : NULL;
        added = function && PyModule_AddObjectRef(module, kernel->name, function) == 0;
        Py_XDECREF(function);
        Py_XDECREF(self);
    }
    return added;
}
