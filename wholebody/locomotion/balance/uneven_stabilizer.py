"""UnevenStabilizer: for ground that slopes or tilts: DcmStabilizer, with feet that lie as the ground does.

The trunk does not yield to its tilt here: a tilt that the ground makes is no push, and to go along with it would be to
fall. The estimator must be told that the ground moves, too: Walker(robot, stabilizer="uneven", noise=MOVING_GROUND).
"""

from __future__ import annotations

import numpy as np

from wholebody.estimation import Balance, SupportNoise
from wholebody.locomotion.balance.dcm_stabilizer import DcmGains, DcmStabilizer
from wholebody.locomotion.balance.ground_tilt import GroundTilt
from wholebody.locomotion.balance.stabilizers import Command
from wholebody.locomotion.gait import SOLES
from wholebody.locomotion.pattern import Target
from wholebody.model.model import Model

MOVING_GROUND = SupportNoise(creep=0.2, level=0.05)
"""What the estimator may believe of ground that is neither level nor at rest."""


class UnevenStabilizer:
    """See the file's docstring. `ground` is how the ground is turned under each foot."""

    feels_ground = False

    def __init__(self, model: Model) -> None:
        self._dcm = DcmStabilizer(model, DcmGains(give=0.0))
        left, right = (np.array(model.robot.surface(sole).outline) for sole in SOLES)
        self.ground = GroundTilt((left, right))

    @property
    def gains(self) -> DcmGains:
        """How strongly it reacts, besides the ground's."""
        return self._dcm.gains

    def reset(self) -> None:
        """Begin anew, from a robot at rest on level ground."""
        self._dcm.reset()
        self.ground.reset()

    def correct(self, target: Target, balance: Balance, period: float) -> Command:
        """What to do in this cycle."""
        command = self._dcm.correct(target, balance, period)
        self.ground.correct(command, balance, period)
        return command
