"""check: take a robot by a driver, and go through all laws.

The loop is the daemon's: beat, write, read. Unless joints are named to be moved, what was measured is written back and
nothing moves; a device that says that it is simulated moves some of its joints all the same. To a robot whose positions
make no sense nothing is written, and a real one that breaks a law at rest, other than its period, is not moved.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from wholebody.drivers.interface import RobotInterface
from wholebody.drivers.laws import at_rest, moving
from wholebody.drivers.laws.loop import Loop
from wholebody.drivers.laws.verdict import Verdict, said
from wholebody.errors import UnknownName
from wholebody.robots.robot import Robot


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
    for law in at_rest.LAWS:
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
