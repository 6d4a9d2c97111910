"""Looking: what the robot has seen, as people talk of it; and how it looks at a thing until it is sure where it is."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from wholebody.cli.head_mover import HeadMover
from wholebody.cli.steps import Step, Until
from wholebody.cli.whereabouts import Whereabouts
from wholebody.errors import Refused
from wholebody.locomotion.footsteps import Place
from wholebody.perception.seen_channel import Sighted, Sightings
from wholebody.robots import Robot
from wholebody.robots.geometry import placements
from wholebody.robots.robot import Array

PATIENCE = 8.0
"""s of the robot's time that it looks at one thing."""
FRESH = 0.4
"""s of looks, at least, once the head points there."""
NONE = "none_of_these"


class Looking:
    """Candidates by the names that perception gives them, and things by the names that people gave."""

    def __init__(self, robot: Robot, name: str, where: Whereabouts, head: HeadMover) -> None:
        self._sightings, self._where, self._head = Sightings(name), where, head
        self._called: dict[str, str] = {}
        self._told: dict[str, bool] = {}
        self._eye = self._eye_in_base(robot)

    def all(self) -> tuple[Sighted, ...]:
        """Everything that was seen."""
        return self._sightings.newest()

    def names(self) -> dict[str, str]:
        """What people call each candidate that they have named."""
        return {candidate: name for name, candidate in self._called.items()}

    def candidates(self) -> tuple[str, ...]:
        """Among which a person says which is meant, and that it is none of them."""
        return (*(each.name for each in self.all()), NONE)

    def call(self, candidate: str, name: str) -> None:
        """From now on a candidate has a name."""
        if candidate == NONE:
            raise Refused(f"nothing that was seen is the {name}; look around")
        self._called[name] = candidate

    def thing(self, name: str) -> Sighted | None:
        """The thing of a name, or a candidate; None if nobody has said which it is, or if it is not there any more."""
        wanted = self._called.get(name, name)
        return next((each for each in self.all() if each.name == wanted), None)

    def in_base(self, position_in_world: tuple[float, float, float]) -> Array:
        """A place as seen from the base, m."""
        base_to_world = self._where.base()
        if base_to_world is None:
            raise Refused("nobody knows where the robot is: it has no way to tell before it stands on its legs")
        return np.asarray(base_to_world[:3, :3].T @ (np.array(position_in_world) - base_to_world[:3, 3]))

    def on_map(self, thing: Sighted) -> tuple[float, float]:
        """Where a thing is on the map, m: that is shifted if somebody knew better where the robot is."""
        return self._where.on_map(*thing.position[:2])

    def off_map(self, x: float, y: float) -> tuple[float, float]:
        """A place on the map in the state's world, m."""
        moved = self._where.on_map(0.0, 0.0)
        return x - moved[0], y - moved[1]

    @property
    def here(self) -> Place:
        """Where the robot is on the map, and how it is turned."""
        return self._where.sight().place

    def at(self, name: str) -> Iterator[Step]:
        """Point the head at a thing, and look until one is sure enough to grasp it."""
        thing = self._must_know(name)
        x, y, z = self.in_base(thing.position) - self._eye
        self._head.look(math.atan2(y, x), math.atan2(z, math.hypot(x, y)))
        begin = self._now()
        since = [math.inf]

        def sure() -> bool:
            if not self._head.arrived:
                return False
            since[0] = min(since[0], self._now())
            seen = self.thing(name)
            looked = self._sightings.time >= since[0] + FRESH
            return looked and seen is not None and seen.accurate and seen.visible

        def complaint() -> str:
            seen = self.thing(name)
            if seen is None or not seen.visible:
                return f"the {name} is not in view; look again"
            return f"the place of the {name} is known to {seen.deviation * 1000:.0f} mm only; look again, from nearer"

        yield Until(sure, self._now, begin + PATIENCE, complaint)

    def remarks(self) -> Iterator[str]:
        """What is worth telling since it was last asked: things seen for the first time, or accurately at last."""
        for each in self.all():
            if each.name not in self._told or (each.accurate and not self._told[each.name]):
                self._told[each.name] = each.accurate
                yield f"{self.in_words(each)}"

    def in_words(self, thing: Sighted) -> str:
        """Where a thing is, and how sure that is."""
        far = math.dist(self.here[:2], self.on_map(thing))
        verdict = "accurate enough to grasp" if thing.accurate else "look again"
        name = self.names().get(thing.name, thing.name)
        return f"{name} {far:.2f} m away ± {thing.deviation * 1000:.0f} mm: {verdict}"

    def _must_know(self, name: str) -> Sighted:
        thing = self.thing(name)
        if thing is None:
            raise Refused(f"the {name} is not where it was; look around, and say GOTO OBJECT({name}) again")
        return thing

    def _now(self) -> float:
        state = self._where.state()
        return 0.0 if state is None else float(state["time"])

    def _eye_in_base(self, robot: Robot) -> Array:
        cameras = robot.sensors_of("camera")
        if not cameras:
            return np.zeros(3)
        return np.asarray((placements(robot, robot.posture("stand"))[cameras[0].link] @ cameras[0].at.matrix)[:3, 3])
