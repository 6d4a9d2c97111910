"""PageView: what the operator page shows of a running robot: place, health, state machines, markers of its tasks."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Generic, TypeVar

from wholebody.behaviors.state_machine import ENDING, MachineMessage
from wholebody.channels import directory
from wholebody.channels.subscription import Subscription
from wholebody.control.introspection.markers import DIRECTION, FRAME, POINT, Marker, MarkerMessage
from wholebody.drivers import Names
from wholebody.messages import Record
from wholebody.operator.monitor.watcher import Watcher
from wholebody.operator.page.forms import Field
from wholebody.operator.page.panel import PanelContext
from wholebody.operator.page.poses import Poses, drawing
from wholebody.operator.robot.companions import Companions
from wholebody.operator.robot.robot import WalkingBody
from wholebody.perception.camera_frames import Frames
from wholebody.perception.objects import SeenObject
from wholebody.robots import Robot

LOOK_EVERY = 1.0
"""s from one look for new channels to the next."""


M = TypeVar("M", bound=Record)


class Subscriptions(Generic[M]):
    """ROBOT.NAME.ENDING, by NAME."""

    def __init__(self, robot: str, ending: str, kind: type[M]) -> None:
        self._first, self._ending, self._kind = f"{Names(robot).robot}.", ending, kind
        self._subscriptions: dict[str, Subscription[M]] = {}
        self._looked = float("-inf")

    def all(self) -> dict[str, Subscription[M]]:
        """All that there were, in the order in which they came."""
        if time.monotonic() > self._looked + LOOK_EVERY:
            self._looked = time.monotonic()
            for name in sorted(directory.names()):
                if name.startswith(self._first) and name.endswith(self._ending):
                    short = name[len(self._first) : -len(self._ending)]
                    self._subscriptions.setdefault(short, Subscription(name, self._kind))
        return self._subscriptions


class StateMachines:
    """Those of programs that run (behaviors/state_machine.py)."""

    def __init__(self, name: str) -> None:
        self._subscriptions = Subscriptions(name, ENDING, MachineMessage)

    def newest(self) -> list[dict[str, Any]]:
        """Each machine with its states, transitions and current state; those inside states come after theirs."""
        found: list[dict[str, Any]] = []
        for each in self._subscriptions.all().values():
            message = each.take()
            if message is not None and each.writers:
                found += json.loads(bytes(message.text[: message.size]))["machines"]
        return found


MARKERS_ENDING = ".markers"
GONE = 3.0
"""s without a word after which the markers of a controller are not shown."""

OnMap = Callable[[float, float], tuple[float, float]]


class TaskMarkers:
    """The markers of every controller of a robot that puts them on a channel (control/introspection/markers.py)."""

    def __init__(self, name: str, on_map: OnMap) -> None:
        """`on_map` says where a place of the robot's world is on the map."""
        self._subscriptions, self._on_map = Subscriptions(name, MARKERS_ENDING, MarkerMessage), on_map

    def newest(self) -> list[dict[str, Any]]:
        """All of them, as they are now."""
        found: list[dict[str, Any]] = []
        for controller, each in self._subscriptions.all().items():
            message = each.take()
            if message is not None and each.age < GONE:
                found += [self._marker(controller, marker) for marker in message.markers]
        return found

    def _marker(self, controller: str, marker: Marker) -> dict[str, Any]:
        path = marker.parameter
        return {
            "name": f"{controller}:{marker.task}",
            "parameter": f"{controller}:{path}" if path else "",
            "enabled": marker.enabled,
            "goal": self._place(marker, "goal_"),
            "actual": self._place(marker, ""),
            "reference": {
                "position": self._mapped(marker.reference_position),
                "orientation": marker.reference_orientation.tolist(),
            },
        }

    def _place(self, marker: Marker, which: str) -> dict[str, Any]:
        """A point, and which way it is turned or points, if that counts; what it is not, is null."""
        shows = marker.shows
        return {
            "position": self._mapped(getattr(marker, f"{which}position")),
            "point": bool(shows & POINT),
            "orientation": getattr(marker, f"{which}orientation").tolist() if shows & FRAME else None,
            "direction": getattr(marker, f"{which}direction").tolist() if shows & DIRECTION else None,
        }

    def _mapped(self, position: Any) -> list[float]:
        x, y, z = position.tolist()
        return [*self._on_map(x, y), z]


class PageView:
    """A RobotView (operator/page/server.py)."""

    def __init__(self, body: WalkingBody, robot: Robot, companions: Companions) -> None:
        self.name, self._body, self._robot, self._companions = body.name, body, robot, companions
        self._watcher = Watcher(body.name)
        self.poses = Poses(robot, Names(body.name), body.where.base_on_map).newest
        self._frames = Frames(body.name)
        self.picture = self._frames.newest
        self._machines = StateMachines(body.name)
        self._markers = TaskMarkers(body.name, body.where.on_map)

    def drawing(self) -> dict[str, Any]:
        """The robot, its map and what it can do."""
        return {
            **drawing(self._robot),
            "map": self._body.map.drawing(),
            "cannot": {
                "walk": self._body.footless,
                "grasp": "this robot has no hands" if self._body.fetching is None else "",
            },
            "movements": {name: each.directions for name, each in self._body.movements.items()},
            "verbs": [each.form() | {"name": name} for name, each in self._body.verbs().items()],
        }

    def situation(self) -> dict[str, Any]:
        """Where it is, what is around it, where it looks, what it does."""
        body = self._body
        place, speed, confidence = body.where.estimate()
        around, doing, underway = body.map.around(*place), body.doing(), body.underway()
        return {
            "place": {
                "x": place.x,
                "y": place.y,
                "yaw": place.yaw,
                "speed": speed,
                "confidence": confidence,
                "around": {side: far if math.isfinite(far) else None for side, far in around.items()},
            },
            "head": {"pan": body.head.pan, "tilt": body.head.tilt},
            "underway": None if underway is None else asdict(underway),
            "legs": None
            if doing is None
            else {
                "standing": doing.standing,
                "bearing": doing.bearing.name.lower().replace("_", " "),
                "trouble": doing.trouble,
            },
            "cannot_walk": body.cannot_walk(),
            "held": "" if body.fetching is None else body.fetching.held,
            "seen": [_item(each, body) for each in body.search.all()],
            "markers": self._markers.newest(),
            "machines": self._machines.newest(),
            "camera_view": self._camera_view(),
            "picture_age": self._frames.age,
            "speeds": {"walk": body.settings.walking.speed, "turn": body.settings.walking.turn},
        }

    def _camera_view(self) -> dict[str, Any] | None:
        """From where the newest picture is seen, on the map."""
        view = self._frames.view
        if view is None:
            return None
        camera = list(view.camera)
        camera[3], camera[7] = self._body.where.on_map(camera[3], camera[7])
        return {"camera": camera, "field_of_view": view.field_of_view}

    def news(self) -> dict[str, Any]:
        """How it is."""
        picture = self._watcher.look()
        return {
            "health": {
                "condition": picture.condition,
                "robot": picture.robot or self.name,
                "rate": picture.rate,
                "missed": picture.missed,
                "age": picture.silent if math.isfinite(picture.silent) else None,
                "stopped": picture.stopped,
                "controllers": [
                    {"name": each.name, "rate": each.rate, "age": each.age}
                    for each in picture.controllers
                    if each.joints
                ],
                "faults": [f"{joint}: {faults}" for joint, faults in picture.faults],
            },
        }

    def panel_context(self) -> PanelContext:
        """What panels know of it."""
        companions = self._companions
        return PanelContext(self.name, self._robot, self._parameters, companions.all, companions.begin)

    def _parameters(self) -> list[Field]:
        return [Field.of(each.about, each.value, each.name) for each in self._body.live.listed()]


def _item(item: SeenObject, body: WalkingBody) -> dict[str, Any]:
    x, y = body.search.on_map(item)
    return {
        "name": body.search.names().get(item.name, item.name),
        "position": (x, y, item.position[2]),
        "distance": math.dist(body.search.here[:2], (x, y)),
        "deviation": item.deviation,
        "radius": item.radius,
        "accurate": item.accurate,
        "visible": item.visible,
    }
