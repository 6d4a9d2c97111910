"""Moving joints by hand: goto and home."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from rich.progress import BarColumn, Progress, TextColumn

from wholebody.drivers.connection import Connection
from wholebody.errors import BadMessage, HardwareError
from wholebody.messages import ALL_JOINTS, Verb
from wholebody.operator.console.session import CONTROLLER, Session, finite
from wholebody.operator.monitor.status_view import JointView, Picture

ARRIVED = 0.02
"""rad. How near to its goal a joint must come."""
APART = 0.03
"""rad. How far from its command a joint may be and still be taken to follow it."""
GATHER_SECONDS = 3.0
SETTLE_SECONDS = 1.0
STILL = 0.01
"""rad/s. Slower than this a joint does not go home."""
STILL_SECONDS = 6.0
"""s after which a joint that does not move is not on its way home either: it has none."""
UNTIL_UNHOMED = 0.5
"""s. A board that was homed before needs a moment to say that it is on its way again."""
SILENT_SECONDS = 2.0


def home(session: Session, arguments: list[str]) -> None:
    """Begin homing, and wait until the boards say that it is done."""
    joint = session.joint(arguments[0]) if arguments else ALL_JOINTS
    asked = _with_boards(session.look(), joint)
    session.ask(Verb.HOME, joint)
    begin, left, moved = time.monotonic(), set[str](), time.monotonic()
    with progress(session, "homing") as show:
        while True:
            time.sleep(0.05)
            joints, now = _now(session.look(), asked), time.monotonic()
            missing = [each.name for each in joints if not each.homed]
            if len(left | set(missing)) > len(left) or any(abs(each.velocity or 0.0) > STILL for each in joints):
                moved = now
            left |= set(missing)
            show(1 - len(missing) / len(joints))
            if now < begin + UNTIL_UNHOMED:
                continue
            failed = [f"{each.name} ({', '.join(each.faults)})" for each in joints if each.faults]
            if failed:
                raise HardwareError(f"homing failed: {', '.join(failed)}; see: status, reset")
            if not missing or now > moved + STILL_SECONDS:
                break
    if len(missing) == len(joints):
        raise HardwareError(f"not homed: {', '.join(missing)} did not move for {STILL_SECONDS:g} s")
    rest = f"; without a home: {', '.join(missing)}" if missing else ""
    homed = [each.name for each in joints if each.homed]
    session.say(f"homed: {homed[0] if len(homed) == 1 else f'{len(homed)} joints'}{rest}")


def _with_boards(picture: Picture, joint: int) -> list[int]:
    """The joints to wait for: of all, those whose position is measured."""
    measured = [index for index, view in enumerate(picture.joints) if view.position is not None]
    if joint == ALL_JOINTS and not measured:
        raise HardwareError("no joint's position is measured; see: statusAll")
    return measured if joint == ALL_JOINTS else [joint]


def _now(picture: Picture, joints: list[int]) -> list[JointView]:
    if picture.silent > SILENT_SECONDS:
        raise HardwareError(f"no state came for {picture.silent:.1f} s; see: wholebody status")
    return [picture.joints[joint] for joint in joints]


def goto(session: Session, arguments: list[str]) -> None:
    """Move joints smoothly to positions, all of them at once."""
    if len(arguments) % 2:
        raise BadMessage("give each joint a position in radians: goto RSP 0.1 REB -0.5")
    goals = {session.joint(joint): finite(value) for joint, value in zip(*[iter(arguments)] * 2, strict=True)}
    if ALL_JOINTS in goals:
        raise BadMessage("goto moves the joints that you name, not all")
    before = session.look()
    _can_reach(session, goals)
    _may_move(before, goals)
    names = session.joints
    try:
        _follow(session, before, {names[joint]: goal for joint, goal in goals.items()})
    except HardwareError:
        session.reconnect()
        raise


def _can_reach(session: Session, goals: dict[int, float]) -> None:
    """Refuse a goal that is out of a joint's range, before anything moves."""
    ranges = session.watcher.ranges()
    for joint, goal in goals.items():
        name = session.joints[joint]
        lower, upper = ranges[name]
        if not lower <= goal <= upper:
            nearest = math.ceil(1000 * lower) / 1000 if goal < lower else math.floor(1000 * upper) / 1000
            goes = f"{name} goes from {lower:.4g} to {upper:.4g} rad"
            raise BadMessage(f"{goes}, not to {goal:g}: goto {name} {nearest:g}")


def _may_move(picture: Picture, goals: dict[int, float]) -> None:
    """Refuse a motion that nothing would come of, before it begins."""
    _refuse_if_stopped(picture)
    off = [picture.joints[joint].name for joint in goals if not picture.joints[joint].on]
    if off:
        raise HardwareError(f"{', '.join(off)}: the controller is off; `ctrl {off[0]} on` first")
    for view in (picture.joints[joint] for joint in goals):
        if view.leased and view.controller != CONTROLLER:
            raise HardwareError(f"{view.name} is leased to '{view.controller}'; `lease end {view.name}` first")


def _refuse_if_stopped(picture: Picture) -> None:
    if picture.stopped:
        raise HardwareError("the robot is stopped; `resume` first")


def _follow(session: Session, before: Picture, goals: dict[str, float]) -> None:
    connection = session.connection
    index = connection.index
    begin = _gather(connection, goals)
    limits = session.watcher.velocity_limits()
    move = Move.plan(begin, goals, {name: session.speed * limits[name] for name in goals})
    start, duration = connection.now, move.profile.duration
    with progress(session, " ".join(goals)) as show:
        try:
            while (passed := connection.now - start) < duration + SETTLE_SECONDS:
                connection.move(move.at(passed))
                _wait(connection)
                show(min(1.0, passed / duration))
                if passed > duration and max(_errors(connection, goals).values()) < ARRIVED / 20:
                    break
        except KeyboardInterrupt:
            connection.move({name: float(connection.state.reference[index[name]]) for name in goals})
            session.say("held where it was")
            raise
    _tell_arrival(session, before, goals, _errors(connection, goals), connection.now - start)


def _gather(connection: Connection, goals: dict[str, float]) -> dict[str, float]:
    """Where the joints begin: at their commands; one far from it, as after homing, has it brought to where it is."""
    _wait(connection)
    index, state = connection.index, connection.state
    begin = {name: float(state.reference[index[name]]) for name in goals}
    measured = {name: float(state.position[at]) for name in goals if state.measured[at := index[name]]}
    begin |= {name: at for name, at in measured.items() if abs(at - begin[name]) > APART}
    until = connection.now + GATHER_SECONDS
    while connection.now < until:
        commanded = connection.state.reference
        if all(abs(commanded[index[name]] - at) <= ARRIVED for name, at in begin.items()):
            break
        connection.move(begin)
        _wait(connection)
    return begin


def _errors(connection: Connection, goals: dict[str, float]) -> dict[str, float]:
    position = connection.state.position
    return {name: abs(goal - float(position[connection.index[name]])) for name, goal in goals.items()}


def _tell_arrival(
    session: Session, before: Picture, goals: dict[str, float], errors: dict[str, float], took: float
) -> None:
    short = [name for name, error in errors.items() if not error < ARRIVED]
    if not short:
        for name, goal in goals.items():
            session.say(f"{name} at {goal:g} rad after {took:.1f} s, {1000 * errors[name]:.1f} mrad from it")
        return
    time.sleep(0.2)  # the daemon reports ten times a second
    after = session.look()
    _refuse_if_stopped(after)
    refused = [kind for kind, count in after.refusals.items() if count > before.refusals.get(kind, 0)]
    reasons = [f"refused: {', '.join(refused)}"] if refused else []
    for view in after.joints:
        if view.name in short:
            others = view.controller not in ("", CONTROLLER)
            reasons += [f"{view.name} follows '{view.controller}'"] if others else []
            reasons += [f"{view.name}: {', '.join(view.faults)}"] if view.faults else []
            reasons += [] if view.filter in ("", "pass") else [f"{view.name} is in mode {view.filter}"]
    why = f" ({'; '.join(reasons)})" if reasons else ""
    left = ", ".join(f"{name} is {errors[name]:.3f} rad from {goals[name]:g}" for name in short)
    raise HardwareError(f"did not arrive: {left}{why}")


def _wait(connection: Connection) -> None:
    if not connection.wait(SILENT_SECONDS):
        raise HardwareError(f"no state came for {SILENT_SECONDS:g} s; see: wholebody status")


@contextmanager
def progress(session: Session, title: str) -> Iterator[Callable[[float], None]]:
    """A bar to be told the share that is done, in a terminal; anywhere else nothing."""
    columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:3.0f} %")
    off = not session.output.is_terminal
    with Progress(*columns, console=session.output, transient=True, disable=off) as bar:
        task = bar.add_task(title, total=1.0)
        yield lambda share: bar.update(task, completed=share)


@dataclass(frozen=True)
class Trapezoid:
    """From 0 to 1 with velocity and acceleration limits, at rest at both ends.

    Without a limit reached, half of the way is speeding up and half slowing down: v² = a.
    """

    velocity: float
    acceleration: float

    @property
    def duration(self) -> float:
        """T = 1/v + v/a, with v the highest velocity that is reached."""
        v = self._top
        return 1 / v + v / self.acceleration

    def at(self, time: float) -> float:
        """How much of the way is done after some seconds."""
        v, a, end = self._top, self.acceleration, self.duration
        if time <= 0:
            return 0.0
        if time >= end:
            return 1.0
        if time < v / a:
            return a * time**2 / 2
        if time > end - v / a:
            return 1 - a * (end - time) ** 2 / 2
        return v * (time - v / a / 2)

    @property
    def _top(self) -> float:
        return min(self.velocity, math.sqrt(self.acceleration))


@dataclass(frozen=True)
class Move:
    """Some joints from where they are to where they shall be."""

    begin: Mapping[str, float]
    end: Mapping[str, float]
    profile: Trapezoid

    @classmethod
    def plan(cls, begin: Mapping[str, float], end: Mapping[str, float], velocity: Mapping[str, float]) -> Move:
        """The slowest joint sets the pace; each speeds up to its velocity in no less than half a second."""
        ways = {joint: max(abs(end[joint] - begin[joint]), 1e-6) for joint in end}
        pace = min(velocity[joint] / way for joint, way in ways.items())
        return cls(begin, end, Trapezoid(pace, 2 * pace))

    def at(self, time: float) -> dict[str, float]:
        """Where each joint is to be after some seconds."""
        share = self.profile.at(time)
        return {joint: self.begin[joint] + share * (goal - self.begin[joint]) for joint, goal in self.end.items()}
