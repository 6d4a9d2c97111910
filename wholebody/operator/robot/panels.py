"""Our panels of the operator page: controllers that do not run, what happened, balance, parameters, joints."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from wholebody import plugins
from wholebody.behaviors.behavior import Goals
from wholebody.channels.subscription import Subscription
from wholebody.drivers import Names
from wholebody.errors import BadConfiguration, WholebodyError
from wholebody.messages import State
from wholebody.operator.monitor.posture import lean
from wholebody.operator.monitor.tables import NOTHING, number
from wholebody.operator.monitor.watcher import Watcher
from wholebody.operator.page.forms import Field, Form
from wholebody.operator.page.panel import Column, Panel, PanelContext, Series, broken


class Controllers(Panel):
    """Processes that start or have ended, with the last lines of their log and a button that begins them again."""

    title = "Controllers"
    open = True
    urgent = True
    period = 0.5

    def forms(self) -> Sequence[Form]:
        """One for each process that does not run."""
        found = []
        for each in self.context.companions():
            if each.state == "starts":
                found.append(Form(each.name, text=f"{each.about} starts: {each.since:.0f} s so far", waits=True))
            elif each.state == "ended":
                text = f"{each.about} has ended; its last lines:"
                found.append(Form(each.name, (), f"start {each.name} again", text, each.said))
        return found

    def take(self, name: str, values: Mapping[str, str]) -> str:
        """Begin it again."""
        return self.context.begin(name)


class Events(Panel):
    """The last events of the daemon."""

    title = "What happened"
    open = True
    columns = (Column("ago", "s", digits=0), Column("event"), Column("what"))

    def __init__(self, context: PanelContext) -> None:
        super().__init__(context)
        self._watcher = Watcher(context.name)

    def rows(self) -> Iterator[Sequence[Any]]:
        """The newest first."""
        for each in reversed(self._watcher.look().events):
            yield each.age, each.name, each.text


class Balance(Panel):
    """How far the body leans, and how high it is, over the last minute."""

    title = "Balance"
    series = (Series("leans forward", "°"), Series("leans to the right", "°"), Series("height of the body", "m"))

    def __init__(self, context: PanelContext) -> None:
        super().__init__(context)
        self._state = Subscription(Names(context.name).state, State)

    def values(self) -> Sequence[float]:
        """By the newest state."""
        state = self._state.take()
        leans = None if state is None else lean(state)
        right, forward = (math.nan, math.nan) if leans is None else map(math.degrees, leans)
        up = float(state.base.position[2]) if state is not None and state.base.known else math.nan
        return forward, right, up


class Parameters(Panel):
    """Everything that can be set while the robot runs, each with unit, bounds and meaning."""

    title = "Parameters"

    def forms(self) -> Sequence[Form]:
        """One for each parameter: it is set alone."""
        return [Form(each.name, (each,)) for each in self.context.parameters()]

    def take(self, name: str, values: Mapping[str, str]) -> str:
        """Set it, as a line of RCP does, whose answer is shown."""
        self.say(f"SET {name} {values[name]}")
        return ""


class Verbs(Panel):
    """What running behaviours can be told: a form for each verb; its order waits its turn like any other."""

    title = "Verbs"

    def __init__(self, context: PanelContext) -> None:
        super().__init__(context)
        self._goals = Goals(context.name)

    def forms(self) -> Sequence[Form]:
        """One for each verb, with its defaults."""
        return [
            Form(name, tuple(Field.of(each, verb.text_of(each)) for each in verb.arguments), name, verb.help)
            for name, verb in self._goals.verbs.items()
        ]

    def take(self, name: str, values: Mapping[str, str]) -> str:
        """Give the goal, as a line of RCP does, whose answer is shown."""
        said = (f"{key}={','.join(text.split())}" for key, text in values.items() if text)
        self.say(" ".join((name.upper(), *said)))
        return ""

    def close(self) -> None:
        """Let go of channels."""
        self._goals.close()


class Joints(Panel):
    """Where each joint is, what it was told, and how strongly it pushes."""

    title = "Joints"
    columns = (Column("joint"), Column("is"), Column("told"), Column("effort"))

    def __init__(self, context: PanelContext) -> None:
        super().__init__(context)
        self._watcher = Watcher(context.name)
        self._slides = {joint.name for joint in context.robot.moving if joint.kind == "prismatic"}

    def rows(self) -> Iterator[Sequence[Any]]:
        """One for each joint."""
        for each in self._watcher.look().joints:
            length, force = ("m", "N") if each.name in self._slides else ("rad", "N·m")
            told = NOTHING if each.command is None else each.command
            yield each.name, _with_unit(each.position, 3, length), told, _with_unit(each.effort, 1, force)


def _with_unit(value: float | None, digits: int, unit: str) -> str:
    return number(value, digits) if value is None else f"{number(value, digits)} {unit}"


def panels(given: Sequence[str]) -> dict[str, type[Panel]]:
    """All panels of a page by name: ours, other people's that are installed, and those that are given, FILE.py:Class.

    An installed one that cannot be imported is shown as such; a given one is refused.
    """
    found: dict[str, type[Panel]] = {}
    for name in (*OURS, *(each for each in plugins.names("panels") if each not in OURS)):
        try:
            found[name] = _panel(name)
        except WholebodyError as error:
            found[name] = broken(name, error)
    for each in given:
        kind = _panel(each)
        name = kind.__name__.lower() if plugins.is_in_file(each) else each
        found[name if name not in found or found[name] is kind else f"{name}-{len(found)}"] = kind
    return found


OURS = ("controllers", "events", "balance", "verbs", "parameters", "joints")
"""In the order in which they stand on the page; others come after them."""


def _panel(name: str) -> type[Panel]:
    kind = plugins.load("panels", name)
    if not (isinstance(kind, type) and issubclass(kind, Panel)):
        raise BadConfiguration(f"panel '{name}' is no class that inherits from wholebody.operator.page.panel.Panel")
    return kind
