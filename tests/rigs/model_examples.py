"""Robots to test the model on, and Pinocchio's word on each, from a URDF that it reads by itself."""

import warnings
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import pinocchio as pin
from robot_dynamics import example_robot

from wholebody import robots
from wholebody.errors import RobotWarning
from wholebody.model import Model
from wholebody.robots import Coupling, Joint, Link, Mimic, Placement, Robot, Sensor, Surface
from wholebody.robots.formats.urdf import write_urdf

FOREIGN = {
    "talos": "talos_data/robots/talos_full_v2.urdf",
    "g1": "g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf",
    "simple_humanoid": "simple_humanoid_description/urdf/simple_humanoid.urdf",
    "icub": "icub_description/robots/icub.urdf",
    "romeo": "romeo_description/urdf/romeo_small.urdf",
}
WORLD = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED


def solid(name, seed):
    """A link with a mass, a centre and an inertia that a body can have, all oblique."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(3, 3))
    spread = A @ A.T * 0.01  # Σ m r rᵀ of some cloud of mass: its inertia obeys the triangle inequality
    matrix = np.trace(spread) * np.eye(3) - spread
    inertia = tuple(float(matrix[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
    return Link(name, rng.uniform(0.5, 5.0), tuple(rng.normal(size=3) * 0.2), inertia)


def somewhere(seed):
    rng = np.random.default_rng(1000 + seed)
    return Placement(tuple(rng.normal(size=3) * 0.3), tuple(rng.uniform(-3, 3, 3)))


def zoo(floating=True):
    """Every kind of joint: oblique, not of unit length, mimicking up and across the tree, fixed in the middle."""
    links = (*(solid(name, i) for i, name in enumerate("abcdefghijkl")), Link("tip"), Link("eye"))

    def joint(i, name, kind, parent, child, axis=(0, 0, 1), **more):
        return Joint(name, kind, parent, child, somewhere(i), axis, -1.5, 1.2, **more)

    joints = (
        joint(0, "shoulder", "revolute", "a", "b", (1, 2, 3), rotor_inertia=0.3),
        joint(1, "hip", "continuous", "a", "c", (0, 0, -2)),
        joint(2, "slide", "prismatic", "b", "d", (0.3, -0.5, 0.1), rotor_inertia=0.2),
        joint(3, "weld", "fixed", "d", "e"),
        joint(4, "elbow", "revolute", "e", "f", (-1, 0, 0)),
        joint(5, "finger", "revolute", "f", "g", (0, 1, 0), mimic=Mimic("elbow", -0.5, 0.3), rotor_inertia=0.1),
        joint(6, "rack", "prismatic", "c", "h", (0, 1, 1), mimic=Mimic("elbow", 0.2, -0.1), rotor_inertia=0.4),
        joint(7, "knee", "revolute", "h", "i", (0, -1, 0), actuated=False),
        joint(8, "neck", "revolute", "a", "j", (1e-9, 0, -1)),
        joint(9, "plate", "fixed", "a", "k"),
        joint(10, "wheel", "continuous", "k", "l", (1, 0, 0)),
        joint(11, "tip_weld", "fixed", "g", "tip"),
        joint(12, "eye_weld", "fixed", "j", "eye"),
    )
    outline = ((0.1, 0.05), (-0.1, 0.05), (-0.1, -0.05), (0.1, -0.05))
    return Robot(
        "zoo" if floating else "zoo_bolted",
        links,
        joints,
        floating=floating,
        groups={"limbs": ("shoulder", "slide", "elbow"), "legs": ("hip", "knee")},
        surfaces=(Surface("sole", "i", somewhere(20), outline), Surface("palm", "tip", somewhere(21), outline)),
        sensors=(Sensor("camera", "camera", "eye", somewhere(22)), Sensor("i", "imu", "a", somewhere(23))),
        couplings=(Coupling("hip", "knee", 0.5),),
    )


def chain(count=60):
    """A long snake."""
    links = tuple(solid(f"link{i}", i) for i in range(count + 1))
    axes = np.random.default_rng(7).normal(size=(count, 3))
    joints = tuple(
        Joint(f"joint{i}", "revolute", f"link{i}", f"link{i + 1}", somewhere(i), tuple(axes[i]), -2, 2)
        for i in range(count)
    )
    return Robot("chain", links, joints)


def body():
    """One free body."""
    return Robot("body", (solid("body", 3),), ())


def tree(seed):
    """Any tree: joints of all kinds hung anywhere, given in any order."""
    rng = np.random.default_rng(seed)
    count = 25
    links = tuple(solid(f"link{i}", i + seed) for i in range(count))
    joints = []
    for i in range(1, count):
        kind = ("revolute", "continuous", "prismatic", "fixed", "mimic")[rng.integers(5)]
        leaders = [each.name for each in joints if each.kind != "fixed" and each.mimic is None]
        mimic = Mimic(str(rng.choice(leaders)), *rng.normal(size=2)) if kind == "mimic" and leaders else None
        kind = ("revolute", "prismatic")[rng.integers(2)] if kind == "mimic" else kind
        ends = f"link{rng.integers(i)}", f"link{i}"
        axis, rotor = tuple(rng.normal(size=3)), rng.uniform(0, 0.5)
        joints.append(
            Joint(f"joint{i}", kind, *ends, somewhere(i + seed), axis, -1, 2, rotor_inertia=rotor, mimic=mimic)
        )
    order = rng.permutation(count - 1)
    return Robot(f"tree{seed}", links, tuple(joints[i] for i in order), floating=bool(seed % 2))


MADE_HERE = {"zoo": zoo, "zoo_bolted": lambda: zoo(floating=False), "chain": chain, "body": body} | {
    f"tree{seed}": partial(tree, seed) for seed in range(6)
}
NAMES = (*robots.names(), *MADE_HERE, *FOREIGN)


@cache
def robot(name):
    if name in MADE_HERE:
        return MADE_HERE[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RobotWarning)
        return robots.load(example_robot(FOREIGN[name]), repair=True) if name in FOREIGN else robots.load(name)


@cache
def model(name):
    return Model(robot(name))


@dataclass
class Oracle:
    """A robot as Pinocchio reads it from URDF, asked with our q and v.

    It floats there even if it is bolted to the world here, because Pinocchio counts no mass that cannot move.
    """

    robot: Robot

    def __post_init__(self):
        self.pin = pin.buildModelFromXML(write_urdf(self.robot), pin.JointModelFreeFlyer())
        for each in self.robot.joints:
            if each.kind != "fixed":
                self.pin.armature[self._joint(each.name).idx_v] = each.rotor_inertia
        self.frames = [self.pin.getFrameId(link.name, pin.FrameType.BODY) for link in self.robot.links]
        for each in (*self.robot.surfaces, *self.robot.sensors):
            on = self.pin.frames[self.pin.getFrameId(each.link, pin.FrameType.BODY)]
            at = on.placement * pin.SE3(each.at.matrix)
            self.frames.append(self.pin.addFrame(pin.Frame(f"our {each.name}", on.parentJoint, 0, at, pin.OP_FRAME)))
        self.data = self.pin.createData()
        self.G = self._mimic_matrix()

    def _joint(self, name):
        return self.pin.joints[self.pin.getJointId(name)]

    def _leaders(self):
        for each in self.robot.joints:
            if each.kind != "fixed":
                mimic = each.mimic or Mimic(each.name)
                yield self._joint(each.name), self.robot.joint_names.index(mimic.of), mimic

    def _mimic_matrix(self):
        base = 6 if self.robot.floating else 0
        G = np.zeros((self.pin.nv, base + len(self.robot.joint_names)))
        G[:base, :base] = np.eye(base)
        for theirs, ours, mimic in self._leaders():
            G[theirs.idx_v, base + ours] = mimic.ratio
        return G

    def q(self, q):
        """Our configuration in Pinocchio's order, where a continuous joint is cosine and sine."""
        full = pin.neutral(self.pin)
        base = 7 if self.robot.floating else 0
        full[:base] = q[:base]
        for theirs, ours, mimic in self._leaders():
            angle = mimic.ratio * q[base + ours] + mimic.offset
            full[theirs.idx_q : theirs.idx_q + theirs.nq] = angle if theirs.nq == 1 else (np.cos(angle), np.sin(angle))
        return full

    def at(self, q, v):
        """Everything a snapshot says, by name; of frames, for all of them."""
        model, data, G = self.pin, self.data, self.G
        full_q, full_v = self.q(q), G @ v
        found = {
            "M": G.T @ _symmetric(pin.crba(model, data, full_q, pin.Convention.LOCAL)) @ G,
            "h": G.T @ pin.rnea(model, data, full_q, full_v, 0 * full_v),
            "g": G.T @ pin.computeGeneralizedGravity(model, data, full_q),
        }
        found["momentum_matrix"] = pin.ccrba(model, data, full_q, full_v) @ G
        found["momentum"] = data.hg.vector.copy()
        pin.computeCentroidalMomentumTimeVariation(model, data, full_q, full_v, 0 * full_v)
        found["momentum_bias"] = data.dhg.vector.copy()
        found["com_in_world"] = pin.centerOfMass(model, data, full_q, full_v, 0 * full_v).copy()
        found["com_velocity"], found["com_bias"] = data.vcom[0].copy(), data.acom[0].copy()
        found["com_jacobian"] = pin.jacobianCenterOfMass(model, data, full_q) @ G
        found["potential_energy"] = pin.computePotentialEnergy(model, data, full_q)
        found["kinetic_energy"] = v @ found["M"] @ v / 2  # Pinocchio 4.1's own leaves out the rotor of one joint
        pin.forwardKinematics(model, data, full_q, full_v, 0 * full_v)
        pin.computeJointJacobians(model, data, full_q)
        pin.updateFramePlacements(model, data)
        found["placement"] = np.array([data.oMf[f].homogeneous for f in self.frames])
        found["position"] = found["placement"][:, :3, 3]
        found["rotation"] = found["placement"][:, :3, :3]
        found["velocity"] = np.array([pin.getFrameVelocity(model, data, f, WORLD).vector for f in self.frames])
        accelerations = [pin.getFrameClassicalAcceleration(model, data, f, WORLD).vector for f in self.frames]
        found["bias"] = np.array(accelerations)
        found["jacobian"] = np.array([pin.getFrameJacobian(model, data, f, WORLD) @ G for f in self.frames])
        return found


OF_FRAMES = ("placement", "position", "rotation", "velocity", "bias", "jacobian")


@cache
def oracle(name):
    return Oracle(robot(name))


def _symmetric(upper):
    return np.triu(upper) + np.triu(upper, 1).T
