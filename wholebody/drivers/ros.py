"""ros: a robot that another ROS owns, as a RobotInterface: /joint_states in, joint commands out, by DDS without ROS.

    wholebody start hubo2plus --driver ros                   # a joint_trajectory_controller there
    wholebody start hubo2plus --driver ros:commands=forward_position_controller/commands,trajectory=no

What is measured there counts here when it comes; the robot's own controllers keep its joints if we fall silent.
"""

from __future__ import annotations

import contextlib
import time
from functools import partial
from typing import Annotated, Self

import numpy as np

from wholebody.errors import HardwareError
from wholebody.messages import Measured, MeasuredMotion, Mode, Reference, State, Status
from wholebody.parameters.parameter import Bounds, Unit
from wholebody.robots.robot import Robot
from wholebody.ros.dds import SENSORS, USUAL, domain_of
from wholebody.ros.node import Node
from wholebody.ros.standard import (
    Duration,
    Float64MultiArray,
    Imu,
    JointState,
    JointTrajectory,
    JointTrajectoryPoint,
    MultiArrayDimension,
    MultiArrayLayout,
)

ALL_MOTION = sum(MeasuredMotion)
"""What an IMU of ROS measures, unless its covariances say otherwise."""


class RosRobot:
    """A robot behind topics of ROS 2.

    states      topic of its joint states
    commands    topic of its commands
    trajectory  whether commands are a JointTrajectory of one point, one period ahead; else a Float64MultiArray in the
                order of our joints, as forward_command_controller takes it
    namespace   before the names of all topics
    domain      of DDS; ROS_DOMAIN_ID, or 0, if it is empty
    network     an interface; the loopback, if it is empty
    patience    how long the first state may take
    """

    modes = frozenset({Mode.POSITION})

    def __init__(
        self,
        robot: Robot,
        period: float,
        *,
        states: str = "joint_states",
        commands: str = "joint_trajectory_controller/joint_trajectory",
        trajectory: bool = True,
        namespace: str = "",
        domain: str = "",
        network: str = "",
        patience: Annotated[float, Unit("s"), Bounds(0.1, 600)] = 10.0,
    ) -> None:
        self._robot, self._period, self._patience = robot, period, patience
        self._names, self._trajectory = robot.joint_names, trajectory
        self._options = (namespace, domain_of(domain or None), network)
        self._topics = states, commands
        n = len(self._names)
        self._position, self._velocity, self._effort = np.full(n, np.nan), np.zeros(n), np.zeros(n)
        self._reference = np.full(n, np.nan)
        self._measured = np.zeros(n, np.uint8)
        self._imus: dict[str, Imu] = {}
        self._node: Node | None = None
        self._dimension = MultiArrayLayout([MultiArrayDimension("joints", n, n)])

    def read(self, state: State) -> None:
        """Fill in what came last."""
        self._take()
        state.position, state.velocity, state.effort = self._position, self._velocity, self._effort
        state.reference = self._reference
        state.measured[:] = self._measured
        state.status[:] = Status.DRIVER_ON | Status.CONTROL_ON | Status.HOMED
        for sensor, imu in zip(self._robot.sensors_of("imu"), state.imu, strict=True):
            if (told := self._imus.get(sensor.name)) is not None:
                turn, rate, force = told.orientation, told.angular_velocity, told.linear_acceleration
                imu.orientation[:] = turn.x, turn.y, turn.z, turn.w
                imu.angular_velocity[:] = rate.x, rate.y, rate.z
                imu.linear_acceleration[:] = force.x, force.y, force.z
                imu.measured = int(ALL_MOTION)

    def write(self, reference: Reference) -> None:
        """Command the joints of the mask."""
        mask = reference.mask
        self._reference[mask] = reference.position[mask]
        self._command()

    def stop(self) -> None:
        """Hold every joint where it is."""
        with contextlib.suppress(Exception):
            self._take()
            self._reference[:] = self._position
            self._command()

    def __enter__(self) -> Self:
        """Find it: HardwareError if nobody tells the state of all joints."""
        namespace, domain, network = self._options
        self._node = node = Node("wholebody_driver", namespace, domain, network)
        states, commands = self._topics
        node.subscription(states, JointState, self._joints, SENSORS)
        for sensor in self._robot.sensors_of("imu"):
            node.subscription(f"imu/{sensor.name}", Imu, partial(self._keep, sensor.name), SENSORS)
        kind = JointTrajectory if self._trajectory else Float64MultiArray
        self._commands = node.publisher(commands, kind, USUAL)
        until = time.monotonic() + self._patience
        while np.isnan(self._position).any():
            if time.monotonic() > until:
                missing = [name for name, x in zip(self._names, self._position, strict=True) if np.isnan(x)]
                self.__exit__()
                raise HardwareError(
                    f"nobody tells joint {missing[0]}{f' and {len(missing) - 1} more' if missing[1:] else ''} on "
                    f"/{node.full_name(states)} (domain {domain}, {node.participant.network}) within "
                    f"{self._patience:g} s: is its driver up, on this network and domain? (ros2 topic echo)"
                )
            self._take()
            time.sleep(0.002)
        self._reference[:] = self._position
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it and let it go."""
        if self._node is not None:
            self.stop()
            self._node.close()
            self._node = None

    def _take(self) -> None:
        if self._node is not None:
            self._node.spin()

    def _joints(self, told: JointState) -> None:
        """Take the joints that both know."""
        index = self._robot.index
        ours = [(here, there) for there, name in enumerate(told.name) if (here := index.get(name)) is not None]
        if not ours:
            return
        mine, theirs = np.array(ours).T
        pairs = (
            (told.position, self._position, Measured.POSITION),
            (told.velocity, self._velocity, Measured.VELOCITY),
            (told.effort, self._effort, Measured.EFFORT),
        )
        for given, kept, flag in pairs:
            if len(given) == len(told.name) and np.isfinite(given).all():
                kept[mine] = given[theirs]
                self._measured[mine] |= np.uint8(flag)

    def _keep(self, name: str, imu: Imu) -> None:
        self._imus[name] = imu

    def _command(self) -> None:
        if self._node is None or np.isnan(self._reference).any():
            return
        if self._trajectory:
            point = JointTrajectoryPoint(self._reference, time_from_start=Duration.of(self._period))
            self._commands.put(JointTrajectory(joint_names=self._names, points=[point]))
        else:
            self._commands.put(Float64MultiArray(self._dimension, self._reference))
