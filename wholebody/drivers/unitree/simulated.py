"""SimulatedG1: the robot's side of Unitree's low-level topics, for a body in a simulation.

It publishes rt/lowstate every cycle and takes the newest rt/lowcmd. A real G1 goes on with the last command of a client
that has died; this one does not: after WATCHDOG seconds without a command its joints have no stiffness and are damped.
Dropped and counted are commands with a wrong check sum, numbers that are not finite, and those for the motors A and B
of ankles and waist (mode_pr 1), whose linkage is not simulated.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Protocol

import numpy as np

from wholebody import messages
from wholebody.drivers.interface import SteadyClock
from wholebody.drivers.unitree.dds import Participant
from wholebody.drivers.unitree.low_level import LOW_COMMAND, LOW_STATE, OF_COMMAND, OF_STATE, Message
from wholebody.drivers.unitree.motors import Motors
from wholebody.messages import Mode, Reference, State
from wholebody.robots.robot import Robot
from wholebody.rotations import roll_pitch_yaw

PERIOD = 0.002
"""s; a G1 says its state at 500 Hz"""
WATCHDOG = 0.035
"""s without a command after which its client is taken for dead; some command it at no more than 50 Hz"""
CASE, WINDING, VOLTS = 35, 40, 48.0


class Body(Protocol):
    """What is behind the topics: a simulated robot."""

    def read(self, state: State) -> None:
        """Fill in what sensors say."""

    def write(self, reference: Reference) -> None:
        """Command the joints of the mask."""

    def advance(self) -> None:
        """Let a period go by."""


class SimulatedG1:
    """A G1 on its topics. `say` is told when it gets a client, and when it has none any more."""

    def __init__(
        self,
        robot: Robot,
        motors: Motors,
        body: Body,
        participant: Participant,
        say: Callable[[str], None] = lambda text: None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.motors, self.body, self.now, self._say = motors, body, now, say
        self.received = self.bad = self.unsent = 0
        self.cycles = 0
        self.is_stiff = False  # whether a command with stiffness has come yet
        self.damped_at = math.nan  # s: since when nobody commands it; none while somebody does
        self._heard = math.nan
        self._states = participant.writer(LOW_STATE.name, LOW_STATE.type, LOW_STATE.size)
        self._commands = participant.reader(LOW_COMMAND.name, LOW_COMMAND.type, LOW_COMMAND.size)
        self._state, self._command = Message(LOW_STATE), Message(LOW_COMMAND)
        self._record = messages.new(robot.state_dtype())
        self._reference = messages.new(robot.reference_dtype())
        self._reference.mode[:] = Mode.IMPEDANCE
        self._reference.mask[motors.joints] = True
        self._state.record["mode_machine"] = motors.mode_machine
        self._hold()

    def cycle(self) -> None:
        """One period: commands in, the body goes on, its state out."""
        self._take()
        self._watch()
        self.body.advance()
        self.body.read(self._record)
        self._publish()
        self.cycles += 1

    def run(self, goes_on: Callable[[], bool], period: float = PERIOD) -> None:
        """Go on in real time until told otherwise."""
        clock = SteadyClock(period)
        while goes_on():
            clock.tick()
            self.cycle()

    def _hold(self) -> None:
        """Hold the joints where they are, with the gains of the table, until a client comes."""
        self.body.read(self._record)
        reference = self._reference
        reference.position[:] = self._record.position
        reference.stiffness[:], reference.damping[:] = self.motors.stiffness, self.motors.damping
        self.body.write(reference)

    def _take(self) -> None:
        for wire in self._commands.take():
            if not self._command.unpack(wire) or not self._is_possible():
                self.bad += 1
                continue
            self.received += 1
            if self.received == 1 or not math.isnan(self.damped_at):
                self._say("a client commands it")
            self._heard, self.damped_at = self.now(), math.nan
            self._follow()

    def _is_possible(self) -> bool:
        command = self._command
        return command.record["mode_pr"] == 0 and bool(np.isfinite(command.motors[self.motors.motors, 1:6]).all())

    def _follow(self) -> None:
        """Do what the newest command says; a motor that is off is limp."""
        reference, motors, joints = self._reference, self.motors.motors, self.motors.joints
        wanted = np.where(self._command.modes[motors] > 0, self._command.motors[motors, 1:6].T, 0.0)
        reference.position[joints] = wanted[OF_COMMAND.position - 1]
        reference.velocity[joints] = wanted[OF_COMMAND.velocity - 1]
        reference.effort[joints] = wanted[OF_COMMAND.effort - 1]
        reference.stiffness[joints], reference.damping[joints] = np.maximum(wanted[3:5], 0.0)
        self.is_stiff = self.is_stiff or bool(wanted[3].any())
        self.body.write(reference)

    def _watch(self) -> None:
        """Damp the joints if the client has died."""
        if math.isnan(self._heard) or not math.isnan(self.damped_at) or self.now() - self._heard < WATCHDOG:
            return
        self.damped_at = self.now()
        self._say(f"no command for {WATCHDOG * 1e3:g} ms: its joints are damped")
        reference = self._reference
        reference.position[:] = self._record.position
        reference.velocity[:] = reference.effort[:] = reference.stiffness[:] = 0.0
        reference.damping[:] = self.motors.resting
        self.body.write(reference)

    def _publish(self) -> None:
        state, measured, joints, motors = self._state, self._record, self.motors.joints, self.motors.motors
        rows = state.motors
        rows[motors, OF_STATE.position] = measured.position[joints]
        rows[motors, OF_STATE.velocity] = measured.velocity[joints]
        rows[motors, 3] = measured.acceleration[joints]
        rows[motors, OF_STATE.effort] = measured.effort[joints]
        state.modes[:] = self._command.modes
        state.record["motor"]["temperature"][motors] = (CASE, WINDING)
        state.record["motor"]["voltage"][motors] = VOLTS
        state.record["tick"] = self.cycles
        if self.motors.imu is not None:
            imu, seen = state.record["imu"], measured.imu
            x, y, z, w = orientation = seen.orientation[self.motors.imu]
            imu["orientation"], imu["roll_pitch_yaw"] = (w, x, y, z), roll_pitch_yaw(orientation)
            imu["angular_velocity"] = seen.angular_velocity[self.motors.imu]
            imu["linear_acceleration"] = seen.linear_acceleration[self.motors.imu]
        if not self._states.write(state.pack()):
            self.unsent += 1
