/* support_filter.c - one cycle of SupportFilter: feet that come and go, motion, and all that is measured. */
#include <string.h>

#include "wholebody/estimation/estimation.h"
#include "wholebody/rotations.h"

/* The three rows, all zero, and their parts of the body and of a foot. */
static void new_rows(const SupportFilter *filter, int foot, BodyError *body_rows[3], FootError *foot_rows[3])
{
    int n = filter->kalman.size;
    memset(filter->rows, 0, (size_t)(3 * n) * sizeof *filter->rows);
    for (int i = 0; i < 3; i++) {
        body_rows[i] = (BodyError *)(filter->rows + i * n);
        foot_rows[i] = (FootError *)(filter->rows + i * n + BODY_ERROR) + foot;
    }
}

/* Believe that three values, whose derivatives are the rows, are zero. */
static void believe_zero(const SupportFilter *filter, const double value[3], double deviation)
{
    for (int i = 0; i < 3; i++) {
        const double *row = filter->rows + i * filter->kalman.size;
        filter->memory->surprise += believe(&filter->kalman, row, -value[i], deviation * deviation);
    }
    filter->memory->rows += 3;
}

/* K q + C q' = torque of the ground, about the axes that are measured. */
static void believe_torques(const SupportFilter *filter, int foot)
{
    const SupportSettings *settings = filter->settings;
    double stiffness = settings->stiffness, damping = settings->damping;
    const FootState *state = &filter->foot[foot];
    BodyError *body_rows[3];
    FootError *foot_rows[3];
    for (int axis = 0; axis < 2; axis++) {
        double torque = filter->leg[foot].torque[axis];
        if (torque != torque)
            continue;
        new_rows(filter, foot, body_rows, foot_rows);
        foot_rows[0]->flexion[axis] = stiffness;
        foot_rows[0]->flexion_rate[axis] = damping;
        double expected = stiffness * state->flexion[axis] + damping * state->flexion_rate[axis];
        filter->memory->surprise +=
            believe(&filter->kalman, filter->rows, torque - expected, settings->torque * settings->torque);
        filter->memory->rows += 1;
    }
}

/* Believe what a foot on the ground says. */
static void stand(const SupportFilter *filter, int foot)
{
    const Leg *leg = &filter->leg[foot];
    BodyError *body_rows[3];
    FootError *foot_rows[3];
    double value[3];
    if (leg->firm != 0.0) {
        new_rows(filter, foot, body_rows, foot_rows);
        sole_turn(filter->body, &filter->foot[foot], leg->E, foot_rows, body_rows, value);
        believe_zero(filter, value, filter->settings->sole);
    }
    new_rows(filter, foot, body_rows, foot_rows);
    ankle_velocity(filter->body, filter->motion->gyro, leg->p, leg->p_dot, body_rows, value);
    believe_zero(filter, value, leg->firm != 0.0 ? filter->settings->ankle : filter->settings->rocking);
    if (filter->settings->stiffness > 0.0)
        believe_torques(filter, foot);
}

/* Without ground the velocity stays near zero, for nobody flies far. */
static void fly(const SupportFilter *filter)
{
    BodyError *body_rows[3];
    FootError *foot_rows[3];
    new_rows(filter, 0, body_rows, foot_rows);
    for (int i = 0; i < 3; i++)
        body_rows[i]->velocity[i] = 1.0;
    believe_zero(filter, filter->body->velocity, filter->settings->free_velocity);
}

/* What readings may be wrong by. Between two of them a value may have been anything from one to the other: a variance
 * of difference^2 / 12. What shakes a robot that stands is not seen. */
static void add_noise(const SupportFilter *filter, bool standing, double dt)
{
    const Motion *motion = filter->motion;
    SupportMemory *last = filter->memory;
    int n = filter->kalman.size;
    double *P = filter->kalman.P, drift = filter->settings->bias_drift, accelerometer = motion->accelerometer_deviation;
    double vibration = standing ? filter->settings->vibration * filter->settings->vibration : 0.0;
    for (int k = 0; k < 3; k++) {
        double turned = motion->gyro[k] - last->gyro[k], pushed = motion->accelerometer[k] - last->accelerometer[k];
        double gyro = motion->gyro_deviation[k];
        P[(TURN + k) * (n + 1)] += (gyro * gyro + turned * turned / 12) * dt * dt;
        P[(BIAS + k) * (n + 1)] += drift * drift * dt;
        P[(VELOCITY + k) * (n + 1)] += (accelerometer * accelerometer + vibration + pushed * pushed / 12) * dt * dt;
        last->gyro[k] = motion->gyro[k];
        last->accelerometer[k] = motion->accelerometer[k];
    }
}

/* Go on by dt with the motion and the legs that are there. */
void support_cycle(const SupportFilter *filter, double dt)
{
    double F[81];
    const double *up = filter->motion->up, inclinometer = filter->settings->inclinometer;
    bool standing = false;
    for (int i = 0; i < filter->feet; i++)
        standing = standing || filter->leg[i].contact != 0.0;
    come_and_go(filter);
    move_body(filter->body, filter->motion, filter->settings->gravity, dt, F);
    spread(&filter->kalman, BODY_ERROR, F);
    move_feet(filter, dt);
    add_noise(filter, standing, dt);
    symmetrise(&filter->kalman);
    memset(filter->kalman.error, 0, (size_t)filter->kalman.size * sizeof *filter->kalman.error);
    filter->memory->surprise = filter->memory->rows = 0.0;
    for (int i = 0; i < filter->feet; i++)
        if (filter->leg[i].contact != 0.0)
            stand(filter, i);
    if (!standing)
        fly(filter);
    if (dot3(up, up) > 0.5) {
        filter->memory->surprise +=
            see_up(&filter->kalman, filter->body->orientation, up, 1.0, inclinometer * inclinometer);
        filter->memory->rows += 3;
    }
    apply_error(filter->body, filter->foot, filter->feet, filter->kalman.error);
}
