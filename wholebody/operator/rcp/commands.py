"""The commands of RCP (Stabilizer, Table E.2), each a record that writes itself as the line it stands for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Connect:
    """Begin; with a name and secret if the robot knows its users, as an observer otherwise."""

    profile: str
    user: str = ""
    secret: str = ""

    def __str__(self) -> str:
        """The line."""
        return " ".join(word for word in ("CONNECT", self.profile, self.user, self.secret) if word)


@dataclass(frozen=True)
class Disconnect:
    """End."""

    def __str__(self) -> str:
        """The line."""
        return "DISCONNECT"


@dataclass(frozen=True)
class Control:
    """Ask for the robot, or give it back."""

    begin: bool

    def __str__(self) -> str:
        """The line."""
        return "CONTROL BEGIN" if self.begin else "CONTROL END"


@dataclass(frozen=True)
class Move:
    """Walk, turn, move the head, or what else a body can do."""

    movement: str
    direction: str
    count: float
    unit: str

    def __str__(self) -> str:
        """The line."""
        return f"MOVE {self.movement} {self.direction} {number(self.count)} {self.unit}"


@dataclass(frozen=True)
class Stop:
    """End whatever goes on, in the nearest stable posture."""

    def __str__(self) -> str:
        """The line."""
        return "STOP"


@dataclass(frozen=True)
class Goto:
    """Go to a place, m, in the world."""

    x: float
    y: float

    def __str__(self) -> str:
        """The line."""
        return f"GOTO {number(self.x)} {number(self.y)}"


@dataclass(frozen=True)
class Handle:
    """Do something with an object: GOTO, GRAB, USE or DROP."""

    verb: str
    object: str

    def __str__(self) -> str:
        """The line."""
        return f"{self.verb} OBJECT({self.object})"


@dataclass(frozen=True)
class Drive:
    """Walk on at a velocity, m/s, m/s, rad/s, until it is told anew, or for half a second. Ours."""

    forward: float
    leftward: float
    turn: float

    def __str__(self) -> str:
        """The line."""
        return f"DRIVE {number(self.forward)} {number(self.leftward)} {number(self.turn)}"


@dataclass(frozen=True)
class Do:
    """Give a running behaviour a goal: its verb, and arguments as they are typed. Ours."""

    verb: str
    arguments: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The line."""
        return " ".join((self.verb.upper(), *self.arguments))


Order = Move | Stop | Goto | Handle | Drive | Do
"""What the body does, and what takes time."""


@dataclass(frozen=True)
class Direct:
    """Do something now, before all that waits; any other command."""

    command: Command

    def __str__(self) -> str:
        """The line."""
        return f"DIRECT {self.command}"


@dataclass(frozen=True)
class QueryParameter:
    """How a parameter is set."""

    name: str

    def __str__(self) -> str:
        """The line."""
        return f"QUERY PARAM {self.name}"


@dataclass(frozen=True)
class SetParameter:
    """Set it."""

    name: str
    value: str

    def __str__(self) -> str:
        """The line."""
        return f"SET {self.name} {self.value}"


@dataclass(frozen=True)
class QuerySensor:
    """What sensors read; without labels, all of them."""

    labels: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The line."""
        return f"QUERY SENSOR {listed(self.labels)}"


@dataclass(frozen=True)
class QueryPosition:
    """Where the robot is."""

    def __str__(self) -> str:
        """The line."""
        return "QUERY POSITION"


@dataclass(frozen=True)
class Position:
    """Where the robot is, m, and how sure that is, 0 to 1: from whoever knows it better."""

    x: float
    y: float
    confidence: float

    def __str__(self) -> str:
        """The line."""
        return f"POSITION {number(self.x)} {number(self.y)} {number(self.confidence)}"


@dataclass(frozen=True)
class SelectStrategy:
    """The robot asks: which way to do a command."""

    order: int
    strategies: tuple[str, ...]

    def __str__(self) -> str:
        """The line."""
        return f"SELECT STRATEGY FOR {self.order} {listed(self.strategies)}"


@dataclass(frozen=True)
class UseStrategy:
    """The answer."""

    order: int
    strategy: str

    def __str__(self) -> str:
        """The line."""
        return f"USE STRATEGY FOR {self.order} {self.strategy}"


@dataclass(frozen=True)
class Cancel:
    """Take a command out of the queue, or end it if it goes on. Ours."""

    order: int

    def __str__(self) -> str:
        """The line."""
        return f"CANCEL {self.order}"


@dataclass(frozen=True)
class Notify:
    """Hear of these topics from now on, and of no others. Ours."""

    topics: tuple[str, ...]

    def __str__(self) -> str:
        """The line."""
        return f"NOTIFY {listed(self.topics)}"


@dataclass(frozen=True)
class Resume:
    """Let a robot that its daemon holds go on. Ours."""

    def __str__(self) -> str:
        """The line."""
        return "RESUME"


@dataclass(frozen=True)
class Help:
    """What one can say, or how a verb of a behaviour is written. Ours."""

    verb: str = ""

    def __str__(self) -> str:
        """The line."""
        return f"HELP {self.verb}".rstrip()


@dataclass(frozen=True)
class Acknowledge:
    """OK or KO from the other side, to something it was asked."""

    accepted: bool
    text: str = ""

    def __str__(self) -> str:
        """The line."""
        return f"{'OK' if self.accepted else 'KO'} {self.text}".rstrip()


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
