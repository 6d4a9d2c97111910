/* cholesky.c - a small positive system, solved in place. */
#include "wholebody/control/linear_algebra.h"

#include <math.h>

/* C with G = C C^T, in the lower triangle of G. */
static void factor_cholesky(double *matrix, int stride, int rank)
{
    size_t width = (size_t)stride;
    double (*G)[width] = (double (*)[width])matrix;
    for (int i = 0; i < rank; i++)
        for (int j = 0; j <= i; j++) {
            double total = G[i][j];
            for (int k = 0; k < j; k++)
                total -= G[i][k] * G[j][k];
            G[i][j] = i == j ? sqrt(total) : total / G[j][j];
        }
}

void solve_by_cholesky(double *matrix, int stride, double *y, int rank)
{
    size_t width = (size_t)stride;
    double (*C)[width] = (double (*)[width])matrix;
    factor_cholesky(matrix, stride, rank);
    for (int i = 0; i < rank; i++) {
        for (int k = 0; k < i; k++)
            y[i] -= C[i][k] * y[k];
        y[i] /= C[i][i];
    }
    for (int i = rank - 1; i >= 0; i--) {
        for (int k = i + 1; k < rank; k++)
            y[i] -= C[k][i] * y[k];
        y[i] /= C[i][i];
    }
}
