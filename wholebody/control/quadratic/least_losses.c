/* least_losses.c - the least losses with which some limits are exactly reached, level by level from the top.
 *
 * Gradients G of these limits, one block of columns for each level, and excesses b; wanted are losses e with G e = b of
 * which e0 is the shortest there is, then e1, and so on. From the last level up, rotations Q of the rows turn as many
 * rows of its block as it has rank into ones that only it and the levels above have; those are its to meet:
 *
 *     Q^T G = | T0         |   one block row for each level: T0 e0 = b0,  T1 e1 = b1 - .. e0,  ..
 *             | ..  T1     |   each by the shortest e = T^T u, u = (T T^T)^-1 ..
 *             | ..  ..  T2 |   and with prices Q u of the rows
 *
 * Rows that no level can meet are left to slack, in units of the limits, by least squares. A price says how much the
 * square of a level's loss would shrink if the limit gave way; a limit that belongs here has prices that are not
 * negative, the first that is not zero counting. */
#include <math.h>
#include <string.h>

#include "wholebody/control/linear_algebra.h"
#include "wholebody/control/quadratic/quadratic.h"

/* A row of which so small a share is left depends on the others, or on the levels above alone. */
static const double DEPENDENT = 1e-9;
/* What is left of an excess by rounding, as a share of the greatest one. */
static const double MET = 1e-10;
/* How little the loss of a level of forces counts beside the last one of motion; that of the next beside it, too. */
static const double LESS = 1e-3;
/* A price below that share of the greatest one of its level is none. */
static const double ROUNDING = 1e-9;

/* Let the levels before `end` lose one after the other, the last with all that follow, whose losses count ever less. */
static void lose_in_order(Quadratic *q, int end)
{
    ActiveSet *active = &q->active;
    double measure = 1.0;
    int first = q->counts->relaxing ? 0 : 1, strict = end - first;
    q->counts->strict = strict;
    for (int c = 0; c < q->counts->last; c++)
        active->measure[c] = 1.0;
    for (int index = first; index < q->level_count; index++) {
        const Level *level = &q->levels[index];
        if (index < end)
            active->first_loss[index - first] = level->loss;
        if (index >= end && level->rank > 0)
            measure /= LESS;
        for (int c = level->loss; c < level->loss + level->rank; c++)
            active->measure[c] = measure;
    }
    active->first_loss[strict] = q->counts->last;
}

/* Forces, which come after all motion, lose together with the last level of it. To be spared a hundredth of its loss,
 * that would else bend forces without measure where limits all but depend on each other, as those of two soles in almost
 * one plane do; and prices drown in rounding. */
void lose_forces_with_motion(Quadratic *q)
{
    int end = 2;
    for (int index = 1; index < q->level_count; index++)
        if (q->levels[index].kind < FORCE_LEVEL && q->levels[index].rank > 0)
            end = index + 1;
    lose_in_order(q, end);
}

void lose_strictly(Quadratic *q)
{
    lose_in_order(q, q->level_count);
}

/* Gradients of length 1 and excesses of the active limits; the greatest excess. */
static double load_active(Quadratic *q)
{
    ActiveSet *active = &q->active;
    const Limits *limits = &q->limits;
    int n = q->unknowns, most = active->most, count = (int)q->counts->active;
    int first = (int)active->first_loss[0], end = (int)q->counts->last;
    double (*M)[n] = (double (*)[n])active->M, (*Q)[most] = (double (*)[most])active->Q, greatest = 0.0;
    for (int k = 0; k < count; k++) {
        int64_t row = active->row[k], side = active->side[k];
        const double *gradient = limits->gradients + row * n;
        double square = 0.0;
        for (int c = first; c < end; c++) {
            double entry = gradient[c] * active->measure[c];
            square += entry * entry;
        }
        double weight = square > 1e-24 ? 1.0 / sqrt(square) : 1.0;
        for (int c = first; c < end; c++)
            M[k][c] = (double)side * weight * gradient[c] * active->measure[c];
        double bound = side > 0 ? limits->lower[row] : limits->upper[row];
        active->weight[k] = weight;
        active->excess[k] = (double)side * weight * (bound - limits->begun[row]);
        greatest = fmax(greatest, fabs(active->excess[k]));
        for (int j = 0; j < count; j++)
            Q[k][j] = j == k ? 1.0 : 0.0;
    }
    return greatest;
}

/* Reflect a column of that length onto the last of the rows that are left, and all else up to `end` alike. */
static void reflect_rows(Quadratic *q, int left, int end, int column, double length)
{
    ActiveSet *active = &q->active;
    int n = q->unknowns, most = active->most, count = (int)q->counts->active, first = (int)active->first_loss[0];
    double (*M)[n] = (double (*)[n])active->M, (*Q)[most] = (double (*)[most])active->Q;
    double *v = active->share, *along = active->along, *excess = active->excess, down = 0.0;
    for (int i = 0; i < left; i++)
        v[i] = M[i][column];
    v[left - 1] += v[left - 1] > 0.0 ? length : -length;
    double beta = 1.0 / (length * fabs(v[left - 1]));
    for (int c = first; c < end; c++)
        along[c] = 0.0;
    for (int i = 0; i < left; i++) {
        down += v[i] * excess[i];
        for (int c = first; c < end; c++)
            along[c] += v[i] * M[i][c];
    }
    for (int i = 0; i < left; i++) {
        double share = beta * v[i];
        excess[i] -= share * down;
        for (int c = first; c < end; c++)
            M[i][c] -= share * along[c];
    }
    for (int k = 0; k < count; k++) {
        double total = 0.0;
        for (int i = 0; i < left; i++)
            total += Q[k][i] * v[i];
        total *= beta;
        for (int i = 0; i < left; i++)
            Q[k][i] -= total * v[i];
    }
}

/* Rotate the rows that are left so that few of them have all that there is in a block; how many have nothing. */
static int compress_rows(Quadratic *q, int left, int start, int end)
{
    int n = q->unknowns;
    double (*M)[n] = (double (*)[n])q->active.M, *square = q->active.along;
    for (int step = start; step < end && left > 0; step++) {
        int best = start;
        for (int c = start; c < end; c++)
            square[c] = 0.0;
        for (int i = 0; i < left; i++)
            for (int c = start; c < end; c++)
                square[c] += M[i][c] * M[i][c];
        for (int c = start + 1; c < end; c++)
            if (square[c] > square[best])
                best = c;
        if (square[best] <= DEPENDENT * DEPENDENT)
            break;
        reflect_rows(q, left, end, best, sqrt(square[best]));
        left--;
    }
    return left;
}

/* The prices Q u of all rows at one level, u in active->share, and none where rounding left some. */
static void set_prices(Quadratic *q, int order, int begin, int end)
{
    ActiveSet *active = &q->active;
    int most = active->most, orders = active->orders, count = (int)q->counts->active;
    double (*Q)[most] = (double (*)[most])active->Q, (*price)[orders] = (double (*)[orders])active->price;
    double greatest = 0.0;
    for (int k = 0; k < count; k++) {
        double total = 0.0;
        for (int i = begin; i < end; i++)
            total += Q[k][i] * active->share[i - begin];
        price[k][order] = total;
        greatest = fmax(greatest, fabs(total));
    }
    for (int k = 0; k < count; k++)
        if (fabs(price[k][order]) <= ROUNDING * greatest)
            price[k][order] = 0.0;
}

/* x <- G^-1 x by the lower half of G, whose pivots are kept above rounding. */
static void solve_positive(double *matrix, int stride, double *x, int size)
{
    double (*G)[stride] = (double (*)[stride])matrix;
    for (int i = 0; i < size; i++)
        for (int j = 0; j <= i; j++) {
            double total = G[i][j];
            for (int k = 0; k < j; k++)
                total -= G[i][k] * G[j][k];
            G[i][j] = i == j ? sqrt(fmax(total, 1e-30)) : total / G[j][j];
        }
    for (int i = 0; i < size; i++) {
        for (int k = 0; k < i; k++)
            x[i] -= G[i][k] * x[k];
        x[i] /= G[i][i];
    }
    for (int i = size - 1; i >= 0; i--) {
        for (int k = i + 1; k < size; k++)
            x[i] -= G[k][i] * x[k];
        x[i] /= G[i][i];
    }
}

/* Least slack s, in units of the limits, for the rows that no level can meet: those of Q^T s that are left. */
static void leave_to_slack(Quadratic *q, int left, double greatest)
{
    ActiveSet *active = &q->active;
    int most = active->most, count = (int)q->counts->active;
    double (*Q)[most] = (double (*)[most])active->Q, (*gram)[most] = (double (*)[most])active->gram;
    double *u = active->share, *slack = active->slack, *weight = active->weight, worst = 0.0;
    memset(slack, 0, (size_t)count * sizeof(double));
    for (int i = 0; i < left; i++) {
        u[i] = active->excess[i];
        worst = fmax(worst, fabs(u[i]));
    }
    if (worst <= MET * greatest) {
        set_prices(q, 0, 0, 0);
        return;
    }
    for (int i = 0; i < left; i++)
        for (int j = 0; j <= i; j++) {
            double total = 0.0;
            for (int k = 0; k < count; k++)
                total += Q[k][i] * Q[k][j] * weight[k] * weight[k];
            gram[i][j] = total;
        }
    solve_positive(active->gram, most, u, left);
    set_prices(q, 0, 0, left);
    for (int k = 0; k < count; k++) {
        double total = 0.0;
        for (int i = 0; i < left; i++)
            total += Q[k][i] * u[i];
        slack[k] = weight[k] * weight[k] * total;
    }
    for (int i = left; i < count; i++)
        for (int k = 0; k < count; k++)
            active->excess[i] -= Q[k][i] * slack[k];
    for (int k = 0; k < count; k++)
        slack[k] /= weight[k];
}

/* T = L O of rows begin ... begin + rows and columns start ... end, from the last row up, the one that was longest, with O
 * in the place of T and L in active->gram; twice, against rounding. */
static void orthogonalise(Quadratic *q, int begin, int rows, int start, int end)
{
    int n = q->unknowns, most = q->active.most;
    double (*M)[n] = (double (*)[n])q->active.M, (*L)[most] = (double (*)[most])q->active.gram;
    for (int i = rows - 1; i >= 0; i--) {
        double *row = M[begin + i], square = 0.0;
        for (int k = i; k < rows; k++)
            L[i][k] = 0.0;
        for (int twice = 0; twice < 2; twice++)
            for (int k = i + 1; k < rows; k++) {
                const double *other = M[begin + k];
                double along = 0.0;
                for (int c = start; c < end; c++)
                    along += row[c] * other[c];
                L[i][k] += along;
                for (int c = start; c < end; c++)
                    row[c] -= along * other[c];
            }
        for (int c = start; c < end; c++)
            square += row[c] * row[c];
        L[i][i] = sqrt(square);
        for (int c = start; c < end; c++)
            row[c] /= L[i][i];
    }
}

/* The shortest loss of a level that meets its rows, with the losses above as they are: T = L O, e = O^T L^-1 .. */
static void lose_level(Quadratic *q, int index, double greatest)
{
    ActiveSet *active = &q->active;
    int n = q->unknowns, most = active->most, strict = (int)q->counts->strict;
    int first = (int)active->first_loss[0], start = (int)active->first_loss[index], end = (int)active->first_loss[index + 1];
    int begin = active->begin[index], after = index + 1 < strict ? active->begin[index + 1] : (int)q->counts->active;
    double (*M)[n] = (double (*)[n])active->M, (*L)[most] = (double (*)[most])active->gram;
    double *u = active->share, *losses = active->losses, worst = 0.0;
    int rows = after - begin;
    for (int i = 0; i < rows; i++) {
        double total = active->excess[begin + i];
        for (int c = first; c < start; c++)
            total -= M[begin + i][c] * losses[c];
        u[i] = total;
        worst = fmax(worst, fabs(total));
    }
    if (worst <= MET * greatest) {
        set_prices(q, index + 1, begin, begin);
        return;
    }
    orthogonalise(q, begin, rows, start, end);
    for (int i = rows - 1; i >= 0; i--) {
        for (int k = i + 1; k < rows; k++)
            u[i] -= L[i][k] * u[k];
        u[i] /= L[i][i];
        for (int c = start; c < end; c++)
            losses[c] += M[begin + i][c] * u[i];
    }
    for (int i = 0; i < rows; i++) {
        for (int k = 0; k < i; k++)
            u[i] -= L[k][i] * u[k];
        u[i] /= L[i][i];
    }
    set_prices(q, index + 1, begin, after);
}

void find_least_losses(Quadratic *q)
{
    ActiveSet *active = &q->active;
    int strict = (int)q->counts->strict, left = (int)q->counts->active;
    double greatest = load_active(q);
    for (int index = strict - 1; index >= 0; index--) {
        left = compress_rows(q, left, (int)active->first_loss[index], (int)active->first_loss[index + 1]);
        active->begin[index] = left;
    }
    memset(active->losses, 0, (size_t)q->unknowns * sizeof(double));
    leave_to_slack(q, left, greatest);
    for (int index = 0; index < strict; index++)
        lose_level(q, index, greatest);
    for (int64_t c = active->first_loss[0]; c < q->counts->last; c++)
        active->losses[c] *= active->measure[c];
    q->counts->solved++;
}
