"""Cycle: what the daemon does every period, from top to bottom.

    tick       wait for the beat
    reference  take the newest reference of every controller, merge them joint by joint
    filter     θc = θr, or smoothed, or compliant (with the position measured in the last cycle)
    gate       keep to the limits, whatever was asked
    write      command the robot
    read       ask it how it is
    publish    tell everybody
    answer     do what consoles ask

It runs nobody's controller and waits for nobody: what controllers do costs it nothing and cannot hold it up.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from wholebody.daemon import _kernels
from wholebody.daemon.board_requests import BoardRequests
from wholebody.daemon.channels import RobotChannels, Timing
from wholebody.daemon.filters import Filters
from wholebody.daemon.gate import REASONS, Gate
from wholebody.daemon.limits import safe_limits
from wholebody.daemon.merging import Controllers, Merging
from wholebody.daemon.timing import Contract, OnMiss
from wholebody.drivers.interface import Clock, RobotInterface
from wholebody.messages import MAX_CONTROLLERS, READY, Mode, Refusal, Silence, Status
from wholebody.robots.robot import Robot

STAGES = ("reference", "filter", "gate", "write", "read", "publish", "answer")
REPORT_EVERY = 0.1
"""s"""
HOMING_LEAST, HOMING_MOST = 0.5, 60.0
"""s. A joint that is sent home may look homed for so long, and is given up after so long."""
NEAR_HOME = 0.02
"""rad. A joint that is homed so near to zero goes there."""
HANDED_BACK_AFTER = 1.0
"""s for which a joint must not have been taken over, until that is said."""
NEAR_BEFORE = 0.05
"""s. A joint that is no further from where it was told to be than it goes in that is still held there by its board."""
FIGHT_WITHIN = 0.5
"""s. Controllers that both move a joint within this time are fighting over it."""

Positions = np.ndarray[Any, Any]
Flags = np.ndarray[Any, Any]


class Cycle:
    """One robot, one clock, and everybody's references."""

    def __init__(
        self, robot: Robot, interface: RobotInterface, clock: Clock, channels: RobotChannels, contract: Contract
    ):
        self.robot, self.interface, self.clock, self.contract = robot, interface, clock, contract
        self.channels = channels
        modes = getattr(interface, "modes", frozenset(Mode))
        self.controllers = Controllers(channels.names, robot.reference_dtype(), clock.period, channels.tell)
        self.merging = Merging(self.controllers, modes)
        self.filters = Filters(len(robot.moving))
        limits = safe_limits(robot, getattr(interface, "servo_period", clock.period))
        self.gate = Gate(limits, clock.period, robot.joint_names)
        self.timing = Timing(STAGES)
        self.requests, self._inbox = BoardRequests(self, channels.boards), channels.boards.inbox
        self._stop_said = channels.stops.reader
        self.number = 0
        self._instant = 0.0
        self.stopped = ""  # why, while it is
        self.waiting = False  # for the beat: then the loop may be left at once
        self.state = channels.state.message
        self.command = channels.commanded.message
        self._take_events = getattr(interface, "take_events", list)  # what happened to the boards, in words
        self._publishes_command = not getattr(interface, "publishes_command", False)
        self._damps = Mode.VELOCITY in modes
        self._filtered = np.zeros(len(robot.moving))
        self._position = self.command.position  # of the last command, then the next
        self._measured, self._sent = self.state.position, self._position.data
        self._reference = self.state.reference.data
        self._status = self.state.status
        self._homing: dict[int, float] = {}  # joints on their way home, since when
        self._wanted = self.merging.values[0]
        wanted = self.merging.values, self.merging.mode, self.state, self.command
        self._pass_wanted = self.gate.passing(self._wanted, *wanted)
        self._pass_filtered = self.gate.passing(self._filtered, *wanted)
        self._all_ready = _kernels.all_have(self._status, READY)
        self._none_pressed = _kernels.none_have(self._status, int(Status.STOP_PRESSED))
        self.pressed = ""  # which stop buttons of the robot itself are, by the joints that they stop
        self._flagged = False  # whether the state says of some joint that it is taken over
        self._took: tuple[float, ...] = ()  # by the stages of the last cycle
        self._late, self._missed = 0.0, 0
        self._restarts = getattr(clock, "restarts", 0)
        self._report_every = max(1, round(REPORT_EVERY / clock.period))
        self._fights: set[int] = set()
        self._taken_lately = np.zeros(len(robot.moving), np.uint8)  # since the last report: why
        self._told_taken: dict[int, float] = {}  # joints of which everybody was told, and when they were taken last
        self._unsaid = limits.said  # until the first report: by then somebody may listen

    def begin(self) -> None:
        """Take over: what a daemon just before commanded, else where the encoders are, is the first command.

        So nothing jumps. Joints hang behind what they were told by their load; to command where they are would let them
        sag once more with each daemon.
        """
        self.interface.read(self.state)
        before = self.channels.commanded_before
        self._hold()
        if before is not None:
            near = np.abs(before.position - self._measured) <= NEAR_BEFORE * self.gate.velocity
            told = before.mask & (before.mode == Mode.POSITION)
            self._go_on_from(before.position, told & (near | np.isnan(self._measured)), told)
        self.command.mask[:] = True
        if self.channels.stopped_before:
            self.stop("the robot was stopped when the daemon before this one ended; resume lets it go on")

    def once(self) -> None:
        """Go round once."""
        now = time.perf_counter
        self.waiting = True
        instant = self.clock.tick()
        self.waiting = False
        self._instant = instant
        if getattr(self.clock, "restarts", 0) != self._restarts:
            self._take_over_anew()
        began = now()
        self.controllers.take()
        if self.number:  # the first command is what was taken over: the last of the daemon before may not have arrived
            self.merging.update()
        if self._stop_said.unread and (why := self.channels.stops.why()):
            self.stop(why)
        if self.stopped:
            self._stay_stopped()
        for controller, silence in self.merging.fallen_silent():
            self._fell_silent(controller, silence)
        taken = now()
        pass_gate = self._pass_wanted
        if self.filters.working:
            self.filters.apply(self._wanted, self._position, self._measured, self._filtered)
            pass_gate = self._pass_filtered
        filtered = now()
        taken_over = pass_gate()
        passed = now()
        self.channels.stamp_command(instant)
        self.interface.write(self.command)
        written = now()
        self.interface.read(self.state)
        if taken_over or self._flagged:
            self._flag_taken(taken_over)
        if self.pressed or not self._none_pressed():
            self._heed_pressed()
        if self._homing or not self._all_ready():
            self._follow_idle_joints(instant)
        read = now()
        self._publish(instant)
        published = now()
        if self._inbox.unread:
            self.requests.answer(instant)
        self._took = (
            *(taken - began, filtered - taken, passed - filtered, written - passed),
            *(read - written, published - read, now() - published),
        )

    def _take_over_anew(self) -> None:
        """Another simulator has taken the place of the one before, and its robot is somewhere else."""
        self._restarts = getattr(self.clock, "restarts", 0)
        self.channels.tell("restart", "the simulator began anew; every joint holds where it is now")
        before = self._position.copy()
        self.interface.read(self.state)
        self._hold()
        self._go_on_from(before, np.zeros(len(before), bool), self.command.mode == Mode.POSITION)

    def expect_home(self, joints: Sequence[int]) -> None:
        """Leave joints alone that are sent home, until they are there."""
        self._homing |= dict.fromkeys(joints, self._instant)

    def _follow_idle_joints(self, instant: float) -> None:
        """Joints that are off or on their way home are led by others: their command is where they are."""
        home = [joint for joint, since in self._homing.items() if self._is_home(joint, instant - since)]
        for joint in home:
            del self._homing[joint]
        idle = self._status & READY != READY
        idle[[*self._homing, *home]] = True
        self.merging.hold(idle, self._measured, Refusal.NOT_READY)
        np.copyto(self._position, self._measured, where=idle & np.isfinite(self._measured))
        for joint in home:
            if abs(self._measured[joint]) < NEAR_HOME:
                self.merging.values[0, joint] = 0.0

    def _is_home(self, joint: int, seconds: float) -> bool:
        homed = bool(self._status[joint] & Status.HOMED) and seconds > HOMING_LEAST
        return homed or seconds > HOMING_MOST

    def stop(self, why: str) -> None:
        """Hold every joint where it is, and refuse all references until resume()."""
        if not self.stopped:
            self.stopped = why
            self.interface.stop()
            self.channels.tell("stop", why)
            self._hold()

    def resume(self) -> None:
        """Listen again, to what is said from now on."""
        if self.stopped:
            self.stopped = ""
            self.channels.tell("resume", "references are followed again")
            self._hold()

    def _heed_pressed(self) -> None:
        """Stop while a stop button of the robot itself is pressed, and say when it is released."""
        names = [self.robot.joint_names[joint] for joint in np.flatnonzero(self._status & Status.STOP_PRESSED)]
        before, self.pressed = self.pressed, ", ".join(names[:8]) + (f" and {len(names) - 8} more" if names[8:] else "")
        if self.pressed:
            self.stop(f"a stop button of the robot is pressed: {self.pressed}")
        elif before:
            self.channels.tell("released", "the stop button of the robot is released; `resume` to go on")

    def _hold(self) -> None:
        """Want all joints where they are."""
        lower, upper = self.gate.lower, self.gate.upper
        position = np.nan_to_num(self._measured)
        np.copyto(self._position, position)
        self.merging.begin(np.clip(position, lower, upper), time.monotonic_ns())

    def _go_on_from(self, before: Positions, sure: Flags, told: Flags) -> None:
        """Want joints where they were told to be, if that is sure, or if their driver says that it holds them there."""
        goes_on = np.isfinite(before) & (sure | (told & (self.state.reference == before)))
        np.copyto(self._position, np.where(goes_on, before, self._position))
        self.merging.begin(np.clip(self._position, self.gate.lower, self.gate.upper), time.monotonic_ns())

    def _stay_stopped(self) -> None:
        joints = self.merging.owner >= 0
        if joints.any():
            self.merging.refused[Refusal.STOPPED] += joints
            self.merging.begin(np.clip(self._position, self.gate.lower, self.gate.upper), time.monotonic_ns())

    def _fell_silent(self, controller: int, silence: Silence) -> None:
        name = self.controllers.name[controller]
        after = self.controllers.silent_for(controller)
        self.channels.tell("silent", f"'{name}' has said nothing for {after:.3f} s: {silence.name.lower()}")
        if silence is Silence.STOP:
            self.stop(f"'{name}' fell silent")
        joints = self.merging.owner == controller
        self.merging.hold(joints, self._position if silence is Silence.HOLD else self._measured, Refusal.SILENT)
        if silence is Silence.DAMP and self._damps:
            self.merging.mode[joints] = Mode.VELOCITY  # of 0: nothing but the joint's own damping

    def _flag_taken(self, any_taken: bool) -> None:
        """Say in the state which joints are taken over; some drivers write all of the state anew, others do not."""
        self._status &= ~np.uint32(Status.TAKEN_OVER)
        self._status[self.gate.taken > 0] |= np.uint32(Status.TAKEN_OVER)
        np.maximum(self._taken_lately, self.gate.taken, out=self._taken_lately)
        self._flagged = any_taken

    def _publish(self, instant: float) -> None:
        self._publish_timing()
        self.number += 1
        channels, missed = self.channels, self.clock.missed
        self._reference[:] = self._sent
        channels.put_state(instant, self.number)
        if self._publishes_command:
            channels.commanded.put()
        channels.put_tick(instant, self.number, self.clock.period, missed)
        if missed != self._missed:
            self._keep_contract()
        self._late = getattr(self.clock, "late", 0.0)
        if self.number % self._report_every == 0:
            self._report(instant)

    def _report(self, instant: float) -> None:
        report, controllers, merging = self.channels.report.message, self.controllers, self.merging
        report.time, report.tick, report.missed = instant, self.number, self.clock.missed
        report.stopped = bool(self.stopped)
        report.controller[:], report.received[:] = controllers.name, controllers.received
        report.period[:] = controllers.references.period
        report.age[:] = [controllers.silent_for(row) for row in range(MAX_CONTROLLERS)]
        report.owner[:], report.leased[:] = merging.owner, merging.leased_to >= 0
        report.filter[:], report.filter_value[:] = self.filters.mode, self.filters.value
        report.step_limit[:], report.lower[:], report.upper[:] = self.gate.step, self.gate.lower, self.gate.upper
        refused = merging.refused + self.gate.refused
        report.refused[:], report.refused_by_joint[:] = refused.sum(1), refused.sum(0)
        report.refused[Refusal.WRONG_LAYOUT] += controllers.left_out
        self.channels.report.put()
        if why := self.channels.stops.lost():
            self.stop(why)
        for text in self._take_events():
            self.channels.tell("boards", text)
        self._tell_fights()
        self._tell_taken(instant)
        for text in self._unsaid:
            self.channels.tell("limits", text)
        self._unsaid = ()

    def _tell_fights(self) -> None:
        contested = self.merging.contested(FIGHT_WITHIN)
        for joint, rows in contested:
            if joint not in self._fights:
                names = " and ".join(f"'{self.controllers.name[row]}'" for row in rows)
                self.channels.tell("fight", f"{names} both move {self.robot.joint_names[joint]}; the newest word wins")
        self._fights = {joint for joint, _ in contested}

    def _tell_taken(self, instant: float) -> None:
        """Say once which joints are taken over, and that they are not any more when that has lasted for a second."""
        for joint in np.flatnonzero(self._taken_lately).tolist():
            if joint not in self._told_taken:
                row, why = self.merging.owner[joint], REASONS[self._taken_lately[joint]]
                who = f"'{self.controllers.name[row]}' drove it" if row >= 0 else "nobody drives it"
                self.channels.tell("taken over", f"{self.robot.joint_names[joint]} was about to pass {why}; {who}")
            self._told_taken[joint] = instant
        self._taken_lately[:] = 0
        for joint, last in list(self._told_taken.items()):
            if instant > last + HANDED_BACK_AFTER:
                del self._told_taken[joint]
                self.channels.tell("handed back", f"{self.robot.joint_names[joint]} follows its references again")

    def _publish_timing(self) -> None:
        """How long the stages of the cycle before took: only now are they all over."""
        if self._took:
            self.timing.add(self._took, self._late)
            self.channels.put_timing(self.number, self._missed, self._late, self._took)

    def _keep_contract(self) -> None:
        missed, self._missed = self.clock.missed - self._missed, self.clock.missed
        if missed > self.contract.misses_allowed:
            text = f"{missed} cycles in a row were missed; {self.contract.misses_allowed} are allowed"
            self.channels.tell("missed", text)
            if self.contract.on_miss is OnMiss.STOP:
                self.stop(text)
