"""Packed: a dataclass whose parameters lie in one flat array, where kernels read them while Python changes them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from wholebody.errors import BadParameter, closest
from wholebody.parameters.parameter import Array, Parameter, checked, is_plain, parameters_of

DISABLED, ENABLED, SENSING = 0, 1, 2
"""What stands first in the flat array: the operational state."""

STATES = {"disabled": DISABLED, "enabled": ENABLED, "sensing": SENSING}


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
        return tuple(parameters_of(cls).values())

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
        elif (parameter := parameters_of(type(self)).get(name)) is not None:
            view = own[f"_{name}"]
            view[:] = value if is_plain(parameter, value, view) else self._checked(parameter, value, len(view))
            if parameter.size is None:
                own[name] = float(view[0])
        else:
            known = parameters_of(type(self))
            fixed = name in {each.name for each in dataclasses.fields(self)}
            raise BadParameter(
                f"'{self.name}': {name} is fixed when a {type(self).__name__} is made; make a new one"
                if fixed
                else f"a {type(self).__name__} has no parameter '{name}'{closest(name, [*known, 'state'])}"
            )

    def _checked(self, parameter: Parameter, value: Any, size: int) -> Array:
        return checked(f"'{self.name}': {parameter.name}", parameter, value, size)

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
