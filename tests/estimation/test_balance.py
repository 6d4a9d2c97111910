"""BalanceEstimator in physics, with noise: attitude, centre of mass, capture point, pressure, faults, few sensors."""

from dataclasses import replace

import numpy as np
import pytest

from experiments.estimator_runs import Stepper, record
from wholebody import robots
from wholebody.errors import BadEstimator, MissingSensor, WrongRecord
from wholebody.estimation import AnkleSpring, BalanceEstimator, SupportNoise, roll_pitch_yaw
from wholebody.messages import MeasuredMotion, MeasuredWrench
from wholebody.model import Model
from wholebody.simulation import AnkleFlexibility, SensorModel, Simulation

HUBO = robots.load("hubo2plus")
MODEL = Model(HUBO)
SENSORS = replace(SensorModel.realistic(), encoder_delay=0, imu_delay=0, force_delay=0)


@pytest.fixture(scope="module")
def stepping():
    """Five seconds of Hubo2+ stepping on flexible ankles, open loop."""
    return record(Simulation(HUBO, ankles=AnkleFlexibility()), Stepper(HUBO), seconds=5.0)


@pytest.fixture(scope="module")
def pushed():
    """Three seconds of Hubo2+ standing on flexible ankles, pushed forward and to the left."""
    simulation = Simulation(HUBO, ankles=AnkleFlexibility())
    simulation.push("Body_Torso", (50.0, 40.0, 0.0), 0.1, start=1.0)
    return record(simulation, seconds=3.0)


def tilts(orientations):
    return np.array([roll_pitch_yaw(each)[:2] for each in orientations])


def follow(run, estimator, change=lambda state, tick: None, seed=0):
    """Run an estimator over what sensors say; returns attitude, centre of mass and its velocity, flexion, contacts."""
    seen = []
    for tick, state in enumerate(run.measured(SENSORS, seed)):
        change(state, tick)
        balance = estimator.update(state)
        seen.append(
            (balance.orientation.copy(), balance.com_in_world.copy(), balance.com_velocity.copy(),
             balance.flexion.copy(), balance.contact.copy(), balance.capture_point.copy())
        )  # fmt: skip
    return [np.array(each) for each in zip(*seen, strict=True)]


def rms(values):
    return float(np.sqrt(np.mean(np.square(values))))


def test_attitude_flexion_and_contacts_are_right_while_it_steps(stepping):
    orientation, _, _, flexion, contact, _ = follow(stepping, BalanceEstimator(MODEL, spring=AnkleSpring()))
    later = slice(300, None)
    true_flexion = stepping.flexion[1:][later]
    assert np.degrees(np.abs(true_flexion).max()) > 1.0
    assert np.degrees(rms((tilts(orientation) - tilts(stepping.attitude))[later])) < 0.4
    assert rms(flexion[later] - true_flexion) < 0.1 * np.abs(true_flexion).max()
    force = stepping.states["force_torque"]["force"][1:, :2, 2]
    clear = (force > 100.0) | (force < 1.0)
    agrees = (contact == (force > 50.0))[clear]
    assert agrees.mean() > 0.97
    assert (contact.sum(1) == 1).any()
    assert (contact.sum(1) == 2).any()


def test_without_the_spring_in_mind_flexion_is_taken_for_tilt_of_the_ground(stepping):
    knows, _, _, _, _, _ = follow(stepping, BalanceEstimator(MODEL, spring=AnkleSpring()))
    ignores, _, _, _, _, _ = follow(stepping, BalanceEstimator(MODEL))
    errors = [rms((tilts(each) - tilts(stepping.attitude))[300:]) for each in (knows, ignores)]
    assert errors[1] > 2 * errors[0]


def test_centre_of_mass_velocity_and_capture_point_are_right_while_it_is_pushed(pushed):
    _, com, velocity, _, contact, capture = follow(pushed, BalanceEstimator(MODEL, spring=AnkleSpring()))
    true = pushed.com[1:]
    moved = np.gradient(true, 0.005, axis=0)
    later = slice(100, None)
    assert np.abs(moved[later]).max() > 0.05
    assert rms((com - true)[later, :2]) < 0.005
    assert rms((velocity - moved)[later, :2]) < 0.015
    expected = true[:, :2] + moved[:, :2] * np.sqrt(true[:, 2:] / 9.81)
    assert rms((capture[:, :2] - expected)[later]) < 0.008
    assert contact[later].all()


def test_the_centre_of_pressure_lies_under_the_centre_of_mass_at_rest_and_forces_bear_the_weight():
    simulation, estimator = Simulation(HUBO, sensors=SENSORS), BalanceEstimator(MODEL)
    state = simulation.new_state()
    while simulation.tick() < 1.5:
        simulation.read(state)
        balance = estimator.update(state)
    assert balance.cop_in_world[:2] == pytest.approx(simulation.com_in_world[:2], abs=0.006)
    assert balance.wrench_in_sole[:, 2].sum() == pytest.approx(HUBO.mass * 9.81, rel=0.02)
    mean = balance.wrench_in_sole[:, 2] @ [
        (sole @ (*cop, 0.0, 1.0))[:2] for sole, cop in zip(balance.sole_to_world, balance.cop_in_sole, strict=True)
    ]
    assert balance.cop_in_world[:2] == pytest.approx(mean / balance.wrench_in_sole[:, 2].sum(), abs=1e-6)
    assert balance.sole_to_world[:, 2, 3] == pytest.approx(0.0, abs=2e-3)


def test_the_record_cannot_be_written_by_who_reads_it_and_the_base_goes_into_a_state():
    simulation, estimator = Simulation(HUBO), BalanceEstimator(MODEL)
    state = simulation.new_state()
    for _ in range(20):
        simulation.advance()
        simulation.read(state)
        balance = estimator.update(state)
    with pytest.raises(ValueError, match="read-only"):
        balance.com_in_world[0] = 1.0
    state.base.known = False
    estimator.fill_base(state)
    truth = simulation.truth.base
    assert state.base.known
    assert state.base.position == pytest.approx(truth.position, abs=2e-3)
    assert state.base.orientation == pytest.approx(truth.orientation, abs=2e-3)


def test_an_imu_that_turns_with_the_torso_says_as_much_as_one_in_the_pelvis():
    sensors = tuple(replace(s, link="Body_Torso") if s.name == "imu" else s for s in HUBO.sensors)
    robot = replace(HUBO, sensors=sensors)
    simulation, estimator = Simulation(robot, sensors=SENSORS), BalanceEstimator(Model(robot))
    state, reference = simulation.new_state(), simulation.new_reference()
    waist = robot.index["WST"]
    while simulation.tick() < 2.0:
        reference.position[waist] = 0.4 * np.sin(3.0 * simulation.time)
        simulation.write(reference)
        simulation.read(state)
        balance = estimator.update(state)
    truth = simulation.truth.base
    assert roll_pitch_yaw(balance.orientation) == pytest.approx(roll_pitch_yaw(truth.orientation), abs=0.02)
    assert balance.angular_velocity == pytest.approx(truth.angular_velocity, abs=0.05)
    assert balance.base_velocity == pytest.approx(truth.linear_velocity, abs=0.03)
    assert balance.com_in_world == pytest.approx(simulation.com_in_world, abs=0.01)


HUBO_IMU = MeasuredMotion.ROLL_AND_PITCH | MeasuredMotion.ANGULAR_VELOCITY_X | MeasuredMotion.ANGULAR_VELOCITY_Y
HUBO_FORCE = MeasuredWrench.FORCE_Z | MeasuredWrench.TORQUE_X | MeasuredWrench.TORQUE_Y


def only_hubos_axes(state, tick):
    """What the sensors on Hubo's buses measure; all else is zero, as the boards leave it."""
    imu, force = state.imu[0], state.force_torque
    imu.measured, imu.linear_acceleration[:], imu.angular_velocity[2] = int(HUBO_IMU), 0.0, 0.0
    force.measured[:], force.force[:, :2], force.torque[:, 2] = int(HUBO_FORCE), 0.0, 0.0


def test_hubos_own_few_axes_suffice(stepping):
    orientation, com, *_ = follow(stepping, BalanceEstimator(MODEL, spring=AnkleSpring()), only_hubos_axes)
    later = slice(300, None)
    assert np.degrees(rms((tilts(orientation) - tilts(stepping.attitude))[later])) < 0.5
    assert rms((com - stepping.com[1:])[later, :2]) < 0.05


def test_horizontal_forces_that_are_not_measured_are_those_of_a_pendulum(stepping):
    def believed_to_be_zero(state, tick):
        state.force_torque.force[:, :2] = 0.0

    def not_measured(state, tick):
        believed_to_be_zero(state, tick)
        state.force_torque.measured[:] = int(HUBO_FORCE)

    def pressure(change):
        estimator, seen = BalanceEstimator(MODEL, spring=AnkleSpring()), []
        for tick, state in enumerate(stepping.measured(SENSORS, 0)):
            change(state, tick)
            balance = estimator.update(state)
            seen.append(balance.cop_in_world[:2] - balance.com_in_world[:2])
        return np.array(seen)[300:]

    measured = pressure(lambda state, tick: None)
    pendulum, zero = (rms(pressure(change) - measured) for change in (not_measured, believed_to_be_zero))
    assert pendulum < 0.012
    assert pendulum < 0.7 * zero


def test_a_robot_without_an_imu_is_estimated_by_its_flat_soles(pushed):
    def blind(state, tick):
        state.imu[0].measured = 0
        state.imu[0].angular_velocity[:] = state.imu[0].linear_acceleration[:] = np.nan

    orientation, *_ = follow(pushed, estimator := BalanceEstimator(MODEL, spring=AnkleSpring()), blind)
    assert np.degrees(rms((tilts(orientation) - tilts(pushed.attitude))[200:])) < 0.5
    assert estimator.faults.total == 0, "what is not measured is no fault"


@pytest.mark.parametrize("sensor", ["gyro", "accelerometer", "encoder", "force"])
def test_nan_from_a_sensor_is_counted_and_survived(pushed, sensor):
    def spoil(state, tick):
        if tick % 20 == 7:
            if sensor == "gyro":
                state.imu[0].angular_velocity[1] = np.nan
            elif sensor == "accelerometer":
                state.imu[0].linear_acceleration[0] = np.inf
            elif sensor == "encoder":
                state.position[3] = np.nan
            else:
                state.force_torque[0].torque[0] = np.nan

    estimator = BalanceEstimator(MODEL, spring=AnkleSpring())
    orientation, com, *_ = follow(pushed, estimator, spoil)
    assert estimator.faults.not_finite == 30
    assert np.degrees(rms((tilts(orientation) - tilts(pushed.attitude))[100:])) < 0.6
    assert np.isfinite(com).all()


def test_an_accelerometer_that_dies_is_counted_and_the_feet_speak(pushed):
    def die(state, tick):
        if tick > 150:
            state.imu[0].linear_acceleration[:] = 0.0

    estimator = BalanceEstimator(MODEL, spring=AnkleSpring())
    orientation, *_ = follow(pushed, estimator, die)
    assert estimator.faults.silent > 400
    assert np.degrees(rms((tilts(orientation) - tilts(pushed.attitude))[200:])) < 0.5


def test_a_robot_that_is_dropped_at_the_start_is_taken_to_stand_on_its_soles_and_one_that_hangs_is_not():
    state = Simulation(HUBO).truth
    tilt = np.radians(20.0)
    for gravity, pitch in ((1.2, 0.0), (9.81, -tilt)):
        state.force_torque.force[:] = state.force_torque.torque[:] = 0.0
        state.imu.linear_acceleration[:] = gravity * np.array([np.sin(tilt), 0.0, np.cos(tilt)])
        balance = BalanceEstimator(MODEL).update(state)
        assert np.abs(roll_pitch_yaw(balance.orientation) - (0.0, pitch, 0.0)).max() < 1e-3


def test_time_that_stands_still_runs_back_or_leaps():
    simulation, estimator = Simulation(HUBO, sensors=SENSORS), BalanceEstimator(MODEL)
    state = simulation.new_state()
    for _ in range(50):
        simulation.advance()
        simulation.read(state)
        estimator.update(state)
    held = estimator.balance.orientation.copy()
    estimator.update(state)
    assert estimator.faults.total == 0, "the same state again is no fault"
    for time in (0.01, np.nan):
        state.time = time
        estimator.update(state)
    assert np.array_equal(estimator.balance.orientation, held)
    assert estimator.faults.bad_time == 2
    bias = estimator.filter.gyro_bias.copy()
    state.time = 10.0
    estimator.update(state)
    assert estimator.faults.gap == 1
    assert np.array_equal(estimator.filter.gyro_bias, bias)
    assert np.isfinite(estimator.balance.com_in_world).all()


@pytest.mark.slow
def test_a_slope_is_found_within_seconds_though_level_ground_is_expected():
    slope = 0.05
    sensors = replace(SENSORS, accelerometer_noise=0.1, accelerometer_bias=(0.0, 0.0, 0.0))
    simulation = Simulation(HUBO, scene=f"slope:angle={slope}", sensors=sensors)
    estimator, state = BalanceEstimator(MODEL, noise=SupportNoise(accelerometer=0.1)), simulation.new_state()
    while simulation.tick() < 10.0:
        simulation.read(state)
        balance = estimator.update(state)
    pitch = roll_pitch_yaw(balance.orientation)[1] - roll_pitch_yaw(simulation.truth.base.orientation)[1]
    assert abs(pitch) < 0.2 * slope


@pytest.mark.parametrize("name", ["minihubo", "hoap3", "hrp2", "teo"])
def test_other_robots_need_nothing_but_their_description(name):
    robot = robots.load(name)
    simulation, estimator = Simulation(robot, sensors=SENSORS), BalanceEstimator(Model(robot))
    state = simulation.new_state()
    while simulation.tick() < 1.0:
        simulation.read(state)
        balance = estimator.update(state)
    truth = roll_pitch_yaw(simulation.truth.base.orientation)
    assert roll_pitch_yaw(balance.orientation)[:2] == pytest.approx(truth[:2], abs=0.02)
    assert balance.com_in_world[2] == pytest.approx(simulation.com_in_world[2], abs=0.02)
    assert balance.contact.all()


def test_robots_and_records_that_do_not_fit_are_refused():
    with pytest.raises(BadEstimator, match="bolted"):
        BalanceEstimator(Model(replace(HUBO, floating=False)))
    with pytest.raises(MissingSensor):
        BalanceEstimator(Model(replace(HUBO, sensors=())))
    other = np.zeros(1, robots.load("hoap3").state_dtype())[0]
    with pytest.raises(WrongRecord):
        BalanceEstimator(MODEL).update(other)
