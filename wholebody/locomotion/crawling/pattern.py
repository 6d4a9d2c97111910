"""CrawlPattern: where limbs and centre of mass are to be while a robot crawls, planned step by step as velocity says.

The body B is a place on the ground that moves at the velocity wanted. In a step the centre of mass leans away from the
limb that is to swing, to where the three others bear it, and the limb swings as soon as this is safe: the centre of
mass is inside their triangle by the margin, and slows down, which takes the zero-moment point deeper inside. The limb
comes down at its neutral place beside where the body will be half a cycle later, so that it bears as long before the
body as behind. Whatever the velocity becomes, it counts from the next step on. At rest, limbs that are not at
their places step there.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from wholebody.locomotion.crawling.footholds import Ground, LevelGround, beside
from wholebody.locomotion.crawling.gait import CrawlGait
from wholebody.locomotion.crawling.step import (
    HIGH,
    KNEES,
    CrawlStep,
    CrawlTarget,
    behind_of,
    bow_of,
    bump,
    foothold_of,
    lean_of,
    objection_to,
    safe_lift,
    seconds_of,
)
from wholebody.locomotion.walking.footsteps import Place, Velocity
from wholebody.model.layout import Array
from wholebody.motion.capture.gait_plan import minimum_jerk

AT_PLACE, FARTHER, FARTHER_BACK = 0.03, 1.4, 1.7
"""m: nearer to its place a limb need not step. And how much farther than in a crawl on and on a limb may be put, if it
is beside the goal then and need not step again: forward, where a knee that is farther below the chest slips, and
backward."""
REST, ORIGIN = Velocity(), Place(0.0, 0.0, 0.0)
HAND_OVER = 0.06
"""s. In which a limb gives away what it bears before it lifts, and takes it up after it came down."""
ALONG, AHEAD, STRAIGHT = 0.3, 0.1, 0.15
"""Shares of the longest stride: above one it goes forward or backward, and does not just turn; above the other, it puts
hands where it has not been. And of the farthest way aside or turn: below, it goes straight."""
HURRY, CALM = 0.95, 0.7
"""Shares of the longest stride: above one, steps at a velocity become quicker, as longer ones do not suffice; below the
other they take their time again. In steps that are quick and short the robot shakes: at 0.05 m/s its centre of mass
was inside of what bears for 60 to 77 % of the time, and once a hand that shook was taken for one without ground."""
RETREATING, OVER = 0.02, 0.1
"""s until a limb that found no ground goes back, and m that it is lifted more than else: it hangs over an edge."""
UNHURRIED = 0.05
"""m that a limb may rise more than on level ground before its climb becomes slower."""


class CrawlPattern:
    """An endless plan; `velocity`, `goal` and `gait` may be set at any time, and count from the next step on.

    At the same velocity, a slower pace of the gait makes longer steps. If it is known where the body will come to rest,
    limbs are put beside that goal as soon as they reach it. `objection` says on what ground a limb was not put, if so:
    then velocity and goal are gone, and limbs stay where they are until it is forgotten.
    """

    def __init__(self, gait: CrawlGait, time: float = 0.0, body: Place = ORIGIN, ground: Ground | None = None) -> None:
        self.gait, self.velocity = gait, REST
        self.goal: Place | None = None
        self.ground = ground or LevelGround()
        self.steps, self.objection = 0, ""
        self._order, self._last, self._left = gait.order, gait.order[-1], np.zeros(3)
        self._stranded = self._ahead = self._landed_ahead = self._brisk = self._hurried = False
        self._durations = gait.swing * np.array(gait.rhythm) + 2 * gait.briefest
        self._step = self._resting(time, gait_places(gait, body), np.zeros(4), np.zeros(2), body, REST)

    @property
    def period(self) -> float:
        """Seconds of a cycle, as the last four steps were."""
        return float(self._durations.sum())

    @property
    def began(self) -> float:
        """When the step that is under way did: what is set from then on counts from the next one on."""
        return self._step.begin

    @property
    def landed(self) -> int:
        """The limb that came down last."""
        return self._last

    @property
    def ahead(self) -> bool:
        """Whether the limb that swings comes down where the robot has not been: in a step forward, not in a turn."""
        return self._ahead

    @property
    def landed_ahead(self) -> bool:
        """Whether the limb that came down last did so where the robot has not been."""
        return self._landed_ahead

    @property
    def body(self) -> Place:
        """Where the body is to be at the end of the step."""
        return self._step.body[1]

    @property
    def body_velocity(self) -> Velocity:
        """The body's at the end of the step."""
        return self._step.velocity[1]

    @property
    def closing(self) -> bool:
        """Whether limbs are put beside the goal already."""
        return self._near(self.body) is not None

    @property
    def _stays(self) -> bool:
        """Whether limbs stay where they are: it gave up, or there was an objection to the ground before it."""
        return self._stranded or self.objection != ""

    @property
    def _idle(self) -> bool:
        """Whether nothing moves in this step."""
        step = self._step
        still = step.body[0] == step.body[1] and bool((step.lean[0] == step.lean[1]).all())
        return step.limb is None and still

    @property
    def standing(self) -> bool:
        """Whether all limbs are on the ground, at their places or to stay, the weight between them, and that is all."""
        return self._idle and self._chosen(self._step.places) is None

    def at(self, time: float) -> CrawlTarget:
        """The target at a time; times never go back."""
        if self._idle and not self.standing:  # it was told to go on: at once
            self._step = replace(self._step, end=min(time, self._step.end))
        while time >= self._step.end:
            self._step = self._next(self._step)
        step = self._step
        body = step.body_at(time)
        places, load = step.places.copy(), np.ones(4)
        ground = places[:, 2].copy()
        load[self._last] = min(1.0, (time - step.begin) / HAND_OVER)
        flies = step.limb is not None and time > step.lift
        if step.limb is not None:
            load[step.limb] = min(load[step.limb], max(0.0, (step.lift - time) / HAND_OVER))
        if flies:
            phase = (time - step.lift) / (step.end - step.lift)
            places[step.limb] += minimum_jerk(phase) * (step.goal - places[step.limb])
            ground[step.limb] = places[step.limb, 2]
            places[step.limb] += step.bow * bump(phase)
        bearing = tuple(not (flies and limb == step.limb) for limb in range(4))
        com = beside(body, self.gait.com) + step.lean_at(time)
        return CrawlTarget(places, ground, step.behind_at(time), bearing, load, com, body)

    def haste(self, time: float) -> float:
        """How fast the plan may go, 1 or less: slowly while a limb swings far up or down, and turns the body by it.

        A limb that found no ground is taken back at once.
        """
        step = self._step
        if step.limb is None or time < step.lift or self._stranded:
            return 1.0
        way = abs(float(step.goal[2] - step.places[step.limb, 2]))
        return UNHURRIED / (float(step.bow[2]) - self.gait.lift + way) if way > HIGH else 1.0

    def retreat(self, time: float) -> None:
        """Take the limb that came down last back to where it came from, and rest between the limbs, for good."""
        here, limb = self.at(time), self._last
        lift = time + RETREATING
        end = lift + self.gait.swing_of(limb, self.gait.forward)
        bow = bow_of(self.gait, self.ground, limb, (here.places[limb], self._left), here.body.yaw)
        bow[2] += OVER
        lean = here.com - beside(here.body, self.gait.com)
        self._stranded, self.velocity = True, REST
        self._step = CrawlStep(
            time, lift, lift, end, limb, here.places, self._left, bow, np.array([here.behind, here.behind]),
            np.array([lean, lean]), (here.body, here.body), (REST, REST),
        )  # fmt: skip

    # --- step by step ------------------------------------------------------------------------------

    def _next(self, done: CrawlStep) -> CrawlStep:
        places = done.places.copy()
        if done.limb is not None:
            self._left = places[done.limb].copy()
            places[done.limb] = done.goal
            self._last, self._landed_ahead = done.limb, self._ahead
            self.steps += 1
        self._ahead = self._along > AHEAD
        if self._near(done.body[1]) is None or abs(self._along) > ALONG:  # else it is slow, and goes on as it did
            self._order = self.gait.order if self._along > -ALONG else self.gait.order[::-1]
            self._hurried = abs(self._along) > self._in_reach
            self._brisk = self._hurried and self._along > 0.0 and self._aside < STRAIGHT
        limb, start, before = self._chosen(places), done.body[1], done.velocity[1]
        if limb is None:
            return self._resting(done.end, places, done.behind[1], done.lean[1], start, before)
        gait, velocity = self.gait, self.gait.clamped(self.velocity, self.period)
        mean = Velocity(*((a + b) / 2 for a, b in zip(before, velocity, strict=True)))
        body = start.moved(mean, float(self._durations[limb]))
        goal = foothold_of(gait, self.ground, limb, self._ahead_of(body, velocity))
        objection = objection_to(gait, self.ground, limb, (places[limb], goal), self._ahead)
        if objection:
            self.objection, self.velocity, self.goal = objection, REST, None
            return self._resting(done.end, places, done.behind[1], done.lean[1], start, before)
        way = float(np.linalg.norm((goal - places[limb])[:2]))
        swing = gait.swing_of(limb, way, careful=not self._brisk, hurried=self._hurried)
        landed = places.copy()
        landed[limb] = goal
        share = min(1.0, swing / float(self._durations[limb]))
        lean = lean_of(gait, limb, places, goal, (start, body), self._most[0], share)
        briefest = max(gait.briefest, gait.pauses[limb])
        leant = done.end + max(seconds_of(gait, lean - done.lean[1], self._most[1]), briefest) / gait.pace
        planned = CrawlStep(
            done.end, leant, leant, leant + swing, limb, places, goal,
            bow_of(gait, self.ground, limb, (places[limb], goal), body.yaw),
            np.array([done.behind[1], behind_of(gait, self.ground, landed, body.yaw)]),
            np.array([done.lean[1], lean]), (start, body), (before, velocity),
        )  # fmt: skip
        lift = max(safe_lift(gait, planned, np.delete(places, limb, axis=0)), done.end + briefest / gait.pace)
        self._durations[limb] = lift + swing - done.end
        return replace(planned, lift=lift, end=lift + swing)

    def _ahead_of(self, body: Place, velocity: Velocity) -> Place:
        """Where the body will be half a cycle later, beside which a limb comes down."""
        return self._near(body) or body.moved(velocity, self._half)

    def _near(self, body: Place) -> Place | None:
        """The goal, if limbs can be put beside it while the body is here."""
        if self.goal is None:
            return None
        way = self.goal.way_from(body)
        farther = FARTHER if way.x >= 0.0 else FARTHER_BACK
        there = Velocity(*(each / self._half / farther for each in way))
        return self.goal if self.gait.clamped(there, self.period) == there else None

    @property
    def _half(self) -> float:
        """Of a cycle, s: so long before the body is beside it a limb comes down."""
        return (self.period - self.gait.swing) / 2

    def _resting(
        self, time: float, places: Array, behind: Array, lean: Array, body: Place, before: Velocity
    ) -> CrawlStep:
        """All limbs on the ground, the centre of mass goes to the middle of the body, or of limbs, and stays.

        Limbs that are beside the goal already take the body there.
        """
        middle = np.zeros(2)
        if self._stays:
            middle = places[:, :2].mean(axis=0) - beside(body, self.gait.com)
        end = time + max(seconds_of(self.gait, middle - lean, self.gait.careful_sway), self.gait.briefest)
        stop = self._near(body) or body.moved(Velocity(*(value / 2 for value in before)), end - time)
        leans, behinds = np.array([lean, middle]), np.array([behind, behind])
        return CrawlStep(
            time, end, end, end, None, places, np.zeros(3), np.zeros(3), behinds, leans, (body, stop), (before, REST)
        )  # fmt: skip

    @property
    def _most(self) -> tuple[float, float]:
        """Lean and sway: careful ones, unless it hurries straight ahead."""
        gait = self.gait
        return (gait.lean, gait.sway) if self._brisk else (gait.careful_lean, gait.careful_sway)

    @property
    def _along(self) -> float:
        """How much of the longest stride is wanted, forward."""
        return self.velocity.forward * self.period / self.gait.forward

    @property
    def _in_reach(self) -> float:
        """Of the longest stride, how much is gone without hurry; to a goal, it hurries."""
        if self.goal is not None:
            return ALONG
        return CALM if self._hurried else HURRY

    @property
    def _aside(self) -> float:
        """How much of the farthest way aside, or of the farthest turn, is wanted."""
        velocity, gait = self.velocity, self.gait
        return self.period * max(abs(velocity.leftward) / gait.aside, abs(velocity.turn) / gait.turn)

    def _chosen(self, places: Array) -> int | None:
        """The limb to swing: the next in order while there is a velocity, else the next that is away from its place.

        From rest a knee begins: the limb that comes last then is left the farthest behind, and hands reach farther.
        """
        if self._stays:
            return None
        after = self._order.index(self._last) + 1
        if self._step.limb is None and self._order[after % 4] not in KNEES:
            after += 1
        following = tuple(self._order[number % 4] for number in range(after, after + 4))
        near = self._near(self.body)
        if self.velocity != REST and near is None:
            return following[0]
        away = self._away(places, near or self.body)
        return next((limb for limb in following if away[limb] > AT_PLACE), None)

    def _away(self, places: Array, body: Place) -> Array:
        """How far limbs are from their places beside a body."""
        neutral = np.array([foothold_of(self.gait, self.ground, limb, body) for limb in range(4)])
        return np.asarray(np.linalg.norm((places - neutral)[:, :2], axis=1))


def gait_places(gait: CrawlGait, body: Place) -> Array:
    """Neutral places of the limbs (4 × 3) beside a body."""
    return np.array([[*beside(body, place), 0.0] for place in gait.places])
