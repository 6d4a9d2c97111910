"""Laws of drivers: what ours keep, checked on anybody's; each with the figure that was seen and, if broken, a remedy.

The loop is the daemon's: beat, write, read. Unless joints are named to be moved, what was measured is written back and
nothing moves; a device that says that it is simulated moves some of its joints all the same. No joint is asked to go
further than REACH from where it was found.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wholebody.drivers.interface import Boards, Clock, RobotInterface, SteadyClock
from wholebody.errors import UnknownName
from wholebody.messages import ALL_JOINTS, Measured, MeasuredMotion, Mode, Record, Status, Verb
from wholebody.robots.robot import Array, Joint, Robot

REACH = 0.05
"""rad (or m) that a joint is moved by."""
TOUCH = 0.03
"""rad of a step that is stopped, and of one that must not be followed."""
STILL = 0.02
"""rad within which a joint is where it was."""
SETTLING = 1.0
"""s that a joint has to come to where it was sent."""
SWITCHING_ON = 20.0
"""s that simulated boards have to switch their joints on."""
OFTEN = 0.2
"""Share of cycles by which the period is judged: machines stall, and the driver is not to be blamed for that."""
READY = int(Status.DRIVER_ON | Status.CONTROL_ON)
GRAVITY = 9.81


@dataclass(frozen=True)
class Verdict:
    """Whether a law is kept, what was seen, and what to do if it is not."""

    law: str
    passed: bool
    figure: str
    remedy: str = ""


def check(
    open_driver: Callable[[], RobotInterface],
    robot: Robot,
    period: float,
    *,
    joints: Sequence[str] = (),
    seconds: float = 1.0,
) -> Iterator[Verdict]:
    """Take a robot by a driver and go through all laws, those of moving only with joints, or if it is simulated."""
    for name in joints:
        if name not in robot.index:
            raise UnknownName(f"joint of {robot.name}", name, robot.joint_names)
    begun = time.perf_counter()
    try:
        interface = open_driver()
        interface.__enter__()
    except Exception as error:
        yield Verdict("opens", False, _said(error), "see that the device is there, and that joints are named right")
        return
    yield Verdict("opens", True, f"{time.perf_counter() - begun:.2f} s")
    loop = _Loop(interface, robot, period)
    try:
        yield from _inside(loop, joints, seconds)
    except Exception as error:
        yield Verdict(
            "goes on",
            False,
            f"{_said(error)}, in cycle {len(loop.beats)}",
            "read() and write() must not raise in the loop: keep what was known last, and count the fault",
        )
    finally:
        ended = loop.end()
    yield from ended


def _inside(loop: _Loop, joints: Sequence[str], seconds: float) -> Iterator[Verdict]:
    """All laws between taking the robot and letting it go."""
    loop.begin()
    for _ in range(max(20, round(seconds / loop.clock.period))):
        loop.cycle()
    for law in (keeps_its_period, stamps_go_on, names_what_it_measures, says_numbers, speaks_si, has_joints_on, holds):
        yield law(loop)
    yield stops_at_any_time(loop)
    joints = joints or (_some_joints(loop.robot) if getattr(loop.interface, "simulated", False) else ())
    if not joints:
        return
    off = switched_on(loop, joints)
    if off:
        yield Verdict(
            *("moves", False, f"off or not measured: {', '.join(off)}"),
            "switch them on first: wholebody start …, then wholebody console -c homeAll, then wholebody stop",
        )
        return
    for joint in joints:
        yield from moves(loop, joint)


# The loop.


@dataclass
class _Loop:
    """A robot in the daemon's cycle, and what was seen of it."""

    interface: RobotInterface
    robot: Robot
    asked: float  # s, the period
    clock: Clock = field(init=False)
    beats: list[float] = field(default_factory=list)
    stamps: list[float] = field(default_factory=list)
    work: list[float] = field(default_factory=list)  # s of writing and reading, without what other processes took
    stops: list[float] = field(default_factory=list)
    positions: list[Array] = field(default_factory=list)
    velocities: list[Array] = field(default_factory=list)
    not_finite: list[str] = field(default_factory=list)
    implausible: dict[str, str] = field(default_factory=dict)  # what, and what was seen first

    def __post_init__(self) -> None:
        """Make the records, and find the beat."""
        self._states: np.ndarray[Any, Any] = np.zeros(1, self.robot.state_dtype())
        self._references: np.ndarray[Any, Any] = np.zeros(1, self.robot.reference_dtype())
        self.state: Record = self._states[0]
        self.reference: Record = self._references[0]
        self.reference["mode"], self.reference["mask"] = Mode.POSITION, True
        self.clock = self.interface if isinstance(self.interface, Clock) else SteadyClock(self.asked)
        self._writes = True
        self.still = np.array([_still(self.robot, joint) for joint in self.robot.moving])

    def begin(self) -> None:
        """Read where the joints are: that is the reference."""
        self.interface.read(self.state)
        self._writes = bool(np.isfinite(self.position).all())
        self.hold()

    def hold(self) -> None:
        """Want the joints where they are."""
        self.reference["position"] = np.nan_to_num(self.position)
        self.reference["mask"] = True

    @property
    def position(self) -> Array:
        """Where the joints are."""
        return np.array(self.state["position"])

    def cycle(self, write: bool = True, stop: bool = False) -> None:
        """Go round once."""
        beat = float(self.clock.tick())
        waits, begun, computed = _waits(), time.perf_counter(), time.thread_time()
        if write and self._writes:
            self.reference["time"] = beat
            self.interface.write(self.reference)
        if stop:
            self.stop()
        self.interface.read(self.state)
        if _waits() > waits:
            self.work.append(time.perf_counter() - begun)
        else:  # others may have had the processor meanwhile
            self.work.append(time.thread_time() - computed)
        self.beats.append(beat)
        self.stamps.append(float(self.state["time"]))
        self.positions.append(self.position)
        self.velocities.append(np.array(self.state["velocity"]))
        self._look()

    def stop(self) -> None:
        """Stop it, and note how long that takes."""
        begun = time.perf_counter()
        self.interface.stop()
        self.stops.append(time.perf_counter() - begun)

    def end(self) -> list[Verdict]:
        """Let the robot go, and stop it once more."""
        begun = time.perf_counter()
        try:
            self.interface.__exit__(None, None, None)
        except Exception as error:
            return [Verdict("lets go", False, _said(error), "__exit__ stops the robot and must not raise")]
        took = time.perf_counter() - begun
        try:
            self.interface.stop()
        except Exception as error:
            why = "stop() may be called at any time, also after the end, and never raises: suppress what goes wrong"
            return [Verdict("lets go", False, f"stop() afterwards: {_said(error)}", why)]
        return [Verdict("lets go", True, f"{took:.2f} s")]

    def measured(self, what: Measured = Measured.POSITION) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which joints have a quantity measured."""
        return np.asarray((self.state["measured"] & int(what)) > 0)

    def ready(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which joints follow references."""
        return np.asarray((self.state["status"] & READY) == READY)

    def _look(self) -> None:
        """Note what is no number, and what no robot of this kind can show."""
        for field_name, values in _numbers(self._states):
            if not np.isfinite(values).all():
                self.not_finite.append(self._where(field_name, values, ~np.isfinite(values)))
        for what, values, low, high in self._plausible():
            outside = (values < low) | (values > high)
            if outside.any():
                index = int(np.flatnonzero(outside)[0])
                low, high = np.broadcast_to(low, values.shape)[index], np.broadcast_to(high, values.shape)[index]
                seen = f"{self._where(what, values, outside)} = {values[index]:.4g}, plausible {low:.3g} … {high:.3g}"
                self.implausible.setdefault(what, seen)

    def _plausible(self) -> Iterator[tuple[str, Array, Any, Any]]:
        """Quantities with the range that they can be in."""
        state, moving = self.state, self.robot.moving
        lower, upper = (np.array([getattr(joint, side) for joint in moving]) for side in ("lower", "upper"))
        margin = 0.1 + 0.05 * np.nan_to_num(upper - lower, posinf=0.0)
        yield from self._of_joints("position", Measured.POSITION, lower - margin, upper + margin)
        for quantity, kind, limit in (
            ("velocity", Measured.VELOCITY, [2.0 * joint.velocity + 0.5 for joint in moving]),
            ("effort", Measured.EFFORT, [2.0 * joint.effort + 1.0 for joint in moving]),
        ):
            yield from self._of_joints(quantity, kind, -np.array(limit), np.array(limit))
        everything = np.full(len(moving), 1.0)
        yield from self._of_joints("temperature", Measured.TEMPERATURE, -40.0 * everything, 150.0 * everything)
        imus = state["imu"] if "imu" in (state.dtype.names or ()) else ()
        for imu, sensor in zip(imus, self.robot.sensors_of("imu"), strict=True):
            if imu["measured"] & MeasuredMotion.ROLL_AND_PITCH:
                yield f"length of the quaternion of {sensor.name}", _length(imu["orientation"]), 0.99, 1.01
            accelerations = sum(each for each in MeasuredMotion if "ACCELERATION" in str(each.name))
            if imu["measured"] & accelerations == accelerations:
                yield f"acceleration of {sensor.name}", _length(imu["linear_acceleration"]), 0.3 * GRAVITY, 3 * GRAVITY
            yield f"angular velocity of {sensor.name}", _length(imu["angular_velocity"]), 0.0, 35.0

    def _of_joints(
        self, what: str, kind: Measured, low: Array, high: Array
    ) -> Iterator[tuple[str, Array, Array, Array]]:
        values = np.where(self.measured(kind), np.nan_to_num(self.state[what]), np.clip(0.0, low, high))
        yield what, values, low, high

    def _where(self, what: str, values: Array, wrong: Any) -> str:
        index = int(np.flatnonzero(np.ravel(wrong))[0])
        names = self.robot.joint_names
        return f"{what} of {names[index]}" if values.shape == (len(names),) else what


# The laws.


def keeps_its_period(loop: _Loop) -> Verdict:
    """Write and read are over within a period, and a robot that beats by itself beats as it was asked to."""
    often, median = (float(each) for each in np.quantile(loop.work, (OFTEN, 0.5)))
    period, beats = loop.clock.period, float(np.median(np.diff(loop.beats)))
    figure = f"{period * 1e3:.3g} ms, {loop.asked * 1e3:.3g} asked; write and read take {median * 1e3:.2f} ms"
    if often > period:
        remedy = "read() and write() must not wait: let a thread talk to the device, and read() take what is there"
        return Verdict("period", False, figure, remedy)
    by_itself = isinstance(loop.interface, Clock)
    kept = abs(period - loop.asked) <= 0.01 * loop.asked and not (by_itself and abs(beats - period) > 0.05 * period)
    figure += f"; {beats * 1e3:.3g} ms from beat to beat" if by_itself else ""
    return Verdict("period", kept, figure, "tick() must return once a period, and `period` be the one asked for (s)")


def stamps_go_on(loop: _Loop) -> Verdict:
    """Times never go back, and are seconds."""
    back = int((np.diff(loop.stamps) < 0).sum() + (np.diff(loop.beats) <= 0).sum())
    if back or not np.isfinite([*loop.stamps, *loop.beats]).all():
        remedy = "times come from a clock that never goes back: time.monotonic(), or the device's own"
        return Verdict("times", False, f"{back} of {len(loop.stamps)} go back", remedy)
    if loop.stamps[-1] == loop.stamps[0]:
        return Verdict("times", True, "none goes back; the state's time is left to the loop")
    rate = (loop.stamps[-1] - loop.stamps[0]) / (loop.beats[-1] - loop.beats[0])
    seconds = 0.5 < rate < 2.0
    return Verdict(
        "times", seconds, f"none goes back; {rate:.3g} s in a second", 'give state["time"] in seconds, or leave it'
    )


def names_what_it_measures(loop: _Loop) -> Verdict:
    """The state says which joints are measured, and the driver knows no joint that the robot lacks."""
    names, measured = loop.robot.joint_names, loop.measured()
    known = getattr(loop.interface, "joints", ())
    strange = [each for each in known if isinstance(each, str) and each not in loop.robot.index] if known else []
    if strange:
        return Verdict(
            "names",
            False,
            f"joints that {loop.robot.name} lacks: {_some(strange)}",
            "take names from robot.joint_names",
        )
    without = [name for name, is_there in zip(names, measured, strict=True) if not is_there]
    figure = f"{int(measured.sum())} of {len(names)} joints measured" + (f", not: {_some(without)}" if without else "")
    return Verdict("names", bool(measured.any()), figure, 'say what is measured: state["measured"] = Measured.POSITION')


def says_numbers(loop: _Loop) -> Verdict:
    """Everything in the state is finite."""
    wrong = loop.not_finite
    figure = f"{len(wrong)} in {len(loop.beats)} states" + (f", first {wrong[0]}" if wrong else "")
    return Verdict(
        "finite", not wrong, figure, "where nothing is known keep the last value, and take its flag from measured"
    )


def speaks_si(loop: _Loop) -> Verdict:
    """Quantities are such as the robot's limits allow, so in rad, rad/s, N·m, °C, m/s²."""
    seen = list(loop.implausible.values())
    figure = seen[0] if seen else "all within what the robot's limits allow"
    return Verdict("units", not seen, figure, "convert to rad, rad/s, N·m, °C, m/s², quaternions x y z w of length 1")


def has_joints_on(loop: _Loop) -> Verdict:
    """Joints that are measured are on, or can be switched on: the daemon moves no other."""
    measured, on = loop.measured(), loop.measured() & loop.ready()
    figure = f"{int(on.sum())} of {int(measured.sum())} joints on"
    if isinstance(loop.interface, Boards):
        return Verdict("status", True, f"{figure}; boards can switch them")
    kept = bool(on.any()) or not measured.any()
    return Verdict("status", kept, figure, 'state["status"] = Status.DRIVER_ON | Status.CONTROL_ON | Status.HOMED')


def holds(loop: _Loop) -> Verdict:
    """Joints that are told to be where they are stay there."""
    moved = np.abs(np.array(loop.positions) - loop.reference["position"]).max(0) * (loop.measured() & loop.ready())
    joint, kept = _worst(loop, moved)
    return Verdict("holds", kept, f"{joint} at most", "write() must take positions as read() gives them")


def stops_at_any_time(loop: _Loop) -> Verdict:
    """Stop never raises, is quick, and the joints stay."""
    before = loop.position
    try:
        for _ in range(3):
            loop.stop()
    except Exception as error:
        return Verdict("stop", False, _said(error), "stop() never raises: suppress what goes wrong in it")
    for _ in range(20):
        loop.cycle(write=False)
    longest = max(loop.stops)
    joint, kept = _worst(loop, np.abs(loop.position - before) * (loop.measured() & loop.ready()))
    loop.hold()
    figure = f"{longest * 1e3:.2f} ms; joints moved {joint} at most"
    return Verdict("stop", longest < 0.1 and kept, figure, "stop() holds all joints where they are, within 0.1 s")


# The laws of moving.


def switched_on(loop: _Loop, joints: Sequence[str]) -> list[str]:
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


def moves(loop: _Loop, name: str) -> Iterator[Verdict]:
    """A joint goes where it is sent, alone, at the velocity that it says; stays if out of the mask; and stops."""
    index, joint = loop.robot.index[name], loop.robot.joint(name)
    start = loop.position
    way = _way(joint, float(start[index]))
    loop.reference["position"], loop.reference["mask"] = start, True
    first = len(loop.beats)
    steps = max(10, round(max(0.5, 2 * REACH / joint.velocity) / loop.clock.period))
    for step in range(1, steps + 1):
        loop.reference["position"][index] = start[index] + way * step / steps
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
    loop.reference["position"], loop.reference["mask"] = start, True
    for _ in range(steps):
        loop.cycle()


def _follows(loop: _Loop, name: str, way: float, went: float) -> Verdict:
    if went / way < -0.2:
        remedy = "it turns the wrong way: change its sign in read() and write() alike, or in one of them"
    elif went / way < 0.5:
        remedy = 'it does not follow: write() takes reference["position"] in rad where reference["mask"] is set'
    else:
        remedy = "it goes too far: the same unit and gear in read() and write()"
    return Verdict(f"{name} follows", 0.5 < went / way < 1.5, f"sent {way:+.3f}, went {went:+.4f} rad", remedy)


def _worst(loop: _Loop, moved: Array) -> tuple[str, bool]:
    """By how much which joint has moved most for what it may, and whether it is still."""
    joint = int(np.argmax(moved / loop.still))
    return f"{moved[joint]:.4f} rad ({loop.robot.joint_names[joint]})", bool(moved[joint] <= loop.still[joint])


def _alone(loop: _Loop, name: str, start: Array) -> Verdict:
    moved = np.abs(loop.position - start) * loop.measured()
    pairs = [(each.master, each.slave) for each in loop.robot.couplings]
    together = {name}.union(*(pair for pair in pairs if name in pair))
    moved[[loop.robot.index[each] for each in together]] = 0.0
    other, kept = _worst(loop, moved)
    remedy = "values are in the order of robot.joint_names: find a joint's place by robot.index[name]"
    return Verdict(f"{name} alone", kept, f"others moved {other} at most", remedy)


def _velocity(loop: _Loop, name: str, first: int, start: Array) -> Verdict:
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
    remedy = 'velocity is the derivative of position, rad/s; or take Measured.VELOCITY from state["measured"]'
    return Verdict(law, fits, f"adds up to {summed:+.4f} rad, went {went:+.4f}", remedy)


def _stays_out_of_the_mask(loop: _Loop, name: str, way: float) -> Verdict:
    index, before = loop.robot.index[name], loop.position
    loop.hold()
    loop.cycle()
    loop.reference["position"][index] = before[index] - np.sign(way) * TOUCH
    loop.reference["mask"][index] = False
    for _ in range(round(0.3 / loop.clock.period)):
        loop.cycle()
    moved = float(abs(loop.position[index] - before[index]))
    remedy = 'write() leaves joints alone where reference["mask"] is not set'
    return Verdict(f"{name} mask", moved < TOUCH / 2, f"moved {moved:.4f} rad", remedy)


def _stops_on_the_way(loop: _Loop, name: str, way: float) -> Verdict:
    index = loop.robot.index[name]
    loop.hold()
    loop.cycle()
    loop.reference["position"][index] -= np.sign(way) * TOUCH
    loop.cycle(stop=True)
    at_stop = loop.position
    for _ in range(round(0.3 / loop.clock.period)):
        loop.cycle(write=False)
    moved = float(abs(loop.position[index] - at_stop[index]))
    loop.hold()
    figure = f"moved {moved:.4f} rad after stop()"
    return Verdict(f"{name} stops", moved < TOUCH / 2, figure, "stop() forgets what was written, and holds where it is")


def _still(robot: Robot, joint: Joint) -> float:
    """By how much a joint that is held may differ: a soft one gives way to a fifth of its greatest torque."""
    gain = robot.gains.get(joint.name)
    soft = 0.2 * joint.effort / gain.stiffness if gain is not None and gain.stiffness > 0 else 0.0
    return STILL + min(soft, 0.1)


def _way(joint: Joint, position: float) -> float:
    """By how much to move it: away from a limit that is near."""
    return REACH if position + 1.2 * REACH <= joint.upper else -REACH


def _some_joints(robot: Robot) -> tuple[str, ...]:
    """One joint of each arm, or the last: none that the robot stands on."""
    arms = [robot.groups[group][0] for group in ("right_arm", "left_arm") if robot.groups.get(group)]
    return tuple(arms) or robot.joint_names[-1:]


def _numbers(records: np.ndarray[Any, Any], above: str = "") -> Iterator[tuple[str, Array]]:
    """Every field of numbers of records, by name."""
    for name in records.dtype.names or ():
        values = np.ravel(records[name])
        if values.dtype.names:
            yield from _numbers(values, f"{name} ")
        elif np.issubdtype(values.dtype, np.floating):
            yield f"{above}{name}", values


def _waits() -> int:
    """How often this thread has gone to sleep by itself so far."""
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw


def _length(vector: Any) -> Array:
    return np.array([float(np.linalg.norm(vector))])


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
