"""AnkleAnchored: estimates for robots whose ankles yield beyond the last joint: the ankle stays, the sole may turn.

FootAnchored takes the sole for fixed to the last link. If a spring between them yields, a quick motion of the ankle's
joint first turns the foot's link about the ankle, and the sole as the joints have it moves though nothing else does:
with the velocity of that in ξ = c + ċ/ω, feedback through the ankles chatters. The ankle itself moves by much less.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from wholebody.hardware import Record
from wholebody.locomotion.estimates import Estimates, FootAnchored
from wholebody.locomotion.pattern import Target
from wholebody.locomotion.stabilizers import upright


class AnkleAnchored(FootAnchored):
    """FootAnchored with the ankles, where the feet's force sensors are, in the place of the soles.

    c = Σ s [f + a − R a_b] + …,  ċ = −Σ s [R ȧ_b + ω × R a_b] + …,

    with the arm a from the sole to the ankle as it is when the foot lies flat, and a_b as the joints have it.
    """

    def update(self, state: Record, target: Target) -> Estimates:
        """One state."""
        seen = super().update(state, target)
        snapshot = self.model.at(self._q, self._v)
        shift, drift = np.zeros(3), np.zeros(3)
        shares = (seen.left_share, 1.0 - seen.left_share)
        for side, (share, foot) in enumerate(zip(shares, (target.left, target.right), strict=True)):
            sole, ankle = self._frames[1 + side], self._frames[3 + side]
            arm = snapshot.position(ankle) - snapshot.position(sole)
            flat = upright(foot.place.yaw) @ snapshot.rotation(sole).T @ arm
            now = seen.rotation @ arm
            turning = snapshot.velocity(ankle)[:3] - snapshot.velocity(sole)[:3]
            shift += share * (flat - now)
            drift -= share * (seen.rotation @ turning + np.cross(seen.angular_velocity, now))
        return replace(seen, com=seen.com + shift, com_velocity=seen.com_velocity + drift)
