"""How fast inverse kinematics and self-collision are.

`closed_form_NAME` is `solve(pose)` and reading the joints of all branches, one pose at a time from Python, timed in
batches of 200 calls over as many poses; `closed_form_NAME_nearest` is the branch nearest to a posture;
`closed_form_NAME_many` is the time of a pose in `solve_many` of 10,000 poses. Poses are those of random joint vectors
within limits. `closed_form_NAME_beyond` is `nearest(pose)` where reach or limits deny the pose, and it iterates.

The iterative part is that of `wholebody bench iterative_ik`, and told there.

`collision_NAME` is `collides(snapshot)` of random postures, most of which collide, `collision_NAME_free` of the robot
standing, where every pair has to be looked at; `collision_NAME_check` names all pairs with their depths.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from benchmarks.iterative_ik import iterative
from benchmarks.report import Progress, Report, Section, Timing, no_garbage_collection, part
from benchmarks.yardsticks import Beside, matrix_product
from wholebody import robots
from wholebody.kinematics.closed_form import ClosedForm
from wholebody.kinematics.collision import Collisions

CHAINS = {
    "hubo2plus_leg": ("hubo2plus", "Body_Hip", "left_sole"),
    "minihubo_leg": ("minihubo", "Hip", "left_sole"),
    "hoap3_leg": ("hoap3", "WAIST", "left_sole"),
    "hrp2_leg": ("hrp2", "waist", "left_sole"),
    "teo_leg": ("teo", "waist", "left_sole"),
    "hubo2plus_arm": ("hubo2plus", "Body_Torso", "left_palm"),
    "hrp2_arm": ("hrp2", "chest", "left_palm"),
    "teo_arm": ("teo", "waist_pitch_link", "left_palm"),
    "minihubo_arm": ("minihubo", "Torso", "left_palm"),
    "hoap3_arm": ("hoap3", "CHEST", "L_WR"),
}
Array = np.ndarray
BATCH = 10_000
CALLS = 200


def run(quick: bool, progress: Progress) -> Report:
    """Measure section by section."""
    report = Report()
    with no_garbage_collection():
        closed_form(report, quick, part(progress, 0.0, 0.4))
        iterative(report, quick, part(progress, 0.4, 0.8))
        collision(report, quick, part(progress, 0.8, 1.0))
    return report


def closed_form(report: Report, quick: bool, progress: Progress) -> None:
    """All branches of every chain, in turns, so that what disturbs the machine for a while disturbs all alike."""
    rounds = 10 if quick else 60
    batches: dict[str, Callable[[], float]] = {}
    for index, (name, chain) in enumerate(CHAINS.items()):
        progress("closed form, compiling", 0.2 * index / len(CHAINS))
        batches |= closed_form_batches(f"closed_form_{name}", chain)
    batches["matrix_product"] = matrix_product
    samples: dict[str, list[float]] = {name: [] for name in batches}
    for turn in range(rounds):
        progress("closed form", 0.2 + 0.8 * turn / rounds)
        for name, batch in batches.items():
            samples[name].append(batch())
    results: dict[str, Timing | float] = {name: Timing.of(values) for name, values in samples.items()}
    report.sections.append(Section("closed form, all branches", results))
    for name in CHAINS:
        report.limit_ratio(f"closed_form_{name}", "matrix_product", 1.0)
        report.limit_ratio(f"closed_form_{name}_many", "matrix_product", 0.55)


def closed_form_batches(name: str, chain: tuple[str, str, str]) -> dict[str, Callable[[], float]]:
    """One pose, the nearest branch, one beyond limits and reach, and many: a batch of each, in µs per pose."""
    solver = ClosedForm.of(robots.load(chain[0]), *chain[1:])
    joints = np.random.default_rng(0).uniform(solver.chain.lower, solver.chain.upper, (BATCH, solver.size))
    poses = solver.forward(joints)
    pairs = list(zip(poses[:CALLS].copy(), joints[:CALLS].copy(), strict=True))
    beyond = far_poses(solver, poses)
    return {
        name: lambda: per_call(lambda pair: solver.solve(pair[0]).joints, pairs),
        f"{name}_nearest": lambda: per_call(lambda pair: solver.nearest(pair[0], pair[1]), pairs),
        f"{name}_beyond": lambda: per_call(solver.nearest, beyond),
        f"{name}_many": lambda: per_call(solver.solve_many, [poses]) / BATCH,
    }


def far_poses(solver: ClosedForm, poses: Array) -> list[Array]:
    """Poses as far again from the base: most are out of reach, and none is within limits as it is."""
    poses = poses[:CALLS].copy()
    poses[:, :3, 3] *= 1.5
    return [pose for pose in poses if not solver.nearest(pose).reachable][: CALLS // 4]


def collision(report: Report, quick: bool, progress: Progress) -> None:
    """Every robot of ours, about a second each."""
    rounds = 3 if quick else 30
    results: dict[str, Timing | float] = {}
    names, beside = robots.names(), Beside(every=1)
    for index, name in enumerate(names):
        progress(f"collision, {name}", index / len(names))
        collisions = Collisions(robots.load(name))
        model = collisions.model
        states = [model.at(model.random(seed)) for seed in range(30)]
        standing = [model.at(model.posture("stand") if "stand" in collisions.robot.postures else model.neutral())]
        calls = {"": (collisions.collides, states), "_free": (collisions.collides, standing * 30)}
        calls |= {"_check": (collisions.check, states)}
        samples: dict[str, list[float]] = {each: [] for each in calls}
        for _ in range(rounds):
            for each, (call, arguments) in calls.items():
                samples[each].append(per_call(call, arguments))
                beside.take()
        results |= {f"collision_{name}{each}": Timing.of(values) for each, values in samples.items()}
    results["matrix_product_beside"] = beside.timing
    report.sections.append(Section("self-collision of a posture", results))
    for name in names:
        report.limit_ratio(f"collision_{name}_check", "matrix_product_beside", 150.0)


def per_call(call: Callable[[Any], object], arguments: Iterable[Any]) -> float:
    """The mean of a call in microseconds."""
    count = 0
    start = time.perf_counter_ns()
    for argument in arguments:
        call(argument)
        count += 1
    return (time.perf_counter_ns() - start) * 1e-3 / count
