/* truncation.c - a level near a singularity: only directions that are regular are kept. */
#include "wholebody/control/chain.h"

#include <math.h>
#include <string.h>

#include "wholebody/control/linear_algebra.h"

/* A <- (1 - beta v v^T) A, of the columns from `first` on, in the rows from `top` to `bottom`. */
static void mirror_columns(Chain *chain, int first, int top, int bottom, const double *v, double beta)
{
    size_t width = (size_t)chain->A.width;
    double (*A)[width] = (double (*)[width])chain->A.at, *restrict w = chain->w;
    for (size_t c = (size_t)first; c < width; c++)
        w[c] = 0.0;
    for (int i = top; i < bottom; i++) {
        const double *restrict row = A[i];
        for (size_t c = (size_t)first; c < width; c++)
            w[c] += v[i] * row[c];
    }
    for (int i = top; i < bottom; i++) {
        double *restrict row = A[i], scaled = beta * v[i];
        for (size_t c = (size_t)first; c < width; c++)
            row[c] -= scaled * w[c];
    }
}

/* A reflection that turns an axis (of the level's `rank` rows; the first `before` reflections of this kind are behind us)
 * into row `before` of the level; the axis may lose its sign, which is returned. */
static double turn_axis(Chain *chain, double *axis, int before, int rank)
{
    size_t n = (size_t)chain->n;
    double (*reflections)[n] = (double (*)[n])chain->reflections;
    int used = chain->used, begun = chain->reflected - before;
    for (int m = 0; m < before; m++)
        reflect_vector(reflections[begun + m] + used, chain->strength[begun + m], 0, rank, axis);
    double *v = reflections[chain->reflected], onto = axis[before] > 0.0 ? -1.0 : 1.0;
    memset(v, 0, n * sizeof(double));
    for (int i = before; i < rank; i++)
        v[used + i] = axis[i];
    v[used + before] -= onto;
    chain->strength[chain->reflected] = -1.0 / (onto * v[used + before]);
    chain->begun[chain->reflected++] = used + before;
    return onto;
}

void truncate_level(Chain *chain, int first, int count, int rank, double least)
{
    const Eigensolver *found = chain->eigensolver;
    double *y = chain->y + chain->used;
    gram_of_level(chain, first, count, rank);
    if (!find_eigenvectors(found, chain->R, chain->n, rank)) {
        y[0] = NAN; /* so that the cycle ends with a fault */
        chain->used += rank;
        return;
    }
    int kept = 0;
    while (kept < rank && found->values[rank - 1 - kept] > least)
        kept++;
    if (kept < rank)
        chain->lost = fmax(found->values[rank - 1 - kept], 0.0);
    double *target = chain->R; /* the Gram matrix is not needed any more */
    memcpy(target, y, (size_t)rank * sizeof(double));
    memset(y, 0, (size_t)rank * sizeof(double));
    for (int k = 0; k < kept; k++) {
        const double *axis = found->vectors + (rank - 1 - k) * rank;
        for (int i = 0; i < rank; i++)
            y[k] += axis[i] * target[i];
        y[k] /= found->values[rank - 1 - k];
    }
    for (int k = 0; k < kept; k++) {
        y[k] *= turn_axis(chain, found->vectors + (rank - 1 - k) * rank, k, rank);
        int index = chain->reflected - 1;
        mirror_columns(chain, first + count, chain->used + k, chain->used + rank,
                       chain->reflections + (size_t)index * (size_t)chain->n, chain->strength[index]);
    }
    chain->used += kept;
}
