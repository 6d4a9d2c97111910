/* least_squares.h - steps of inverse kinematics: damped least squares within a box. */
#ifndef WHOLEBODY_KINEMATICS_LEAST_SQUARES_H
#define WHOLEBODY_KINEMATICS_LEAST_SQUARES_H

#include <stdint.h>

/* min |e - J d|^2 + damping (d - preferred)^T W (d - preferred), lower <= d <= upper. */
typedef struct {
    int n, m;                    /* variables, rows of the error */
    const double *J;             /* n x m: the Jacobian, transposed */
    const double *error;         /* m */
    const double *mobility;      /* n: diagonal of W^-1 */
    const double *preferred;          /* n */
    double damping;
    const double *lower, *upper; /* n */
} BoxedLeastSquares;

/* Memory of a step, whose owner is the caller. */
typedef struct {
    double *A;                   /* m x m */
    double *y;                   /* m */
    int64_t *stopped;            /* n */
} StepMemory;

/* least_squares.c */
void boxed_step(const BoxedLeastSquares *problem, const StepMemory *memory, double *step);
void transposed_step(const BoxedLeastSquares *problem, double *y, double *step);
double keep_local(int n, double *step, double locality);
double predicted_error(const BoxedLeastSquares *problem, const double *step, double *y);

#endif
