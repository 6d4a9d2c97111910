"""ServoLead: how far ahead of where it shall be a joint must be told to be, for its servo to push as it must.

A servo pushes with τ = K (θ_told − θ) − D θ̇. So that θ follows θ* while the load is τ*,

    θ_told = θ* + (τ* + D θ̇*) / K,

where τ* = g(q) − Σ Jᵀ w carries the weight of all links on feet that push with the wrenches w. A spring under an ankle,
at the origin of the sole's link, bends by the moment of w about that point, which is not the one about the joint: the
joints that turn the foot are turned back by as much.
"""

from __future__ import annotations

import numpy as np

from wholebody.locomotion.gait import SOLES
from wholebody.locomotion.pendulum import GRAVITY
from wholebody.model.compiled import compiled
from wholebody.model.layout import Array, Integers, values
from wholebody.model.model import Model
from wholebody.model.snapshot import Snapshot


class ServoLead:
    """For robots whose servo gains are known; joints without one are told where they shall be."""

    def __init__(self, model: Model, softness: Array | None = None) -> None:
        """`softness` is what the springs under joints that turn the feet yield, rad/(N·m), one for each joint."""
        robot = model.robot
        gains = [robot.gains.get(joint.name) for joint in robot.moving]
        self.model = model
        self._yield = np.array([1.0 / gain.stiffness if gain and gain.stiffness > 0 else 0.0 for gain in gains])
        self._softness = np.zeros(len(gains)) if softness is None else softness
        self._lag = np.array([gain.damping / gain.stiffness if gain and gain.stiffness > 0 else 0.0 for gain in gains])
        self._soles = np.array([model.surface(sole) for sole in SOLES])
        places = [robot.surface(sole).at.matrix for sole in SOLES]
        self._from_spring = np.array([place[:3, :3].T @ place[:3, 3] for place in places])  # to the sole, in its axes
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
        lead(
            self.model.integers,
            snapshot.storage,
            self._soles,
            joints,
            velocities,
            self._yield,
            self._softness,
            self._from_spring,
            self._lag,
            self.model.total_mass,
            acceleration,
            rotation,
            soles[0],
            soles[1],
            zmp,
            left_share,
            self._told,
        )
        return self._told


@compiled
def lead(
    integers: Integers,
    storage: Array,
    frames: Integers,
    joints: Array,
    velocities: Array,
    yields: Array,
    softness: Array,
    from_spring: Array,
    lag: Array,
    mass: float,
    acceleration: Array,
    rotation: Array,
    left: Array,
    right: Array,
    zmp: Array,
    left_share: float,
    told: Array,
) -> None:
    """θ* + (g − Σ Jᵀ w + D θ̇*) / K − flexion; each foot pushes as far from its middle as the zmp from between them."""
    seen = values(integers, storage)
    share = np.array([left_share, 1.0 - left_share])
    off_x = zmp[0] - share[0] * left[0, 3] - share[1] * right[0, 3]
    off_y = zmp[1] - share[0] * left[1, 3] - share[1] * right[1, 3]
    wrench, bending = np.empty((2, 6)), np.empty((2, 3))
    for side in range(2):
        fx, fy = share[side] * mass * acceleration[0], share[side] * mass * acceleration[1]
        fz = share[side] * mass * GRAVITY
        mx, my, mz = off_y * fz, -off_x * fz, off_x * fy - off_y * fx
        for i in range(3):
            wrench[side, i] = rotation[0, i] * fx + rotation[1, i] * fy + rotation[2, i] * fz
            wrench[side, 3 + i] = rotation[0, i] * mx + rotation[1, i] * my + rotation[2, i] * mz
        arm = np.ascontiguousarray(seen.placement[frames[side], :3, :3]) @ from_spring[side]
        bending[side] = wrench[side, 3:] + np.cross(arm, wrench[side, :3])
    for j in range(len(joints)):
        load = seen.g[6 + j]
        for side in range(2):
            for i in range(6):
                load -= seen.jacobian[frames[side], i, 6 + j] * wrench[side, i]
        bent = 0.0
        for side in range(2):
            for i in range(3):
                bent += softness[j] * seen.jacobian[frames[side], 3 + i, 6 + j] * bending[side, i]
        told[j] = joints[j] + yields[j] * load - bent + lag[j] * velocities[j]
