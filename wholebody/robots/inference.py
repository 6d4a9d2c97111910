"""What a robot's file does not say, inferred from its tree and its shapes, each with a reason and a confidence.

robot = inferred(robots.read("g1.xml"))
for each in robot.inferred:
    each.what, each.found, each.reason, each.confidence
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from wholebody.robots.limbs import Body, NotTwoLegs, find_body
from wholebody.robots.robot import Array, Gain, Inference, Joint, Link, Placement, Robot, Sensor, Surface
from wholebody.robots.soles import Sole, find_palm, find_sole
from wholebody.robots.stance import Leg, Stance, measured, stance_of, stands
from wholebody.robots.tree import Limb, Tree

SIDES = ("left", "right")
SIZES_DIFFER = 0.2
"""Share by which the areas of two soles that are taken for alike may differ."""
PARTLY = 0.15
"""Of the rectangle about a foot seen from below: a flat part that covers less is none to stand on."""
LEGS_STIFF, OTHERS_STIFF, DAMPED = 15.0, 75.0, 0.03
"""Stiffness of legs, of the torque of the weight at the height of the centre of mass; of other joints, of what hangs
from them; and seconds of damping."""
EXHAUSTED = 0.05
"""rad, of a servo's error, or m: no joint is so stiff that less takes all its effort. One that is has none left for its
damping, and chatters: a period of delay at some rad/s² is enough for the ankle of a foot that swings."""
SOFT = 0.3
"""Of that: legs that are softer anywhere do not hold a robot up by themselves."""
GRAVITY = 9.81
NAMED_STANCES = ("stand", "home", "standing", "stance", "knees_bent")
OTHER_WAY = re.compile(r"(^|[^a-z])(left|l|ll)([^a-z]|$)"), re.compile(r"(^|[^a-z])(right|r|lr|rl)([^a-z]|$)")


def inferred(robot: Robot, told: Collection[str] = ()) -> Robot:
    """The robot with all that can be concluded of what it does not say; `inferred` says what, and why.

    What it says stays as it is, but for gains of a file that do not hold it up, unless a YAML on top of it has them:
    `told` are its entries. One without two legs gets no soles, and a sentence that says why.
    """
    tree = Tree(robot)
    try:
        if not robot.floating:
            raise NotTwoLegs("it is bolted to the world")
        body = find_body(tree)
    except NotTwoLegs as error:
        return replace(robot, inferred=(*robot.inferred, Inference("legs", "none", str(error), 0.9)))
    upright, about = _upright(robot, body.axes)
    if upright is not robot:
        tree = Tree(upright)
        body = find_body(tree)
    return Adoption(upright, tree, body, [*robot.inferred, *about, *_about_body(tree, body)], told).done()


def _about_body(tree: Tree, body: Body) -> Iterator[Inference]:
    against = [what for what, weight in body.votes.items() if weight < -0.2]
    reason = ", ".join(f"{what} {'agree' if weight > 0 else 'disagree'}" for what, weight in body.votes.items())
    yield Inference("ahead", _direction(body.ahead), reason, 0.6 if against else 0.95)
    yield Inference("up", _direction(body.up), body.up_from, 0.7 if body.up_from == "from hips to shoulders" else 0.95)
    for side, leg in zip(SIDES, body.legs, strict=True):
        reason = f"{len(leg.joints)} joints from '{leg.base}', mirrored to {100 * body.error:.1g} % of their length"
        yield Inference(f"{side}_leg", f"{leg.joints[0].name} … {leg.joints[-1].name}", reason, _sure(body.error))
    for number, other in enumerate(OTHER_WAY):
        names = [joint.name.lower() for joint in body.legs[number].joints]
        if names and all(OTHER_WAY[1 - number].search(name) and not other.search(name) for name in names):
            yield Inference(f"{SIDES[number]}_leg", names[0], "its joints are named for the other side", 0.4)


def _sure(error: float) -> float:
    return round(max(0.5, 0.99 - 10.0 * error), 2)


def _direction(axis: Array) -> str:
    return " ".join(f"{value + 0.0:.3g}" for value in axis) + " in the root"


def _upright(robot: Robot, axes: Array) -> tuple[Robot, list[Inference]]:
    """The robot with a root whose x points ahead and z up: its own, or a new one above it."""
    if np.abs(axes - np.eye(3)).max() < 1e-6:
        return robot, []
    name = next(
        each for each in ("upright", "upright_root", "upright_root_") if each not in {x.name for x in robot.links}
    )
    turned = np.eye(4)
    turned[:3, :3] = axes.T
    joint = Joint(f"{name}_fixed", "fixed", name, robot.root, Placement.of(turned))
    about = Inference(
        "root", name, f"x of '{robot.root}' does not point ahead, or z not up: '{name}' is fixed to it", 0.9
    )
    return replace(robot, links=(Link(name), *robot.links), joints=(joint, *robot.joints)), [about]


@dataclass
class Adoption:
    """A robot being completed; `notes` are what was inferred so far."""

    robot: Robot
    tree: Tree
    body: Body
    notes: list[Inference]
    told: Collection[str] = ()
    legs: list[Leg] = field(default_factory=list)

    def done(self) -> Robot:
        """All of it, one after the other; what the robot says already is left alone."""
        if not self._soles():
            return replace(self.robot, inferred=tuple(self.notes))
        self._palms()
        self._groups()
        self._imu()
        self._foot_sensors()
        self._stance()
        self._gains()
        return replace(self.robot, inferred=tuple(self.notes))

    def note(self, what: str, found: str, reason: str, confidence: float) -> None:
        """Say what was inferred."""
        self.notes.append(Inference(what, found, reason, round(confidence, 2)))

    def add(self, *surfaces: Surface) -> None:
        """Add surfaces that the robot lacks."""
        known = {each.name for each in self.robot.surfaces}
        more = tuple(each for each in surfaces if each.name not in known)
        self.robot = replace(self.robot, surfaces=(*self.robot.surfaces, *more))

    # --- feet and hands ----------------------------------------------------------------------------

    def _soles(self) -> bool:
        """Whether there are soles to stand on."""
        found = [self._sole(side, limb) for side, limb in zip(SIDES, self.body.legs, strict=True)]
        for side, limb, sole in zip(SIDES, self.body.legs, found, strict=True):
            name = f"{side}_sole"
            if name in {each.name for each in self.robot.surfaces}:
                continue
            if sole is None or sole.covers < PARTLY:
                what = "a point or an edge" if self.robot.link(limb.tip).shapes else "no shape at all"
                self.note("legs", "none", f"'{limb.tip}' ends in {what}: nothing flat to stand on", 0.8)
                return False
            length, width = sole.size
            reason = f"lowest flat part of the {sole.shapes} that {'collides' if sole.collides else 'is seen'}"
            if sole.tilt > 0.01:
                reason += f", turned by {math.degrees(sole.tilt):.0f}° while joints are at zero"
            sure = (0.95 if sole.collides else 0.6) * (0.7 + 0.3 * min(1.0, sole.covers / 0.5))
            self.note(name, f"{length:.3f} × {width:.3f} m on {sole.link}", reason, sure)
            self.add(sole.surface(name))
        left, right = found
        if left is not None and right is not None:
            self._compare(left, right)
        self.legs = [
            Leg(limb.joints, self.robot.surface(f"{side}_sole"))
            for side, limb in zip(SIDES, self.body.legs, strict=True)
        ]
        return True

    def _sole(self, side: str, limb: Limb) -> Sole | None:
        """Of the last two bodies of a leg, the one with the larger sole: a toe is no foot."""
        bodies = [limb.tip] if len(limb.joints) < 7 else [limb.tip, limb.joints[-2].child]
        soles = [find_sole(self.tree, body, self.body.ahead, self.body.up) for body in bodies]
        return max((sole for sole in soles if sole is not None), key=lambda sole: sole.area, default=None)

    def _compare(self, left: Sole, right: Sole) -> None:
        if abs(left.area - right.area) > SIZES_DIFFER * max(left.area, right.area):
            sizes = " and ".join(f"{sole.size[0]:.3f} × {sole.size[1]:.3f} m" for sole in (left, right))
            self.note("soles", sizes, "feet of different size: each is taken as it is", 0.5)

    def _palms(self) -> None:
        """The insides of hands, of the pair of arms that is highest."""
        if not self.body.arms:
            return
        arms = max(self.body.arms, key=lambda pair: float(self.tree.origin(pair[0].joints[0]) @ self.body.up))
        for side, arm, sign in zip(SIDES, arms, (1.0, -1.0), strict=True):
            if f"{side}_palm" in {each.name for each in self.robot.surfaces}:
                continue
            inward = -sign * self.body.left
            along = self.tree.middle(arm.tip) - self.tree.origin(arm.joints[0])
            along = along - (along @ self.body.ahead) * self.body.ahead
            along = along / max(float(np.linalg.norm(along)), 1e-9)
            hangs = float(-along @ self.body.up)
            if hangs < 0.5:  # arms held out: the palm faces down
                inward = -self.body.up
            along = along - (along @ inward) * inward
            if np.linalg.norm(along) < 1e-6:
                continue
            palm = find_palm(self.tree, arm.tip, inward, along / np.linalg.norm(along))
            if palm is not None:
                self.note(f"{side}_palm", f"on {arm.tip}", "inner face of the box about the last body of the arm", 0.4)
                self.add(palm.surface(f"{side}_palm"))

    def _groups(self) -> None:
        """Groups of joints: legs, arms, torso below the arms, head above them."""
        moving, found = self.robot.index, dict[str, tuple[str, ...]]()
        pairs = [("leg", self.body.legs), *(("arm", pair) for pair in self.body.arms[:1])]
        for what, limbs in pairs:
            for side, limb in zip(SIDES, limbs, strict=True):
                found[f"{side}_{what}"] = tuple(j.name for j in limb.joints if j.name in moving)
        bases = [self.body.legs[0].base, *(pair[0].base for pair in self.body.arms)]
        torso = {joint.name for base in bases for joint in self.tree.path(base)}
        found["torso"] = tuple(name for name in self.robot.joint_names if name in torso)
        found["head"] = self._head({name for names in found.values() for name in names})
        new = {name: names for name, names in found.items() if names and name not in self.robot.groups}
        for name in new:
            if name in ("torso", "head"):
                where = "between legs and arms" if name == "torso" else "alone, above all other limbs"
                self.note(name, " ".join(new[name]), where, 0.9 if name == "torso" else 0.7)
            elif name.endswith("arm"):
                self.note(name, f"{new[name][0]} … {new[name][-1]}", "mirrored limbs above the legs", 0.9)
        self.robot = replace(self.robot, groups={**self.robot.groups, **new})

    def _head(self, taken: set[str]) -> tuple[str, ...]:
        """The joints of the limb that is no arm and no leg, and goes up highest."""
        best: tuple[str, ...] = ()
        height = -math.inf
        trunks = {self.body.legs[0].base, self.robot.root, *(pair[0].base for pair in self.body.arms)}
        for trunk in trunks:
            for joint in self.tree.below[self.tree.body[trunk]]:
                limb = self.tree.limb(joint)
                end = float(self.tree.middle(limb.tip) @ self.body.up)
                rises = end > float(self.tree.origin(joint) @ self.body.up)
                if not {each.name for each in limb.joints} & taken and rises and end > height:
                    best, height = tuple(j.name for j in limb.joints if j.name in self.robot.index), end
        return best

    # --- sensors -----------------------------------------------------------------------------------

    def _imu(self) -> None:
        imus = self.robot.sensors_of("imu")
        if imus:
            best = min(imus, key=lambda sensor: (len(self.tree.path(sensor.link)), imus.index(sensor)))
            others = tuple(sensor for sensor in self.robot.sensors if sensor is not best)
            self.robot = replace(self.robot, sensors=(best, *others))
            self.note("imu", f"'{best.name}' in {best.link}", "a sensor of the file, the nearest to the root", 0.98)
            return
        named = [link.name for link in self.robot.links if re.search(r"(^|[^a-z])imu([^a-z]|$)", link.name.lower())]
        link = min(named, key=lambda name: len(self.tree.path(name)), default=self.robot.root)
        if named:
            self.note("imu", f"in {link}", "a link named so", 0.8)
        else:
            self.note("imu", f"in {link}", "no sensor and no link named so: taken to be in the root", 0.3)
        self.robot = replace(self.robot, sensors=(Sensor("imu", "imu", link), *self.robot.sensors))

    def _foot_sensors(self) -> None:
        """A force-torque sensor for each foot, at its ankle."""
        for side, leg in zip(SIDES, self.legs, strict=True):
            link = leg.sole.link
            there = [each for each in self.robot.sensors_of("force_torque") if each.link == link]
            if there:
                self.note(f"{side}_foot", f"'{there[0].name}' in {link}", "a force-torque sensor of the file", 0.98)
                continue
            name = f"{side}_foot"
            reason = "no force-torque sensor in the file: a simulator gives one, a driver has to"
            self.note(name, f"in {link}", reason, 0.3)
            self.robot = replace(self.robot, sensors=(*self.robot.sensors, Sensor(name, "force_torque", link)))

    # --- posture and gains -------------------------------------------------------------------------

    def _stance(self) -> None:
        if "stand" in self.robot.postures:
            return
        length = max(np.ptp(np.array(leg.sole.outline)[:, 0]) for leg in self.legs)
        for name in NAMED_STANCES:
            if name in self.robot.postures:
                stance = measured(self.robot, self.robot.postures[name], self.legs)
                if stands(stance, float(length)):
                    self._take(stance, f"key frame '{name}' of the file", 0.95)
                    return
        stance = stance_of(self.robot, self.tree, self.legs)
        sure = 0.8 if stands(stance, float(length)) else 0.3
        self._take(stance, "bent legs below a trunk and arms as at zero", sure)

    def _take(self, stance: Stance, where: str, sure: float) -> None:
        tilt, knee = math.degrees(stance.tilt), math.degrees(stance.knee)
        reason = f"{where}: soles level to {tilt:.1g}°, weight {1000 * stance.ahead:.0f} mm ahead of their middle"
        self.note("stand", f"knees bent by {knee:.0f}°", reason, sure)
        self.robot = replace(self.robot, postures={**self.robot.postures, "stand": stance.posture})

    def _gains(self) -> None:
        found = gains_of(self.robot, self.tree, self.legs)
        bare = [joint for joint in self.robot.moving if joint.actuated and joint.name not in self.robot.gains]
        soft = [] if "gains" in self.told else self._soft(found)
        if soft:
            least = min(self.robot.gains[name].stiffness for name in soft)
            reason = f"{least:.3g} N·m/rad of the file do not hold the weight: meant for a controller of its own"
            self.note("gains of legs", f"{found[soft[0]].stiffness:.3g} N·m/rad, {len(soft)} joints", reason, 0.5)
            self.robot = replace(self.robot, gains={**self.robot.gains, **{name: found[name] for name in soft}})
        if not bare:
            return
        given = {joint.name: found[joint.name] for joint in bare}
        low, high = (limit(gain.stiffness for gain in given.values()) for limit in (min, max))
        reason = f"from masses and lengths: {LEGS_STIFF:g} times the torque of the weight in legs"
        self.note("gains", f"{low:.3g} to {high:.3g} N·m/rad, {len(given)} joints", reason, 0.5)
        self.robot = replace(self.robot, gains={**self.robot.gains, **given})

    def _soft(self, found: Mapping[str, Gain]) -> list[str]:
        """The joints of legs and torso, if one of the legs is too soft to stand on."""
        legs = [joint.name for leg in self.legs for joint in leg.joints if joint.name in self.robot.gains]
        holding = [*legs, *(name for name in self.robot.groups.get("torso", ()) if name in self.robot.gains)]
        if not any(self.robot.gains[name].stiffness < SOFT * found[name].stiffness for name in legs):
            return []
        return [name for name in holding if self.robot.gains[name].stiffness < found[name].stiffness]


def gains_of(robot: Robot, tree: Tree, legs: list[Leg]) -> Mapping[str, Gain]:
    """Gains by which a robot stands: legs and torso hold the weight, other joints what hangs from them."""
    below = {name: (0.0, np.zeros(3)) for name in tree.below}
    for name in below:
        mass = sum(robot.link(each).mass for each in tree.links_of(name))
        below[name] = mass, mass * tree.middle(name)
    for joint in reversed(robot.joints):
        if joint.kind != "fixed":
            parent, (mass, moment) = tree.body[joint.parent], below[joint.child]
            below[parent] = below[parent][0] + mass, below[parent][1] + moment
    sole = float((tree.where[legs[0].sole.link] @ legs[0].sole.at.matrix)[2, 3])
    height = below[robot.root][1][2] / robot.mass - sole if robot.mass > 0 else 1.0
    holding = {joint.name for leg in legs for joint in leg.joints}
    holding |= set(robot.groups.get("torso", ()))
    found = {}
    for joint in robot.moving:
        mass, moment = below[joint.child]
        arm = float(np.linalg.norm(moment / mass - tree.origin(joint))) if mass > 0 else 0.0
        stiff = OTHERS_STIFF * GRAVITY * mass * max(arm, 0.02)
        if joint.name in holding:
            stiff = LEGS_STIFF * GRAVITY * robot.mass * float(height)
        if joint.effort > 0.0:
            stiff = min(stiff, joint.effort / EXHAUSTED)
        stiff = float(f"{stiff:.2g}")
        found[joint.name] = Gain(stiff, float(f"{DAMPED * stiff:.2g}"))
    return found
