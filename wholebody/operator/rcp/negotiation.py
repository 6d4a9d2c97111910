"""Negotiation: who has control, one session at a time, and where the machine of that is (Stabilizer, Fig. 6.9)."""

from __future__ import annotations

from wholebody.errors import Refused
from wholebody.operator.rcp.orders import SERVER, Machine
from wholebody.operator.rcp.session import Session
from wholebody.operator.rcp.users import Role


class Negotiation:
    """Control is asked for, given back and lost; what the robot does then is the command server's business."""

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
