/* reflections.c - how long columns are, and the reflection of one onto a single entry. */
#include "wholebody/control/linear_algebra.h"

enum { TOGETHER = 4 }; /* columns begin at a multiple of this, rows are taken so many at once */

void square_columns(Columns columns, int n, int row, int first, int end, double *squares)
{
    size_t width = (size_t)columns.width;
    double (*A)[width] = (double (*)[width])columns.at;
    double *restrict into = squares;
    for (int c = first; c < end; c++)
        into[c] = 0.0;
    for (int i = row; i < n; i++) {
        const double *restrict a = A[i];
        for (int c = first; c < end; c++)
            into[c] += a[c] * a[c];
    }
}

double square_column(Columns columns, int n, int row, int column)
{
    const double *a = columns.at + (size_t)row * (size_t)columns.width + (size_t)column;
    double total = 0.0;
    for (int i = row; i < n; i++, a += columns.width)
        total += *a * *a;
    return total;
}

/* w = A^T v of the columns from `start` on, rows `row` to n. Rows in which v has nothing are skipped. */
static void project(Columns columns, int n, int row, int start, const double *v, double *memory)
{
    size_t width = (size_t)columns.width;
    double (*A)[width] = (double (*)[width])columns.at, *restrict w = memory;
    int i = row, end = columns.width;
    for (int c = start; c < end; c++)
        w[c] = 0.0;
    for (; i + TOGETHER <= n; i += TOGETHER) {
        const double *restrict a0 = A[i], *restrict a1 = A[i + 1], *restrict a2 = A[i + 2], *restrict a3 = A[i + 3];
        double v0 = v[i], v1 = v[i + 1], v2 = v[i + 2], v3 = v[i + 3];
        if (v0 != 0.0 || v1 != 0.0 || v2 != 0.0 || v3 != 0.0)
            for (int c = start; c < end; c++)
                w[c] += v0 * a0[c] + v1 * a1[c] + v2 * a2[c] + v3 * a3[c];
    }
    for (; i < n; i++) {
        const double *restrict a = A[i];
        for (int c = start; c < end; c++)
            w[c] += v[i] * a[c];
    }
}

/* With head the first entry and onto = -+length: v = (head - onto, the rest), beta = -1 / (onto v_first). */
double reflect(Columns columns, int n, int row, int column, double length, double *v, double *memory)
{
    size_t width = (size_t)columns.width;
    double (*A)[width] = (double (*)[width])columns.at, *restrict w = memory;
    double head = A[row][column], onto = head > 0.0 ? -length : length;
    int start = (column + 1) / TOGETHER * TOGETHER;
    v[row] = head - onto;
    for (int i = row + 1; i < n; i++)
        v[i] = A[i][column];
    double beta = -1.0 / (onto * v[row]);
    project(columns, n, row, start, v, memory);
    for (int i = row; i < n; i++) {
        double scaled = beta * v[i], *restrict a = A[i];
        if (scaled != 0.0)
            for (int c = start; c < columns.width; c++)
                a[c] -= scaled * w[c];
    }
    A[row][column] = onto;
    return beta;
}

void reflect_vector(const double *v, double beta, int row, int n, double *x)
{
    double along = 0.0;
    for (int i = row; i < n; i++)
        along += v[i] * x[i];
    along *= beta;
    if (along != 0.0)
        for (int i = row; i < n; i++)
            x[i] -= along * v[i];
}
