"""How fast a snapshot of a robot is, beside Pinocchio called from Python, for every robot of ours.

`NAME_snapshot` is `model.at(q, v)` and reading M, h, g, the centre of mass and its Jacobian, and placement, Jacobian
and J̇ v of five frames: feet, hands and head, or ends of limbs. `NAME_pinocchio` is `computeAllTerms`,
`updateFramePlacements` and, of the same frames, placement and `getFrameJacobian`; J̇ v, which costs it another pass
over the robot, is left out. `NAME_kernel` is the kernel of `model.at(q, v)` alone, `NAME_terms` Pinocchio's
`computeAllTerms`, `NAME_margin` the static margin on all surfaces, of a snapshot that is there already. All are timed
call by call, in turns, over the same states. Joints that mimic others have their own velocity in Pinocchio's model.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
import pinocchio as pin

from benchmarks.report import Progress, Report, Section, Timing, no_garbage_collection
from wholebody import _kernels, robots
from wholebody.model import Contacts, Model
from wholebody.robots import Robot

FRAMES = 5
STATES = 20
KERNELS = ("hubo2plus", "valkyrie")
"""Of which the kernel alone is judged, too."""
WORLD = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED

State = tuple[np.ndarray, np.ndarray]


def run(quick: bool, progress: Progress) -> Report:
    """Measure every robot, about a second each."""
    report = Report()
    names = robots.names()
    rounds = 50 if quick else 1000
    with no_garbage_collection():
        for index, name in enumerate(names):
            progress(name, index / len(names))
            report.sections.append(Section(name, measure(name, rounds)))
            report.limit_ratio(f"{name}_snapshot", f"{name}_pinocchio", 0.45)
            if name in KERNELS:
                report.limit_ratio(f"{name}_kernel", f"{name}_terms", 0.35)
    return report


def measure(name: str, rounds: int) -> dict[str, Timing | float]:
    """Time one robot's snapshot, Pinocchio's, and what else a snapshot can tell."""
    robot = robots.load(name)
    model = Model(robot, watch=five_frames(robot))
    ours, theirs = our_snapshot(model), their_snapshot(model)
    rng = np.random.default_rng(0)
    states = [(model.random(rng), rng.normal(size=model.nv)) for _ in range(STATES)]
    full = [(model.to_pinocchio(q), model.mimic_matrix @ v) for q, v in states]
    still = model.at(*states[0])
    contacts = Contacts(model, [surface.name for surface in robot.surfaces])
    calls: dict[str, tuple[Callable[..., object], list[State]]] = {
        f"{name}_snapshot": (ours, states),
        f"{name}_pinocchio": (theirs, full),
        f"{name}_kernel": (kernel(model), states),
        f"{name}_terms": (terms(model), full),
        f"{name}_margin": (lambda _q, _v: contacts.margin(still), states),
    }
    samples: dict[str, list[float]] = {each: [] for each in calls}
    for turn in range(rounds):
        for each, (call, arguments) in calls.items():
            if each.endswith("_margin") and turn % 10:
                continue
            samples[each] += timed_one_by_one(call, arguments)
    sizes = {f"{name}_dof": model.nv, f"{name}_bodies": int(model.integers[0])}
    return {each: Timing.of(values) for each, values in samples.items()} | sizes


def timed_one_by_one(call: Callable[..., object], arguments: list[State]) -> Iterator[float]:
    """Microseconds of each call, with the clock's own cost of about 0.05 µs."""
    for q, v in arguments:
        start = time.perf_counter_ns()
        call(q, v)
        yield (time.perf_counter_ns() - start) * 1e-3


def five_frames(robot: Robot) -> tuple[str, ...]:
    """Soles and palms, then cameras, then links at the ends of limbs."""
    inner = {joint.parent for joint in robot.joints}
    names = [surface.name for surface in robot.surfaces] + [camera.name for camera in robot.sensors_of("camera")]
    names += [link.name for link in robot.links if link.name not in inner]
    return tuple(dict.fromkeys(names))[:FRAMES]


def our_snapshot(model: Model) -> Callable[..., object]:
    """A call that computes and reads all of it."""
    frames = model.watched

    def snapshot(q: np.ndarray, v: np.ndarray) -> None:
        now = model.at(q, v)
        now.M, now.h, now.g, now.com_in_world, now.com_jacobian  # noqa: B018
        for frame in frames:
            now.placement(frame)
            now.jacobian(frame)
            now.bias(frame)

    return snapshot


def kernel(model: Model) -> Callable[..., object]:
    """Ours, into a buffer that is there already."""
    tree, handle = model.tree, model.at(model.neutral()).handle
    return lambda q, v: _kernels.model_evaluate(tree, handle, q, v)


def terms(model: Model) -> Callable[..., object]:
    """Pinocchio's kernel."""
    theirs, data = model.pinocchio, model.pinocchio.createData()
    return lambda q, v: pin.computeAllTerms(theirs, data, q, v)


def their_snapshot(model: Model) -> Callable[..., object]:
    """The same with Pinocchio, but for J̇ v."""
    theirs, data = model.pinocchio, model.pinocchio.createData()
    frames = [frame + 1 for frame in model.watched]  # its frame 0 is the universe

    def snapshot(q: np.ndarray, v: np.ndarray) -> None:
        pin.computeAllTerms(theirs, data, q, v)
        pin.updateFramePlacements(theirs, data)
        data.M, data.nle, data.g, data.com[0], data.Jcom
        for frame in frames:
            data.oMf[frame]
            pin.getFrameJacobian(theirs, data, frame, WORLD)

    return snapshot
