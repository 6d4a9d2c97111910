/* updater_binding.c - the updater in Python: a handle whose thread ends with it. */
#include "wholebody/model/binding.h"

#include <errno.h>

#include "wholebody/model/updater.h"

#define UPDATER_HANDLE "wholebody.Updater"

typedef struct {
    Updater updater;
    PyObject *tree;
    PyObject *asked; /* the handle of the snapshot that was asked for last, kept while the thread may write to it */
} UpdaterHandle;

static void end_handle(PyObject *capsule)
{
    UpdaterHandle *handle = PyCapsule_GetPointer(capsule, UPDATER_HANDLE);
    if (!handle)
        return;
    end_updater(&handle->updater);
    clear_updater(&handle->updater);
    Py_XDECREF(handle->asked);
    Py_DECREF(handle->tree);
    PyMem_Free(handle);
}

static UpdaterHandle *updater_of(PyObject *capsule)
{
    return handle_of(capsule, UPDATER_HANDLE);
}

/* model_updater(tree, nap) */
static PyObject *model_updater(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (!takes(2, count, "model_updater"))
        return NULL;
    const Tree *tree = tree_of(arguments[0]);
    double nap = tree ? PyFloat_AsDouble(arguments[1]) : 0.0;
    if (PyErr_Occurred())
        return NULL;
    UpdaterHandle *handle = PyMem_Calloc(1, sizeof *handle);
    if (!handle)
        return PyErr_NoMemory();
    PyObject *capsule = PyCapsule_New(handle, UPDATER_HANDLE, end_handle);
    if (!capsule) {
        PyMem_Free(handle);
        return NULL;
    }
    handle->tree = Py_NewRef(arguments[0]);
    lay_out_updater(&handle->updater, tree, nap);
    return capsule;
}

static PyObject *model_updater_begin(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (!takes(1, count, "model_updater_begin"))
        return NULL;
    UpdaterHandle *handle = updater_of(arguments[0]);
    if (!handle)
        return NULL;
    errno = begin_updater(&handle->updater);
    return errno == 0 ? Py_NewRef(Py_None) : PyErr_SetFromErrno(PyExc_OSError);
}

static PyObject *model_updater_end(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (!takes(1, count, "model_updater_end"))
        return NULL;
    UpdaterHandle *handle = updater_of(arguments[0]);
    if (!handle)
        return NULL;
    end_updater(&handle->updater);
    Py_RETURN_NONE;
}

/* model_updater_ask(updater, snapshot): whether the thread was free to be asked. */
static PyObject *model_updater_ask(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (!takes(2, count, "model_updater_ask"))
        return NULL;
    UpdaterHandle *handle = updater_of(arguments[0]);
    const Tree *tree = handle ? tree_of(handle->tree) : NULL;
    const Snapshot *now = tree ? snapshot_of(arguments[1], tree) : NULL;
    if (!now)
        return NULL;
    if (!ask_updater(&handle->updater, *now))
        Py_RETURN_FALSE;
    PyObject *before = handle->asked;
    handle->asked = Py_NewRef(arguments[1]);
    Py_XDECREF(before);
    Py_RETURN_TRUE;
}

/* model_updater_take(updater): the verdict on the snapshot that was asked for; -1 if it is not done. */
static PyObject *model_updater_take(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (!takes(1, count, "model_updater_take"))
        return NULL;
    UpdaterHandle *handle = updater_of(arguments[0]);
    if (!handle)
        return NULL;
    StateVerdict verdict;
    if (!take_from_updater(&handle->updater, &verdict))
        return PyLong_FromLong(-1);
    Py_CLEAR(handle->asked);
    return PyLong_FromLong(verdict);
}

PyMethodDef updater_methods[] = {
    {"model_updater", METHOD(model_updater), "model_updater(tree, nap): the handle of a thread, which has not begun."},
    {"model_updater_begin", METHOD(model_updater_begin), "model_updater_begin(updater): start its thread."},
    {"model_updater_end", METHOD(model_updater_end), "model_updater_end(updater): join its thread."},
    {"model_updater_ask", METHOD(model_updater_ask), "model_updater_ask(updater, snapshot): whether it was free."},
    {"model_updater_take", METHOD(model_updater_take), "model_updater_take(updater): the verdict, or -1 if not done."},
    {0},
};
