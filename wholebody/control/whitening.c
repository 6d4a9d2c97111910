/* whitening.c - M = L^T L, and columns and efforts seen through it. */
#include "wholebody/control/linear_algebra.h"

#include <math.h>

bool factor_mass(const double *mass, double *factor, int n)
{
    size_t nv = (size_t)n;
    const double (*M)[nv] = (const double (*)[nv])mass;
    double (*L)[nv] = (double (*)[nv])factor;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            L[i][j] = M[i][j];
    for (int k = n - 1; k >= 0; k--) {
        double *restrict row = L[k];
        if (!(row[k] > 0.0))
            return false;
        row[k] = sqrt(row[k]);
        double inverse = 1.0 / row[k];
        for (int i = 0; i < k; i++)
            row[i] *= inverse;
        for (int i = 0; i < k; i++) {
            double entry = row[i], *restrict above = L[i];
            if (entry != 0.0)
                for (int j = 0; j <= i; j++)
                    above[j] -= entry * row[j];
        }
    }
    return true;
}

void whiten(const double *factor, int n, Columns columns, double *h)
{
    size_t nv = (size_t)n, width = (size_t)columns.width;
    const double (*L)[nv] = (const double (*)[nv])factor;
    double (*A)[width] = (double (*)[width])columns.at;
    for (int k = n - 1; k >= 0; k--) {
        double inverse = 1.0 / L[k][k], *restrict row = A[k];
        h[k] *= inverse;
        for (size_t c = 0; c < width; c++)
            row[c] *= inverse;
        for (int i = 0; i < k; i++) {
            double entry = L[k][i], *restrict above = A[i];
            if (entry == 0.0)
                continue;
            h[i] -= entry * h[k];
            for (size_t c = 0; c < width; c++)
                above[c] -= entry * row[c];
        }
    }
}
