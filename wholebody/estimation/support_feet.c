/* support_feet.c - SupportFilter: what each foot on the ground says, and feet that come and go.
 *
 *   sole    log(G^T R E X(q)) = 0      it lies on the ground; E: unbent sole to IMU, X = Rx(q1) Ry(q2)
 *   ankle   v + (w - b) x p + p' = 0   the ankle, which flexion does not move, stands still; p from the IMU */
#include <math.h>
#include <string.h>

#include "wholebody/estimation/estimation.h"
#include "wholebody/rotations.h"

/* E X(q), and W = G^T R E X(q): the sole as it lies on its ground. */
static void place_sole(const BodyState *body, const FootState *foot, const double E[9], double EX[9], double W[9])
{
    double R[9], G[9], GR[9];
    double cr = cos(foot->flexion[0]), sr = sin(foot->flexion[0]);
    double cp = cos(foot->flexion[1]), sp = sin(foot->flexion[1]);
    for (int i = 0; i < 3; i++) {
        double a = E[3 * i], b = E[3 * i + 1] * cr + E[3 * i + 2] * sr, c = E[3 * i + 2] * cr - E[3 * i + 1] * sr;
        EX[3 * i] = a * cp - c * sp, EX[3 * i + 1] = b, EX[3 * i + 2] = a * sp + c * cp;
    }
    matrix_of_quaternion(body->orientation, R);
    matrix_of_quaternion(foot->ground, G);
    product_with_transpose(G, R, GR);
    product_of_rotations(GR, EX, W);
}

/* e = log(G^T R E X) of a foot, and its derivative: three rows, all zero before. A turn on the right counts by
 * J^-1(e) = 1 + [e]x / 2 + k [e]x^2, on the left by J^-T; k = 1/12 + |e|^2 / 720 + ... */
void sole_turn(const BodyState *body, const FootState *foot, const double E[9], FootError *rows[3], BodyError *on[3],
               double e[3])
{
    double EX[9], W[9], half[9];
    double cp = cos(foot->flexion[1]), sp = sin(foot->flexion[1]);
    place_sole(body, foot, E, EX, W);
    rotation_vector_of_matrix(W, e);
    double halved[3] = {0.5 * e[0], 0.5 * e[1], 0.5 * e[2]}, size = dot3(e, e), factor = 1.0 / 12 + size / 720;
    cross_matrix(halved, half);
    for (int i = 0; i < 3; i++) {
        double right[3];
        for (int k = 0; k < 3; k++) {
            double one = i == k ? 1.0 : 0.0;
            double even = one + factor * (e[i] * e[k] - one * size);
            right[k] = even + half[3 * i + k];
            rows[i]->ground[k] = half[3 * i + k] - even;
        }
        rotate(EX, right, on[i]->turn);
        rows[i]->flexion[0] = right[0] * cp + right[2] * sp; /* Ry(q2)^T e_x */
        rows[i]->flexion[1] = right[1];
    }
}

/* v + (w - b) x p + p': how fast the ankle moves over the ground, in the axes of the IMU, and its derivative: three
 * rows, all zero before. */
void ankle_velocity(const BodyState *body, const double gyro[3], const double p[3], const double p_dot[3],
                    BodyError *rows[3], double value[3])
{
    double rate[3], turning[3], slope[9];
    for (int k = 0; k < 3; k++)
        rate[k] = gyro[k] - body->gyro_bias[k];
    cross3(rate, p, turning);
    cross_matrix(p, slope); /* -beta x p = p x beta */
    for (int i = 0; i < 3; i++) {
        value[i] = body->velocity[i] + turning[i] + p_dot[i];
        rows[i]->velocity[i] = 1.0;
        memcpy(rows[i]->gyro_bias, slope + 3 * i, sizeof rows[i]->gyro_bias);
    }
}

/* Some numbers of the error are zero, and say nothing about the rest. */
static void forget(const Kalman *filter, int first, int count)
{
    int n = filter->size;
    for (int k = first; k < first + count; k++)
        for (int j = 0; j < n; j++)
            filter->P[k * n + j] = filter->P[j * n + k] = 0.0;
}

static void set_variance(const Kalman *filter, int at, double deviation)
{
    filter->P[at * (filter->size + 1)] = deviation * deviation;
}

/* A foot comes down, its ankle unbent but for these deviations; or it leaves, and they are zero. */
static void tread(const SupportFilter *filter, int index, double flexion, double rate)
{
    int first = BODY_ERROR + FOOT_ERROR * index;
    FootState *foot = &filter->foot[index];
    memset(foot->flexion, 0, sizeof foot->flexion);
    memset(foot->flexion_rate, 0, sizeof foot->flexion_rate);
    forget(&filter->kalman, first, 4);
    for (int k = 0; k < 2; k++) {
        set_variance(&filter->kalman, first + FLEXION + k, flexion);
        set_variance(&filter->kalman, first + FLEXION_RATE + k, rate);
    }
}

/* A sole lies flat: on ground that is level but for the deviation `level`, and headed as the sole is by now.
 *
 * If the sole leans by more than that and what attitude and flexion may be wrong by allow, the ground is taken to lean
 * as the sole does, and that is how uncertain it is. */
static void settle(const SupportFilter *filter, int index)
{
    int first = BODY_ERROR + FOOT_ERROR * index, n = filter->kalman.size;
    FootState *foot = &filter->foot[index];
    double EX[9], W[9], unturned[4] = {0.0, 0.0, 0.0, 1.0}, level = filter->settings->level;
    memcpy(foot->ground, unturned, sizeof unturned);
    place_sole(filter->body, foot, filter->leg[index].E, EX, W);
    double yaw = atan2(W[3], W[0]), lean = sqrt(W[6] * W[6] + W[7] * W[7]), variance = level * level;
    for (int k = 0; k < 2; k++)
        variance += filter->kalman.P[(TURN + k) * (n + 1)] + filter->kalman.P[(first + FLEXION + k) * (n + 1)];
    forget(&filter->kalman, first + GROUND, 3);
    if (lean * lean > 9.0 * variance) {
        quaternion_of_matrix(W, foot->ground);
        level = lean;
    } else {
        foot->ground[2] = sin(0.5 * yaw);
        foot->ground[3] = cos(0.5 * yaw);
    }
    set_variance(&filter->kalman, first + GROUND, level);
    set_variance(&filter->kalman, first + GROUND + 1, level);
    set_variance(&filter->kalman, first + GROUND + 2, filter->settings->heading);
}

/* Feet that came down, lie flat by now, rock, or left. */
void come_and_go(const SupportFilter *filter)
{
    const SupportSettings *settings = filter->settings;
    for (int i = 0; i < filter->feet; i++) {
        Leg *leg = &filter->leg[i];
        bool stands = leg->contact != 0.0;
        if (leg->contact != leg->stood)
            tread(filter, i, stands ? settings->flexion : 0.0, stands ? settings->flexion_rate : 0.0);
        if (leg->firm != leg->lay_flat && leg->firm != 0.0)
            settle(filter, i);
        else if (leg->firm != leg->lay_flat)
            forget(&filter->kalman, BODY_ERROR + FOOT_ERROR * i + GROUND, 3);
        leg->stood = leg->contact;
        leg->lay_flat = leg->firm;
    }
}
