/* singular.c - singular levels: where truncation would be a step, the mean of all truncations, which is none.
 *
 * A direction of a level whose eigenvalue lambda of the mobility is small needs efforts in proportion to
 * 1 / sqrt(lambda). Truncation up to some `least` leaves such a direction to the levels below; but as lambda passes
 * `least`, the command jumps. So the command is the mean of truncated ones, the share s of all `least` there are between
 * nothing and what is regular:
 *
 *     u = integral over theta from 0 to 1 of u(theta) ds(theta),    s(theta) = theta^2 (3 - 2 theta)
 *
 * with u(theta) truncated up to theta * tolerance * mobility. In theta, u is constant but for steps where a lambda is, so
 * that one more chain is solved for each direction that is singular, and none if no one is. Each u(theta) keeps the order
 * of the levels, hence their mean does: what is regular at a level is never disturbed. And a direction is taken in the
 * share s(lambda / least), with an effort bounded by sqrt(1 / least).
 *
 * What lambda is compared with is the mobility of its level (mobility.c). Goals out of reach draw a level to where it is
 * singular, and the further the harder. So the springs of tasks are bounded, in each truncation, by what the levels above
 * leave there (springs.c); and a direction that has less than a fifth of its spring left, lambda below a quarter of mu, is
 * shared too: the tolerance of a level is that, if it is more.
 *
 * A row with an activation below 1, on its way in or out, is a step in theta likewise: it is there at all theta below its
 * activation, and so the command has no step where it comes or goes. tests/rigs/ has the same constants. */
#include <math.h>
#include <string.h>

#include "wholebody/control/wbosc.h"

/* theta from which on a step is too small to matter: s / sqrt(theta) is 3e-12. */
static const double NEGLIGIBLE = 1e-8;

/* lambda as a share of mu, which bounds a spring, from which on downwards a direction is shared. */
static const double GIVEN_UP = 0.25;

/* By so much of itself theta is below the lambda that is just kept. */
static const double HAIR = 1e-9;

void solve_truncated(Wbosc *wbosc)
{
    const int *first = wbosc->rows.first_of_level;
    for (int level = 0; level < wbosc->problem->level_count; level++)
        solve_chain_level(&wbosc->levels, first[level], first[level + 1] - first[level],
                          wbosc->settings->task_tolerance, 0.0);
    finish_chain(&wbosc->levels);
}

static double share_of(double theta)
{
    return theta * theta * (3.0 - 2.0 * theta);
}

/* Take out the rows whose activation is not above theta; the greatest of these activations. */
static double leave_out(Wbosc *wbosc, double theta)
{
    Chain *chain = &wbosc->levels;
    const ProblemRows *rows = &wbosc->rows;
    size_t width = (size_t)chain->A.width;
    double (*A)[width] = (double (*)[width])chain->A.at, greatest = 0.0;
    for (int c = rows->first_of_level[0]; c < rows->first_of_level[wbosc->problem->level_count]; c++) {
        double activation = rows->activation[c];
        if (!(activation < 1.0 && activation <= theta))
            continue;
        greatest = fmax(greatest, activation);
        chain->wanted[c] = 0.0;
        for (int i = 0; i < chain->n; i++)
            A[i][c] = 0.0;
    }
    return greatest;
}

/* Solve all levels truncated at theta; the greatest lambda of those truncated, in the unit of theta, or activation of a
 * row. */
static double solve_at(Wbosc *wbosc, double theta)
{
    const WboscSettings *settings = wbosc->settings;
    Chain *chain = &wbosc->levels;
    double lost = leave_out(wbosc, theta);
    for (int level = 0; level < wbosc->problem->level_count; level++) {
        int first = wbosc->rows.first_of_level[level], end = wbosc->rows.first_of_level[level + 1];
        double given_up = bound_springs(wbosc, first, end);
        double least = fmax(settings->task_tolerance, GIVEN_UP * given_up) * level_mobility(wbosc, first, end);
        solve_chain_level(chain, first, end - first, settings->hard_tolerance, theta * least);
        if (least > 0.0)
            lost = fmax(lost, chain->lost / least);
    }
    finish_chain(chain);
    return fmin(lost, theta);
}

/* Copy rows of `width` numbers between matrices with rows of other lengths. */
static void copy_rows(double *to, int to_stride, const double *from, int from_stride, int rows, int width)
{
    for (int i = 0; i < rows; i++)
        memcpy(to + (size_t)i * (size_t)to_stride, from + (size_t)i * (size_t)from_stride, (size_t)width * sizeof(double));
}

static void save(const Chain *chain, Saved *saved, int first)
{
    int width = chain->A.width - first;
    saved->used = chain->used;
    saved->reflected = chain->reflected;
    copy_rows(saved->A, width, chain->A.at + first, chain->A.width, chain->n, width);
    copy_rows(saved->wanted, width, chain->wanted + first, width, 1, width);
    copy_rows(saved->y, chain->n, chain->y, chain->n, 1, chain->n);
}

static void restore(Chain *chain, const Saved *saved, int first)
{
    int width = chain->A.width - first;
    chain->used = saved->used;
    chain->reflected = saved->reflected;
    copy_rows(chain->A.at + first, chain->A.width, saved->A, width, chain->n, width);
    copy_rows(chain->wanted + first, width, saved->wanted, width, 1, width);
    copy_rows(chain->y, chain->n, saved->y, chain->n, 1, chain->n);
}

void solve_shared(Wbosc *wbosc)
{
    Chain *chain = &wbosc->levels;
    double *mean = wbosc->saved.mean;
    int first = wbosc->rows.first_of_level[0], n = chain->n, most = 2 * chain->A.width;
    measure_mobility(wbosc);
    save(chain, &wbosc->saved, first);
    double theta = 1.0, lost = solve_at(wbosc, theta);
    if (lost < NEGLIGIBLE)
        return;
    memset(mean, 0, (size_t)n * sizeof(double));
    for (int turn = 0; turn < most; turn++) {
        if (turn == most - 1 || lost < NEGLIGIBLE)
            lost = 0.0;
        double weight = share_of(theta) - share_of(lost);
        for (int i = 0; i < n; i++)
            mean[i] += weight * chain->y[i];
        if (lost == 0.0)
            break;
        theta = lost;
        restore(chain, &wbosc->saved, first);
        lost = solve_at(wbosc, theta * (1.0 - HAIR));
    }
    memcpy(chain->y, mean, (size_t)n * sizeof(double));
}
