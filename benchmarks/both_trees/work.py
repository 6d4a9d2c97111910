"""What is timed in both trees: each makes ready, and gives a batch that says what a call took, in µs of this thread."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import numpy as np
from agreement import CRAWL, PERIOD, WALK, hubo_walking, recorded_walk
from problems import (
    CHAINS,
    LIMBS,
    Swaying,
    dreamer_problem,
    limb_positions,
    model_of,
    near_states,
    random_states,
    valkyrie_problem,
)
from program import limb_solver, plain

from wholebody import robots
from wholebody.behaviors.crawling import Crawling
from wholebody.control import WBOSC, Problem, QuadraticController
from wholebody.estimation import BalanceEstimator
from wholebody.kinematics import ClosedForm
from wholebody.model import Model
from wholebody.robots.robot import Placement
from wholebody.simulation import SensorModel, Simulation

Batch = Callable[[], float]
TIMES = 5


def each(call: Callable[..., object], arguments: Iterable, times: int = TIMES) -> Batch:
    """A batch of calls with each of the arguments, some times over."""
    kept = list(arguments) * times

    def batch() -> float:
        start = time.thread_time_ns()
        for argument in kept:
            call(*argument)
        return (time.thread_time_ns() - start) * 1e-3 / len(kept)

    return batch


def snapshot(name: str) -> Batch:
    """`Model.at`, and M, h, g and the centre of mass read."""
    model = model_of(name)

    def call(q: np.ndarray, v: np.ndarray) -> None:
        now = model.at(q, v)
        now.M, now.h, now.g, now.com_in_world, now.com_jacobian  # noqa: B018

    return each(call, zip(*random_states(model, 20), strict=True), 20)


def wbosc(model: Model, problem: Problem) -> Batch:
    """A cycle: `Model.at` and `WBOSC.solve`."""
    controller = WBOSC(model)
    controller.prepare(problem)
    states = list(zip(*near_states(model, 20), strict=True))
    return each(lambda q, v: controller.solve(model.at(q, v), problem), states, 10)


def qp(name: str) -> Batch:
    """Cycles of a quarter of a sway, from the same state on in every batch."""
    model = model_of(name)
    controller = QuadraticController(model, period=PERIOD, **plain(QuadraticController))
    swaying = Swaying(model)
    controller.prepare(swaying.problem)

    def batch() -> float:
        q, v, took = model.posture("stand"), np.zeros(model.nv), []
        for index in range(250):
            swaying.move(index * PERIOD)
            start = time.thread_time_ns()
            told = controller.solve(model.at(q, v), swaying.problem)
            took.append(time.thread_time_ns() - start)
            v = v + PERIOD * told.acceleration
            q = model.integrate(q, v, PERIOD)
        return float(np.median(took)) * 1e-3

    return batch


def closed_form(name: str) -> Batch:
    """All branches of a chain, pose by pose."""
    robot, base, tip = CHAINS[name]
    solver = ClosedForm.of(robots.load(robot), base, tip)
    joints = np.random.default_rng(0).uniform(solver.chain.lower, solver.chain.upper, (100, solver.size))
    return each(lambda pose: solver.solve(pose).joints, ((pose,) for pose in solver.forward(joints)), 10)


def iterative() -> Batch:
    """Four limbs of Atlas to goals near the start."""
    model = model_of("atlas_bolted")
    solve = limb_solver(model, [("point", name) for name in LIMBS], position_tolerance=1e-3)
    rng = np.random.default_rng(0)
    lower, upper = np.array([(joint.lower, joint.upper) for joint in model.robot.moving]).T
    cases = []
    for _ in range(40):
        start = rng.uniform(lower, upper)
        goal = np.clip(start + rng.uniform(-0.5, 0.5, model.nq), lower, upper)
        cases.append((start, list(limb_positions(model.at(goal)))))
    return each(solve, cases, 2)


def estimator() -> Batch:
    """Balance of Hubo2+ from recorded states of a walk."""
    states, _ = recorded_walk(2.5)
    estimator = BalanceEstimator(Model(robots.load("hubo2plus")))
    records = np.zeros(len(states), robots.load("hubo2plus").state_dtype())
    for field in states.dtype.names:
        records[field] = states[field]

    def batch() -> float:
        estimator.start()
        start = time.thread_time_ns()
        for state in records:
            estimator.update(state)
        return (time.thread_time_ns() - start) * 1e-3 / len(records)

    return batch


def walking() -> Batch:
    """Cycles of Hubo2+'s walk; the simulation between them is not counted."""
    walking, simulation = (
        hubo_walking(),
        Simulation(robots.load("hubo2plus"), sensors=SensorModel.realistic(), control_period=0.005),
    )
    state, reference = simulation.new_state(), simulation.new_reference()
    walking.stand(1.0)
    told = False

    def batch(count: int = 100) -> float:
        nonlocal told
        took = []
        for _ in range(count):
            simulation.read(state)
            start = time.thread_time_ns()
            walking.cycle(state, reference)
            took.append(time.thread_time_ns() - start)
            simulation.write(reference)
            simulation.advance()
            if not told and walking.standing and simulation.time > 1.5:
                walking.walk(velocity=WALK)
                told = True
        return float(np.median(took)) * 1e-3

    batch(400)
    return batch


def crawling() -> Batch:
    """Cycles of Atlas that crawls; the simulation between them is not counted."""
    robot = robots.load("atlas")
    crawling = Crawling(robot)
    model, q = crawling.crawler.model, crawling.crawler.q
    simulation = Simulation(robot, sensors=SensorModel.realistic())
    simulation.reset(q[7:], base=Placement.of(model.at(q).placement(model.frame(robot.root))))
    state, reference = simulation.new_state(), simulation.new_reference()
    crawling.crawl(velocity=CRAWL)

    def batch() -> float:
        took = []
        for _ in range(100):
            simulation.read(state)
            start = time.thread_time_ns()
            crawling.cycle(state, reference)
            took.append(time.thread_time_ns() - start)
            simulation.write(reference)
            simulation.advance()
        return float(np.median(took)) * 1e-3

    return batch


WORK: dict[str, Callable[[], Batch]] = {
    "snapshot_hubo2plus": lambda: snapshot("hubo2plus"),
    "snapshot_valkyrie": lambda: snapshot("valkyrie"),
    "wbosc_dreamer": lambda: wbosc(model_of("dreamer"), dreamer_problem(model_of("dreamer"), 2, "3d")),
    "wbosc_valkyrie_15_tasks": lambda: wbosc(model_of("valkyrie"), valkyrie_problem(model_of("valkyrie"))),
    "qp_hubo2plus": lambda: qp("hubo2plus"),
    "qp_valkyrie": lambda: qp("valkyrie"),
    "ik_closed_form_leg": lambda: closed_form("hubo2plus_leg"),
    "ik_closed_form_arm": lambda: closed_form("hubo2plus_arm"),
    "ik_iterative": iterative,
    "estimator": estimator,
    "walking": walking,
    "crawling": crawling,
}
