/* kalman.c - the step that every Kalman filter here shares: believe one number, by the Joseph form.
 *
 * Rows whose noises are independent may be taken one after the other: that is the same as all at once, and inverts
 * nothing. The sum of what `believe` returns is then the normalised innovation squared of all of them. */
#include <string.h>

#include "wholebody/estimation/estimation.h"

Kalman kalman_in(int size, double *P, double *memory, double gate)
{
    return (Kalman){
        .size = size,
        .P = P,
        .error = memory,
        .Ph = memory + size,
        .gain = memory + 2 * size,
        .rest = memory + 3 * size,
        .moved = memory + 4 * size,
        .gate = gate,
    };
}

/* result += scale a */
static inline void add_scaled(size_t n, double scale, const double *restrict a, double *restrict result)
{
    for (size_t j = 0; j < n; j++)
        result[j] += scale * a[j];
}

/* result = P row: rows are mostly zeros, and P is symmetric. */
static void times_covariance(size_t n, const double *P, const double *row, double *result)
{
    memset(result, 0, n * sizeof *result);
    for (size_t j = 0; j < n; j++)
        if (row[j] != 0.0)
            add_scaled(n, row[j], P + j * n, result);
}

/* P += sign a b^T; what a foot in the air does not know is zero. */
static void add_outer(size_t n, double *P, const double *a, double sign, const double *b)
{
    for (size_t i = 0; i < n; i++)
        if (a[i] != 0.0)
            add_scaled(n, sign * a[i], b, P + i * n);
}

/* Correct the error state by one measured number; returns its normalised innovation squared, y^2 / s.
 *
 *   y = difference - h . error,  s = h P h^T + r,  K = P h^T / s,  error += K y,  P <- (1 - K h) P (1 - K h)^T + r K K^T
 *
 * The difference is measured minus predicted. If y^2 / s is above the gate, r grows until it is there: what is very
 * unlikely moves the state by no more than what is just likely. */
double believe(const Kalman *filter, const double *row, double difference, double variance)
{
    size_t n = (size_t)filter->size;
    double *P = filter->P, *Ph = filter->Ph, *K = filter->gain, *rest = filter->rest;
    double s = variance, y = difference;
    times_covariance(n, P, row, Ph);
    for (size_t j = 0; j < n; j++) {
        s += row[j] * Ph[j];
        y -= row[j] * filter->error[j];
    }
    double surprise = y * y / s;
    if (surprise > filter->gate) {
        variance += y * y / filter->gate - s;
        s = y * y / filter->gate;
    }
    for (size_t i = 0; i < n; i++) {
        K[i] = Ph[i] / s;
        filter->error[i] += K[i] * y;
    }
    /* A = (1 - K h) P, then P = A - (A h^T) K^T + r K K^T. */
    add_outer(n, P, K, -1.0, Ph);
    times_covariance(n, P, row, rest);
    for (size_t i = 0; i < n; i++)
        rest[i] = variance * K[i] - rest[i];
    add_outer(n, P, rest, 1.0, K);
    return surprise;
}

/* P <- F P F^T for the first rows and columns, `count` of them, at most 9; the rest of P is carried along. */
void spread(const Kalman *filter, int count, const double *F)
{
    size_t n = (size_t)filter->size, m = (size_t)count;
    double *P = filter->P, *moved = filter->moved;
    memset(moved, 0, m * n * sizeof *moved);
    for (size_t i = 0; i < m; i++)
        for (size_t k = 0; k < m; k++)
            if (F[i * m + k] != 0.0)
                add_scaled(n, F[i * m + k], P + k * n, moved + i * n);
    memcpy(P, moved, m * n * sizeof *P);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < m; j++) {
            double total = 0.0;
            for (size_t k = 0; k < m; k++)
                total += P[i * n + k] * F[j * m + k];
            moved[j] = total;
        }
        memcpy(P + i * n, moved, m * sizeof *P);
    }
}

/* Take away what rounding makes of a covariance. */
void symmetrise(const Kalman *filter)
{
    int n = filter->size;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            double mean = 0.5 * (filter->P[i * n + j] + filter->P[j * n + i]);
            filter->P[i * n + j] = filter->P[j * n + i] = mean;
        }
}
