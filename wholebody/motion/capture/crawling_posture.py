"""A posture on wrists and knees for a robot that has none of its own, found from the lengths of its limbs.

Thighs are upright, shins level, feet stretched out behind them as far as ankles can, arms below the shoulders with bent
elbows; the trunk is pitched so that wrists and knees are on the ground together. All joints that turn about the axis
across the robot are set, others are as it stands. Of many bends of trunk, thighs and elbows the best is taken: hands
and knees at one height, feet over the ground, joints away from their limits, efforts small, the mass between the limbs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from scipy.spatial.transform import Rotation

from wholebody.model.model import Model
from wholebody.motion.capture.limbs import ImitatingLimb, as_it_stands
from wholebody.motion.static_poses import efforts_at_rest, hardest
from wholebody.motion.trajectory import Array
from wholebody.robots import geometry

TRUNKS = np.radians(np.arange(40.0, 111.0, 5.0))  # pitch; at 90° it is level
THIGHS = np.radians((-30.0, -15.0, 0.0, 15.0))  # from upright, knees ahead of the hips if negative
SHINS = np.radians(np.arange(90.0, 131.0, 10.0))  # at 90° they are level
ELBOWS = np.radians((35.0, 60.0, 85.0))  # straight ones cannot lift a hand
ACROSS = 0.9  # of a joint's axis, as the robot stands
SPARE = 0.4  # rad that joints are to be away from their limits
HEIGHT = 0.02  # m: what counts as much as one joint at its limit
EASY = 0.5  # of an effort limit
BETWEEN = 0.25  # of the way from knees to hands, from either end: where the centre of mass is to be


def on_wrists_and_knees(model: Model, limbs: Sequence[ImitatingLimb]) -> Array:
    """The configuration, its base over the ground; joints are within their limits."""
    stand = as_it_stands(model)
    chains = [_Chain(model, limb, stand) for limb in limbs]
    best, least = stand, np.inf
    for trunk, thigh, shin, elbow in product(TRUNKS, THIGHS, SHINS, ELBOWS):
        q = stand.copy()
        q[3:7] = Rotation.from_euler("y", trunk).as_quat()
        for chain in chains:
            turns = (thigh, shin) if chain.limb.behind else (elbow / 2, -elbow / 2)
            chain.set(q, turns[0] - trunk, turns[1] - trunk)
        cost = _cost(model, chains, q)
        if cost < least:
            best, least = q, cost
    return best


class _Chain:
    """A limb as two segments that turn about the axis across the robot."""

    def __init__(self, model: Model, limb: ImitatingLimb, stand: Array) -> None:
        at, robot = model.at(stand), model.robot
        self.model, self.limb = model, limb
        self.frame = model.frame(limb.frame)
        self.points = np.array(limb.points)
        joints = [robot.joint(name) for name in limb.joints]
        across = {joint: (at.rotation(model.frame(joint.child)) @ joint.axis)[1] for joint in joints}
        self.joints = [joint for joint in joints if abs(across[joint]) > ACROSS]
        self.signs = [float(np.sign(across[joint])) for joint in self.joints]
        self.places = [model.nq - model.nv + model.column(joint.name) for joint in self.joints]
        stops = [model.frame(joint.child) for joint in self.joints[: 3 if limb.behind else 2]]
        stops += [] if limb.behind else [self.frame]
        ways = np.diff([at.position(stop) for stop in stops], axis=0)
        self.angles = np.arctan2(-ways[:, 0], -ways[:, 2])

    def set(self, q: Array, upper: float, lower: float) -> None:
        """Turn both segments to these angles about the axis across, seen from the trunk; 0: hanging down."""
        if len(self.angles) < 2:
            return
        turns = [upper - self.angles[0], lower - upper - (self.angles[1] - self.angles[0])]
        turns += [np.pi / 2] if self.limb.behind else []
        for joint, sign, place, turn in zip(self.joints, self.signs, self.places, turns, strict=False):
            q[place] = np.clip(q[place] + sign * turn, joint.lower, joint.upper)


def _cost(model: Model, chains: Sequence[_Chain], q: Array) -> float:
    """What is wrong with a configuration, which is put on the ground."""
    at = model.at(q)
    heights = [at.position(chain.frame)[2] + (chain.points @ at.rotation(chain.frame)[2]).min() for chain in chains]
    knees = [index for index, chain in enumerate(chains) if chain.limb.behind]
    hands = [index for index in range(len(chains)) if index not in knees]
    ground = float(np.mean([heights[index] for index in knees]))
    cost = sum(abs(heights[index] - ground) for index in hands) / HEIGHT
    for chain in chains:
        if chain.limb.behind:
            foot = geometry.points(model.robot.link(chain.limb.behind), at.placement(model.frame(chain.limb.behind)))
            cost += max(0.0, ground - float(foot[:, 2].min())) / HEIGHT
        for joint, place in zip(chain.joints[:2], chain.places, strict=False):
            spare = min(q[place] - joint.lower, joint.upper - q[place])
            cost += max(0.0, 1.0 - spare / SPARE)
    behind, ahead = (np.mean([at.position(chains[i].frame)[0] for i in some]) for some in (knees, hands))
    share = (at.com_in_world[0] - behind) / max(ahead - behind, 1e-3)
    cost += 10 * max(0.0, BETWEEN - share, share - 1 + BETWEEN)
    q[2] -= ground
    names = [chain.limb.frame for chain in chains]
    _, effort = hardest(model, efforts_at_rest(model, names, q[None], np.ones((1, len(names)), bool)))
    return float(cost + 10 * max(0.0, effort - EASY))
