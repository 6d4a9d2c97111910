"""Anchoring: a Balance in the world of the footsteps: odometry drifts, the foot that bears stays where it was put."""

from __future__ import annotations

import numpy as np

from wholebody import _kernels
from wholebody.estimation import Balance
from wholebody.locomotion.swing import FootPoint


class Anchoring:
    """Turns and moves a Balance about the vertical so that its feet are where they are thought to stand.

    Heading is that of the foot that bears more; place and height are of both, as much as each bears.
    """

    def __init__(self, balance: Balance) -> None:
        """`balance` is what an estimator of the left and the right sole fills in, cycle by cycle."""
        moved = np.zeros((5, 3))
        self.anchored = balance._replace(
            orientation=balance.orientation.copy(),
            com_velocity=moved[0],
            base_in_world=moved[1],
            com_in_world=moved[2],
            capture_point=moved[3],
            cop_in_world=moved[4],
            sole_to_world=balance.sole_to_world.copy(),
        )
        self._share = np.full(1, 0.5)  # of the weight on the left foot, smoothed
        self._handle = _kernels.locomotion_anchoring(
            *(balance.wrench_in_sole, balance.contact),
            *(balance.com_velocity, balance.base_in_world, balance.com_in_world),
            *(balance.capture_point, balance.cop_in_world, balance.sole_to_world, balance.orientation),
            *(self._share, moved, self.anchored.sole_to_world, self.anchored.orientation),
        )

    def reset(self) -> None:
        """Forget which foot bears."""
        self._share[0] = 0.5

    def update(self, left: FootPoint, right: FootPoint) -> Balance:
        """The balance as it is now; overwritten by the next."""
        _kernels.locomotion_anchor(self._handle, *left.place, left.height, *right.place, right.height)
        return self.anchored
