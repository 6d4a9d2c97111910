/* profile.c - OnlineProfile: one period towards a goal that may change at any time, within limits.
 *
 * Of all velocities v+ at the end of this period T, take the largest from which the joint can still stop at the goal.
 * Braking by aT each period from v+ takes k periods, the last of them with what is left. With D = |goal - x| and w the
 * velocity towards the goal, this period and those k go
 *
 *   wT/2 + k v+ T - k(k - 1) aT^2/2 = D,  so  v+ = (S + k(k - 1) aT)/2k  with  S = 2D/T - w,
 *
 * where k is the least for which v+ <= k aT, that is S <= k(k + 1) aT. The next period gives the same with k - 1, and
 * v+ - aT; the last, k = 1, leaves S = 0, which ends at the goal, at rest. v+ is a continuous function of S, so it does
 * not matter that k is rounded. */
#include <math.h>

#include "wholebody/motion/motion.h"

static const double FARTHEST = 1e12;     /* goals beyond it are as good as infinite */
static const double SPARE = 1.0 - 1e-9;  /* of the acceleration, to plan with; the rest makes up for rounding */

static double clamp(double value, double lower, double upper)
{
    return fmin(fmax(value, lower), upper);
}

static void advance_joint(const Profile *profile, int i, double goal, double period)
{
    double x = profile->position[i], v = profile->velocity[i], change = profile->steepest[i] * period;
    double distance = goal - x, towards = distance >= 0 ? 1.0 : -1.0;
    double S = 2.0 * fabs(distance) / period - towards * v, planned = change * SPARE;
    double k = fmax(1.0, ceil((sqrt(1.0 + 4.0 * fmax(S / planned, 0.0)) - 1.0) / 2.0));
    double brake = k > 1.0 ? k * (k - 1.0) * planned : 0.0;
    double wanted = towards * clamp((S + brake) / (2.0 * k), 0.0, profile->fastest[i]);
    double after = clamp(wanted, v - change, v + change), there = x + (v + after) * period / 2.0;
    double rounding = 1e-15 * (fabs(x) + fabs(goal)) + 1e-18;
    if (fabs(goal - there) <= 2.0 * rounding && fabs(after) <= 8.0 * rounding / period) {
        there = goal;
        after = 0.0;
    }
    profile->acceleration[i] = (after - v) / period;
    profile->velocity[i] = after;
    profile->position[i] = there;
}

int advance_profile(const Profile *profile, const double *goal, double period)
{
    for (int i = 0; i < profile->count; i++)
        if (!(fabs(goal[i]) < FARTHEST))
            return i;
    for (int i = 0; i < profile->count; i++)
        advance_joint(profile, i, goal[i], period);
    return -1;
}
