/* linear_algebra.h - whitening by the mass matrix, Householder reflections, and small positive systems.
 *
 * Wide matrices are `Columns` of model.h: rows of `width` numbers, one column for each row of a constraint or task. */
#ifndef WHOLEBODY_CONTROL_LINEAR_ALGEBRA_H
#define WHOLEBODY_CONTROL_LINEAR_ALGEBRA_H

#include "wholebody/model/model.h"

/* whitening.c: M = L^T L (n x n, L lower triangular), from the last joint inwards, which leaves the zeros between
 * branches; false if M is not positive. */
bool factor_mass(const double *M, double *L, int n);

/* whitening.c: A <- L^-T A (n rows), h <- L^-T h. */
void whiten(const double *L, int n, Columns A, double *h);

/* reflections.c: squares of the lengths of columns first .. end - 1, from `row` down to n. */
void square_columns(Columns A, int n, int row, int first, int end, double *squares);
double square_column(Columns A, int n, int row, int column);

/* reflections.c: reflect a column of that length, from `row` down to n, onto one entry, and all columns to its right
 * alike. v (n numbers, those before `row` stay) is the reflection 1 - beta v v^T; beta is returned. w is memory of
 * A.width numbers. What lies below the triangle of columns to the left may change. */
double reflect(Columns A, int n, int row, int column, double length, double *v, double *w);

/* reflections.c: x <- (1 - beta v v^T) x, of the numbers from `row` to n. */
void reflect_vector(const double *v, double beta, int row, int n, double *x);

/* cholesky.c: G x = y of `rank` numbers, x in place of y. Of G (rows of `stride` numbers) the lower triangle is read, and
 * overwritten with the factor C: G = C C^T. */
void solve_by_cholesky(double *G, int stride, double *y, int rank);

#endif
