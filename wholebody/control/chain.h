/* chain.h - the Householder chain: least squares in strict levels, each in what the levels before it leave.
 *
 * Unknown is y of n numbers. A level asks for a_i . y = r_i with the columns a_i of a wide matrix A that has all levels
 * side by side. Reflections make the columns of a level upper triangular in the rows that nobody has used, and are applied
 * to all columns to the right at once; so each level solves a triangular system in the rows it takes, and the rows below
 * are the next one's. Of all solutions the shortest is taken: what no level asks for is zero.
 *
 * A level whose columns depend on each other, or on those above, is solved as its truncated pseudo-inverse: eigenvalues of
 * its A^T A (the mobility in operational space) up to `least` count as zero, and their directions are left to the levels
 * below. */
#ifndef WHOLEBODY_CONTROL_CHAIN_H
#define WHOLEBODY_CONTROL_CHAIN_H

#include "wholebody/control/problem.h"

/* LAPACK's eigensolver for symmetric matrices, as scipy exports it. */
typedef void (*Dsyevd)(char *jobz, char *uplo, int *n, double *a, int *lda, double *w, double *work, int *lwork,
                       int *iwork, int *liwork, int *info);

/* Eigenvalues, in rising order, and eigenvectors, one after the other, of a matrix of at most `most` rows. */
typedef struct {
    Dsyevd dsyevd;
    int most, work_size, integers_size;
    double *values, *vectors, *work;
    int *integers;
} Eigensolver;

/* The memory of one chain, and how far it has come. Vectors have a number for each column unless told. */
typedef struct {
    int n;               /* numbers of y */
    int used;            /* rows that levels have taken */
    int reflected;       /* reflections so far */
    Columns A;           /* n x all columns, and columns of zeros up to a multiple of four */
    double *wanted;      /* right-hand side */
    double *size;        /* square of a column's length before anything is done to it */
    double *left;        /* what is left of that in the rows that nobody has used */
    double *w;           /* memory */
    double *y;           /* n */
    double *reflections; /* each a row of n: vectors v of 1 - beta v v^T, from where they begin */
    double *strength;    /* beta of each reflection */
    int *begun;          /* the row where each reflection begins */
    double *R;           /* memory: n x n */
    double lost;         /* the greatest eigenvalue that the last level truncated, if it is more than rounding */
    const Eigensolver *eigensolver;
} Chain;

/* Memory for at most n numbers and `width` columns. */
Eigensolver take_eigensolver(Arena *arena, Dsyevd dsyevd, int most);
Chain take_chain(Arena *arena, const Eigensolver *eigensolver, int n, int width);

/* Give a chain its size in this cycle; whoever fills A also fills the columns of zeros behind. */
void open_chain(Chain *chain, int n, int width);

/* Measure the columns, and forget what was. */
void begin_chain(Chain *chain);

/* Solve one level of `count` columns. Eigenvalues are truncated up to a share of the longest column's square, or up to
 * `least` if that is more. */
void solve_chain_level(Chain *chain, int first, int count, double tolerance, double least);

/* From the rows of the chain back to the unknown itself: y <- Q y. */
void finish_chain(Chain *chain);

/* eigensolver.c: of the matrix in the lower triangle of G (rows of `stride` numbers); false if there are none. */
bool find_eigenvectors(const Eigensolver *solver, const double *G, int stride, int rank);

/* truncation.c: near a singularity, keep directions with eigenvalues above `least`, and turn the rows so that they come
 * first. Of the level, `rank` rows are triangular. */
void truncate_level(Chain *chain, int first, int count, int rank, double least);

/* G = R R^T, R of the level with all its columns, into chain->R, and y = R wanted. */
void gram_of_level(Chain *chain, int first, int count, int rank);

#endif
