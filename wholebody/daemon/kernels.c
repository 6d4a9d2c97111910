/* kernels.c - the loops over all joints that the daemon goes through in every cycle.
 *
 * merge     takes in what is new and makes sense in the newest references of all controllers.
 * gate      keeps what joints are told within their limits: gate.c.
 * all_have  looks whether every joint is ready; none_have, whether no stop button is pressed.
 *
 * In C because it runs with cold caches, once in a period: there, every call of numpy costs as much as all of this. */
#include "kernels.h"

#include <math.h>
#include <string.h>

static PyTypeObject *loop_type;

Loop *new_loop(int (*run)(const Loop *))
{
    Loop *loop = PyObject_New(Loop, loop_type);
    if (loop) {
        loop->run = run;
        loop->buffers = 0;             /* until they are there */
        memset(loop->b, 0, sizeof loop->b);
    }
    return loop;
}

static void free_loop(PyObject *self)
{
    Loop *loop = (Loop *)self;
    PyTypeObject *type = Py_TYPE(self);
    for (int i = 0; i < loop->buffers; i++)
        PyBuffer_Release(&loop->b[i]);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyObject *call_loop(PyObject *self, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(words))
{
    return PyBool_FromLong(((Loop *)self)->run((const Loop *)self));
}

PyObject *refuse(Loop *loop)
{
    Py_XDECREF((PyObject *)loop);
    PyErr_SetString(PyExc_ValueError, "the arrays do not fit each other");
    return NULL;
}

static int read_values(const char *message, Py_ssize_t offset, Py_ssize_t n, Py_ssize_t joint, double *values)
{
    int finite = 1;
    for (int i = 0; i < VALUES; i++) {
        memcpy(&values[i], message + offset + (i * n + joint) * (Py_ssize_t)sizeof(double), sizeof(double));
        finite = finite && isfinite(values[i]);
    }
    return finite;
}

static int run_merge(const Loop *loop)
{
    const Py_buffer *b = loop->b;
    const char *rows = b[0].buf;
    const int64_t *stamps = b[1].buf;
    int64_t *seen = b[2].buf;
    const int8_t *leased_to = b[3].buf;
    double *wanted = b[4].buf;
    uint8_t *modes = b[5].buf;
    int8_t *owners = b[6].buf;
    int64_t *heard = b[7].buf;
    uint64_t *refused = b[8].buf;
    const Py_ssize_t count = b[1].len / 8, n = b[5].len, size = count ? b[0].len / count : 0;
    for (Py_ssize_t row = 0; row < count; row++) {
        const char *message = rows + row * size;
        if (stamps[row] <= seen[row])
            continue;
        seen[row] = stamps[row];
        for (Py_ssize_t j = 0; j < n; j++) {
            double values[VALUES];
            const uint8_t mode = (uint8_t)message[loop->mode_at + j];
            if (!message[loop->mask_at + j])
                continue;
            if (!read_values(message, loop->values_at, n, j, values))
                refused[NOT_FINITE * n + j]++;
            else if (mode > 31 || !(loop->bits >> mode & 1))
                refused[WRONG_MODE * n + j]++;
            else if (leased_to[j] >= 0 && leased_to[j] != row)
                refused[LEASED * n + j]++;
            else if (stamps[row] > heard[j]) {
                heard[j] = stamps[row];
                owners[j] = (int8_t)row;
                modes[j] = mode;
                for (int i = 0; i < VALUES; i++)
                    wanted[i * n + j] = values[i];
            }
        }
    }
    return 0;
}

static PyObject *merge(PyObject *Py_UNUSED(module), PyObject *args)
{
    Loop *loop = new_loop(run_merge);
    if (!loop)
        return NULL;
    Py_buffer *b = loop->b;
    if (!PyArg_ParseTuple(args, "y*y*w*y*w*w*w*w*w*nnnI", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5], &b[6], &b[7], &b[8],
                          &loop->values_at, &loop->mode_at, &loop->mask_at, &loop->bits)) {
        Py_DECREF((PyObject *)loop);
        return NULL;
    }
    loop->buffers = 9;
    const Py_ssize_t count = b[1].len / 8, n = b[5].len, size = count ? b[0].len / count : 0;
    if (b[2].len != b[1].len || b[3].len != n || b[4].len != 8 * VALUES * n || b[6].len != n || b[7].len != 8 * n ||
        b[8].len < 8 * REFUSALS * n || loop->values_at < 0 || loop->values_at + 8 * VALUES * n > size ||
        loop->mode_at < 0 || loop->mode_at + n > size || loop->mask_at < 0 || loop->mask_at + n > size)
        return refuse(loop);
    return (PyObject *)loop;
}

static int run_all_have(const Loop *loop)
{
    const uint32_t *words = loop->b[0].buf;
    uint32_t common = UINT32_MAX;
    for (Py_ssize_t j = 0; j < loop->b[0].len / 4; j++)
        common &= words[j];
    return (common & loop->bits) == loop->bits;
}

static int run_none_have(const Loop *loop)
{
    const uint32_t *words = loop->b[0].buf;
    uint32_t any = 0;
    for (Py_ssize_t j = 0; j < loop->b[0].len / 4; j++)
        any |= words[j];
    return (any & loop->bits) == 0;
}

static PyObject *look_at_flags(int (*run)(const Loop *), PyObject *args)
{
    Loop *loop = new_loop(run);
    if (!loop)
        return NULL;
    if (!PyArg_ParseTuple(args, "y*I", &loop->b[0], &loop->bits)) {
        Py_DECREF((PyObject *)loop);
        return NULL;
    }
    loop->buffers = 1;
    return loop->b[0].len % 4 ? refuse(loop) : (PyObject *)loop;
}

static PyObject *all_have(PyObject *Py_UNUSED(module), PyObject *args)
{
    return look_at_flags(run_all_have, args);
}

static PyObject *none_have(PyObject *Py_UNUSED(module), PyObject *args)
{
    return look_at_flags(run_none_have, args);
}

static PyMethodDef methods[] = {
    {"merge", merge, METH_VARARGS,
     "merge(rows, stamps, seen, leased_to, wanted, modes, owners, heard, refused, values_at, mode_at, mask_at, allowed)"
     "\n\nA call that takes in every row that is newer than seen: joint by joint what is masked, finite, in an allowed\n"
     "mode, not leased to another row, and newer than what was heard of the joint. It counts what is refused."},
    {"gate", new_gate, METH_VARARGS,
     "gate(positions, values, modes, measured_position, measured_velocity, measured, limits, command, command_modes,\n"
     "taken, memory, refused, period)\n\n"
     "A call that turns what is wanted of each joint into a command within its limits, and counts what is refused. Rows\n"
     "of values and command: position, velocity, effort, stiffness, damping; of limits: lower, upper, velocity, step,\n"
     "effort, stiffness, damping; of memory, the gate's own: four. True if any joint is taken from its controller."},
    {"all_have", all_have, METH_VARARGS,
     "all_have(words, bits)\n\nA call that says whether each 32-bit word has all these bits set."},
    {"none_have", none_have, METH_VARARGS,
     "none_have(words, bits)\n\nA call that says whether no 32-bit word has any of these bits set."},
    {NULL, NULL, 0, NULL},
};

/* ISO C has no functions as void *, which slots hold. */
static PyType_Slot loop_slots[] = {
    {Py_tp_call, __extension__(void *) call_loop},
    {Py_tp_dealloc, __extension__(void *) free_loop},
    {0, NULL},
};
static PyType_Spec loop_spec = {"wholebody.daemon._kernels.Loop", sizeof(Loop), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, loop_slots};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_kernels", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__kernels(void)
{
    if (!loop_type && !(loop_type = (PyTypeObject *)PyType_FromSpec(&loop_spec)))
        return NULL;
    return PyModule_Create(&definition);
}
