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
static Dsyevd take_dsyevd(Given *given, int index)
{
    static const char *const SIGNATURE = "void (char *, char *, int *,";
    const char *name = given->failed ? NULL : PyCapsule_GetName(given->arguments[index]);
    if (!name || strncmp(name, SIGNATURE, strlen(SIGNATURE)) != 0) {
        PyErr_Clear();
        refuse(given, "dsyevd must be the capsule that scipy.linalg.cython_lapack exports");
        return NULL;
    }
    union { /* ISO C knows no cast from an object to a function */
        void *object;
        Dsyevd function;
    } pointer = {PyCapsule_GetPointer(given->arguments[index], name)};
    return pointer.function;
}

static PyObject *control_wbosc(Given *given)
{
    const Problem *problem = given_problem(given, 0);
    Dsyevd dsyevd = take_dsyevd(given, 2);
    if (!dsyevd)
        return NULL;
    Wbosc counted = {0};
    Arena arena = {NULL, 0};
    lay_out_wbosc(&counted, &arena, problem, dsyevd);
    size_t aligned = 32;
    WboscHandle *memory;
    PyObject *handle = new_handle(given, sizeof *memory + aligned + arena.taken, WBOSC_HANDLE, (void **)&memory);
    if (!handle)
        return NULL;
    uintptr_t behind = (uintptr_t)(memory + 1);
    arena = (Arena){(char *)(memory + 1) + (aligned - behind % aligned) % aligned, 0};
    lay_out_wbosc(&memory->wbosc, &arena, problem, dsyevd);
    keep(&memory->arrays, given->arguments[0]);
    Py_ssize_t settings = BEFORE_LIMITS + LIMITS * (Py_ssize_t)problem->joints;
    memory->wbosc.settings = (const WboscSettings *)given_numbers(given, 1, settings, "settings");
    return handle;
}

static PyObject *control_wbosc_solve(Given *given)
{
    WboscHandle *handle = given_handle(given, 0, WBOSC_HANDLE);
    if (!handle)
        return NULL;
    const Problem *problem = handle->wbosc.problem;
    const Snapshot *now = given_snapshot(given, 1, problem->tree);
    Output output = given_output(given, 2, problem);
    return given->failed ? NULL : PyLong_FromLong(solve_wbosc(&handle->wbosc, now, output));
}

const Kernel wbosc_kernels[] = {
    {"control_wbosc", control_wbosc, 3},
    {"control_wbosc_solve", control_wbosc_solve, 3},
    {0},
};
