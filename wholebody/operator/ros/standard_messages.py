"""StandardMessages: the records of a robot as standard messages of ROS, for topics, logs and viewers alike.

messages = StandardMessages(robot)
messages.joint_state(state, Time.of(state.time)), messages.transforms(state, stamp), messages.description()
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from wholebody.messages import ForceTorque, Imu, Measured, MeasuredMotion, State
from wholebody.robots.formats.urdf import write_urdf
from wholebody.robots.robot import Array, Joint, Placement, Robot
from wholebody.ros import standard
from wholebody.ros.standard import (
    Header,
    JointState,
    Odometry,
    Point,
    Pose,
    PoseWithCovariance,
    Quaternion,
    String,
    TFMessage,
    Time,
    Transform,
    TransformStamped,
    Twist,
    TwistWithCovariance,
    Vector3,
    Wrench,
    WrenchStamped,
)
from wholebody.rotations import matrix_of_quaternion, quaternion_of_matrix

ODOMETRY_FRAME = "odom"
NOT_MEASURED = (-1.0, *(0.0,) * 8)
"""The covariance of what an IMU does not measure, by the definition of sensor_msgs/Imu."""
TILT = MeasuredMotion.ROLL_AND_PITCH
TURNING = MeasuredMotion.ANGULAR_VELOCITY_X | MeasuredMotion.ANGULAR_VELOCITY_Y | MeasuredMotion.ANGULAR_VELOCITY_Z
PUSHING = (
    MeasuredMotion.LINEAR_ACCELERATION_X | MeasuredMotion.LINEAR_ACCELERATION_Y | MeasuredMotion.LINEAR_ACCELERATION_Z
)


class StandardMessages:
    """Of one robot. Its base stands in the frame `odom`; with a prefix, all names of frames begin with it."""

    def __init__(self, robot: Robot, prefix: str = "") -> None:
        self.robot, self.prefix = robot, prefix
        self.names = robot.joint_names
        self._chain = _Chain(robot)
        self._moving = [self._transform(joint.parent, joint.child) for joint in self._chain.joints]
        self._base = self._transform(ODOMETRY_FRAME, robot.root)
        self._measured, self._has_velocity, self._has_effort = b"", False, False

    def frame(self, name: str) -> str:
        """The name of a frame, with the prefix."""
        return self.prefix + name

    def description(self) -> String:
        """The robot as URDF."""
        return String(write_urdf(self.robot))

    def joint_state(self, state: State, stamp: Time) -> JointState:
        """What joints do, as measured; velocities and efforts only where a joint measures them."""
        measured = state.measured.tobytes()
        if measured != self._measured:  # which seldom changes
            self._measured = measured
            every = int(np.bitwise_or.reduce(state.measured)) if len(self.names) else 0
            self._has_velocity, self._has_effort = bool(every & Measured.VELOCITY), bool(every & Measured.EFFORT)
        velocity = state.velocity if self._has_velocity else ()
        effort = state.effort if self._has_effort else ()
        return JointState(Header(stamp), self.names, state.position, velocity, effort)

    def commands(self, state: State, stamp: Time) -> JointState:
        """Where joints are told to be, for a second model that shows it."""
        return JointState(Header(stamp), self.names, state.reference)

    def transforms(self, state: State, stamp: Time, positions: Array | None = None) -> TFMessage:
        """Where the base is, if anybody knows, and every link that moves in the one before it."""
        rotations, translations = self._chain.at(state.position if positions is None else positions)
        for each, turn, shift in zip(self._moving, rotations.tolist(), translations.tolist(), strict=True):
            each.header.stamp = stamp
            rotation, translation = each.transform.rotation, each.transform.translation
            rotation.x, rotation.y, rotation.z, rotation.w = turn
            translation.x, translation.y, translation.z = shift
        if not state.base.known:
            return TFMessage(self._moving)
        self._base.header.stamp = stamp
        self._base.transform = Transform(
            Vector3(*state.base.position.tolist()), Quaternion(*state.base.orientation.tolist())
        )
        return TFMessage([self._base, *self._moving])

    def fixed_transforms(self, stamp: Time) -> TFMessage:
        """Links that never move, and the sensors, in the links that carry them."""
        fixed = [(joint.parent, joint.child, joint.at) for joint in self.robot.joints if joint.kind == "fixed"]
        links = {link.name for link in self.robot.links}
        fixed += [(each.link, each.name, each.at) for each in self.robot.sensors if each.name not in links]
        return TFMessage([self._placed(parent, child, at, stamp) for parent, child, at in fixed])

    def imus(self, state: State, stamp: Time) -> Iterator[tuple[str, standard.Imu]]:
        """What each IMU measures, by its name."""
        for sensor, imu in zip(self.robot.sensors_of("imu"), state.imu, strict=True):
            yield sensor.name, _imu(imu, Header(stamp, self.frame(sensor.name)))

    def wrenches(self, state: State, stamp: Time) -> Iterator[tuple[str, WrenchStamped]]:
        """What each force-torque sensor measures, by its name."""
        for sensor, measured in zip(self.robot.sensors_of("force_torque"), state.force_torque, strict=True):
            yield sensor.name, WrenchStamped(Header(stamp, self.frame(sensor.name)), _wrench(measured))

    def odometry(self, state: State, stamp: Time) -> Odometry | None:
        """Where the base is, and its velocity in its own axes; None if nobody knows."""
        base = state.base
        if not base.known:
            return None
        to_own = matrix_of_quaternion(base.orientation).T
        linear, angular = (to_own @ base.linear_velocity).tolist(), (to_own @ base.angular_velocity).tolist()
        pose = Pose(Point(*base.position.tolist()), Quaternion(*base.orientation.tolist()))
        return Odometry(
            Header(stamp, self.frame(ODOMETRY_FRAME)),
            self.frame(self.robot.root),
            PoseWithCovariance(pose),
            TwistWithCovariance(Twist(Vector3(*linear), Vector3(*angular))),
        )

    def _transform(self, parent: str, child: str) -> TransformStamped:
        return TransformStamped(Header(frame_id=self.frame(parent)), self.frame(child), Transform())

    def _placed(self, parent: str, child: str, at: Placement, stamp: Time) -> TransformStamped:
        turn = Quaternion(*quaternion_of_matrix(at.rotation).tolist())
        found = self._transform(parent, child)
        return replace(found, header=replace(found.header, stamp=stamp), transform=Transform(Vector3(*at.xyz), turn))


class _Chain:
    """The joints that move, and where they put their children: for all of them at once.

    A turning joint: rotation q_at ⊗ (axis sin θ/2, cos θ/2), translation of its placement; a sliding one: q_at,
    translation x_at + R_at axis θ.
    """

    def __init__(self, robot: Robot) -> None:
        self.joints = [joint for joint in robot.joints if joint.kind != "fixed"]
        self._index = np.array([_leader(robot, joint) for joint in self.joints], np.intp)
        mimics = [(j.mimic.ratio, j.mimic.offset) if j.mimic else (1.0, 0.0) for j in self.joints]
        self._ratio, self._offset = np.array(mimics or np.zeros((0, 2))).reshape(-1, 2).T
        axes = np.array([j.axis for j in self.joints], np.float64).reshape(-1, 3)
        self._axes = axes / np.linalg.norm(axes, axis=1, keepdims=True) if len(axes) else axes
        self._turns = np.array([j.kind != "prismatic" for j in self.joints], bool)
        self._at = np.array([quaternion_of_matrix(j.at.rotation) for j in self.joints]).reshape(-1, 4)
        self._xyz = np.array([j.at.xyz for j in self.joints], np.float64).reshape(-1, 3)
        slides = [j.at.rotation @ axis for j, axis in zip(self.joints, self._axes, strict=True)]
        self._slides = np.where(self._turns[:, None], 0.0, np.array(slides).reshape(-1, 3))

    def at(self, positions: Array) -> tuple[Array, Array]:
        """Rotations (quaternions, a row for each joint) and translations."""
        angle = self._ratio * np.asarray(positions)[self._index] + self._offset
        half = np.where(self._turns, 0.5 * angle, 0.0)
        vector, scalar = self._axes * np.sin(half)[:, None], np.cos(half)[:, None]
        own, w = self._at[:, :3], self._at[:, 3:]
        turned = w * vector + scalar * own + np.cross(own, vector)
        last = w * scalar - (own * vector).sum(axis=1, keepdims=True)
        return np.hstack([turned, last]), self._xyz + self._slides * angle[:, None]


def _leader(robot: Robot, joint: Joint) -> int:
    return robot.index[joint.mimic.of if joint.mimic else joint.name]


def _imu(imu: Imu, header: Header) -> standard.Imu:
    measured = imu.measured
    return standard.Imu(
        header,
        Quaternion(*imu.orientation.tolist()),
        standard.ZEROS_9 if measured & TILT else NOT_MEASURED,
        Vector3(*imu.angular_velocity.tolist()),
        standard.ZEROS_9 if measured & TURNING else NOT_MEASURED,
        Vector3(*imu.linear_acceleration.tolist()),
        standard.ZEROS_9 if measured & PUSHING else NOT_MEASURED,
    )


def _wrench(measured: ForceTorque) -> Wrench:
    return Wrench(Vector3(*measured.force.tolist()), Vector3(*measured.torque.tolist()))
