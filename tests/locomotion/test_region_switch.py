"""The thesis's stabilizer stands behind the main task and takes over when critical, without a jump in acceleration."""

import numpy as np
import pytest

from wholebody import robots
from wholebody.estimation import Balance, BalanceEstimator
from wholebody.locomotion.balance.momentum_sharing import EASY
from wholebody.locomotion.balance.region_stabilizer import Region, RegionStabilizer
from wholebody.locomotion.walking.footsteps import Feet
from wholebody.locomotion.walking.gait import SOLES, gait_of, standing
from wholebody.locomotion.walking.pattern import Pattern
from wholebody.model import Model

DT = 2e-4


class Rig:
    """A stabilizer of a robot that is planned to stand, and a balance that says what one wants."""

    def __init__(self, model, seen):
        feet, _ = standing(model)
        pattern = Pattern(gait_of(model), Feet(*(foot.seen_from(feet.middle) for foot in feet)))
        self.target = pattern.at(0.0)
        self.stabilizer = RegionStabilizer(model, steps=False)
        self.balance = Balance(*(np.array(each) for each in seen))
        self.balance.contact[:] = True

    def told(self, zmp, dcm, cycles):
        """Where the centre of mass is told to be while pressure and divergent component are so far ahead."""
        middle, places = self.target.com, []
        for _ in range(cycles):
            self.balance.cop_in_world[:2] = (middle[0] + zmp, middle[1])
            self.balance.com_in_world[:2] = middle
            self.balance.com_velocity[:2] = (self.target.omega * dcm, 0.0)
            places.append(self.stabilizer.correct(self.target, self.balance, DT).com[0] - middle[0])
        return places


@pytest.fixture(scope="module")
def parts():
    model = Model(robots.load("hubo2plus"), watch=SOLES)
    return model, BalanceEstimator(model, feet=SOLES).balance


@pytest.fixture
def rig(parts):
    return Rig(*parts)


def test_in_the_safe_region_the_main_task_is_done_as_planned(rig):
    assert np.abs(rig.told(0.01, 0.0, 500)).max() < 1e-12
    assert rig.stabilizer.region == Region.SAFE


def test_nearly_critical_it_moves_the_centre_of_mass_back_beside_the_main_task(rig):
    places = rig.told(0.07, 0.0, 3500)
    assert rig.stabilizer.region == Region.NEARLY_CRITICAL
    assert -0.03 < places[-1] < -0.005


def test_critical_it_takes_over(rig):
    rig.told(0.0, 0.0, 10)
    command = rig.stabilizer.correct(rig.target, rig.balance, DT)
    assert np.allclose(command.zmp, rig.target.zmp)
    rig.told(0.105, 0.1, 800)
    assert rig.stabilizer.region >= Region.CRITICAL
    command = rig.stabilizer.correct(rig.target, rig.balance, DT)
    assert command.zmp[0] - rig.target.zmp[0] > 0.1


@pytest.mark.parametrize(
    ("zmp", "cycles"), [(0.07, 4000), (0.105, 1000), (0.105, 150)], ids=["static", "all", "half-way"]
)
def test_taking_over_and_giving_back_makes_no_jump_in_acceleration(rig, zmp, cycles):
    dcm = 0.04  # the same all the time, so that nothing jumps but the region
    places = rig.told(0.0, dcm, 300) + rig.told(zmp, dcm, cycles) + rig.told(0.0, dcm, 1000)
    acceleration = np.diff(places, 2)[290:] / DT**2
    greatest = np.abs(acceleration).max()
    assert greatest > 0.01
    assert np.abs(np.diff(acceleration)).max() < 0.05 * greatest


def test_critical_the_arms_swing_with_what_the_ground_is_to_do_and_without_a_jump(rig):
    """The ground pushes ahead, so the centre of mass is to be accelerated back: arms do their share of that."""
    rig.told(0.0, 0.0, 10)
    assert np.abs(rig.stabilizer.arms.angle).max() < 1e-9
    speeds = []
    for _ in range(1000):
        rig.told(0.105, 0.06, 1)
        speeds.append(rig.stabilizer.arms.speed.copy())
    moved = rig.stabilizer.sharing.linear @ rig.stabilizer.arms.angle
    assert moved[0] < -0.001
    acceleration = np.diff(speeds, axis=0) / DT
    assert np.abs(np.diff(acceleration, axis=0)).max() < 0.05 * np.abs(acceleration).max()


@pytest.mark.slow
def test_leant_against_from_the_front_the_waist_bends_forward_as_far_as_it_can_and_legs_do_the_rest():
    model = Model(robots.load("hoap3"), watch=SOLES)
    rig = Rig(model, BalanceEstimator(model, feet=SOLES).balance)
    chest = model.robot.index["CHEST"]
    rig.told(-0.037, 0.0, 4000)
    assert rig.stabilizer.region == Region.NEARLY_CRITICAL
    command = rig.stabilizer.correct(rig.target, rig.balance, DT)
    shift, moves = command.com[0] - rig.target.com[0], model.at(model.posture("stand")).com_jacobian[0, 6 + chest]
    least = EASY**2 * moves * shift / (1.0 + EASY**2 * moves**2)
    assert least > 0.05
    assert command.others[chest] == pytest.approx(min(least, 0.3), rel=1e-2)
    rig.told(0.037, 0.0, 12000)
    assert rig.stabilizer.correct(rig.target, rig.balance, DT).others[chest] == 0.0, "it does not bend backward"
