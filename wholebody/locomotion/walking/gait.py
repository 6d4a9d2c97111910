"""Gait: how a robot walks, in time and in size; one for every robot, from the figures of its legs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

import numpy as np

from wholebody.errors import BadGait
from wholebody.locomotion.walking.footsteps import (
    OTHER,
    OUTWARD,
    Feet,
    Footstep,
    Place,
    Side,
    SoleRoom,
    StepLimits,
    Support,
)
from wholebody.locomotion.walking.pendulum import frequency
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.model.snapshot import Snapshot
from wholebody.parameters import Bounds, Unit
from wholebody.robots.robot import Robot

SOLES = ("left_sole", "right_sole")
LEGS = ("left_leg", "right_leg")
UNDER_BODY = 0.6
"""Of 2, both legs under a body that accelerates, how much is allowed for. With all of it the body stays upright and
a foot whose height errs lands early, and hard; with less, the body leans back by half a degree and it lands later."""

GENTLY = 0.15
"""Share of its lift on which a foot comes down slowly: one that is some millimetres off then lands as softly. At full
speed it stops the body by a tenth of its velocity, which robots of 80 kg survived once and not twice."""
ROOM_TO_TURN = 0.03
"""m, of a robot of Hubo2+'s height. Soles that stand side by side leave as much between them at least."""


@dataclass(frozen=True)
class Gait:
    """When and how high feet are lifted, and where the weight goes meanwhile.

    step_time       from one foot's landing to the other's
    double_support  both feet on the ground, a part of the step's time
    lift            how high a foot that swings is lifted
    via             when a foot that swings is lifted highest, as a share of its time
    gently          from which share of its lift on a foot comes down slowly
    begin           to shift the weight before the first step
    settle          to come to rest after the last step
    inward          from the middle of the sole that supports to the weight, towards the other foot
    forward         from the middle of the sole that supports to the weight, ahead
    height          of the centre of mass above the soles; it changes only before the robot stands up
    swing_share     how strongly a leg that swings pushes the body back, see swing_share(); it changes between walks
    """

    step_time: Annotated[float, Unit("s"), Bounds(0.2, 5.0)] = 0.8
    double_support: Annotated[float, Unit("s"), Bounds(0.02, 2.0)] = 0.16
    lift: Annotated[float, Unit("m"), Bounds(0.0, 0.5)] = 0.04
    via: Annotated[float, Unit("1"), Bounds(0.1, 0.9)] = 0.5
    gently: Annotated[float, Unit("1"), Bounds(0.0, 0.3)] = 0.0
    begin: Annotated[float, Unit("s"), Bounds(0.1, 5.0)] = 1.0
    settle: Annotated[float, Unit("s"), Bounds(0.1, 5.0)] = 1.0
    inward: Annotated[float, Unit("m"), Bounds(-0.1, 0.1)] = 0.0
    forward: Annotated[float, Unit("m"), Bounds(-0.1, 0.1)] = 0.0
    height: Annotated[float, Unit("m"), Bounds(0.01, 3.0)] = 0.6
    swing_share: Annotated[float, Unit("1"), Bounds(0.0, 0.5)] = 0.0
    limits: StepLimits = field(default_factory=StepLimits)

    def __post_init__(self) -> None:
        """Refuse a gait without time to swing a foot."""
        if not 0 < self.double_support < 0.8 * self.step_time:
            raise BadGait(
                f"double support of {self.double_support} s in a step of {self.step_time} s; "
                "leave a fifth of the step or more for the swing"
            )

    @property
    def omega(self) -> float:
        """Of the pendulum, 1/s: slower than that of its height, as legs that go along push its body back."""
        return frequency(self.height) / float(np.sqrt(1.0 + UNDER_BODY * self.swing_share))

    @property
    def leg_share(self) -> float:
        """Of the way of a foot: what the centre of mass of all goes along under a body that does not, see Pattern."""
        return self.swing_share / (1.0 + UNDER_BODY * self.swing_share)

    @property
    def single_support(self) -> float:
        """Seconds on one foot in a step."""
        return self.step_time - self.double_support


def gait_of(model: Model, step_time: float | None = None) -> Gait:
    """A gait that suits a robot's size: lengths by its height, times by the time its pendulum takes."""
    feet, height = standing(model)
    left, right = (model.robot.surface(sole).outline for sole in SOLES)
    width = float(np.ptp(np.array(left)[:, 1]))
    scale = height / 0.6127
    room = SoleRoom(left, right, 0.005 * scale)
    spacing = max(feet.left.y - feet.right.y, width + ROOM_TO_TURN * scale)
    time = 0.8 * float(np.sqrt(scale)) if step_time is None else step_time
    return Gait(
        step_time=time,
        double_support=0.2 * time,
        lift=0.04 * scale,
        gently=GENTLY,
        begin=1.0 * float(np.sqrt(scale)),
        settle=1.0 * float(np.sqrt(scale)),
        height=0.975 * height,  # knees a little more bent, for steps
        inward=0.008 * scale,
        swing_share=swing_share(model),
        limits=StepLimits(
            length=0.25 * scale,
            spacing=spacing,
            narrowest=min(spacing, max(width + room.gap, spacing - 0.04 * scale)),
            widest=spacing + 0.13 * scale,
            turn=0.35,
            in_need=0.3 * scale,
            room=room,
        ),
    )


def swing_share(model: Model) -> float:
    """How far ahead of a pendulum's the zero moment point is while a foot accelerates, in units of ẍ / ω².

    The pendulum has no legs. With them, p = c − c̈ / ω² − L̇ / (M g), where a foot that is drawn ahead at 1 m/s under a
    centre of mass at rest gives the angular momentum L about the lateral axis: the share is −L / (M h · 1 m/s). Of a
    robot that does not say which joints are its legs', it is none.
    """
    if not set(LEGS) <= set(model.robot.groups):
        return 0.0
    snapshot = model.at(model.posture("stand"))
    ways = [_legs_under_a_base(model, snapshot, base) for base in (np.zeros(3), *np.eye(3))]
    still, per_base = ways[0], np.array(ways[1:]) - ways[0]
    base = np.linalg.solve((snapshot.com_jacobian @ per_base.T), -snapshot.com_jacobian @ still)
    momentum = snapshot.momentum_matrix @ (still + base @ per_base)
    return max(0.0, -float(momentum[4]) / (model.total_mass * standing(model)[1]))


def _legs_under_a_base(model: Model, snapshot: Snapshot, base: Array) -> Array:
    """All velocities if the base moves so, the left sole rests, and the right one goes ahead at 1 m/s; none turns."""
    velocity = np.zeros(model.nv)
    velocity[:3] = base
    for sole, group, ahead in zip(SOLES, LEGS, (0.0, 1.0), strict=True):
        columns = 6 + np.array(model.robot.group(group))
        wanted = np.concatenate([np.array([ahead, 0.0, 0.0]) - base, np.zeros(3)])
        velocity[columns] = np.linalg.lstsq(snapshot.jacobian(model.surface(sole))[:, columns], wanted, rcond=None)[0]
    return velocity


def need_soles(robot: Robot) -> None:
    """Refuse a robot that has nothing to stand on, or no posture to stand in."""
    if not set(SOLES) <= {surface.name for surface in robot.surfaces}:
        why = next((f" ({each.reason})" for each in robot.inferred if each.what == "legs"), "")
        raise BadGait(
            f"'{robot.name}' has no surfaces {' and '.join(SOLES)} to stand on{why}: it cannot walk; give it some in a "
            "YAML on top of its file, see `wholebody robots adopt`"
        )
    if "stand" not in robot.postures:
        raise BadGait(f"'{robot.name}' has no posture 'stand' to stand in: it cannot walk")


def standing(model: Model) -> tuple[Feet, float]:
    """Where the soles are below the pelvis, and how high the centre of mass is, in the posture "stand"."""
    need_soles(model.robot)
    snapshot = model.at(model.posture("stand"))
    soles = [snapshot.placement(model.surface(name)) for name in SOLES]
    places = [Place(float(m[0, 3]), float(m[1, 3]), float(np.arctan2(m[1, 0], m[0, 0]))) for m in soles]
    ground = float(soles[0][2, 3] + soles[1][2, 3]) / 2
    return Feet(*places), float(snapshot.com_in_world[2]) - ground


class Planned(NamedTuple):
    """A step to come, and how it will be made."""

    step: Footstep
    gait: Gait


class Phase(NamedTuple):
    """A time in which the same feet support: what swings meanwhile, and where the weight is when it ends."""

    begin: float
    end: float
    support: Support
    step: Footstep | None  # in single support
    feet: Feet  # at its end
    weight: Array  # zero moment point at its end
    gait: Gait
    shift: float = np.inf  # s in which it gets there, if that is sooner


def timetable(feet: Feet, now: Phase | None, todo: Sequence[Planned], rest: Gait, time: float) -> list[Phase]:
    """The phases of steps from feet that stand so, or stood last; the one that is under way keeps its times.

    While the weight goes from a step to the next, the gait is that of the next; after the last it is `rest`.
    """
    (first, gait), phases = todo[0], list[Phase]()
    weight = under(feet, OTHER[first.side], gait)
    if now is None:
        clock = time + gait.begin
        phases.append(Phase(time, clock, "both", None, feet, weight, gait))
    elif now.step is None:
        clock = now.end
        phases.append(now._replace(weight=weight, gait=gait))
    else:
        clock = now.begin
    for number, (step, gait) in enumerate(todo):
        support = OTHER[step.side]
        feet = feet.after(step)
        end = now.end if now is not None and now.step is not None and number == 0 else clock + gait.single_support
        phases.append(Phase(clock, end, support, step, feet, under(feet, support, gait), gait))
        last = number == len(todo) - 1
        then = rest if last else todo[number + 1].gait
        clock = end + (then.settle if last else then.double_support)
        weight = between(feet, rest) if last else under(feet, step.side, then)
        phases.append(Phase(end, clock, "both", None, feet, weight, then))
    return phases


def under(feet: Feet, side: Side, gait: Gait) -> Array:
    """Where the weight is when only this foot supports."""
    place = feet.of(side).beside(gait.forward, -OUTWARD[side] * gait.inward)
    return np.array(place[:2])


def between(feet: Feet, gait: Gait) -> Array:
    """Where it is when both do."""
    return (under(feet, "left", gait) + under(feet, "right", gait)) / 2
