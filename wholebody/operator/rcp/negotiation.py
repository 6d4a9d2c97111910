"""Negotiation: who has control, one session at a time, and where the machine of that is (Stabilizer, Fig. 6.9)."""

from __future__ import annotations

from typing import NamedTuple

from wholebody.errors import Refused
from wholebody.operator.rcp.session import Session
from wholebody.operator.rcp.users import Role


class Negotiation:
    """Control is asked for, given back and lost; what the robot does then is the desk's business."""

    def __init__(self) -> None:
        self.machine = Machine(SERVER)
        self.holder: Session | None = None
        self._direct = 0  # the order that goes past the queue

    def must_be_free_for(self, session: Session, now: float) -> None:
        """Refuse those who may not have control, or not before somebody else."""
        if session.role < Role.OPERATOR:
            raise Refused("an observer cannot take control; CONNECT operator <user> <secret>")
        holder = self.holder
        if holder is not None and holder is not session and session.role <= holder.role:
            left = max(0.0, holder.timeout - (now - holder.heard))
            raise Refused(f"{holder.user} has control; without a word it ends in {left:.0f} s")

    def must_have(self, session: Session) -> None:
        """Refuse those without control."""
        if session is not self.holder:
            raise Refused("CONTROL BEGIN comes first")

    def begin(self, session: Session) -> None:
        """A session has control now."""
        self.holder = session
        self.machine.become("controlled")

    def end(self) -> None:
        """Nobody has it."""
        self.holder = None
        self.machine.become("free")

    def goes_past(self, order: int) -> None:
        """An order does not wait in the queue; those of people without control are not the machine's business."""
        if self.holder is not None:
            self._direct = order
            self.machine.become("direct")

    def goes_on(self, order: int) -> None:
        """The order that goes on now, 0 if none does: if it is another, the direct one is done."""
        if self.machine.state == "direct" and order != self._direct:
            self.machine.become("controlled")

    def silent(self, now: float) -> Session | None:
        """Who has had control and said nothing for too long."""
        holder = self.holder
        return holder if holder is not None and now - holder.heard > holder.timeout else None


COMMUNICATION, HARDWARE = "communication", "hardware"
"""Where a transition comes from: people, or the robot."""
IDLE, DECIDING, MOVING, STOPPING = "idle", "deciding", "moving", "stopping"
"""The states of the queue."""


class Transition(NamedTuple):
    """From, to, why, and from where that comes."""

    before: str
    after: str
    why: str
    by: str


SERVER = (
    Transition("free", "controlled", "0.1 CONTROL BEGIN", COMMUNICATION),
    Transition("controlled", "controlled", "1.2 a command is queued, or another takes over", COMMUNICATION),
    Transition("controlled", "direct", "1.1 DIRECT, DRIVE or STOP", COMMUNICATION),
    Transition("direct", "direct", "1.1 another one", COMMUNICATION),
    Transition("direct", "controlled", "it is done", HARDWARE),
    Transition("controlled", "free", "1.3 CONTROL END, silence, or gone", COMMUNICATION),
    Transition("direct", "free", "1.3 CONTROL END, silence, or gone", COMMUNICATION),
)
QUEUE = (
    Transition(IDLE, DECIDING, "0.2 several ways", COMMUNICATION),
    Transition(IDLE, MOVING, "one way", COMMUNICATION),
    Transition(DECIDING, MOVING, "2.1 a way is chosen", COMMUNICATION),
    Transition(DECIDING, IDLE, "nobody chose, or it was cancelled", COMMUNICATION),
    Transition(MOVING, IDLE, "done, failed, or interrupted", HARDWARE),
    Transition(IDLE, STOPPING, "STOP", COMMUNICATION),
    Transition(DECIDING, STOPPING, "STOP", COMMUNICATION),
    Transition(MOVING, STOPPING, "STOP", COMMUNICATION),
    Transition(STOPPING, STOPPING, "STOP", COMMUNICATION),
    Transition(STOPPING, IDLE, "stands", HARDWARE),
)


class Machine:
    """Where a machine is; it goes only where its table leads."""

    def __init__(self, table: tuple[Transition, ...]) -> None:
        self.table = table
        self.state = table[0].before
        self._ways = {(each.before, each.after) for each in table}

    @property
    def states(self) -> tuple[str, ...]:
        """All of them, in the order of the table."""
        return tuple(dict.fromkeys(each.before for each in self.table))

    def become(self, state: str) -> None:
        """Go to a state."""
        assert (self.state, state) in self._ways, f"no way leads from {self.state} to {state}"
        self.state = state
