"""The laws of a driver whose joints are told to be where they are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wholebody.drivers.interface import Boards, Clock
from wholebody.drivers.laws.loop import Loop, worst
from wholebody.drivers.laws.verdict import Verdict, said

OFTEN = 0.2
"""Share of cycles by which the period is judged: machines stall, and the driver is not to be blamed for that."""


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
