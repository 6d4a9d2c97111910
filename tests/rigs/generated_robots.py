"""Robots that no one ever built: random trees with two legs, or as many as asked for, described by numbers alone."""

from dataclasses import replace

import numpy as np

from wholebody.robots import Joint, Link, Placement, Robot, Shape

AXES = {"roll": (1.0, 0.0, 0.0), "pitch": (0.0, 1.0, 0.0), "yaw": (0.0, 0.0, 1.0)}


def biped(seed=0, legs=("left", "right"), arms=True, foot=None, root="pelvis"):
    """A robot of random lengths and masses, its hips in a random order of axes; `foot` scales the left foot.

    With the chest as its root, both legs hang below a waist.
    """
    rng = np.random.default_rng(seed)
    size = rng.uniform(0.3, 2.0)
    links = [_link("pelvis", 8 * size**3, _box(0.2 * size, 0.2 * size, 0.1 * size))]
    joints = []
    hip = list(rng.permutation(["roll", "pitch", "yaw"]))
    thigh, shin = rng.uniform(0.3, 0.45, 2) * size
    length, width, high = 0.24 * size, 0.12 * size, 0.05 * size
    toe = rng.uniform(0.02, 0.05) * size
    aside = rng.uniform(0.07, 0.12) * size
    for leg in legs:
        x, y = {
            "left": (0.0, aside),
            "right": (0.0, -aside),
            "hind left": (-size, aside),
            "hind right": (-size, -aside),
        }.get(leg, (0.0, 0.0))
        scale = foot if foot and leg == "left" else 1.0
        last = "pelvis"
        steps = [(axis, (x, y, -0.05 * size) if not i else (0.0, 0.0, 0.0)) for i, axis in enumerate(hip)]
        steps += [("pitch", (0.0, 0.0, -thigh)), ("pitch", (0.0, 0.0, -shin)), ("roll", (0.0, 0.0, 0.0))]
        for number, (axis, at) in enumerate(steps):
            name = f"{leg} {number} {axis}"
            shape = ()
            if number == 5:
                at_foot = Placement((toe, 0.0, -0.06 * size))
                shape = (Shape("box", (length * scale, width * scale, high), at_foot),)
            knee = number == 3
            links.append(Link(name, 2 * size**3, (0.0, 0.0, -0.05 * size), _inertia(size), shape))
            low, high_ = (-0.1, 2.4) if knee else (-1.2, 1.2)
            joints.append(
                Joint(
                    f"{name} joint", "revolute", last, name, Placement(at), AXES[axis], low, high_, 10.0, 400 * size**4
                )
            )
            last = name
    if not arms:
        return Robot(f"robot {seed}", tuple(links), tuple(joints))
    links.append(_link("chest", 12 * size**3, _box(0.2 * size, 0.3 * size, 0.3 * size)))
    ends = (root, "chest" if root == "pelvis" else "pelvis")
    at = Placement((0, 0, (0.25 if root == "pelvis" else -0.25) * size))
    joints.append(Joint("waist", "revolute", *ends, at, AXES["yaw"], -1, 1, 10, 200 * size**4))
    for side, sign in (("left", 1.0), ("right", -1.0)):
        last = "chest"
        for number, axis in enumerate(("pitch", "roll", "yaw", "pitch")):
            name = f"{side} arm {number}"
            at = (0.0, sign * 0.25 * size, 0.15 * size) if not number else (0.0, 0.0, -0.25 * size * (number == 3))
            links.append(Link(name, size**3, (0.0, 0.0, -0.1 * size), _inertia(size)))
            joints.append(
                Joint(f"{name} joint", "revolute", last, name, Placement(at), AXES[axis], -2, 2, 10, 60 * size**4)
            )
            last = name
    return Robot(f"robot {seed}", tuple(links), tuple(joints))


def renamed(robot, seed):
    """The same robot with names that say nothing, and its branches in another order."""
    rng = np.random.default_rng(seed)
    links = dict(
        zip([each.name for each in robot.links], (f"a{i}" for i in rng.permutation(len(robot.links))), strict=True)
    )
    joints = dict(
        zip([each.name for each in robot.joints], (f"b{i}" for i in rng.permutation(len(robot.joints))), strict=True)
    )
    more = [
        replace(each, name=joints[each.name], parent=links[each.parent], child=links[each.child])
        for each in robot.joints
    ]
    order = rng.permutation(len(more))
    new = tuple(replace(each, name=links[each.name]) for each in robot.links)
    return replace(robot, links=new, joints=tuple(more[i] for i in order)), links, joints


def turned(robot, placement):
    """The same robot whose root's axes point elsewhere: what hangs from the root, and its shapes, are placed anew."""
    back = np.linalg.inv(placement.matrix)

    def place(at):
        return Placement.of(back @ at.matrix)

    joints = [replace(j, at=place(j.at)) if j.parent == robot.root else j for j in robot.joints]
    root = robot.link(robot.root)
    com = tuple(float(x) for x in (back @ [*root.com, 1.0])[:3])
    shapes = tuple(replace(shape, at=place(shape.at)) for shape in root.shapes)
    links = [replace(root, com=com, shapes=shapes) if each is root else each for each in robot.links]
    return replace(robot, links=tuple(links), joints=tuple(joints))


def mirrored(robot):
    """The same robot seen in a mirror: left is right."""

    def flip(at):
        x, y, z = at.xyz
        roll, pitch, yaw = at.rpy
        return Placement((x, -y, z), (-roll, pitch, -yaw))

    joints = [
        replace(j, at=flip(j.at), axis=(-j.axis[0], j.axis[1], -j.axis[2]) if j.axis else j.axis) for j in robot.joints
    ]
    links = [
        replace(
            each,
            com=(each.com[0], -each.com[1], each.com[2]),
            shapes=tuple(replace(shape, at=flip(shape.at)) for shape in each.shapes),
        )
        for each in robot.links
    ]
    return replace(robot, links=tuple(links), joints=tuple(joints))


def _link(name, mass, shape):
    return Link(name, mass, (0.0, 0.0, 0.0), _inertia(mass ** (1 / 3)), (shape,))


def _box(x, y, z):
    return Shape("box", (x, y, z))


def _inertia(size):
    moment = 0.02 * size**5 + 1e-5
    return (moment, moment, moment, 0.0, 0.0, 0.0)
