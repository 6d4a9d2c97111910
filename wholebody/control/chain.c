/* chain.c - levels of least squares, one after the other, by Householder reflections. */
#include "wholebody/control/chain.h"

#include <math.h>
#include <string.h>

#include "wholebody/control/linear_algebra.h"

enum { PADDED = 4 }; /* columns are padded with zeros to a multiple of this, which a processor takes at once */

/* The share of the longest column from which on downwards lengths are measured again rather than reckoned. */
static const double ROUNDED = 1e-6;

/* The square of the relative length below which a column is rounding. */
static const double NOTHING = 1e-24;

static int padded(int width)
{
    if (width < PADDED)
        return PADDED;
    return (width + PADDED - 1) / PADDED * PADDED;
}

Chain take_chain(Arena *arena, const Eigensolver *eigensolver, int n, int width)
{
    size_t rows = (size_t)n, columns = (size_t)padded(width), most = 2 * columns + 1; /* each reflects at most twice */
    return (Chain){
        .n = n,
        .A = {take_numbers(arena, rows * columns), (int)columns},
        .wanted = take_numbers(arena, columns),
        .size = take_numbers(arena, columns),
        .left = take_numbers(arena, columns),
        .w = take_numbers(arena, columns),
        .y = take_numbers(arena, rows),
        .reflections = take_numbers(arena, most * rows),
        .strength = take_numbers(arena, most),
        .begun = take_integers(arena, most),
        .R = take_numbers(arena, rows * rows),
        .eigensolver = eigensolver,
    };
}

void open_chain(Chain *chain, int n, int width)
{
    chain->n = n;
    chain->A.width = padded(width);
}

void begin_chain(Chain *chain)
{
    square_columns(chain->A, chain->n, 0, 0, chain->A.width, chain->size);
    memset(chain->y, 0, (size_t)chain->n * sizeof(double));
    chain->used = chain->reflected = 0;
    chain->lost = 0.0;
}

static double *reflection(const Chain *chain, int index)
{
    return chain->reflections + (size_t)index * (size_t)chain->n;
}

static int longest(const double *left, int first, int end)
{
    int best = first;
    for (int c = first + 1; c < end; c++)
        if (left[c] > left[best])
            best = c;
    return best;
}

static void swap(double *a, double *b)
{
    double kept = *a;
    *a = *b;
    *b = kept;
}

static void swap_columns(Chain *chain, int a, int b)
{
    size_t width = (size_t)chain->A.width;
    double (*A)[width] = (double (*)[width])chain->A.at;
    for (int i = chain->used; i < chain->n; i++)
        swap(&A[i][a], &A[i][b]);
    swap(&chain->wanted[a], &chain->wanted[b]);
    chain->left[b] = chain->left[a];
}

/* Reflect the level's columns into a triangle, the longest first, until the rest is rounding; how many rows that takes.
 *
 * What is left of each column's length is what there was less the entry that each reflection makes; where that is hardly
 * more than rounding, all are measured again. */
static int triangularise(Chain *chain, int first, int end, double limit)
{
    double *left = chain->left, most = 0.0;
    int n = chain->n, rank = 0;
    while (rank < end - first && rank < n - chain->used) {
        int row = chain->used + rank, column = first + rank;
        int best = rank > 0 ? longest(left, column, end) : column;
        if (!(left[best] > ROUNDED * most) || rank == 0) {
            square_columns(chain->A, n, row, column, end, left);
            best = longest(left, column, end);
            most = left[best];
        }
        double square = square_column(chain->A, n, row, best);
        if (!(square > limit))
            break;
        if (best != column)
            swap_columns(chain, column, best);
        double *v = reflection(chain, chain->reflected);
        chain->strength[chain->reflected] = reflect(chain->A, n, row, column, sqrt(square), v, chain->w);
        chain->begun[chain->reflected++] = row;
        const double *made = chain->A.at + (size_t)row * (size_t)chain->A.width;
        for (int c = column + 1; c < end; c++)
            left[c] -= made[c] * made[c];
        rank++;
    }
    return rank;
}

/* Whether all eigenvalues of R^T R are above a value: surely so if 1 / |R^-1|^2 is. T is the inverse of R. */
static bool is_regular(const Chain *chain, int first, int rank, double least)
{
    size_t width = (size_t)chain->A.width, n = (size_t)chain->n;
    double (*A)[width] = (double (*)[width])chain->A.at, (*T)[n] = (double (*)[n])chain->R;
    double total = 0.0;
    for (int i = rank - 1; i >= 0; i--) {
        const double *row = A[chain->used + i] + first;
        double *restrict t = T[i], diagonal = 1.0 / row[i];
        for (int j = i + 1; j < rank; j++)
            t[j] = 0.0;
        for (int k = i + 1; k < rank; k++) {
            const double r = row[k] * diagonal, *restrict below = T[k];
            if (r != 0.0)
                for (int j = k; j < rank; j++)
                    t[j] -= r * below[j];
        }
        t[i] = diagonal;
        for (int j = i; j < rank; j++)
            total += t[j] * t[j];
    }
    return total * least < 1.0;
}

/* R^T y = wanted. */
static void substitute(Chain *chain, int first, int rank)
{
    size_t width = (size_t)chain->A.width;
    double (*A)[width] = (double (*)[width])chain->A.at, *restrict wanted = chain->wanted + first;
    for (int i = 0; i < rank; i++) {
        const double *restrict row = A[chain->used + i] + first;
        double known = wanted[i] / row[i];
        chain->y[chain->used + i] = known;
        for (int c = i + 1; c < rank; c++)
            wanted[c] -= row[c] * known;
    }
}

void gram_of_level(Chain *chain, int first, int count, int rank)
{
    size_t width = (size_t)chain->A.width, n = (size_t)chain->n;
    double (*A)[width] = (double (*)[width])chain->A.at, (*G)[n] = (double (*)[n])chain->R;
    for (int i = 0; i < rank; i++) {
        const double *a = A[chain->used + i] + first;
        for (int j = 0; j <= i; j++) {
            const double *b = A[chain->used + j] + first;
            double total = 0.0;
            for (int c = i; c < count; c++)
                total += a[c] * b[c];
            G[i][j] = total;
        }
        double total = 0.0;
        for (int c = i; c < count; c++)
            total += a[c] * chain->wanted[first + c];
        chain->y[chain->used + i] = total;
    }
}

/* Take from what a level wants what the levels above have decided already. */
static void subtract_known(Chain *chain, int first, int end)
{
    size_t width = (size_t)chain->A.width;
    double (*A)[width] = (double (*)[width])chain->A.at, *restrict wanted = chain->wanted;
    for (int i = 0; i < chain->used; i++) {
        const double known = chain->y[i], *restrict row = A[i];
        if (known != 0.0)
            for (int c = first; c < end; c++)
                wanted[c] -= row[c] * known;
    }
}

void solve_chain_level(Chain *chain, int first, int count, double tolerance, double least)
{
    chain->lost = 0.0;
    if (chain->used == chain->n || count == 0)
        return;
    subtract_known(chain, first, first + count);
    double scale = 0.0;
    for (int c = first; c < first + count; c++)
        scale = fmax(scale, chain->size[c]);
    int rank = triangularise(chain, first, first + count, NOTHING * scale);
    if (rank == 0)
        return;
    double nothing = tolerance * scale;
    least = fmax(least, nothing);
    if (!is_regular(chain, first, rank, least)) {
        truncate_level(chain, first, count, rank, least);
        if (!(chain->lost > nothing))
            chain->lost = 0.0;
        return;
    }
    if (rank == count) {
        substitute(chain, first, rank);
    } else { /* more columns than rank: R R^T y = R wanted */
        gram_of_level(chain, first, count, rank);
        solve_by_cholesky(chain->R, chain->n, chain->y + chain->used, rank);
    }
    chain->used += rank;
}

void finish_chain(Chain *chain)
{
    for (int index = chain->reflected - 1; index >= 0; index--)
        reflect_vector(reflection(chain, index), chain->strength[index], chain->begun[index], chain->n, chain->y);
}
