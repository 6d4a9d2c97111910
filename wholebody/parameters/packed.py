"""Packed: a dataclass whose parameters lie in one flat array, where kernels read them while Python changes them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt

from wholebody.errors import BadParameter, closest
from wholebody.parameters.annotations import Bounds, OneForEachRow, Size, Unit

Array = npt.NDArray[np.float64]

DISABLED, ENABLED, SENSING = 0, 1, 2
"""What stands first in the flat array: the operational state."""

STATES = {"disabled": DISABLED, "enabled": ENABLED, "sensing": SENSING}


@dataclass(frozen=True)
class Parameter:
    """What a field's annotation says."""

    name: str
    unit: str
    bounds: Bounds
    size: int | None  # None for a single number, −1 for one for each row


@dataclass(eq=False, kw_only=True)
class Packed:
    """A record with a name, a state, and parameters: the fields with a unit, which lie in `numbers`.

    numbers[0] is the state; the parameters follow in the order of the fields. Vectors are views of that array, so
    `task.goal[0] = 0.3` counts at once; `task.goal = …` is checked against size and bounds first. All other fields
    are fixed when the record is made. Copies, also by pickle, have numbers of their own.
    """

    name: str = dataclasses.field(kw_only=False)
    state: str = "enabled"

    states: ClassVar[tuple[str, ...]] = ("disabled", "enabled", "sensing")
    row_count: ClassVar[int] = 0

    def count_rows(self) -> int:
        """How many rows there are at most: `row_count`, if it is the same for all of the kind."""
        return self.row_count

    @property
    def numbers(self) -> Array:
        """The state and all parameters, as kernels read them."""
        numbers: Array = self.__dict__["numbers"]
        return numbers

    @classmethod
    def parameters(cls) -> tuple[Parameter, ...]:
        """The fields with a unit, in the order in which they lie in `numbers`."""
        return tuple(_by_name(cls).values())

    def __post_init__(self) -> None:
        """Lay the parameters into one array."""
        if not isinstance(self.name, str) or not self.name:
            raise BadParameter(f"a {type(self).__name__} needs a name, not {self.name!r}")
        self.prepare()
        rows = self.count_rows()
        sizes = [1 if p.size is None else rows if p.size < 0 else p.size for p in self.parameters()]
        numbers = np.zeros(1 + sum(sizes))
        own: dict[str, Any] = {"numbers": numbers}
        start = 1
        for parameter, size in zip(self.parameters(), sizes, strict=True):
            view = numbers[start : start + size]
            view[:] = self._checked(parameter, self.__dict__.get(parameter.name, getattr(self, parameter.name)), size)
            own[parameter.name] = float(view[0]) if parameter.size is None else view
            own[f"_{parameter.name}"] = view
            start += size
        self.__dict__.update(own)
        self.state = self.state

    def prepare(self) -> None:
        """Bring the fields into one form, before they are laid into the array; for heirs."""

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a parameter or the state, checked; the fields that are fixed refuse."""
        own = self.__dict__
        if "numbers" not in own:
            own[name] = value
        elif name == "state":
            if value not in self.states:
                allowed = ", ".join(self.states)
                raise BadParameter(f"'{self.name}': state {value!r} is none of {allowed}{closest(str(value), STATES)}")
            own["state"] = value
            own["numbers"][0] = STATES[value]
        elif (parameter := _by_name(type(self)).get(name)) is not None:
            view = own[f"_{name}"]
            view[:] = self._checked(parameter, value, len(view))
            if parameter.size is None:
                own[name] = float(view[0])
        else:
            known = _by_name(type(self))
            fixed = name in {each.name for each in dataclasses.fields(self)}
            raise BadParameter(
                f"'{self.name}': {name} is fixed when a {type(self).__name__} is made; make a new one"
                if fixed
                else f"a {type(self).__name__} has no parameter '{name}'{closest(name, [*known, 'state'])}"
            )

    def _checked(self, parameter: Parameter, value: Any, size: int) -> Array:
        what = f"'{self.name}': {parameter.name}"
        try:
            given = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            raise BadParameter(f"{what} must be numbers, not {value!r}") from None
        one_for_all = given.ndim == 0 and (size == 1 or parameter.size == -1 or isinstance(value, int | float))
        if given.shape != (size,) and not one_for_all:
            raise BadParameter(f"{what} must have {size} numbers, not shape {given.shape}")
        bounds = parameter.bounds
        if not np.isfinite(given).all():
            raise BadParameter(f"{what} must be finite, not {value!r}")
        if given.size and (given.min() < bounds.lower or given.max() > bounds.upper):
            unit = f" {parameter.unit}" if parameter.unit != "1" else ""
            raise BadParameter(f"{what} = {value!r} is outside {bounds.lower:g} … {bounds.upper:g}{unit}")
        return np.broadcast_to(given, (size,))

    def __reduce__(self) -> Any:
        """Copy and pickle by making it anew, with an array of its own."""
        values = {each.name: self.__dict__[each.name] for each in dataclasses.fields(self) if each.init}
        copied = {name: np.array(value) if isinstance(value, np.ndarray) else value for name, value in values.items()}
        return _again, (type(self), copied)

    def __repr__(self) -> str:
        """Kind, name and state."""
        return f"<{type(self).__name__} '{self.name}', {self.state}>"


def _again(kind: type[Packed], values: dict[str, Any]) -> Packed:
    return kind(**values)


_known: dict[type, dict[str, Parameter]] = {}


def _by_name(kind: type) -> dict[str, Parameter]:
    """The parameters of a class, read off its annotations once."""
    if kind not in _known:
        hints = get_type_hints(kind, include_extras=True)
        fields: Any = dataclasses.fields(kind)
        found = (_parameter(each.name, hints[each.name]) for each in fields)
        _known[kind] = {each.name: each for each in found if each is not None}
    return _known[kind]


def _parameter(name: str, hint: Any) -> Parameter | None:
    notes = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    units = [each for each in notes if isinstance(each, Unit)]
    if not units:
        return None
    bounds = next((each for each in reversed(notes) if isinstance(each, Bounds)), Bounds())
    sizes = [each.count for each in notes if isinstance(each, Size)]
    if any(isinstance(each, OneForEachRow) for each in notes):
        sizes = [-1]
    return Parameter(name, units[-1].symbol, bounds, sizes[-1] if sizes else None)
