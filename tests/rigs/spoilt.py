"""What becomes of sensors: parts of a state that freeze, fall silent, go missing or drift."""


def gyro(state):
    return state.imu.angular_velocity


def accelerometer(state):
    return state.imu.linear_acceleration


def imu(state):
    return state.imu.orientation, state.imu.angular_velocity, state.imu.linear_acceleration


def left_foot(state):
    return state["force_torque"][1:2]


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
