/* binding.h - how Python hands arrays to C: borrowed for a call, or for as long as an object lives.
 *
 * Every function of the extension takes positional arguments (METH_FASTCALL). Arrays are numpy's, C-contiguous, of
 * float64, int64 or bool; anything else is a ValueError that names the argument. Memory stays numpy's: C only points
 * into it. What a loop calls gets a handle: a capsule around a struct whose pointers were taken once. */
#ifndef WHOLEBODY_BINDING_H
#define WHOLEBODY_BINDING_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

enum { ANY = -1, MOST_BORROWED = 24 };

/* The arrays that a call, or a handle, holds, and an object beside them. Starts as {0}; `give_back` ends it. */
typedef struct {
    Py_buffer views[MOST_BORROWED];
    int count;
    PyObject *kept;
} Borrowed;

/* The numbers of an array; `count` of them, or ANY. NULL with a Python error if it is another array. The functions
 * without `written` also take arrays that are read-only, and what they return is only to be read. */
double *borrow_numbers(Borrowed *borrowed, PyObject *array, Py_ssize_t count, const char *name);
double *borrow_written(Borrowed *borrowed, PyObject *array, Py_ssize_t count, const char *name);
int64_t *borrow_integers(Borrowed *borrowed, PyObject *array, Py_ssize_t count, const char *name);
int64_t *borrow_written_integers(Borrowed *borrowed, PyObject *array, Py_ssize_t count, const char *name);
uint8_t *borrow_flags(Borrowed *borrowed, PyObject *array, Py_ssize_t count, const char *name);
uint8_t *borrow_written_flags(Borrowed *borrowed, PyObject *array, Py_ssize_t count, const char *name);

/* Bytes of a record (uint8). */
uint8_t *borrow_bytes(Borrowed *borrowed, PyObject *array, Py_ssize_t count, const char *name);

/* How many elements the array that was borrowed last has. */
Py_ssize_t borrowed_count(const Borrowed *borrowed);

/* Whether all integers of an array are from `least` to below `bound`; else a ValueError. */
bool all_within(const int64_t *values, Py_ssize_t count, int64_t least, int64_t bound, const char *name);

/* Keep an object for as long as the arrays: handles that a handle points into, several as a tuple. One only. */
void keep(Borrowed *borrowed, PyObject *object);

void give_back(Borrowed *borrowed);

/* Whether a function was given as many arguments as it takes; else a TypeError. */
bool takes(Py_ssize_t expected, Py_ssize_t given, const char *function);

/* A handle: memory of `size` bytes, all zero, in a capsule of that kind. It begins with a Borrowed, which is given back
 * when Python lets go of the capsule. `kind` must be a string literal: it is the handle's type. */
PyObject *new_handle(size_t size, const char *kind, void **memory);

/* The memory of a handle of that kind, or NULL with a Python error. */
static inline void *handle_of(PyObject *handle, const char *kind)
{
    return PyCapsule_GetPointer(handle, kind);
}

/* One line of a package's table of functions. */
#define METHOD(function) (PyCFunction)(void (*)(void))function, METH_FASTCALL

/* The functions of each package, ended by {0}; kernels.c puts them into the module. */
extern PyMethodDef collision_methods[];
extern PyMethodDef constraints_methods[];
extern PyMethodDef control_methods[];
extern PyMethodDef estimation_balance_methods[];
extern PyMethodDef estimation_methods[];
extern PyMethodDef estimation_parts_methods[];
extern PyMethodDef inverse_methods[];
extern PyMethodDef kinematics_methods[];
extern PyMethodDef locomotion_methods[];
extern PyMethodDef model_methods[];
extern PyMethodDef motion_methods[];
extern PyMethodDef quadratic_methods[];
extern PyMethodDef support_methods[];
extern PyMethodDef tasks_methods[];
extern PyMethodDef updater_methods[];
extern PyMethodDef wbosc_methods[];

#endif
