"""Sensors are as good as the SensorModel says: resolution, noise, bias, delay, and nothing else."""

import numpy as np
import pytest

from wholebody import robots
from wholebody.errors import BadSimulation
from wholebody.simulation import SensorModel, Simulation

ROBOT = robots.load("hoap3")
ARM = ROBOT.index["R_SFE"]


def swing(sensors=None, ticks=60, seed=0):
    """States and truths while an arm swings."""
    simulation = Simulation(ROBOT, sensors=sensors, seed=seed)
    reference = simulation.new_reference()
    start = reference.position[ARM]
    states, truths = [], []
    for tick in range(ticks):
        reference.position[ARM] = start + 0.3 * np.sin(0.1 * tick)
        simulation.write(reference)
        simulation.advance()
        state = simulation.new_state()
        simulation.read(state)
        states.append(state)
        truths.append(simulation.truth)
    return np.array(states), np.array(truths)


def test_perfect_sensors_tell_the_truth():
    states, truths = swing()
    for field in ("position", "velocity", "acceleration", "effort", "imu", "force_torque", "base"):
        names = states[field].dtype.names or [...]
        for name in names:
            if name != "known":
                assert np.array_equal(states[field][name], truths[field][name]), field


@pytest.mark.parametrize("delay", [1, 3])
def test_a_delay_of_n_periods_shifts_the_signal_by_n(delay):
    states, truths = swing(SensorModel(encoder_delay=delay, imu_delay=delay + 1, force_delay=delay + 2))
    assert np.array_equal(states["position"][delay:], truths["position"][:-delay])
    gyro = "angular_velocity"
    assert np.array_equal(states["imu"][gyro][delay + 1 :], truths["imu"][gyro][: -delay - 1])
    force = "force"
    assert np.array_equal(states["force_torque"][force][delay + 2 :], truths["force_torque"][force][: -delay - 2])
    assert np.array_equal(states["time"], truths["time"]), "the stamp is that of the reading"


def test_quantisation_errs_by_half_a_step_at_most_and_gives_whole_steps():
    step = 0.01
    states, truths = swing(SensorModel(encoder_resolution=step))
    error = np.abs(states["position"] - truths["position"])
    assert 0.3 * step < error.max() <= step / 2 + 1e-12
    assert np.allclose(states["position"] / step, np.round(states["position"] / step))


def test_noise_has_the_deviation_asked_for_and_no_bias():
    sensors = SensorModel(
        encoder_noise=0.01, velocity_noise=0.1, gyro_noise=0.02, accelerometer_noise=0.3, force_noise=2.0
    )
    states, truths = swing(sensors, ticks=200)

    def check(difference, deviation):
        assert difference.std() == pytest.approx(deviation, rel=0.15)
        assert abs(difference.mean()) < 0.2 * deviation

    check(states["position"] - truths["position"], 0.01)
    check(states["velocity"] - truths["velocity"], 0.1)
    check(states["imu"]["angular_velocity"] - truths["imu"]["angular_velocity"], 0.02)
    check(states["imu"]["linear_acceleration"] - truths["imu"]["linear_acceleration"], 0.3)
    check(states["force_torque"]["force"] - truths["force_torque"]["force"], 2.0)
    assert np.array_equal(states["effort"], truths["effort"]), "what has no noise has none"


def test_bias_is_added_in_the_axes_of_the_sensor():
    sensors = SensorModel(gyro_bias=(0.1, 0.2, 0.3), accelerometer_bias=(1.0, 0.0, -1.0), torque_bias=(0.0, 0.5, 0.0))
    states, truths = swing(sensors, ticks=5)
    imu, truth = states["imu"], truths["imu"]
    assert np.allclose(imu["angular_velocity"] - truth["angular_velocity"], (0.1, 0.2, 0.3))
    assert np.allclose(imu["linear_acceleration"] - truth["linear_acceleration"], (1.0, 0.0, -1.0))
    torque = states["force_torque"]["torque"] - truths["force_torque"]["torque"]
    assert np.allclose(torque, (0.0, 0.5, 0.0))


def test_a_noisy_attitude_is_still_a_rotation_and_off_by_as_much_as_asked():
    states, truths = swing(SensorModel(attitude_noise=0.01), ticks=200)
    measured, true = states["imu"]["orientation"], truths["imu"]["orientation"]
    assert np.allclose(np.linalg.norm(measured, axis=-1), 1.0)
    angle = 2 * np.arccos(np.minimum(1.0, np.abs((measured * true).sum(axis=-1))))
    assert np.sqrt((angle**2).mean() / 3) == pytest.approx(0.01, rel=0.15)


def test_velocity_from_positions_is_their_difference():
    states, _ = swing(SensorModel(velocity_from_positions=True, encoder_resolution=1e-3))
    differences = np.diff(states["position"], axis=0) / 0.005
    assert np.allclose(states["velocity"][1:], differences)


def test_the_truth_keeps_its_secret_where_the_base_is_not_known():
    states, truths = swing(SensorModel(base_known=False), ticks=3)
    assert not states["base"]["known"].any()
    assert not states["base"]["position"].any()
    assert np.array_equal(states["base"]["orientation"][0], (0, 0, 0, 1))
    assert truths["base"]["position"].any()


def test_current_is_effort_by_the_torque_constant_and_temperature_is_what_was_said():
    states, _ = swing(SensorModel(torque_constant=2.0, temperature=40.0), ticks=5)
    assert np.allclose(states["current"], states["effort"] / 2.0)
    assert (states["temperature"] == 40.0).all()
    states, _ = swing(ticks=5)
    assert not states["current"].any(), "unknown"


def test_noise_does_not_disturb_the_physics():
    _, quiet = swing()
    _, noisy = swing(SensorModel.realistic())
    assert np.array_equal(quiet["position"], noisy["position"])


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"encoder_delay": -1}, "encoder_delay"),
        ({"imu_delay": 1.5}, "imu_delay"),
        ({"gyro_noise": -0.1}, "gyro_noise"),
        ({"force_noise": float("nan")}, "force_noise"),
        ({"gyro_bias": (1.0, 2.0)}, "gyro_bias"),
        ({"torque_constant": 0.0}, "torque_constant"),
    ],
)
def test_a_sensor_that_cannot_be_is_refused_by_name(given, named):
    with pytest.raises(BadSimulation, match=named):
        SensorModel(**given)
