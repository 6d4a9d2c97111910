/* binding.c - messages of Unitree's humanoids in Python. Arrays are borrowed for each call. */
#include "wholebody/binding.h"
#include "wholebody/drivers/unitree/low_level.h"

#include <stddef.h>

/* Where the motors begin, and how far they are apart, in a struct of that size; 0 if it is none of ours. */
static int motors_of(Given *given, Py_ssize_t size, int *step)
{
    bool command = size == sizeof(LowCommand);
    *step = command ? sizeof(MotorCommand) : sizeof(MotorState);
    if (command || size == sizeof(LowState))
        return command ? offsetof(LowCommand, motor) : offsetof(LowState, motor);
    refuse(given, "a message of %zd bytes is neither LowCmd nor LowState", size);
    return 0;
}

static PyObject *pack(Given *given)
{
    uint8_t *message = given_written_bytes(given, 0, ANY, "message");
    Py_ssize_t size = given_count(given);
    int step, motors = given->failed ? 0 : motors_of(given, size, &step);
    uint8_t *wire = given_written_bytes(given, 1, size - 4, "wire");
    if (!given->failed)
        unitree_pack(message, (int)size, motors, wire);
    return nothing();
}

static PyObject *unpack(Given *given)
{
    uint8_t *message = given_written_bytes(given, 0, ANY, "message");
    Py_ssize_t size = given_count(given);
    int step = 0, motors = given->failed ? 0 : motors_of(given, size, &step);
    const uint8_t *wire = given_bytes(given, 1, size - 4, "wire");
    bool right = !given->failed && unitree_unpack(message, (int)size, motors, step, wire);
    return PyBool_FromLong(right);
}

/* position, velocity, effort, stiffness, damping, mode, mask of n joints; own: 3 x n; chosen: n x 5. */
static PyObject *choose(Given *given)
{
    Wanted wanted = {.position = given_numbers(given, 0, ANY, "position")};
    Py_ssize_t n = given_count(given);
    wanted.velocity = given_numbers(given, 1, n, "velocity");
    wanted.effort = given_numbers(given, 2, n, "effort");
    wanted.stiffness = given_numbers(given, 3, n, "stiffness");
    wanted.damping = given_numbers(given, 4, n, "damping");
    wanted.mode = given_bytes(given, 5, n, "mode");
    wanted.mask = given_flags(given, 6, n, "mask");
    const double *own = given_numbers(given, 7, 3 * n, "own");
    double *chosen = given_written(given, 8, 5 * n, "chosen");
    if (!given->failed)
        unitree_choose(&wanted, (int)n, own, chosen);
    return nothing();
}

/* joints and motors, at two places of the arguments; the joints are below n. */
static MotorMap map_of(Given *given, int joints, int motors, Py_ssize_t n)
{
    MotorMap map = {.joints = given_integers(given, joints, ANY, "joints")};
    Py_ssize_t count = given_count(given);
    map.motors = given_integers(given, motors, count, "motors");
    map.count = given->failed ? 0 : (int)count;
    if (!given->failed && all_within(given, map.joints, count, 0, n, "joints"))
        all_within(given, map.motors, count, 0, UNITREE_MOTORS, "motors");
    return map;
}

static PyObject *fill_command(Given *given)
{
    const double *chosen = given_numbers(given, 0, ANY, "chosen");
    Py_ssize_t n = given_count(given) / 5;
    const uint8_t *on = given_flags(given, 1, n, "on");
    MotorMap map = map_of(given, 2, 3, n);
    uint8_t *command = given_written_bytes(given, 4, sizeof(LowCommand), "command");
    if (!given->failed)
        unitree_command(&map, chosen, on, (LowCommand *)(void *)command);
    return nothing();
}

/* state, joints, motors, share, then position, velocity, acceleration, effort, temperature and load of all joints. */
static PyObject *measure(Given *given)
{
    const uint8_t *state = given_bytes(given, 0, sizeof(LowState), "state");
    Measured measured = {.position = given_written(given, 4, ANY, "position")};
    Py_ssize_t n = given_count(given);
    MotorMap map = map_of(given, 1, 2, n);
    double share = given_number(given, 3);
    measured.velocity = given_written(given, 5, n, "velocity");
    measured.acceleration = given_written(given, 6, n, "acceleration");
    measured.effort = given_written(given, 7, n, "effort");
    measured.temperature = given_written(given, 8, n, "temperature");
    measured.load = given_written(given, 9, n, "load");
    if (given->failed)
        return NULL;
    return PyLong_FromLong(unitree_measure(&map, (const LowState *)(const void *)state, share, &measured));
}

static PyObject *measure_imu(Given *given)
{
    const uint8_t *state = given_bytes(given, 0, sizeof(LowState), "state");
    double *orientation = given_written(given, 1, 4, "orientation");
    double *angular_velocity = given_written(given, 2, 3, "angular_velocity");
    double *linear_acceleration = given_written(given, 3, 3, "linear_acceleration");
    if (given->failed)
        return NULL;
    const LowState *measured = (const LowState *)(const void *)state;
    return PyBool_FromLong(unitree_imu(measured, orientation, angular_velocity, linear_acceleration));
}

const Kernel unitree_kernels[] = {
    {"unitree_pack", pack, 2},
    {"unitree_unpack", unpack, 2},
    {"unitree_choose", choose, 9},
    {"unitree_command", fill_command, 5},
    {"unitree_measure", measure, 10},
    {"unitree_imu", measure_imu, 4},
    {0},
};
