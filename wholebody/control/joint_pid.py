"""JointPID: joints that no task speaks of, such as fingers and neck, held or moved each by itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from wholebody.errors import BadParameter, UnknownName
from wholebody.model.layout import Array, Integers
from wholebody.parameters import Unit
from wholebody.parameters.parameter import Bounds, Parameter, checked
from wholebody.parameters.reflection import About, Parameters, Slot
from wholebody.robots.robot import Robot


class JointPID:
    """Joints of a robot, each with a controller of its own: τ = kp (q* − q) − kd v + ki ∫(q* − q) dt, within limits.

        fingers = JointPID(robot, robot.groups["right_hand"])
        fingers.goal[:] = 0.8

    Gains are the robot's own unless given, one number for all or one for each. The integral stops while the effort is
    at its limit.

    goal           where each joint is to be, rad or m
    stiffness      kp
    damping        kd
    integral_gain  ki
    """

    goal: Annotated[Array, Unit("rad")]
    stiffness: Annotated[Array, Unit("N·m/rad"), Bounds(0, 1e6)]
    damping: Annotated[Array, Unit("N·m·s/rad"), Bounds(0, 1e6)]
    integral_gain: Annotated[Array, Unit("N·m/(rad·s)"), Bounds(0, 1e6)]

    def __init__(
        self,
        robot: Robot,
        joints: Iterable[str],
        goal: npt.ArrayLike | None = None,
        stiffness: npt.ArrayLike | None = None,
        damping: npt.ArrayLike | None = None,
        integral_gain: npt.ArrayLike = 0.0,
    ) -> None:
        self.joints = tuple(joints)
        for name in self.joints:
            if name not in robot.index:
                raise UnknownName("moving joint", name, robot.joint_names)
        without = [name for name in self.joints if name not in robot.gains]
        if without and (stiffness is None or damping is None):
            raise BadParameter(f"{robot.name} has no gains for joint '{without[0]}'; give stiffness and damping")
        own = [robot.gains.get(name) for name in self.joints]
        self.columns: Integers = np.array([robot.index[name] for name in self.joints], np.int64)
        self.stiffness = self._checked("stiffness", [g.stiffness if g else 0.0 for g in own], stiffness)
        self.damping = self._checked("damping", [g.damping if g else 0.0 for g in own], damping)
        self.integral_gain = self._checked("integral_gain", integral_gain, None)
        self.held_where_found = goal is None
        self.goal = np.zeros(len(self.joints))
        if goal is not None:
            self.goal[:] = goal
        self._limit: Array = np.array([robot.joint(name).effort for name in self.joints])
        self._least = -self._limit
        self._accumulated = np.zeros(len(self.joints))
        self._q, self._v, self._spare, self._inside = (np.zeros(len(self.joints)) for _ in range(4))
        self.effort = np.zeros(len(self.joints))

    def start(self, position: Array) -> None:
        """Begin at the positions of the robot's joints; without a goal given, they are held there."""
        if self.held_where_found:
            self.goal[:] = position[self.columns]
        self._accumulated[:] = 0.0

    def update(self, position: Array, velocity: Array, period: float) -> Array:
        """The efforts of its joints, from the positions and velocities of all joints of the robot."""
        effort, error, spare = self.effort, self._q, self._spare
        position.take(self.columns, out=error, mode="clip")
        velocity.take(self.columns, out=self._v, mode="clip")
        np.subtract(self.goal, error, out=error)
        np.multiply(self.stiffness, error, out=effort)
        np.multiply(self.damping, self._v, out=spare)
        effort -= spare
        np.multiply(self.integral_gain, self._accumulated, out=spare)
        effort += spare
        np.less(np.abs(effort, out=spare), self._limit, out=self._inside)
        error *= period
        error *= self._inside
        self._accumulated += error
        np.clip(effort, self._least, self._limit, out=effort)
        return effort

    def _checked(self, what: str, own: npt.ArrayLike, given: npt.ArrayLike | None) -> Array:
        gains = np.array(np.broadcast_to(np.asarray(own if given is None else given, float), len(self.joints)))
        if not (np.isfinite(gains).all() and (gains >= 0).all()):
            raise BadParameter(f"{what} must be numbers ≥ 0, not {given!r}")
        return gains


CLOSED = Parameter("closed", "1", Bounds(0, 1), None)


class Gripper:
    """Joints that each have a controller of their own, moved together: goal = open + s (closed − open), s from 0 to 1.

        Gripper("right", fingers, robot.groups["right_hand"], open=0.0, closed=0.5).close(1.0)

    Until it is told something, its joints are held where they are found.
    """

    def __init__(
        self, name: str, others: JointPID, joints: Sequence[str], open: npt.ArrayLike, closed: npt.ArrayLike
    ) -> None:
        self.name, self._others = name, others
        for joint in joints:
            if joint not in others.joints:
                raise UnknownName("joint outside the controller", joint, others.joints)
        self._columns = np.array([others.joints.index(joint) for joint in joints])
        self._open, self._closed = (self._places(what, each) for what, each in (("open", open), ("closed", closed)))
        self._now = np.zeros(1)

    def close(self, share: float) -> None:
        """Close so far: 0 is open, 1 is closed."""
        self._now[:] = checked(f"grippers.{self.name}.closed", CLOSED, share, 1)
        self._others.goal[self._columns] = self._open + self._now[0] * (self._closed - self._open)

    def describe(self, parameters: Parameters) -> None:
        """Add it as a parameter that can be set and bound."""
        path = f"grippers.{self.name}.closed"
        about = About(path, "number", "1", 1, 0, 1, "how far it closes: 0 is open, 1 is closed", saved=False)

        def assign(value: Any) -> None:
            self.close(float(np.ravel(value)[0]) if np.size(value) == 1 else value)

        parameters.add_slot(Slot(about, self._now, assign))

    def _places(self, what: str, given: npt.ArrayLike) -> Array:
        values = np.asarray(given, float)
        if values.shape not in ((), (len(self._columns),)) or not np.isfinite(values).all():
            raise BadParameter(f"gripper '{self.name}': {what} is a number, or one for each joint, not {given!r}")
        return np.array(np.broadcast_to(values, len(self._columns)))
