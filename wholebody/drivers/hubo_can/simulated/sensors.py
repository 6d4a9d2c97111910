"""SimulatedSensors: the force-torque sensors, tilt sensors and IMU on the buses, as far as Hubo's have axes."""

from __future__ import annotations

import math
from dataclasses import dataclass

from wholebody.drivers.hubo_can import replies
from wholebody.drivers.hubo_can.commands import Sense
from wholebody.drivers.hubo_can.frames import Frame
from wholebody.drivers.hubo_can.replies import ForceTorque, Motion, Tilt
from wholebody.drivers.hubo_can.wiring import SensorNode, Wiring
from wholebody.messages import State
from wholebody.robots.robot import Robot

_WRENCH = (Sense.RAW, Sense.SCALED, Sense.SCALED_WRENCH_RAW_ACCELERATION, Sense.RAW_WRENCH, Sense.WRENCH)
_TILT = (Sense.RAW, Sense.SCALED, Sense.RAW_WRENCH_SCALED_ACCELERATION, Sense.RAW_ACCELERATION, Sense.ACCELERATION)


@dataclass
class Node:
    """A sensor, where its reading stands in the state, and what it was nulled by: Mx, My, Fz."""

    wiring: SensorNode
    place: int
    roll: tuple[int, ...]
    pitch: tuple[int, ...]
    null: tuple[float, float, float] = (0.0, 0.0, 0.0)


class SimulatedSensors:
    """All sensors of a robot; they read off a state that somebody else keeps up to date."""

    def __init__(self, robot: Robot, wiring: Wiring, state: State) -> None:
        self._state = state
        self._torque, self._force = state.force_torque.torque, state.force_torque.force
        places = {
            sensor.name: place
            for kind in ("imu", "force_torque")
            for place, sensor in enumerate(robot.sensors_of(kind))
        }
        self.nodes = {
            sensor.number: Node(
                *(sensor, places[sensor.name]),
                roll=tuple(robot.index[joint] for joint in sensor.roll_joints),
                pitch=tuple(robot.index[joint] for joint in sensor.pitch_joints),
            )
            for sensor in wiring.sensors
        }
        self.dead: set[str] = set()

    def answer(self, bus: int, number: int, what: Sense) -> list[Frame]:
        """What the sensors of a bus answer."""
        if what is Sense.IMU:
            asked = [node for node in self.nodes.values() if node.wiring.is_imu]
        else:
            asked = [self.nodes[number]] if number in self.nodes else []
        return [
            frame
            for node in asked
            if node.wiring.bus == bus and node.wiring.name not in self.dead
            for frame in self._answer(node, what)
        ]

    def null(self, bus: int, number: int) -> None:
        """Take what a force-torque sensor reads now for zero."""
        node = self.nodes.get(number)
        if node and node.wiring.bus == bus and not node.wiring.is_imu:
            node.null = self._wrench(node)

    def _answer(self, node: Node, what: Sense) -> list[Frame]:
        number = node.wiring.number
        if node.wiring.is_imu:
            return [replies.motion(number, self._motion(node))] if what is Sense.IMU else []
        frames = []
        if what in _WRENCH:
            readings = zip(self._wrench(node), node.null, node.wiring.signs, strict=True)
            values = [sign * (reading - null) for reading, null, sign in readings]
            frames.append(replies.force_torque(number, ForceTorque(*values)))
        if what in _TILT and node.wiring.has_tilt:
            frames.append(replies.tilt(number, self._tilt(node)))
        return frames

    def _wrench(self, node: Node) -> tuple[float, float, float]:
        x, y, _ = self._torque[node.place].tolist()
        return x, y, float(self._force[node.place, 2])

    def _motion(self, node: Node) -> Motion:
        sensor = self._state.imu[node.place]
        roll, pitch = roll_and_pitch(*sensor.orientation.tolist())
        rates = sensor.angular_velocity
        return Motion(roll, pitch, float(rates[0]), float(rates[1]))

    def _tilt(self, node: Node) -> Tilt:
        """The tilt of the pelvis plus the sum of the leg's joints about the same axis: right for small angles."""
        imu = self._state.imu[0].orientation if self._state.imu else (0, 0, 0, 1)
        roll, pitch = roll_and_pitch(*(float(value) for value in imu))
        position = self._state.position
        x = roll + sum(float(position[joint]) for joint in node.roll)
        y = pitch + sum(float(position[joint]) for joint in node.pitch)
        return Tilt(x, y, math.cos(x) * math.cos(y))


def roll_and_pitch(x: float, y: float, z: float, w: float) -> tuple[float, float]:
    """Roll and pitch of a unit quaternion (x, y, z, w), as in R = Rz(yaw) Ry(pitch) Rx(roll)."""
    roll = math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    return roll, math.asin(max(-1.0, min(1.0, 2 * (w * y - z * x))))
