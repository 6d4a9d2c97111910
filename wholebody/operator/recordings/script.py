"""Script: one order to a walking robot after the other, each when the one before is done; it never waits itself."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

from rich.console import Console

from wholebody.behaviors.walking_goals import GOALS, WalkingClient
from wholebody.errors import BadFootsteps, GoalNotDone, NoController
from wholebody.locomotion.walking.footsteps import Feet, Footstep, Place, StepLimits, in_place, to_place
from wholebody.parameters.verbs import described, verbs_in
from wholebody.processes import lifecycle, silence
from wholebody.processes.registry import DAEMON, Role, process_of, robot_of
from wholebody.services import Stage
from wholebody.services.client import SILENT

Act = Callable[[float], float]
"""What is no order to the robot, such as to push it: with a number, and for how many seconds to wait then."""
ORDERS: dict[str, Callable[[WalkingClient, float], int]] = {
    "stand": lambda robot, seconds: robot.stand(seconds or 2.0),
    "walk": lambda robot, metres: robot.walk(distance=metres),
    "aside": lambda robot, metres: robot.go(leftward=metres),
    "turn": lambda robot, degrees: robot.turn(math.radians(degrees)),
    "step": lambda robot, count: robot.walk(steps_in_place=int(count)),
    "stop": lambda robot, number: robot.stop(),
}
"""What it can be told, with one number each."""
VERBS = verbs_in(described(GOALS))
"""What it can be told, too, as in the console: go 1 turn=30deg."""
STEPS: dict[str, Callable[[Feet, float, StepLimits], tuple[Footstep, ...]]] = {
    "walk": lambda feet, metres, limits: to_place(feet, Place(metres, 0.0, 0.0), limits),
    "aside": lambda feet, metres, limits: to_place(feet, Place(0.0, metres, 0.0), limits),
    "turn": lambda feet, degrees, limits: to_place(feet, Place(0.0, 0.0, math.radians(degrees)), limits),
    "step": lambda feet, count, limits: in_place(feet, int(count), limits),
}
"""The steps that it takes for it."""


class Done(NamedTuple):
    """A line that was done, and when."""

    time: float  # s
    line: str


class Script:
    """Lines such as "walk 2", and acts of one's own by the same words."""

    def __init__(self, lines: Sequence[str], acts: dict[str, Act] | None = None) -> None:
        self._acts: dict[str, Act] = {"wait": lambda seconds: seconds, **(acts or {})}
        self.lines = tuple(lines)
        self._goals: dict[str, Any] = {}  # of lines that are verbs
        self._todo = [self._read(line) for line in lines]
        self._order = 0
        self._until = -math.inf
        self.now = ""
        self.done: list[Done] = []
        self.trouble = ""

    def rehearse(self, feet: Feet, limits: StepLimits) -> None:
        """BadFootsteps if there is a line for which this robot has no steps, before any is done."""
        for line, (word, number) in zip(self.lines, self._todo, strict=True):
            if word in STEPS:
                try:
                    STEPS[word](feet, number, limits)
                except BadFootsteps as error:
                    raise BadFootsteps(f"'{line}': {error}") from error

    @property
    def over(self) -> bool:
        """Whether all is done, or nothing more can be."""
        return bool(self.trouble) or not (self.now or self._todo)

    def go_on(self, robot: WalkingClient, time: float) -> None:
        """See what became of the line under way, and take the next one if it is done."""
        if self.over or time < self._until or (self._order and not self._is_done(robot)):
            return
        if self.now:
            self.done.append(Done(time, self.now))
        self.now, self._order = "", 0
        if self._todo:
            self._begin(robot, *self._todo.pop(0), time)

    def _begin(self, robot: WalkingClient, word: str, number: float, time: float) -> None:
        self.now = f"{word} {number:g}" if number else word
        if word in self._goals:
            self._order = robot.send(self._goals[word])
        elif word in self._acts:
            self._until = time + self._acts[word](number)
        else:
            self._order = ORDERS[word](robot, number)

    def _is_done(self, robot: WalkingClient) -> bool:
        reports = robot.reports(self._order)
        if not reports or not reports[-1].stage.final:
            return False
        last = reports[-1]
        if last.stage is not Stage.SUCCEEDED:
            self.trouble = f"'{self.now}' was {last.stage.name.lower()}: {last.text}"
        return last.stage is Stage.SUCCEEDED

    def _read(self, line: str) -> tuple[str, float]:
        known = (*ORDERS, *self._acts)
        word, *numbers = line.split() or [""]
        if word in VERBS and (word not in ORDERS or any("=" in each for each in numbers)):
            self._goals[line] = VERBS[word].goal(numbers)
            return line, 0.0
        try:
            number = float(numbers[0]) if numbers else 0.0
            if word in known and len(numbers) <= 1 and math.isfinite(number):
                return word, number
        except ValueError:
            pass
        raise BadFootsteps(
            f"'{line}' is no order; say one of {', '.join(known)} and a number, such as 'walk 2', or one of "
            f"{', '.join(VERBS)} with its arguments, such as 'go 1 turn=30deg'"
        )


LOOK_EVERY = 0.02  # s


class Process(NamedTuple):
    """A controller that can be begun: who talks to it, its role, and options beside the robot's name."""

    client: type[WalkingClient]
    role: Role
    options: Mapping[str, Any] = {}


def follow(name: str, lines: Sequence[str], controller: Process, console: Console) -> None:
    """Tell the robot one line after the other, and say when each is done; GoalNotDone if one is not."""
    script = Script(lines)
    with ExitStack() as stack:
        robot = _joined(stack, name, controller)
        said, hush = 0, _Hush(robot, name, controller.role.name, console)
        while not script.over:
            script.go_on(robot, robot.doing.time)
            for done in script.done[said:]:
                place = robot.doing.place
                console.print(
                    f"{done.time:8.2f} s  {done.line}: at {place.x:.2f}, {place.y:.2f} m, {place.yaw:.2f} rad"
                )
            said = len(script.done)
            hush.look()
            time.sleep(LOOK_EVERY)
    if script.trouble:
        raise GoalNotDone("not done", script.trouble)


class _Hush:
    """Says when a controller falls silent, and why; NoController if it has ended."""

    def __init__(self, robot: WalkingClient, name: str, controller: str, console: Console) -> None:
        self._robot, self._name, self._controller, self._console = robot, name, controller, console
        self._said = False

    def look(self) -> None:
        """Look whether there is anything to say."""
        if not self._robot.alive:
            raise NoController(f"{self._robot} has ended{self._robot.remedy}{self._gone}")
        silent = self._robot.silent_for > SILENT
        if silent and not self._said:
            why = silence.of_controller(self._name, self._controller)
            self._console.print(f"{self._robot} has said nothing for {SILENT:g} s: {why}", soft_wrap=True)
        elif self._said and not silent:
            self._console.print(f"{self._robot} goes on", soft_wrap=True)
        self._said = silent

    @property
    def _gone(self) -> str:
        """Whether the robot has gone, too."""
        if process_of(DAEMON, self._name) is not None:
            return ""
        return f" (the robot '{self._name}' has gone before: {silence.of_robot(self._name)})"


def _joined(stack: ExitStack, name: str, controller: Process) -> WalkingClient:
    """A client of the controller that runs, or of one of our own, which stops the robot and ends with the stack."""
    try:
        return stack.enter_context(controller.client(name, timeout=0.0))
    except NoController:
        robot = robot_of(name)
    child = stack.enter_context(lifecycle.beside(controller.role, name=name, robot=robot, **controller.options))
    child.until_ready()
    return stack.enter_context(controller.client(name))
