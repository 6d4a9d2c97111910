"""UnitreeRobot: a G1 behind Unitree's low-level topics, as the daemon sees it: rt/lowstate in, rt/lowcmd out.

Its motors follow τ = stiffness (q* − q) + damping (v* − v) + effort by themselves, all modes are cases of that. A joint
that is told a position has the gains of the table of motors (those with which Unitree's own policies run), or with
gains=robot those of the robot's description. Such gains are soft: so that a joint does not sag where it is taken, or
stopped, it goes on with the effort that it bore there. Joints of the G1 that its description lacks are held where they
were found.

A message with a wrong check sum is dropped and counted. When none has come for STALE seconds, joints are no longer
called measured. A G1 goes on with the last command it heard, so who ends lets it hold: it must stand safely, or hang.
Our simulated one takes a client that says nothing for dead, so a loop that only reads repeats its last command.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from typing import Annotated, Literal, Self

import numpy as np
import numpy.typing as npt

from wholebody.drivers import simulated_devices
from wholebody.drivers.interface import Answer
from wholebody.drivers.unitree.dds import LOOPBACK, Participant
from wholebody.drivers.unitree.low_level import LOW_COMMAND, LOW_STATE, OF_COMMAND, OF_STATE, Message
from wholebody.drivers.unitree.motors import Motors
from wholebody.errors import BadPeriod, NoRobot, RobotTaken
from wholebody.messages import ALL_JOINTS, Measured, MeasuredMotion, Mode, Reference, State, Status, Verb
from wholebody.parameters.parameter import Bounds, Unit
from wholebody.robots.robot import Array, Robot

LONGEST_PERIOD = 0.02
"""s; our simulated G1 takes a client that says nothing for 35 ms for dead"""
STALE = 0.1
"""s without a state after which nothing is measured any more"""
LISTENING = 0.1
"""s in which a command from somebody else is heard, before the robot is taken"""
MEASURED = int(Measured.POSITION | Measured.VELOCITY | Measured.ACCELERATION | Measured.EFFORT | Measured.TEMPERATURE)
_LOAD_SHARE = 0.01
"""Of the newest effort in that which a joint bears: averaged over some 0.2 s, so that no acceleration is in it."""
_READY = int(Status.DRIVER_ON | Status.CONTROL_ON | Status.HOMED)
_MOTION = int(sum(MeasuredMotion))
_W_LAST = [1, 2, 3, 0]


def unitree(
    robot: Robot,
    period: float,
    name: str,
    *,
    interface: str = "",
    domain: Annotated[int, Unit("1"), Bounds(0, 232)] = 0,
    gains: Literal["table", "robot"] = "table",
    motors: str = "",
    timeout: Annotated[float, Unit("s"), Bounds(0.1, 600)] = 5.0,
) -> UnitreeRobot:
    """A Unitree G1 by its low-level DDS topics, or a simulator that speaks them; without interface, our simulated G1.

    interface  network interface towards the robot, such as eth0, or lo for a simulator; none: our simulated G1
    domain     DDS domain: 0 of a real robot, 1 of many simulators
    gains      of a joint that is told a position: of the table of motors, or of the robot's description
    motors     YAML file with a table of motors; none: that of a G1
    timeout    how long to wait for the first state
    """
    if period > LONGEST_PERIOD:
        raise BadPeriod(
            f"a period of {period} s; a G1 wants a command at least every {LONGEST_PERIOD} s: --period 0.002"
        )
    table = Motors.of(robot, motors)
    if interface:
        participant, simulated = Participant(interface, domain), False
    else:
        found = simulated_devices.announced(name, "give interface=eth0 (or lo), or begin one: wholebody start")
        participant, simulated = Participant(LOOPBACK, found.ports[0], found.name), True
    return UnitreeRobot(robot, table, participant, own_gains=gains == "robot", timeout=timeout, simulated=simulated)


class UnitreeRobot:
    """A RobotInterface and Boards: reads LowState, writes LowCmd."""

    modes = frozenset(Mode)
    servo_period = 0.0  # s: the motors compute their effort by themselves

    def __init__(
        self,
        robot: Robot,
        motors: Motors,
        participant: Participant,
        *,
        own_gains: bool = False,
        timeout: float = 5.0,
        simulated: bool = False,
    ) -> None:
        self.robot, self.motors, self.simulated = robot, motors, simulated
        self.received = self.bad = self.unsent = 0
        self._participant, self._timeout = participant, timeout
        n = len(robot.joint_names)
        self._stiffness, self._damping = motors.stiffness.copy(), motors.damping.copy()
        if own_gains:
            self._take_gains(robot)
        self._on = np.ones(n, bool)
        self._flags = self._status_flags()
        self._load, self._borne = np.zeros(n), np.zeros(n)  # N·m: what joints bear, and did where they were taken
        self._strongest = np.array([joint.effort for joint in robot.moving])
        self._wanted = np.zeros((n, 5), np.float32)  # position, velocity, effort, stiffness, damping
        self._new = np.zeros_like(self._wanted)
        self._modes, self._used = b"", list[npt.NDArray[np.bool_] | None]()
        self._command, self._state, self._arrived = Message(LOW_COMMAND), Message(LOW_STATE), Message(LOW_STATE)
        self._moved = np.zeros(n, bool)
        self._moved[motors.joints] = True
        self._heard = 0.0
        self._told = False  # whether a command was sent since the last read

    def _status_flags(self) -> npt.NDArray[np.uint32]:
        on = self._on[self.motors.joints]
        return np.where(on, _READY, int(Status.HOMED)).astype(np.uint32)

    def _take_gains(self, robot: Robot) -> None:
        for joint, name in enumerate(robot.joint_names):
            if gain := robot.gains.get(name):
                self._stiffness[joint], self._damping[joint] = gain.stiffness, gain.damping

    # The robot.

    def read(self, state: State) -> None:
        """Fill in the newest state that has come; repeat the last command if none was written since the last time."""
        now = self._listen()
        if not self._told:
            self._send()
        self._told = False
        joints, motors, rows = self.motors.joints, self.motors.motors, self._state.rows
        moving = self._state.motors[motors]
        state.position[joints], state.velocity[joints] = moving[:, OF_STATE.position], moving[:, OF_STATE.velocity]
        state.acceleration[joints], state.effort[joints] = moving[:, 3], moving[:, OF_STATE.effort]
        state.temperature[joints] = rows["temperature"].max(axis=1)[motors]
        fresh = now - self._heard < STALE
        status = self._flags if fresh else self._flags | np.uint32(Status.ENCODER_ERROR)
        faults = rows["faults"][motors]
        state.status[joints] = (
            np.where(faults, status | np.uint32(Status.DRIVER_FAULT), status) if faults.any() else status
        )
        state.measured[joints] = MEASURED if fresh else 0
        self._fill_imu(state, fresh)

    def _fill_imu(self, state: State, fresh: bool) -> None:
        state.base.orientation[:], state.base.known = (0.0, 0.0, 0.0, 1.0), False
        state.force_torque.measured[:] = 0
        imus, which = state.imu, self.motors.imu
        imus.measured[:], imus.orientation[:] = 0, (0.0, 0.0, 0.0, 1.0)
        if which is not None:
            measured = self._state.record["imu"]
            orientation = measured["orientation"][_W_LAST].astype(float)
            length = float(np.linalg.norm(orientation))
            imus.orientation[which] = orientation / length if length > 0.5 else (0.0, 0.0, 0.0, 1.0)
            imus.angular_velocity[which] = measured["angular_velocity"]
            imus.linear_acceleration[which] = measured["linear_acceleration"]
            imus.measured[which] = _MOTION if fresh and length > 0.5 else 0

    def write(self, reference: Reference) -> None:
        """Command the joints of the mask; the others go on with what they had."""
        modes = reference.mode.tobytes()
        if modes != self._modes:
            self._modes = modes
            self._choose(reference.mode)
        new = self._new
        for column, values, used in zip(new.T, self._given(reference), self._used, strict=True):
            if used is not None:
                np.copyto(column, values, where=used, casting="same_kind")
        follows = np.isfinite(new).all(axis=1)
        follows &= reference.mask
        np.copyto(self._wanted, new, where=follows[:, None])
        self._send()

    @staticmethod
    def _given(reference: Reference) -> tuple[Array, ...]:
        return reference.position, reference.velocity, reference.effort, reference.stiffness, reference.damping

    def _choose(self, mode: npt.NDArray[np.integer]) -> None:
        """Which joints follow which number of a reference in these modes, and what the others are told in its place."""
        impedance, position = mode == Mode.IMPEDANCE, mode == Mode.POSITION
        used = (
            impedance | position,
            impedance | (mode == Mode.VELOCITY),
            impedance | (mode == Mode.EFFORT),
            impedance,
            impedance,
        )
        self._used = [each if each.any() else None for each in used]
        self._new[:, :2] = 0.0
        self._new[:, 2] = np.where(position, self._borne, 0.0)
        self._new[:, 3] = np.where(position, self._stiffness, 0.0)
        self._new[:, 4] = np.where(mode == Mode.EFFORT, 0.0, self._damping)

    def stop(self) -> None:
        """Hold every joint where it was last seen."""
        with contextlib.suppress(Exception):
            self._listen()
            self._hold(self._moved)
            self._send()

    def command(self, verb: Verb, joint: int, values: Sequence[float]) -> Answer:
        """Switch motors on and off, or say how one is."""
        joints = np.arange(len(self._on)) if joint == ALL_JOINTS else np.array([joint])
        if verb in (Verb.HOME, Verb.INITIALIZE, Verb.RESET):
            return Answer(True, "a G1 knows where its joints are as soon as it is on")
        if verb is Verb.CONTROL:
            on = values[0] > 0
            chosen = np.isin(np.arange(len(self._on)), joints)
            self._hold(chosen & ~self._on)
            self._on[joints] = on
            self._flags = self._status_flags()
            return Answer(True, "switched on, held where they are" if on else "switched off: limp")
        if verb is Verb.STATUS:
            return self._tell(int(joints[0]))
        return Answer(False, f"a G1 knows no {verb.name.lower()}; it knows status and control")

    # Taking it and letting it go.

    def __enter__(self) -> Self:
        """Take the robot: hear its state, see that nobody else commands it, and hold every joint where it is."""
        try:
            self._join()
        except BaseException:
            self._participant.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Hold, and leave the topics; a real G1 goes on holding."""
        self.stop()
        with contextlib.suppress(Exception):
            self._participant.close()

    def _join(self) -> None:
        state, command = LOW_STATE, LOW_COMMAND
        self._states = self._participant.reader(state.name, state.type, state.size)
        others = self._participant.reader(command.name, command.type, command.size)
        until = time.monotonic() + self._timeout
        while not self.received and time.monotonic() < until:
            self._listen()
            time.sleep(0.002)
        if not self.received:
            wrong = f", but {self.bad} messages with a wrong check sum" if self.bad else ""
            raise NoRobot(
                f"no {state.name} came within {self._timeout:g} s{wrong}; is the G1 (or its simulator) on, the "
                "interface the one towards it, the domain right?"
            )
        until = time.monotonic() + LISTENING
        while time.monotonic() < until:
            self._listen()
            if others.take():
                raise RobotTaken(
                    f"somebody else publishes {command.name}: end that program; on a real G1 leave its own motion "
                    "control first (debug mode: hold L2 and R2 of the remote control)"
                )
            time.sleep(0.005)
        others.close()
        self._commands = self._participant.writer(command.name, command.type, command.size)
        self._hold(self._moved)
        self._hold_others()

    def _listen(self) -> float:
        """Take the states that have come; the time."""
        now = time.monotonic()
        for wire in self._states.take():
            if self._arrived.unpack(wire):
                self._state, self._arrived = self._arrived, self._state
                effort = self._state.motors[self.motors.motors, OF_STATE.effort]
                share = _LOAD_SHARE if self.received else 1.0
                self._load[self.motors.joints] += share * (effort - self._load[self.motors.joints])
                self.received += 1
                self._heard = now
            else:
                self.bad += 1
        return now

    def _hold(self, which: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> None:
        """Want joints where they were last seen, with the effort that they bear."""
        which = which & self._moved
        np.copyto(self._borne, np.clip(self._load, -self._strongest, self._strongest), where=which)
        self._modes = b""  # what joints are told with a position is to be chosen anew
        held = np.zeros_like(self._wanted)
        held[self.motors.joints, 0] = self._state.motors[self.motors.motors, OF_STATE.position]
        held[:, 2], held[:, 3], held[:, 4] = self._borne, self._stiffness, self._damping
        np.copyto(self._wanted, held, where=which[:, None])

    def _hold_others(self) -> None:
        """Motors of joints that the description lacks stay where they are, as softly as any joint."""
        others, command = self.motors.others, self._command
        command.motors[others, OF_COMMAND.position] = self._state.motors[others, OF_STATE.position]
        command.motors[others, 4], command.motors[others, 5] = 40.0, 1.0
        command.modes[others] = 1

    def _send(self) -> None:
        command, motors, joints = self._command, self.motors.motors, self.motors.joints
        command.motors[motors, 1:6] = self._wanted[joints]
        command.modes[motors] = self._on[joints]
        command.record["mode_machine"] = self._state.record["mode_machine"]
        self._told = True
        if not self._commands.write(command.pack()):
            self.unsent += 1

    def _tell(self, joint: int) -> Answer:
        flags = int(_READY if self._on[joint] else Status.HOMED)
        text = f"{self.received} states, {self.bad} with a wrong check sum dropped; {self.unsent} commands not sent"
        where = np.flatnonzero(self.motors.joints == joint)
        if not len(where):
            return Answer(True, f"no motor of the table moves it; {text}", 0)
        motor = int(self.motors.motors[where[0]])
        row = self._state.record["motor"][motor]
        figures = (float(row["position"]), float(row["effort"]), float(row["temperature"].max()), float(row["voltage"]))
        return Answer(True, f"motor {motor}: faults {int(row['faults']):#x}; {text}", flags, figures)
