"""A robot on flexible ankles walks without chatter, if what it takes for fixed is the ankle and not the sole."""

import numpy as np
import pytest

from wholebody import robots
from wholebody.locomotion.dcm_stabilizer import DcmGains, DcmStabilizer
from wholebody.locomotion.estimates import FootAnchored
from wholebody.locomotion.flexible_ankles import AnkleAnchored
from wholebody.locomotion.footsteps import Footstep
from wholebody.locomotion.servo_lead import ServoLead
from wholebody.locomotion.walker import Walker
from wholebody.simulation import AnkleFlexibility, SensorModel, Simulation

pytestmark = pytest.mark.timeout(600)
ANKLES = AnkleFlexibility()
LENGTH = 0.15


def walk(estimator):
    """Three steps; how the lateral torque of the left ankle changes from cycle to cycle in single support, N·m."""
    robot = robots.load("hubo2plus")
    walker = Walker(robot, stabilizer="none")
    walker.stabilizer = DcmStabilizer(walker.model, DcmGains(give=0.0, lean=0.0), steps=False)
    walker.estimator = estimator(walker.model)
    walker.servo = ServoLead(walker.model, dict.fromkeys(("LAP", "LAR", "RAP", "RAR"), ANKLES.stiffness))
    torques, upright = [], 1.0
    with Simulation(robot, seed=1, sensors=SensorModel.realistic(), ankles=ANKLES, posture=walker.stance()) as world:
        state, reference = world.new_state(), world.new_reference()
        left = [each.name for each in robot.sensors_of("force_torque")].index("left_foot")
        feet = walker.pattern.feet
        first, second = feet.left.beside(LENGTH, 0.0), feet.right.beside(2 * LENGTH, 0.0)
        steps = [Footstep("left", first), Footstep("right", second), Footstep("left", first.beside(LENGTH, 0.0))]
        while world.time <= 1.0 or not walker.pattern.standing:
            world.read(state)
            if world.time >= 1.0 and steps:
                walker.pattern.follow(steps, world.time)
                steps = []
            walker.cycle(state, reference)
            world.write(reference)
            world.advance()
            upright = min(upright, world.base_to_world[2, 2])
            if upright < 0.8:
                break
            if walker.target.support == "left":
                torques.append(float(world.truth["force_torque"]["torque"][left, 0]))
        return np.std(np.diff(torques)), upright, world.com_in_world[0]


def test_feedback_through_soft_ankles_chatters_only_if_soles_are_taken_for_fixed():
    chatter, _, _ = walk(FootAnchored)
    calm, upright, ahead = walk(AnkleAnchored)
    assert upright > np.cos(np.radians(5))
    assert ahead > 1.5 * LENGTH
    assert calm < 0.5 * chatter
