/* kernels.c - the loops over all joints that the daemon goes through in every cycle.
 *
 * merge     takes in what is new and makes sense in the newest references of all controllers.
 * limit     keeps positions in range, and within a step of the last command.
 * all_have  looks whether every joint is ready.
 *
 * In C because it runs with cold caches, once in a period: there, every call of numpy costs as much as all of this. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <math.h>
#include <stdint.h>
#include <string.h>

#define VALUES 5                       /* position, velocity, effort, stiffness, damping */
#define BUFFERS 9

enum { NOT_FINITE, BELOW_MINIMUM, ABOVE_MAXIMUM, TOO_FAST, WRONG_MODE, WRONG_LAYOUT, LEASED }; /* messages.Refusal */

static void release(Py_buffer *buffers, int count)
{
    for (int i = 0; i < count; i++)
        PyBuffer_Release(&buffers[i]);
}

static PyObject *refuse(Py_buffer *buffers, int count)
{
    release(buffers, count);
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

static PyObject *merge(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer b[BUFFERS];
    Py_ssize_t values_at, mode_at, mask_at;
    unsigned int allowed;
    if (!PyArg_ParseTuple(args, "y*y*w*y*w*w*w*w*w*nnnI", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5], &b[6], &b[7], &b[8],
                          &values_at, &mode_at, &mask_at, &allowed))
        return NULL;
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
    if (b[2].len != b[1].len || b[3].len != n || b[4].len != 8 * VALUES * n || b[6].len != n || b[7].len != 8 * n ||
        b[8].len < 8 * (LEASED + 1) * n || values_at < 0 || values_at + 8 * VALUES * n > size || mode_at < 0 ||
        mode_at + n > size || mask_at < 0 || mask_at + n > size)
        return refuse(b, BUFFERS);
    for (Py_ssize_t row = 0; row < count; row++) {
        const char *message = rows + row * size;
        if (stamps[row] <= seen[row])
            continue;
        seen[row] = stamps[row];
        for (Py_ssize_t j = 0; j < n; j++) {
            double values[VALUES];
            const uint8_t mode = (uint8_t)message[mode_at + j];
            if (!message[mask_at + j])
                continue;
            if (!read_values(message, values_at, n, j, values))
                refused[NOT_FINITE * n + j]++;
            else if (mode > 31 || !(allowed >> mode & 1))
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
    int others = 0;
    for (Py_ssize_t j = 0; j < n; j++)
        others |= modes[j];
    release(b, BUFFERS);
    return PyBool_FromLong(others);
}

static PyObject *limit(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer b[7];
    if (!PyArg_ParseTuple(args, "y*y*y*y*y*w*w*", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5], &b[6]))
        return NULL;
    const double *wanted = b[0].buf, *lower = b[1].buf, *upper = b[2].buf, *last = b[3].buf, *step = b[4].buf;
    double *out = b[5].buf;
    uint64_t *refused = b[6].buf;
    const Py_ssize_t n = b[5].len / 8;
    for (int i = 0; i < 5; i++)
        if (b[i].len != 8 * n)
            return refuse(b, 7);
    if (b[6].len < 8 * (LEASED + 1) * n)
        return refuse(b, 7);
    for (Py_ssize_t j = 0; j < n; j++) {
        double position = wanted[j];
        if (!isfinite(position)) {
            refused[NOT_FINITE * n + j]++;
            position = last[j];
        }
        if (position < lower[j]) {
            refused[BELOW_MINIMUM * n + j]++;
            position = lower[j];
        }
        if (position > upper[j]) {
            refused[ABOVE_MAXIMUM * n + j]++;
            position = upper[j];
        }
        if (!(fabs(position - last[j]) <= step[j])) {
            refused[TOO_FAST * n + j]++;
            position = position > last[j] ? last[j] + step[j] : last[j] - step[j];
        }
        out[j] = position;
    }
    release(b, 7);
    Py_RETURN_NONE;
}

static PyObject *all_have(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer b;
    unsigned int bits;
    if (!PyArg_ParseTuple(args, "y*I", &b, &bits))
        return NULL;
    const uint32_t *words = b.buf;
    const Py_ssize_t n = b.len / 4;
    uint32_t common = UINT32_MAX;
    for (Py_ssize_t j = 0; j < n; j++)
        common &= words[j];
    const int wrong = b.len % 4 != 0;
    PyBuffer_Release(&b);
    if (wrong) {
        PyErr_SetString(PyExc_ValueError, "an array of 32-bit words");
        return NULL;
    }
    return PyBool_FromLong((common & bits) == bits);
}

static PyMethodDef methods[] = {
    {"merge", merge, METH_VARARGS,
     "merge(rows, stamps, seen, leased_to, wanted, modes, owners, heard, refused, values_at, mode_at, mask_at, allowed)"
     "\n\nTake in every row that is newer than seen: joint by joint what is masked, finite, in an allowed mode, not\n"
     "leased to another row, and newer than what was heard of the joint. Count what is refused. True if any\n"
     "joint is in another mode than position (0)."},
    {"limit", limit, METH_VARARGS,
     "limit(wanted, lower, upper, last, step, out, refused)\n\n"
     "Bring positions into range and within a step of the last; what is not finite becomes the last. Count it.\n"
     "out may be last."},
    {"all_have", all_have, METH_VARARGS, "all_have(words, bits)\n\nWhether each 32-bit word has all these bits set."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_kernels", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__kernels(void)
{
    return PyModule_Create(&definition);
}
