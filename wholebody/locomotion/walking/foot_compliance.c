/* foot_compliance.c - feet are turned until they lie on the ground; see sole_yield.py for the law. */
#include "wholebody/locomotion/locomotion.h"

#include <math.h>

#include "wholebody/rotations.h"

#define MOSTLY 0.6 /* share of the weight that a foot is to bear: feet that share it may press against each other */

/* Whether a loaded foot's centre of pressure is well within its sole. */
static bool lies_flat(const ComplianceGains *gains, const ComplianceStep *step, int side)
{
    const double *cop = step->cop[side], *middle = gains->middle[side], *half = gains->half[side];
    double away = larger(fabs(cop[0] - middle[0]) / half[0], fabs(cop[1] - middle[1]) / half[1]);
    return step->wrench[side][2] > gains->loaded && away < gains->flat;
}

/* The rate about an axis, gained as long as the error has its sign. */
static double hurried(double *rate, double wrong, double gain, double fastest)
{
    double held = *rate * wrong > 0.0 ? *rate : 0.0;
    *rate = clamp(held + gain * wrong, -fastest, fastest);
    return *rate;
}

/* What two numbers have in common: the one nearer to nothing, or nothing if their signs differ. */
static double common(double one, double other)
{
    if (one * other <= 0.0)
        return 0.0;
    return fabs(one) < fabs(other) ? one : other;
}

/* u = r + k e, r' = h e, with e the error of the pressure beyond what is usual, by the share of the weight. */
static void turn_towards(const ComplianceGains *gains, const double wrong[2], double force, double period,
                         double lean[2], double rate[2])
{
    double beyond = larger(0.0, 1.0 - gains->usual / larger(hypot(wrong[0], wrong[1]), 1e-9));
    double counts = beyond * smaller(1.0, force / gains->weight);
    for (int i = 0; i < 2; i++) {
        double error = counts * wrong[i];
        lean[i] += period * (hurried(&rate[i], error, gains->hurry * period, gains->fastest) + gains->turn * error);
    }
}

static void turn_foot(const ComplianceGains *gains, const ComplianceStep *step, FootCompliance *feet, int side,
                      const bool lies[2])
{
    double *lean = feet->leans[side], *rate = feet->rates[side], force = step->wrench[side][2];
    double share[2] = {step->left_share, 1.0 - step->left_share};
    int shows = lies[side] ? side : 1 - side;
    for (int i = 0; i < 2; i++) {
        if (force <= gains->loaded)
            lean[i] += smaller(1.0, step->period * gains->level) * (feet->ground[i] - lean[i]);
        else if (lies[shows])
            lean[i] += smaller(1.0, step->period * gains->follow) * (step->seen[shows][i][2] - lean[i]);
    }
    double before[2] = {lean[0], lean[1]}, pressed[2] = {0.0, 0.0}, wrong[2];
    if (step->uneven && force > gains->loaded && share[side] > MOSTLY) {
        const double (*sole)[4] = step->sole[side], *cop = step->cop[side];
        for (int i = 0; i < 2; i++) {
            double off = step->zmp[i] - share[0] * step->sole[0][i][3] - share[1] * step->sole[1][i][3];
            pressed[i] = sole[i][0] * cop[0] + sole[i][1] * cop[1];
            wrong[i] = off - pressed[i];
        }
        turn_towards(gains, wrong, force, step->period, lean, rate);
    } else {
        rate[0] = rate[1] = 0.0;
    }
    double within = smaller(1.0, gains->most / larger(hypot(lean[0], lean[1]), 1e-9));
    lean[0] *= within, lean[1] *= within;
    feet->rises[side] = (lean[0] - before[0]) * pressed[0] + (lean[1] - before[1]) * pressed[1];
}

void turn_feet(const ComplianceGains *gains, const ComplianceStep *step, FootCompliance *feet)
{
    bool lies[2] = {lies_flat(gains, step, 0), lies_flat(gains, step, 1)};
    for (int side = 0; side < 2; side++)
        turn_foot(gains, step, feet, side, lies);
    for (int i = 0; i < 2; i++)
        feet->ground[i] = common(feet->leans[0][i], feet->leans[1][i]);
}

/* A level sole, turned so that its upright axis points `lean` aside. */
void turn_sole(const double (*sole)[4], const double lean[2], double (*result)[4])
{
    double R[9];
    matrix_of_rotation_vector((double[]){-lean[1], lean[0], 0.0}, R);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++)
            result[i][k] = i < 3 && k < 3
                               ? R[3 * i] * sole[0][k] + R[3 * i + 1] * sole[1][k] + R[3 * i + 2] * sole[2][k]
                               : sole[i][k];
}
