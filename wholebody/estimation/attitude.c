/* attitude.c - AttitudeFilter: turn by the gyro, and see gravity.
 *
 * State: quaternion R (body to world), gyro bias b. Error: R = R^ exp(theta), b = b^ + beta; theta and beta.
 *
 *   turn    R <- R exp(phi), phi = (w - b) dt       theta <- exp(-phi) theta - J(phi) dt beta
 *   see     a = R^T g e_z                           da/dtheta = [R^T g e_z]x */
#include <math.h>
#include <string.h>

#include "wholebody/estimation/estimation.h"
#include "wholebody/rotations.h"

/* How an attitude error grows in dt at an angular velocity: exp(-phi) of itself, and -J(phi) dt of the bias's, with
 * J(phi) = int_0^1 exp(-s phi) ds = 1 - b [phi]x + c [phi]x^2, b = (1 - cos) / phi^2, c = (phi - sin) / phi^3. */
void error_growth(const double rate[3], double dt, double by_error[9], double by_bias[9])
{
    double phi[3] = {rate[0] * dt, rate[1] * dt, rate[2] * dt};
    double back[3] = {-phi[0], -phi[1], -phi[2]};
    matrix_of_rotation_vector(back, by_error);
    double square = dot3(phi, phi), angle = sqrt(square);
    double b = 0.5 - square / 24, c = 1.0 / 6 - square / 120;
    if (angle > 1e-3) {
        b = (1 - cos(angle)) / square;
        c = (angle - sin(angle)) / (square * angle);
    }
    cross_matrix(phi, by_bias);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double one = i == j ? 1.0 : 0.0;
            double squared = phi[i] * phi[j] - one * square; /* [phi]x^2 */
            by_bias[3 * i + j] = dt * (b * by_bias[3 * i + j] - c * squared - one);
        }
}

/* Believe that the body sees the vector `up`, which is (0 0 scale) in world; returns the innovation squared. The turn
 * is the first three numbers of the error: the rows are those of [R^T (0 0 scale)]x. */
double see_up(const Kalman *filter, const double orientation[4], const double up[3], double scale, double variance)
{
    double R[9], expected[3], slope[9], row[filter->size];
    matrix_of_quaternion(orientation, R);
    for (int k = 0; k < 3; k++)
        expected[k] = scale * R[6 + k];
    cross_matrix(expected, slope);
    memset(row, 0, sizeof row);
    double surprise = 0.0;
    for (int axis = 0; axis < 3; axis++) {
        memcpy(row, slope + 3 * axis, 3 * sizeof *row);
        surprise += believe(filter, row, up[axis] - expected[axis], variance);
    }
    return surprise;
}

/* Turn by the gyro; F, 6 x 6, says what that does to the error. */
void turn_attitude(Attitude *attitude, const Kalman *filter, double dt, double F[36])
{
    double rate[3], phi[3], by_error[9], by_bias[9];
    for (int k = 0; k < 3; k++) {
        rate[k] = attitude->gyro[k] - attitude->gyro_bias[k];
        phi[k] = rate[k] * dt;
    }
    error_growth(rate, dt, by_error, by_bias);
    memset(F, 0, 36 * sizeof *F);
    for (int i = 0; i < 3; i++) {
        memcpy(F + 6 * i, by_error + 3 * i, 3 * sizeof *F);
        memcpy(F + 6 * i + 3, by_bias + 3 * i, 3 * sizeof *F);
        F[7 * (3 + i)] = 1.0;
    }
    memcpy(attitude->angular_velocity, rate, sizeof rate);
    turn_quaternion(attitude->orientation, phi);
    spread(filter, 6, F);
    double turned = attitude->gyro_deviation * dt, drifted = attitude->bias_drift;
    for (int i = 0; i < 3; i++) {
        filter->P[7 * i] += turned * turned;
        filter->P[7 * (3 + i)] += drifted * drifted * dt;
    }
    symmetrise(filter);
}

/* Take the accelerometer for gravity. */
static void see_gravity(Attitude *attitude, const Kalman *filter)
{
    double deviation = attitude->accelerometer_deviation;
    memset(filter->error, 0, 6 * sizeof *filter->error);
    attitude->innovation =
        see_up(filter, attitude->orientation, attitude->accelerometer, attitude->gravity, deviation * deviation);
    turn_quaternion(attitude->orientation, filter->error);
    for (int k = 0; k < 3; k++)
        attitude->gyro_bias[k] += filter->error[3 + k];
}

/* The shortest turn, body to world, of a body that sees `up`, of any length, in its own axes: half-way between up in
 * the body and the body's own z, (up x e_z, 1 + up . e_z), normalised. */
static void tilt_to(double orientation[4], const double up[3])
{
    double length = norm3(up), x = up[0] / length, y = up[1] / length, z = up[2] / length;
    double upside_down[4] = {1.0, 0.0, 0.0, 0.0}, tilt[4] = {y, -x, 0.0, 1.0 + z};
    const double *found = z > -0.999999 ? tilt : upside_down;
    double size = sqrt(found[0] * found[0] + found[1] * found[1] + found[3] * found[3]);
    for (int k = 0; k < 4; k++)
        orientation[k] = found[k] / size;
}

static bool is_finite3(const double a[3])
{
    return isfinite(a[0] + a[1] + a[2]);
}

/* Take the reading that is there, dt seconds after the last; the filter goes on without what it cannot use. An
 * accelerometer that reads less than a tenth of gravity says nothing about where up is. */
int update_attitude(Attitude *attitude, const Kalman *filter, double dt)
{
    double F[36], least = 0.1 * attitude->gravity;
    bool turns = is_finite3(attitude->gyro), falls = is_finite3(attitude->accelerometer);
    bool sees = falls && dot3(attitude->accelerometer, attitude->accelerometer) > least * least;
    if (sees && attitude->started == 0.0) {
        tilt_to(attitude->orientation, attitude->accelerometer);
        attitude->started = 1.0;
    }
    if (turns)
        turn_attitude(attitude, filter, dt, F);
    if (sees)
        see_gravity(attitude, filter);
    return (turns && falls ? 0 : NOT_FINITE) | (falls && !sees ? SILENT : 0);
}
