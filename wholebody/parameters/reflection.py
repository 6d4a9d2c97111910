"""Parameters: everything of a controller that has a path, to be listed, looked at, changed, saved and loaded.

parameters = Parameters()
parameters.add("tasks", right_hand)                 # tasks.right_hand.goal, tasks.right_hand.stiffness, …
parameters.get("tasks.right_hand.goal")
parameters.set("tasks.right_hand.goal", [0.4, -0.2, 1.0])
parameters.save("tuned.yaml")
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from wholebody.errors import BadParameter, UnknownName, WholebodyError
from wholebody.parameters.documents import read_document, write_document
from wholebody.parameters.packed import STATES, Packed
from wholebody.parameters.parameter import (
    Array,
    Bounds,
    Parameter,
    checked,
    parameters_of,
    refuse_one_for_many,
)

SECTION = "parameters"
STATE_NAMES = {code: name for name, code in STATES.items()}
UNITS_OF_INTEGRALS = ("accumulated",)
"""Fields that the controller itself writes: they can be set, but nobody chose them, and so are not saved."""

Value = float | str | Array


@dataclass(frozen=True)
class About:
    """What is known of a parameter, whatever its value."""

    path: str
    kind: str  # number, whole, vector, state
    unit: str
    size: int
    lower: float
    upper: float
    meaning: str
    writable: bool = True
    saved: bool = True
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Slot:
    """A parameter: its numbers, live, and how they are changed.

    array    its numbers; those of tasks and constraints are the very memory that kernels read
    assign   checks a value and takes it, whole or not at all; None for a reading
    refresh  brings the array up to date, where it is a copy
    """

    about: About
    array: Array
    assign: Callable[[Any], None] | None = None
    refresh: Callable[[], None] | None = None

    def value(self) -> Value:
        """The value now, as people see it."""
        if self.refresh is not None:
            self.refresh()
        return shown(self.about, self.array)

    def set(self, value: Any) -> None:
        """Check a value and take it."""
        if self.assign is None:
            raise BadParameter(f"{self.about.path} can be read, but not set: {self.about.meaning}")
        self.assign(value)


def shown(about: About, numbers: Sequence[float] | Array) -> Value:
    """Numbers as a person sees them: a state by its name, one number as such, many as an array of their own."""
    if about.kind == "state":
        return about.choices[int(numbers[0])]
    return np.array(numbers, dtype=np.float64) if about.kind == "vector" else float(numbers[0])


def refreshing(slots: Iterable[Slot]) -> tuple[Callable[[], None], ...]:
    """What brings these parameters up to date, each once."""
    return tuple(dict.fromkeys(slot.refresh for slot in slots if slot.refresh is not None))


def given_value(slot: Slot, numbers: Array) -> Any:
    """Numbers that came from another process, as `set` takes them: one number alone stands for itself."""
    return numbers if slot.about.kind == "vector" and len(numbers) != 1 else float(numbers[0])


class Parameters:
    """All parameters by path, in the order in which they were added."""

    def __init__(self) -> None:
        self._slots: dict[str, Slot] = {}

    def __iter__(self) -> Iterator[Slot]:
        """All of them."""
        return iter(self._slots.values())

    def __len__(self) -> int:
        """How many there are."""
        return len(self._slots)

    @property
    def paths(self) -> tuple[str, ...]:
        """All paths."""
        return tuple(self._slots)

    def slot(self, path: str) -> Slot:
        """The parameter of that path; UnknownName with the nearest ones if there is none."""
        try:
            return self._slots[path]
        except KeyError:
            raise UnknownName("parameter", path, self._slots) from None

    def get(self, path: str) -> Value:
        """A value: a number, an array, or the name of a state."""
        return self.slot(path).value()

    def set(self, path: str, value: Any) -> None:
        """Change a value, checked against size and bounds; a vector changes whole or not at all."""
        self.slot(path).set(value)

    # --- what there is -----------------------------------------------------------------------------

    def add(self, group: str, owner: Packed) -> None:
        """Add the state and all annotated fields of a task or constraint, as group.name.field."""
        first = f"{group}.{owner.name}"
        meaning = f"whether it counts: {', '.join(owner.states)}"
        about = About(f"{first}.state", "state", "", 1, 0, 2, meaning, choices=owner.states)
        self._insert(Slot(about, owner.numbers[:1], lambda value: setattr(owner, "state", _state(owner, value))))
        for each in owner.parameters():
            view: Array = owner.__dict__[f"_{each.name}"]
            about = _about(f"{first}.{each.name}", each, len(view), saved=each.name not in UNITS_OF_INTEGRALS)
            self._insert(Slot(about, view, _assign(owner, each, about.path)))

    def add_attributes(self, path: str, owner: object) -> None:
        """Add the annotated attributes of any other object, such as a controller, as path.attribute."""
        for each in parameters_of(type(owner)).values():
            array = np.array(np.atleast_1d(getattr(owner, each.name)), dtype=np.float64)
            about = _about(f"{path}.{each.name}", each, len(array), vector=np.ndim(getattr(owner, each.name)) > 0)
            self._insert(Slot(about, array, _assign_attribute(owner, each, about), _refresh(owner, each.name, array)))

    def add_record(self, path: str, read: Callable[[], Any], write: Callable[[Any], None]) -> None:
        """Add the annotated numbers of a dataclass that may be frozen, and of those in it, as path.field.

        A change makes a new record, which checks itself as a whole, and gives it to `write`; it may refuse it.
        """
        for name, each in parameters_of(type(read())).items():
            about, array = _about(f"{path}.{name}", each, 1), np.zeros(1)
            self._insert(Slot(about, array, _assign_in(read, write, each, about), _refresh_in(read, name, array)))
        for inner in fields(read()):
            if is_dataclass(getattr(read(), inner.name)):
                self.add_record(f"{path}.{inner.name}", *_part(read, write, inner.name))

    def add_reading(
        self, path: str, unit: str, meaning: str, read: Callable[[Array], None], size: int | None = None
    ) -> None:
        """Add something that can be looked at and not set: `read` writes it into the array that it is given."""
        array = np.zeros(1 if size is None else size)
        kind = "number" if size is None else "vector"
        about = About(path, kind, unit, len(array), -np.inf, np.inf, meaning, writable=False, saved=False)
        self._insert(Slot(about, array, None, lambda: read(array)))

    def add_slot(self, slot: Slot) -> None:
        """Add a parameter made elsewhere."""
        self._insert(slot)

    def _insert(self, slot: Slot) -> None:
        if slot.about.path in self._slots:
            raise BadParameter(f"there are two parameters with the path {slot.about.path}; give other names")
        self._slots[slot.about.path] = slot

    # --- files -------------------------------------------------------------------------------------

    def save(self, file: str | Path) -> None:
        """Write all values that can be set into a YAML file, which a configuration can include."""
        values = {each.about.path: each.value() for each in self if each.about.writable and each.about.saved}
        write_values(file, values)

    def load(self, file: str | Path) -> None:
        """Set all values of a file, or, if one of them cannot be taken, none."""
        values, where = read_values(file)
        self.set_all(values, where)

    def set_all(self, values: dict[str, Any], where: Callable[[str], str] = lambda path: path) -> None:
        """Set several values, or, if one of them cannot be taken, none; the error says where the wrong one stands."""
        set_together(values, self.get, self.set, where)


def read_values(file: str | Path) -> tuple[dict[str, Any], Callable[[str], str]]:
    """The paths and values of a file, and where in it each stands."""
    document = read_document(file)
    values = document.data.get(SECTION) if isinstance(document.data, dict) else None
    if not isinstance(values, dict):
        raise BadParameter(f"{file} has no section '{SECTION}' with paths and values")
    return values, lambda path: document.where((SECTION, path))


def write_values(file: str | Path, values: dict[str, Value]) -> None:
    """Write paths and values as the section of a YAML file."""
    plain = {path: value.tolist() if isinstance(value, np.ndarray) else value for path, value in values.items()}
    write_document(file, {SECTION: plain})


def _about(path: str, each: Parameter, size: int, *, vector: bool | None = None, saved: bool = True) -> About:
    many = each.size is not None if vector is None else vector
    kind = "vector" if many else "whole" if each.whole else "number"
    bounds: Bounds = each.bounds
    return About(path, kind, each.unit, size, bounds.lower, bounds.upper, each.meaning, saved=saved)


def _state(owner: Packed, value: Any) -> str:
    """A state by name or by number."""
    if isinstance(value, str):
        return value
    code = float(np.ravel(value)[0]) if np.size(value) == 1 else np.nan
    if code not in STATE_NAMES:
        raise BadParameter(f"'{owner.name}': state {value!r} is none of {', '.join(owner.states)}")
    return STATE_NAMES[int(code)]


def _assign(owner: Packed, parameter: Parameter, path: str) -> Callable[[Any], None]:
    def assign(value: Any) -> None:
        refuse_one_for_many(path, parameter, value)
        setattr(owner, parameter.name, value)

    return assign


def _assign_attribute(owner: object, parameter: Parameter, about: About) -> Callable[[Any], None]:
    def assign(value: Any) -> None:
        refuse_one_for_many(about.path, parameter, value)
        numbers = checked(about.path, parameter, value, about.size)
        if about.kind == "vector":
            getattr(owner, parameter.name)[:] = numbers
        else:
            setattr(owner, parameter.name, int(numbers[0]) if parameter.whole else float(numbers[0]))

    return assign


def _refresh(owner: object, name: str, array: Array) -> Callable[[], None]:
    return _refresh_in(lambda: owner, name, array)


def _assign_in(
    read: Callable[[], Any], write: Callable[[Any], None], parameter: Parameter, about: About
) -> Callable[[Any], None]:
    def assign(value: Any) -> None:
        number = float(checked(about.path, parameter, value, 1)[0])
        write(replace(read(), **{parameter.name: int(number) if parameter.whole else number}))

    return assign


def _refresh_in(read: Callable[[], Any], name: str, array: Array) -> Callable[[], None]:
    def refresh() -> None:
        array[:] = getattr(read(), name)

    return refresh


def _part(
    read: Callable[[], Any], write: Callable[[Any], None], name: str
) -> tuple[Callable[[], Any], Callable[[Any], None]]:
    """How a record inside another is read and written."""
    return lambda: getattr(read(), name), lambda part: write(replace(read(), **{name: part}))


def set_together(
    values: Mapping[str, Any],
    get: Callable[[str], Any],
    set: Callable[[str, Any], object],
    where: Callable[[str], str] = lambda path: path,
) -> None:
    """Set values by path, or, if one of them cannot be taken, none; the error says where the wrong one stands.

    Some fit only after others, such as a shorter step after a shorter double support: what is refused is tried again
    as long as others are taken meanwhile.
    """
    before: dict[str, Any] = {}
    waiting = list(values)
    while waiting:
        refused: dict[str, WholebodyError] = {}
        for path in waiting:
            try:
                old = get(path)
                set(path, values[path])
                before[path] = old
            except WholebodyError as error:
                refused[path] = error
        if len(refused) == len(waiting):
            for path, old in reversed(before.items()):
                set(path, old)
            wrong, why = next(iter(refused.items()))
            raise BadParameter(f"{where(wrong)}: {why}") from why
        waiting = list(refused)


def in_words(value: Value) -> str:
    """A value for people."""
    if isinstance(value, str):
        return value
    return " ".join(f"{number:.6g}" for number in np.atleast_1d(value))
