/* kernels.h - what the daemon's loops over joints share. */
#ifndef WHOLEBODY_DAEMON_KERNELS_H
#define WHOLEBODY_DAEMON_KERNELS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdint.h>

#pragma GCC visibility push(hidden)

#define VALUES 5                       /* position, velocity, effort, stiffness, damping */
#define BUFFERS 12

/* messages.Refusal */
enum {
    NOT_FINITE, BELOW_MINIMUM, ABOVE_MAXIMUM, TOO_FAST, WRONG_MODE, WRONG_LAYOUT, LEASED, SILENT, STOPPED, NOT_READY,
    TOO_STIFF, TOO_STRONG, REFUSALS
};

/* A loop with its arrays: to ask numpy for their memory in every cycle would cost more than the loops. */
typedef struct Loop {
    PyObject_HEAD
    Py_buffer b[BUFFERS];
    int buffers;
    int (*run)(const struct Loop *);
    Py_ssize_t values_at, mode_at, mask_at;
    unsigned int bits;                 /* the modes allowed, or the flags to look for */
    double period;                     /* s */
} Loop;

Loop *new_loop(int (*run)(const Loop *));
PyObject *refuse(Loop *loop);
PyObject *new_gate(PyObject *module, PyObject *args);

#pragma GCC visibility pop

#endif
