/* wbosc_binding.c - whole-body operational space control for Python: a handle of each problem, and one cycle. */
#include <string.h>

#include "wholebody/control/binding.h"
#include "wholebody/control/wbosc.h"

#define WBOSC_HANDLE "wholebody.Wbosc"

enum { BEFORE_LIMITS = 10, LIMITS = 4 };

/* The memory that wbosc points into follows, from a multiple of 32 bytes on. */
typedef struct {
    Borrowed arrays;
    Wbosc wbosc;
} WboscHandle;

/* LAPACK's dsyevd from the capsule that scipy exports, whose name is its signature; NULL with a Python error. */
static Dsyevd dsyevd_of(PyObject *capsule)
{
    static const char *const SIGNATURE = "void (char *, char *, int *,";
    const char *name = PyCapsule_GetName(capsule);
    if (!name || strncmp(name, SIGNATURE, strlen(SIGNATURE)) != 0) {
        PyErr_SetString(PyExc_ValueError, "dsyevd must be the capsule that scipy.linalg.cython_lapack exports");
        return NULL;
    }
    union { /* ISO C knows no cast from an object to a function */
        void *object;
        Dsyevd function;
    } pointer = {PyCapsule_GetPointer(capsule, name)};
    return pointer.function;
}

/* control_wbosc(problem, settings, dsyevd): settings as WboscSettings has them. */
static PyObject *control_wbosc(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    (void)self;
    if (!takes(3, count, "control_wbosc"))
        return NULL;
    const Problem *problem = problem_of(args[0]);
    Dsyevd dsyevd = problem ? dsyevd_of(args[2]) : NULL;
    if (!dsyevd)
        return NULL;
    Wbosc counted = {0};
    Arena arena = {NULL, 0};
    lay_out_wbosc(&counted, &arena, problem, dsyevd);
    size_t aligned = 32;
    WboscHandle *memory;
    PyObject *handle = new_handle(sizeof *memory + aligned + arena.taken, WBOSC_HANDLE, (void **)&memory);
    if (!handle)
        return NULL;
    uintptr_t behind = (uintptr_t)(memory + 1);
    arena = (Arena){(char *)(memory + 1) + (aligned - behind % aligned) % aligned, 0};
    lay_out_wbosc(&memory->wbosc, &arena, problem, dsyevd);
    keep(&memory->arrays, args[0]);
    Py_ssize_t settings = BEFORE_LIMITS + LIMITS * (Py_ssize_t)problem->joints;
    memory->wbosc.settings = (const WboscSettings *)borrow_numbers(&memory->arrays, args[1], settings, "settings");
    if (!memory->wbosc.settings)
        Py_CLEAR(handle);
    return handle;
}

/* control_wbosc_solve(wbosc, snapshot, output): one cycle; a Verdict. */
static PyObject *control_wbosc_solve(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    (void)self;
    Borrowed borrowed = {0};
    if (!takes(3, count, "control_wbosc_solve"))
        return NULL;
    WboscHandle *handle = handle_of(args[0], WBOSC_HANDLE);
    const Snapshot *now = handle ? snapshot_of(args[1], handle->wbosc.problem->tree) : NULL;
    if (!now)
        return NULL;
    const Problem *problem = handle->wbosc.problem;
    Py_ssize_t size = 6 * (Py_ssize_t)problem->joints + problem->nv + problem->constraint_rows + problem->error_rows;
    double *output = borrow_written(&borrowed, args[2], size, "output");
    Verdict verdict = output ? solve_wbosc(&handle->wbosc, now, output_in(problem, output)) : SOLVED;
    give_back(&borrowed);
    return output ? PyLong_FromLong(verdict) : NULL;
}

PyMethodDef wbosc_methods[] = {
    {"control_wbosc", METHOD(control_wbosc), NULL},
    {"control_wbosc_solve", METHOD(control_wbosc_solve), NULL},
    {0},
};
