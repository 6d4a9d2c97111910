"""Stabilizer, 3.7: HOAP-3 on its right leg steps with the left, 10 cm forward and 5 cm up, Fig. 3.11–3.24.

    python -m experiments.stabilizer_step

prints the angles and torques of every joint beside their limits, and writes `results/stabilizer_step_*.png`. Speed,
posture and way of the centre of mass are ours, for the document's figures are pictures only: the step takes 2 s, the
centre of mass goes 5 cm forward above the right sole, and the waist stays upright at its height. The document's torques
are of a robot that hangs from its centre of mass; ours stands on its right foot, and "hung" is how it would be if the
world held its waist. Angle limits are the source's; torque limits of HOAP-3 are not published: 5 N·m is an estimate.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wholebody import robots
from wholebody.kinematics import (
    Collisions,
    InverseKinematics,
    ResolvedMotion,
)
from wholebody.model import Contacts, Model, Snapshot
from wholebody.motion import Trajectory, via_cubic
from wholebody.tasks import CartesianPositionTask, CenterOfMassTask, Orientation3DTask, PoseTask

RESULTS = Path(__file__).parent / "results"
SUPPORT, SWING, WAIST = "right_sole", "left_sole", "WAIST"
LIMBS = {
    "right_leg": "Fig. 3.14, 3.20: right leg",
    "left_leg": "Fig. 3.15, 3.21: left leg",
    "torso": "Fig. 3.16, 3.22: waist pitch",
    "right_arm": "Fig. 3.17, 3.23: right arm",
    "left_arm": "Fig. 3.18, 3.24: left arm",
}
LENGTH, HEIGHT = 0.10, 0.05  # m, of the step
COM_FROM, COM_TO, COM_HEIGHT = -0.025, 0.025, 0.235  # m, from the centre of the right sole
BEFORE = {"CHEST": 0.2, "R_SAA": -0.3, "L_SAA": 0.3}  # away from limits, so that they can move both ways

Array = np.ndarray


@dataclass(frozen=True)
class Plan:
    """Where the step begins, and how foot and centre of mass move from there, Eq. 3.16."""

    model: Model
    q: Array
    foot: Trajectory  # from where it stood
    com: Trajectory  # in world

    @property
    def duration(self) -> float:
        """Seconds."""
        return self.foot.duration


@dataclass(frozen=True)
class Step:
    """What the robot did: one row for each instant."""

    time: Array
    q: Array
    v: Array
    v_dot: Array
    torque: Array  # of each joint
    hung: Array  # the same, if the world held the robot by its waist
    wrench: Array  # of the ground on the right sole, at its centre
    zmp: Array  # x, y from the centre of the right sole
    zmp_margin: Array  # to the nearest edge of the sole; negative outside
    foot: Array  # left sole in world
    com: Array
    foot_error: Array  # m, from its reference
    com_error: Array
    slip: Array  # of the right sole, m or rad, from where it stood


def plan(model: Model, duration: float = 2.0) -> Plan:
    """The posture before the step, its centre of mass above the right sole, and both trajectories."""
    q = model.posture("stand")
    for joint, angle in BEFORE.items():
        q[1 + model.column(joint)] = angle
    q[:3] -= model.at(q).position(model.frame(SUPPORT))
    stands = model.at(q).placement(model.frame(SWING)).copy()
    goals = [
        PoseTask("foot", SWING, stands[:3, 3], stands[:3, :3]),
        CenterOfMassTask("com", (COM_FROM, 0.0, COM_HEIGHT)),
        Orientation3DTask("waist", WAIST, np.eye(3)),
    ]
    legs = InverseKinematics(
        model, goals, SUPPORT, joints=("right_leg", "left_leg"), position_tolerance=1e-9, rotation_tolerance=1e-9
    )
    q = legs.solve(q).q
    com = model.at(q).com_in_world.copy()
    middle, end = (LENGTH / 2, 0.0, HEIGHT), (LENGTH, 0.0, 0.0)
    return Plan(
        model,
        q,
        via_cubic([(0.0, 0.0, 0.0), middle, end], [0.0, duration / 2, duration]),
        via_cubic([com, com + np.array([COM_TO - COM_FROM, 0.0, 0.0])], [0.0, duration]),
    )


def follow(step: Plan, dt: float = 0.002) -> Step:
    """Second-order inverse kinematics, Eq. 3.19, of all limbs about the right sole, and inverse dynamics on the way."""
    model, at = step.model, step.model.at(step.q)
    sole, foot, waist = (model.frame(name) for name in (SUPPORT, SWING, WAIST))
    foot_stood, sole_stood, waist_stood = (at.placement(frame).copy() for frame in (foot, sole, waist))
    swing = PoseTask("foot", SWING, foot_stood[:3, 3], foot_stood[:3, :3])
    com = CenterOfMassTask("com", at.com_in_world, axes="xy")
    upright = Orientation3DTask("waist", WAIST, np.eye(3))
    height = CartesianPositionTask("height", WAIST, waist_stood[:3, 3], axes="z")
    resolved = ResolvedMotion(model, [swing, com, upright, height], SUPPORT, joints=tuple(LIMBS))
    outline = Contacts(model, [SUPPORT])
    time = np.arange(round(step.duration / dt) + 1) * dt
    feet, coms = step.foot.sample(time), step.com.sample(time)
    q, v, rows = step.q, np.zeros(model.nv), []
    for i in range(len(time)):
        now, there = model.at(q, v), foot_stood.copy()
        there[:3, 3] += feet.position[i]
        swing.goal_position = there[:3, 3]
        swing.goal_velocity[:3], swing.goal_acceleration[:3] = feet.velocity[i], feet.acceleration[i]
        com.goal, com.goal_velocity, com.goal_acceleration = coms.position[i], coms.velocity[i], coms.acceleration[i]
        v_dot = resolved.accelerations(now)
        torque, hung, wrench = efforts(now, v_dot, sole)
        zmp = zero_moment_point(wrench)
        margin = outline.polygon(now).margin(now.position(sole) + np.append(zmp, 0.0))
        foot_error = np.linalg.norm(now.position(foot) - there[:3, 3])
        com_error = np.linalg.norm(now.com_in_world[:2] - coms.position[i, :2])
        slip = np.abs(now.placement(sole) - sole_stood).max()
        rows.append((q, v, v_dot, torque, hung, wrench, zmp, margin, now.position(foot).copy(), now.com_in_world.copy(),
                     foot_error, com_error, slip))  # fmt: skip
        q, v = model.integrate(q, v + dt / 2 * v_dot, dt), v + dt * v_dot
    return Step(time, *(np.array(column) for column in zip(*rows, strict=True)))


def efforts(now: Snapshot, v_dot: Array, sole: int) -> tuple[Array, Array, Array]:
    """Torques of the joints, those without a ground, and the wrench of the ground on the only sole that stands.

    M v̇ + h = Sᵀτ + Jᵀf: the six rows of the base give f, the others τ.
    """
    J, effort = now.jacobian(sole), now.M @ v_dot + now.h
    wrench = np.linalg.solve(J[:, :6].T, effort[:6])
    return effort[6:] - J[:, 6:].T @ wrench, effort[6:], wrench


def zero_moment_point(wrench: Array) -> Array:
    """(−m_y, m_x) / f_z: where on the sole the ground's force alone does the same."""
    return np.array([-wrench[4], wrench[3]]) / wrench[2]


@dataclass(frozen=True)
class Use:
    """How much of what a joint can do the step needs."""

    joint: str
    lowest: float
    highest: float
    lower: float
    upper: float
    torque: float
    hung: float
    effort: float

    @property
    def angle_share(self) -> float:
        """How far from the middle of the range to its limit; above 1 is beyond."""
        middle, half = (self.lower + self.upper) / 2, (self.upper - self.lower) / 2
        return max(self.highest - middle, middle - self.lowest) / half

    @property
    def torque_share(self) -> float:
        """Above 1 is more than the motor has."""
        return self.torque / self.effort


def uses(model: Model, step: Step) -> list[Use]:
    """Of every joint, in the robot's order."""
    lowest, highest = step.q[:, 7:].min(axis=0), step.q[:, 7:].max(axis=0)
    torque, hung = np.abs(step.torque).max(axis=0), np.abs(step.hung).max(axis=0)
    return [
        Use(joint.name, lowest[i], highest[i], joint.lower, joint.upper, torque[i], hung[i], joint.effort)
        for i, joint in enumerate(model.robot.moving)
    ]


def main() -> None:
    """Print the tables and draw the plots."""
    model = Model(robots.load("hoap3"))
    the_plan = plan(model)
    step = follow(the_plan)
    print_joints(model, step)
    print_step(model, step)
    print("\nthe same step at other speeds (torques of all joints, velocity limit 6 rad/s, an estimate too)")
    print("   duration/s   ZMP margin/mm   peak torque/N·m   peak velocity/rad/s")
    for duration in (4.0, 2.0, 1.0, 0.7, 0.5):
        fast = follow(plan(model, duration), dt=duration / 1000)
        margin, torque, velocity = fast.zmp_margin.min(), np.abs(fast.torque).max(), np.abs(fast.v[:, 6:]).max()
        verdict = "" if margin >= 0 else "   the ZMP leaves the sole: the robot would tip"
        print(f"{duration:13.1f} {1e3 * margin:15.1f} {torque:17.2f} {velocity:21.2f}{verdict}")
    RESULTS.mkdir(exist_ok=True)
    draw_references(model, the_plan, step)
    draw_joints(model, step, "angles")
    draw_joints(model, step, "torques")


def print_joints(model: Model, step: Step) -> None:
    """The table of all joints, by limb."""
    table = {use.joint: use for use in uses(model, step)}
    print("Torque limits of HOAP-3 are not published: 5 N·m is our estimate. Used: from mid-range to the limit.")
    print("Torques are of the robot on its right foot; hung: as if the world held its waist (document: its CoM).\n")
    print(
        f"{'':10s}{'angle/rad':>16s}{'limits/rad':>18s}{'used':>7s}"
        f"{'torque/N·m':>13s}{'limit/N·m':>11s}{'used':>7s}{'hung/N·m':>11s}"
    )
    for group, title in (*LIMBS.items(), ("head", "head (not in the document; held)")):
        print(title)
        for joint in model.robot.groups[group]:
            use = table[joint]
            angle, limits = f"{use.lowest:.3f} … {use.highest:.3f}", f"{use.lower:.3f} … {use.upper:.3f}"
            beyond = "  BEYOND" if max(use.angle_share, use.torque_share) > 1 else ""
            print(
                f"  {joint:8s}{angle:>16s}{limits:>18s}{use.angle_share:7.0%}"
                f"{use.torque:13.3f}{use.effort:11.1f}{use.torque_share:7.0%}{use.hung:11.3f}{beyond}"
            )


def print_step(model: Model, step: Step) -> None:
    """What the step was to do, beside what it did."""
    moved, table = step.foot - step.foot[0], uses(model, step)
    touch = Collisions(model).first(step.q[::10])
    worst = max(table, key=lambda use: use.torque_share)
    beyond = [sum(getattr(use, share) > 1 for use in table) for share in ("angle_share", "torque_share")]
    lines = (
        ("left foot forward", "10 cm", f"{100 * moved[-1, 0]:.3f} cm"),
        ("left foot raised", "5 cm", f"{100 * moved[:, 2].max():.3f} cm"),
        ("ZMP within the sole by at least", "inside", f"{1e3 * step.zmp_margin.min():.1f} mm"),
        ("joints beyond an angle limit", "(drawn)", f"{beyond[0]} of {len(table)}"),
        ("joints beyond a torque limit (estimated)", "(drawn)", f"{beyond[1]} of {len(table)}"),
        ("links that touch", "", "none" if touch is None else f"{touch.touch.one} and {touch.touch.other}"),
        ("hardest-worked joint", "", f"{worst.joint}, {worst.torque:.2f} N·m"),
        ("largest error of the foot", "", f"{1e6 * step.foot_error.max():.1f} µm"),
        ("largest error of the centre of mass", "", f"{1e6 * step.com_error.max():.1f} µm"),
        ("right sole moves by at most", "", f"{1e6 * step.slip.max():.1f} µm or µrad"),
    )
    print(f"\n{'the step':44s}{'document':12s}ours")
    for what, theirs, ours in lines:
        print(f"{what:44s}{theirs:12s}{ours}")


def draw_references(model: Model, the_plan: Plan, step: Step) -> None:
    """Fig. 3.11–3.13: references, the motion from the side, and the ZMP in the sole."""
    plt = pyplot()
    figure, grid = plt.subplots(2, 2, figsize=(12, 8.5), layout="constrained")
    (com, foot), (sticks, sole) = grid
    com_wanted, foot_wanted = the_plan.com.sample(step.time), the_plan.foot.sample(step.time)
    for axis, name in enumerate("xyz"):
        if axis < 2:
            com.plot(step.time, 100 * com_wanted.position[:, axis], f"C{axis}", label=f"{name} reference")
        com.plot(step.time, 100 * (step.com[:, axis] - (0.0, 0.0, COM_HEIGHT)[axis]), "k:" if axis < 2 else "C2",
                 label=("robot", None, f"z − {100 * COM_HEIGHT:.1f} cm, free")[axis])  # fmt: skip
        foot.plot(step.time, 100 * foot_wanted.position[:, axis], f"C{axis}", label=f"{name} reference")
        foot.plot(step.time, 100 * (step.foot - step.foot[0])[:, axis], "k:", label="robot" if axis == 0 else None)
    com.set(title="Fig. 3.11: centre of mass, from the right sole", xlabel="time [s]", ylabel="[cm]")
    foot.set(title="Fig. 3.12: left foot, from where it stood", xlabel="time [s]", ylabel="[cm]")
    for share, colour in ((0.0, "0.7"), (0.5, "C0"), (1.0, "k")):
        now = model.at(step.q[round(share * (len(step.q) - 1))])
        draw_sticks(model, now, sticks, colour, f"{share * the_plan.duration:g} s")
    sticks.set(title="Fig. 3.13: from the right side", xlabel="x [m]", ylabel="z [m]", aspect="equal")
    sticks.set_xlim(-0.2, 0.45)
    corners = np.array(model.robot.surface(SUPPORT).outline)
    sole.fill(*(100 * corners.T), color="0.92", label="right sole")
    sole.plot(*(100 * step.zmp.T), "C3", label="ZMP")
    sole.plot(*(100 * step.com[:, :2].T), "C0--", label="centre of mass")
    sole.plot(*(100 * step.zmp[0]), "C3o", markersize=5, label="start")
    sole.set(title="ZMP in the right sole", xlabel="x [cm]", ylabel="y [cm]", aspect="equal", ylim=(-4, 6.2))
    for axes in grid.flat:
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8, ncols=2)
    figure.savefig(RESULTS / "stabilizer_step_references.png", dpi=100)
    plt.close(figure)


def draw_sticks(model: Model, now: Snapshot, axes: object, colour: str, label: str) -> None:
    """Lines from joint to joint, and the soles."""
    lines = [
        now.position(model.frame(link))[[0, 2]]
        for joint in model.robot.joints
        for link in (joint.parent, joint.child)
    ]  # fmt: skip
    segments = np.array(lines).reshape(-1, 2, 2)
    for surface in model.robot.surfaces:
        toe, heel = ((x, 0.0, 0.0, 1.0) for x in (0.053, -0.053))
        ends = [(now.placement(model.frame(surface.name)) @ end)[[0, 2]] for end in (toe, heel)]
        ankle = now.position(model.frame(surface.link))[[0, 2]]
        segments = np.concatenate([segments, [ends, [ankle, np.mean(ends, axis=0)]]])
    for index, segment in enumerate(segments):
        axes.plot(*segment.T, color=colour, linewidth=1.6, label=label if index == 0 else None)


def draw_joints(model: Model, step: Step, what: str) -> None:
    """All joints of the five limbs with their limits: Fig. 3.14–3.18 (angles) or Fig. 3.20–3.24 (torques)."""
    plt = pyplot()
    figure, grid = plt.subplots(5, 6, figsize=(18, 12.5), sharex=True, layout="constrained")
    unit = "angle [rad]" if what == "angles" else "torque [N·m]"
    for row, (group, title) in zip(grid, LIMBS.items(), strict=True):
        joints = model.robot.groups[group]
        figures, limb = title.split(": ")
        for axes, joint in zip(row, joints, strict=False):
            i, record = model.robot.index[joint], model.robot.joint(joint)
            values = step.q[:, 7 + i] if what == "angles" else step.torque[:, i]
            ends = (record.lower, record.upper) if what == "angles" else (-record.effort, record.effort)
            if what == "torques":
                axes.plot(step.time, step.hung[:, i], "0.6", linewidth=1.2)
            axes.plot(step.time, values, "C0", linewidth=1.6)
            for limit in ends:
                axes.axhline(limit, color="C3", linestyle="--", linewidth=1.0)
            space = 0.08 * (ends[1] - ends[0])
            axes.set_ylim(min(values.min(), ends[0]) - space, max(values.max(), ends[1]) + space)
            axes.set_title(joint, fontsize=10)
            axes.grid(alpha=0.3)
            axes.margins(x=0)
            axes.tick_params(labelsize=8, labelbottom=True)
        row[0].set_ylabel(f"{figures.split(', ')[what == 'torques'].removeprefix('Fig. ')}: {limb}\n{unit}")
        for axes in row[len(joints) :]:
            axes.set_visible(False)
    for axes in grid[-1, :5]:
        axes.set_xlabel("time [s]")
    more = "" if what == "angles" else ", 5 N·m, estimated; grey: if the world held the waist"
    figure.suptitle(f"HOAP-3 steps on its right leg: joint {what} (dashed: limits{more})")
    figure.savefig(RESULTS / f"stabilizer_step_{what}.png", dpi=80)
    plt.close(figure)


def pyplot():
    """Matplotlib without a window."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    return plt


if __name__ == "__main__":
    main()
