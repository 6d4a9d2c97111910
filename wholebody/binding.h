/* binding.h - how Python hands arrays to C: borrowed for a call, or for as long as an object lives.
 *
 * A kernel takes what it is given argument by argument, with given_numbers and its like. An argument that is another
 * than asked for sets a Python error and given->failed; from then on nothing more is taken, and the call ends with that
 * error whatever the kernel returns. Arrays are numpy's, C-contiguous, of float64, int64 or bool; anything else is a
 * ValueError that names the argument. Memory stays numpy's: C only points into it. What a loop calls gets a handle: a
 * capsule around a struct whose pointers were taken once. */
#ifndef WHOLEBODY_BINDING_H
#define WHOLEBODY_BINDING_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

enum { ANY = -1, MOST_BORROWED = 24 };

/* The arrays that a call, or a handle, holds, and an object beside them. */
typedef struct {
    Py_buffer views[MOST_BORROWED];
    int count;
    PyObject *kept;
} Borrowed;

/* The arguments of a call. */
typedef struct {
    PyObject *const *arguments;
    Borrowed *arrays; /* of the call; once a handle is made, of that */
    bool failed;
} Given;

/* A function of the extension, documented in _kernels.pyi; it returns a new reference, or NULL with a Python error. */
typedef PyObject *Function(Given *given);

typedef struct {
    const char *name;
    Function *function;
    int arguments;
} Kernel;

typedef enum { NUMBERS, INTEGERS, FLAGS, BYTES } Elements;

/* The memory of an array; `count` elements of it, or ANY. What is not `written` may be read-only, and is only to be
 * read. NULL with a Python error if it is another array. */
void *borrow(Borrowed *borrowed, PyObject *array, Elements elements, Py_ssize_t count, bool written, const char *name);

/* The same of an argument of a call; NULL also if something has failed before. */
double *given_numbers(Given *given, int index, Py_ssize_t count, const char *name);
double *given_written(Given *given, int index, Py_ssize_t count, const char *name);
int64_t *given_integers(Given *given, int index, Py_ssize_t count, const char *name);
int64_t *given_written_integers(Given *given, int index, Py_ssize_t count, const char *name);
uint8_t *given_flags(Given *given, int index, Py_ssize_t count, const char *name);
uint8_t *given_written_flags(Given *given, int index, Py_ssize_t count, const char *name);
uint8_t *given_bytes(Given *given, int index, Py_ssize_t count, const char *name);
uint8_t *given_written_bytes(Given *given, int index, Py_ssize_t count, const char *name);

/* How many elements the array that was taken last has; 0 if something has failed. */
Py_ssize_t given_count(const Given *given);

/* One number; 0 with a Python error if it is none. */
double given_number(Given *given, int index);
long given_integer(Given *given, int index);
bool given_truth(Given *given, int index);

/* The memory of a handle of that kind, or NULL with a Python error. */
void *given_handle(Given *given, int index, const char *kind);

/* The items of a tuple of that length, as arguments of their own, to be put back with `close_tuple`. */
Given open_tuple(Given *given, int index, int count, PyObject **items);
void close_tuple(Given *given, const Given *tuple);

/* Whether all integers of an array are from `least` to below `bound`; else a ValueError, and the call fails. */
bool all_within(Given *given, const int64_t *values, Py_ssize_t count, int64_t least, int64_t bound, const char *name);

/* Let the call fail, with a ValueError if nothing has failed yet, written as PyErr_Format does; NULL. */
PyObject *refuse(Given *given, const char *format, ...);

/* Keep an object for as long as the arrays: handles that a handle points into, several as a tuple. One only. */
void keep(Borrowed *borrowed, PyObject *object);

void give_back(Borrowed *borrowed);

/* A handle: memory of `size` bytes, all zero, in a capsule of that kind. It begins with a Borrowed, which has what the
 * call takes from then on, and is given back when Python lets go of the capsule. `kind` must be a string literal: it is
 * the handle's type. */
PyObject *new_handle(Given *given, size_t size, const char *kind, void **memory);

/* The memory of a handle of that kind, or NULL with a Python error. */
static inline void *handle_of(PyObject *handle, const char *kind)
{
    return PyCapsule_GetPointer(handle, kind);
}

/* How many doubles, or integers, a struct has. */
#define NUMBERS_IN(type) ((Py_ssize_t)(sizeof(type) / 8))

static inline PyObject *nothing(void)
{
    return Py_NewRef(Py_None);
}

/* The functions of each package, ended by {0}; kernels.c puts them into the module. */
extern const Kernel balance_kernels[];
extern const Kernel collision_kernels[];
extern const Kernel constraint_kernels[];
extern const Kernel control_kernels[];
extern const Kernel estimation_kernels[];
extern const Kernel estimation_part_kernels[];
extern const Kernel foot_kernels[];
extern const Kernel inverse_kernels[];
extern const Kernel kinematics_kernels[];
extern const Kernel leg_kernels[];
extern const Kernel model_kernels[];
extern const Kernel motion_kernels[];
extern const Kernel plan_kernels[];
extern const Kernel quadratic_kernels[];
extern const Kernel stabilizer_kernels[];
extern const Kernel support_kernels[];
extern const Kernel task_kernels[];
extern const Kernel unitree_kernels[];
extern const Kernel updater_kernels[];
extern const Kernel wbosc_kernels[];

/* Put functions into a module; false with a Python error. */
bool add_kernels(PyObject *module, const Kernel *kernels);

#endif
