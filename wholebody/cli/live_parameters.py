"""LiveParameters: one's own parameters and those of every controller that runs on the robot, as texts by name."""

from __future__ import annotations

import time
from typing import NamedTuple

from wholebody.cli.params import in_words
from wholebody.errors import BadParameter, UnknownName, WholebodyError
from wholebody.parameters.reflection import About, Parameters, Value
from wholebody.parameters.remote import Remote, running

LOOK_EVERY = 2.0
"""s from one look for controllers to the next."""
PATIENCE = 0.2
"""s that a controller may take to answer: others wait meanwhile."""


class Listed(NamedTuple):
    """A parameter as a form shows it."""

    name: str
    about: About
    value: str


class LiveParameters:
    """Names are paths for one's own, controller:path for the others'."""

    def __init__(self, robot: str, own: Parameters) -> None:
        self._robot, self._own = robot, own
        self._remotes: dict[str, Remote] = {}
        self._looked = 0.0

    def listed(self) -> list[Listed]:
        """All of them that can be set, with what is known of them."""
        found = [Listed(slot.about.path, slot.about, in_words(slot.value())) for slot in self._own]
        for controller, remote in self._controllers().items():
            try:
                values = remote.values(PATIENCE)
                found += [
                    Listed(f"{controller}:{each.path}", each, in_words(values[each.path]))
                    for each in remote.list()
                    if each.writable
                ]
            except WholebodyError:
                continue  # it has gone, or is busy
        return found

    def values(self) -> dict[str, str]:
        """All of them."""
        return {each.name: each.value for each in self.listed()}

    def set(self, name: str, value: str) -> None:
        """Set one; BadParameter says why not."""
        controller, colon, path = name.partition(":")
        try:
            if not colon:
                self._own.set(name, _given(self._own.slot(name).about, value))
                return
            remotes = self._controllers()
            if controller not in remotes:
                raise UnknownName("controller", controller, remotes)
            remotes[controller].set(path, _given(remotes[controller].about(path), value), PATIENCE)
        except WholebodyError as error:
            raise BadParameter(str(error)) from error

    def _controllers(self) -> dict[str, Remote]:
        now = time.monotonic()
        if now > self._looked + LOOK_EVERY:
            self._looked = now
            here = {controller for robot, controller in running() if robot == self._robot}
            self._remotes = {name: self._remotes.get(name) or Remote(name, self._robot) for name in sorted(here)}
        return self._remotes


def _given(about: About, text: str) -> Value | list[float]:
    """A value as it is typed."""
    if about.kind == "state":
        return text
    try:
        numbers = [float(word) for word in text.split()]
    except ValueError:
        raise BadParameter(f"{about.path} must be numbers, not '{text}'") from None
    return numbers[0] if len(numbers) == 1 else numbers
