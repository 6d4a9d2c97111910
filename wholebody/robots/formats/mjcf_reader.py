"""MJCF: read any robot from one into a Robot, by MuJoCo's own compiled model of it."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from wholebody.errors import BadRobot, RobotWarning
from wholebody.robots.formats import mjcf_parts as read
from wholebody.robots.formats.mjcf_model import Compiled, compiled, placed
from wholebody.robots.formats.mjcf_shapes import shapes
from wholebody.robots.masses import repaired
from wholebody.robots.robot import Array, Joint, Link, Placement, Robot, Vector

MOTES = (1e-12, 1e-13)
"""Mass (kg) and moment (kg·m²) of links between several joints of one body: too little to matter, enough to exist."""
AXES: tuple[tuple[str, Vector], ...] = (("x", (1.0, 0.0, 0.0)), ("y", (0.0, 1.0, 0.0)), ("z", (0.0, 0.0, 1.0)))
UNNAMED, BASE = "MuJoCo Model", "world_base"


@dataclass
class Tree:
    """The links and joints of one tree of bodies, and where each joint is among MuJoCo's."""

    file: Compiled
    names: dict[int, str] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)  # of MuJoCo's joints by the names of ours; a ball has three
    floating: bool = False


def read_mjcf(path: Path, floating: bool | None = None, repair: bool = False) -> Robot:
    """Read a robot from an MJCF file; BadRobot names the body, joint or value that is wrong."""
    file = compiled(path, repair)
    tree = _tree(file, _root(file))
    links = repaired(tree.links, tree.joints) if repair else tuple(tree.links)
    joints = read.followers(file, tree.numbers, read.driven(file, tree.numbers, read.fast(file, tree.joints)))
    robot = Robot(
        file.spec.modelname if file.spec.modelname != UNNAMED else path.stem,
        links,
        tuple(joints),
        floating=tree.floating if floating is None else floating,
        sensors=read.sensors(file, tree.names),
        gains=read.gains(file, tree.numbers),
        loops=read.loops(file, tree.names),
        may_touch=read.untouchable(file, tree.names),
        source=path.name,
        from_file=True,
    )
    return replace(robot, postures=read.postures(file, tree.numbers, robot))


def _root(file: Compiled) -> int:
    """The body in the world with joints on or below it."""
    model = file.model
    tops = [body for body in range(1, model.nbody) if model.body_parentid[body] == 0]
    moving = set(model.body_rootid[model.jnt_bodyid].tolist()) if model.njnt else set()
    bodies = [body for body in tops if body in moving]
    if len(bodies) != 1:
        names = ", ".join(file.name("body", body) or "without a name" for body in bodies)
        what = f"{len(bodies)} bodies that move, {names}; leave one" if bodies else "no body that moves"
        raise BadRobot(f"{file.path} has {what}: a robot is one tree of bodies with joints")
    return bodies[0]


def _tree(file: Compiled, root: int) -> Tree:
    """The root link is the body that floats; one that is bolted or jointed to the world hangs from 'world_base'."""
    model, tree = file.model, Tree(file)
    first = int(model.body_jntadr[root])
    tree.floating = first >= 0 and int(model.jnt_type[first]) == file.mujoco.mjtJoint.mjJNT_FREE
    if not tree.floating:
        tree.links.append(Link(BASE))
    for body in range(root, model.nbody):
        if model.body_rootid[body] != root:
            continue
        name = tree.names[body] = file.name("body", body) or f"body_{body}"
        link = Link(name, shapes=tuple(shapes(file, body, name)))
        if not (tree.floating and body == root):
            at = placed(model.body_pos[body], model.body_quat[body])
            _hang(tree, name, tree.names.get(int(model.body_parentid[body]), BASE), at, body)
        tree.links.append(file.mass(body).on(link))
    return tree


@dataclass(frozen=True)
class Turn:
    """One hinge or slide of a body, about an anchor."""

    name: str
    number: int
    anchor: Array
    axis: Vector
    ball: bool = False


def _turns(tree: Tree, body: int, name: str) -> list[Turn]:
    """The joints of a body; a ball is three hinges, about x, y and z in turn."""
    file, found = tree.file, list[Turn]()
    kinds = file.mujoco.mjtJoint
    for number in range(file.model.body_jntadr[body], file.model.body_jntadr[body] + file.model.body_jntnum[body]):
        joint, kind = file.name("joint", number) or f"{name}_joint", int(file.model.jnt_type[number])
        if joint in tree.numbers or any(joint == each.name for each in found):
            joint = f"{joint}_{len(found)}"
        anchor = np.zeros(3) if kind == kinds.mjJNT_SLIDE else np.array(file.model.jnt_pos[number])
        if kind == kinds.mjJNT_FREE:
            raise BadRobot(f"joint '{joint}' lets '{name}' float; only the body that stands in the world may float")
        if kind == kinds.mjJNT_BALL:
            warnings.warn(f"ball joint '{joint}' is read as three hinges, x, y and z", RobotWarning, stacklevel=5)
            found += [Turn(f"{joint}_{axis}", number, anchor, along, ball=True) for axis, along in AXES]
        else:
            x, y, z = (float(value) for value in file.model.jnt_axis[number])
            found.append(Turn(joint, number, anchor, (x, y, z)))
    return found


def _hang(tree: Tree, name: str, parent: str, at: Array, body: int) -> None:
    """Connect a body to its parent: fixed, by a joint, or by several in a row with a mote of mass between them.

    A joint whose axis does not pass through the origin of its body gets a link of its own, to which the body is fixed.
    """
    turns = _turns(tree, body, name)
    if not turns:
        tree.joints.append(Joint(f"{name}_fixed", "fixed", parent, name, Placement.of(at)))
    for turn in turns:
        last = turn is turns[-1]
        shift = np.eye(4)
        shift[:3, 3] = turn.anchor
        whole = last and not turn.anchor.any()
        child = name if whole else f"{turn.name}_link"
        tree.joints.append(_joint(tree.file, turn, parent, child, at @ shift))
        tree.numbers[turn.name] = turn.number
        if not whole:
            mass, moment = (0.0, 0.0) if last else MOTES
            tree.links.append(Link(child, mass, inertia=(moment, moment, moment, 0.0, 0.0, 0.0)))
        shift[:3, 3] = -turn.anchor
        parent, at = child, shift
        if last and not whole:
            tree.joints.append(Joint(f"{name}_fixed", "fixed", child, name, Placement.of(at)))


def _joint(file: Compiled, turn: Turn, parent: str, child: str, at: Array) -> Joint:
    model, number = file.model, turn.number
    slides = int(model.jnt_type[number]) == file.mujoco.mjtJoint.mjJNT_SLIDE
    limited = bool(model.jnt_limited[number])
    lower, upper = (float(each) for each in model.jnt_range[number]) if limited else (-math.inf, math.inf)
    if turn.ball:
        lower, upper = (-upper, upper) if limited and upper > 0 else (-math.pi, math.pi)
    freedom = int(model.jnt_dofadr[number])
    joint = Joint(
        turn.name,
        "prismatic" if slides else "revolute" if lower > -math.inf else "continuous",
        parent,
        child,
        Placement.of(at),
        turn.axis,
        lower,
        upper,
        rotor_inertia=float(model.dof_armature[freedom]),
        damping=float(model.dof_damping[freedom]),
        friction=float(model.dof_frictionloss[freedom]),
    )
    reference = 0.0 if turn.ball else float(model.qpos0[model.jnt_qposadr[number]])
    return replace(joint, at=Placement.of(at @ joint.motion(-reference))) if reference else joint
