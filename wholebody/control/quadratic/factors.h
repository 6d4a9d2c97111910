/* factors.h - a chain of levels that keeps its factors, so that a level can be solved again when values above change.
 *
 * Unknown is x in R^n, and a level asks for a_i . x = r_i with its columns a_i of A. Householder reflections turn x into
 * coordinates y = Q^T x in which each level decides a block of its own: the levels above it have the numbers before,
 * and whatever they do, the numbers after are free for the levels below. With inequalities only y changes, never Q. */
#ifndef WHOLEBODY_QUADRATIC_FACTORS_H
#define WHOLEBODY_QUADRATIC_FACTORS_H

#include <stdint.h>

/* The factors of one chain; the memory is the problem's (memory.c). Reflection i begins at row i. */
typedef struct {
    int n, width;        /* rows, and columns, of this cycle */
    int stride;          /* of the square matrices: n, but at least 1, as width is */
    double *A;           /* n x width, columns before they are reflected, then the triangles R of all levels */
    double *target;      /* width: r of each column */
    double *y;           /* n */
    double *reflections; /* n x n: v of each reflection 1 - beta v v^T */
    double *strength;    /* n: beta of each */
    double *C;           /* n x n: of each level with dependent columns, C C^T = R R^T */
    double *w;           /* width: scratch, and what `gradient_on_losses` leaves */
    double *z;           /* n: scratch */
    int64_t *origin;     /* width: which column this was, before columns changed places */
} Factors;

/* What a level is about: accelerations beyond their bounds, tasks on motion, the rest of u, forces, and forces that no
 * motor feels. */
typedef enum { RELAXATION, MOTION_LEVEL, REST_OF_MOTION, FORCE_LEVEL, REST_OF_FORCE } LevelKind;

/* One level: its columns of A, its block of y, and where its losses stand among all. */
typedef struct {
    LevelKind kind;
    int first, columns; /* of A */
    int at, rank;       /* of y */
    int loss;           /* the first of its `rank` losses */
} Level;

/* Reflect columns first ... end into a triangle from row `used` on, the longest first, and all columns up to `width`
 * alike; how many rows that takes. Columns of which less than a share of the longest is left count as dependent:
 * what they ask for is left to the levels below. The share is one of squares. */
int factor_columns(Factors *f, int first, int end, int width, int used, double share);

/* C C^T = R R^T of a level: how much its numbers weigh in its rows. Nothing to do where R is square. */
void weigh_level(Factors *f, const Level *level);

/* The numbers of y that a level decides, by least squares, with those above as they are, and its losses e to bear:
 * R R^T y = R (r - what is above) + C e. The least squares of its rows grow by |e|^2. */
void solve_factored_level(Factors *f, const Level *level, const double *losses);

/* Of a gradient g in the numbers of y: make it one in the losses of a level, and in the numbers above it. What its
 * columns weigh in it, w = R^T (R R^T)^-1 g, stays in f->w. */
void gradient_on_losses(Factors *f, const Level *level, double *g);

/* x <- Q^T x and x <- Q x with that many reflections; x has n numbers, or as many as are in use. */
void to_rotated(const Factors *f, int reflected, int n, double *x);
void from_rotated(const Factors *f, int reflected, int n, double *x);

#endif
