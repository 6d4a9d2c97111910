"""WalkingClient: tells a robot that runs where to walk, from any process, and hears what becomes of it.

with WalkingClient("robot") as robot:
    robot.wait(robot.stand())
    robot.wait(robot.walk(distance=2.0))
    robot.turn(math.pi / 2)
    robot.send(Go(forward=0.5))      # any goal of walking_goals.py
    robot.stop()
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import ClassVar

from wholebody.behaviors.walking_goals import (
    CONTROLLER,
    MOST_FOOTSTEPS,
    Doing,
    FollowFootsteps,
    Go,
    KeepVelocity,
    Stand,
    StepInPlace,
    Stop,
    read_doing,
)
from wholebody.channels.directory import Machine
from wholebody.drivers import Names
from wholebody.errors import BadFootsteps, NoController, NoServer
from wholebody.locomotion.walking.footsteps import Footstep
from wholebody.services import Client
from wholebody.services.client import SLICE


class WalkingClient(Client):
    """Every goal returns at once with its number; `wait` and `reports` tell what becomes of it."""

    missing: ClassVar[type[NoServer]] = NoController
    does: ClassVar[str] = "walking"

    def __init__(
        self, robot: str = "", controller: str = CONTROLLER, timeout: float = 10.0, connect: str | Machine = ""
    ) -> None:
        self._robot, self._controller = Names(robot).robot, controller
        super().__init__(Names(robot).service(controller), timeout, connect=connect)

    # What one tells it.

    def stand(self, seconds: float = 2.0) -> int:
        """Stand up and balance; if it does already, stop."""
        return self.send(Stand(seconds))

    def walk(
        self,
        distance: float | None = None,
        velocity: Sequence[float] | None = None,
        footsteps: Sequence[Footstep] | None = None,
        steps_in_place: int | None = None,
        lasts: float = KeepVelocity.lasts,
    ) -> int:
        """Walk so far forward (m), or at a velocity (m/s, m/s, rad/s) for a time, or along footsteps, or in place."""
        given = [each for each in (distance, velocity, footsteps, steps_in_place) if each is not None]
        if len(given) != 1:
            raise BadFootsteps("say either a distance, a velocity, footsteps, or how many steps in place; one of them")
        if velocity is not None:
            forward, leftward, turn = (*velocity, 0.0, 0.0)[:3]
            return self.send(KeepVelocity(forward, leftward, turn, lasts), keep=0.0)  # who wants it repeats it
        if footsteps is not None:
            if not 0 < len(footsteps) <= MOST_FOOTSTEPS:
                raise BadFootsteps(f"{len(footsteps)} footsteps in one goal; give 1 to {MOST_FOOTSTEPS}")
            return self.send(FollowFootsteps(tuple(footsteps)))
        if distance is not None:
            return self.go(distance)
        return self.send(StepInPlace(steps_in_place or 0))

    def go(self, forward: float = 0.0, leftward: float = 0.0, turn: float = 0.0) -> int:
        """Walk to a place seen from where it stands, or will stand when it has stopped: m, m, rad."""
        return self.send(Go(forward, leftward, turn))

    def turn(self, angle: float) -> int:
        """Turn on the spot, to the left if positive, rad."""
        return self.go(turn=angle)

    def stop(self) -> int:
        """Stand, after the steps that cannot be taken back."""
        return self.send(Stop())

    # What it answers.

    @property
    def doing(self) -> Doing:
        """What the controller does now."""
        self._doing.latest()
        return read_doing(self._doing.message)

    def wait_until(self, so: Callable[[Doing], bool], timeout: float = 60.0) -> Doing:
        """Wait until something is so of what the controller does; NoController if it is not in time."""
        end = time.monotonic() + timeout
        while not so(self.doing):
            if not self._doing.wait(SLICE) and not self.alive:
                raise NoController(f"{self} has ended")
            if time.monotonic() > end:
                raise NoController(f"{self} did not come to what was awaited within {timeout:g} s")
        return read_doing(self._doing.message)

    def __str__(self) -> str:
        """Who is at the other end."""
        return f"the {self.does} controller '{self._controller}' of '{self._robot}'"

    @property
    def remedy(self) -> str:
        """How the controller is started."""
        return f"; start it: wholebody {self._controller} --name {self._robot}"
