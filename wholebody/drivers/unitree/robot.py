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
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

import numpy as np
import numpy.typing as npt

from wholebody import _kernels
from wholebody.drivers import simulated_devices
from wholebody.drivers.interface import Answer
from wholebody.drivers.unitree.dds import LOOPBACK, Participant
from wholebody.drivers.unitree.low_level import LOW_COMMAND, LOW_STATE, OF_COMMAND, OF_STATE, Message
from wholebody.drivers.unitree.motors import Motors
from wholebody.errors import BadPeriod, NoRobot, RobotTaken
from wholebody.messages import ALL_JOINTS, Imu, Measured, MeasuredMotion, Mode, Reference, State, Status, Verb
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
        # Of a joint that is told a position: stiffness, damping, and what it bore where it was taken.
        self._own = np.array([motors.stiffness, motors.damping, np.zeros(n)])
        if own_gains:
            self._take_gains(robot)
        self._on = np.ones(n, bool)
        self._flags = self._status_flags()
        self._load = np.zeros(n)  # N·m, averaged
        self._strongest = np.array([joint.effort for joint in robot.moving])
        self._wanted = np.zeros((n, 5))  # position, velocity, effort, stiffness, damping
        self._command, self._state, self._arrived = Message(LOW_COMMAND), Message(LOW_STATE), Message(LOW_STATE)
        self._moved = np.zeros(n, bool)
        self._moved[motors.joints] = True
        self._heard = 0.0
        self._share = 0.0  # of the newest effort in the load
        self._told = False  # whether a command was sent since the last read
        self._read_into: _Fields | None = None
        self._written: tuple[Reference, tuple[Any, ...]] | None = None

    def _status_flags(self) -> npt.NDArray[np.uint32]:
        on = self._on[self.motors.joints]
        return np.where(on, _READY, int(Status.HOMED)).astype(np.uint32)

    def _take_gains(self, robot: Robot) -> None:
        for joint, name in enumerate(robot.joint_names):
            if gain := robot.gains.get(name):
                self._own[:2, joint] = gain.stiffness, gain.damping

    # The robot.

    def read(self, state: State) -> None:
        """Fill in the newest state that has come; repeat the last command if none was written since the last time."""
        now = self._listen()
        if not self._told:
            self._send()
        self._told = False
        fields = self._read_into
        if fields is None or fields.state is not state:
            fields = self._read_into = _Fields.of(state, self.motors.imu, self._load)
        here = self._state
        faulty = _kernels.unitree_measure(
            here.memory, self.motors.joints, self.motors.motors, self._share, *fields.moving
        )
        self._share = 0.0  # until there is a new state
        fresh = now - self._heard < STALE
        status = self._flags if fresh else self._flags | np.uint32(Status.ENCODER_ERROR)
        if faulty:
            wrong = here.rows["faults"][self.motors.motors] != 0
            status = np.where(wrong, status | np.uint32(Status.DRIVER_FAULT), status)
        fields.status[self.motors.joints] = status
        fields.measured[self.motors.joints] = MEASURED if fresh else 0
        if fields.imu is not None:
            turned = _kernels.unitree_imu(here.memory, *fields.motion)
            fields.imu.measured = _MOTION if fresh and turned else 0

    def write(self, reference: Reference) -> None:
        """Command the joints of the mask; the others go on with what they had."""
        written = self._written
        if written is None or written[0] is not reference:
            fields = [getattr(reference, field) for field in _OF_REFERENCE]
            written = self._written = reference, (*fields, self._own, self._wanted)
        _kernels.unitree_choose(*written[1])
        self._send()

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
        self._load[self.motors.joints] = self._state.motors[self.motors.motors, OF_STATE.effort]
        self._hold(self._moved)
        self._hold_others()

    def _listen(self) -> float:
        """Take the states that have come; the time."""
        now = time.monotonic()
        for wire in self._states.take():
            if self._arrived.unpack(wire):
                self._state, self._arrived = self._arrived, self._state
                self._share = _LOAD_SHARE
                self.received += 1
                self._heard = now
            else:
                self.bad += 1
        return now

    def _hold(self, which: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> None:
        """Want joints where they were last seen, with the effort that they bear."""
        which = which & self._moved
        np.copyto(self._own[2], np.clip(self._load, -self._strongest, self._strongest), where=which)
        held = np.zeros_like(self._wanted)
        held[self.motors.joints, 0] = self._state.motors[self.motors.motors, OF_STATE.position]
        held[:, 2:] = self._own[[2, 0, 1]].T
        np.copyto(self._wanted, held, where=which[:, None])

    def _hold_others(self) -> None:
        """Motors of joints that the description lacks stay where they are, as softly as any joint."""
        others, command = self.motors.others, self._command
        command.motors[others, OF_COMMAND.position] = self._state.motors[others, OF_STATE.position]
        command.motors[others, 4], command.motors[others, 5] = 40.0, 1.0
        command.modes[others] = 1

    def _send(self) -> None:
        command, motors = self._command, self.motors
        _kernels.unitree_command(self._wanted, self._on, motors.joints, motors.motors, command.memory)
        command.memory[1] = self._state.memory[9]  # mode_machine
        command.pack()
        self._told = True
        if not self._commands.write_at(command.address):
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


_OF_REFERENCE = ("position", "velocity", "effort", "stiffness", "damping", "mode", "mask")


@dataclass(frozen=True)
class _Fields:
    """The fields of a state that is read again and again; those that never change are filled in once."""

    state: State
    moving: tuple[Any, ...]
    status: npt.NDArray[np.uint32]
    measured: npt.NDArray[np.uint8]
    imu: Imu | None
    motion: tuple[Any, ...]

    @classmethod
    def of(cls, state: State, which: int | None, load: Array) -> _Fields:
        state.base.orientation[:], state.base.known = (0.0, 0.0, 0.0, 1.0), False
        state.force_torque.measured[:] = 0
        state.imu.measured[:], state.imu.orientation[:] = 0, (0.0, 0.0, 0.0, 1.0)
        imu = None if which is None else state.imu[which]
        motion = () if imu is None else (imu.orientation, imu.angular_velocity, imu.linear_acceleration)
        moving = (state.position, state.velocity, state.acceleration, state.effort, state.temperature, load)
        return cls(state, moving, state.status, state.measured, imu, motion)  # type: ignore[arg-type]
