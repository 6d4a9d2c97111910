"""What becomes of sensors: parts of a state that freeze, fall silent, go missing or drift."""

import math


def gyro(state):
    return state.imu.angular_velocity


def pitch_rate(state):
    return state.imu.angular_velocity[0][1:2]


def accelerometer(state):
    return state.imu.linear_acceleration


def imu(state):
    return state.imu.orientation, state.imu.angular_velocity, state.imu.linear_acceleration


def left_foot(state):
    return state["force_torque"][1:2]


def left_force(state):
    return state.force_torque[1].force[2:3]


def left_wrench(state):
    return state.force_torque[1].force, state.force_torque[1].torque


def right_knee(state):
    return state.position[3:4]


def frozen(part):
    """It stays as it is when it is first read."""
    kept = []

    def spoil(state):
        now = part(state)
        kept[:] = kept or [now.copy()]
        now[...] = kept[0]

    return spoil


def missing(part):
    """It says nothing any more: no numbers."""

    def spoil(state):
        for each in part(state):
            each[...] = math.nan

    return spoil


def dead(part):
    """It reads zero."""

    def spoil(state):
        part(state)[...] = 0.0

    return spoil


def drifting(part, rate):
    """It is off by more and more: rate a second."""
    begun = []

    def spoil(state):
        begun.append(state.time)
        part(state)[...] += (state.time - begun[0]) * rate

    return spoil
