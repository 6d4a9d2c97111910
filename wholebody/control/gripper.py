"""Gripper: fingers that open and close together, by one number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from wholebody.control.joint_pid import JointPID
from wholebody.errors import BadParameter, UnknownName
from wholebody.model.layout import Array
from wholebody.parameters.annotations import Bounds
from wholebody.parameters.parameter import Parameter, checked
from wholebody.parameters.reflection import About, Parameters, Slot

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
