"""Valkyrie and Hubo2+ stand, sway, squat and stand on one foot in MuJoCo, by efforts or by positions."""

from dataclasses import replace

import numpy as np
import pytest

from examples.balance import PLANS, Balance, Plan, moved, without_hands
from wholebody import robots
from wholebody.control import WBOSC, Transitions
from wholebody.control.estimate import BaseOnFoot
from wholebody.control.impedance import Impedance
from wholebody.control.servo import Servo
from wholebody.drivers import RobotInterface
from wholebody.messages import Mode
from wholebody.model import Model
from wholebody.simulation import SensorModel, Simulation

ROBOTS = ["hubo2plus", "valkyrie"]
STEP = 0.001
_models = {}


def model_of(name):
    if name not in _models:
        _models[name] = Model(without_hands(robots.load(name)))
    return _models[name]


class Watch:
    """What is published to: how far the centre of mass and the foot are off, and where the robot truly is."""

    def __init__(self, simulation):
        self.simulation = simulation
        self.com, self.foot, self.efforts, self.heights, self.tilts, self.feet = [], [], [], [], [], []

    def __call__(self, servo):
        result = getattr(servo.command, "solution", servo.command)
        self.com.append(np.abs(result.error("com")).max())
        self.foot.append(np.abs(result.error("foot")).max())
        self.efforts.append(np.array(servo.command.effort))
        self.tilts.append(tilt(self.simulation))
        self.heights.append(self.simulation.com_in_world[2])
        robot = self.simulation.robot
        self.feet.append(self.simulation.link_to_world(robot.surface("right_sole").link)[2, 3])

    @property
    def largest_step(self):
        return np.abs(np.diff(self.efforts, axis=0)).max()


def tilt(simulation):
    return float(np.degrees(np.arccos(min(1.0, simulation.base_to_world[2, 2]))))


def fallen(simulation, height):
    return simulation.com_in_world[2] < 0.85 * height


def whole_body(model, period):
    return WBOSC(model, period=period)


def play(name, plan, seconds=None, *, made=whole_body, mode=Mode.EFFORT, period=STEP, push=None, world=None, **balance):
    """Simulate; what was watched, and the simulation as it is at the end."""
    robot, model = robots.load(name), model_of(name)
    simulation = Simulation(robot, control_period=period, **(world or {}))
    if push is not None:
        shove(simulation, push)
    watch = Watch(simulation)
    behavior = Balance(model, plan, **balance)
    servo = Servo(simulation, simulation, made(model, period), behavior, description=robot, mode=mode, publish=[watch])
    servo.run(plan.com.duration + 0.3 if seconds is None else seconds)
    assert servo.counters.faults == 0
    return watch, simulation


def shove(simulation, velocity):
    """Push the pelvis so that the robot gets a velocity (m/s), within 0.1 s."""
    robot = simulation.robot
    force = tuple(10 * robot.mass * each for each in (*velocity, 0.0))
    simulation.push(robot.root, force, 0.1, start=0.3)


@pytest.mark.slow(but="valkyrie")
@pytest.mark.parametrize("name", ROBOTS)
def test_the_centre_of_mass_sways_three_centimetres_each_way(name):
    watch, simulation = play(name, PLANS["sway"](model_of(name)))
    assert max(watch.com) < 0.002
    assert max(watch.tilts) < 0.5
    assert len(simulation.touches) == 8, "both soles lie flat"


@pytest.mark.slow(but="valkyrie")
@pytest.mark.parametrize("name", ROBOTS)
def test_it_squats_eight_centimetres_and_stands_up_again(name):
    watch, simulation = play(name, PLANS["squat"](model_of(name)))
    assert max(watch.com) < 0.01
    assert watch.heights[0] - min(watch.heights) == pytest.approx(0.08, abs=0.002)
    assert simulation.com_in_world[2] == pytest.approx(watch.heights[0], abs=0.001)
    assert len(simulation.touches) == 8


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
def test_it_stands_on_one_foot_and_comes_back(name):
    watch, simulation = play(name, PLANS["one foot"](model_of(name)))
    assert max(watch.com) < 0.005
    assert max(watch.foot) < 0.005
    assert max(watch.feet) - watch.feet[0] == pytest.approx(0.05, abs=0.005)
    assert max(watch.tilts) < 1.0
    assert len(simulation.touches) == 8


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_it_squats_with_the_noise_delay_and_resolution_of_real_encoders(seed):
    sensors = replace(SensorModel.realistic(), base_known=True)
    world = {"sensors": sensors, "seed": seed}
    watch, simulation = play("hubo2plus", PLANS["squat"](model_of("hubo2plus")), world=world)
    assert max(watch.com) < 0.003
    assert len(simulation.touches) == 8


@pytest.mark.slow
def test_a_foot_lifted_before_the_weight_is_off_it_makes_the_robot_fall():
    plan = PLANS["one foot"](model_of("hubo2plus"))
    hasty = Plan(com=moved((5.0, 0, 0, 0)), lifted=(0.3, 5.0), height=plan.height)
    watch, simulation = play("hubo2plus", hasty, 3.0)
    assert fallen(simulation, watch.heights[0])


@pytest.mark.slow(but="forward-valkyrie")
@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("direction", [(1, 0), (-1, 0), (0, 1)], ids=["forward", "back", "left"])
def test_a_push_of_a_fifth_of_a_metre_a_second_is_borne(name, direction):
    push = 0.2 * np.array(direction)
    watch, simulation = play(name, Plan(), 3.0, push=push)
    assert not fallen(simulation, watch.heights[0])
    assert max(watch.com) < 0.045, "it gives way, and no more than it must"
    assert watch.com[-1] < 0.01, "and comes back"


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
def test_a_centre_of_mass_so_stiff_that_it_asks_for_pressure_beyond_the_toes_falls(name):
    model = model_of(name)
    height = model.at(model.posture("stand"))
    reach = 0.2 * 2 * np.sqrt(100.0) * (height.com_in_world - height.position(model.frame("left_sole")))[2] / 9.81
    assert reach > 0.2, "m: where it asks for the centre of pressure at that speed; the toes are 0.13 m away"
    watch, simulation = play(name, Plan(), 2.5, push=(0.2, 0.0), softness=100.0)
    assert fallen(simulation, watch.heights[0])


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
def test_contacts_switched_with_a_transition_make_no_step_in_effort(name):
    plan = PLANS["one foot"](model_of(name))
    at_once, _ = play(name, plan, 3.2)
    smoothly, simulation = play(name, plan, made=lambda *given: Transitions(whole_body(*given)))
    assert at_once.largest_step > 10.0, "N·m"
    assert smoothly.largest_step < 0.2 * at_once.largest_step
    assert not fallen(simulation, smoothly.heights[0])
    assert len(simulation.touches) == 8


# By positions.


def impedance(model, period):
    return Impedance(whole_body(model, period))


@pytest.mark.slow(but="sway")
@pytest.mark.parametrize("what", ["sway", "one foot"])
def test_hubo_is_moved_by_positions_alone_at_its_own_rate(what):
    plan = PLANS[what](model_of("hubo2plus"))
    watch, simulation = play("hubo2plus", plan, made=impedance, mode=Mode.POSITION, period=0.005)
    assert max(watch.com) < 0.008
    assert max(watch.tilts) < 0.5
    assert len(simulation.touches) == 8


@pytest.mark.slow
def test_without_what_the_servo_lacks_positions_are_followed_far_worse():
    plan = PLANS["sway"](model_of("hubo2plus"))

    def bare(model, period):
        return Impedance(whole_body(model, period), offset=False)

    with_offset, _ = play("hubo2plus", plan, made=impedance, mode=Mode.POSITION, period=0.005)
    without, _ = play("hubo2plus", plan, made=bare, mode=Mode.POSITION, period=0.005)
    assert max(without.com) > 5 * max(with_offset.com)


def test_hubo_by_positions_bears_a_push():
    watch, simulation = play(
        "hubo2plus", Plan(), 3.0, made=impedance, mode=Mode.POSITION, period=0.005, push=(0.2, 0.0)
    )
    assert not fallen(simulation, watch.heights[0])
    assert watch.com[-1] < 0.005


# Without knowing where the base is.


def test_joints_and_a_flat_foot_tell_where_the_base_is_and_how_it_moves():
    robot = robots.load("hubo2plus")
    simulation = Simulation(robot, sensors=SensorModel(base_known=False))
    known = BaseOnFoot(simulation, model_of("hubo2plus"), "left_sole", description=robot)
    sole = robot.surface("left_sole")
    sole_to_world = simulation.link_to_world(sole.link) @ sole.at.matrix
    state, reference = simulation.new_state(), simulation.new_reference()
    start = reference.position.copy()
    for cycle in range(400):
        bent = 0.05 * (1 - np.cos(2 * np.pi * cycle / 400))  # so slowly that the feet do not rock
        for joint, share in (("HP", -1), ("KN", 2), ("AP", -1)):
            for side in "LR":
                column = robot.index[side + joint]
                reference.position[column] = start[column] + share * bent
        simulation.write(reference)
        simulation.tick()
        if cycle == 150:
            known.foot = "right_sole"
        known.read(state)
        truth = simulation.truth.base
        expected = np.linalg.inv(sole_to_world) @ np.append(truth.position, 1.0)
        assert state.base.position == pytest.approx(expected[:3], abs=1e-3)
        assert state.base.linear_velocity == pytest.approx(truth.linear_velocity, abs=5e-3)
    assert np.abs(state.base.orientation) == pytest.approx([0, 0, 0, 1], abs=2e-3)
    assert isinstance(known, RobotInterface)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_hubo_sways_by_positions_with_the_sensors_it_has(seed):
    robot, model = robots.load("hubo2plus"), model_of("hubo2plus")
    plan = PLANS["sway"](model)
    with Simulation(robot, control_period=0.005, sensors=SensorModel.realistic(), seed=seed) as simulation:
        watch, com = Watch(simulation), simulation.com_in_world
        known = BaseOnFoot(simulation, model, "left_sole", description=robot)
        solver = impedance(model, 0.005)
        Servo(
            known,
            simulation,
            solver,
            Balance(model, plan),
            description=robot,
            mode=Mode.POSITION,
            publish=[watch],
        ).run(plan.com.duration + 0.3)
        assert max(watch.com) < 0.01
        assert max(watch.tilts) < 1.0
        assert np.linalg.norm(simulation.com_in_world - com) < 0.01
        assert len(simulation.touches) == 8
