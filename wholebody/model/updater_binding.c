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

static Updater *take_updater(Given *given)
{
    UpdaterHandle *handle = given_handle(given, 0, UPDATER_HANDLE);
    return handle ? &handle->updater : NULL;
}

static PyObject *model_updater(Given *given)
{
    const Tree *tree = given_tree(given, 0);
    double nap = given_number(given, 1);
    UpdaterHandle *handle = given->failed ? NULL : PyMem_Calloc(1, sizeof *handle);
    if (!handle)
        return given->failed ? NULL : PyErr_NoMemory();
    PyObject *capsule = PyCapsule_New(handle, UPDATER_HANDLE, end_handle);
    if (!capsule) {
        PyMem_Free(handle);
        return NULL;
    }
    handle->tree = Py_NewRef(given->arguments[0]);
    lay_out_updater(&handle->updater, tree, nap);
    return capsule;
}

static PyObject *model_updater_begin(Given *given)
{
    Updater *updater = take_updater(given);
    errno = updater ? begin_updater(updater) : 0;
    return errno == 0 ? nothing() : PyErr_SetFromErrno(PyExc_OSError);
}

static PyObject *model_updater_end(Given *given)
{
    Updater *updater = take_updater(given);
    if (updater)
        end_updater(updater);
    return nothing();
}

static PyObject *model_updater_ask(Given *given)
{
    UpdaterHandle *handle = given_handle(given, 0, UPDATER_HANDLE);
    TreeHandle *tree = handle ? handle_of(handle->tree, TREE_HANDLE) : NULL;
    const Snapshot *now = given_snapshot(given, 1, tree ? &tree->tree : NULL);
    if (!now)
        return NULL;
    if (!ask_updater(&handle->updater, *now))
        Py_RETURN_FALSE;
    PyObject *before = handle->asked;
    handle->asked = Py_NewRef(given->arguments[1]);
    Py_XDECREF(before);
    Py_RETURN_TRUE;
}

static PyObject *model_updater_take(Given *given)
{
    UpdaterHandle *handle = given_handle(given, 0, UPDATER_HANDLE);
    StateVerdict verdict;
    if (!handle || !take_from_updater(&handle->updater, &verdict))
        return PyLong_FromLong(-1);
    Py_CLEAR(handle->asked);
    return PyLong_FromLong(verdict);
}

const Kernel updater_kernels[] = {
    {"model_updater", model_updater, 2},
    {"model_updater_begin", model_updater_begin, 1},
    {"model_updater_end", model_updater_end, 1},
    {"model_updater_ask", model_updater_ask, 2},
    {"model_updater_take", model_updater_take, 1},
    {0},
};
