/* frozen.c - FrozenSensors: which sensors read the same to the last bit while the robot moves. frozen.py has the rule. */
#include <math.h>
#include <string.h>

#include "wholebody/estimation/estimation.h"

static const double ROUNDING = 1e-9; /* s */

/* Whether a reading is the last one to the bit, which it is from now on; no number is never the same. */
static bool repeats(double last[6], const double *reading, int count)
{
    bool same = true;
    for (int k = 0; k < count; k++) {
        same = same && last[k] == reading[k];
        last[k] = reading[k];
    }
    return same;
}

static bool is_late(const FrozenSensors *watch, int sensor, double dt)
{
    watch->since[sensor] += dt;
    return watch->since[sensor] >= watch->settings->after - ROUNDING;
}

static double farthest_moved(const double *from, const double *to, int count)
{
    double moved = 0.0;
    for (int k = 0; k < count; k++)
        moved = fmax(moved, fabs(to[k] - from[k]));
    return moved;
}

/* A foot that reads exactly nothing is in the air, as long as the feet together bear enough. */
static bool is_idle(const FrozenSensors *watch, int sensor, double borne)
{
    const double nothing[6] = {0.0};
    bool zero = true;
    for (int k = 0; k < 6; k++)
        zero = zero && watch->last[sensor][k] == nothing[k];
    return sensor >= FIRST_FOOT && borne > watch->settings->borne && zero;
}

/* IMU and feet: frozen if some joint moved meanwhile. */
static void watch_sensor(const FrozenSensors *watch, int sensor, const SensorReadings *now, double dt)
{
    double *start = watch->starts + sensor * watch->joints;
    bool same = sensor < FIRST_FOOT ? repeats(watch->last[sensor], now->imu + 4 + 3 * sensor, 3)
                                    : repeats(watch->last[sensor], now->wrench[sensor - FIRST_FOOT], 6);
    if (!same) {
        memcpy(start, now->position, (size_t)watch->joints * sizeof *start);
    } else if (!watch->frozen[sensor]) {
        same = !is_idle(watch, sensor, now->borne);
        bool late = is_late(watch, sensor, dt);
        double moved = farthest_moved(start, now->position, watch->joints);
        watch->frozen[sensor] = same && late && moved > watch->settings->moved;
    }
    if (!same) {
        watch->since[sensor] = 0.0;
        watch->frozen[sensor] = false;
    }
}

/* Encoders: frozen if the joint's reference moved meanwhile. */
static void watch_encoder(const FrozenSensors *watch, int joint, const SensorReadings *now, double dt)
{
    int sensor = FIRST_FOOT + watch->feet + joint;
    if (!repeats(watch->last[sensor], now->position + joint, 1)) {
        watch->since[sensor] = 0.0;
        watch->frozen[sensor] = false;
        watch->wanted[joint] = now->reference[joint];
    } else if (!watch->frozen[sensor]) {
        bool late = is_late(watch, sensor, dt);
        watch->frozen[sensor] = late && fabs(now->reference[joint] - watch->wanted[joint]) > watch->settings->moved;
    }
}

/* Which sensor is the first that is frozen, -1 if none is. */
int first_frozen(const FrozenSensors *watch, const SensorReadings *now, double dt)
{
    for (int sensor = 0; sensor < FIRST_FOOT + watch->feet; sensor++)
        watch_sensor(watch, sensor, now, dt);
    for (int joint = 0; joint < watch->joints; joint++)
        watch_encoder(watch, joint, now, dt);
    for (int sensor = 0; sensor < FIRST_FOOT + watch->feet + watch->joints; sensor++)
        if (watch->frozen[sensor])
            return sensor;
    return -1;
}
