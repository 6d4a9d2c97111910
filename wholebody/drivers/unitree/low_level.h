/* low_level.h - LowCmd and LowState of Unitree's humanoids, as low_level.py lays them out in memory. */
#ifndef WHOLEBODY_UNITREE_H
#define WHOLEBODY_UNITREE_H

#include <stdbool.h>
#include <stdint.h>

enum { UNITREE_MOTORS = 35, UNITREE_ON = 1 };

typedef struct {
    uint8_t mode, padding[3];
    float position, velocity, effort, stiffness, damping;
    uint32_t reserve;
} MotorCommand;

typedef struct {
    uint8_t mode_pr, mode_machine, padding[2];
    MotorCommand motor[UNITREE_MOTORS];
    uint32_t reserve[4], crc;
} LowCommand;

typedef struct {
    uint8_t mode, padding[3];
    float position, velocity, acceleration, effort;
    int16_t temperature[2];
    float voltage;
    uint32_t sensor[2], faults, reserve[4];
} MotorState;

typedef struct {
    uint32_t version[2];
    uint8_t mode_pr, mode_machine, padding[2];
    uint32_t tick;
    struct {
        float orientation[4], angular_velocity[3], linear_acceleration[3], roll_pitch_yaw[3]; /* w x y z */
        int16_t temperature;
        uint8_t padding[2];
    } imu;
    MotorState motor[UNITREE_MOTORS];
    uint8_t remote[40];
    uint32_t reserve[4], crc;
} LowState;

/* Which of a robot's joints each of `count` motors moves. */
typedef struct {
    int count;
    const int64_t *joints, *motors;
} MotorMap;

/* What a controller wants of all joints: fields of a Reference. */
typedef struct {
    const double *position, *velocity, *effort, *stiffness, *damping;
    const uint8_t *mode, *mask;
} Wanted;

/* What is measured of all joints: fields of a State; `load` is the effort, averaged. */
typedef struct {
    double *position, *velocity, *acceleration, *effort, *temperature, *load;
} Measured;

/* The check sum of some words. */
uint32_t unitree_check_sum(const uint32_t *words, int count);

/* A struct of `size` bytes whose motors begin at `motors`, each of `step` bytes, to the wire and back: the check sum is
 * put in, or it is told whether it is right. */
void unitree_pack(uint8_t *message, int size, int motors, uint8_t *wire);
bool unitree_unpack(uint8_t *message, int size, int motors, int step, const uint8_t *wire);

/* Position, velocity, effort, stiffness and damping of the joints of the mask, `n` x 5, by their modes; `own` are
 * stiffness, damping and borne effort of a joint that is told a position, 3 x n. What is no number is left as it was. */
void unitree_choose(const Wanted *wanted, int n, const double *own, double *chosen);

/* The command of all motors of a map: what was chosen for their joints, and whether they are on. */
void unitree_command(const MotorMap *map, const double *chosen, const uint8_t *on, LowCommand *command);

/* The state of a map's joints; how many of the motors say that something is wrong. */
int unitree_measure(const MotorMap *map, const LowState *state, double share, const Measured *measured);

/* What its IMU says, the quaternion as x y z w of length 1; false, and no turn, if it is none. */
bool unitree_imu(const LowState *state, double *orientation, double *angular_velocity, double *linear_acceleration);

#endif
