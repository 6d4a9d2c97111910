/* estimation.h - filters from sensors to the state of the body: attitude, support, contacts, frozen sensors, balance.
 *
 * Every struct of doubles is the memory of a numpy array of the same fields (records.py), so Python shows its parts by
 * name. Memory is Python's; the structs of pointers below point into it. */
#ifndef WHOLEBODY_ESTIMATION_H
#define WHOLEBODY_ESTIMATION_H

#include <stdbool.h>
#include <stdint.h>

#include "wholebody/model/model.h"

/* --- kalman.c: what every filter here shares ---------------------------------------------------------------------- */

/* An error state of `size` numbers, its covariance, and scratch; `memory` has (4 + 9) size numbers. */
typedef struct {
    int size;
    double *P;     /* size x size */
    double *error; /* corrections so far, to be applied to the state */
    double *Ph, *gain, *rest;
    double *moved; /* 9 x size */
    double gate;   /* what is more surprising counts as if it were just so */
} Kalman;

enum { KALMAN_ROWS = 4 + 9 };

Kalman kalman_in(int size, double *P, double *memory, double gate);
double believe(const Kalman *filter, const double *row, double difference, double variance);
void spread(const Kalman *filter, int count, const double *F);
void symmetrise(const Kalman *filter);

/* --- attitude.c --------------------------------------------------------------------------------------------------- */

/* All of an AttitudeFilter. */
typedef struct {
    double orientation[4], gyro_bias[3]; /* body to world; rad/s */
    double covariance[36];               /* of the rotation vector in the body's axes, and the bias */
    double gyro[3], accelerometer[3];    /* the reading to take */
    double angular_velocity[3];          /* gyro - bias */
    double innovation;                   /* normalised, squared */
    double started;                      /* 0: the first accelerometer reading says where up is */
    double gyro_deviation, bias_drift, accelerometer_deviation, gravity, gate;
} Attitude;

/* What was wrong with readings. */
enum {
    NOT_FINITE = 1,      /* an IMU's reading is no number */
    SILENT = 2,          /* an accelerometer without gravity, a quaternion of no length */
    ENCODER_FAULT = 4,   /* a joint's reading is no number */
    FORCE_FAULT = 8,     /* a foot's reading is no number */
    FROZEN_FAULT = 16,   /* some sensor is frozen */
    STATE_FAULT = 32,    /* the model refuses the joints' positions or velocities */
};

void error_growth(const double rate[3], double dt, double by_error[9], double by_bias[9]);
double see_up(const Kalman *filter, const double orientation[4], const double up[3], double scale, double variance);
void turn_attitude(Attitude *attitude, const Kalman *filter, double dt, double F[36]);
int update_attitude(Attitude *attitude, const Kalman *filter, double dt);

/* --- support_*.c: the filter on feet ------------------------------------------------------------------------------ */

typedef struct {
    double orientation[4]; /* IMU to world */
    double gyro_bias[3];
    double velocity[3];    /* of the IMU, in its own axes */
} BodyState;

typedef struct {
    double flexion[2], flexion_rate[2]; /* roll and pitch of the ankle's spring */
    double ground[4];                   /* the orientation of the ground under the foot */
} FootState;

/* The error of both, and a row of a Jacobian: R = R^ exp(turn), G = G^ exp(ground). */
typedef struct {
    double turn[3], gyro_bias[3], velocity[3];
} BodyError;

typedef struct {
    double flexion[2], flexion_rate[2], ground[3];
} FootError;

/* Where these stand in the covariance: a foot's from its first row on. */
enum { TURN = 0, BIAS = 3, VELOCITY = 6, BODY_ERROR = 9 };
enum { FLEXION = 0, FLEXION_RATE = 2, GROUND = 4, FOOT_ERROR = 7 };

/* What encoders and force sensors say of a foot, seen from the IMU, and what it was in the last cycle. */
typedef struct {
    double E[9];             /* unbent sole to IMU */
    double p[3], p_dot[3];   /* the ankle */
    double turn[3];          /* angular velocity against the IMU */
    double torque[2];        /* of the ground about the ankle, in the axes of the sole; NaN if not measured */
    double contact, firm;    /* 0 or 1: stands; lies flat */
    double stood, lay_flat;
} Leg;

/* Deviations, and what else a filter is told once (support.py has their units). Without a spring, stiffness is zero. */
typedef struct {
    double bias_drift, inclinometer, sole, ankle, rocking, torque, free_velocity, vibration, flexing, creep, slip;
    double level, heading, flexion, flexion_rate;
    double stiffness, damping, gravity, gate;
} SupportSettings;

/* What an IMU says, fit for the filter; `up` is zero if it says nothing of it. */
typedef struct {
    double gyro[3], gyro_deviation[3];
    double accelerometer[3], accelerometer_deviation;
    double up[3];
} Motion;

typedef struct {
    double gyro[3], accelerometer[3]; /* of the last cycle */
    double surprise, rows;            /* normalised innovation squared of a cycle, and of how many numbers */
} SupportMemory;

typedef struct {
    int feet;
    BodyState *body;
    FootState *foot;
    Leg *leg;
    const SupportSettings *settings;
    Motion *motion;
    SupportMemory *memory;
    Kalman kalman;
    double *rows; /* 3 x size: Jacobian of what is being measured */
} SupportFilter;

/* support_motion.c: what the state does by itself. */
void apply_error(BodyState *body, FootState *foot, int feet, double *error);
void move_body(BodyState *body, const Motion *motion, double gravity, double dt, double F[81]);
void move_feet(const SupportFilter *filter, double dt);

/* support_feet.c: what a foot on the ground says, `value` and three `rows` of `size` numbers; feet that come and go. */
void sole_turn(const BodyState *body, const FootState *foot, const double E[9], FootError *rows[3], BodyError *on[3],
               double value[3]);
void ankle_velocity(const BodyState *body, const double gyro[3], const double p[3], const double p_dot[3],
                    BodyError *rows[3], double value[3]);
void come_and_go(const SupportFilter *filter);

/* support_filter.c */
void support_cycle(const SupportFilter *filter, double dt);

/* --- contacts.c --------------------------------------------------------------------------------------------------- */

/* Forces in N, times in s. */
typedef struct {
    double touches, leaves, debounce, settles, loaded, deviation, changes;
} ContactSettings;

typedef struct {
    int feet, edges_each;
    const ContactSettings *settings;
    const double *edges; /* feet x edges_each x 3: a x + b y <= c */
    double *contact, *firm, *probability;
    double *differs_for, *flat_for; /* s: other than the flag says; pressure well within the sole */
} ContactDetector;

void detect_contacts(const ContactDetector *detector, double (*wrench)[6], double dt);

/* --- frozen.c ----------------------------------------------------------------------------------------------------- */

typedef struct {
    double after, moved, borne; /* s, rad, N */
} FrozenSettings;

/* Sensors are gyro, accelerometer, feet, encoders, in this order. */
typedef struct {
    int feet, joints;
    const FrozenSettings *settings;
    double (*last)[6];  /* reading of each sensor */
    double *since;      /* s, of each sensor */
    double *starts;     /* (2 + feet) x joints: where joints were when the sensor began to repeat itself */
    double *wanted;     /* joints: the reference when the encoder began to repeat itself */
    uint8_t *frozen;    /* of each sensor */
} FrozenSensors;

enum { GYRO = 0, ACCELEROMETER = 1, FIRST_FOOT = 2 };

typedef struct {
    const double *imu; /* quaternion, angular velocity, acceleration */
    double (*wrench)[6];
    const double *position, *reference;
    double borne; /* N, of all feet */
} SensorReadings;

int first_frozen(const FrozenSensors *watch, const SensorReadings *now, double dt);

/* --- sensors.c, balance.c ----------------------------------------------------------------------------------------- */

/* Where fields stand in a state's record, in bytes; imu is negative if there is none. */
typedef struct {
    int64_t position, velocity, reference, measured, imu, imu_measured;
    int64_t force_torque, force_torque_size, force_torque_measured;
} StateLayout;

/* Frames of the model, and the place among the state's force-torque sensors. */
typedef struct {
    int64_t ankle, sole, sensor;
} FootPlace;

/* What is fixed between sensor, sole and ankle (feet.py). */
typedef struct {
    double at_sole[6][6], at_ankle[2][6], sole_from_ankle[3];
} FootGeometry;

typedef struct {
    double anchor[3]; /* ankle in world */
    double stands;    /* whether it had an anchor in the last cycle */
    double lean[2];   /* horizontal over vertical force of a pendulum with this centre of mass, in the sole's axes */
} FootOdometry;

typedef struct {
    double least;                                   /* N: what less bears nothing */
    double gyro_deviation, accelerometer_deviation; /* of an IMU that is there */
    double unwatched;                               /* s since the last look for frozen sensors */
    double found_frozen;                            /* whether that found one */
    double place[3];                                /* of the IMU, in world */
} BalanceMemory;

/* balance.py says what they are. */
typedef struct {
    double *orientation, *angular_velocity, *base_in_world, *base_velocity, *com_in_world, *com_velocity;
    double *capture_point, *cop_in_world;
    double *probability;         /* feet */
    double (*wrench_in_sole)[6]; /* feet, as the next ones */
    double (*cop_in_sole)[2];
    double (*sole_to_world)[4][4];
    double (*flexion)[2], (*flexion_rate)[2];
    uint8_t *contact;
} Balance;

typedef struct {
    int feet, joints, imu;
    const uint8_t *state; /* the record of the last state */
    const StateLayout *at;
    const int64_t *joint; /* of the model: its place in the state */
    const FootPlace *place;
    const FootGeometry *geometry;
    FootOdometry *odometry;
    BalanceMemory *memory;
    Balance balance;
    double (*wrench)[6];  /* feet: as their sensors read them */
    double *reference;    /* joints: where they were told to be, in the order of the model */
} BalanceEstimator;

/* All that works together in one estimator. */
typedef struct {
    BalanceEstimator *estimator;
    const Tree *tree;
    const Snapshot *now;
    const SupportFilter *filter;
    const ContactDetector *contacts;
    const FrozenSensors *frozen;
} BalanceParts;

Balance balance_in(int feet, double *storage, uint8_t *contact);
int balance_size(int feet);

/* sensors.c: flags of what was wrong. */
int read_joints(const BalanceEstimator *estimator, const Snapshot *now, double dt);
int read_wrenches(const BalanceEstimator *estimator, const SupportFilter *filter);
void look_at_legs(const BalanceEstimator *estimator, const Snapshot *now, const SupportFilter *filter);
int look_for_frozen(const BalanceParts *parts, double dt);
int read_motion(const BalanceEstimator *estimator, const SupportFilter *filter, const FrozenSensors *frozen);

/* balance.c */
void show_balance(const BalanceParts *parts, double dt);

#endif
