"""Landing: proof that there is ground below a limb that came down, before the robot's weight goes onto it.

The plan waits while a limb that came down is felt to bear too little. Where nobody knows the ground, limbs prove it:
knees come down late, and are waited for until they are felt; a hand comes down in time, and the other limbs go on to
carry the weight until it is felt. One that does not bear floats: it is pressed on, alone, and the centre of mass begins
to go away from it. If nothing bears it when it was pressed far, no ground is there. Once something bore it, ground is
there: a hand that bounces begins to seek anew.
"""

from __future__ import annotations

import numpy as np

from wholebody.errors import GroundMissing
from wholebody.locomotion.crawling.pattern import HAND_OVER
from wholebody.locomotion.crawling.step import KNEES, CrawlTarget
from wholebody.model.support import SupportPolygon
from wholebody.motion.capture.gait import CRAWLING
from wholebody.motion.capture.imitator import deepest

SOON, BRIEFLY, CAREFULLY = 0.03, 0.03, 0.1
"""s in which a limb is to bear after it came down; over which what it bears is smoothed by then, and from then on,
because a plan that stops shakes what is felt."""
PROBE = 0.3
"""How far a hand is counted on before it is felt: enough to be felt soon on level ground. With 1, the other limbs give
way by what a hand beyond an edge was to bear. Where hands are felt at once, on level ground, it changes nothing."""
SLIPPED, SURE = -10.0, 0.05
"""N: a hand that bore and seems to bear less has slipped off; once it bore for so many s, its ground is sure. With more
of them, a plan that stops and goes on, and shakes the robot by it, may do so on and on where commands come late."""
FIRM_HANDS = 0.005
"""m by which a hand whose ground need not be proved is put lower than the ground, so that it bears at once."""
PRESSING, FARTHEST = 0.1, 0.015
"""m/s at which a hand is pressed on, and m: how far since it bore last, if ever."""
FOLLOWING, LOWER = 0.05, 0.03
"""m/s at which a limb is put lower that came down on mapped ground and is not felt, because maps have errors; and m
that any limb is put lower, at most."""
SHUNNING, GENTLY = 6.0, 0.25
"""1/s: how fast the centre of mass goes away from a limb without ground, and m/s² at most."""
NO_GROUND, PATIENTLY = 1.0, 2.5
"""s that the plan waits for a limb, and on mapped ground, where diagonals share the weight more slowly."""


class Landing:
    """Cycle by cycle.

    late      whether the plan has to wait
    pressed   of each limb, how much lower than planned it is put, m
    trust     of the limb that came down last, 0 to 1: how far it may be counted on to bear
    refuge    x y, m: how far from its plan the centre of mass is, away from a limb that does not bear

    least is what a limb has to bear (N) so that it is felt; mapped says whether the ground is known.
    """

    def __init__(self, least: float, period: float) -> None:
        self.least, self.period, self.mapped, self._sought = least, period, False, 0.0
        self.reset()

    def reset(self) -> None:
        """All limbs bear."""
        self.pressed, self.trust, self.late = np.zeros(len(CRAWLING)), 1.0, False
        self.refuge, self._drift = np.zeros(2), np.zeros(2)
        self._checked, self._lost, self._waited = True, False, 0.0
        self._begin_proof()

    def give_up(self) -> None:
        """No ground is below the limb that came down last: do not count on it until it bears elsewhere."""
        self.late, self._floats, self._checked, self._lost = False, False, True, True

    def swings(self, limb: int, target: CrawlTarget, ahead: bool) -> None:
        """A limb is in the air; ahead, where the robot has not been and has no map, it will have to prove its ground.

        Elsewhere a hand comes down firmly.
        """
        self.trust, self.late, self._checked = 1.0, False, False
        self._begin_proof()
        change, firmly = PRESSING * self.period, 0.0 if self._proves(ahead) or limb in KNEES else FIRM_HANDS
        self.pressed[limb] += min(max(firmly - self.pressed[limb], -change), change)
        self._shun(limb, target)

    def bears(self, limb: int, force: float, planned: float, target: CrawlTarget, ahead: bool) -> None:
        """All limbs are down; the one that came down last bears so much, and was to bear as planned, N.

        ahead says whether it came down where the robot has not been.
        """
        if not self._checked and (self._proves(ahead) or self._lost):
            self._prove(limb, force)
        elif not self._checked:
            self.late = force < min(self.least, planned / 2)
            if self.late and self.mapped:
                self.pressed[limb] = min(self.pressed[limb] + FOLLOWING * self.period, LOWER)
        self._waited = self._waited + self.period if self.late else 0.0
        change = self.period / HAND_OVER
        self.trust += min(max(self._reliance(limb) - self.trust, -change), change)
        self._shun(limb, target)
        self._sought = self._sought + PRESSING * self.period if self._floats else 0.0
        if self._floats:
            self.pressed[limb] = min(self.pressed[limb] + PRESSING * self.period, LOWER)
        in_vain = self._sought > FARTHEST and force < self.least
        if in_vain or self._waited > (PATIENTLY if self.mapped else NO_GROUND):
            raise GroundMissing(f"the {CRAWLING[limb]} came down and bears nothing: no ground is there", limb)

    def _proves(self, ahead: bool) -> bool:
        return ahead and not self.mapped

    def _begin_proof(self) -> None:
        self._proving, self._floats, self._felt, self._since, self._borne = True, False, 0.0, 0.0, 0.0
        self._sought = 0.0

    def _prove(self, limb: int, force: float) -> None:
        """Feel whether it bears; of a hand that bore it takes more to say that it does not any more."""
        self._since += self.period
        if self._since == self.period:
            self.trust = self._reliance(limb)
        self._felt += self.period / (CAREFULLY if self.late else BRIEFLY) * (force - self._felt)
        self._proving = self._felt < (self.least if self._proving else SLIPPED)
        self._lost &= self._proving
        self._borne = 0.0 if self._proving else self._borne + self.period
        self._checked = not self._proving and (limb in KNEES or self._borne > SURE)
        self.late = self._proving and self._since > SOON
        self._floats = self.late and limb not in KNEES

    def _reliance(self, limb: int) -> float:
        """What trust tends to: 0 for a limb without ground, little for a hand that is still to be felt, else 1."""
        if self._floats or self._lost:
            return 0.0
        return PROBE if self._since > 0.0 and self._proving and limb not in KNEES else 1.0

    def _shun(self, limb: int, target: CrawlTarget) -> None:
        """ẍ = k² (goal − x) − 2 k ẋ, within bounds; the goal is deepest inside of what bears without the limb."""
        goal = np.zeros(2)
        if self._floats or self._lost:
            others = np.delete(target.places, limb, axis=0)
            goal = deepest(SupportPolygon.of(others).corners) - target.com
        pull = SHUNNING**2 * (goal - self.refuge) - 2 * SHUNNING * self._drift
        self._drift += self.period * pull * min(1.0, GENTLY / max(float(np.linalg.norm(pull)), 1e-9))
        self.refuge += self.period * self._drift
