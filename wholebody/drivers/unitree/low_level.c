/* low_level.c - messages of Unitree's humanoids to the wire and back, and joints into them and out of them. */
#include "wholebody/drivers/unitree/low_level.h"

#include <math.h>
#include <string.h>

_Static_assert(sizeof(LowCommand) == 1004 && sizeof(LowState) == 2092, "structs of another size than Unitree's");

enum { POSITION, VELOCITY, EFFORT, IMPEDANCE };

static uint32_t table[256];

static void make_table(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte << 24;
        for (int bit = 0; bit < 8; bit++)
            crc = crc << 1 ^ (crc >> 31 ? 0x04C11DB7u : 0u);
        table[byte] = crc;
    }
}

uint32_t unitree_check_sum(const uint32_t *words, int count)
{
    if (!table[1])
        make_table();
    uint32_t crc = 0xFFFFFFFFu;
    for (int i = 0; i < count; i++) {
        crc ^= words[i];
        for (int byte = 0; byte < 4; byte++)
            crc = crc << 8 ^ table[crc >> 24];
    }
    return crc;
}

static uint32_t check_sum_of(const uint8_t *message, int size)
{
    uint32_t words[sizeof(LowState) / 4];
    memcpy(words, message, (size_t)size - 4);
    return unitree_check_sum(words, size / 4 - 1);
}

void unitree_pack(uint8_t *message, int size, int motors, uint8_t *wire)
{
    uint32_t crc = check_sum_of(message, size);
    memcpy(message + size - 4, &crc, 4);
    memcpy(wire, message, (size_t)motors - 2);
    wire[motors - 2] = message[motors];
    wire[motors - 1] = 0;
    memcpy(wire + motors, message + motors + 4, (size_t)(size - motors - 4));
}

/* Padding on the wire may be anything; in the struct it is zero. */
bool unitree_unpack(uint8_t *message, int size, int motors, int step, const uint8_t *wire)
{
    memcpy(message, wire, (size_t)motors - 2);
    memset(message + motors - 2, 0, 6);
    message[motors] = wire[motors - 2];
    memcpy(message + motors + 4, wire + motors, (size_t)(size - motors - 4));
    for (int i = 1; i < UNITREE_MOTORS; i++)
        memset(message + motors + i * step + 1, 0, 3);
    uint32_t crc;
    memcpy(&crc, message + size - 4, 4);
    return crc == check_sum_of(message, size);
}

void unitree_choose(const Wanted *wanted, int n, const double *own, double *chosen)
{
    for (int i = 0; i < n; i++) {
        int mode = wanted->mode[i];
        double next[5] = {0.0};
        if (mode == POSITION || mode == IMPEDANCE)
            next[0] = wanted->position[i];
        if (mode == VELOCITY || mode == IMPEDANCE)
            next[1] = wanted->velocity[i];
        if (mode != VELOCITY)
            next[2] = mode == POSITION ? own[2 * n + i] : wanted->effort[i];
        if (mode == POSITION || mode == IMPEDANCE)
            next[3] = mode == POSITION ? own[i] : wanted->stiffness[i];
        if (mode != EFFORT)
            next[4] = mode == IMPEDANCE ? wanted->damping[i] : own[n + i];
        bool follows = wanted->mask[i] && mode <= IMPEDANCE;
        for (int k = 0; k < 5; k++)
            follows = follows && isfinite(next[k]);
        if (follows)
            memcpy(chosen + 5 * i, next, sizeof next);
    }
}

void unitree_command(const MotorMap *map, const double *chosen, const uint8_t *on, LowCommand *command)
{
    for (int i = 0; i < map->count; i++) {
        MotorCommand *motor = &command->motor[map->motors[i]];
        const double *row = chosen + 5 * map->joints[i];
        motor->mode = on[map->joints[i]] ? UNITREE_ON : 0;
        motor->position = (float)row[0];
        motor->velocity = (float)row[1];
        motor->effort = (float)row[2];
        motor->stiffness = (float)row[3];
        motor->damping = (float)row[4];
    }
}

int unitree_measure(const MotorMap *map, const LowState *state, double share, const Measured *measured)
{
    int faulty = 0;
    for (int i = 0; i < map->count; i++) {
        const MotorState *motor = &state->motor[map->motors[i]];
        int64_t joint = map->joints[i];
        int16_t one = motor->temperature[0], other = motor->temperature[1];
        measured->position[joint] = motor->position;
        measured->velocity[joint] = motor->velocity;
        measured->acceleration[joint] = motor->acceleration;
        measured->effort[joint] = motor->effort;
        measured->temperature[joint] = one > other ? one : other;
        measured->load[joint] += share * (motor->effort - measured->load[joint]);
        faulty += motor->faults != 0;
    }
    return faulty;
}

bool unitree_imu(const LowState *state, double *orientation, double *angular_velocity, double *linear_acceleration)
{
    for (int i = 0; i < 3; i++) {
        angular_velocity[i] = state->imu.angular_velocity[i];
        linear_acceleration[i] = state->imu.linear_acceleration[i];
    }
    const float *quaternion = state->imu.orientation;
    double square = 0.0;
    for (int i = 0; i < 4; i++)
        square += (double)quaternion[i] * quaternion[i];
    bool turned = square > 0.25 && isfinite(square);
    for (int i = 0; i < 4; i++)
        orientation[i] = turned ? quaternion[(i + 1) % 4] / sqrt(square) : i == 3;
    return turned;
}
