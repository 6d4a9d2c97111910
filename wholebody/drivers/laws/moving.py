"""The laws of a driver whose joints are moved, none further than REACH from where it was found."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import numpy as np

from wholebody.drivers.interface import Boards
from wholebody.drivers.laws.loop import STILL, Loop, Verdict, worst
from wholebody.messages import ALL_JOINTS, Measured, Verb
from wholebody.robots.robot import Array, Joint, Robot

REACH = 0.05
"""rad (or m) that a joint is moved by."""
TOUCH = 0.03
"""rad of a step that is stopped, and of one that must not be followed."""
SETTLING = 1.0
"""s that a joint has to come to where it was sent."""
SWITCHING_ON = 20.0
"""s that simulated boards have to switch their joints on."""


def switched_on(loop: Loop, joints: Sequence[str]) -> list[str]:
    """Switch simulated boards on; the joints that are not on, or not measured."""
    indices = [loop.robot.index[name] for name in joints]
    if isinstance(loop.interface, Boards) and loop.interface.simulated and not loop.ready()[indices].all():
        loop.interface.command(Verb.INITIALIZE, ALL_JOINTS, ())
        until = time.monotonic() + SWITCHING_ON
        while not loop.ready()[indices].all() and time.monotonic() < until:
            loop.hold()
            loop.cycle()
        loop.hold()
    there = loop.ready() & loop.measured()
    return [name for name, index in zip(joints, indices, strict=True) if not there[index]]


def moves(loop: Loop, name: str) -> Iterator[Verdict]:
    """A joint goes where it is sent, alone, at the velocity that it says; stays if out of the mask; and stops."""
    index, joint = loop.robot.index[name], loop.robot.joint(name)
    start = loop.position
    way = _way(joint, float(start[index]))
    loop.reference.position[:], loop.reference.mask[:] = start, True
    first = len(loop.beats)
    steps = max(10, round(max(0.5, 2 * REACH / joint.velocity) / loop.clock.period))
    for step in range(1, steps + 1):
        loop.reference.position[index] = start[index] + way * step / steps
        loop.cycle()
    for _ in range(round(SETTLING / loop.clock.period)):
        if abs(loop.position[index] - start[index] - way) < 0.1 * REACH:
            break
        loop.cycle()
    yield _follows(loop, name, way, float(loop.position[index] - start[index]))
    yield _alone(loop, name, start)
    yield _velocity(loop, name, first, start)
    yield _stays_out_of_the_mask(loop, name, way)
    yield _stops_on_the_way(loop, name, way)
    loop.reference.position[:], loop.reference.mask[:] = start, True
    for _ in range(steps):
        loop.cycle()


def _follows(loop: Loop, name: str, way: float, went: float) -> Verdict:
    if went / way < -0.2:
        remedy = "it turns the wrong way: change its sign in read() and write() alike, or in one of them"
    elif went / way < 0.5:
        remedy = "it does not follow: write() takes reference.position in rad where reference.mask is set"
    else:
        remedy = "it goes too far: the same unit and gear in read() and write()"
    return Verdict(f"{name} follows", 0.5 < went / way < 1.5, f"sent {way:+.3f}, went {went:+.4f} rad", remedy)


def _alone(loop: Loop, name: str, start: Array) -> Verdict:
    moved = np.abs(loop.position - start) * loop.measured()
    pairs = [(each.master, each.slave) for each in loop.robot.couplings]
    together = {name}.union(*(pair for pair in pairs if name in pair))
    moved[[loop.robot.index[each] for each in together]] = 0.0
    other, kept = worst(loop, moved)
    remedy = "values are in the order of robot.joint_names: find a joint's place by robot.index[name]"
    return Verdict(f"{name} alone", kept, f"others moved {other} at most", remedy)


def _velocity(loop: Loop, name: str, first: int, start: Array) -> Verdict:
    index = loop.robot.index[name]
    law = f"{name} velocity"
    if not loop.measured(Measured.VELOCITY)[index]:
        return Verdict(law, True, "not measured")
    went = loop.positions[-1][index] - start[index]
    velocities = np.array([each[index] for each in loop.velocities[first:]])
    # Of cycles that came late, drivers that divide by the period tell too much.
    by_beats, by_period = velocities @ np.diff(loop.beats[first - 1 :]), velocities.sum() * loop.clock.period
    summed = min(by_beats, by_period, key=lambda each: abs(each - went))
    fits = abs(went) < STILL or 0.5 < summed / went < 2.0
    remedy = "velocity is the derivative of position, rad/s; or take Measured.VELOCITY from state.measured"
    return Verdict(law, fits, f"adds up to {summed:+.4f} rad, went {went:+.4f}", remedy)


def _stays_out_of_the_mask(loop: Loop, name: str, way: float) -> Verdict:
    index, before = loop.robot.index[name], loop.position
    loop.hold()
    loop.cycle()
    loop.reference.position[index] = before[index] - np.sign(way) * TOUCH
    loop.reference.mask[index] = False
    for _ in range(round(0.3 / loop.clock.period)):
        loop.cycle()
    moved = float(abs(loop.position[index] - before[index]))
    remedy = "write() leaves joints alone where reference.mask is not set"
    return Verdict(f"{name} mask", moved < TOUCH / 2, f"moved {moved:.4f} rad", remedy)


def _stops_on_the_way(loop: Loop, name: str, way: float) -> Verdict:
    index = loop.robot.index[name]
    loop.hold()
    loop.cycle()
    loop.reference.position[index] -= np.sign(way) * TOUCH
    loop.cycle(stop=True)
    at_stop = loop.position
    for _ in range(round(0.3 / loop.clock.period)):
        loop.cycle(write=False)
    moved = float(abs(loop.position[index] - at_stop[index]))
    loop.hold()
    figure = f"moved {moved:.4f} rad after stop()"
    return Verdict(f"{name} stops", moved < TOUCH / 2, figure, "stop() forgets what was written, and holds where it is")


def _way(joint: Joint, position: float) -> float:
    """By how much to move it: away from a limit that is near."""
    return REACH if position + 1.2 * REACH <= joint.upper else -REACH


def some_joints(robot: Robot) -> tuple[str, ...]:
    """One joint of each arm, or the last: none that the robot stands on."""
    arms = [robot.groups[group][0] for group in ("right_arm", "left_arm") if robot.groups.get(group)]
    return tuple(arms) or robot.joint_names[-1:]
