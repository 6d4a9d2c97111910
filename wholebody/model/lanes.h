/* lanes.h - two numbers side by side, which the processor adds and multiplies at once.
 *
 * They are the same quantity of two bodies, or neighbours in a row. Each goes through the same operations in the same
 * order as a single number would: the bits are the same. Two fit into a register of every processor; with four, which
 * some could hold, moving numbers from and to their places cost what was won (docs/decisions.md). Vectors of three are
 * arrays of three Lanes, as in rotations.h. */
#ifndef WHOLEBODY_MODEL_LANES_H
#define WHOLEBODY_MODEL_LANES_H

#include <string.h>

enum { LANES = 2 };
typedef double Lanes __attribute__((vector_size(LANES * sizeof(double))));

/* Numbers that follow each other in memory. */
static inline void load_lanes(const double *from, Lanes *result)
{
    memcpy(result, from, sizeof *result);
}

static inline void store_lanes(const Lanes *values, double *into)
{
    memcpy(into, values, sizeof *values);
}

/* The first `count` numbers of two rows: those of a column side by side. */
static inline void load_columns(const double *const rows[LANES], int count, Lanes *result)
{
    for (int k = 0; k < count; k++)
        result[k] = (Lanes){rows[0][k], rows[1][k]};
}

/* The other way round: columns become the first `count` numbers of two rows, which follow each other every `width`. */
static inline void store_columns(const Lanes *values, int count, double *rows, int width)
{
    for (int lane = 0; lane < LANES; lane++)
        for (int k = 0; k < count; k++)
            rows[lane * width + k] = values[k][lane];
}

/* a . b */
static inline Lanes dot_lanes(const Lanes a[3], const Lanes b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* a x b */
static inline void cross_lanes(const Lanes a[3], const Lanes b[3], Lanes result[3])
{
    result[0] = a[1] * b[2] - a[2] * b[1];
    result[1] = a[2] * b[0] - a[0] * b[2];
    result[2] = a[0] * b[1] - a[1] * b[0];
}

/* One row r of a rotation R times a matrix of three rows of four, (R T)_row = r_0 T_0 + r_1 T_1 + r_2 T_2: with the
 * rotation and the position of a frame in T, the same of R T. */
static inline void turn_rows(const double r[3], const double T[3][4], double result[4])
{
    for (int k = 0; k < 4; k += LANES) {
        Lanes T0, T1, T2, row;
        load_lanes(T[0] + k, &T0);
        load_lanes(T[1] + k, &T1);
        load_lanes(T[2] + k, &T2);
        row = r[0] * T0 + r[1] * T1 + r[2] * T2;
        store_lanes(&row, result + k);
    }
}

#endif
