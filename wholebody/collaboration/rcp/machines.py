"""The two state machines of shared decisions (Stabilizer, Fig. 6.9 and 6.10), as tables that the desk goes by.

SERVER: who is listened to. Numbers of the document: 0.1 control is asked for, 1.1 a direct command goes past the queue,
1.2 any other is queued, 1.3 the user leaves. QUEUE: what becomes of the command that is next: 0.2 one that leaves
something to decide waits until a strategy is chosen, 2.1; all others become tasks at once.
"""

from __future__ import annotations

from typing import NamedTuple

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
