/* binding.c - the model's functions in Python: handles of a tree and of a snapshot, and what works on them. */
#include <string.h>

#include "wholebody/model/binding.h"

enum { TREE_HEADER = 8, MOST = 1 << 15 /* bodies, frames, columns */ };

/* Refuse integers and numbers that are not as many as the first integers say, or lead to nothing. */
static void check_tree(Given *given, const int64_t *integers, Py_ssize_t count, Py_ssize_t numbers)
{
    if (given->failed || count < TREE_HEADER || !all_within(given, integers, 5, 0, MOST, "integers")) {
        refuse(given, "integers are too few for a tree");
        return;
    }
    const int64_t bodies = integers[0], frames = integers[1], nv = integers[2], nq = integers[3], watched = integers[4];
    const int64_t base = integers[5] == 1 ? 6 : 0;
    if (bodies < 1 || nv < base || nq != nv + (base ? 1 : 0) ||
        count != TREE_HEADER + 5 * bodies + frames + watched + nv || numbers != 24 * bodies + 12 * frames + 2 * nv + 3) {
        refuse(given, "integers and numbers are not as many as a tree of their sizes has");
        return;
    }
    const int64_t *parent = integers + TREE_HEADER, *end = parent + bodies, *column = end + 3 * bodies;
    const int64_t *frame_body = column + bodies;
    for (int64_t body = 1; body < bodies; body++) {
        all_within(given, parent + body, 1, 0, body, "parents");
        all_within(given, column + body, 1, base, nv, "columns");
    }
    for (int64_t body = 0; body < bodies; body++)
        all_within(given, end + body, 1, body + 1, bodies + 1, "ends of subtrees");
    all_within(given, end + bodies, bodies, 0, nv + 1, "ends of columns");
    all_within(given, frame_body, frames, 0, bodies, "bodies of frames");
    all_within(given, frame_body + frames, watched, 0, frames, "watched frames");
}

const Snapshot *given_snapshot(Given *given, int index, const Tree *tree)
{
    const SnapshotHandle *found = given_handle(given, index, SNAPSHOT_HANDLE);
    if (!found)
        return NULL;
    if (found->bodies == tree->bodies && found->frames == tree->frames && found->nv == tree->nv && found->nq == tree->nq)
        return &found->now;
    return (void *)refuse(given, "the snapshot is of another robot");
}

static PyObject *model_tree(Given *given)
{
    TreeHandle *handle;
    PyObject *capsule = new_handle(given, sizeof *handle, TREE_HANDLE, (void **)&handle);
    const int64_t *integers = given_integers(given, 0, ANY, "integers");
    Py_ssize_t described = given_count(given);
    const double *numbers = given_numbers(given, 1, ANY, "numbers");
    check_tree(given, integers, described, given_count(given));
    if (!given->failed)
        handle->tree = tree_in(integers, numbers);
    return capsule;
}

static PyObject *model_snapshot(Given *given)
{
    const Tree *tree = given_tree(given, 0);
    SnapshotHandle *handle;
    PyObject *capsule = new_handle(given, sizeof *handle, SNAPSHOT_HANDLE, (void **)&handle);
    double *storage = given_written(given, 1, tree ? (Py_ssize_t)snapshot_size(tree) : 0, "storage");
    if (storage) {
        handle->now = snapshot_in(tree, storage);
        handle->bodies = tree->bodies;
        handle->frames = tree->frames;
        handle->nv = tree->nv;
        handle->nq = tree->nq;
    }
    return capsule;
}

typedef StateVerdict Evaluate(const Tree *tree, const Snapshot *now);

static PyObject *evaluated(Evaluate *evaluate, Given *given)
{
    const Tree *tree = given_tree(given, 0);
    const Snapshot *now = given_snapshot(given, 1, tree);
    if (!now)
        return NULL;
    const double *q = given_numbers(given, 2, tree->nq, "q"), *v = given_numbers(given, 3, tree->nv, "v");
    if (given->failed || given->arrays->views[0].ndim != 1 || given->arrays->views[1].ndim != 1)
        return refuse(given, "q and v must have one dimension");
    memcpy(now->q, q, (size_t)tree->nq * sizeof(double));
    memcpy(now->v, v, (size_t)tree->nv * sizeof(double));
    return PyLong_FromLong(evaluate(tree, now));
}

static PyObject *model_evaluate(Given *given)
{
    return evaluated(evaluate_snapshot, given);
}

static PyObject *model_evaluate_plainly(Given *given)
{
    return evaluated(evaluate_plainly, given);
}

static PyObject *model_variant(Given *Py_UNUSED(given))
{
    return PyUnicode_FromString(kernel_variant());
}

/* The index of a frame. */
static int take_frame(Given *given, int index, const Tree *tree)
{
    int64_t frame = given_integer(given, index);
    return all_within(given, &frame, 1, 0, tree ? tree->frames : 0, "frame") ? (int)frame : 0;
}

static PyObject *model_jacobian(Given *given)
{
    const Tree *tree = given_tree(given, 0);
    const Snapshot *now = given_snapshot(given, 1, tree);
    int frame = take_frame(given, 2, tree);
    if (!given->failed)
        fill_jacobian(tree, now, frame);
    return nothing();
}

static PyObject *model_integrate(Given *given)
{
    const Tree *tree = given_tree(given, 0);
    Py_ssize_t nq = tree ? tree->nq : 0, nv = tree ? tree->nv : 0;
    const double *q = given_numbers(given, 1, nq, "q"), *v = given_numbers(given, 2, nv, "v");
    double dt = given_number(given, 3), *result = given_written(given, 4, nq, "result");
    if (!given->failed)
        integrate_configuration(tree, q, v, dt, result);
    return nothing();
}

static PyObject *model_difference(Given *given)
{
    const Tree *tree = given_tree(given, 0);
    Py_ssize_t nq = tree ? tree->nq : 0, nv = tree ? tree->nv : 0;
    const double *q0 = given_numbers(given, 1, nq, "q0"), *q1 = given_numbers(given, 2, nq, "q1");
    double *result = given_written(given, 3, nv, "result");
    if (!given->failed)
        difference_of_configurations(tree, q0, q1, result);
    return nothing();
}

const Kernel model_kernels[] = {
    {"model_tree", model_tree, 2},
    {"model_snapshot", model_snapshot, 2},
    {"model_evaluate", model_evaluate, 4},
    {"model_evaluate_plainly", model_evaluate_plainly, 4},
    {"model_variant", model_variant, 0},
    {"model_jacobian", model_jacobian, 3},
    {"model_integrate", model_integrate, 5},
    {"model_difference", model_difference, 4},
    {0},
};
