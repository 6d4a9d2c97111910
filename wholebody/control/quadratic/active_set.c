/* active_set.c - which limits are active: a dual active-set method whose objective is a sequence of levels.
 *
 * Begin with the limits that were active in the cycle before, less those whose price is negative. Then, as long as a
 * limit is violated, make the worst one active. On the way there prices change in proportion; the first that would become
 * negative stops the way: its limit is let go, and the way goes on from there. Prices are compared level by level from
 * the top, as numbers p0 + p1 w + p2 w^2 + .. with w as small as you like; what is left to slack comes before all levels.
 * If slack remains in the end, the limits contradict each other, and no motion exceeds them by a smaller sum of squares. */
#include <math.h>
#include <stdlib.h>

#include "wholebody/control/quadratic/quadratic.h"

/* How far beyond its bound a limit is violated, in its own unit. */
static const double VIOLATED = 1e-8;

/* A limit that is active and further beyond its bound than that contradicts others. */
static const double CONTRADICTION = 1e-7;

/* So many sets of active limits are tried: one or two in a cycle like the one before, without a guess some fifty. Where
 * levels lose very much, rounding can make the same limits come and go for ever. It hardly does so twice: after a few
 * steps, another way is tried from the beginning. */
enum { FEW_STEPS = 200, MOST_STEPS = 300 };

/* A price and the level it is of, slack before all. */
typedef struct {
    int order;
    double price;
} Leading;

/* Where in the list a limit is active, or -1. */
static int place_of(const Quadratic *q, int64_t row)
{
    for (int k = 0; k < q->counts->active; k++)
        if (q->active.row[k] == row)
            return k;
    return -1;
}

/* Ask for the gradient of a limit. */
static void list_row(Quadratic *q, int64_t row)
{
    if (q->limits.known[row] == UNKNOWN) {
        q->limits.known[row] = ASKED_FOR;
        q->limits.listed[q->counts->listed++] = row;
    }
}

bool list_violated(Quadratic *q)
{
    const Limits *limits = &q->limits;
    bool found = false;
    for (int row = 0; row < q->counts->rows; row++) {
        double beyond = fmax(limits->lower[row] - limits->value[row], limits->value[row] - limits->upper[row]);
        if (beyond > VIOLATED && place_of(q, row) < 0) {
            found = true;
            list_row(q, row);
        }
    }
    return found;
}

void learn_listed(Quadratic *q)
{
    for (int index = 0; index < q->counts->listed; index++) {
        int row = (int)q->limits.listed[index];
        if (q->limits.known[row] == ASKED_FOR)
            fill_gradient(q, row);
    }
}

/* The first price of a limit that is not zero. */
static Leading leading_price(const Quadratic *q, const double *prices, int k)
{
    int orders = (int)q->counts->strict + 1;
    const double *price = prices + (long)k * q->active.orders;
    for (int order = 0; order < orders; order++)
        if (price[order] != 0.0)
            return (Leading){order, price[order]};
    return (Leading){orders, 0.0};
}

/* Take a limit out of the list. */
static void let_go(Quadratic *q, int k)
{
    ActiveSet *active = &q->active;
    int orders = active->orders;
    double (*before)[orders] = (double (*)[orders])active->before;
    q->counts->active--;
    for (int j = k; j < q->counts->active; j++) {
        active->row[j] = active->row[j + 1];
        active->side[j] = active->side[j + 1];
        for (int order = 0; order <= q->counts->strict; order++)
            before[j][order] = before[j + 1][order];
    }
}

/* Ask for the gradients of the limits that were active before, and let go of those that have no bound now. */
static void list_guessed(Quadratic *q)
{
    for (int k = (int)q->counts->active - 1; k >= 0; k--) {
        int64_t row = q->active.row[k];
        const double *bounds = q->active.side[k] > 0 ? q->limits.lower : q->limits.upper;
        if (row >= q->counts->rows || !isfinite(bounds[row]))
            let_go(q, k);
        else
            list_row(q, row);
    }
}

/* Losses with the limits active that were so before, as long as their prices say that they belong here. */
static void trim_guess(Quadratic *q)
{
    for (;;) {
        find_least_losses(q);
        int worst = -1;
        Leading least = {(int)q->counts->strict + 1, 0.0};
        for (int k = 0; k < q->counts->active; k++) {
            Leading now = leading_price(q, q->active.price, k);
            bool lower = now.order < least.order || (now.order == least.order && now.price < least.price);
            if (now.price < 0.0 && lower) {
                worst = k;
                least = now;
            }
        }
        if (worst < 0)
            return;
        let_go(q, worst);
    }
}

/* The limit that is violated most by the losses as they are, and at which bound; -1 if there is none. */
static int worst_listed(const Quadratic *q, int *side)
{
    const Limits *limits = &q->limits;
    double worst = VIOLATED;
    int found = -1;
    for (int index = 0; index < q->counts->listed; index++) {
        int row = (int)limits->listed[index];
        const double *gradient = limits->gradients + (long)row * q->unknowns;
        double value = limits->begun[row];
        for (int64_t c = q->active.first_loss[0]; c < q->counts->last; c++)
            value += gradient[c] * q->active.losses[c];
        double below = limits->lower[row] - value, above = value - limits->upper[row];
        if (fmax(below, above) > worst && place_of(q, row) < 0) {
            worst = fmax(below, above);
            found = row;
            *side = below > above ? 1 : -1;
        }
    }
    return found;
}

/* Make a limit active, at no price yet; the prices of the others are where the way begins. */
static void take_up(Quadratic *q, int row, int side)
{
    ActiveSet *active = &q->active;
    int orders = active->orders, k = (int)q->counts->active++;
    double (*before)[orders] = (double (*)[orders])active->before, (*price)[orders] = (double (*)[orders])active->price;
    for (int order = 0; order <= q->counts->strict; order++) {
        for (int j = 0; j < k; j++)
            before[j][order] = price[j][order];
        before[k][order] = 0.0;
    }
    active->row[k] = row;
    active->side[k] = side;
}

/* Prices where the way stops: before + s (now - before), s = share w^shift, or 1 + share w^shift near its end. */
static void stop_prices(Quadratic *q, int shift, double share)
{
    int orders = q->active.orders;
    double (*before)[orders] = (double (*)[orders])q->active.before;
    double (*price)[orders] = (double (*)[orders])q->active.price;
    for (int k = 0; k < q->counts->active; k++)
        for (int order = (int)q->counts->strict; order >= 0; order--) {
            int from = order - abs(shift);
            double moved = from >= 0 ? price[k][from] - before[k][from] : 0.0;
            double start = shift > 0 ? price[k][order] : before[k][order];
            before[k][order] = start + share * moved;
        }
}

/* Go from the prices before to those of now, as far as none becomes negative; who stops the way, or -1. Of prices p > 0
 * before and p' < 0 now, the way stops at p / (p - p'): in the middle if both are of one level, at once if p is of a lower
 * level than p', all but at the end if it is of a higher one. */
static int go_on(Quadratic *q)
{
    int stop = -1, first = (int)q->counts->strict + 2;
    double share = 2.0;
    for (int k = 0; k < q->counts->active - 1; k++) {
        Leading now = leading_price(q, q->active.price, k), was = leading_price(q, q->active.before, k);
        if (now.price >= 0.0)
            continue;
        if (was.price <= 0.0)
            return k;
        int earlier = now.order - was.order;
        double part = was.price / (was.price - now.price);
        if (earlier != 0)
            part = earlier < 0 ? was.price / -now.price : now.price / was.price;
        if (earlier < first || (earlier == first && part < share)) {
            stop = k;
            first = earlier;
            share = part;
        }
    }
    if (stop >= 0)
        stop_prices(q, first, share);
    return stop;
}

/* Make limits active until none whose gradient is known is violated; false if that takes too long. */
static bool meet_listed(Quadratic *q, int64_t most)
{
    for (;;) {
        int side = 1, row = worst_listed(q, &side);
        if (row < 0)
            return true;
        if (q->counts->active == q->active.most)
            return false;
        take_up(q, row, side);
        for (;;) {
            find_least_losses(q);
            if (q->counts->solved >= most)
                return false;
            int stop = go_on(q);
            if (stop < 0)
                break;
            let_go(q, stop);
        }
    }
}

/* Begin with the limits that are active, and go on until none is violated; UNSETTLED if that takes too long. */
static int settle_from_guess(Quadratic *q, int64_t most)
{
    most += q->counts->solved;
    list_guessed(q);
    learn_listed(q);
    trim_guess(q);
    for (int64_t rounds = 0; rounds <= most && meet_listed(q, most); rounds++) {
        int verdict = solve_levels(q);
        if (verdict != SOLVED || !list_violated(q))
            return verdict;
        learn_listed(q);
    }
    return UNSETTLED;
}

/* Settle from the limits that are active, or, where that takes too long, from none with levels that lose strictly. */
static int settle_in_time(Quadratic *q)
{
    lose_forces_with_motion(q);
    int verdict = settle_from_guess(q, FEW_STEPS);
    if (verdict == UNSETTLED) {
        lose_strictly(q);
        q->counts->active = 0;
        verdict = settle_from_guess(q, MOST_STEPS);
    }
    return verdict;
}

/* Whether limits contradict each other, so that even those that are active are not kept. */
static bool contradict(const Quadratic *q)
{
    const Limits *limits = &q->limits;
    for (int row = 0; row < q->counts->rows; row++)
        if (fmax(limits->lower[row] - limits->value[row], limits->value[row] - limits->upper[row]) > CONTRADICTION)
            return true;
    return false;
}

int settle_limits(Quadratic *q)
{
    Counts *counts = q->counts;
    counts->solved = 0;
    for (int row = 0; row < counts->rows; row++)
        q->limits.begun[row] = q->limits.value[row];
    counts->relaxing = 0;
    int64_t guessed = counts->active;
    counts->active = 0;
    if (!list_violated(q))
        return SOLVED;
    counts->active = guessed;
    int verdict = settle_in_time(q);
    if (q->given.settings->bound < INFINITY && (verdict == UNSETTLED || (verdict == SOLVED && contradict(q)))) {
        counts->relaxing = 1;
        verdict = settle_in_time(q);
    }
    return verdict;
}
