"""ReachingServer: where the arms of a robot take goals from channels, one a cycle, and say what becomes of them.

with ReachingServer(reaching, "robot") as server:
    while ...:
        reaching.cycle(state, reference)
        server.serve(time)
"""

from __future__ import annotations

from typing import ClassVar

from wholebody.behaviors.arms import SIDES
from wholebody.behaviors.reaching import Reaching
from wholebody.behaviors.reaching_goals import CONTROLLER, GOALS, ReachingGoal, doing_record
from wholebody.drivers import Names
from wholebody.errors import NoController, NoServer, WholebodyError
from wholebody.parameters.parameter import check_fields
from wholebody.services import Asked, GoalServer, Stage


class ReachingServer(GoalServer):
    """Passes goals on to a Reaching; one arm can be told something while the other one moves."""

    missing: ClassVar[type[NoServer]] = NoController

    def __init__(
        self,
        reaching: Reaching,
        robot: str = "",
        controller: str = CONTROLLER,
        goals: tuple[type[ReachingGoal], ...] = GOALS,
    ) -> None:
        super().__init__(Names(robot).service(controller), goals, doing_record())
        self.reaching = reaching

    def serve(self, time: float) -> None:
        """Take the next goal, if there is one, see what becomes of those under way, and say what the arms do."""
        if (asked := self.take_goal(time)) is not None:
            self._begin(asked, time)
        for side in [side for side in self.under_way if not self.reaching.busy(side)]:
            self.finish(Stage.SUCCEEDED, time, slot=side)
        message = self._doing.message
        message["time"], message["taken"] = time, [self.reaching.takes(side) for side in SIDES]
        for name in ("load", "pressed", "left"):
            message[name] = [getattr(self.reaching, name)(side) for side in SIDES]
        message["goal"] = self.number
        self._doing.put()

    def give_up(self, slot: str) -> None:
        """Hold an arm where it is."""
        self.reaching.stop(slot)

    def _begin(self, asked: Asked, time: float) -> None:
        goal: ReachingGoal = asked.request
        try:
            check_fields(goal)
            goal.begin(self.reaching)
        except WholebodyError as error:
            self.reply(asked.number, Stage.REJECTED, time, str(error))
            return
        for side in [] if goal.side else list(self.under_way):
            self.preempt(time, f"order {asked.number} came after it", side)
        self.accept(asked, time, slot=goal.side)
        self.run(time, goal.side)
