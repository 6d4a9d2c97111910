"""Valkyrie leans its hands on a wall and pushes with a force that is told: fifteen tasks, and contacts that come on.

    python -m examples.valkyrie_wall 40            # newtons with each hand
    python -m examples.valkyrie_wall 40 wall.png   # and a filmstrip of it

It reaches for the wall, touches it gently, takes the hands for contacts, and pushes; the commands of both sets of
contacts are faded into each other. Whoever pushes a wall is pushed back: a force F at height z moves the centre of
pressure by F z / (m g) towards the heels, so the centre of mass leans forward by as much.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext

import numpy as np

from wholebody import robots
from wholebody.constraints import FlatContact, PointContact
from wholebody.control import WBOSC, Problem, Transitions
from wholebody.control.servo import Servo
from wholebody.model import Model
from wholebody.model.snapshot import Snapshot
from wholebody.motion import PiecewisePolynomial, quintic
from wholebody.simulation import Simulation
from wholebody.simulation.cameras import View
from wholebody.simulation.film import Recording
from wholebody.tasks import (
    CartesianPositionTask,
    CenterOfMassTask,
    CenterOfPressureTask,
    ContactForceTask,
    InternalForceTask,
    JointPositionTask,
    Orientation2DTask,
    Orientation3DTask,
    PoseTask,
)

SIDES = {"right": -1.0, "left": 1.0}
WALL = 0.66  # m ahead of the pelvis
READY, TOUCHED, BRACED, PUSHING, END = 2.2, 3.4, 3.5, 5.0, 6.5  # s
PRESSED = 0.004  # m: how far into the wall the hands are told to go
TIP = np.array([0.006, 0.12, 0.0195])  # m: the end of the left hand's fingers, in the frame of its palm
MIRRORED = ("ShoulderRoll", "ElbowPitch", "WristRoll", "WristPitch")
REACH = {"ShoulderPitch": -0.53, "ShoulderRoll": 1.16, "ShoulderYaw": 0.08, "ElbowPitch": 1.25, "ForearmYaw": 0.37}
REACH |= {"WristRoll": 0.18, "WristPitch": -0.11}


def arms(model: Model, q: np.ndarray, angles: dict[str, float]) -> np.ndarray:
    """The joints with both arms at these angles, one as the other's mirror image."""
    joints = dict(zip(model.joint_names, q, strict=True))
    for name, angle in angles.items():
        joints[f"right{name}"], joints[f"left{name}"] = angle, -angle if name in MIRRORED else angle
    return np.array(list(joints.values()))


def rest_to_rest(*points: tuple[float, Sequence[float]]) -> PiecewisePolynomial:
    """Through points at their times, at rest in each; at the first one from the beginning."""
    first = [points[0][1]] if points[0][0] > 0 else []
    table = np.array([*first, *(point for _, point in points)])
    return quintic(table, [0.0][: len(first)] + [time for time, _ in points], velocities=np.zeros_like(table))


class Push:
    """Reach the wall, brace, and push: at first gently, then with all the force (N, of each hand)."""

    def __init__(self, model: Model, force: float, lean: bool = True, gently: float = 5.0) -> None:
        self.model, self.force, self.lean, self.gently = model, force, lean, gently
        self.problem: Problem | None = None

    def __call__(self, time: float, snapshot: Snapshot) -> Problem:
        if self.problem is None:
            self.problem = self._build(snapshot)
        if time >= BRACED:
            if self.hands[0].state == "disabled":
                self._brace()
            self._push(time)
        elif time >= READY:
            if self.path is None:
                self._reach(snapshot)
            self._touch(time)
        follow(self.posture, self.way, time)
        return self.problem

    def _build(self, snapshot: Snapshot) -> Problem:
        model, q = self.model, snapshot.q[7:].copy()
        self.start = np.array(snapshot.com_in_world)
        sole = snapshot.position(model.frame("left_sole"))
        self.path: PiecewisePolynomial | None = None
        self.way = rest_to_rest((0.3, q), (READY, arms(model, q, REACH)))
        self.effort = rest_to_rest((BRACED + 0.3, [self.gently]), (PUSHING, [self.force]))
        self.posture = JointPositionTask("posture", q)
        self.com = CenterOfMassTask("com", self.start, stiffness=(4.0, 4.0, 100.0))
        self.wrists, self.turns, self.hands, self.forces = [], [], [], []
        for side, sign in SIDES.items():
            self._add_hand(side, sign)
        under = (self.start[0] - sole[0], 0.0)
        pressures = [CenterOfPressureTask(f"{side}_pressure", f"{side}_foot", under) for side in SIDES]
        feet = [PoseTask(f"{side}_stance", f"{side}_sole", *place(snapshot, f"{side}_sole")) for side in SIDES]
        body = [Orientation3DTask(frame, frame, place(snapshot, frame)[1]) for frame in ("torso", "head_camera")]
        return Problem(
            [
                self.forces,
                [*pressures, InternalForceTask("squeeze", "right_foot", "left_foot", 0.0)],
                feet,
                self.com,
                [*self.wrists, *self.turns],
                body,
                self.posture,
            ],
            [*(FlatContact(f"{side}_foot", f"{side}_sole") for side in SIDES), *self.hands],
        )

    def _add_hand(self, side: str, sign: float) -> None:
        """A hand's tasks and its contact: fingers point ahead, which is along y of the left palm, −y of the right."""
        palm, tip, off = f"{side}_palm", TIP * (1.0, sign, 1.0), "disabled"
        self.wrists.append(CartesianPositionTask(f"{side}_wrist", palm, 0.0, point=tip, state=off))
        self.turns.append(
            Orientation2DTask(f"{side}_turn", palm, (0.0, sign, 0.0), (1, 0, 0), stiffness=25.0, state=off)
        )
        self.hands.append(PointContact(f"{side}_hand", palm, tip, state=off))
        self.forces.append(ContactForceTask(f"{side}_push", f"{side}_hand", 0.0))

    def _reach(self, snapshot: Snapshot) -> None:
        """From where the hands are, straight to the wall."""
        places = [(place(snapshot, wrist.frame), wrist.point) for wrist in self.wrists]
        here = np.array([position + rotation @ tip for (position, rotation), tip in places])
        there = here.copy()
        there[:, 0] = WALL + PRESSED
        self.path = rest_to_rest((0.0, here.ravel()), (TOUCHED - READY, there.ravel()))
        self.height = here[:, 2].mean() - place(snapshot, "left_sole")[0][2]
        for task in (*self.wrists, *self.turns):
            task.state = "enabled"

    def _touch(self, time: float) -> None:
        now = self.path.at(time - READY)
        for number, wrist in enumerate(self.wrists):
            axes = slice(3 * number, 3 * number + 3)
            wrist.goal[:], wrist.goal_velocity[:] = now.position[axes], now.velocity[axes]
            wrist.goal_acceleration[:] = now.acceleration[axes]

    def _brace(self) -> None:
        """From now on the hands stay where they are: contacts instead of tasks."""
        for hand in self.hands:
            hand.state = "enabled"
        for wrist in self.wrists:
            wrist.state = "disabled"

    def _push(self, time: float) -> None:
        now = self.effort.at(time)
        for each, sign in zip(self.forces, SIDES.values(), strict=True):
            each.goal[1] = -sign * now.position[0]
        if self.lean:
            ahead = 2 * self.height / (self.model.robot.mass * 9.81)  # m a newton
            self.com.goal[0] = self.start[0] + ahead * now.position[0]
            self.com.goal_velocity[0] = ahead * now.velocity[0]
            self.com.goal_acceleration[0] = ahead * now.acceleration[0]


def follow(task: JointPositionTask, way: PiecewisePolynomial, time: float) -> None:
    """Let the goal of a task be where a trajectory is."""
    now = way.at(time)
    task.goal[:], task.goal_velocity[:], task.goal_acceleration[:] = now.position, now.velocity, now.acceleration


def place(snapshot: Snapshot, frame: str) -> tuple[np.ndarray, np.ndarray]:
    """Position and rotation of a frame, copied."""
    index = snapshot.model.frame(frame)
    return snapshot.position(index).copy(), snapshot.rotation(index).copy()


def smooth(model: Model) -> Transitions:
    """Contacts and states are faded in."""
    return Transitions(WBOSC(model))


def pressed(simulation: Simulation) -> dict[str, np.ndarray]:
    """The force of the wall on each hand, as MuJoCo has it."""
    found = {side: np.zeros(3) for side in SIDES}
    for touch in simulation.touches:
        for side in SIDES:
            if touch.other == "wall" and touch.link == f"{side}Palm":
                found[side] += touch.force_in_world
    return found


def main(force: str = "40", film: str = "") -> None:
    robot = robots.load("valkyrie")
    model = Model(robot)
    with Simulation(robot, f"wall:ahead={WALL}", control_period=0.001) as simulation:
        push, simulation.view = Push(model, float(force)), View(azimuth=62.0)
        with Recording(film, END) if film else nullcontext() as recording:
            look = [lambda servo: recording.look(simulation)] if recording else []
            servo = Servo(simulation, simulation, smooth(model), push, publish=look)
            servo.run(END)
        for side, on_hand in pressed(simulation).items():
            print(f"{side} hand: {-on_hand[0]:.1f} N into the wall, {np.linalg.norm(on_hand[1:]):.1f} N along it")
        print(f"{len(list(push.problem.tasks))} tasks\n{servo.timing}")


if __name__ == "__main__":
    main(*sys.argv[1:])
