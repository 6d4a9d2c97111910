"""Robots, problems and states to test whole-body control on."""

from functools import cache

import numpy as np
from model_examples import model

from wholebody.constraints import (
    Coactuation,
    FixedBase,
    FlatContact,
    LineContact,
    OmniWheelContact,
    PointContact,
)
from wholebody.control import WBOSC, Problem
from wholebody.tasks import (
    CartesianPositionTask,
    CenterOfMassTask,
    CenterOfPressureTask,
    ExternalForceTask,
    InternalForceTask,
    JointLimitTask,
    JointPositionTask,
    MomentumTask,
    Orientation2DTask,
    Orientation3DTask,
    PoseTask,
)
from wholebody.tasks.kinds import UNLIMITED

ROBOTS = ("dreamer", "valkyrie", "hubo2plus", "trikey", "atlas", "zoo")
STATES = 200
"""Of each of six robots, for the laws; what is checked beside them is checked on fewer."""

FEW = 34


def states(name, count=STATES, seed=0):
    """Snapshots at random configurations and velocities; Trikey stands on its wheels."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        q, v = model(name).random(rng), rng.normal(size=model(name).nv)
        if name == "trikey":
            yaw = rng.uniform(-3, 3)
            q[3:7] = (0.0, 0.0, np.sin(yaw / 2), np.cos(yaw / 2))
        yield model(name).at(q, v)


def standing(snapshot, constraints):
    """The same configuration with a velocity that the constraints permit; without, redundant ones contradict."""
    J = np.vstack([each.jacobian(snapshot) for each in constraints])
    return snapshot.model.at(snapshot.q, snapshot.v - np.linalg.pinv(J, rcond=1e-9) @ (J @ snapshot.v))


def wheels():
    return [OmniWheelContact(f"touch{i}", f"wheel{i}", 0.098) for i in range(3)]


def feet():
    return [FlatContact("left", "left_sole"), FlatContact("right", "right_sole")]


def limbs():
    """Two frames of each robot that are far from its base."""
    return {"dreamer": ("right_palm", "left_palm"), "trikey": ("base", "camera"), "zoo": ("tip", "sole")}


def ends(name):
    return limbs().get(name, ("right_palm", "left_palm"))


def constraints(name):
    """What holds each robot."""
    if name == "dreamer":
        return Coactuation.of(model(name))
    if name == "trikey":
        return wheels()
    if name == "zoo":
        return [FixedBase("bolts"), Coactuation("gear", "hip", ["knee"], 0.5)]
    return feet()


def posture(name, **gains):
    return JointPositionTask("posture", model(name).neutral()[-len(model(name).joint_names) :], **gains)


def usual(name):
    """A problem as one would set it up: hands, directions, the body, and the posture below."""
    one, two = ends(name)
    if name == "trikey":
        return Problem([Orientation2DTask("heading", one, (1, 0, 0), (0, 1, 0)), posture(name)], constraints(name))
    hands = [
        CartesianPositionTask("one", one, (0.4, -0.2, 0.3)),
        CartesianPositionTask("two", two, (0.4, 0.2, 0.3), point=(0.01, 0.02, -0.03)),
    ]
    turns = [
        Orientation2DTask("direction", one, (0, 0, 1), (1, 0, 0.5), stiffness=(50.0, 70.0)),
        Orientation3DTask("turn", two, (0.1, 0.2, -0.3, 0.9)),
    ]
    body = [] if name == "dreamer" else [CenterOfMassTask("com", (0.0, 0.0, 0.9), axes="xy")]
    return Problem([body, hands, turns, [posture(name)]], constraints(name))


def linear(problem):
    """The same problem with no limit to errors, whose goals may be metres away."""
    for task in problem.tasks:
        task.error_limit = UNLIMITED
    return problem


def crowded(name):
    """Everything at once, far more than the robot can do, on two levels that are both short of freedom."""
    one, two = ends(name)
    m = model(name)
    reference = m.frames[2]
    upper = [
        PoseTask("pose", one, (0.3, 0.1, 0.8), (0.0, 0.6, 0.0, 0.8)),
        CartesianPositionTask("seen", two, (0.1, 0.2, 0.3), reference=reference, axes="xz"),
        Orientation3DTask("turned", two, (0.5, 0.5, 0.5, 0.5), reference=reference),
        CenterOfMassTask("com", (0.1, 0.0, 0.9), goal_velocity=(0.1, 0.0, 0.2)),
        MomentumTask("spin", (0, 0, 0, 1.0, 2.0, 3.0), part="both"),
    ]
    limits = [] if name == "trikey" else [JointLimitTask.of(m)]
    lower = [
        ExternalForceTask("push", one, (3.0, -5.0, 10.0), point=(0.02, 0.0, 0.0)),
        *limits,
        posture(name, stiffness=30.0, damping=3.0, integral_gain=2.0),
    ]
    if name in ("dreamer", "trikey", "zoo"):
        return Problem([upper, lower], constraints(name))
    forces = [CenterOfPressureTask("cop", "left", (0.01, 0.02)), InternalForceTask("apart", "left", "right", -30.0)]
    return Problem([upper, forces, lower], constraints(name))


def flying(name):
    """In the air, nothing holds it but its own gears."""
    one, _ = ends(name)
    held = Coactuation.of(model(name))
    return Problem([CartesianPositionTask("one", one, (0.4, -0.2, 0.3)), posture(name)], held)


def on_points(name):
    """On a point and an edge, which leave the ankles free to tilt."""
    points = [PointContact("left", "left_sole", (0.02, 0.0, 0.0)), LineContact("right", "right_sole", (0.0, 1.0, 0.0))]
    return Problem([CenterOfMassTask("com", (0.0, 0.0, 0.9)), posture(name)], points)


def on_one_foot(name):
    """One foot: its centre of pressure is decided by the motion."""
    tasks = [CenterOfPressureTask("cop", "left", (0.02, 0.01)), CenterOfMassTask("com", (0, 0, 0.9), axes="z")]
    return Problem([*tasks, posture(name)], [FlatContact("left", "left_sole")])


def redundant(name):
    """Four points of each sole, eight contacts of which many say the same."""
    corners = [(x, y, 0.0) for x in (-0.05, 0.1) for y in (-0.04, 0.04)]
    points = [
        PointContact(f"{side}{i}", f"{side}_sole", corner)
        for side in ("left", "right")
        for i, corner in enumerate(corners)
    ]
    return Problem([CenterOfMassTask("com", (0.0, 0.0, 0.9)), posture(name)], points)


def squeezed(name):
    """A problem with a force between two contacts, above all else."""
    one, two = ends(name)
    held = {
        "trikey": [PointContact("left", "wheel0"), PointContact("right", "wheel1")],
        "dreamer": [*constraints(name), PointContact("left", two), PointContact("right", one)],
        "zoo": [FixedBase("bolts"), PointContact("left", two), PointContact("right", one)],
    }.get(name, feet())
    body = [] if name in ("dreamer", "zoo") else [CenterOfMassTask("com", (0.0, 0.0, 0.9))]
    squeeze = InternalForceTask("squeeze", "left", "right", 0.0)
    return Problem([[squeeze], body, [posture(name)]], held)


def motors(m, result):
    """τ of the joints with motors."""
    return result.effort[m.actuated_joints - (m.nv - len(m.joint_names))]


def relative(found, expected):
    return np.max(np.abs(found - expected), initial=0.0) / max(1.0, np.max(np.abs(expected), initial=0.0))


def achieved(snapshot, result, tasks):
    """How far the accelerations are from what tasks ask for, relative to the greatest that is asked."""
    rows = [task.rows(snapshot) for task in tasks]
    wanted = np.concatenate([each.desired - each.bias for each in rows])
    got = np.concatenate([each.jacobian @ result.acceleration for each in rows])
    return relative(got, wanted)


@cache
def controller(name):
    """Without limits, so that commands are what the law says."""
    return WBOSC(model(name), enforce_effort_limits=False, enforce_position_limits=False, enforce_velocity_limits=False)


CASES = {
    **{f"{name}-usual": (name, usual) for name in ROBOTS},
    **{f"{name}-crowded": (name, crowded) for name in ROBOTS},
    "valkyrie-flying": ("valkyrie", flying),
    "dreamer-flying": ("dreamer", flying),
    "valkyrie-on_points": ("valkyrie", on_points),
    "hubo2plus-on_points": ("hubo2plus", on_points),
    "valkyrie-on_one_foot": ("valkyrie", on_one_foot),
    "hubo2plus-on_one_foot": ("hubo2plus", on_one_foot),
    "valkyrie-redundant": ("valkyrie", redundant),
}
