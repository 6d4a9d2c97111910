"""Message: a message of ROS as a dataclass whose annotations are its definition, and what others make of that.

@dataclass
class Imu(Message, ros="sensor_msgs/msg/Imu"):
    header: Header = field(default_factory=Header)
    orientation_covariance: Float64x9 = ZEROS_9

ros_type(Imu), dds_type(Imu), definition(Imu)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, ClassVar, TypeVar, cast, get_args, get_origin, get_type_hints

from wholebody.errors import BadLayout

RULE = "=" * 80


@dataclass(frozen=True)
class Kind:
    """What a field is on the wire: a primitive or `string`; of a fixed count, or a sequence of any (count −1)."""

    name: str
    count: int | None = None

    @property
    def text(self) -> str:
        """As a definition has it."""
        return self.name + ("" if self.count is None else "[]" if self.count < 0 else f"[{self.count}]")


SIZES = {
    "bool": 1, "byte": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4,
    "int64": 8, "uint64": 8, "float32": 4, "float64": 8,
}  # fmt: skip
"""Bytes of the primitives."""
CODES = dict(zip(SIZES, "?BbBhHiIqQfd", strict=True))
"""Their letters in struct and numpy."""

Bool = Annotated[bool, Kind("bool")]
Byte = Annotated[int, Kind("byte")]
Int8 = Annotated[int, Kind("int8")]
Uint8 = Annotated[int, Kind("uint8")]
Uint16 = Annotated[int, Kind("uint16")]
Int32 = Annotated[int, Kind("int32")]
Uint32 = Annotated[int, Kind("uint32")]
Int64 = Annotated[int, Kind("int64")]
Uint64 = Annotated[int, Kind("uint64")]
Float32 = Annotated[float, Kind("float32")]
Float64 = Annotated[float, Kind("float64")]
Text = Annotated[str, Kind("string")]
Texts = Annotated[Sequence[str], Kind("string", -1)]
Bools = Annotated[Any, Kind("bool", -1)]
Bytes = Annotated[Any, Kind("uint8", -1)]
RawBytes = Annotated[Any, Kind("byte", -1)]
Int64s = Annotated[Any, Kind("int64", -1)]
Float64s = Annotated[Any, Kind("float64", -1)]
Uint8x16 = Annotated[Any, Kind("uint8", 16)]
Float64x9 = Annotated[Any, Kind("float64", 9)]
Float64x12 = Annotated[Any, Kind("float64", 12)]
Float64x36 = Annotated[Any, Kind("float64", 36)]
"""Fields of many numbers take lists and arrays; read messages have arrays."""


F = TypeVar("F", bound=Callable[..., Any])


def remembered(function: F) -> F:
    """A function of a type of message that is worked out once for each."""
    return cast(F, cache(function))


class Message:
    """The base of all: its name in ROS, package/msg/Name or package/srv/Name."""

    ros: ClassVar[str] = ""

    def __init_subclass__(cls, ros: str = "", **more: Any) -> None:
        """Keep the name."""
        super().__init_subclass__(**more)
        cls.ros = ros or cls.ros


@dataclass(frozen=True)
class Field:
    """A field of a message: its kind, or the message that it is, or of which it is a sequence."""

    name: str
    kind: Kind | None = None
    message: type[Message] | None = None
    many: bool = False


@remembered
def fields_of(message: type[Message]) -> tuple[Field, ...]:
    """The fields of a message in their order."""
    return tuple(
        _field(message, name, hint)
        for name, hint in get_type_hints(message, include_extras=True).items()
        if get_origin(hint) is not ClassVar
    )


def _field(message: type[Message], name: str, hint: Any) -> Field:
    if get_origin(hint) is Annotated:
        kind = next((each for each in get_args(hint)[1:] if isinstance(each, Kind)), None)
        if kind is not None:
            return Field(name, kind=kind)
    if isinstance(hint, type) and issubclass(hint, Message):
        return Field(name, message=hint)
    inner = get_args(hint)[0] if get_origin(hint) in (list, Sequence) else None
    if isinstance(inner, type) and issubclass(inner, Message):
        return Field(name, message=inner, many=True)
    raise BadLayout(f"field '{name}' of {message.__name__} is {hint}: annotate it with a kind of wholebody.ros.message")


def ros_type(message: type[Message]) -> str:
    """Such as sensor_msgs/msg/Imu."""
    return message.ros


def dds_type(message: type[Message]) -> str:
    """What DDS calls it: sensor_msgs::msg::dds_::Imu_."""
    package, folder, name = message.ros.split("/")
    return f"{package}::{folder}::dds_::{name}_"


@remembered
def definition(message: type[Message]) -> str:
    """Its fields as a .msg file has them, and below those of the messages inside, as MCAP files keep them."""
    inside: dict[type[Message], str] = {}
    _collect(message, inside)
    first, *others = inside.items()
    parts = [first[1], *(f"{RULE}\nMSG: {_short(each)}\n{text}" for each, text in others)]
    return "\n".join(parts)


def _collect(message: type[Message], inside: dict[type[Message], str]) -> None:
    if message in inside:
        return
    inside[message] = ""  # before those inside it
    lines = []
    for each in fields_of(message):
        if each.message is not None:
            lines.append(f"{_short(each.message)}{'[]' if each.many else ''} {each.name}")
            _collect(each.message, inside)
        elif each.kind is not None:
            lines.append(f"{each.kind.text} {each.name}")
    inside[message] = "\n".join(lines)


def _short(message: type[Message]) -> str:
    package, _, name = message.ros.split("/")
    return f"{package}/{name}"
