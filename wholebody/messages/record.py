"""Record: a message as a typed view; its fields are attributes over the memory of the message, without a copy.

A view of a channel reader's message is valid until the reader's next `latest()`, `next()` or `wait()`; `copy()` keeps
it. With the environment variable WHOLEBODY_DEBUG set, an older view raises OldView.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeVar, cast, get_type_hints, overload

import numpy as np
import numpy.typing as npt

from wholebody.errors import OldView, WrongRecord

Dtype = np.dtype[Any]
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.integer[Any]]
Booleans = npt.NDArray[np.bool_]
Texts = npt.NDArray[np.bytes_]


if TYPE_CHECKING:

    class _Void(np.generic[bytes]):  # for mypy, fields are attributes and nothing else
        def __new__(cls, *values: Any) -> Self: ...
else:
    _Void = np.void


class _Fields(type):
    """Makes of each annotated field a property, and a slot that keeps the array over its memory."""

    def __new__(mcs, name: str, bases: tuple[type, ...], space: dict[str, Any]) -> _Fields:
        fields = {} if "__slots__" in space else space.get("__annotations__", {})
        space.setdefault("__slots__", tuple(f"_{field}" for field in fields))
        for field, kind in fields.items():
            kind = kind if isinstance(kind, str) else getattr(kind, "__name__", "")
            make = {"float": _number, "int": _number, "bool": _number, "str": _text}.get(kind, _array)
            space[field] = make(field, attrgetter(f"_{field}"))
        return super().__new__(mcs, name, bases, space)


def _array(name: str, array_of: Callable[[Any], Any]) -> property:
    """A field of many numbers, or of records: what is assigned is copied into the message."""

    def put(record: Any, value: Any) -> None:
        record[name] = value

    return property(array_of, put)


def _number(_: str, array_of: Callable[[Any], Any]) -> property:
    """A field of one number: a Python float, int or bool."""

    def number(record: Record) -> Any:
        return array_of(record).item()

    def put(record: Record, value: float) -> None:
        array_of(record)[()] = value

    return property(number, put)


def _text(_: str, array_of: Callable[[Any], Any]) -> property:
    """A field of text: a Python str; what is longer than the field is cut, between letters."""

    def text(record: Record) -> str:
        return cast(bytes, array_of(record).item()).decode(errors="replace")

    def put(record: Record, value: str) -> None:
        array, encoded = array_of(record), value.encode()
        if len(encoded) > array.itemsize:
            encoded = encoded[: array.itemsize].decode(errors="ignore").encode()
        array[()] = encoded

    return property(text, put)


class Record(_Void, metaclass=_Fields):
    """One message of a fixed layout, with its fields as attributes.

    A subclass annotates them, and `Subclass.of(dtype)` is the dtype of its records. Arrays are views of the message's
    memory (`record.position[:] = q` writes there); single numbers and text are Python's own.
    """

    __slots__ = ()

    @classmethod
    def of(cls, dtype: Dtype) -> np.dtype[Self]:
        """The same layout with records of this class; WrongRecord if it lacks one of the fields."""
        names, kinds = dtype.names or (), _kinds(cls)
        lacking = [name for name, kind in kinds.items() if name not in names and not issubclass(kind, Rows)]
        if lacking:
            raise WrongRecord(
                f"a message of {', '.join(names) or 'numbers without names'} is no {cls.__name__}: it lacks "
                f"{', '.join(lacking)}; open the channel that holds {cls.__name__} messages"
            )
        fields: Mapping[str, Any] = dtype.fields or {}
        description: dict[str, Any] = {
            "names": list(names),
            "formats": [_nested(kinds.get(name, np.ndarray), fields[name][0]) for name in names],
            "offsets": [fields[name][1] for name in names],
            "itemsize": dtype.itemsize,
            "aligned": dtype.isalignedstruct,
        }
        labels: dict[str, Any] = {"metadata": dict(dtype.metadata)} if dtype.metadata else {}
        plain: Dtype = np.dtype(cast(Any, description), **labels)
        return cast(np.dtype[Self], np.dtype((cls, plain)))

    def copy(self, order: Literal["K", "A", "C", "F"] | None = "C") -> Self:
        """The same values in memory of their own."""
        memory = np.empty(1, self.dtype)
        memory[0] = self
        return cast(Self, memory[0])

    def copy_from(self, other: Record) -> None:
        """Take over all values of a message of the same layout."""
        cast(Any, self).setfield(other, other.dtype, 0)

    if not TYPE_CHECKING:

        def __getattr__(self, slot: str) -> Any:
            """The array of a field that has not been asked for before."""
            kind = _kinds(type(self)).get(slot[1:])
            if kind is None or slot[0] != "_":
                raise AttributeError(f"a {type(self).__name__} has no '{slot}'", name=slot, obj=self)
            array = _view(self, slot[1:], kind)
            setattr(self, slot, array)
            return array


def packed(kind: type) -> Dtype:
    """The layout of annotated fields one after the other: `float`, or `Annotated[Floats, shape]`, of float64 each."""
    hints = get_type_hints(kind, include_extras=True).items()
    return np.dtype([(name, "f8", *getattr(hint, "__metadata__", ())) for name, hint in hints])


def numbers_of(records: npt.NDArray[Any]) -> Floats:
    """All numbers of records of float64 fields in one row, in the same memory."""
    return records.reshape(-1).view(np.float64)


M = TypeVar("M", bound=np.generic)
R = TypeVar("R", bound=Record)


def new(dtype: np.dtype[M]) -> M:
    """One message of a layout, all zeros."""
    message: M = np.zeros(1, dtype)[0]
    return message


class Rows(Sequence[R]):
    """Records of one kind in one message: `rows[i]` is a record, `rows.field` the field of all as one array."""

    record: ClassVar[Dtype]
    """The dtype of one."""

    def __init__(self, array: npt.NDArray[Any]) -> None:
        self._array = array
        self.__dict__.update({name: array[name] for name in array.dtype.names or ()})

    @cached_property
    def _records(self) -> tuple[R, ...]:
        return tuple(self._array)

    @overload
    def __getitem__(self, index: int) -> R: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[R]: ...
    def __getitem__(self, index: int | slice) -> R | Sequence[R]:
        """One record, or some."""
        return self._records[index]

    def __len__(self) -> int:
        """How many there are."""
        return len(self._array)


@cache
def _kinds(cls: type) -> dict[str, type]:
    """The classes of a record's fields that are records themselves, and `ndarray` for all others."""
    annotated = {name: hint for name, hint in get_type_hints(cls).items() if isinstance(getattr(cls, name), property)}
    return {name: hint if _has_records(hint) else np.ndarray for name, hint in annotated.items()}


def _has_records(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Record | Rows)


def _nested(kind: type, dtype: Dtype) -> Dtype:
    """The dtype of a field, with its records' classes in it."""
    base, shape = dtype.subdtype or (dtype, ())
    if issubclass(kind, Rows):
        return np.dtype((kind.record.type.of(base), shape))
    return kind.of(base) if issubclass(kind, Record) else dtype


def _view(record: Any, name: str, kind: type) -> Any:
    """A field as an array over its memory; of records, as one or as rows."""
    whole = _whole(record)
    if issubclass(kind, Record):
        return whole[name].reshape(1)[0]
    if issubclass(kind, Rows):
        return kind(whole[name] if name in record.dtype.names else np.zeros(0, kind.record))
    return whole[name]


def _whole(record: Any) -> npt.NDArray[Any]:
    """A record as an array over its memory, which keeps that memory, but not the record.

    The record keeps the arrays of its fields. If they kept the record, both would stay for ever, because numpy's arrays
    take no part in the collection of garbage. The array that a record was taken from is asked of numpy's own memory
    (PyVoidScalarObject.base), which has no other name in Python; where it is not found there, the record is kept.
    """
    view = np.asarray(record)
    owner = _owner(record) if _BASE_AT else None
    if owner is None:
        return view
    offset = view.ctypes.data - owner.ctypes.data
    whole: npt.NDArray[Any] = np.ndarray((), record.dtype, owner.reshape(-1).view(np.uint8), offset)
    whole.flags.writeable = view.flags.writeable
    return whole


def _owner(record: Any) -> npt.NDArray[Any] | None:
    """The array that has the memory of a record, if numpy says so and it is one piece."""
    try:
        owner: Any = ctypes.py_object.from_address(id(record) + _BASE_AT).value
    except ValueError:  # NULL: the record has its memory itself
        return None
    while isinstance(owner, np.ndarray) and isinstance(owner.base, np.ndarray):
        owner = owner.base
    whole = isinstance(owner, np.ndarray) and owner.flags.c_contiguous and not isinstance(owner.base, np.void)
    return owner if whole else None


def _base_at() -> int:
    """Where a record of numpy's says from which array it was taken, in bytes from its beginning; 0 if not as it was."""
    at = 48  # count, type, size; data, dtype, flags
    memory: npt.NDArray[Any] = np.zeros(2, [("number", "f8")])
    record = memory[1]
    if sys.implementation.name != "cpython" or record.__sizeof__() < at + 8:
        return 0
    return at if ctypes.c_void_p.from_address(id(record) + at).value == id(memory) else 0


_BASE_AT = _base_at()


def watched(record: R, newest: Callable[[], int]) -> R:
    """The same view, which raises OldView once `newest` is no longer the number it is now."""
    memory = np.asarray(record).reshape(1).view(np.dtype((_watched(type(record)), record.dtype)))
    view = memory[0]
    object.__setattr__(view, "_age", (newest, newest()))
    return cast(R, view)


@cache
def _watched(kind: type) -> type:
    """A class of views of that kind which look at their age before all else."""

    def checked(name: str) -> Callable[..., Any]:
        plain = getattr(kind, name)

        def look(self: Any, *arguments: Any) -> Any:
            try:
                newest, mine = object.__getattribute__(self, "_age")
            except AttributeError:  # a copy
                return plain(self, *arguments)
            if newest() != mine:
                raise OldView(
                    f"a view of message {mine} was used when message {newest()} had taken its place; take "
                    "`reader.message` again after each latest(), next() or wait(), or keep a `copy()`"
                )
            return plain(self, *arguments)

        return look

    looks = ("__getattribute__", "__setattr__", "__getitem__", "__setitem__")
    return type(kind)(kind.__name__, (kind,), {"__slots__": ("_age",), **{name: checked(name) for name in looks}})
