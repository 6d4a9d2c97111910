"""ObjectSearch: what the robot has seen, by the names that people gave it; and looking until a place is sure."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator

import numpy as np

from wholebody.errors import Refused
from wholebody.locomotion.walking.footsteps import Place
from wholebody.operator.head import HeadMover
from wholebody.operator.robot.localization import Localization
from wholebody.operator.robot.steps import Step, Until
from wholebody.perception.objects import ACCURATE, SeenObject, SeenObjects
from wholebody.robots import Robot
from wholebody.robots.geometry import placements
from wholebody.robots.robot import Array

PATIENCE = 15.0
"""s that it looks at one object, of the robot's time and of ours: a simulation may be faster than its camera."""
FRESH = 0.4
"""s of looks, at least, once the head points there."""
AIMED = math.radians(5.0)
"""How far an object may turn out to be aside of where the head points, before it points there anew."""
THERE = 0.08
"""m from where it was put at which a thing is still there."""
NONE = "none_of_these"

Point = tuple[float, float, float]


class ObjectSearch:
    """Candidates by the names that perception gives them, and objects by the names that people gave."""

    def __init__(self, robot: Robot, name: str, where: Localization, head: HeadMover) -> None:
        self._seen_objects, self._where, self._head = SeenObjects(name), where, head
        self.clock = time.monotonic
        self._called: dict[str, str] = {}
        self._told: dict[str, bool] = {}
        self._eye = self._eye_in_base(robot)

    def all(self) -> tuple[SeenObject, ...]:
        """Everything that was seen."""
        return self._seen_objects.newest()

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

    def forget(self, name: str) -> None:
        """Nobody knows any more which candidate has a name: it was carried away from there."""
        self._called.pop(name, None)

    def item(self, name: str) -> SeenObject | None:
        """The object of a name, or a candidate; None if nobody has said which it is, or if it is not there any more."""
        wanted = self._called.get(name, name)
        return next((each for each in self.all() if each.name == wanted), None)

    def in_base(self, position_in_world: tuple[float, float, float]) -> Array:
        """A place as seen from the base, m."""
        base_to_world = self._where.base()
        if base_to_world is None:
            raise Refused("nobody knows where the robot is: it has no way to tell before it stands on its legs")
        return np.asarray(base_to_world[:3, :3].T @ (np.array(position_in_world) - base_to_world[:3, 3]))

    def on_map(self, item: SeenObject) -> tuple[float, float]:
        """Where a thing is on the map, m: that is shifted if somebody knew better where the robot is."""
        return self._where.on_map(*item.position[:2])

    def off_map(self, x: float, y: float) -> tuple[float, float]:
        """A place on the map in the state's world, m."""
        moved = self._where.on_map(0.0, 0.0)
        return x - moved[0], y - moved[1]

    @property
    def here(self) -> Place:
        """Where the robot is on the map, and how it is turned."""
        return self._where.estimate().place

    def positions(self) -> Array | None:
        """Of all joints, as measured; None if nobody tells."""
        state = self._where.state()
        return None if state is None else np.nan_to_num(state.position)

    def now(self) -> float:
        """Seconds of the robot's time."""
        state = self._where.state()
        return 0.0 if state is None else state.time

    def at(self, name: str) -> Iterator[Step]:
        """Point the head at an object, and look until one is sure enough to grasp it."""
        yield from self.roughly(name, ACCURATE)

    def roughly(self, name: str, deviation: float) -> Iterator[Step]:
        """Point the head at an object, and look until one knows its place to a standard deviation, m."""

        def sure() -> bool:
            seen = self.item(name)
            return seen is not None and seen.deviation <= deviation and seen.visible

        def complaint() -> str:
            seen = self.item(name)
            if seen is None or not seen.visible:
                return f"the {name} is not in view; look again"
            if seen.deviation <= deviation:
                return f"the camera tells nothing new of the {name}; look again"
            return f"the place of the {name} is known to {seen.deviation * 1000:.0f} mm only; look again, from nearer"

        place = [self.must_know(name).position]

        def there() -> Point:
            seen = self.item(name)
            place[0] = place[0] if seen is None else seen.position
            return place[0]

        yield self._look(there, sure, complaint)

    def whether(self, name: str, place: Point) -> Step:
        """Look whether a thing is where it was put, in world; what is seen there has its name from then on."""

        def there() -> bool:
            for each in self.all():
                if each.visible and math.dist(each.position, place) < THERE:
                    self._called[name] = each.name
                    return True
            return False

        return self._look(lambda: place, there, lambda: f"the {name} is not where it was put down; look around")

    def _look(self, place: Callable[[], Point], so: Callable[[], bool], complaint: Callable[[], str]) -> Step:
        """Point the head at a place in world, and look until something is so; what was seen before does not count.

        A look may tell that the place is another: the head follows it.
        """
        aimed, since = self._bearing(place()), math.inf
        self._head.look(*aimed)

        def fresh() -> bool:
            nonlocal aimed, since
            if not self._head.arrived:
                return False
            if math.dist(aimed, there := self._bearing(place())) > AIMED:
                aimed, since = there, math.inf
                self._head.look(*aimed)
                return False
            since = min(since, self.now())
            newest = self.all()  # also takes the time of it
            return bool(newest) and self._seen_objects.time >= since + FRESH

        begin, started = self.now(), self.clock()

        def waited() -> float:
            return min(self.now() - begin, self.clock() - started)

        return Until(lambda: fresh() and so(), waited, PATIENCE, complaint)

    def _bearing(self, place: Point) -> tuple[float, float]:
        """Pan and tilt of the head that looks at a place in world, rad."""
        x, y, z = self.in_base(place) - self._eye
        return math.atan2(y, x), math.atan2(z, math.hypot(x, y))

    def remarks(self) -> Iterator[str]:
        """What is worth telling since it was last asked: objects seen for the first time, or accurately at last."""
        for each in self.all():
            if each.name not in self._told or (each.accurate and not self._told[each.name]):
                self._told[each.name] = each.accurate
                yield f"{self.in_words(each)}"

    def in_words(self, item: SeenObject) -> str:
        """Where a thing is, and how sure that is."""
        far = math.dist(self.here[:2], self.on_map(item))
        verdict = "accurate enough to grasp" if item.accurate else "look again"
        name = self.names().get(item.name, item.name)
        return f"{name} {far:.2f} m away ± {item.deviation * 1000:.0f} mm: {verdict}"

    def must_know(self, name: str) -> SeenObject:
        """The object of a name, or a candidate, that is still where it was."""
        item = self.item(name)
        if item is None:
            raise Refused(f"the {name} is not where it was; look around, and say GOTO OBJECT({name}) again")
        return item

    def _eye_in_base(self, robot: Robot) -> Array:
        cameras = robot.sensors_of("camera")
        if not cameras:
            return np.zeros(3)
        return np.asarray((placements(robot, robot.posture("stand"))[cameras[0].link] @ cameras[0].at.matrix)[:3, 3])
