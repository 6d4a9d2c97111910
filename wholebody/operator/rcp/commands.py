"""The commands of RCP (Stabilizer, Table E.2), each a record that writes itself as the line it stands for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True)
class Line:
    """A command; `form` is how it is written, with its fields in braces. Empty ones at its end are left out."""

    form: ClassVar[str] = ""

    def __init_subclass__(cls, form: str = "") -> None:
        """Take the form of a kind of command."""
        cls.form = form

    def __str__(self) -> str:
        """The line."""
        fields = {name: _written(value) for name, value in vars(self).items()}
        return " ".join(text for word in self.form.split() if (text := word.format_map(fields)))


@dataclass(frozen=True)
class Connect(Line, form="CONNECT {profile} {user} {secret}"):
    """Begin; with a name and secret if the robot knows its users, as an observer otherwise."""

    profile: str
    user: str = ""
    secret: str = ""


@dataclass(frozen=True)
class Disconnect(Line, form="DISCONNECT"):
    """End."""


@dataclass(frozen=True)
class Control(Line):
    """Ask for the robot, or give it back."""

    begin: bool

    def __str__(self) -> str:
        """The line."""
        return "CONTROL BEGIN" if self.begin else "CONTROL END"


@dataclass(frozen=True)
class Move(Line, form="MOVE {movement} {direction} {count} {unit}"):
    """Walk, turn, move the head, or what else a body can do."""

    movement: str
    direction: str
    count: float
    unit: str


@dataclass(frozen=True)
class Stop(Line, form="STOP"):
    """End whatever goes on, in the nearest stable posture."""


@dataclass(frozen=True)
class Goto(Line, form="GOTO {x} {y}"):
    """Go to a place, m, in the world."""

    x: float
    y: float


@dataclass(frozen=True)
class Handle(Line, form="{verb} OBJECT({object})"):
    """Do something with an object: GOTO, GRAB, USE or DROP."""

    verb: str
    object: str


@dataclass(frozen=True)
class Drive(Line, form="DRIVE {forward} {leftward} {turn}"):
    """Walk on at a velocity, m/s, m/s, rad/s, until it is told anew, or for half a second. Ours."""

    forward: float
    leftward: float
    turn: float


@dataclass(frozen=True)
class Do(Line):
    """Give a running behaviour a goal: its verb, and arguments as they are typed. Ours."""

    verb: str
    arguments: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The line."""
        return " ".join((self.verb.upper(), *self.arguments))


Order = Move | Stop | Goto | Handle | Drive | Do
"""What the body does, and what takes time."""


@dataclass(frozen=True)
class Direct(Line, form="DIRECT {command}"):
    """Do something now, before all that waits; any other command."""

    command: Command


@dataclass(frozen=True)
class QueryParameter(Line, form="QUERY PARAM {name}"):
    """How a parameter is set."""

    name: str


@dataclass(frozen=True)
class SetParameter(Line, form="SET {name} {value}"):
    """Set it."""

    name: str
    value: str


@dataclass(frozen=True)
class QuerySensor(Line, form="QUERY SENSOR {labels}"):
    """What sensors read; without labels, all of them."""

    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class QueryPosition(Line, form="QUERY POSITION"):
    """Where the robot is."""


@dataclass(frozen=True)
class Position(Line, form="POSITION {x} {y} {confidence}"):
    """Where the robot is, m, and how sure that is, 0 to 1: from whoever knows it better."""

    x: float
    y: float
    confidence: float


@dataclass(frozen=True)
class SelectStrategy(Line, form="SELECT STRATEGY FOR {order} {strategies}"):
    """The robot asks: which way to do a command."""

    order: int
    strategies: tuple[str, ...]


@dataclass(frozen=True)
class UseStrategy(Line, form="USE STRATEGY FOR {order} {strategy}"):
    """The answer."""

    order: int
    strategy: str


@dataclass(frozen=True)
class Cancel(Line, form="CANCEL {order}"):
    """Take a command out of the queue, or end it if it goes on. Ours."""

    order: int


@dataclass(frozen=True)
class Notify(Line, form="NOTIFY {topics}"):
    """Hear of these topics from now on, and of no others. Ours."""

    topics: tuple[str, ...]


@dataclass(frozen=True)
class Resume(Line, form="RESUME"):
    """Let a robot that its daemon holds go on. Ours."""


@dataclass(frozen=True)
class Help(Line, form="HELP {verb}"):
    """What one can say, or how a verb of a behaviour is written. Ours."""

    verb: str = ""


@dataclass(frozen=True)
class Acknowledge(Line):
    """OK or KO from the other side, to something it was asked."""

    accepted: bool
    text: str = ""

    def __str__(self) -> str:
        """The line."""
        return f"{'OK' if self.accepted else 'KO'} {self.text}".rstrip()


@dataclass(frozen=True)
class Movement:
    """A movement that a body can make: MOVE WALKING FORWARD|BACKWARD <count> STEPS, up to `most`."""

    name: str
    directions: tuple[str, ...]
    unit: str
    most: float
    whole: bool = False

    def complaint(self, move: Move) -> str:
        """What is wrong with a command to make it, if anything."""
        if move.direction not in self.directions:
            return f"{self.name} goes {' or '.join(self.directions)}, not {move.direction}"
        if move.unit != self.unit:
            return f"{self.name} is counted in {self.unit}, not {move.unit}"
        if not 0 < move.count <= self.most:
            return f"{self.name} takes more than 0 and at most {self.most:g} {self.unit} at a time"
        if self.whole and not float(move.count).is_integer():
            return f"{self.name} takes whole {self.unit}"
        return ""


Command = (
    Connect
    | Disconnect
    | Control
    | Order
    | Direct
    | QueryParameter
    | SetParameter
    | QuerySensor
    | QueryPosition
    | Position
    | SelectStrategy
    | UseStrategy
    | Cancel
    | Notify
    | Resume
    | Help
    | Acknowledge
)


def number(value: float) -> str:
    """The shortest text that is read as the same number."""
    return repr(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))


def listed(words: tuple[str, ...]) -> str:
    """Words in brackets."""
    return f"[{', '.join(words)}]"


def _written(value: Any) -> str:
    if isinstance(value, tuple):
        return listed(value)
    return str(value) if isinstance(value, str | int | Line) else number(value)
