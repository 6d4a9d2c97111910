"""Activity: what a body does for an order; Hold: whether the daemon lets it; the two state machines they go by.

RESTING ── an order ──▶ STEPPING, step by step ── the last is done ──▶ RESTING
   │                       └── DRIVE, once it stands ──▶ DRIVING ── it stands again ──▶ RESTING
   └── MOVE HEAD ──▶ TURNING ── it looks there ──▶ RESTING
any ── STOP ──▶ STOPPING ── it stands, or nobody answers and the daemon holds every joint ──▶ RESTING

FOLLOWING ── nobody answers a STOP ──▶ HELD ── RESUME ──▶ RESUMING ── the daemon has answered ──▶ FOLLOWING
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from wholebody.drivers import Answer
from wholebody.drivers.boards import BoardClient
from wholebody.errors import WholebodyError
from wholebody.messages import Verb
from wholebody.operator.rcp.commands import Drive
from wholebody.operator.rcp.orders import COMMUNICATION, HARDWARE, Machine, Transition
from wholebody.operator.robot.steps import Step

RESTING, TURNING, STEPPING, DRIVING, STOPPING = "resting", "turning the head", "stepping", "driving", "stopping"
_OVER = "done, failed, or another order takes its place"
BODY = (
    Transition(RESTING, TURNING, "MOVE HEAD", COMMUNICATION),
    Transition(RESTING, STEPPING, "any other order", COMMUNICATION),
    Transition(RESTING, STOPPING, "STOP", COMMUNICATION),
    Transition(TURNING, RESTING, _OVER, HARDWARE),
    Transition(TURNING, STOPPING, "STOP", COMMUNICATION),
    Transition(STEPPING, STEPPING, "a step is done, and there is another", HARDWARE),
    Transition(STEPPING, DRIVING, "it stands, and was told to DRIVE", HARDWARE),
    Transition(STEPPING, RESTING, _OVER, HARDWARE),
    Transition(STEPPING, STOPPING, "STOP", COMMUNICATION),
    Transition(DRIVING, DRIVING, "another velocity", COMMUNICATION),
    Transition(DRIVING, RESTING, _OVER, HARDWARE),
    Transition(DRIVING, STOPPING, "STOP", COMMUNICATION),
    Transition(STOPPING, STOPPING, "STOP", COMMUNICATION),
    Transition(STOPPING, RESTING, "it stands, the daemon holds every joint, or another order", HARDWARE),
)
"""What it does for the order that it has begun last."""

FOLLOWING, HELD, RESUMING = "following", "held", "resuming"
HOLD = (
    Transition(FOLLOWING, HELD, "nobody answers a STOP", HARDWARE),
    Transition(FOLLOWING, RESUMING, "RESUME", COMMUNICATION),
    Transition(HELD, HELD, "nobody answers another STOP", HARDWARE),
    Transition(HELD, RESUMING, "RESUME", COMMUNICATION),
    Transition(RESUMING, HELD, "nobody answers a STOP", HARDWARE),
    Transition(RESUMING, FOLLOWING, "the daemon has answered, or has not in time", HARDWARE),
)
"""Whether the daemon follows references, as far as it was told."""


@dataclass
class Activity:
    """The order that was begun last, and where the body is in it.

    steps      those to come
    step       the one under way, in STEPPING, DRIVING and STOPPING
    drive      the velocity, of a DRIVE
    since      when it was told to stop
    unstopped  what a stop could not reach
    """

    number: int = 0
    steps: Iterator[Step] = field(default_factory=().__iter__)
    step: Step | None = None
    drive: Drive | None = None
    since: float = 0.0
    unstopped: str = ""


class Hold(Machine):
    """HOLD, and what asks the daemon of a robot for it; a thread waits for its answers."""

    def __init__(self, name: str) -> None:
        super().__init__(HOLD)
        self.requests = BoardClient(name)
        self._asker = ThreadPoolExecutor(1, "resuming")
        self._resuming: tuple[Future[Answer], Future[str]] | None = None  # what was asked, and what is told of it

    def everything(self) -> None:
        """Have the daemon hold every joint."""
        self.become(HELD)
        self.requests.stop()

    def resume(self) -> Future[str]:
        """Let the daemon follow references again; what came of it is told once `look` has seen it."""
        if self._resuming is None:
            self.become(RESUMING)
            self._resuming = self._asker.submit(self.requests.request, Verb.RESUME, timeout=1.0), Future()
        return self._resuming[1]

    def look(self, then: Callable[[], str]) -> None:
        """See whether the daemon has answered; if it follows again, `then` is done, and tells of it."""
        if self._resuming is None or not self._resuming[0].done():
            return
        (asked, told), self._resuming = self._resuming, None
        held = self.state == HELD  # by a stop that came later than the request, and perhaps before it was heard
        if not held:
            self.become(FOLLOWING)
        try:
            said = asked.result().text
            if held:
                self.requests.stop()
            said += "; but then somebody stopped it" if held else then()
        except WholebodyError as error:
            said = str(error)
        told.set_result(said)

    def close(self) -> None:
        """End the thread."""
        self._asker.shutdown()
