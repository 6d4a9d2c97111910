"""check: take a robot by a driver, and go through all laws.

The loop is the daemon's: beat, write, read. Unless joints are named to be moved, what was measured is written back and
nothing moves; a device that says that it is simulated moves some of its joints all the same. To a robot whose positions
make no sense nothing is written, and a real one that breaks a law at rest, other than its period, is not moved.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from wholebody.drivers.interface import Boards, Clock, RobotInterface
from wholebody.drivers.laws import moving
from wholebody.drivers.laws.loop import Loop, Verdict, said, worst
from wholebody.errors import UnknownName
from wholebody.robots.robot import Robot

OFTEN = 0.2
"""Share of cycles by which the period is judged: machines stall, and the driver is not to be blamed for that."""


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
        yield Verdict("opens", False, said(error), "see that the device is there, and that joints are named right")
        return
    yield Verdict("opens", True, f"{time.perf_counter() - begun:.2f} s")
    loop = Loop(interface, robot, period)
    try:
        yield from _inside(loop, joints, seconds)
    except Exception as error:
        yield Verdict(
            "goes on",
            False,
            f"{said(error)}, in cycle {len(loop.beats)}",
            "read() and write() must not raise in the loop: keep what was known last, and count the fault",
        )
    finally:
        ended = loop.end()
    yield from ended


def _inside(loop: Loop, joints: Sequence[str], seconds: float) -> Iterator[Verdict]:
    """All laws between taking the robot and letting it go."""
    loop.begin()
    for _ in range(max(20, round(seconds / loop.clock.period))):
        loop.cycle()
    broken = []
    for law in LAWS:
        verdict = law(loop)
        broken += [] if verdict.passed or verdict.law == "period" else [verdict.law]
        yield verdict
    simulated = getattr(loop.interface, "simulated", False)
    joints = joints or (moving.some_joints(loop.robot) if simulated else ())
    if not joints:
        return
    if broken and not simulated:
        yield Verdict("moves", False, f"not tried, as is broken: {', '.join(broken)}", "mend that first")
        return
    if off := moving.switched_on(loop, joints):
        remedy = "switch them on first: wholebody start …, then wholebody console -c homeAll, then wholebody stop"
        yield Verdict("moves", False, f"off or not measured: {', '.join(off)}", remedy)
        return
    for joint in joints:
        yield from moving.moves(loop, joint)


def keeps_its_period(loop: Loop) -> Verdict:
    """Write and read are over within a period, and a robot that beats by itself beats as it was asked to."""
    often, median = (float(each) for each in np.quantile(loop.work, (OFTEN, 0.5)))
    period, beats = loop.clock.period, float(np.quantile(np.diff(loop.beats), OFTEN))
    figure = f"{period * 1e3:.3g} ms, {loop.asked * 1e3:.3g} asked; write and read take {median * 1e3:.2f} ms"
    if often > period:
        remedy = "read() and write() must not wait: let a thread talk to the device, and read() take what is there"
        return Verdict("period", False, figure, remedy)
    by_itself = isinstance(loop.interface, Clock)
    kept = abs(period - loop.asked) <= 0.01 * loop.asked and not (by_itself and abs(beats - period) > 0.05 * period)
    figure += f"; {beats * 1e3:.3g} ms from beat to beat" if by_itself else ""
    return Verdict("period", kept, figure, "tick() must return once a period, and `period` be the one asked for (s)")


def stamps_go_on(loop: Loop) -> Verdict:
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
        "times", seconds, f"none goes back; {rate:.3g} s in a second", "give state.time in seconds, or leave it"
    )


def names_what_it_measures(loop: Loop) -> Verdict:
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
    return Verdict("names", bool(measured.any()), figure, "say what is measured: state.measured[:] = Measured.POSITION")


def says_numbers(loop: Loop) -> Verdict:
    """Everything in the state is finite."""
    wrong = loop.not_finite
    figure = f"{len(wrong)} in {len(loop.beats)} states" + (f", first {wrong[0]}" if wrong else "")
    return Verdict(
        "finite", not wrong, figure, "where nothing is known keep the last value, and take its flag from measured"
    )


def speaks_si(loop: Loop) -> Verdict:
    """Quantities are such as the robot's limits allow, so in rad, rad/s, N·m, °C, m/s²."""
    seen = list(loop.implausible.values())
    figure = seen[0] if seen else "all within what the robot's limits allow"
    return Verdict("units", not seen, figure, "convert to rad, rad/s, N·m, °C, m/s², quaternions x y z w of length 1")


def has_joints_on(loop: Loop) -> Verdict:
    """Joints that are measured are on, or can be switched on: the daemon moves no other."""
    measured, on = loop.measured(), loop.measured() & loop.ready()
    figure = f"{int(on.sum())} of {int(measured.sum())} joints on"
    if isinstance(loop.interface, Boards):
        return Verdict("status", True, f"{figure}; boards can switch them")
    kept = bool(on.any()) or not measured.any()
    return Verdict("status", kept, figure, "state.status[:] = Status.DRIVER_ON | Status.CONTROL_ON | Status.HOMED")


def holds(loop: Loop) -> Verdict:
    """Joints that are told to be where they are stay there."""
    moved = np.abs(np.array(loop.positions) - loop.reference.position).max(0) * (loop.measured() & loop.ready())
    joint, kept = worst(loop, moved)
    return Verdict("holds", kept, f"{joint} at most", "write() must take positions as read() gives them")


def stops_at_any_time(loop: Loop) -> Verdict:
    """Stop never raises, is quick, and the joints stay."""
    before = loop.position
    try:
        for _ in range(3):
            loop.stop()
    except Exception as error:
        return Verdict("stop", False, said(error), "stop() never raises: suppress what goes wrong in it")
    for _ in range(20):
        loop.cycle(write=False)
    longest = max(loop.stops)
    joint, kept = worst(loop, np.abs(loop.position - before) * (loop.measured() & loop.ready()))
    loop.hold()
    figure = f"{longest * 1e3:.2f} ms; joints moved {joint} at most"
    return Verdict("stop", longest < 0.1 and kept, figure, "stop() holds all joints where they are, within 0.1 s")


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


LAWS = (
    keeps_its_period,
    stamps_go_on,
    names_what_it_measures,
    says_numbers,
    speaks_si,
    has_joints_on,
    holds,
    stops_at_any_time,
)
"""In this order: the last writes, and stops."""
