"""All faults that the suite injects, one declaration each. Add yours at the end of the group to which it belongs.

What a scene can have done to it is in its class (legged.py …), safe states are in fault.py. `make faults` runs all of
them and writes docs/faults.md, `.venv/bin/pytest tests/faults -k "words of its name"` one.
"""

from __future__ import annotations

import spoilt
from fault import HOLDS, LIES, STANDS, STILL, Fault
from legged import NAME, Standing, Walking, WalkingAlone, WalkingOnSmallDisk
from little import no_disk, no_group

PAGE = ("page", "--name", NAME, "--robot", "hoap3", "--port", "0", "--no-camera", "--no-open")

CONTROLLERS = (
    Fault(
        "its controller is killed (kill -9)",
        Walking,
        lambda scene: scene.kill(scene.rig.controller),
        {
            "walk": "the walking controller 'walk' of 'told' has ended; start it: wholebody walk",
            "status": "'walk' has said nothing for 0.065 s: hold",
            "page": "the walking controller has ended",
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
            "page": r"the walking controller says nothing: its process \d+ hangs or is stopped",
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
            "page": "^no state came for 0.",
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
            "page": r"the robot is silent: its daemon \(process \d+\) hangs or is stopped: continue it",
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
            "page": "the robot is silent: its simulator has ended; begin another: wholebody start hoap3",
            "log": "no simulator of 'told' is there yet: waiting for one",
        },
        STILL,
        0.5,
    ),
)


def _frozen(part, name, scene=Walking):
    words = f"{name} reads the same to the last bit while the robot moves: it is frozen; it stops and stands"
    return Fault(f"{name} freezes", scene, lambda robot: robot.spoil(spoilt.frozen(part)), {"walk": words}, STANDS, 2.5)


def _missing(part, name, words, scene):
    said = f"{words} reads what is no number; it stops and stands"
    reads = {"status": said} | ({"walk": f"failed: {said}"} if scene is Walking else {})
    return Fault(f"{name} goes missing", scene, lambda robot: robot.spoil(spoilt.missing(part)), reads, STANDS, 2.5)


SENSORS = (
    _frozen(spoilt.gyro, "the gyro"),
    _frozen(spoilt.accelerometer, "the accelerometer"),
    _frozen(spoilt.left_foot, "the force-torque sensor of 'left_sole'"),
    _frozen(spoilt.right_knee, "the encoder of 'R_KN'"),
    _missing(spoilt.imu, "its IMU", "the IMU", Walking),
    _missing(spoilt.imu, "its IMU", "the IMU", Standing),
    _missing(spoilt.left_wrench, "a foot's force-torque sensor", "a force-torque sensor of the feet", Walking),
    Fault(
        "the gyro drifts by 0.1 rad/s in each second",
        Standing,
        lambda scene: scene.spoil(spoilt.drifting(spoilt.pitch_rate, 0.1)),
        {"status": "walk: it has fallen: the pelvis leans by"},
        LIES,
        8.0,
    ),
    Fault(
        "a foot's force drifts by 5 N/s",
        Walking,
        lambda scene: scene.spoil(spoilt.drifting(spoilt.left_force, 5.0)),
        {"walk": "walk 0.3: at 0.30"},
        STANDS,
        4.0,
    ),
)

RESOURCES = (
    Fault(
        "the disk of its logs is full",
        WalkingOnSmallDisk,
        lambda scene: (scene.fill(), scene.pause(1.5)),
        {"walk": "walk 0.3: at 0.30", "status": "log .* its disk is full: what is said now is lost"},
        STANDS,
        4.0,
        needs=no_disk,
    ),
    Fault(
        "the disk of a recording (wholebody log) is full",
        WalkingOnSmallDisk,
        lambda scene: scene.type("log", scene.log.with_suffix(".mcap"), "--channels", "told.*"),
        {"command": "the disk is full, so the log ends here; .* has everything up to now", "walk": "walk 0.3: at 0.30"},
        STANDS,
        4.0,
        needs=no_disk,
    ),
    Fault(
        "a behaviour runs out of memory",
        Standing,
        lambda scene: scene.feed_all_memory(),
        {"command": "'told.eat' has ended"},
        STANDS,
        0.1,
        needs=no_group,
    ),
    Fault(
        "more controllers come than there is room for",
        Walking,
        lambda scene: scene.crowd(16),
        {"status": "there are 16 controllers already; 'other.*' is left out", "walk": "walk 0.3: at 0.30"},
        STANDS,
        4.0,
    ),
)

OTHERS = (
    Fault(
        "another daemon is started for it",
        Walking,
        lambda scene: scene.type("start", "hoap3", "--name", NAME),
        {"command": r"running already \(process \d+\)", "walk": "walk 0.3: at 0.30"},
        STANDS,
        4.0,
    ),
    Fault(
        "another walking controller is started for it",
        Walking,
        lambda scene: scene.type("process", "walk", "--name", NAME, "--robot", "hoap3"),
        {"command": r"a process 'walk' of 'told' runs already \(process \d+\); end it first", "walk": "walk 0.3: at"},
        STANDS,
        4.0,
    ),
    Fault(
        "two pages are opened for it",
        Standing,
        lambda scene: [scene.type(*PAGE) for _ in range(2)],
        {"command": "people talk to 'told' elsewhere already: .*; use that, or end it first"},
        STANDS,
        0.1,
    ),
)

FAULTS = (*CONTROLLERS, *DAEMONS, *SENSORS, *RESOURCES, *OTHERS)
