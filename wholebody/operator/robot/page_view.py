"""PageView: what the operator page shows of a running robot."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from wholebody.drivers import Names
from wholebody.operator.monitor.watcher import Watcher
from wholebody.operator.page.forms import Field
from wholebody.operator.page.panel import PanelContext
from wholebody.operator.page.poses import Poses, drawing
from wholebody.operator.robot.companions import Companions
from wholebody.operator.robot.robot import WalkingBody
from wholebody.operator.robot.subscriptions import StateMachines, TaskMarkers
from wholebody.perception.camera_frames import Frames
from wholebody.perception.objects import SeenObject
from wholebody.robots import Robot


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
                "condition": "fallen" if self._body.fallen() else picture.condition,
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
