/* factors.c - levels as triangles: factored once in a cycle, solved as often as limits change what they lose. */
#include "wholebody/control/quadratic/factors.h"

#include <math.h>

/* The square of the relative length below which a column is rounding. */
static const double NOTHING = 1e-24;

/* Squares of the lengths of columns first ... end, from `row` down, to f->w. */
static void measure_columns(Factors *f, int row, int first, int end)
{
    int n = f->n, width = f->width;
    double (*A)[width] = (double (*)[width])f->A, *w = f->w;
    for (int c = first; c < end; c++)
        w[c] = 0.0;
    for (int i = row; i < n; i++)
        for (int c = first; c < end; c++)
            w[c] += A[i][c] * A[i][c];
}

static void swap_columns(Factors *f, int a, int b)
{
    int width = f->width;
    double (*A)[width] = (double (*)[width])f->A;
    for (int i = 0; i < f->n; i++) {
        double entry = A[i][a];
        A[i][a] = A[i][b];
        A[i][b] = entry;
    }
    double target = f->target[a];
    f->target[a] = f->target[b];
    f->target[b] = target;
    int64_t origin = f->origin[a];
    f->origin[a] = f->origin[b];
    f->origin[b] = origin;
}

/* Reflect a column of that length, from `row` down, onto one entry, and all columns to its right alike. Rows in which
 * the column has nothing stay as they are: those of joints that do not move what it speaks of. */
static void reflect_column(Factors *f, int row, int column, int end, double length)
{
    int n = f->n, width = f->width;
    double (*A)[width] = (double (*)[width])f->A, *w = f->w, *v = f->reflections + (long)row * f->stride;
    double head = A[row][column], onto = head > 0.0 ? -length : length;
    for (int i = 0; i < row; i++)
        v[i] = 0.0;
    v[row] = head - onto;
    for (int i = row + 1; i < n; i++) {
        v[i] = A[i][column];
        A[i][column] = 0.0;
    }
    double beta = -1.0 / (onto * v[row]);
    f->strength[row] = beta;
    A[row][column] = onto;
    for (int c = column + 1; c < end; c++)
        w[c] = 0.0;
    for (int i = row; i < n; i++)
        if (v[i] != 0.0)
            for (int c = column + 1; c < end; c++)
                w[c] += v[i] * A[i][c];
    for (int i = row; i < n; i++) {
        double share = beta * v[i];
        if (share != 0.0)
            for (int c = column + 1; c < end; c++)
                A[i][c] -= share * w[c];
    }
}

int factor_columns(Factors *f, int first, int end, int width, int used, double share)
{
    measure_columns(f, 0, first, end);
    double longest = 0.0;
    for (int c = first; c < end; c++)
        longest = fmax(longest, f->w[c]);
    double limit = fmax(share, NOTHING) * longest;
    int most = end - first < f->n - used ? end - first : f->n - used;
    for (int rank = 0; rank < most; rank++) {
        int row = used + rank, column = first + rank, best = column;
        measure_columns(f, row, column, end);
        for (int c = column + 1; c < end; c++)
            if (f->w[c] > f->w[best])
                best = c;
        double length = f->w[best];
        if (!(length > limit))
            return rank;
        if (best != column)
            swap_columns(f, column, best);
        reflect_column(f, row, column, width, sqrt(length));
    }
    return most > 0 ? most : 0;
}

void weigh_level(Factors *f, const Level *level)
{
    int stride = f->stride, width = f->width, at = level->at, end = level->first + level->columns;
    double (*A)[width] = (double (*)[width])f->A, (*C)[stride] = (double (*)[stride])f->C;
    if (level->rank == level->columns)
        return;
    for (int i = 0; i < level->rank; i++)
        for (int j = 0; j <= i; j++) {
            double total = 0.0;
            for (int c = level->first + i; c < end; c++)
                total += A[at + i][c] * A[at + j][c];
            for (int k = at; k < at + j; k++)
                total -= C[at + i][k] * C[at + j][k];
            C[at + i][at + j] = i == j ? sqrt(total) : total / C[at + j][at + j];
        }
}

/* y = C^-T (C^-1 R w + e), w what the columns still ask for. */
static void solve_dependent(Factors *f, const Level *level, const double *losses)
{
    int stride = f->stride, width = f->width, at = level->at, end = level->first + level->columns;
    double (*A)[width] = (double (*)[width])f->A, (*C)[stride] = (double (*)[stride])f->C, *y = f->y;
    for (int i = 0; i < level->rank; i++) {
        double total = 0.0;
        for (int c = level->first + i; c < end; c++)
            total += A[at + i][c] * f->w[c];
        y[at + i] = total;
    }
    for (int i = at; i < at + level->rank; i++) {
        for (int k = at; k < i; k++)
            y[i] -= C[i][k] * y[k];
        y[i] /= C[i][i];
    }
    for (int i = at + level->rank - 1; i >= at; i--) {
        y[i] += losses[i - at];
        for (int k = i + 1; k < at + level->rank; k++)
            y[i] -= C[k][i] * y[k];
        y[i] /= C[i][i];
    }
}

void solve_factored_level(Factors *f, const Level *level, const double *losses)
{
    int width = f->width, first = level->first, at = level->at;
    double (*A)[width] = (double (*)[width])f->A, *w = f->w, *y = f->y;
    for (int c = first; c < first + level->columns; c++)
        w[c] = f->target[c];
    for (int i = 0; i < at; i++)
        if (y[i] != 0.0)
            for (int c = first; c < first + level->columns; c++)
                w[c] -= A[i][c] * y[i];
    if (level->rank < level->columns) {
        solve_dependent(f, level, losses);
        return;
    }
    for (int i = 0; i < level->rank; i++) {
        double known = (w[first + i] + losses[i]) / A[at + i][first + i];
        y[at + i] = known;
        for (int c = i + 1; c < level->rank; c++)
            w[first + c] -= A[at + i][first + c] * known;
    }
}

/* g <- C^-1 g of a level, and w = R^T C^-T g. */
static void weigh_columns(Factors *f, const Level *level, double *g)
{
    int stride = f->stride, width = f->width, at = level->at, end = level->first + level->columns;
    double (*A)[width] = (double (*)[width])f->A, (*C)[stride] = (double (*)[stride])f->C, *w = f->w, *z = f->z;
    for (int i = at; i < at + level->rank; i++) {
        for (int k = at; k < i; k++)
            g[i] -= C[i][k] * g[k];
        g[i] /= C[i][i];
    }
    for (int c = level->first; c < end; c++)
        w[c] = 0.0;
    for (int i = level->rank - 1; i >= 0; i--) {
        double total = g[at + i];
        for (int k = i + 1; k < level->rank; k++)
            total -= C[at + k][at + i] * z[k];
        z[i] = total / C[at + i][at + i];
        for (int c = level->first + i; c < end; c++)
            w[c] += A[at + i][c] * z[i];
    }
}

/* With y = C^-T e - (R R^T)^-1 R A^T y_above, a gradient g on y is C^-1 g on e, and -A w on what is above. */
void gradient_on_losses(Factors *f, const Level *level, double *g)
{
    int width = f->width, first = level->first, at = level->at, rank = level->rank;
    double (*A)[width] = (double (*)[width])f->A, *w = f->w;
    if (rank == level->columns)
        for (int i = rank - 1; i >= 0; i--) {
            double total = g[at + i];
            for (int c = i + 1; c < rank; c++)
                total -= A[at + i][first + c] * w[first + c];
            g[at + i] = w[first + i] = total / A[at + i][first + i];
        }
    else
        weigh_columns(f, level, g);
    for (int i = 0; i < at; i++) {
        double total = 0.0;
        for (int c = first; c < first + level->columns; c++)
            total += A[i][c] * w[c];
        g[i] -= total;
    }
}

static void reflect_by(const Factors *f, int k, int n, double *x)
{
    const double *v = f->reflections + (long)k * f->stride;
    double along = 0.0;
    for (int i = k; i < n; i++)
        along += v[i] * x[i];
    along *= f->strength[k];
    for (int i = k; i < n; i++)
        x[i] -= along * v[i];
}

void to_rotated(const Factors *f, int reflected, int n, double *x)
{
    for (int k = 0; k < reflected; k++)
        reflect_by(f, k, n, x);
}

void from_rotated(const Factors *f, int reflected, int n, double *x)
{
    for (int k = reflected - 1; k >= 0; k--)
        reflect_by(f, k, n, x);
}
