"""How a robot does, as diagnostics of ROS: its loop, its joints, its controllers, and what was refused."""

from __future__ import annotations

from collections.abc import Mapping

from wholebody.operator.monitor.status_view import Picture
from wholebody.ros.standard import DiagnosticArray, DiagnosticStatus, Header, KeyValue, Time

OK, WARN, ERROR, STALE = range(4)
SILENT = 1.0
"""s without a state after which nothing is heard of it."""


def diagnostics(picture: Picture, stamp: Time, complaints: Mapping[str, str]) -> DiagnosticArray:
    """One status for each part; `complaints` is what was wrong with what came in, by topic, and is a warning."""
    name = picture.name
    status = [_loop(picture), _joints(picture), _controllers(picture)]
    status += [DiagnosticStatus(WARN, f"{name}: {topic}", text, name) for topic, text in complaints.items()]
    return DiagnosticArray(Header(stamp), status)


def _loop(picture: Picture) -> DiagnosticStatus:
    level = STALE if picture.process is None or picture.silent > SILENT else WARN if picture.stopped else OK
    values = {
        "robot": picture.robot,
        "behind": picture.behind,
        "period": f"{picture.period:g} s",
        "rate": f"{picture.rate:.1f} Hz",
        "missed": str(picture.missed),
        "uptime": f"{picture.uptime:.0f} s",
        **{f"refused, {why}": str(count) for why, count in picture.refusals.items() if count},
    }
    return _status(picture, level, "loop", picture.condition, values)


def _joints(picture: Picture) -> DiagnosticStatus:
    faults = dict(picture.faults)
    off = [joint.name for joint in picture.joints if not joint.on]
    level = ERROR if faults else WARN if off else OK
    text = f"{len(faults)} with faults" if faults else f"{len(off)} switched off" if off else "all well"
    return _status(picture, level, "joints", text, {**faults, **dict.fromkeys(off, "off")})


def _controllers(picture: Picture) -> DiagnosticStatus:
    moving = {each.name: each for each in picture.controllers if each.joints}
    late = [each.name for each in moving.values() if each.period and (each.age or 0.0) > each.period]
    text = f"silent: {', '.join(late)}" if late else f"{len(moving)} move joints"
    values = {name: f"{len(each.joints)} joints, {each.rate:.0f} Hz" for name, each in moving.items()}
    return _status(picture, WARN if late else OK, "controllers", text, values)


def _status(picture: Picture, level: int, part: str, text: str, values: Mapping[str, str]) -> DiagnosticStatus:
    told = [KeyValue(key, value) for key, value in values.items()]
    return DiagnosticStatus(level, f"{picture.name}: {part}", text, picture.name, told)
