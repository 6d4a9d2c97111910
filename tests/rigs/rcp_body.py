"""A body for tests of the protocol: it believes that it moves, and its movements take time."""

from collections.abc import Iterator
from concurrent.futures import Future, wait

from wholebody.errors import BadParameter
from wholebody.operator.rcp.body import Progress, Stage, Underway
from wholebody.operator.rcp.commands import Handle, Movement, Order, Position
from wholebody.operator.rcp.session import Session
from wholebody.parameters.verbs import Verb

MOVEMENTS = (
    Movement("WALKING", ("FORWARD", "BACKWARD"), "STEPS", 20, whole=True),
    Movement("TURNING", ("LEFT", "RIGHT"), "DEGREES", 180),
    Movement("HEAD", ("UP", "DOWN", "LEFT", "RIGHT"), "DEGREES", 60),
)


def wait_for_secret(session: Session) -> None:
    """Wait until a secret was looked at, which threads do; the next update tells what came of it."""
    if session.awaited is not None and not session.connected:
        wait([session.awaited.done])


class SlowBody:
    """Every order is done when `finish` says so."""

    def __init__(self) -> None:
        self.movements = {each.name: each for each in MOVEMENTS}
        self.begun: list[tuple[int, Order, str]] = []
        self.stops: list[int] = []
        self.at = Position(0.0, 0.0, 1.0)
        self.values = {"step.length": "0.2"}
        self.noticed: list[str] = []
        self.known: dict[str, Verb] = {}
        self.wrong: list[str] = []
        self.does: Underway | None = None
        self._news: list[Progress] = []

    def finish(self, stage: Stage = Stage.COMPLETED, text: str = "") -> None:
        number = max([self.begun[-1][0] if self.begun else 0, *self.stops])
        self._news.append(Progress(number, stage, text))

    def verbs(self) -> dict[str, Verb]:
        return self.known

    def complaint(self, order: Order) -> str:
        return "nobody has seen it" if isinstance(order, Handle) and order.object == "unicorn" else ""

    def strategies(self, order: Order) -> tuple[str, ...]:
        return ("left_arm", "right_arm") if isinstance(order, Handle) and order.verb == "GRAB" else ()

    def begin(self, number: int, order: Order, strategy: str) -> None:
        self.begun.append((number, order, strategy))

    def stop(self, number: int) -> None:
        self.stops.append(number)

    def resume(self) -> Future[str]:
        said: Future[str] = Future()
        said.set_result("it goes on")
        return said

    def news(self) -> Iterator[Progress]:
        news, self._news = self._news, []
        yield from news

    def underway(self) -> Underway | None:
        return self.does

    def remarks(self) -> Iterator[str]:
        remarks, self.noticed = self.noticed, []
        yield from remarks

    def troubles(self) -> list[str]:
        return self.wrong

    def sensors(self) -> dict[str, str]:
        return {"imu.roll": "0.01", "imu.pitch": "-0.02"}

    def parameters(self) -> dict[str, str]:
        return self.values

    def set_parameter(self, name: str, value: str) -> None:
        if name not in self.values:
            raise BadParameter(f"no parameter '{name}'")
        self.values[name] = value

    def position(self) -> Position:
        return self.at

    def correct(self, position: Position) -> None:
        self.at = position


class QuickBody(SlowBody):
    """Every order is done at once."""

    def begin(self, number: int, order: Order, strategy: str) -> None:
        super().begin(number, order, strategy)
        self.finish()

    def stop(self, number: int) -> None:
        super().stop(number)
        self.finish()
