/* eigensolver.c - eigenvalues and eigenvectors by LAPACK's dsyevd: a plain Jacobi iteration took four times as long. */
#include "wholebody/control/chain.h"

Eigensolver take_eigensolver(Arena *arena, Dsyevd dsyevd, int most)
{
    size_t n = (size_t)most, work = 1 + 6 * n + 2 * n * n, integers = 3 + 5 * n; /* as dsyevd asks for */
    return (Eigensolver){
        .dsyevd = dsyevd,
        .most = most,
        .work_size = (int)work,
        .integers_size = (int)integers,
        .values = take_numbers(arena, n),
        .vectors = take_numbers(arena, n * n),
        .work = take_numbers(arena, work),
        .integers = take_integers(arena, integers),
    };
}

bool find_eigenvectors(const Eigensolver *solver, const double *G, int stride, int rank)
{
    char vectors = 'V', triangle = 'L';
    int n = rank, work_size = solver->work_size, integers_size = solver->integers_size, info = 0;
    for (int i = 0; i < n; i++) /* LAPACK stores matrices by columns */
        for (int j = 0; j <= i; j++)
            solver->vectors[j * n + i] = G[i * stride + j];
    solver->dsyevd(&vectors, &triangle, &n, solver->vectors, &n, solver->values, solver->work, &work_size,
                   solver->integers, &integers_size, &info);
    return info == 0;
}
