"""WalkedWorld: a simulation in which a robot is told what to do through channels, pushed, watched and filmed."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import numpy as np

from wholebody.behaviors.walking_goals import WalkingClient
from wholebody.errors import NoController
from wholebody.operator.recordings.film import Film
from wholebody.operator.recordings.script import Script
from wholebody.robots.robot import Robot
from wholebody.simulation import Simulation

PUSHES = ((1.0, 0.0), (0.0, 1.0), (-0.8, 0.0), (0.0, -1.0))
"""Directions in the axes of the robot, as shares of the force."""
BETWEEN_PUSHES = 1.6  # s
FALLEN = math.radians(45)
LOOK_EVERY = 20
"""Periods after which it looks again whether there is a controller."""


class WalkedWorld(Simulation):
    """A simulation that has a script done by a walking controller, and notes what is true of the robot meanwhile.

    No filming and no busy machine decides the walk: the world waits for a controller that is two periods behind.
    """

    patience = 0.1  # s, how long it waits in one period

    def __init__(
        self, robot: Robot, name: str, lines: list[str], force: float = 0.0, scene: str = "flat", **more: Any
    ) -> None:
        super().__init__(robot, scene, **more)
        self.script = Script(lines, {"push": self._plan_pushes})
        self.film: Film | None = None
        self.force = force  # N
        self.scene = scene
        self.fallen = False
        self.pushed: list[tuple[float, float, float]] = []  # time, and force in world
        self.rows: list[tuple[float, ...]] = []
        self.client: WalkingClient | None = None
        self.name = name
        self._height = float(self.com_in_world[2])

    def advance(self) -> None:
        """One period, with all that there is to see."""
        if self.client is not None:
            self._wait_for_controller(self.client)
        super().advance()
        periods = round(self.time / self.period)
        if self.client is None:
            if periods % LOOK_EVERY == 0:
                with contextlib.suppress(NoController):
                    self.client = WalkingClient(self.name, timeout=0.0)
        else:
            self.script.go_on(self.client, self.time)
        if self.script.now and self.film is not None:
            self.film.note(self)
        if self.script.now and periods % 4 == 0:
            self._note()

    def close(self) -> None:
        """Stop, and let go of the controller."""
        if self.client is not None:
            self.client.close()
        super().close()

    def _wait_for_controller(self, client: WalkingClient) -> None:
        try:
            client.wait_until(lambda doing: doing.time > self.time - 1.5 * self.period, timeout=self.patience)
        except NoController:
            if not client.alive:
                client.close()
                self.client = None

    def _plan_pushes(self, _: float) -> float:
        """Push from four sides, one after the other; how long it takes."""
        turned = self.base_to_world[:2, :2]
        trunk = max(self.robot.links, key=lambda link: link.mass).name
        for number, direction in enumerate(PUSHES):
            x, y = turned @ np.array(direction) * self.force
            when = self.time + 0.8 + number * BETWEEN_PUSHES
            self.push(trunk, (float(x), float(y), 0.0), 0.1, start=when)
            self.pushed.append((when, float(x), float(y)))
        return 0.8 + len(PUSHES) * BETWEEN_PUSHES

    def _note(self) -> None:
        com, up = self.com_in_world, self.base_to_world[:3, :3]
        loads = [0.0, 0.0]
        forces = self.truth.force_torque.force
        for number, sensor in enumerate(self.robot.sensors_of("force_torque")):
            for side, sole in enumerate(("left_sole", "right_sole")):
                if sensor.link == self.robot.surface(sole).link:
                    turned = self.link_to_world(sensor.link)[:3, :3] @ sensor.at.rotation
                    loads[side] = float(turned[2] @ forces[number])
        tilt = math.acos(min(1.0, float(up[2, 2])))
        yaw = math.atan2(up[1, 0], up[0, 0])
        self.rows.append((self.time, *com, tilt, yaw, loads[0], loads[1]))
        self.fallen = self.fallen or tilt > FALLEN or float(com[2]) < 0.6 * self._height

    def where(self) -> str:
        """Where the robot is, in words."""
        x, y, _ = self.com_in_world
        R = self.base_to_world
        return f"at {x:z.2f}, {y:z.2f} m, turned {math.degrees(math.atan2(R[1, 0], R[0, 0])):z.0f}°"

    def summary(self, seconds: float) -> str:
        """How it went, in a line."""
        table = np.array(self.rows) if self.rows else np.zeros((1, 8))
        trouble = self.script.trouble
        verdict = "fell" if self.fallen else "stands" if not trouble else f"stopped: {trouble}"
        tilt = math.degrees(table[:, 4].max())
        pushes = f", {len(self.pushed)} pushes of up to {self.force:.0f} N" if self.pushed else ""
        return (
            f"it {verdict} after {self.time:.1f} s, {self.where()}; tilt at most {tilt:.1f}°{pushes}, "
            f"{self.time / max(seconds, 1e-9):.1f} × real time"
        )
