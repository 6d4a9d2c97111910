"""Legs: the walking controller of a running robot, which may come and go."""

from __future__ import annotations

import contextlib
import time

from wholebody.behaviors.walking_client import WalkingClient
from wholebody.behaviors.walking_orders import Doing
from wholebody.errors import NoController, WholebodyError
from wholebody.locomotion.footsteps import Place

LOOK_EVERY = 0.2
"""s"""


class Legs:
    """Of the robot of a name; whether its controller lives is looked up a few times a second, which takes a while."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._client: WalkingClient | None = None
        self._looked = 0.0

    def connected(self) -> WalkingClient:
        """The controller's client; NoController if none runs."""
        if time.monotonic() > self._looked + LOOK_EVERY:
            self._looked = time.monotonic()
            if self._client is not None and not self._client.alive:
                self.close()
            if self._client is None:
                with contextlib.suppress(NoController):
                    self._client = WalkingClient(self._name, timeout=0.0)
        if self._client is None:
            raise NoController("no walking controller runs, or it has ended")
        return self._client

    def doing(self) -> Doing | None:
        """What the controller does; None if none runs."""
        try:
            return self.connected().doing
        except WholebodyError:
            return None

    def place(self) -> Place | None:
        """Where it has walked by plan."""
        doing = self.doing()
        return None if doing is None else doing.place

    def close(self) -> None:
        """Let go of channels."""
        if self._client is not None:
            self._client.close()
            self._client = None
