"""Watcher: look at a running robot through its channels, whatever becomes of its daemon, and disturb nobody."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterator

import numpy as np

from wholebody import robots
from wholebody.channels.subscription import Subscription
from wholebody.drivers import Names
from wholebody.errors import NoRobot, WholebodyError
from wholebody.messages import Event, Reference, Refusal, Report, State, States, Tick, Timing, Timings, labels
from wholebody.operator.monitor.posture import FallWatch
from wholebody.operator.monitor.status_view import (
    ControllerView,
    EventView,
    Picture,
    StageView,
    joint_views,
    sensor_views,
    stage_views,
    text,
)
from wholebody.processes import silence
from wholebody.processes.registry import CRAWL, DAEMON, WALK, nothing_runs, plan_of, running_as
from wholebody.processes.silence import SILENT

LOOK_BACK = 1000
"""Cycles that the table of the stages is made of, at most."""
STAGES_EVERY = 1.0
"""s. How often that table is made."""
RECENT = 50
"""Messages that rates are taken from."""
EVENTS = 6
PERIODS = 10
"""Of those that a controller has declared; silent for longer, it is said to be."""
FASTEST = 10.0
"""rad/s. For joints without a limit."""
FIRST_REPORT = 10.0
"""Seconds that a daemon on a busy machine may take from its first state, or from an answer, to its report."""


class Watcher:
    """All channels of a robot.

    picture = Watcher("robot").look()
    """

    def __init__(self, name: str = "") -> None:
        names = self.names = Names(name)
        self._state, self._report = Subscription(names.state, State), Subscription(names.report, Report)
        self._tick, self._timing = Subscription(names.tick, Tick), Subscription(names.timing, Timing)
        self._events = Subscription(names.events, Event)
        self._wanted: dict[str, Subscription] = {}
        self._shown_stages: tuple[StageView, ...] = ()
        self._stages_at = 0.0
        self._known: tuple[int | None, str, str, dict[str, str]] = (None, "", "", {})
        self._fall: FallWatch | None = None
        self._doing = {role.name: Subscription(names.doing(role.name)) for role in (WALK, CRAWL)}

    @property
    def process(self) -> int | None:
        """The daemon's process; None if no daemon runs."""
        writers = self._tick.writers
        return writers[0] if writers else None

    def look(self, since: float = 0.0) -> Picture:
        """Take the newest of everything; NoRobot if no robot of this name ever ran.

        `since` is an instant of time.monotonic() after which the daemon must have reported: it is waited for while
        it lives, though not longer than a daemon on a busy machine may take.
        """
        until = time.monotonic() + FIRST_REPORT
        while self._report.take() is not None and time.monotonic() - self._report.age <= since:
            if self.process is None or time.monotonic() > until:
                break
            time.sleep(0.02)
        state, report, tick, process = self._state.take(), self._report.take(), self._tick.take(), self.process
        if state is None:
            raise NoRobot(nothing_runs(self.names.robot))
        past, uptime = self._state.past(RECENT), self._uptime(tick)
        robot, behind, groups = self._description(process)
        names = [] if report is None else [text(name) for name in report.controller]
        wanted = {
            name: self._wanted.setdefault(name, Subscription(self.names.reference(name), Reference))
            for name in names
            if name
        }
        fallen = "" if self._fall is None else self._fall.complaint(state)
        newest = {name: message for name, tap in wanted.items() if (message := tap.take()) is not None}
        return Picture(
            name=self.names.robot,
            robot=robot,
            behind=behind,
            process=process,
            uptime=uptime,
            silent=self._state.age,
            time=state.time,
            tick=state.tick,
            rate=past.rate,
            speed=0.0 if past.span == 0 else float(np.ptp(States(past.messages).time)) / past.span,
            period=0.0 if tick is None else tick.period,
            missed=0 if tick is None else tick.missed,
            stopped=report is not None and report.stopped,
            joints=joint_views(state, report, newest, groups),
            sensors=sensor_views(state),
            controllers=() if report is None else self._controllers(report, names, wanted),
            refusals={}
            if report is None
            else {kind.name.lower().replace("_", " "): int(report.refused[kind]) for kind in Refusal},
            stages=self._stages(),
            events=self._recent_events(math.inf if process is None else uptime),
            fallen=fallen,
            troubles=tuple(self._troubles(report)),
        )

    def _troubles(self, report: Report | None) -> Iterator[str]:
        """What is wrong with the robot as a whole, besides that it has fallen."""
        if self.process is not None and self._state.age > SILENT:
            yield f"the robot is silent: {silence.of_robot(self.names.robot)}"
        if report is not None and report.stopped:
            yield "the daemon holds every joint: wholebody console -c resume lets it go on"
        for role, each in self._doing.items():
            doing = each.take() if each.writers else None
            if doing is not None and (said := text(doing["trouble"])):
                yield f"{role}: {said}"

    def velocity_limits(self) -> dict[str, float]:
        """How fast the daemon lets each joint move: its step limit in a period; NoRobot if no daemon says so.

        A daemon that has just begun is waited for: its first report comes some cycles after its first state.
        """
        report, tick = self._first_report(), self._tick.take()
        if tick is None:
            raise NoRobot(nothing_runs(self.names.robot))
        limits = np.minimum(report.step_limit / tick.period, FASTEST)
        return {joint: float(limit) for joint, limit in zip(labels(report.dtype), limits, strict=True)}

    def ranges(self) -> dict[str, tuple[float, float]]:
        """How far the daemon lets each joint go; NoRobot if no daemon says so."""
        report = self._first_report()
        ends = zip(report.lower.tolist(), report.upper.tolist(), strict=True)
        return dict(zip(labels(report.dtype), ends, strict=True))

    def _first_report(self) -> Report:
        until = time.monotonic() + FIRST_REPORT
        while (report := self._report.take()) is None and self.process is not None and time.monotonic() < until:
            time.sleep(0.02)
        if report is None:
            raise NoRobot(nothing_runs(self.names.robot))
        return report

    def _controllers(
        self, report: Report, names: list[str], wanted: dict[str, Subscription]
    ) -> tuple[ControllerView, ...]:
        joints = np.array(labels(report.dtype))
        return tuple(
            ControllerView(
                name=name,
                received=int(report.received[i]),
                rate=wanted[name].past(RECENT).rate,
                period=float(report.period[i]),
                age=wanted[name].age if math.isfinite(wanted[name].age) else None,
                joints=tuple(str(joint) for joint in joints[report.owner == i]),
                silent=self._why_silent(name, report, i),
            )
            for i, name in enumerate(names)
            if name
        )

    def _why_silent(self, name: str, report: Report, row: int) -> str:
        """Why a controller says nothing that has declared a period; empty if it speaks, or the robot is silent."""
        if self._state.age > SILENT or not report.period[row] or report.age[row] < PERIODS * report.period[row]:
            return ""
        return silence.of_controller(self.names.robot, name)

    def _recent_events(self, within: float) -> tuple[EventView, ...]:
        self._events.take()
        past, now = self._events.past(EVENTS), time.monotonic()
        return tuple(
            EventView(message.name, message.text, now - float(stamp))
            for stamp, message in zip(past.stamps, past.messages, strict=True)
            if now - stamp < within
        )

    def _stages(self) -> tuple[StageView, ...]:
        """The stages over the last cycles; made once a second, because that is a thousand messages."""
        newest, now = self._timing.take(), time.monotonic()
        if newest is not None and now > self._stages_at + STAGES_EVERY:
            rows = Timings(self._timing.past(LOOK_BACK).messages)
            took = np.column_stack([rows.took, rows.took.sum(1), rows.late])
            names = (*labels(newest.dtype, "stages"), "work", "late")
            self._shown_stages, self._stages_at = stage_views(names, took) if len(took) else (), now
        return self._shown_stages

    def _description(self, process: int | None) -> tuple[str, str, dict[str, str]]:
        """The robot's name, what is behind it, and the group of each joint; remembered when the daemon has gone."""
        if process is not None and process != self._known[0]:
            plan = plan_of(self.names.robot)
            groups: dict[str, str] = {}
            if plan is not None:
                with contextlib.suppress(WholebodyError):  # its file is gone since, say
                    described = robots.load(plan.robot)
                    groups = {joint: group for group, joints in described.groups.items() for joint in joints}
                    self._fall = FallWatch(described, self.names.robot)
            self._known = process, plan.robot if plan else "", plan.behind if plan else "", groups
        return self._known[1:]

    def _uptime(self, tick: Tick | None) -> float:
        """Seconds since the daemon began; by its beats, if it is not one that we began, and 0 if it is gone."""
        if self.process is None:
            return 0.0
        ours = running_as(DAEMON, self.names.robot)
        if ours is not None:
            return time.monotonic() - ours.begun
        return 0.0 if tick is None else float(tick.number * tick.period)
