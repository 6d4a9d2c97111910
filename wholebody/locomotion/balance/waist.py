"""Waist: joints between pelvis and chest that move the centre of mass beside the legs (Stabilizer, 5.5).

A shift of the centre of mass is shared between the legs, which carry all of it by s, and the joints of the waist, δ,

    s + A δ = shift,   with the least s² + (δ / w)²,   so δ = w² Aᵀ (1 + w² A Aᵀ)⁻¹ shift,

along x and y of the body. What limits of the joints leave, the legs do: they put the centre of mass where it shall be
with the waist where it is.
"""

from __future__ import annotations

import numpy as np

from wholebody.locomotion.balance.sharing import room
from wholebody.model.layout import Array
from wholebody.model.model import Model

EASY = 40.0
"""w, rad/m: how far the waist bends as easily as legs move the centre of mass."""
FARTHEST = 0.3
"""rad."""
LEAST = 0.01
"""Of the height of the centre of mass: a joint that moves it by less per rad only turns the chest."""


class Waist:
    """The joints of the group "torso" that bend: a robot whose waist only turns has none."""

    def __init__(self, model: Model) -> None:
        robot = model.robot
        seen = model.at(model.posture("stand"))
        least, moves = LEAST * float(seen.com_in_world[2]), np.linalg.norm(seen.com_jacobian[:2], axis=0)
        group = robot.group("torso") if robot.groups.get("torso") else ()
        self.joints = [joint for joint in group if moves[6 + joint] > least]
        columns = seen.com_jacobian[:2, [6 + joint for joint in self.joints]]
        self._inverse = EASY**2 * columns.T @ np.linalg.inv(np.eye(2) + EASY**2 * columns @ columns.T)
        self._lower, self._upper = room(robot, self.joints, FARTHEST)

    def bend(self, shift: Array) -> Array:
        """How far from the posture the joints are to be for a shift of the centre of mass, x and y of the body."""
        return np.asarray(np.clip(self._inverse @ shift, self._lower, self._upper))
