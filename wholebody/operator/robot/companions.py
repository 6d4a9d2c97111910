"""Companions: the processes beside a page or a command server: begun with it, watched, begun again when asked to."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from wholebody.drivers import Names
from wholebody.errors import Refused, UnknownName
from wholebody.operator.page.panel import Companion
from wholebody.operator.rcp.body import Underway
from wholebody.processes import lifecycle
from wholebody.processes.registry import Role, process_of, running_as
from wholebody.services import Report, Stage

MOST_LINES = 12
"""Of a log, that people are shown."""
LOOK_EVERY = 0.2
"""s"""


@dataclass
class _Member:
    """A process that is wanted; without a child, somebody else began it."""

    role: Role
    options: dict[str, Any]
    child: lifecycle.Child | None = None
    begun: float = 0.0
    log_begins: int = 0
    ended: float = 0.0  # when that was seen


class Companions:
    """Of the robot of a name. They move nothing before they are told, and come to a stand before they end."""

    def __init__(self, name: str) -> None:
        self._name = Names(name).robot
        self._log = lifecycle.log_file(self._name)
        self._members: dict[str, _Member] = {}

    def add(self, role: Role, **options: Any) -> None:
        """Want a process: it is begun, unless it runs already."""
        member = self._members[role.name] = _Member(role, options)
        if process_of(role, self._name) is None:
            self._begin(member)

    def begin(self, name: str) -> str:
        """Begin one again that has ended; Refused if it has not."""
        if name not in self._members:
            raise UnknownName("process", name, self._members)
        member = self._members[name]
        if self._state(member) != "ended":
            raise Refused(f"{member.role.about} runs already")
        self._begin(member)
        return f"{member.role.about} is begun again"

    def all(self) -> list[Companion]:
        """How each of them is."""
        return [self._seen(each) for each in self._members.values()]

    def knows(self, role: Role) -> bool:
        """Whether it was ever wanted."""
        return role.name in self._members

    def waits_for(self, role: Role) -> bool:
        """Whether a process has been begun, and has not come so far yet that others can use it."""
        member = self._members.get(role.name)
        return member is not None and self._state(member) == "starts"

    def close(self) -> None:
        """End those that we began, the newest first."""
        for member in reversed(self._members.values()):
            if member.child is not None:
                member.child.end()

    def _begin(self, member: _Member) -> None:
        """What it says is in the robot's log."""
        member.log_begins = self._log.stat().st_size if self._log.exists() else 0
        member.begun, member.ended = time.monotonic(), 0.0
        member.child = lifecycle.spawn(member.role, log=self._log, name=self._name, **member.options)

    def _state(self, member: _Member) -> str:
        child, role = member.child, member.role
        if child is not None and child.process.poll() is None:
            found = running_as(role, self._name)
            return "runs" if found is not None and found.ready else "starts"
        return "runs" if process_of(role, self._name) is not None else "ended"

    def _seen(self, member: _Member) -> Companion:
        state, now = self._state(member), time.monotonic()
        if state != "ended":
            member.ended = 0.0
            return Companion(member.role.name, member.role.about, state, now - member.begun)
        member.ended = member.ended or now
        return Companion(member.role.name, member.role.about, state, now - member.ended, self._said(member))

    def _said(self, member: _Member) -> str:
        """How it ended, and the last lines that the log has since it began."""
        code = None if member.child is None else member.child.process.returncode
        how = "" if code is None else f"killed by signal {-code}" if code < 0 else f"exit code {code}"
        try:
            with self._log.open("rb") as log:
                log.seek(member.log_begins)
                lines = log.read(1 << 20).decode(errors="replace").splitlines()[-MOST_LINES:]
        except OSError:
            lines = []
        return "\n".join([*([how] if how else []), *(lines or ["(it said nothing)"])])


class StartUp:
    """A step: wait for a process that starts, as long as it does."""

    def __init__(self, companions: Companions, role: Role) -> None:
        self._companions, self._role = companions, role
        self._begun, self._looked, self._starts = time.monotonic(), 0.0, True

    def reports(self) -> tuple[Report, ...]:
        """Succeeded once it starts no more, whether it runs or has ended."""
        now = time.monotonic()
        if now > self._looked + LOOK_EVERY:
            self._looked, self._starts = now, self._companions.waits_for(self._role)
        return () if self._starts else (Report(0, Stage.SUCCEEDED, "", now),)

    def underway(self) -> Underway:
        """For how long one has waited."""
        return Underway(f"waits for {self._role.about} to start: {time.monotonic() - self._begun:.0f} s so far")
