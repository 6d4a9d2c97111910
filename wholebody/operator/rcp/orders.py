"""Orders: what waits, what goes on, what is decided by whom (Stabilizer, Fig. 6.9–6.10).

    IDLE ── an order is next ──▶ DECIDING ── a strategy is chosen ──▶ MOVING ── news of its end ──▶ IDLE
      └────────────── nothing to decide ───────────────────────────────▲
    any ── STOP ──▶ STOPPING ── the body is stable ──▶ IDLE

A direct order interrupts what goes on and is next. STOP interrupts everything, and what waits is gone. DRIVE is direct,
and one order however often it is repeated.

Whether an order can be done is asked when it is given, and again when its turn comes: the world may have changed. What
goes wrong with one is its own end: it fails, and if nobody foresaw why, the robot stops.
"""

from __future__ import annotations

import contextlib
import logging
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from wholebody.errors import Refused, WholebodyError
from wholebody.operator.rcp.body import Body, Progress, Stage
from wholebody.operator.rcp.commands import Drive, Move, Order, SelectStrategy, Stop

LOG = logging.getLogger(__name__)
MOST_WAITING = 100
REMEMBERED = 40
"""Orders whose end can still be looked up."""


@dataclass(frozen=True)
class Numbered:
    """An order with its id and whose it is."""

    number: int
    order: Order
    owner: int


@dataclass
class Entry:
    """What became of an order so far."""

    number: int
    line: str
    stage: str = Stage.QUEUED.value
    text: str = ""


class Tell(Protocol):
    """How people hear of orders."""

    def tell(self, owner: int, text: str) -> None:
        """Say something to one."""

    def ask(self, owner: int, text: str) -> None:
        """Ask one something."""

    def progress(self, news: Progress) -> None:
        """Say to all what became of an order."""


class Orders:
    """The queue, and the one order that the body does now."""

    def __init__(self, body: Body, people: Tell, patience: float = 60.0) -> None:
        self._body, self._people, self._patience = body, people, patience
        self.machine = Machine(QUEUE)
        self.waiting: deque[Numbered] = deque()
        self.current: Numbered | None = None
        self.log: deque[Entry] = deque(maxlen=REMEMBERED)
        self._strategies: tuple[str, ...] = ()
        self._asked = 0.0
        self._count = 0

    def add(self, order: Order, owner: int, direct: bool, now: float) -> int:
        """Take an order in; its number, or 0 if it was refused."""
        numbered = self._number(order, owner)
        try:
            self._must_be_possible(order)
            if len(self.waiting) >= MOST_WAITING:
                raise Refused(f"{MOST_WAITING} commands wait already")
        except Exception as error:
            self._say(numbered, Stage.FAILED, _reason(error))
            return 0
        self._say(numbered, Stage.QUEUED)
        if direct:
            if self.current is not None and self.machine.state != STOPPING:
                self._interrupt(self.current, numbered.number)
                self._rest()
            self.waiting.appendleft(numbered)
        else:
            self.waiting.append(numbered)
        self._go_on(now)
        return numbered.number

    def drive(self, order: Drive, owner: int, now: float) -> int:
        """Take a velocity in: a new order, whose number it returns; 0 if it is another word of an older one."""
        current = self.current
        if self.machine.state == MOVING and current is not None and _drives(current, owner):
            with self._fails_alone(current):
                self._body.begin(current.number, order, "")
            return 0
        before = next((each for each in self.waiting if _drives(each, owner)), None)
        rests = not (order.forward or order.leftward or order.turn)
        if before is not None:
            self.waiting.remove(before)
            if rests:
                self._say(before, Stage.COMPLETED, "before it began")
            else:
                self.waiting.appendleft(Numbered(before.number, order, owner))
        elif not rests:
            return self.add(order, owner, True, now)
        return 0

    @property
    def choices(self) -> tuple[str, ...]:
        """Among which somebody has to decide now."""
        return self._strategies if self.machine.state == DECIDING else ()

    def stop(self, owner: int) -> int:
        """End everything; the number of the stop. The body hears of it before people do."""
        numbered = self._number(Stop(), owner)
        before = [each for each in (self.current, *self.waiting) if each is not None]
        self.current = numbered
        self.waiting.clear()
        self.machine.become(STOPPING)
        with self._fails_alone(numbered):
            self._body.stop(numbered.number)
        for each in before:
            self._interrupt(each, numbered.number)
        if self.current is numbered:
            self._say(numbered, Stage.STARTED)
        return numbered.number

    def cancel(self, number: int, owner: int, now: float) -> int:
        """Take one order out; the number of the cancellation."""
        found = next((each for each in (self.current, *self.waiting) if each and each.number == number), None)
        if found is None:
            raise Refused(f"no command {number} waits or goes on")
        if found is self.current:
            if self.machine.state == STOPPING:
                raise Refused("the robot is stopping already")
            if self.machine.state == MOVING:
                rest, self.waiting = self.waiting, deque()
                stop = self.stop(owner)
                self.waiting = rest
                return stop
            self._rest()
        else:
            self.waiting.remove(found)
        self._count += 1
        self._interrupt(found, self._count)
        self._go_on(now)
        return self._count

    def choose(self, number: int, strategy: str) -> None:
        """Somebody has decided how to do an order."""
        current = self.current
        if self.machine.state != DECIDING or current is None or current.number != number:
            raise Refused(f"nothing is to be decided for {number}")
        if strategy not in self._strategies:
            raise Refused(f"the strategies for {number} are {', '.join(self._strategies)}")
        self._begin(current, strategy)

    def update(self, now: float) -> None:
        """Hear what the body has done, and go on."""
        with self._fails_alone(self.current):
            for news in self._body.news():
                self._hear(news)
        if self.machine.state == DECIDING and self.current is not None and now - self._asked > self._patience:
            self._fail(self.current, f"no strategy was chosen in {self._patience:g} s")
        self._go_on(now)

    def _hear(self, news: Progress) -> None:
        current = self.current
        if current is not None and news.order == current.number and news.stage in (Stage.COMPLETED, Stage.FAILED):
            self._say(current, news.stage, news.text)
            self._rest()

    def _go_on(self, now: float) -> None:
        """Take up what waits, until something goes on."""
        while self.machine.state == IDLE and self.waiting:
            self.current = self.waiting.popleft()
            with self._fails_alone(self.current):
                self._take_up(self.current, now)

    def _take_up(self, numbered: Numbered, now: float) -> None:
        self._must_be_possible(numbered.order)
        self._strategies = tuple(self._body.strategies(numbered.order))
        if len(self._strategies) > 1:
            self._asked = now
            self.machine.become(DECIDING)
            self._people.ask(numbered.owner, str(SelectStrategy(numbered.number, self._strategies)))
        else:
            self._begin(numbered, self._strategies[0] if self._strategies else "")

    def _must_be_possible(self, order: Order) -> None:
        if wrong := self._wrong_movement(order) or self._body.complaint(order):
            raise Refused(wrong)

    def _wrong_movement(self, order: Order) -> str:
        if not isinstance(order, Move):
            return ""
        known = self._body.movements
        if order.movement not in known:
            return f"the movements are {', '.join(known)}, not {order.movement}"
        return known[order.movement].complaint(order)

    @contextlib.contextmanager
    def _fails_alone(self, numbered: Numbered | None) -> Iterator[None]:
        """What is raised is the end of this order, and of nothing else."""
        try:
            yield
        except Exception as error:
            self._fail(numbered, _reason(error))
            foreseen = isinstance(error, WholebodyError)
            if not foreseen and numbered is not None and not isinstance(numbered.order, Stop):
                self.stop(numbered.owner)

    def _fail(self, numbered: Numbered | None, why: str) -> None:
        if numbered is not None and numbered is self.current:
            self._say(numbered, Stage.FAILED, why)
            self._rest()

    def _rest(self) -> None:
        self.current = None
        if self.machine.state != IDLE:
            self.machine.become(IDLE)

    def _begin(self, numbered: Numbered, strategy: str) -> None:
        self.machine.become(MOVING)
        with self._fails_alone(numbered):
            self._body.begin(numbered.number, numbered.order, strategy)
            self._say(numbered, Stage.STARTED)

    def _number(self, order: Order, owner: int) -> Numbered:
        self._count += 1
        self.log.append(Entry(self._count, str(order)))
        return Numbered(self._count, order, owner)

    def _say(self, numbered: Numbered, stage: Stage, text: str = "") -> None:
        self._note(numbered.number, stage.value, text)
        word = "KO" if stage is Stage.FAILED else "OK"
        self._people.tell(numbered.owner, f"{word} COMMAND {numbered.number} {stage.value} {text}".rstrip())
        self._people.progress(Progress(numbered.number, stage, text))

    def _interrupt(self, numbered: Numbered, by: int) -> None:
        self._say(numbered, Stage.INTERRUPTED, str(by))

    def _note(self, number: int, stage: str, text: str) -> None:
        for entry in reversed(self.log):
            if entry.number == number:
                entry.stage, entry.text = stage, text
                return


def unforeseen(error: Exception) -> str:
    """What people are told of an error that is not one of ours; where it comes from is in the log."""
    LOG.error("unforeseen", exc_info=error)
    return f"unforeseen, {type(error).__name__}: {error}"


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, WholebodyError) else unforeseen(error)


def _drives(numbered: Numbered, owner: int) -> bool:
    return isinstance(numbered.order, Drive) and numbered.owner == owner


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
