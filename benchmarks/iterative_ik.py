"""How fast iterative inverse kinematics is, beside pink and mink on the same goals.

Atlas with its pelvis fixed; the positions of both soles and both palms are the goal, 12 coordinates, reached when each
is within 1 mm. Starts are random postures within the limits. `near`: the goals are those of a posture within ±0.5 rad
of the start. `far`: of any other posture. Times are of `solve`, targets and all, whether it converges or not, of the
best of three calls with the same outcome: what the machine does in between is not theirs. `missed` is the share, in
percent, of cases that did not converge within the time of 460 matrix products (near) or 1150 (far). `single` is without
restarts, as pink and mink are: they take full steps of their QP within the joint limits (proxqp, daqp), at most 100,
and their figures are of fewer cases. Those that are not installed are left out.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec

import numpy as np

from benchmarks.report import SHARE, Budget, Progress, Report, Section, Timing, no_garbage_collection
from benchmarks.yardsticks import Beside
from wholebody import robots
from wholebody.kinematics.inverse import InverseKinematics
from wholebody.model import Model
from wholebody.tasks import CartesianPositionTask

FRAMES = ("left_sole", "right_sole", "left_palm", "right_palm")
TOLERANCE = 1e-3
STEPS = 100
RESTARTS = 20
CALLS = 3
ALLOWED = {"near": 460.0, "far": 1150.0}
"""Matrix products (`yardsticks`) in whose time a case is to converge."""
ALLOWED_MISSES = {"near": 1.0, "far": 5.0}

Array = np.ndarray
Case = tuple[Array, Array]  # joints to start from, and the four positions
Solver = Callable[[Array, Array], bool]


def run(quick: bool, progress: Progress) -> Report:
    """Iterative inverse kinematics alone; `ik` measures all kinds."""
    report = Report()
    with no_garbage_collection():
        iterative(report, quick, progress)
    return report


def iterative(report: Report, quick: bool, progress: Progress) -> None:
    """Both sets of goals, ours and others', about half a minute."""
    model = bolted_atlas()
    results: dict[str, Timing | float] = {}
    beside = Beside()
    for index, kind in enumerate(ALLOWED):
        many, few = cases(model, kind, 200 if quick else 1000), cases(model, kind, 10 if quick else 100)
        solvers = {"": ours(model, RESTARTS), "_single": ours(model, 0)} | others(model)
        for number, (name, solver) in enumerate(solvers.items()):
            progress(f"iterative, {kind}{name}", (index + number / len(solvers)) / len(ALLOWED))
            results |= measured(
                f"iterative_{kind}{name}", solver, few if name in OTHERS else many, ALLOWED[kind], beside
            )
        missed = results[f"iterative_{kind}_missed"]
        assert isinstance(missed, float)
        report.budgets.append(Budget(f"iterative_{kind}_missed", missed, ALLOWED_MISSES[kind], SHARE))
    results["matrix_product_beside_iterative"] = beside.timing
    report.sections.append(Section("iterative, four limbs of Atlas", results))


def measured(name: str, solver: Solver, these: list[Case], allowed: float, beside: Beside) -> dict[str, Timing | float]:
    """Time one solver on all cases, and count what it missed."""
    solver(*these[0])
    micros, reached = [], []
    for start, targets in these:
        times = []
        for _ in range(CALLS):
            begin = time.perf_counter_ns()
            outcome = solver(start, targets)
            times.append((time.perf_counter_ns() - begin) * 1e-3)
        micros.append(min(times))
        beside.take()
        reached.append(outcome)
    late = ~np.array(reached) | (np.array(micros) > allowed * beside.timing.median)
    share = round(100 * float(np.mean(reached)), 2)
    return {name: Timing.of(micros), f"{name}_converged": share, f"{name}_missed": round(100 * float(late.mean()), 2)}


def bolted_atlas() -> Model:
    """Atlas with its pelvis fixed to the world: pink and mink need not be told to leave it alone."""
    return Model(replace(robots.load("atlas"), floating=False))


def cases(model: Model, kind: str, count: int) -> list[Case]:
    """Starts and goals; fewer are the first of many."""
    rng = np.random.default_rng(0)
    lower, upper = np.array([(joint.lower, joint.upper) for joint in model.robot.moving]).T
    made = []
    for _ in range(count):
        start = rng.uniform(lower, upper)
        near = np.clip(start + rng.uniform(-0.5, 0.5, model.nq), lower, upper)
        there = model.at(near if kind == "near" else rng.uniform(lower, upper))
        made.append((start, np.array([there.position(model.frame(name)) for name in FRAMES])))
    return made


def ours(model: Model, restarts: int) -> Solver:
    """`InverseKinematics`."""
    tasks = [CartesianPositionTask(name, name, (0.0, 0.0, 0.0)) for name in FRAMES]
    ik = InverseKinematics(model, tasks, position_tolerance=TOLERANCE, restarts=restarts)

    def solve(start: Array, targets: Array) -> bool:
        for task, target in zip(tasks, targets, strict=True):
            task.goal = target
        return ik.solve(start).converged

    return solve


def others(model: Model) -> dict[str, Solver]:
    """Those that are installed."""
    return {name: make(model) for name, make in OTHERS.items() if find_spec(name[1:])}


def pink(model: Model) -> Solver:
    """Pink: a QP of frame tasks with the limits of the configuration, by proxqp."""
    import pinocchio as pin
    from pink import Configuration, solve_ik
    from pink.limits import ConfigurationLimit
    from pink.tasks import FrameTask

    tasks = [FrameTask(name, position_cost=1.0, orientation_cost=0.0, lm_damping=1e-3) for name in FRAMES]
    limits = [ConfigurationLimit(model.pinocchio, config_limit_gain=1.0)]
    data = model.pinocchio.createData()

    def solve(start: Array, targets: Array) -> bool:
        configuration = Configuration(model.pinocchio, data, start)
        for task, target in zip(tasks, targets, strict=True):
            task.set_target(pin.SE3(np.eye(3), target))
        for _ in range(STEPS):
            places = [configuration.get_transform_frame_to_world(name).translation for name in FRAMES]
            if np.linalg.norm(places - targets, axis=1).max() < TOLERANCE:
                return True
            v = solve_ik(configuration, tasks, 1.0, solver="proxqp", limits=limits, safety_break=False)
            configuration.integrate_inplace(v, 1.0)
        return False

    return solve


def mink(model: Model) -> Solver:
    """Mink: the same on MuJoCo, by daqp; the surfaces are sites of its bodies."""
    import mink
    import mujoco

    from wholebody.robots.formats.mjcf_writer import write_mjcf

    spec = mujoco.MjSpec.from_string(write_mjcf(model.robot))
    for name in FRAMES:
        surface = model.robot.surface(name)
        spec.body(surface.link).add_site(name=f"goal_{name}", pos=surface.at.xyz)
    physics = spec.compile()
    tasks = [
        mink.FrameTask(f"goal_{name}", "site", position_cost=1.0, orientation_cost=0.0, lm_damping=1e-3)
        for name in FRAMES
    ]
    limits = [mink.ConfigurationLimit(physics, gain=1.0)]
    configuration = mink.Configuration(physics)
    order = [physics.joint(name).qposadr[0] for name in model.joint_names]

    def solve(start: Array, targets: Array) -> bool:
        q = np.zeros(physics.nq)
        q[order] = start
        configuration.update(q)
        for task, target in zip(tasks, targets, strict=True):
            task.set_target(mink.SE3.from_translation(target))
        for _ in range(STEPS):
            places = [configuration.data.site(f"goal_{name}").xpos for name in FRAMES]
            if np.linalg.norm(places - targets, axis=1).max() < TOLERANCE:
                return True
            v = mink.solve_ik(configuration, tasks, 1.0, solver="daqp", limits=limits)
            configuration.integrate_inplace(v, 1.0)
        return False

    return solve


OTHERS: dict[str, Callable[[Model], Solver]] = {"_pink": pink, "_mink": mink}
