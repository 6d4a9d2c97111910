"""Stand, move the centre of mass, squat and stand on one foot, by efforts or by positions.

    python -m examples.balance hubo2plus
    python -m examples.balance hubo2plus positions

The second way is for robots whose joints follow positions: an internal model makes positions of the efforts.

A behavior is anything that can be called with the time and a snapshot, and returns the problem to solve. This one
follows trajectories from `wholebody.motion`, and lifts the right foot between two instants.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from wholebody import robots
from wholebody.constraints import FlatContact
from wholebody.control import WBOSC, Problem
from wholebody.control.impedance import Impedance
from wholebody.control.servo import Servo
from wholebody.messages import Mode
from wholebody.model import Model
from wholebody.model.snapshot import Snapshot
from wholebody.motion import PiecewisePolynomial, quintic
from wholebody.simulation import Simulation
from wholebody.tasks import (
    CartesianPositionTask,
    CenterOfMassTask,
    CenterOfPressureTask,
    InternalForceTask,
    JointPositionTask,
    Orientation3DTask,
)

LEFT, RIGHT = "left_sole", "right_sole"


@dataclass(frozen=True)
class Plan:
    """Where the centre of mass goes, from where it is, and when the right foot is off the ground, and how high."""

    com: PiecewisePolynomial | None = None
    lifted: tuple[float, float] | None = None
    height: PiecewisePolynomial | None = None


def moved(*waypoints: tuple[float, float, float, float]) -> PiecewisePolynomial:
    """Through (time, x, y, z), each at rest."""
    table = np.array([(0.0, 0.0, 0.0, 0.0), *waypoints])
    return quintic(table[:, 1:], table[:, 0], velocities=np.zeros_like(table[:, 1:]))


class Balance:
    """Centre of mass over the feet, feet where they are, pelvis upright, and the posture as far as that permits.

    Whole-body control knows no inequalities: it would pull at the ground. So the centre of mass is soft sideways: with
    speed v it asks for a centre of pressure kd v / (g / z) away, which must be inside the soles. And a foot is lifted
    only when hardly any weight is on it, which follows from where the centres of pressure are asked to be; the feet do
    not push each other apart, or the one with hardly any weight on it would slip.

    Joints and pelvis are kept as they are found, unless `posture` names one of the robot's: then they go there.
    """

    def __init__(self, model: Model, plan: Plan | None = None, softness: float = 4.0, posture: str = "") -> None:
        self.model, self.plan, self.softness, self.posture = model, plan or Plan(), softness, posture
        self.problem: Problem | None = None

    def __call__(self, time: float, snapshot: Snapshot) -> Problem:
        if self.problem is None:
            self.problem = self._build(snapshot)
        if self.plan.com is not None:
            self._move_com(time)
        if self.plan.lifted is not None:
            self._lift(time)
        return self.problem

    def _build(self, snapshot: Snapshot) -> Problem:
        pelvis = self.model.robot.root
        foot_in_world = snapshot.position(self.model.frame(RIGHT)).copy()
        turn = snapshot.rotation(self.model.frame(RIGHT))
        self.start = np.array(snapshot.com_in_world)
        self.ground = float(foot_in_world[2])
        self.com = CenterOfMassTask("com", self.start, stiffness=(self.softness, self.softness, 100.0))
        kept = self.model.at(self.model.posture(self.posture)) if self.posture else snapshot
        foot, body = (kept.rotation(self.model.frame(each)) for each in (RIGHT, pelvis))
        self.foot = CartesianPositionTask("foot", RIGHT, foot_in_world, stiffness=200.0, state="disabled")
        self.turn = Orientation3DTask("foot_turn", RIGHT, turn, stiffness=200.0, state="disabled")
        self.contact = FlatContact("right_foot", RIGHT)
        ahead = self.start[0] - snapshot.position(self.model.frame(LEFT))[0]
        self.pressures = [
            CenterOfPressureTask(f"{side}_pressure", f"{side}_foot", (ahead, 0.0), state=self._press)
            for side in ("left", "right")
        ]
        self.pressures.append(InternalForceTask("squeeze", "left_foot", "right_foot", 0.0, state=self._press))
        return Problem(
            [
                self.pressures,
                self.com,
                [self.foot, self.turn],
                Orientation3DTask("pelvis", pelvis, turn @ foot.T @ body),
                JointPositionTask("posture", kept.q[7:]),
            ],
            [FlatContact("left_foot", LEFT), self.contact],
        )

    @property
    def _press(self) -> str:
        return "disabled" if self.plan.lifted is None else "enabled"

    def _move_com(self, time: float) -> None:
        now = self.plan.com.at(time)
        self.com.goal[:] = self.start + now.position
        self.com.goal_velocity[:] = now.velocity
        self.com.goal_acceleration[:] = now.acceleration

    def _lift(self, time: float) -> None:
        up = self.plan.lifted[0] <= time < self.plan.lifted[1]
        if up != (self.contact.state == "disabled"):
            self.contact.state = "disabled" if up else "enabled"
            self.foot.state = self.turn.state = "enabled" if up else "disabled"
            for each in self.pressures:
                each.state = "disabled" if up else "enabled"
        if up:
            now = self.plan.height.at(time - self.plan.lifted[0])
            self.foot.goal[2] = self.ground + now.position[0]
            self.foot.goal_velocity[2] = now.velocity[0]
            self.foot.goal_acceleration[2] = now.acceleration[0]


def on_one_foot(model: Model) -> Plan:
    """Over the left foot in 2 s, the right foot 5 cm up and down in 3 s, and back."""
    stance = model.at(model.posture("stand"))
    com, foot = stance.com_in_world, stance.position(model.frame(LEFT))
    y = float(foot[1] - com[1]) * 0.8
    times, heights = [0.0, 1.0, 2.0, 3.0], np.array([[0.0], [0.05], [0.05], [0.0]])
    return Plan(
        com=moved((0.3, 0, 0, 0), (2.5, 0, y, 0), (6.0, 0, y, 0), (8.2, 0, 0, 0)),
        lifted=(2.7, 5.7),
        height=quintic(heights, times, velocities=np.zeros_like(heights)),
    )


PLANS = {
    "sway": lambda model: Plan(
        com=moved(
            (1.0, 0.03, 0, 0), (2.4, -0.03, 0, 0), (3.4, 0, 0, 0), (4.4, 0, 0.03, 0), (5.8, 0, -0.03, 0), (6.8, 0, 0, 0)
        )
    ),
    "squat": lambda model: Plan(com=moved((1.2, 0, 0, -0.08), (2.4, 0, 0, 0), (3.0, 0, 0, 0))),
    "one foot": on_one_foot,
}


def without_hands(robot: robots.Robot) -> robots.Robot:
    """The robot with its fingers locked as they are when it stands: the whole-body controller leaves them alone."""
    standing = dict(zip(robot.joint_names, robot.posture("stand"), strict=True))
    hands = [joint for group in ("right_hand", "left_hand") for joint in robot.groups.get(group, ())]
    return robot.locked({joint: standing[joint] for joint in hands})


def main(name: str = "hubo2plus", by: str = "efforts") -> None:
    robot = robots.load(name)
    model = Model(without_hands(robot))
    mode, period = (Mode.POSITION, 0.005) if by == "positions" else (Mode.EFFORT, 0.001)
    for what, plan in PLANS.items():
        whole_body = WBOSC(model, period=period)
        solver = Impedance(whole_body) if by == "positions" else whole_body
        with Simulation(robot, control_period=period) as simulation:
            balance = Balance(model, plan(model))
            servo = Servo(simulation, simulation, solver, balance, description=robot, mode=mode)
            servo.run(balance.plan.com.duration + 0.5)
            away = 1e3 * np.linalg.norm(simulation.com_in_world - balance.start)
            print(f"{name} by {by}, {what}: its centre of mass is {away:.2f} mm from where it began")
            print(servo.timing)


if __name__ == "__main__":
    main(*sys.argv[1:])
