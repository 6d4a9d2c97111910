"""WalkingBody: a running robot as the command protocol knows it; it talks to the robot's processes by channels only.

Legs, arms and behaviours are moved by controllers that take goals, the head by references.
What it does for an order, and whether the daemon lets it, are state machines: activity.py.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future

from wholebody.behaviors.arms import hands
from wholebody.behaviors.behavior import Goals
from wholebody.behaviors.reaching import Reaching
from wholebody.behaviors.walking_goals import Doing
from wholebody.drivers import Names
from wholebody.errors import NoController, Refused, WholebodyError
from wholebody.operator.head import HeadMover
from wholebody.operator.map import Map
from wholebody.operator.monitor.posture import FallWatch
from wholebody.operator.rcp.body import Progress, Stage, Underway
from wholebody.operator.rcp.commands import Do, Drive, Goto, Handle, Move, Movement, Order, Position, Stop
from wholebody.operator.rcp.orders import Machine
from wholebody.operator.robot.activity import (
    BODY,
    DRIVING,
    RESTING,
    STEPPING,
    STOPPING,
    TURNING,
    Activity,
    Hold,
)
from wholebody.operator.robot.companions import Companions, StartUp
from wholebody.operator.robot.diagnostics import Diagnostics, footless, of_objects, of_place, of_state
from wholebody.operator.robot.fetching import Fetching
from wholebody.operator.robot.localization import Localization
from wholebody.operator.robot.manipulation import Manipulation
from wholebody.operator.robot.navigation import Legs, Navigation
from wholebody.operator.robot.object_search import ObjectSearch
from wholebody.operator.robot.settings import BodySettings, LiveParameters
from wholebody.operator.robot.steps import Step, Told
from wholebody.parameters.verbs import Verb as BehaviorVerb
from wholebody.processes.registry import WALK
from wholebody.robots import Robot
from wholebody.services import Report
from wholebody.services import Stage as Become

LOG = logging.getLogger(__name__)
ANSWER_WITHIN = 1.0
"""s in which a walking controller takes a stop."""


class WalkingBody:
    """A Body (operator/rcp/body.py). Controllers may come and go."""

    def __init__(
        self, robot: Robot, name: str = "", map: Map | None = None, companions: Companions | None = None
    ) -> None:
        """`companions` are the processes beside it; a walking controller among them that starts is waited for."""
        self.name = Names(name).robot
        self._companions = companions or Companions(name)
        self._fall = FallWatch(robot, self.name)
        self.footless = footless(robot)
        self.map = map or Map()
        self.settings = BodySettings.of(robot)
        self.live = LiveParameters(self.name, self.settings.parameters())
        self.legs = Legs(self.name)
        self.where = Localization(self.name, self.legs.place)
        self.head = HeadMover(robot, self.name, self.settings.head)
        self.search = ObjectSearch(robot, self.name, self.where, self.head)
        self.fetching = self._fetching(robot)
        self.movements: Mapping[str, Movement] = {each.name: each for each in self._movements()}
        self._diagnostics = Diagnostics(self.name, self.legs.doing, self._fall.complaint)
        self.machine, self.hold = Machine(BODY), Hold(self.name)
        self._now = Activity()
        self.goals = Goals(self.name)
        self._news: list[Progress] = []

    # What can be asked.

    def verbs(self) -> Mapping[str, BehaviorVerb]:
        """What its running behaviours can be told."""
        return self.goals.verbs

    def complaint(self, order: Order) -> str:
        """Why an order cannot be taken at all."""
        if isinstance(order, Do):
            self.goals.verb(order.verb)[0].goal(order.arguments)  # or an error of ours, which says why
            return ""
        if isinstance(order, Move) and order.movement == "HEAD":
            return self.head.complaint(order)
        if isinstance(order, Handle) and (complaint := self._handling_complaint(order)):
            return complaint
        doing = self.doing()
        if doing is None:
            return self.cannot_walk()
        if doing.trouble:
            return f"{doing.trouble}; RESUME lets it stand up again, if it can"
        return self._way_complaint(order)

    def cannot_walk(self) -> str:
        """Why it cannot walk, whatever is asked; a controller that starts is waited for, which is no reason."""
        if self.footless:
            return self.footless
        if self.doing() is not None or self._companions.waits_for(WALK):
            return ""
        if self._companions.knows(WALK):
            return "the walking controller has ended: start it again, on the page or by wholebody process walk"
        return "no walking controller runs"

    def strategies(self, order: Order) -> Sequence[str]:
        """Which thing is meant, or which arm shall do it; walking leaves nothing to decide."""
        return self.fetching.strategies(order) if self.fetching is not None and isinstance(order, Handle) else ()

    def begin(self, number: int, order: Order, strategy: str) -> None:
        """Begin an order, or go on with a Drive."""
        try:
            if isinstance(order, Drive) and self._now.number == number and self._now.drive is not None:
                self._now.drive = order
                if self.machine.state == DRIVING:
                    self._drive(order)
                elif isinstance(self._now.step, StartUp) and not (order.forward or order.leftward or order.turn):
                    self._finish(Stage.COMPLETED, "before it began")
                return
            self._leave()
            self._now = Activity(number)
            if isinstance(order, Move) and order.movement == "HEAD":
                self.head.turn(order)
                self.machine.become(TURNING)
            else:
                self._now.drive = order if isinstance(order, Drive) else None
                self._now.steps = self._once_up(order, strategy)
                self._go_on()
        except WholebodyError as error:
            self._fail(str(error))

    def stop(self, number: int) -> None:
        """Stand, after the steps that cannot be taken back; without a walking controller the daemon stops the robot.

        The legs are told first: whatever is wrong with behaviours, head or arms, they stop.
        """
        before, self._now = self._now, Activity(number, since=time.monotonic())
        self.machine.become(STOPPING)
        try:
            self._now.step = self._navigation().stop()
        except NoController:
            self._hold_everything("no walking controller runs")
        except Exception as error:
            LOG.exception("the legs cannot be told to stop")
            self._hold_everything(f"the legs cannot be told to stop ({error})")
        try:
            _cancel(before.step)
            self.head.hold()
            if self.fetching is not None:
                self.fetching.stop()
        except Exception as error:
            LOG.exception("head and arms cannot be told to stop")
            self._now.unstopped = f"head and arms cannot be told to stop: {error}"

    def resume(self) -> Future[str]:
        """Let the daemon follow references again; stand up, if something had gone wrong.

        A thread waits for the daemon, and news() hears of it, so that the command server does not wait.
        """
        return self.hold.resume()

    # What becomes of it.

    def news(self) -> Iterator[Progress]:
        """What happened since it was last asked; the head goes on meanwhile."""
        self.head.update()
        self.hold.look(self._stand_up)
        step = self._now.step
        if self.machine.state == TURNING:
            self._see_head()
        elif step is not None:
            try:
                if not isinstance(step, Told | StartUp):
                    self.legs.connected()
                self._see(step.reports())
            except WholebodyError as error:
                self._fail(str(error))
        news, self._news = self._news, []
        yield from news

    def remarks(self) -> Iterator[str]:
        """What it has seen, and how well its arms reach what they are asked to."""
        yield from self.search.remarks() if self.fetching is None else self.fetching.remarks()

    def troubles(self) -> tuple[str, ...]:
        """What is wrong with the robot, its joints, its daemon, or the walking controller."""
        return self._diagnostics.now()

    def doing(self) -> Doing | None:
        """What the walking controller does; None if none runs."""
        return self.legs.doing()

    def underway(self) -> Underway | None:
        """What it does for the order, and how long that will take."""
        if self.machine.state == TURNING:
            return Underway("turns the head", self.head.left)
        with contextlib.suppress(WholebodyError):
            return None if self._now.step is None else self._now.step.underway()
        return None  # its controller has ended

    def sensors(self) -> dict[str, str]:
        """Every reading, by label."""
        state = self.where.state()
        if state is None:
            return {}
        return {
            **of_state(state),
            **of_place(self.where.estimate(), self.map),
            **of_objects(self.search.all()),
            "head.pan": f"{self.head.pan:.3f}",
            "head.tilt": f"{self.head.tilt:.3f}",
        }

    def parameters(self) -> dict[str, str]:
        """Every parameter, by name."""
        return self.live.values()

    def set_parameter(self, name: str, value: str) -> Future[None] | None:
        """Set one; BadParameter says why not, later if a controller has to be asked."""
        return self.live.set(name, value)

    def position(self) -> Position:
        """Where the robot believes it is."""
        place, _, confidence = self.where.estimate()
        return Position(round(place.x, 3), round(place.y, 3), round(confidence, 3))

    def correct(self, position: Position) -> None:
        """Somebody knows better."""
        self.where.correct(position)

    def close(self) -> None:
        """Let go of head and channels."""
        self.head.close()
        self.live.close()
        self.hold.close()
        self.goals.close()
        if self.fetching is not None:
            self.fetching.close()
        self.legs.close()

    # How it is done.

    def _movements(self) -> Iterator[Movement]:
        yield Movement("WALKING", ("FORWARD", "BACKWARD", "LEFT", "RIGHT"), "STEPS", 50, whole=True)
        yield Movement("TURNING", ("LEFT", "RIGHT"), "DEGREES", 360)
        if (head := self.head.turns()) is not None:
            yield head

    def _fetching(self, robot: Robot) -> Fetching | None:
        """None if the robot has no hands."""
        if not hands(robot):
            return None
        return Fetching(Manipulation(self.name, self.search, Reaching(robot)), self.map, self.settings.use)

    def _handling_complaint(self, order: Handle) -> str:
        if self.fetching is not None:
            return self.fetching.complaint(order)
        if order.verb != "GOTO":
            return f"nobody here can {order.verb.lower()} objects: this robot has no hands"
        known = ", ".join(self.map.objects) or "none"
        return "" if order.object in self.map.objects else f"no object '{order.object}' on the map; there are: {known}"

    def _way_complaint(self, order: Order) -> str:
        if not isinstance(order, Goto):
            return ""
        way = self._navigation().way(order.x, order.y)
        return f"{way.block.name} is in the way" if way.block is not None and not way.occupied else ""

    def _legs_start(self) -> bool:
        return self.doing() is None and self._companions.waits_for(WALK)

    def _once_up(self, order: Order, strategy: str) -> Iterator[Step]:
        """Wait for a walking controller that starts; whether the order can be done is asked again then."""
        if self._legs_start() and not isinstance(order, Do):
            yield StartUp(self._companions, WALK)
            if wrong := self.complaint(order):
                raise Refused(wrong)
        yield from self._steps_for(order, strategy)

    def _steps_for(self, order: Order, strategy: str) -> Iterator[Step]:
        if isinstance(order, Do):
            return iter((Told(self.goals.give(order.verb, *order.arguments)),))
        navigation = self._navigation()
        match order:
            case Move():
                return navigation.move(order)
            case Goto():
                return navigation.goto(order.x, order.y)
            case Handle() if self.fetching is not None:
                return self.fetching.steps(order, strategy, navigation)
            case Handle():
                there = self.map.objects[order.object]
                return navigation.goto(there.x, there.y)
            case Drive() | Stop():
                return navigation.stand()

    def _navigation(self) -> Navigation:
        return Navigation(self.legs.connected(), self.where, self.map, self.settings)

    def _stand_up(self) -> str:
        """Stand up, if something had gone wrong; what is told of it."""
        doing = self.doing()
        if doing is None or not doing.trouble:
            return ""
        self.legs.connected().stand()
        return "; it stands up"

    def _see_head(self) -> None:
        if self.head.arrived:
            self._finish(Stage.COMPLETED)
        elif self.head.stuck:
            self._fail("the head does not come to where it was told to look")

    def _see(self, reports: Sequence[Report]) -> None:
        late = time.monotonic() > self._now.since + ANSWER_WITHIN
        if self.machine.state == STOPPING and not reports and late:
            self._hold_everything("the walking controller does not answer")
        end = next((each for each in reports if each.stage.final), None)
        if end is None:
            return
        if end.stage is not Become.SUCCEEDED:
            self._fail(end.text or end.stage.name.lower())
        elif self.machine.state == STEPPING:
            self._go_on()
        else:
            self._finish(Stage.COMPLETED)

    def _go_on(self) -> None:
        """Give a controller the next step."""
        self._now.step = next(self._now.steps, None)
        if self._now.step is not None:
            self.machine.become(STEPPING)
        elif self._now.drive is not None:
            self.machine.become(STEPPING)
            self._drive(self._now.drive)
        else:
            self._finish(Stage.COMPLETED)

    def _drive(self, drive: Drive) -> None:
        self._now.step = self._navigation().drive(drive)
        self.machine.become(DRIVING)

    def _hold_everything(self, why: str) -> None:
        self.hold.everything()
        self._finish(Stage.COMPLETED, f"{why}: the daemon holds every joint; RESUME lets it go on")

    def _fail(self, why: str) -> None:
        self._finish(Stage.FAILED, why)

    def _finish(self, stage: Stage, text: str = "") -> None:
        now = self._now
        if stage is Stage.COMPLETED and now.unstopped:
            stage, text = Stage.FAILED, f"the legs stand, but {now.unstopped}"
        self._news.append(Progress(now.number, stage, text))
        self._rest()

    def _leave(self) -> None:
        """Another order takes the place of the one under way: legs and arms hear of theirs, a behaviour of that."""
        _cancel(self._now.step)
        self._rest()

    def _rest(self) -> None:
        self._now.steps, self._now.step, self._now.drive = iter(()), None, None
        if self.machine.state != RESTING:
            self.machine.become(RESTING)


def _cancel(step: Step | None) -> None:
    """Cancel a behaviour's goal."""
    if isinstance(step, Told):
        step.handle.cancel()
