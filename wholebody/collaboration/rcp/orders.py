"""Orders: what waits, what goes on, what is decided by whom (Stabilizer, Fig. 6.9–6.10).

    IDLE ── an order is next ──▶ DECIDING ── a strategy is chosen ──▶ MOVING ── news of its end ──▶ IDLE
      └────────────── nothing to decide ───────────────────────────────▲
    any ── STOP ──▶ STOPPING ── the body is stable ──▶ IDLE

A direct order interrupts what goes on and is next. STOP interrupts everything, and what waits is gone. DRIVE is direct,
and one order however often it is repeated.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from wholebody.collaboration.rcp.body import Body, Progress, Stage
from wholebody.collaboration.rcp.commands import Drive, Order, SelectStrategy, Stop
from wholebody.collaboration.rcp.machines import QUEUE, Machine
from wholebody.errors import Refused

MOST_WAITING = 100
REMEMBERED = 40
"""Orders whose end can still be looked up."""


class State(Enum):
    """Of all orders together."""

    IDLE = "idle"
    DECIDING = "deciding"
    MOVING = "moving"
    STOPPING = "stopping"


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


Tell = Callable[[int, str], None]
"""Say something to an owner."""


class Orders:
    """The queue, and the one order that the body does now."""

    def __init__(self, body: Body, tell: Tell, tell_all: Callable[[Progress], None], patience: float = 60.0) -> None:
        self._body, self._tell, self._tell_all, self._patience = body, tell, tell_all, patience
        self.machine = Machine(QUEUE)
        self.waiting: deque[Numbered] = deque()
        self.current: Numbered | None = None
        self.log: deque[Entry] = deque(maxlen=REMEMBERED)
        self._strategies: tuple[str, ...] = ()
        self._asked = 0.0
        self._count = 0

    @property
    def state(self) -> State:
        """What goes on."""
        return State(self.machine.state)

    def add(self, order: Order, owner: int, direct: bool, now: float) -> int:
        """Take an order in; its number."""
        if complaint := self._body.complaint(order):
            raise Refused(complaint)
        if len(self.waiting) >= MOST_WAITING:
            raise Refused(f"{MOST_WAITING} commands wait already")
        numbered = self._number(order, owner)
        self._say(numbered, Stage.QUEUED)
        if direct:
            if self.current is not None and self.state is not State.STOPPING:
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
        if self.state is State.MOVING and current is not None and _drives(current, owner):
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
        return self._strategies if self.state is State.DECIDING else ()

    def stop(self, owner: int) -> int:
        """End everything; the number of the stop."""
        numbered = self._number(Stop(), owner)
        if self.current is not None:
            self._interrupt(self.current, numbered.number)
        while self.waiting:
            self._interrupt(self.waiting.popleft(), numbered.number)
        self.current = numbered
        self.machine.become(State.STOPPING.value)
        self._body.stop(numbered.number)
        self._say(numbered, Stage.STARTED)
        return numbered.number

    def cancel(self, number: int, owner: int, now: float) -> int:
        """Take one order out; the number of the cancellation."""
        found = next((each for each in (self.current, *self.waiting) if each and each.number == number), None)
        if found is None:
            raise Refused(f"no command {number} waits or goes on")
        if found is self.current:
            if self.state is State.STOPPING:
                raise Refused("the robot is stopping already")
            if self.state is State.MOVING:
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
        if self.state is not State.DECIDING or current is None or current.number != number:
            raise Refused(f"nothing is to be decided for {number}")
        if strategy not in self._strategies:
            raise Refused(f"the strategies for {number} are {', '.join(self._strategies)}")
        self._begin(current, strategy)

    def update(self, now: float) -> None:
        """Hear what the body has done, and go on."""
        for news in self._body.news():
            if self.current is None or news.order != self.current.number or news.stage in (Stage.QUEUED, Stage.STARTED):
                continue
            self._say(self.current, news.stage, news.text)
            self._rest()
        if self.state is State.DECIDING and self.current is not None and now - self._asked > self._patience:
            self._say(self.current, Stage.FAILED, f"no strategy was chosen in {self._patience:g} s")
            self._rest()
        self._go_on(now)

    def _go_on(self, now: float) -> None:
        if self.state is not State.IDLE or not self.waiting:
            return
        self.current = self.waiting.popleft()
        self._strategies = tuple(self._body.strategies(self.current.order))
        if len(self._strategies) > 1:
            self._asked = now
            self.machine.become(State.DECIDING.value)
            self._tell(self.current.owner, str(SelectStrategy(self.current.number, self._strategies)))
        else:
            self._begin(self.current, self._strategies[0] if self._strategies else "")

    def _rest(self) -> None:
        self.current = None
        self.machine.become(State.IDLE.value)

    def _begin(self, numbered: Numbered, strategy: str) -> None:
        self.machine.become(State.MOVING.value)
        self._body.begin(numbered.number, numbered.order, strategy)
        self._say(numbered, Stage.STARTED)

    def _number(self, order: Order, owner: int) -> Numbered:
        self._count += 1
        self.log.append(Entry(self._count, str(order)))
        return Numbered(self._count, order, owner)

    def _say(self, numbered: Numbered, stage: Stage, text: str = "") -> None:
        self._note(numbered.number, stage.value, text)
        word = "KO" if stage is Stage.FAILED else "OK"
        self._tell(numbered.owner, f"{word} COMMAND {numbered.number} {stage.value} {text}".rstrip())
        self._tell_all(Progress(numbered.number, stage, text))

    def _interrupt(self, numbered: Numbered, by: int) -> None:
        self._note(numbered.number, "INTERRUPTEDBY", str(by))
        self._tell(numbered.owner, f"OK COMMAND {numbered.number} INTERRUPTEDBY {by}")
        self._tell_all(Progress(numbered.number, Stage.FAILED, f"interrupted by {by}"))

    def _note(self, number: int, stage: str, text: str) -> None:
        for entry in reversed(self.log):
            if entry.number == number:
                entry.stage, entry.text = stage, text
                return


def _drives(numbered: Numbered, owner: int) -> bool:
    return isinstance(numbered.order, Drive) and numbered.owner == owner
