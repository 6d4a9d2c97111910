"""What becomes of a walk: a world that watches it, pushes the robot when it waits, and a report with a plot."""

from __future__ import annotations

import math
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from wholebody.channels import Channel
from wholebody.messages import event
from wholebody.robots.robot import Robot
from wholebody.simulation import Simulation
from wholebody.simulation.film import Recording

PUSHES = ((1.0, 0.0), (0.0, 1.0), (-0.8, 0.0), (0.0, -1.0))
"""Directions in the axes of the robot, as shares of the force."""
BETWEEN_PUSHES = 1.6  # s
FALLEN = math.radians(45)
PATIENCE = 0.1
"""s. How long the world waits for the controller in one period."""


class Watched(Simulation):
    """A simulation that hears what the controller has done, and notes what is true of the robot."""

    def __init__(self, robot: Robot, **more: Any) -> None:
        super().__init__(robot, "flat", **more)
        self.recording: Recording | None = None
        self.force = 0.0
        self.doing, self.trouble, self.ended, self.fallen = "starts", "", False, False
        self.events: list[tuple[float, str]] = []
        self.pushed: list[tuple[float, float, float]] = []  # time, and force in world
        self.rows: list[tuple[float, ...]] = []
        self._reader: Any = None
        self._references: Any = None
        self._height = float(self.com_in_world[2])

    def listen(self, events: str, references: str, stack: ExitStack) -> None:
        """Hear what the controller says on these channels."""
        self._reader = stack.enter_context(Channel(events, event()).reader())
        self._references = stack.enter_context(Channel(references, self.robot.reference_dtype()).reader())

    def advance(self) -> None:
        """One period, with all that there is to see."""
        if self.events:
            self._wait_for_controller()
        super().advance()
        while self._reader is not None and self._reader.next():
            self._hear(self._reader.message)
        if self.recording is not None and self.events:
            self.recording.look(self)
        if round(self.time / self.period) % 4 == 0 and self.events:
            self._note()

    def _wait_for_controller(self) -> None:
        """Let no filming and no busy machine decide the walk: the world waits for who is two periods behind."""
        until = time.monotonic() + PATIENCE
        self._references.latest()
        while self._references.message["time"] < self.time - 1.5 * self.period and time.monotonic() < until:
            self._references.wait(0.01)

    def _hear(self, message: Any) -> None:
        what = bytes(message["name"]).decode()
        self.events.append((float(message["time"]), what))
        self.doing = what
        if what.startswith("turn"):
            self._plan_pushes()
        if what == "end":
            self.ended, self.trouble = True, bytes(message["text"]).decode()

    def _plan_pushes(self) -> None:
        turned = self.base_to_world[:2, :2]
        trunk = max(self.robot.links, key=lambda link: link.mass).name
        for number, direction in enumerate(PUSHES):
            x, y = turned @ np.array(direction) * self.force
            when = self.time + 0.8 + number * BETWEEN_PUSHES
            self.push(trunk, (float(x), float(y), 0.0), 0.1, start=when)
            self.pushed.append((when, float(x), float(y)))

    def _note(self) -> None:
        com, up = self.com_in_world, self.base_to_world[:3, :3]
        loads = [0.0, 0.0]
        forces = self.truth["force_torque"]["force"]
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
        return f"at {x:.2f}, {y:.2f} m, turned {math.degrees(math.atan2(R[1, 0], R[0, 0])):.0f}°"

    def summary(self, seconds: float) -> str:
        """How it went, in a line."""
        table = np.array(self.rows) if self.rows else np.zeros((1, 8))
        verdict = "fell" if self.fallen else "stands" if not self.trouble else f"stopped: {self.trouble}"
        tilt = math.degrees(table[:, 4].max())
        return (
            f"it {verdict} after {self.time:.1f} s, {self.where()}; tilt at most {tilt:.1f}°, "
            f"{len(self.pushed)} pushes of up to {self.force:.0f} N, {self.time / max(seconds, 1e-9):.1f} × real time"
        )


def write_report(out: Path, robot: Robot, world: Watched, stabilizer: str, seconds: float) -> None:
    """A page of text, and a plot if there is something to draw with."""
    lines = [f"# {robot.title or robot.name} walks", "", world.summary(seconds), "", f"Stabilizer: {stabilizer}.", ""]
    lines += ["| time/s | done |", "|---|---|", *(f"| {when:.2f} | {what} |" for when, what in world.events), ""]
    lines += ["| push at/s | x/N | y/N |", "|---|---|---|"]
    lines += [f"| {when:.2f} | {x:.0f} | {y:.0f} |" for when, x, y in world.pushed]
    if world.rows:
        draw(out / "walk.png", np.array(world.rows), world)
        lines += ["", "![the walk](walk.png)"]
    (out / "report.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def draw(path: Path, rows: Any, world: Watched) -> None:
    """Centre of mass, tilt and what the feet bear, over time."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(3, 1, figsize=(9, 8), sharex=True)
    for column, name in ((1, "x"), (2, "y"), (3, "z")):
        axes[0].plot(rows[:, 0], rows[:, column], label=f"centre of mass, {name}")
    axes[1].plot(rows[:, 0], np.degrees(rows[:, 4]), label="tilt of the pelvis")
    axes[2].plot(rows[:, 0], rows[:, 6], label="left foot")
    axes[2].plot(rows[:, 0], rows[:, 7], label="right foot")
    for axis, unit in zip(axes, ("m", "°", "N"), strict=True):
        axis.set_ylabel(unit)
        axis.grid(alpha=0.3)
        for when, *_ in world.pushed:
            axis.axvline(when, color="tab:red", alpha=0.4)
        axis.legend(loc="upper left", fontsize="small")
    axes[2].set_xlabel("simulated time/s; red: pushed")
    figure.tight_layout()
    figure.savefig(path, dpi=80)
    plt.close(figure)
