/* springs.c - bounded springs: no error asks for more than the hardest pull of its task.
 *
 * A task pulls at its error with the acceleration p = kp e + ki (integral of e), which takes the force f = p / G, with the
 * mobility G = J M^-1 J^T of what is left. Where a direction is singular, f grows without bound, and a goal out of reach
 * asks for it for ever: a stretched limb is drawn to its singularity ever faster, is thrown beyond it, and back. So the
 * force is bounded:
 *
 *     |f| <= F = kp error_limit / mobility
 *
 * what an error of `error_limit` takes in the direction in which the task is most mobile. Of all accelerations that such a
 * force can give, the nearest in kinetic energy to the one asked for is taken, of all that the goal asks for alike
 * (a = p + kd dx* + ddx*):
 *
 *     a <- G (G + mu)^-1 a,    mu >= 0 the least with |(G + mu)^-1 p| <= F
 *
 * It is continuous, and changes nothing for errors up to error_limit lambda / mobility in a direction with eigenvalue
 * lambda of G. Of a direction, the share lambda / (lambda + mu) of its spring is left. */
#include <math.h>

#include "wholebody/control/linear_algebra.h"
#include "wholebody/control/wbosc.h"

enum { MOST_STEPS = 50 };

/* The share of G's trace that is added to it at least, so that it can be factored. tests/rigs/ has it too. */
static const double ROUNDING = 1e-13;

/* How near the force must be to its bound. */
static const double CONVERGED = 1e-13;

/* Rows that pull together: columns first .. first + count - 1. */
typedef struct {
    int first, count;
} Block;

/* G of some rows in what nobody has used; its trace. */
static double mobility_matrix(const Chain *chain, const SpringMemory *memory, Block block)
{
    size_t width = (size_t)chain->A.width, stride = (size_t)memory->stride;
    double (*A)[width] = (double (*)[width])chain->A.at, (*G)[stride] = (double (*)[stride])memory->G;
    for (int a = 0; a < block.count; a++)
        for (int b = 0; b <= a; b++)
            G[a][b] = 0.0;
    for (int i = chain->used; i < chain->n; i++) {
        const double *row = A[i] + block.first;
        for (int a = 0; a < block.count; a++)
            for (int b = 0; b <= a; b++)
                G[a][b] += row[a] * row[b];
    }
    double trace = 0.0;
    for (int a = 0; a < block.count; a++)
        trace += G[a][a];
    return trace;
}

/* f = (G + mu)^-1 asked, and its length; the factor stays in the memory. */
static double find_force(const SpringMemory *memory, const double *asked, int count, double mu)
{
    size_t stride = (size_t)memory->stride;
    double (*G)[stride] = (double (*)[stride])memory->G, (*C)[stride] = (double (*)[stride])memory->factor;
    double *f = memory->f, square = 0.0;
    for (int a = 0; a < count; a++) {
        for (int b = 0; b <= a; b++)
            C[a][b] = G[a][b];
        C[a][a] += mu;
        f[a] = asked[a];
    }
    solve_by_cholesky(memory->factor, memory->stride, f, count);
    for (int a = 0; a < count; a++)
        square += f[a] * f[a];
    return sqrt(square);
}

/* |C^-1 f|^2, with G + mu = C C^T: half of how fast |f|^2 falls with mu. */
static double half_slope(const SpringMemory *memory, int count)
{
    size_t stride = (size_t)memory->stride;
    double (*C)[stride] = (double (*)[stride])memory->factor, *half = memory->half, square = 0.0;
    for (int a = 0; a < count; a++) {
        double total = memory->f[a];
        for (int b = 0; b < a; b++)
            total -= C[a][b] * half[b];
        half[a] = total / C[a][a];
        square += half[a] * half[a];
    }
    return square;
}

/* wanted <- wanted - mu (G + mu)^-1 a, if mu must be above zero; and mu. */
static double bound_block(Wbosc *wbosc, Block block, double strongest)
{
    const SpringMemory *memory = &wbosc->springs;
    const double *spring = wbosc->rows.spring + block.first, *asked = wbosc->rows.asked + block.first;
    double *wanted = wbosc->levels.wanted + block.first, pulled = 0.0;
    double trace = mobility_matrix(&wbosc->levels, memory, block);
    if (!(trace > 0.0))
        return 0.0;
    for (int a = 0; a < block.count; a++)
        pulled += spring[a] * spring[a];
    double mu = fmax(ROUNDING * trace, sqrt(pulled) / strongest - trace);
    bool slack = mu == ROUNDING * trace;
    for (int step = 0; step < MOST_STEPS; step++) {
        double length = find_force(memory, spring, block.count, mu);
        if (!(length > strongest * (1.0 + CONVERGED)))
            break;
        slack = false;
        mu += length * length / half_slope(memory, block.count) * (length / strongest - 1.0);
    }
    if (slack)
        return 0.0;
    find_force(memory, asked, block.count, mu);
    for (int a = 0; a < block.count; a++)
        wanted[a] -= mu * memory->f[a];
    return mu;
}

double bound_springs(Wbosc *wbosc, int first, int end)
{
    const ProblemRows *rows = &wbosc->rows;
    const Mobility mobility = wbosc->mobility;
    double given_up = 0.0;
    for (int begun = first, after; begun < end; begun = after) {
        double hardest = rows->pull[begun], mobile = mobility.mobile[begun];
        bool strained = rows->spring[begun] != 0.0;
        for (after = begun + 1; after < end && mobility.block[after] == mobility.block[begun]; after++) {
            hardest = fmax(hardest, rows->pull[after]);
            strained = strained || rows->spring[after] != 0.0;
        }
        if (strained && 0.0 < hardest && hardest < UNLIMITED && mobile > 0.0) {
            double mu = bound_block(wbosc, (Block){begun, after - begun}, hardest / mobile);
            given_up = fmax(given_up, mu / mobile);
        }
    }
    return fmin(given_up, 1.0);
}
