"""What MJCF says of a tree of bodies: motors and their gains, followers, loops, sensors, contacts, postures."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from wholebody.errors import RobotWarning
from wholebody.robots.formats.mjcf_model import Compiled, placed, rotation
from wholebody.robots.robot import (
    Array,
    Gain,
    Joint,
    Loop,
    Mimic,
    Placement,
    Robot,
    Sensor,
    resolved_mimics,
)

Names = Mapping[int, str]
"""Of the links by the numbers of MuJoCo's bodies."""
Numbers = Mapping[str, int]
"""Of MuJoCo's joints by the names of ours."""
FROM_CAMERA = np.array([[0.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [-1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
"""Our axes of a camera (it looks along x, z up) in MuJoCo's (along −z, y up)."""


# --- motors ----------------------------------------------------------------------------------------


def fast(file: Compiled, joints: list[Joint]) -> list[Joint]:
    """Joints with their velocity limits, which MJCF does not know: <custom> <numeric name="velocity JOINT" data=…>."""
    model, names = file.model, {joint.name for joint in joints}
    limits = {}
    for number in range(model.nnumeric):
        word, _, joint = file.name("numeric", number).partition(" ")
        if word == "velocity" and joint in names:
            limits[joint] = float(model.numeric_data[model.numeric_adr[number]])
    return [replace(joint, velocity=limits.get(joint.name, math.inf)) for joint in joints]


def driven(file: Compiled, numbers: Numbers, joints: list[Joint]) -> list[Joint]:
    """Joints with the limits of their motors; where a file has motors, the others have none."""
    model, efforts, targets = file.model, dict[int, float](), dict[int, tuple[float, float]]()
    for actuator, joint, gear in _motors(file, warn=True):
        efforts[joint] = efforts.get(joint, 0.0) + _effort(file, actuator) * gear
        if _stiffness(file, actuator) and model.actuator_ctrllimited[actuator]:
            low, high = (float(each) for each in model.actuator_ctrlrange[actuator])
            targets[joint] = (low / gear, high / gear)
    return [_driven(file, joint, numbers.get(joint.name), efforts, targets) for joint in joints]


def _driven(
    file: Compiled,
    joint: Joint,
    number: int | None,
    efforts: Mapping[int, float],
    targets: Mapping[int, tuple[float, float]],
) -> Joint:
    if number is None:
        return joint
    effort = efforts.get(number) or math.inf
    if file.model.jnt_actfrclimited[number]:
        effort = min(effort, float(np.abs(file.model.jnt_actfrcrange[number]).max()))
    joint = replace(joint, actuated=number in efforts or not file.model.nu, effort=effort or math.inf)
    if math.isinf(joint.lower) and number in targets and targets[number][0] < targets[number][1]:
        kind = "revolute" if joint.kind == "continuous" else joint.kind
        joint = replace(joint, kind=kind, lower=targets[number][0], upper=targets[number][1])
    return joint


def gains(file: Compiled, numbers: Numbers) -> dict[str, Gain]:
    """Stiffness and damping by which position servos hold their joints; several on a joint add up."""
    stiffness, damping = dict[int, float](), dict[int, float]()
    for actuator, joint, gear in _motors(file):
        stiffness[joint] = stiffness.get(joint, 0.0) + _stiffness(file, actuator) * gear**2
        damping[joint] = damping.get(joint, 0.0) - float(_bias(file, actuator)[2]) * gear**2
    return {
        name: Gain(stiffness[number], max(damping[number], 0.0))
        for name, number in numbers.items()
        if stiffness.get(number, 0.0) > 0
    }


def _motors(file: Compiled, warn: bool = False) -> Iterator[tuple[int, int, float]]:
    """Actuators of joints: their numbers, the joints', and their gears."""
    model, kinds = file.model, file.mujoco.mjtTrn
    for actuator in range(model.nu):
        joint, gear = int(model.actuator_trnid[actuator][0]), abs(float(model.actuator_gear[actuator][0]))
        kind = int(model.actuator_trntype[actuator])
        if kind in (kinds.mjTRN_JOINT, kinds.mjTRN_JOINTINPARENT):
            yield actuator, joint, gear or 1.0
        elif warn:
            what = file.mujoco.mjtTrn(kind).name.removeprefix("mjTRN_").lower()
            text = f"actuator '{file.name('actuator', actuator)}' drives a {what}, not a joint; it is left out"
            warnings.warn(text, RobotWarning, stacklevel=5)


def _bias(file: Compiled, actuator: int) -> Array:
    affine = int(file.model.actuator_biastype[actuator]) == file.mujoco.mjtBias.mjBIAS_AFFINE
    return np.array(file.model.actuator_biasprm[actuator] if affine else np.zeros(3))


def _stiffness(file: Compiled, actuator: int) -> float:
    return max(-float(_bias(file, actuator)[1]), 0.0)


def _effort(file: Compiled, actuator: int) -> float:
    """The largest force of an actuator: its force range, or, of one without feedback, what its controls can ask for."""
    model = file.model
    limit = math.inf
    if model.actuator_forcelimited[actuator]:
        limit = float(np.abs(model.actuator_forcerange[actuator]).max())
    if model.actuator_ctrllimited[actuator] and not _bias(file, actuator).any():
        gain = abs(float(model.actuator_gainprm[actuator][0])) or 1.0
        limit = min(limit, gain * float(np.abs(model.actuator_ctrlrange[actuator]).max()))
    return limit


# --- equalities ------------------------------------------------------------------------------------


def followers(file: Compiled, numbers: Numbers, joints: list[Joint]) -> list[Joint]:
    """Joints that an equality makes follow another; a follower's follower follows the first of them."""
    model, names = file.model, {number: name for name, number in numbers.items()}
    following: dict[str, Mimic] = {}
    for equality in np.flatnonzero(model.eq_type == file.mujoco.mjtEq.mjEQ_JOINT):
        one, other = int(model.eq_obj1id[equality]), int(model.eq_obj2id[equality])
        if other < 0:
            warnings.warn(f"joint '{names[one]}' is held by an equality, which is left out", RobotWarning, stacklevel=4)
            continue
        offset, ratio, *more = (float(value) for value in model.eq_data[equality][:5])
        if any(more):
            text = f"joint '{names[one]}' follows '{names[other]}' by a polynomial; its straight part is taken"
            warnings.warn(text, RobotWarning, stacklevel=4)
        start, lead = (float(model.qpos0[model.jnt_qposadr[each]]) for each in (one, other))
        following[names[one]] = Mimic(names[other], ratio, start + offset - ratio * lead)
    return resolved_mimics([replace(joint, mimic=following.get(joint.name)) for joint in joints])


def loops(file: Compiled, names: Names) -> tuple[Loop, ...]:
    """Bodies that the file pins or welds together, which closes a loop of the tree."""
    model, kinds = file.model, file.mujoco.mjtEq
    found = []
    for number in range(model.neq):
        if int(model.eq_type[number]) not in (kinds.mjEQ_CONNECT, kinds.mjEQ_WELD):
            continue
        welded = int(model.eq_type[number]) == kinds.mjEQ_WELD
        name = file.name("equality", number) or f"loop_{number}"
        sides = _sides(file, number, welded)
        if any(body not in names for body, _ in sides):
            text = f"equality '{name}' holds the robot to what is not the robot; it is left out"
            warnings.warn(text, RobotWarning, stacklevel=4)
            continue
        (one, first), (other, second) = sides
        found.append(Loop(name, names[one], names[other], Placement.of(first), Placement.of(second), welded))
    return tuple(found)


def _sides(file: Compiled, number: int, welded: bool) -> tuple[tuple[int, Array], tuple[int, Array]]:
    """The two bodies of an equality, each with the frame in it that meets the other's."""
    model = file.model
    one, other = int(model.eq_obj1id[number]), int(model.eq_obj2id[number])
    if int(model.eq_objtype[number]) == file.mujoco.mjtObj.mjOBJ_SITE:
        frames = [placed(model.site_pos[site], model.site_quat[site]) for site in (one, other)]
        return (int(model.site_bodyid[one]), frames[0]), (int(model.site_bodyid[other]), frames[1])
    data, still = model.eq_data[number], np.array([1.0, 0.0, 0.0, 0.0])
    if not welded:
        return (one, placed(data[:3], still)), (other, placed(data[3:6], still))
    second = placed(data[:3], still)
    return (one, placed(data[3:6], data[6:10]) @ second), (other, second)


# --- sensors, contacts, postures -------------------------------------------------------------------


def sensors(file: Compiled, names: Names) -> tuple[Sensor, ...]:
    """IMUs and force-torque sensors at the sites where the file has such sensors, and its cameras."""
    model, kinds = file.model, file.mujoco.mjtSensor
    inertial, forces = (kinds.mjSENS_GYRO, kinds.mjSENS_ACCELEROMETER), (kinds.mjSENS_FORCE, kinds.mjSENS_TORQUE)
    found: dict[int, str] = {}
    for sensor in range(model.nsensor):
        kind, site = int(model.sensor_type[sensor]), int(model.sensor_objid[sensor])
        if kind in inertial + forces and int(model.site_bodyid[site]) in names:
            found[site] = "imu" if kind in inertial else found.get(site, "force_torque")
    made = []
    for site, what in found.items():
        at = Placement.of(placed(model.site_pos[site], model.site_quat[site]))
        made.append(Sensor(file.name("site", site) or f"site_{site}", what, names[int(model.site_bodyid[site])], at))
    for camera in range(model.ncam):
        if (body := int(model.cam_bodyid[camera])) in names:
            at = Placement.of(placed(model.cam_pos[camera], model.cam_quat[camera]) @ FROM_CAMERA)
            made.append(Sensor(file.name("camera", camera) or f"camera_{camera}", "camera", names[body], at))
    return tuple(made)


def untouchable(file: Compiled, names: Names) -> frozenset[frozenset[str]]:
    """Pairs of links that never collide: by <exclude>, or because no masks of theirs meet and no <pair> names them."""
    model = file.model
    excluded = {(int(each) >> 16, int(each) & 0xFFFF) for each in model.exclude_signature}
    meeting = {
        tuple(sorted((int(model.geom_bodyid[one]), int(model.geom_bodyid[other]))))
        for one, other in zip(model.pair_geom1, model.pair_geom2, strict=True)
    }
    paired = {int(model.geom_bodyid[geom]) for geom in range(model.ngeom) if file.name("geom", geom) in file.paired}
    kinds, wants = model.body_contype, model.body_conaffinity
    solid = [body for body in names if kinds[body] or wants[body] or body in paired]
    for index, one in enumerate(solid):
        for other in solid[index + 1 :]:
            meets = int(kinds[one]) & int(wants[other]) or int(kinds[other]) & int(wants[one])
            if not meets and (one, other) not in meeting:
                excluded.add((one, other))
    return frozenset(frozenset((names[a], names[b])) for a, b in excluded if a in names and b in names)


def postures(file: Compiled, numbers: Numbers, robot: Robot) -> dict[str, dict[str, float]]:
    """Key frames as postures; one outside the limits is left out with a warning."""
    found: dict[str, dict[str, float]] = {}
    balls = file.model.jnt_type == file.mujoco.mjtJoint.mjJNT_BALL
    for key in range(file.model.nkey):
        name, positions = file.name("key", key), file.model.key_qpos[key]
        if not name:
            continue
        posture = {}
        for joint in robot.moving:
            number = numbers[joint.name]
            first = int(file.model.jnt_qposadr[number])
            wxyz = positions[first : first + 4]
            posture[joint.name] = _angle(wxyz, joint.axis) if balls[number] else float(positions[first])
        outside = [j.name for j in robot.moving if not j.lower - 1e-9 <= posture[j.name] <= j.upper + 1e-9]
        if outside:
            text = f"key '{name}' puts {', '.join(outside)} outside the limits; left out"
            warnings.warn(text, RobotWarning, stacklevel=4)
        else:
            found[name] = posture
    return found


def _angle(wxyz: Array, axis: tuple[float, ...]) -> float:
    """The angle about x, y or z of a ball's three hinges: R = Rx Ry Rz."""
    R = rotation(wxyz)
    return float(
        (math.atan2(-R[1, 2], R[2, 2]), math.asin(np.clip(R[0, 2], -1, 1)), math.atan2(-R[0, 1], R[0, 0]))[
            int(np.argmax(axis))
        ]
    )
