"""Crawling: crawl, turn and stop on wrists and knees, as one tells a person.

crawling = Crawling(robots.load("atlas"))
crawling.crawl(distance=2.0)
...
crawling.cycle(state, reference)     # every period
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from wholebody.errors import BadFootsteps, GroundMissing, SensorLost
from wholebody.estimation.support_view import SupportPublisher, SupportView, SupportWatch, draw
from wholebody.locomotion.crawling.crawler import Crawler
from wholebody.locomotion.crawling.gait import CrawlGait
from wholebody.locomotion.crawling.odometry import heading
from wholebody.locomotion.crawling.pattern import ORIGIN
from wholebody.locomotion.walking.footsteps import Place, Velocity
from wholebody.messages import Reference, State
from wholebody.parameters.reflection import Parameters
from wholebody.robots.robot import Robot

NEAR, TURNED = 0.03, math.radians(2.0)
"""m and rad: nearer to its goal the robot is there."""
STEER = 0.25
"""1/s: how strongly it steers back to its way."""
PATIENCE = 0.05
"""s. How long a sensor may be silent."""


class Crawling:
    """A robot that can be told where to crawl at any time; what it is told last counts.

    heading says whether it steers by where its IMU and limbs say it is, or goes blindly as planned. `trouble` says why
    it stopped by itself, if it did: then it rests on its limbs, and does nothing any more. `objection` says why it did
    not go on as told: then it rests too, and may be told to go elsewhere.
    """

    def __init__(self, robot: Robot, gait: CrawlGait | None = None, *, heading: bool = True) -> None:
        self.crawler = Crawler(robot, gait)
        self.trouble = ""
        self._heading = heading
        self._goal: Place | None = None
        self._velocity: Velocity | None = None
        self._way = Place(0.0, 0.0, 0.0)
        self._time, self._lost_since = 0.0, math.inf
        self._stranded = False

    # What one tells it.

    def crawl(self, distance: float | None = None, velocity: Velocity | Sequence[float] | None = None) -> None:
        """Crawl so far forward (m; negative: backward), or on and on at a velocity (m/s, m/s, rad/s)."""
        if (distance is None) == (velocity is None):
            raise BadFootsteps("say either a distance or a velocity; one of them")
        if velocity is not None:
            self._begin(None, Velocity(*(_finite(value) for value in velocity)))
        else:
            self._begin(self.place.beside(_finite(distance), 0.0), None)

    def turn(self, angle: float) -> None:
        """Turn on the spot, to the left if positive, rad; more than half a circle too."""
        x, y, yaw = self.place
        self._begin(Place(x, y, yaw + _finite(angle)), None)

    def stop(self) -> None:
        """Rest on all limbs, after the steps that bring them to their places."""
        self._goal = self._velocity = self.crawler.pattern.goal = None
        self.crawler.pattern.velocity = Velocity()

    def adopt(self, gait: CrawlGait) -> None:
        """Crawl otherwise, from the next step on: longer or shorter steps, slower, higher lifts."""
        self.crawler.adopt(gait)

    @property
    def gait(self) -> CrawlGait:
        """How it crawls."""
        return self.crawler.gait

    @property
    def place(self) -> Place:
        """Where it is, as far as it knows: seen from where it began."""
        return self.crawler.body if self._heading else self.crawler.target.body

    @property
    def standing(self) -> bool:
        """Whether it is done with all that it was told."""
        return self._goal is None and self._velocity is None and self.crawler.pattern.standing

    @property
    def objection(self) -> str:
        """What ground it did not go on to, as far as it knows it."""
        return f"{self.crawler.pattern.objection}; it rests" if self.crawler.pattern.objection else ""

    @property
    def stopped(self) -> str:
        """Why it does not do what it was told, trouble or objection; nothing if it does."""
        return self.trouble or self.objection

    @property
    def progress(self) -> float:
        """The share of the way to its goal that is behind it, 0 to 1; it has no goal: 1."""
        if self._goal is None:
            return 1.0
        return min(max(1.0 - _apart(self.place, self._goal) / max(_apart(self._way, self._goal), 1e-9), 0.0), 1.0)

    # What it does.

    def cycle(self, state: State, reference: Reference) -> None:
        """One period: fill the reference from the state."""
        self._time = state.time
        if self._stranded:
            self.crawler.hold(reference)
            return
        began, steps = self.crawler.pattern.began, self.crawler.pattern.steps
        try:
            self.crawler.cycle(state, reference)
            self._lost_since = math.inf
        except SensorLost as error:
            self._rest_blindly(error, reference)
        except GroundMissing as error:
            self._give_up(error)
            self.crawler.hold(reference)
        if self.crawler.pattern.objection:
            self._goal = self._velocity = None
        elif self.crawler.pattern.steps != steps or (self._goal is not None and self.crawler.pattern.began != began):
            self._steer()

    def _rest_blindly(self, error: SensorLost, reference: Reference) -> None:
        """Hold the last command; if the sensor stays lost, stay there."""
        self._lost_since = min(self._lost_since, self._time)
        if self._time - self._lost_since >= PATIENCE and not self.trouble:
            self.trouble = f"{error}; it rests"
            self.stop()
        self.crawler.hold(reference)

    def _give_up(self, error: GroundMissing) -> None:
        """Take a limb that found no ground back; if this is what went wrong already, or it leans, stay as it is."""
        self.stop()
        self._stranded = error.limb is None or bool(self.trouble)
        if not self._stranded:
            self.crawler.retreat()
        how = "it rests where it is" if self._stranded else "it takes it back and rests"
        self.trouble = self.trouble or f"{error}; {how}"

    def _begin(self, goal: Place | None, velocity: Velocity | None) -> None:
        if self.trouble:
            raise SensorLost(f"it does not crawl any more: {self.trouble}")
        self._goal, self._velocity, self._way = goal, velocity, self.place
        self.crawler.pattern.goal, self.crawler.pattern.objection = None, ""
        self._steer()

    def _steer(self) -> None:
        """The velocity of the next step."""
        if self._goal is not None:
            self._steer_to(self._goal)
        elif self._velocity is not None:
            self.crawler.pattern.velocity = self._on_its_way(self._velocity)

    def _steer_to(self, goal: Place) -> None:
        """So that the body would come to rest there by the step after the next, or as near as it gets by then.

        In a step of T its velocity goes from u, at the end of the step that has just begun, to v, and in another to 0:
        it goes u T/2 + v T. So much haste is only for what is farthest; what else it is off, it makes good in a cycle.
        """
        pattern, gait, there = self.crawler.pattern, self.crawler.gait, self._in_plan(goal)
        way, u = np.array(there.way_from(pattern.body)), np.array(pattern.body_velocity)
        near = abs(way[0]) < NEAR and abs(way[2]) < TURNED
        if near and pattern.standing:
            self._goal = None
            return
        pattern.goal = there
        if near:
            pattern.velocity = Velocity()
            return
        wanted = way / pattern.period
        most = np.abs(way / (gait.forward if way[0] > 0 else gait.backward, gait.aside, gait.turn)).argmax()
        wanted[most] = way[most] / (pattern.period / 4) - u[most] / 2
        pattern.velocity = gait.clamped(Velocity(*wanted.tolist()), pattern.period)

    def _in_plan(self, goal: Place) -> Place:
        """The goal where the plan has it; as soon as limbs are put beside it, it stays there until the robot rests."""
        pattern = self.crawler.pattern
        if pattern.goal is not None and pattern.closing and not pattern.standing:
            return pattern.goal
        return goal.way_from(self.crawler.drift() if self._heading else ORIGIN)

    def _on_its_way(self, velocity: Velocity) -> Velocity:
        """The velocity, and back to the line that it goes along, ahead or aside, if it does not turn."""
        speed = math.hypot(velocity.forward, velocity.leftward)
        if not self._heading or velocity.turn or not speed:
            return velocity
        off, dx, dy = self.place.seen_from(self._way), velocity.forward / speed, velocity.leftward / speed
        beside = dx * off.y - dy * off.x  # to the left of the line
        back = Velocity(STEER * beside * dy, -STEER * beside * dx, -STEER * (off.yaw + 0.5 * abs(dx) * beside))
        return Velocity(*(a + b for a, b in zip(velocity, back, strict=True)))


def _apart(here: Place, goal: Place) -> float:
    """Metres and radians, of which one is as far as the other; whole circles count."""
    return math.hypot(goal.x - here.x, goal.y - here.y) + abs(goal.yaw - here.yaw)


def _finite(value: float | None) -> float:
    if value is None or not math.isfinite(value):
        raise BadFootsteps(f"{value} is nowhere to crawl to; give a finite number")
    return float(value)


EVERY = 10
"""Cycles from one view to the next."""


TRAIL = 120
"""Views of which the picture shows the way of the centre of mass."""


class SupportDisplay:
    """Looks at a crawler as its IMU, encoders and felt loads have it."""

    def __init__(self, crawler: Crawler, publisher: SupportPublisher) -> None:
        self._crawler, self._publisher = crawler, publisher
        self._watch = SupportWatch(crawler.model, [limb.frame for limb in crawler.limbs])
        self._cycle = 0
        self.views: list[SupportView] = []
        self.looks = self.inside = 0

    def look(self, state: State) -> None:
        """After a cycle."""
        self._cycle += 1
        if self._cycle % EVERY:
            return
        q = self._crawler.q.copy()
        q[3:7], q[7:] = state.imu[0].orientation, state.position
        if not np.isfinite(q).all():
            return
        yaw = heading(Rotation.from_quat(q[3:7]).as_matrix())
        view = self._watch.look(q, yaw, self._crawler.loads.touching, state.time)
        self._publisher.put(view)
        self.views = [*self.views[-TRAIL:], view]
        self.looks += 1
        self.inside += view.margin >= 0

    def draw(self, path: Path) -> None:
        """The last view, with the way of the centre of mass; nothing if there was none."""
        if self.views:
            draw(self.views, path)


def crawling_parameters(crawling: Crawling) -> Parameters:
    """What can be tuned while it crawls: gait.forward, gait.swing, gait.pace …; it counts from the next step on."""
    parameters = Parameters()
    parameters.add_record("gait", lambda: crawling.gait, crawling.adopt)
    return parameters
