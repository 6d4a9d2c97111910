"""ServoLead: how far ahead of where it shall be a joint must be told to be, for its servo to push as it must.

A servo pushes with τ = K (θ_told − θ) − D θ̇. So that θ follows θ* while the load is τ*,

    θ_told = θ* + (τ* + D θ̇*) / K,

where τ* = g(q) − Σ Jᵀ w carries the weight of all links on feet that push with the wrenches w. A spring under an ankle,
at the origin of the sole's link, bends by the moment of w about that point, which is not the one about the joint: the
joints that turn the foot are turned back by as much."""

from __future__ import annotations

import numpy as np

from wholebody import _kernels
from wholebody.locomotion.walking.gait import SOLES
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.model.snapshot import Snapshot


class ServoLead:
    """For robots whose servo gains are known; joints without one are told where they shall be."""

    def __init__(self, model: Model, softness: Array | None = None) -> None:
        """`softness` is what the springs under joints that turn the feet yield, rad/(N·m), one for each joint."""
        robot = model.robot
        gains = [robot.gains.get(joint.name) for joint in robot.moving]
        self.model = model
        stiff = [gain if gain and gain.stiffness > 0 else None for gain in gains]
        places = [robot.surface(sole).at.matrix for sole in SOLES]
        self._servos = _kernels.locomotion_servos(
            model.tree,
            np.array([model.surface(sole) for sole in SOLES], np.int64),
            np.array([1.0 / gain.stiffness if gain else 0.0 for gain in stiff]),
            np.array([gain.damping / gain.stiffness if gain else 0.0 for gain in stiff]),
            np.zeros(len(gains)) if softness is None else softness,
            np.array([place[:3, :3].T @ place[:3, 3] for place in places]),  # from spring to sole, in its axes
            model.total_mass,
        )
        self._told = np.zeros(len(gains))

    def tell(
        self,
        snapshot: Snapshot,
        joints: Array,
        velocities: Array,
        acceleration: Array,
        rotation: Array,
        soles: tuple[Array, Array],
        zmp: Array,
        left_share: float,
    ) -> Array:
        """The joints to command.

        snapshot: the robot with these joints, seen from the pelvis; acceleration: of the centre of mass along x and y;
        rotation, soles and zmp: of the pelvis, of the soles, and where the ground pushes, in world.
        """
        _kernels.locomotion_lead_servos(
            *(self._servos, self.model.tree, snapshot.handle, joints, velocities, acceleration, rotation),
            *(*soles, zmp, left_share, self._told),
        )
        return self._told
