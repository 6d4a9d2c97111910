/* sensors.c - BalanceEstimator: what sensors read. What is not measured, or no number, is replaced by what is known, and
 * doubted. */
#include <math.h>
#include <string.h>

#include "wholebody/estimation/estimation.h"
#include "wholebody/rotations.h"

/* Flags of a state's `measured` fields (messages.py). */
enum {
    JOINT_VELOCITY = 1 << 1,
    ROLL_AND_PITCH = 1 << 0,
    ANGULAR_VELOCITY = 0x7 << 2,
    ANGULAR_VELOCITY_X = 1 << 2,
    LINEAR_ACCELERATION = 0x7 << 5,
    FORCES_ALONG = 0x3 << 0,
    TORQUES_ACROSS = 0x3 << 3,
};

static const double BLIND_GYRO = 0.2;          /* rad/s: how well a standing leg's encoders stand in for a gyro's axis */
static const double BLIND_ACCELEROMETER = 3.0; /* m/s^2: how much a body accelerates that has no accelerometer */
static const double WEIGHTLESS = 0.981;        /* m/s^2: an accelerometer that reads less is dead, or the robot falls */
static const double UPRIGHT = 9.81;            /* m/s^2 */
static const double WATCH = 0.0125;            /* s between two looks for frozen sensors: what freezes does for longer */

/* A field of the state's record that is an array of numbers: fields are aligned. */
static const double *numbers_at(const BalanceEstimator *estimator, int64_t offset)
{
    return (const double *)(const void *)(estimator->state + offset);
}

static unsigned flags_at(const BalanceEstimator *estimator, int64_t offset)
{
    uint16_t flags;
    memcpy(&flags, estimator->state + offset, sizeof flags);
    return flags;
}

/* Positions and velocities in the order of the model, at the end of q and v; velocities from positions if need be. With
 * a number that is none, all stay as they were. */
int read_joints(const BalanceEstimator *estimator, const Snapshot *now, double dt)
{
    const double *position = numbers_at(estimator, estimator->at->position);
    const double *velocity = numbers_at(estimator, estimator->at->velocity);
    const double *reference = numbers_at(estimator, estimator->at->reference);
    const uint8_t *measured = estimator->state + estimator->at->measured;
    double *q = now->q + 7, *v = now->v + 6;
    bool finite = true;
    for (int k = 0; k < estimator->joints; k++) {
        int64_t joint = estimator->joint[k];
        finite = finite && isfinite(position[joint] + velocity[joint]);
        estimator->reference[k] = reference[joint];
    }
    for (int k = 0; finite && k < estimator->joints; k++) {
        int64_t joint = estimator->joint[k];
        double differenced = dt > 0.0 ? (position[joint] - q[k]) / dt : 0.0;
        v[k] = measured[joint] & JOINT_VELOCITY ? velocity[joint] : differenced;
        q[k] = position[joint];
    }
    return finite ? 0 : ENCODER_FAULT;
}

/* Where horizontal forces are not measured, they are those of a pendulum: `lean`, in the axes of the sole, times the
 * vertical one. */
static void add_horizontal_force(const FootGeometry *geometry, const double lean[2], double wrench[6])
{
    double up = dot3(geometry->at_sole[2], wrench);
    for (int k = 0; k < 3; k++)
        wrench[k] += up * (geometry->at_sole[0][k] * lean[0] + geometry->at_sole[1][k] * lean[1]);
}

static double dot6(const double a[6], const double b[6])
{
    double total = 0.0;
    for (int k = 0; k < 6; k++)
        total += a[k] * b[k];
    return total;
}

/* Wrench at each sole, and torque about each ankle, NaN if not measured; with a reading that is no number, the last ones
 * stay. */
int read_wrenches(const BalanceEstimator *estimator, const SupportFilter *filter)
{
    int wrong = 0;
    for (int foot = 0; foot < estimator->feet; foot++) {
        const FootGeometry *geometry = &estimator->geometry[foot];
        int64_t record = estimator->at->force_torque + estimator->place[foot].sensor * estimator->at->force_torque_size;
        unsigned measured = flags_at(estimator, record + estimator->at->force_torque_measured);
        double *reading = estimator->wrench[foot], wrench[6];
        memcpy(reading, numbers_at(estimator, record), 6 * sizeof *reading);
        if (!isfinite(reading[0] + reading[1] + reading[2] + reading[3] + reading[4] + reading[5])) {
            wrong = FORCE_FAULT;
            continue;
        }
        memcpy(wrench, reading, sizeof wrench);
        if ((measured & FORCES_ALONG) != FORCES_ALONG)
            add_horizontal_force(geometry, estimator->odometry[foot].lean, wrench);
        for (int i = 0; i < 6; i++)
            estimator->balance.wrench_in_sole[foot][i] = dot6(geometry->at_sole[i], wrench);
        bool known = (measured & TORQUES_ACROSS) == TORQUES_ACROSS;
        for (int i = 0; i < 2; i++)
            filter->leg[foot].torque[i] = known ? dot6(geometry->at_ankle[i], wrench) : (double)NAN;
    }
    return wrong;
}

/* Where each foot is and how it moves and turns, seen from the IMU, by the encoders. */
void look_at_legs(const BalanceEstimator *estimator, const Snapshot *now, const SupportFilter *filter)
{
    double (*here)[4] = now->placement[estimator->imu];
    const double *own = now->velocity[estimator->imu];
    for (int foot = 0; foot < estimator->feet; foot++) {
        Leg *leg = &filter->leg[foot];
        double (*ankle)[4] = now->placement[estimator->place[foot].ankle];
        double (*sole)[4] = now->placement[estimator->place[foot].sole];
        const double *there = now->velocity[estimator->place[foot].ankle];
        double d[3], carried[3], v[3], w[3];
        for (int k = 0; k < 3; k++)
            d[k] = ankle[k][3] - here[k][3];
        cross3(own + 3, d, carried);
        for (int k = 0; k < 3; k++) {
            v[k] = there[k] - own[k] - carried[k];
            w[k] = there[3 + k] - own[3 + k];
        }
        rotate_back_by_placement(here, d, leg->p);
        rotate_back_by_placement(here, v, leg->p_dot);
        rotate_back_by_placement(here, w, leg->turn);
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                leg->E[3 * i + k] = here[0][i] * sole[0][k] + here[1][i] * sole[1][k] + here[2][i] * sole[2][k];
    }
}

/* Now and then, look whether a sensor is frozen. */
int look_for_frozen(const BalanceParts *parts, double dt)
{
    const BalanceEstimator *estimator = parts->estimator;
    const double nothing[10] = {0.0};
    bool has_imu = estimator->at->imu >= 0;
    estimator->memory->unwatched += dt;
    if (estimator->memory->unwatched >= WATCH) {
        SensorReadings now = {
            .imu = has_imu ? numbers_at(estimator, estimator->at->imu) : nothing,
            .wrench = estimator->wrench,
            .position = parts->now->q + 7,
            .reference = estimator->reference,
        };
        for (int foot = 0; foot < estimator->feet; foot++)
            now.borne += estimator->balance.wrench_in_sole[foot][2];
        estimator->memory->found_frozen = first_frozen(parts->frozen, &now, estimator->memory->unwatched) >= 0;
        estimator->memory->unwatched = 0.0;
    }
    return estimator->memory->found_frozen != 0.0 ? FROZEN_FAULT : 0;
}

/* The angular velocity of the IMU about one of its axes, if the feet on the ground do not turn. */
static double rate_by_legs(const SupportFilter *filter, int axis)
{
    double total = 0.0;
    int count = 0;
    for (int foot = 0; foot < filter->feet; foot++)
        if (filter->leg[foot].contact != 0.0) {
            total -= filter->leg[foot].turn[axis];
            count++;
        }
    return count ? total / count : 0.0;
}

/* Up in the body's axes, of an IMU that gives roll and pitch by a quaternion. */
static int read_up(const double *quaternion, double up[3])
{
    double R[9], size = 0.0;
    for (int k = 0; k < 4; k++)
        size += quaternion[k] * quaternion[k];
    if (!(fabs(size - 1.0) < 1e-3))
        return isfinite(size) ? SILENT : NOT_FINITE;
    matrix_of_quaternion(quaternion, R);
    memcpy(up, R + 6, 3 * sizeof *up);
    return 0;
}

/* Make an IMU's reading fit to use. For axes without a gyro the standing legs' encoders speak; without an accelerometer
 * nothing accelerates. An IMU with an accelerometer makes its angles of it: to believe both would count it twice. */
int read_motion(const BalanceEstimator *estimator, const SupportFilter *filter, const FrozenSensors *frozen)
{
    const double nothing[10] = {0.0};
    bool has_imu = estimator->at->imu >= 0;
    const double *reading = has_imu ? numbers_at(estimator, estimator->at->imu) : nothing, *felt = reading + 7;
    unsigned measured = has_imu ? flags_at(estimator, estimator->at->imu + estimator->at->imu_measured) : 0;
    measured &= ~(frozen->frozen[GYRO] ? (unsigned)ANGULAR_VELOCITY : 0u);
    measured &= ~(frozen->frozen[ACCELEROMETER] ? (unsigned)LINEAR_ACCELERATION : 0u);
    Motion *motion = filter->motion;
    int wrong = 0;
    for (int k = 0; k < 3; k++) {
        bool given = (measured & ((unsigned)ANGULAR_VELOCITY_X << k)) != 0, seen = given && isfinite(reading[4 + k]);
        wrong |= given && !seen ? NOT_FINITE : 0;
        motion->gyro[k] = seen ? reading[4 + k] : rate_by_legs(filter, k);
        motion->gyro_deviation[k] = seen ? estimator->memory->gyro_deviation : BLIND_GYRO;
    }
    double R[9], square = dot3(felt, felt);
    bool given = (measured & LINEAR_ACCELERATION) == LINEAR_ACCELERATION;
    bool seen = given && isfinite(square) && square >= WEIGHTLESS * WEIGHTLESS;
    if (given && !seen)
        wrong |= isfinite(square) ? SILENT : NOT_FINITE;
    matrix_of_quaternion(filter->body->orientation, R);
    for (int k = 0; k < 3; k++) {
        motion->accelerometer[k] = seen ? felt[k] : UPRIGHT * R[6 + k];
        motion->up[k] = 0.0;
    }
    motion->accelerometer_deviation = seen ? estimator->memory->accelerometer_deviation : BLIND_ACCELEROMETER;
    if (!seen && measured & ROLL_AND_PITCH)
        wrong |= read_up(reading, motion->up);
    return wrong;
}
