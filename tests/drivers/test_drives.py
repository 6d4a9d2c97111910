"""Simulated drives do what the document's joint models say."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from wholebody import robots
from wholebody.drivers.joint_drives import LIMP, SLOPE, WHOLE, Drives, Response
from wholebody.errors import HardwareError
from wholebody.messages import Measured, MeasuredMotion

HUBO = robots.load("hubo2plus")
RSP = HUBO.index["RSP"]
N = len(HUBO.moving)
ALL = np.ones(N, bool)
NONE = np.zeros(N, bool)


def targets(value, joint=RSP):
    target = np.zeros(N)
    target[joint] = value
    return target


def path(drives, target, seconds, step=0.001, powered=ALL):
    positions = []
    for _ in range(round(seconds / step)):
        drives.advance(step, target, powered)
        positions.append(drives.position[RSP])
    return np.array(positions)


def measured_gain(response, frequency):
    """The amplitude with which the simulated joint follows a sine, after it has settled."""
    drives, step, amplitude = Drives(HUBO, response), 0.0005, 0.01
    times = np.arange(0, 1.0 + 4 * math.pi / frequency, step)
    followed = []
    for time in times:
        drives.advance(step, targets(amplitude * math.sin(frequency * time)), ALL)
        followed.append(drives.position[RSP])
    last = times > times[-1] - 2 * math.pi / frequency
    return np.ptp(np.array(followed)[last]) / (2 * amplitude)


@pytest.mark.slow
@pytest.mark.parametrize(("response", "hertz"), [(WHOLE, 7.29), (SLOPE, 10.66)])
def test_the_bandwidth_measured_in_simulation_is_the_documents(response, hertz):
    low, high = 2 * math.pi * 0.5 * hertz, 2 * math.pi * 2 * hertz
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (middle, high) if measured_gain(response, middle) > 10**-0.15 else (low, middle)
    assert low / (2 * math.pi) == pytest.approx(hertz, rel=0.02)
    assert response.bandwidth / (2 * math.pi) == pytest.approx(hertz, rel=0.0005)


def limited(response, limit, target, load=0.0, stiffness=1500.0):
    """The joint by an integrator that knows nothing of closed forms."""

    def rate(_, state):
        q, v = state
        a = response.square * (target - q + load / stiffness) - response.damping * v
        if abs(a) > limit and a * v >= 0:
            a = math.copysign(limit, a)
        return [v, a]

    return rate


@pytest.mark.parametrize("limit", [math.inf, 480.0, 100.0])
@pytest.mark.parametrize("response", [WHOLE, SLOPE, Response(100.0, 20.0), Response(100.0, 50.0)])
def test_a_step_is_that_of_an_independent_integrator(response, limit):
    followed = path(Drives(HUBO, response, limit), targets(0.4), 0.4)
    times = np.arange(1, 401) * 0.001
    exact = solve_ivp(
        limited(response, limit, 0.4), (0, 0.4), [0, 0], t_eval=times, rtol=1e-9, atol=1e-11, max_step=1e-4
    )
    assert np.abs(followed - exact.y[0]).max() < (1e-8 if limit == math.inf else 2e-4)


@pytest.mark.parametrize("limit", [math.inf, 480.0])
def test_one_long_step_is_many_short_ones(limit):
    once, often = Drives(HUBO, SLOPE, limit), Drives(HUBO, SLOPE, limit)
    once.load[RSP] = often.load[RSP] = 5.0
    once.advance(0.03, targets(0.4), ALL)
    path(often, targets(0.4), 0.03, step=0.0001)
    assert once.position[RSP] == pytest.approx(often.position[RSP], abs=1e-9)
    assert once.velocity[RSP] == pytest.approx(often.velocity[RSP], abs=1e-7)


def test_the_limit_of_acceleration_takes_the_model_of_the_slope_to_that_of_the_whole_step():
    whole = path(Drives(HUBO, WHOLE, math.inf), targets(0.4), 0.3)
    free = path(Drives(HUBO, SLOPE, math.inf), targets(0.4), 0.3)
    held = path(Drives(HUBO), targets(0.4), 0.3)
    assert np.std(held - whole) < 0.5 * np.std(free - whole)


def test_without_load_every_joint_arrives_where_it_is_sent():
    drives = Drives(HUBO)
    middle = np.clip(0.3, drives.lower, drives.upper)
    drives.advance(2.0, middle, ALL)
    assert drives.position == pytest.approx(middle, abs=1e-9)
    assert drives.effort == pytest.approx(np.zeros(N), abs=1e-6)


def test_a_load_moves_a_joint_by_its_compliance_and_the_motor_carries_it():
    drives = Drives(HUBO)
    drives.load[RSP] = 15.0
    drives.advance(2.0, targets(0.2), ALL)
    assert drives.position[RSP] == pytest.approx(0.2 + 15.0 / 1500.0, abs=1e-9)
    assert drives.effort[RSP] == pytest.approx(-15.0, abs=1e-6)


def test_joints_stop_at_their_ends_and_come_away_again():
    drives = Drives(HUBO)
    path(drives, targets(9.0), 1.0)
    assert drives.position[RSP] == HUBO.joint("RSP").upper
    assert drives.velocity[RSP] == 0
    assert drives.acceleration_now[RSP] == 0
    assert drives.effort[RSP] > 100, "the motor pushes on"
    path(drives, targets(0.0), 1.0)
    assert drives.position[RSP] == pytest.approx(0, abs=1e-6)


def test_a_limp_joint_falls_with_its_load_and_stays_without():
    drives = Drives(HUBO)
    drives.load[RSP] = -3.0
    path(drives, targets(0.5), 0.2, powered=NONE)
    assert drives.position[RSP] < -0.05
    assert np.delete(drives.position, RSP) == pytest.approx(np.zeros(N - 1), abs=0)
    times = np.arange(1, 201) * 0.001
    inertia = 1500.0 / SLOPE.square
    fall = solve_ivp(lambda _, s: [s[1], -3.0 / inertia - LIMP * s[1]], (0, 0.2), [0, 0], t_eval=times, rtol=1e-10)
    assert drives.position[RSP] == pytest.approx(fall.y[0, -1], abs=1e-6)


def test_a_powered_joint_holds_the_same_load():
    drives = Drives(HUBO)
    drives.load[RSP] = -3.0
    path(drives, targets(0.0), 0.2)
    assert abs(drives.position[RSP]) < 0.003


def test_the_state_says_what_it_holds():
    drives = Drives(HUBO)
    path(drives, targets(0.4), 0.02)
    state = np.zeros(1, HUBO.state_dtype())[0]
    drives.read(state)
    assert state.position[RSP] == drives.position[RSP] > 0
    assert state.velocity[RSP] == drives.velocity[RSP] > 0
    assert (state.measured == Measured.POSITION | Measured.VELOCITY | Measured.ACCELERATION | Measured.EFFORT).all()
    assert state.imu[0].linear_acceleration.tolist() == [0, 0, 9.81]
    assert MeasuredMotion.YAW in MeasuredMotion(state.imu[0].measured)
    assert state.time == 0, "time belongs to the boards"


@pytest.mark.parametrize(
    "wrong", [lambda: Response(-1, 2), lambda: Response(1, math.nan), lambda: Drives(HUBO, SLOPE, 0)]
)
def test_impossible_drives_are_refused(wrong):
    with pytest.raises(HardwareError, match="give"):
        wrong()
