/* binding.c - the model's functions in Python: handles of a tree and of a snapshot, and what works on them. */
#include <string.h>

#include "wholebody/binding.h"
#include "wholebody/model/binding.h"

enum { TREE_HEADER = 8, MOST = 1 << 15 /* bodies, frames, columns */ };

/* Whether integers and numbers are as many as the first integers say, and every index leads to something. */
static bool is_tree(const int64_t *integers, Py_ssize_t count, Py_ssize_t numbers)
{
    if (count < TREE_HEADER) {
        PyErr_SetString(PyExc_ValueError, "integers are too few for a tree");
        return false;
    }
    const int64_t bodies = integers[0], frames = integers[1], nv = integers[2], nq = integers[3], watched = integers[4];
    const int64_t base = integers[5] == 1 ? 6 : 0;
    if (!all_within(integers, 5, 0, MOST, "integers"))
        return false;
    if (bodies < 1 || nv < base || nq != nv + (base ? 1 : 0) ||
        count != TREE_HEADER + 5 * bodies + frames + watched + nv || numbers != 24 * bodies + 12 * frames + 2 * nv + 3) {
        PyErr_SetString(PyExc_ValueError, "integers and numbers are not as many as a tree of their sizes has");
        return false;
    }
    const int64_t *parent = integers + TREE_HEADER, *end = parent + bodies, *column = end + 3 * bodies;
    const int64_t *frame_body = column + bodies;
    for (int64_t body = 1; body < bodies; body++)
        if (!all_within(parent + body, 1, 0, body, "parents") || !all_within(column + body, 1, base, nv, "columns"))
            return false;
    for (int64_t body = 0; body < bodies; body++)
        if (!all_within(end + body, 1, body + 1, bodies + 1, "ends of subtrees") ||
            !all_within(end + bodies + body, 1, 0, nv + 1, "ends of columns"))
            return false;
    return all_within(frame_body, frames, 0, bodies, "bodies of frames") &&
           all_within(frame_body + frames, watched, 0, frames, "watched frames");
}

const Snapshot *snapshot_of(PyObject *handle, const Tree *tree)
{
    const SnapshotHandle *found = handle_of(handle, SNAPSHOT_HANDLE);
    if (!found)
        return NULL;
    if (found->bodies == tree->bodies && found->frames == tree->frames && found->nv == tree->nv && found->nq == tree->nq)
        return &found->now;
    PyErr_SetString(PyExc_ValueError, "the snapshot is of another robot");
    return NULL;
}

static PyObject *model_tree(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (!takes(2, count, "model_tree"))
        return NULL;
    TreeHandle *handle;
    PyObject *capsule = new_handle(sizeof *handle, TREE_HANDLE, (void **)&handle);
    if (!capsule)
        return NULL;
    const int64_t *integers = borrow_integers(&handle->arrays, arguments[0], ANY, "integers");
    Py_ssize_t described = integers ? borrowed_count(&handle->arrays) : 0;
    const double *numbers = integers ? borrow_numbers(&handle->arrays, arguments[1], ANY, "numbers") : NULL;
    if (!numbers || !is_tree(integers, described, borrowed_count(&handle->arrays))) {
        Py_DECREF(capsule);
        return NULL;
    }
    handle->tree = tree_in(integers, numbers);
    return capsule;
}

static PyObject *model_snapshot(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (!takes(2, count, "model_snapshot"))
        return NULL;
    const Tree *tree = tree_of(arguments[0]);
    if (!tree)
        return NULL;
    SnapshotHandle *handle;
    PyObject *capsule = new_handle(sizeof *handle, SNAPSHOT_HANDLE, (void **)&handle);
    if (!capsule)
        return NULL;
    double *storage = borrow_written(&handle->arrays, arguments[1], (Py_ssize_t)snapshot_size(tree), "storage");
    if (!storage) {
        Py_DECREF(capsule);
        return NULL;
    }
    handle->now = snapshot_in(tree, storage);
    handle->bodies = tree->bodies;
    handle->frames = tree->frames;
    handle->nv = tree->nv;
    handle->nq = tree->nq;
    return capsule;
}

typedef StateVerdict Evaluate(const Tree *tree, const Snapshot *now);

static PyObject *evaluated(Evaluate *evaluate, PyObject *const *arguments)
{
    const Tree *tree = tree_of(arguments[0]);
    const Snapshot *now = tree ? snapshot_of(arguments[1], tree) : NULL;
    if (!now)
        return NULL;
    Borrowed arrays; /* {0} would clear two kilobytes */
    arrays.count = 0;
    arrays.kept = NULL;
    const double *q = borrow_numbers(&arrays, arguments[2], tree->nq, "q");
    const double *v = q ? borrow_numbers(&arrays, arguments[3], tree->nv, "v") : NULL;
    if (v && (arrays.views[0].ndim != 1 || arrays.views[1].ndim != 1)) {
        PyErr_SetString(PyExc_ValueError, "q and v must have one dimension");
        v = NULL;
    }
    if (v) {
        memcpy(now->q, q, (size_t)tree->nq * sizeof(double));
        memcpy(now->v, v, (size_t)tree->nv * sizeof(double));
    }
    give_back(&arrays);
    return v ? PyLong_FromLong(evaluate(tree, now)) : NULL;
}

static PyObject *model_evaluate(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    return takes(4, count, "model_evaluate") ? evaluated(evaluate_snapshot, arguments) : NULL;
}

static PyObject *model_evaluate_plainly(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    return takes(4, count, "model_evaluate_plainly") ? evaluated(evaluate_plainly, arguments) : NULL;
}

static PyObject *model_variant(PyObject *Py_UNUSED(module), PyObject *const *Py_UNUSED(arguments), Py_ssize_t count)
{
    return takes(0, count, "model_variant") ? PyUnicode_FromString(kernel_variant()) : NULL;
}

static PyObject *model_jacobian(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (!takes(3, count, "model_jacobian"))
        return NULL;
    const Tree *tree = tree_of(arguments[0]);
    const Snapshot *now = tree ? snapshot_of(arguments[1], tree) : NULL;
    if (!now)
        return NULL;
    long frame = PyLong_AsLong(arguments[2]);
    if (PyErr_Occurred())
        return NULL;
    if (frame < 0 || frame >= tree->frames)
        return PyErr_Format(PyExc_IndexError, "no frame %ld", frame);
    fill_jacobian(tree, now, (int)frame);
    Py_RETURN_NONE;
}

static PyObject *model_hessian(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (!takes(4, count, "model_hessian"))
        return NULL;
    const Tree *tree = tree_of(arguments[0]);
    const Snapshot *now = tree ? snapshot_of(arguments[1], tree) : NULL;
    long frame = now ? PyLong_AsLong(arguments[2]) : 0;
    if (PyErr_Occurred())
        return NULL;
    if (frame < 0 || frame >= tree->frames)
        return PyErr_Format(PyExc_IndexError, "no frame %ld", frame);
    Borrowed arrays = {0};
    Py_ssize_t nv = tree->nv;
    double *hessian = borrow_written(&arrays, arguments[3], 6 * nv * nv, "hessian");
    if (hessian)
        fill_hessian(tree, now, (int)frame, hessian);
    give_back(&arrays);
    return hessian ? Py_NewRef(Py_None) : NULL;
}

static PyObject *model_integrate(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (!takes(5, count, "model_integrate"))
        return NULL;
    const Tree *tree = tree_of(arguments[0]);
    if (!tree)
        return NULL;
    Borrowed arrays = {0};
    const double *q = borrow_numbers(&arrays, arguments[1], tree->nq, "q");
    const double *v = q ? borrow_numbers(&arrays, arguments[2], tree->nv, "v") : NULL;
    double *result = v ? borrow_written(&arrays, arguments[4], tree->nq, "result") : NULL;
    double dt = PyFloat_AsDouble(arguments[3]);
    if (result && !PyErr_Occurred())
        integrate_configuration(tree, q, v, dt, result);
    give_back(&arrays);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static PyObject *model_difference(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (!takes(4, count, "model_difference"))
        return NULL;
    const Tree *tree = tree_of(arguments[0]);
    if (!tree)
        return NULL;
    Borrowed arrays = {0};
    const double *q0 = borrow_numbers(&arrays, arguments[1], tree->nq, "q0");
    const double *q1 = q0 ? borrow_numbers(&arrays, arguments[2], tree->nq, "q1") : NULL;
    double *result = q1 ? borrow_written(&arrays, arguments[3], tree->nv, "result") : NULL;
    if (result)
        difference_of_configurations(tree, q0, q1, result);
    give_back(&arrays);
    return result ? Py_NewRef(Py_None) : NULL;
}

PyMethodDef model_methods[] = {
    {"model_tree", METHOD(model_tree), "model_tree(integers, numbers): the handle of a robot's tree."},
    {"model_snapshot", METHOD(model_snapshot), "model_snapshot(tree, storage): the handle of a snapshot's memory."},
    {"model_evaluate", METHOD(model_evaluate), "model_evaluate(tree, snapshot, q, v): compute everything; 0 if all is well."},
    {"model_evaluate_plainly", METHOD(model_evaluate_plainly), "The same as model_evaluate, for any processor."},
    {"model_variant", METHOD(model_variant), "model_variant(): which variant model_evaluate runs, 'avx' or 'plain'."},
    {"model_jacobian", METHOD(model_jacobian), "model_jacobian(tree, snapshot, frame): one more frame's Jacobian."},
    {"model_hessian", METHOD(model_hessian), "model_hessian(tree, snapshot, frame, hessian): 6 x nv x nv."},
    {"model_integrate", METHOD(model_integrate), "model_integrate(tree, q, v, dt, result)."},
    {"model_difference", METHOD(model_difference), "model_difference(tree, q0, q1, result)."},
    {0},
};
