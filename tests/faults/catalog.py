"""All faults that the suite injects, one declaration each. Add yours at the end of the group to which it belongs.

What a scene can have done to it is in its class (legged.py …), safe states are in fault.py. `make faults` runs all of
them and writes docs/faults.md, `.venv/bin/pytest tests/faults -k "words of its name"` one.
"""

from __future__ import annotations

import spoilt
from fault import HOLDS, STANDS, STILL, Fault
from legged import Standing, Walking, WalkingAlone

CONTROLLERS = (
    Fault(
        "its controller is killed (kill -9)",
        Walking,
        lambda scene: scene.kill(scene.rig.controller),
        {
            "walk": "the walking controller 'walk' of 'told' has ended; start it: wholebody walk",
            "status": "'walk' has said nothing for 0.065 s: hold",
        },
        HOLDS,
        0.5,
    ),
    Fault(
        "its controller is killed (kill -9)",
        Standing,
        lambda scene: scene.kill(scene.rig.controller),
        {"walk": "has ended; start it: wholebody walk", "status": "ago: it has ended"},
        HOLDS,
        0.5,
    ),
    Fault(
        "its controller hangs (SIGSTOP)",
        Walking,
        lambda scene: scene.hang(scene.rig.controller),
        {
            "walk": r"has said nothing for 2 s: its process \d+ hangs or is stopped: continue it",
            "status": r"its process \d+ hangs or is stopped",
        },
        HOLDS,
        0.5,
    ),
    Fault(
        "its controller is slow: 0.3 s late in mid-step",
        Walking,
        lambda scene: scene.hang(scene.rig.controller, 0.3),
        {
            "walk": r"failed: no state came for 0.\d+ s in mid-step; it holds its joints where they were: tell it",
            "status": "walk: no state came for 0.",
        },
        HOLDS,
        0.5,
    ),
    Fault(
        "its controller is slow: 0.3 s late",
        Standing,
        lambda scene: scene.hang(scene.rig.controller, 0.3),
        {"status": "'walk' has said nothing for 0.065 s: hold"},
        STANDS,
        0.1,
    ),
    Fault(
        "the robot's clock jumps by 10 s",
        Walking,
        lambda scene: scene.jump(10.0),
        {"walk": "no state came for 10.0. s in mid-step; it holds its joints"},
        HOLDS,
        0.5,
    ),
    Fault("the robot's clock jumps by 10 s", Standing, lambda scene: scene.jump(10.0), {}, STANDS, 0.1),
)

DAEMONS = (
    Fault(
        "its daemon is killed (kill -9)",
        WalkingAlone,
        lambda scene: scene.kill(scene.rig.daemon),
        {
            "walk": "the robot 'told' has gone before: its daemon has ended; start it again: wholebody start",
            "status": "no robot called 'told' is running; start one",
            "log": "walk: the robot has gone; start it again",
        },
        HOLDS,
        0.5,
    ),
    Fault(
        "its daemon hangs (SIGSTOP)",
        WalkingAlone,
        lambda scene: scene.hang(scene.rig.daemon),
        {
            "walk": r"the robot 'told' is silent: its daemon \(process \d+\) hangs or is stopped",
            "status": r"the robot is silent: its daemon \(process \d+\) hangs or is stopped: continue it",
        },
        HOLDS,
        0.5,
    ),
    Fault(
        "its simulator is killed under the daemon",
        Walking,
        lambda scene: scene.end_world(),
        {
            "walk": "the robot 'told' is silent: its simulator has ended; begin another: wholebody start hoap3",
            "status": "the robot is silent: its simulator has ended; begin another: wholebody start hoap3",
            "log": "no simulator of 'told' is there yet: waiting for one",
        },
        STILL,
        0.5,
    ),
)

SENSORS = (
    Fault(
        "its gyro freezes",
        Walking,
        lambda scene: scene.spoil(spoilt.frozen(spoilt.gyro)),
        {"walk": "the gyro reads the same to the last bit while the robot moves: it is frozen; it stops and stands"},
        STANDS,
        2.5,
    ),
)

FAULTS = (*CONTROLLERS, *DAEMONS, *SENSORS)
