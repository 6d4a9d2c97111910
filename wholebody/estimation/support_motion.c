/* support_motion.c - SupportFilter: what its state does by itself.
 *
 *   body    R <- R exp(phi), phi = (w - b) dt;    v <- exp(-phi) (v + (a + R^T g) dt)
 *   foot    q <- q + q' dt;                       ground gives way, soles slip round */
#include <string.h>

#include "wholebody/estimation/estimation.h"
#include "wholebody/rotations.h"

/* The state moved by the error, after which the error is zero. */
void apply_error(BodyState *body, FootState *foot, int feet, double *error)
{
    const BodyError *by = (const BodyError *)error;
    const FootError *foot_by = (const FootError *)(error + BODY_ERROR);
    turn_quaternion(body->orientation, by->turn);
    for (int k = 0; k < 3; k++) {
        body->gyro_bias[k] += by->gyro_bias[k];
        body->velocity[k] += by->velocity[k];
    }
    for (int i = 0; i < feet; i++) {
        for (int k = 0; k < 2; k++) {
            foot[i].flexion[k] += foot_by[i].flexion[k];
            foot[i].flexion_rate[k] += foot_by[i].flexion_rate[k];
        }
        turn_quaternion(foot[i].ground, foot_by[i].ground);
    }
    memset(error, 0, (size_t)(BODY_ERROR + FOOT_ERROR * feet) * sizeof *error);
}

/* Move attitude and velocity by dt; F, 9 x 9, says what that does to their errors. With A = exp(-phi) and J from
 * error_growth:
 *
 *   theta <- A theta - J dt beta
 *   v     <- A v + dt A [R^T g]x theta + [J dt beta]x v,   for exp(-phi + beta dt) = exp(J dt beta) exp(-phi) */
void move_body(BodyState *body, const Motion *motion, double gravity, double dt, double F[81])
{
    double rate[3], phi[3], falling[3], faster[3], R[9], A[9], by_bias[9];
    matrix_of_quaternion(body->orientation, R);
    for (int k = 0; k < 3; k++) {
        rate[k] = motion->gyro[k] - body->gyro_bias[k];
        phi[k] = rate[k] * dt;
        falling[k] = -gravity * R[6 + k];
        faster[k] = body->velocity[k] + (motion->accelerometer[k] + falling[k]) * dt;
    }
    error_growth(rate, dt, A, by_bias);
    rotate(A, faster, body->velocity);
    memset(F, 0, 81 * sizeof *F);
    for (int i = 0; i < 3; i++) {
        double turned[3], bias[3] = {by_bias[i], by_bias[3 + i], by_bias[6 + i]}, column[3];
        cross3(A + 3 * i, falling, turned); /* row i of A [R^T g]x */
        cross3(body->velocity, bias, column);
        F[9 * (BIAS + i) + BIAS + i] = 1.0;
        for (int k = 0; k < 3; k++) {
            F[9 * (TURN + i) + TURN + k] = A[3 * i + k];
            F[9 * (TURN + i) + BIAS + k] = by_bias[3 * i + k];
            F[9 * (VELOCITY + i) + TURN + k] = dt * turned[k];
            F[9 * (VELOCITY + k) + BIAS + i] = column[k];
            F[9 * (VELOCITY + i) + VELOCITY + k] = A[3 * i + k];
        }
    }
    turn_quaternion(body->orientation, phi);
}

/* Flexion q goes on at its rate for dt, which changes by an acceleration of that deviation: about one axis of a foot,
 * rows and columns q and q' of the covariance. */
static void bend(const Kalman *filter, int q, int rate, double dt, double acceleration)
{
    int n = filter->size;
    double *P = filter->P, variance = acceleration * acceleration * dt * dt;
    for (int j = 0; j < n; j++)
        P[q * n + j] += dt * P[rate * n + j];
    for (int i = 0; i < n; i++)
        P[i * n + q] += dt * P[i * n + rate];
    P[q * n + q] += 0.25 * dt * dt * variance;
    P[q * n + rate] += 0.5 * dt * variance;
    P[rate * n + q] += 0.5 * dt * variance;
    P[rate * n + rate] += variance;
}

/* Feet that stand: flexion goes on at its rate; ground under a sole that lies flat gives way, and the sole slips round
 * (rad per root of a second). */
void move_feet(const SupportFilter *filter, double dt)
{
    const SupportSettings *settings = filter->settings;
    double flexing = settings->stiffness > 0.0 ? settings->flexing : 0.0;
    double wander[3] = {settings->creep, settings->creep, settings->slip};
    int n = filter->kalman.size;
    for (int i = 0; i < filter->feet; i++) {
        if (filter->leg[i].contact == 0.0)
            continue;
        int first = BODY_ERROR + FOOT_ERROR * i;
        for (int k = 0; k < 2; k++) {
            filter->foot[i].flexion[k] += dt * filter->foot[i].flexion_rate[k];
            bend(&filter->kalman, first + FLEXION + k, first + FLEXION_RATE + k, dt, flexing);
        }
        for (int k = 0; k < 3 && filter->leg[i].firm != 0.0; k++)
            filter->kalman.P[(first + GROUND + k) * (n + 1)] += wander[k] * wander[k] * dt;
    }
}
