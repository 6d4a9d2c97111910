"""Panel: a part of the operator page declared in Python, in one class: forms, a table and a plot, or some of them.

    class Squat(Panel):
        title = "Squat"
        form = HowDeep                                      # a dataclass: its fields become inputs
        columns = (Column("joint"), Column("torque", "N·m", digits=1))
        series = (Series("height", "m"),)

        def submit(self, form): return f"squats by {form.depth} m"
        def rows(self): return [("LKP", 12.0), ("RKP", 11.5)]
        def values(self): return [0.61]

`wholebody page --panel path/to/file.py:Squat` shows it; so does an entry point of the group `wholebody.panels`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from wholebody.errors import WholebodyError
from wholebody.operator.page.forms import Field, Form, form_of, read_form
from wholebody.operator.rcp.users import Role
from wholebody.robots.robot import Robot


@dataclass(frozen=True)
class Column:
    """A column of a table; its unit stands beside its name, numbers have so many digits."""

    name: str
    unit: str = ""
    digits: int = 3


@dataclass(frozen=True)
class Series:
    """A line of a plot; lines of one unit share their axes."""

    name: str
    unit: str = "1"


@dataclass(frozen=True)
class Companion:
    """A process that the robot is operated by, such as its walking controller."""

    name: str
    about: str
    state: str  # starts, runs, ended
    since: float  # s
    said: str = ""  # the last lines of its log, once it has ended


@dataclass(frozen=True)
class PanelContext:
    """What a panel knows of the page that shows it.

    name        of the running robot: its channels begin with it
    robot       its description
    parameters  every parameter that can be set now, as inputs
    companions  the processes that the robot is operated by
    begin       begins one of them again, by its name; what is to be said of it
    """

    name: str
    robot: Robot
    parameters: Callable[[], Sequence[Field]] = tuple
    companions: Callable[[], Sequence[Companion]] = tuple
    begin: Callable[[str], str] = lambda name: ""


class Panel:
    """What is shown, and what becomes of what is typed.

    All of one panel runs in one thread of its own, one call at a time, and only while somebody has it open: a panel
    that is slow or fails says so in its own box, and holds up neither the robot nor the rest of the page.
    """

    title: ClassVar[str] = ""
    """Over its box; without, the name of the class."""
    open: ClassVar[bool] = False
    """Whether its box is open when the page is."""
    urgent: ClassVar[bool] = False
    """Whether it stands beside STOP, as long as it has anything to show."""
    role: ClassVar[Role] = Role.OPERATOR
    """Who may submit: an OPERATOR who has control, an ADMINISTRATOR, or any OBSERVER."""
    form: ClassVar[type | None] = None
    """A dataclass: fields with unit and bounds, choices (Literal), texts and switches become inputs."""
    button: ClassVar[str] = "send"
    columns: ClassVar[tuple[Column, ...]] = ()
    series: ClassVar[tuple[Series, ...]] = ()
    period: ClassVar[float] = 1.0
    """s from one look at forms() and rows() to the next"""
    sampled: ClassVar[float] = 0.1
    """s from one look at values() to the next, at least 0.1"""

    def __init__(self, context: PanelContext) -> None:
        self.context = context
        self.lines: list[str] = []  # of RCP, that submit() has said

    def say(self, line: str) -> None:
        """Have whoever submitted the form say a line of RCP; for submit() only, what is answered is shown as ever."""
        self.lines.append(line)

    def submit(self, form: Any) -> str:
        """Do what the form asks, and answer in words; an error of ours is the answer, too."""
        raise NotImplementedError

    def rows(self) -> Iterable[Sequence[Any]]:
        """The rows of the table: texts and numbers, one for each column."""
        return ()

    def values(self) -> Sequence[float]:
        """A number for each series, now; NaN for one that nobody knows."""
        return ()

    def close(self) -> None:
        """Let go of what it has opened."""

    def forms(self) -> Sequence[Form]:
        """All forms as they are now; usually one, of the dataclass `form`."""
        return () if self.form is None else (form_of(self.form, self.button),)

    def take(self, name: str, values: Mapping[str, str]) -> str:
        """Take a form of a name, by the texts of its fields; usually checks them and submits."""
        return self.submit(read_form(self.form, values)) if self.form is not None else ""


def broken(name: str, error: WholebodyError) -> type[Panel]:
    """A panel in the place of one that cannot be had; its box says why."""

    class Broken(Panel):
        title, open = name, True

        def __init__(self, context: PanelContext) -> None:
            raise error

    return Broken
