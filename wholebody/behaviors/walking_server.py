"""WalkingServer: where a walking robot takes goals from channels, one a cycle, and says what becomes of them.

with WalkingServer(walking, "robot") as server:
    while ...:
        server.serve(time)
        if server.moves:
            walking.cycle(state, reference)
        server.tell(time)
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import ClassVar

from wholebody.behaviors.walking import Walking
from wholebody.behaviors.walking_goals import CONTROLLER, GOALS, Bearing, Stand, Stop, WalkingGoal, doing_record
from wholebody.drivers import Names
from wholebody.errors import BadFootsteps, NoController, NoServer, VelocityClamped, WholebodyError
from wholebody.messages import TEXT_SIZE
from wholebody.parameters.parameter import check_fields
from wholebody.services import Asked, GoalServer, Stage, UnderWay
from wholebody.services.records import fitting

QUIET = 0.1
"""s. How long the robot stands, and no sensor is silent, before a goal counts as reached."""
_BEARING = {"both": Bearing.BOTH, "left": Bearing.LEFT, "right": Bearing.RIGHT}


@dataclass
class _Progress:
    """How far the goal under way has come."""

    until: float  # when its velocity ends
    steps: int  # of its own: when no more are to come, those before it are done, and it begins
    started: bool = False
    quiet_since: float | None = None  # when the robot came to stand, with all its senses


class WalkingServer(GoalServer):
    """Passes goals on to a Walking, and tells what becomes of them, and where it is."""

    missing: ClassVar[type[NoServer]] = NoController

    def __init__(
        self,
        walking: Walking,
        robot: str = "",
        controller: str = CONTROLLER,
        goals: tuple[type[WalkingGoal], ...] = GOALS,
    ) -> None:
        super().__init__(Names(robot).service(controller), goals, doing_record())
        self.walking = walking
        self.moves = False  # whether it was ever told to stand: before that it moves nothing
        self._progress = _Progress(0.0, 0)

    def serve(self, time: float) -> None:
        """Take the next goal, if there is one, and see what becomes of the one under way."""
        if (asked := self.take_goal(time)) is not None:
            self._begin(asked, time)
        if (now := self.under_way.get("")) is not None:
            self._see(now, self._progress, time)

    def tell(self, time: float) -> None:
        """Say what the robot does now."""
        message, walking = self._doing.message, self.walking
        message["time"], message["place"], message["standing"] = time, walking.place, walking.up and walking.standing
        message["bearing"], message["goal"] = self._bearing, self.number
        message["trouble"], message["left"] = fitting(walking.trouble, TEXT_SIZE), walking.left
        sensed, base = walking.sensed, message["base"]
        if sensed is None:
            base[:] = math.nan
        else:
            base[:3], base[3:] = sensed.base_in_world, sensed.orientation
        self._doing.put()

    def give_up(self, slot: str) -> None:
        """Stop, after the steps that cannot be taken back."""
        self._progress.until = 0.0
        if self.walking.up:
            self.walking.stop()

    @property
    def _bearing(self) -> Bearing:
        if not self.walking.up:
            return Bearing.RISING if self.walking.rising else Bearing.NOT_UP
        target = self.walking.walker.target
        return Bearing.BOTH if target is None else _BEARING[target.support]

    def _begin(self, asked: Asked, time: float) -> None:
        goal: WalkingGoal = asked.request
        try:
            self._check(goal)
            kept = self._make_room(goal)
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always", VelocityClamped)
                goal.begin(self.walking)
        except WholebodyError as error:
            self.reply(asked.number, Stage.REJECTED, time, str(error))
            return
        self.moves = self.moves or isinstance(goal, Stand)
        self.accept(asked, time, "; ".join(str(each.message) for each in said))
        self._progress = _Progress(time + goal.holds, self._to_come - kept)

    def _check(self, goal: WalkingGoal) -> None:
        check_fields(goal)
        if goal.needs_standing and not self.walking.up:
            wait = "wait until it does" if self.walking.rising else "tell it to stand first"
            raise BadFootsteps(f"{self.walking.trouble or 'it does not stand yet'}; {wait}")

    def _make_room(self, goal: WalkingGoal) -> int:
        """Stop, if the goal begins where the robot stands; how many steps are to come before its own."""
        if not goal.begins_at_rest:
            return 0
        self.walking.finish()
        return self._to_come

    @property
    def _to_come(self) -> int:
        return len(self.walking.walker.pattern.steps)

    def _see(self, now: UnderWay, progress: _Progress, time: float) -> None:
        walking = self.walking
        if not progress.started and self._to_come <= progress.steps:
            progress.started = True
            self.run(time)
        if walking.trouble and not (isinstance(now.goal, Stop) and walking.up):
            self.finish(Stage.FAILED, time, walking.trouble)
        elif walking.velocity is not None and time >= progress.until:
            walking.finish()
        elif not walking.standing or walking.blind or time < progress.until:
            progress.quiet_since = None
        elif progress.quiet_since is None:
            progress.quiet_since = time
        elif time >= progress.quiet_since + QUIET:
            self.finish(Stage.SUCCEEDED, time)
