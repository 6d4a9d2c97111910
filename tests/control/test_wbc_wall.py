"""Valkyrie with fifteen tasks leans its hands on a wall in MuJoCo and pushes with the force that is told."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from examples.valkyrie_wall import BRACED, END, PUSHING, SIDES, WALL, Push, pressed, smooth
from wholebody import robots
from wholebody.control import WBOSC
from wholebody.control.servo import Servo
from wholebody.model import Model
from wholebody.simulation import SensorModel, Simulation

MEASURED = replace(SensorModel.realistic(), base_known=True)


@cache
def model():
    return Model(robots.load("valkyrie"))


class Watch:
    """Forces on the hands, where the centre of mass and the feet are, every 10 ms; and efforts, always."""

    def __init__(self, simulation):
        self.simulation = simulation
        self.times, self.pushed, self.rubbed, self.efforts, self.com, self.slipped = [], [], [], [], [], []

    def __call__(self, servo):
        self.efforts.append(np.array(servo.command.effort))
        if servo.counters.cycles % 10:
            return
        forces = np.array(list(pressed(self.simulation).values()))
        self.times.append(servo.time)
        self.pushed.append(-forces[:, 0])
        self.rubbed.append(np.linalg.norm(forces[:, 1:], axis=1))
        self.com.append(self.simulation.com_in_world)
        self.slipped.append([np.abs(servo.command.error(f"{side}_stance")).max() for side in SIDES])

    def after(self, what, start):
        return np.array(getattr(self, what))[np.array(self.times) > start]


def push(force, *, lean=True, mass=1.0, seconds=END, made=smooth, without=(), **world):
    robot = robots.load("valkyrie")
    links = tuple(replace(a, mass=mass * a.mass, inertia=tuple(mass * b for b in a.inertia)) for a in robot.links)
    with Simulation(replace(robot, links=links), f"wall:ahead={WALL}", control_period=0.001, **world) as simulation:
        watch, behavior = Watch(simulation), Push(model(), force, lean)

        def told(time, snapshot):
            problem = behavior(time, snapshot)
            for name in without:
                problem.task(name).state = "disabled"
            return problem

        servo = Servo(simulation, simulation, made(model()), told, publish=[watch])
        servo.run(seconds)
        assert servo.counters.faults == 0
        return watch, servo


def test_fifteen_tasks_push_the_wall_with_the_force_that_is_told():
    force = 40.0
    watch, servo = push(force)
    assert len(list(servo.problem.tasks)) == 15
    settled = PUSHING + 0.5
    assert watch.after("pushed", settled) == pytest.approx(force, rel=0.02)
    assert watch.after("rubbed", settled).max() < 2.0, "N along the wall"
    assert np.array(watch.slipped).max() < 1e-3
    assert np.ptp(watch.after("com", settled + 0.5), axis=0).max() < 0.003, "it stands"


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_so_it_does_with_real_encoders_and_masses_that_are_a_little_off(seed):
    watch, _ = push(60.0, mass=(0.97, 1.0, 1.03)[seed], sensors=MEASURED, seed=seed)
    mean = watch.after("pushed", PUSHING + 0.5).mean(axis=0)
    assert mean == pytest.approx(60.0, rel=0.1)
    assert np.array(watch.slipped).max() < 2e-3


@pytest.mark.slow
def test_whoever_pushes_and_does_not_lean_is_pushed_over():
    leaning, _ = push(110.0)
    upright, _ = push(110.0, lean=False)
    assert leaning.com[-1][2] > 0.95 * leaning.com[0][2]
    assert leaning.pushed[-1] == pytest.approx(110.0, rel=0.03)
    assert upright.com[-1][2] < 0.85 * upright.com[0][2]


@pytest.mark.slow
def test_without_its_task_the_force_is_whatever_costs_the_motors_least():
    untold, _ = push(60.0, without=[f"{side}_push" for side in SIDES])
    assert abs(untold.pushed[-1] - 60.0).min() > 20.0


@pytest.mark.slow
def test_a_transition_takes_the_jerk_out_of_the_moment_the_hands_become_contacts():
    smoothly, _ = push(60.0, seconds=BRACED + 0.1)
    at_once, _ = push(60.0, seconds=BRACED + 0.1, made=WBOSC)
    switch = round(BRACED / 0.001) - 1
    step = [np.abs(np.diff(each.efforts[switch - 2 : switch + 20], axis=0)).max() for each in (smoothly, at_once)]
    assert step[0] < 0.2 * step[1]
