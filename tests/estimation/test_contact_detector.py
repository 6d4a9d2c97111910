"""ContactDetector and Feet: flags that do not flutter, probabilities that follow, wrenches that add up."""

from dataclasses import replace

import numpy as np
import pytest

from wholebody import robots
from wholebody.errors import BadEstimator, MissingSensor
from wholebody.estimation import ContactDetector, ContactSettings, Feet
from wholebody.model import Model

DT, WEIGHT = 0.005, 400.0
HUBO = robots.load("hubo2plus")


def pushed_up(*forces):
    wrench = np.zeros((len(forces), 6))
    wrench[:, 2] = forces
    return wrench


def flags(forces, settings=None):
    detector = ContactDetector(1, WEIGHT, settings)
    seen = []
    for force in forces:
        detector.update(pushed_up(force), DT)
        seen.append(detector.contact[0])
    return np.array(seen)


def test_a_flag_needs_the_debounce_time_without_a_break():
    settings = ContactSettings(debounce=0.02)
    assert not flags([300, 300, 300, 0] * 20, settings).any()
    assert flags([300] * 4, settings).tolist() == [0, 0, 0, 1]


def test_between_the_thresholds_a_foot_stays_what_it_was():
    between = 0.06 * WEIGHT
    assert not flags([between] * 50).any()
    assert flags([300] * 10 + [between] * 50)[10:].all()


def test_noise_at_a_threshold_does_not_make_it_flutter():
    rng = np.random.default_rng(0)
    forces = 0.08 * WEIGHT + 5.0 * rng.normal(size=4000)
    assert np.count_nonzero(np.diff(flags(forces))) <= 1
    single = flags(forces, ContactSettings(leaves=0.0799, debounce=0.0))
    assert np.count_nonzero(np.diff(single)) > 100, "one threshold without debounce flutters"


def test_the_probability_rises_with_force_and_falls_without():
    detector = ContactDetector(2, WEIGHT)
    for _ in range(20):
        detector.update(pushed_up(200.0, 0.0), DT)
    assert detector.probability[0] > 0.99
    assert detector.probability[1] < 0.05
    certain = detector.probability.copy()
    for _ in range(20):
        detector.update(pushed_up(0.15 * WEIGHT, 0.15 * WEIGHT), DT)
    assert (np.abs(detector.probability - 0.5) < np.abs(certain - 0.5)).all(), "a force half-way says nothing"
    for _ in range(100):
        detector.update(pushed_up(0.0, 200.0), DT)
    assert detector.probability[0] < 0.05
    assert detector.probability[1] > 0.99


def test_a_foot_is_firm_once_its_centre_of_pressure_is_within_the_sole_for_a_while():
    feet = Feet.of(Model(HUBO))
    detector = ContactDetector(2, WEIGHT, None, feet.edges(0.85))
    wrench = pushed_up(200.0, 200.0)
    length, width = np.ptp(feet.outlines[0], axis=0)
    wrench[0, 4] = -200.0 * 0.49 * length  # at the toe's edge
    wrench[1, 3] = 200.0 * 0.4 * width  # well within
    for _ in range(20):
        detector.update(wrench, DT)
    assert detector.contact.tolist() == [1, 1]
    assert detector.firm.tolist() == [0, 1]
    detector.update(pushed_up(200.0, 200.0), DT)
    assert detector.firm.tolist() == [0, 1], "not at once"
    for _ in range(5):
        detector.update(pushed_up(200.0, 200.0), DT)
    assert detector.firm.tolist() == [1, 1]


def test_edges_hold_inside_and_not_outside():
    feet = Feet.of(Model(HUBO))
    for edges, outline in zip(feet.edges(1.0), feet.outlines, strict=True):
        middle = outline.mean(0)
        for scale, inside in ((0.99, True), (1.01, False)):
            for corner in middle + scale * (outline - middle):
                assert (edges[:, :2] @ corner <= edges[:, 2] + 1e-12).all() == inside


@pytest.mark.parametrize("name", ["hubo2plus", "minihubo", "hoap3", "hrp2", "teo", "valkyrie", "atlas"])
def test_a_wrench_does_the_same_work_wherever_it_is_written(name):
    """F · v + M · ω is the same at the sensor, the sole and the ankle, for any motion of the foot."""
    robot = robots.load(name)
    feet, sensors = Feet.of(Model(robot)), robot.sensors_of("force_torque")
    rng = np.random.default_rng(0)
    for foot, sole_name in enumerate(feet.names):
        sole, sensor = robot.surface(sole_name), sensors[feet.sensors[foot]]
        wrench, linear, angular = rng.normal(size=6), rng.normal(size=3), rng.normal(size=3)

        def power(frame, w, linear=linear, angular=angular):
            velocity = linear + np.cross(angular, frame[:3, 3])
            return w[:3] @ frame[:3, :3].T @ velocity + w[3:] @ frame[:3, :3].T @ angular

        at_sole = feet.at_sole[foot] @ wrench
        assert power(sole.at.matrix, at_sole) == pytest.approx(power(sensor.at.matrix, wrench))
        about = sensor.at.rotation @ wrench[3:] + np.cross(sensor.at.xyz, sensor.at.rotation @ wrench[:3])
        assert feet.at_ankle[foot] @ wrench == pytest.approx((sole.at.rotation.T @ about)[:2])


def test_a_robot_without_force_sensors_in_its_feet_is_told_which_is_missing():
    lame = replace(HUBO, sensors=tuple(s for s in HUBO.sensors if s.name != "left_foot"))
    with pytest.raises(MissingSensor, match="left_sole"):
        Feet.of(Model(lame))
    with pytest.raises(MissingSensor, match="no soles"):
        Feet.of(Model(replace(HUBO, surfaces=())))


@pytest.mark.parametrize(
    "bad", [{"touches": 0.01}, {"leaves": 0.0}, {"debounce": -1.0}, {"within": 1.5}, {"deviation": 0.0}]
)
def test_settings_that_contradict_each_other_are_refused(bad):
    with pytest.raises(BadEstimator):
        ContactSettings(**bad)
    with pytest.raises(BadEstimator, match="weighs"):
        ContactDetector(2, 0.0)
