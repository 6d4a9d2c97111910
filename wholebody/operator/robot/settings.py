"""How a robot carries out what people ask: the parameters of WalkingBody, which QUERY PARAM and SET know."""

from __future__ import annotations

import contextlib
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

from wholebody.errors import BadParameter, UnknownName, WholebodyError
from wholebody.parameters import Bounds, Unit
from wholebody.parameters.reflection import About, Parameters, in_words
from wholebody.parameters.remote import Remote, running
from wholebody.parameters.text import value_of
from wholebody.robots import Robot
from wholebody.robots.geometry import height

USUAL_HEIGHT = 1.3
"""m. Of the robot that the lengths below are for; those of others are in proportion."""


@dataclass
class WalkingSettings:
    """How it walks.

    step   how long a step of MOVE WALKING is
    aside  how far a step to the side goes
    speed  how fast keys and sticks make it walk
    turn   how fast they make it turn
    """

    step: Annotated[float, Unit("m"), Bounds(0.02, 0.3)] = 0.15
    aside: Annotated[float, Unit("m"), Bounds(0.005, 0.1)] = 0.025
    speed: Annotated[float, Unit("m/s"), Bounds(0.02, 0.5)] = 0.31
    turn: Annotated[float, Unit("rad/s"), Bounds(0.05, 1.0)] = 0.25


@dataclass
class GotoSettings:
    """How it goes somewhere.

    range      how far it stays away from walls and objects
    tolerance  how near it has to come
    """

    range: Annotated[float, Unit("m"), Bounds(0.1, 3.0)] = 0.4
    tolerance: Annotated[float, Unit("m"), Bounds(0.02, 1.0)] = 0.08


@dataclass
class HeadSettings:
    """How it looks around.

    speed  how fast the head turns
    """

    speed: Annotated[float, Unit("rad/s"), Bounds(0.05, 2.0)] = 0.6


@dataclass
class UseSettings:
    """How it uses objects.

    force    how strongly a hand presses on something
    seconds  how long it holds something up
    """

    force: Annotated[float, Unit("N"), Bounds(1.0, 15.0)] = 6.0
    seconds: Annotated[float, Unit("s"), Bounds(0.0, 60.0)] = 3.0


@dataclass
class BodySettings:
    """All of them."""

    walking: WalkingSettings = field(default_factory=WalkingSettings)
    goto: GotoSettings = field(default_factory=GotoSettings)
    head: HeadSettings = field(default_factory=HeadSettings)
    use: UseSettings = field(default_factory=UseSettings)

    @classmethod
    def of(cls, robot: Robot) -> BodySettings:
        """Those that suit a robot's size."""
        usual, scale = WalkingSettings(), height(robot) / USUAL_HEIGHT
        walking = WalkingSettings(usual.step * scale, usual.aside * scale, usual.speed * scale**0.5, usual.turn)
        return cls(walking=walking)

    def parameters(self) -> Parameters:
        """As parameters by path: walking.step, goto.range …"""
        parameters = Parameters()
        parameters.add_attributes("walking", self.walking)
        parameters.add_attributes("goto", self.goto)
        parameters.add_attributes("head", self.head)
        parameters.add_attributes("use", self.use)
        return parameters


LOOK_EVERY = 0.5
"""s from one look at all controllers and their values to the next."""
PATIENCE = 0.2
"""s that a controller may take to answer."""


class Listed(NamedTuple):
    """A parameter as a form shows it."""

    name: str
    about: About
    value: str


class LiveParameters:
    """Names are paths for one's own, controller:path for the others'.

    Controllers are asked by threads, so that nobody here waits: what is listed is what they said last, and what comes
    of setting one of theirs comes when they have answered, or have not within PATIENCE.
    """

    def __init__(self, robot: str, own: Parameters) -> None:
        self._robot, self._own = robot, own
        self._known: dict[str, Listed] = {}
        self._setter = ThreadPoolExecutor(1, "setting")
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._keep_asking, name="parameters", daemon=True)
        self._thread.start()

    def listed(self) -> list[Listed]:
        """All of them that can be set, with what is known of them."""
        own = [Listed(slot.about.path, slot.about, in_words(slot.value())) for slot in self._own]
        return [*own, *self._known.values()]

    def values(self) -> dict[str, str]:
        """All of them."""
        return {each.name: each.value for each in self.listed()}

    def set(self, name: str, value: str) -> Future[None] | None:
        """Set one; BadParameter says why not, of one's own at once, of a controller's in what is returned."""
        if ":" in name:
            return self._setter.submit(self._set_there, name, value)
        try:
            self._own.set(name, value_of(self._own.slot(name).about, value))
        except WholebodyError as error:
            raise BadParameter(str(error)) from error
        return None

    def _set_there(self, name: str, value: str) -> None:
        controller, _, path = name.partition(":")
        try:
            here = _controllers(self._robot)
            if controller not in here:
                raise UnknownName("controller", controller, here)
            with contextlib.closing(Remote(controller, self._robot)) as remote:
                about = remote.about(path)
                now = remote.set(path, value_of(about, value), PATIENCE)
            self._known = self._known | {name: Listed(name, about, in_words(now))}
        except WholebodyError as error:
            raise BadParameter(str(error)) from error

    def close(self) -> None:
        """Ask no more."""
        self._ending.set()
        self._setter.shutdown()
        self._thread.join()

    def _keep_asking(self) -> None:
        remotes: dict[str, Remote] = {}
        while not self._ending.wait(LOOK_EVERY):
            here = _controllers(self._robot)
            for gone in set(remotes) - set(here):
                remotes.pop(gone).close()
            before, known = self._known, dict[str, Listed]()
            for controller in here:
                try:
                    remote = remotes.get(controller) or Remote(controller, self._robot)
                    remotes[controller] = remote
                    known |= _asked(controller, remote)
                except WholebodyError:  # it has gone, or is busy
                    known |= {name: each for name, each in before.items() if name.startswith(f"{controller}:")}
            if self._known is before:  # or somebody has set one meanwhile, which counts more
                self._known = known
        for remote in remotes.values():
            remote.close()


def _controllers(robot: str) -> list[str]:
    return sorted(controller for of, controller in running() if of == robot)


def _asked(controller: str, remote: Remote) -> dict[str, Listed]:
    """All that a controller says of its parameters that can be set."""
    values = remote.values(PATIENCE)
    return {
        f"{controller}:{each.path}": Listed(f"{controller}:{each.path}", each, in_words(values[each.path]))
        for each in remote.list()
        if each.writable
    }
