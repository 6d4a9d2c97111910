"""Walking: stand, walk, turn and stop, as one tells a person; the same for every robot with legs.

walking = Walking(robots.load("hubo2plus"))
walking.stand()
walking.walk(distance=2.0)
...
walking.cycle(state, reference)     # every period
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from wholebody.errors import BadFootsteps, BadGait, BadState, SensorLost, VelocityClamped
from wholebody.estimation import AnkleSpring, Balance
from wholebody.locomotion.balance.recovery import closing_step
from wholebody.locomotion.balance.support_area import Soles
from wholebody.locomotion.walking import gait_tuning
from wholebody.locomotion.walking.footsteps import (
    OTHER,
    OUTWARD,
    Feet,
    Footstep,
    Place,
    Side,
    StepLimits,
    Velocity,
    beside_body,
    first_side,
    in_place,
    to_place,
    within,
)
from wholebody.locomotion.walking.gait import SOLES, Gait, need_soles
from wholebody.locomotion.walking.pattern import Pattern
from wholebody.locomotion.walking.walker import Walker
from wholebody.messages import Mode, Reference, State
from wholebody.model.layout import Array, Integers
from wholebody.parameters.reflection import Parameters
from wholebody.robots.robot import Robot

LEVEL = 0.05
"""m. Soles whose heights differ by more are not both on the way to the ground."""


class StandingUp:
    """Joints go from where they are to where they shall be, from rest to rest in some seconds."""

    def __init__(self, walker: Walker, seconds: float) -> None:
        if not 0.1 <= seconds <= 60.0:
            raise BadState(f"to rise in {seconds} s; give 0.1 to 60")
        self._walker, self._seconds = walker, seconds
        self._begin: float | None = None

    @property
    def begun(self) -> bool:
        """Whether it is on its way."""
        return self._begin is not None

    def cycle(self, state: State, reference: Reference) -> bool:
        """Fill the reference; True when it stands, and the walker may go on."""
        time = state.time
        if self._begin is None:
            self._start(state, time)
        self._walker.estimator.update(state)  # so that it knows the attitude by the time it counts
        assert self._begin is not None
        s = min(1.0, (time - self._begin) / self._seconds)
        share = s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
        reference.position[:] = self._from + share * (self._to - self._from)
        reference.mode[:], reference.mask[:] = Mode.POSITION, True
        return s >= 1.0

    def _start(self, state: State, time: float) -> None:
        walker = self._walker
        self._begin = time
        self._from = np.array(state.reference)
        feet = self._feet_as_they_are(np.array(state.position))
        end = time + self._seconds
        if feet is not None:
            walker.pattern = Pattern(walker.gait, feet, end)
        walker.begin_anew()
        self._to = walker.stance(end)

    def _feet_as_they_are(self, joints: Array) -> Feet | None:
        """Seen from between them; None if they are too far apart, or at too different heights, to stand so."""
        model = self._walker.model
        q = model.neutral()
        q[:7], q[7:] = (0, 0, 0, 0, 0, 0, 1), joints
        snapshot = model.at(q)
        soles = [snapshot.placement(model.surface(sole)) for sole in SOLES]
        places = [Place(float(m[0, 3]), float(m[1, 3]), float(np.arctan2(m[1, 0], m[0, 0]))) for m in soles]
        feet = Feet(*places)
        level = abs(float(soles[0][2, 3] - soles[1][2, 3])) <= LEVEL
        if not level or not self._walker.gait.limits.stand(feet):
            return None
        middle = feet.middle
        return Feet(*(place.seen_from(middle) for place in feet))


AHEAD = 3
"""Steps that are planned ahead: what comes later moves the centre of mass by less than a millimetre now."""
PATIENCE = 0.05
"""s. How long a sensor may be silent while walking."""
LONGEST_GAP = 0.07
"""s without a state after which it cannot go on in mid-step: what it was led to stand on has gone on without it."""
FALLEN = 0.8
"""rad. A pelvis that leans further is not held up by feet any more."""


class Walking:
    """A robot that can be told where to go at any time; what it is told last counts.

    `trouble` says why it stopped by itself, if it did: then it stands, or lies, and does nothing before it is told to
    stand again.
    """

    def __init__(
        self,
        robot: Robot,
        gait: Gait | None = None,
        stabilizer: str = "dcm",
        period: float = 0.005,
        ankles: AnkleSpring | None = None,
    ) -> None:
        """`ankles` says how soft they are, if they are."""
        need_soles(robot)
        self.walker = Walker(robot, gait, stabilizer, ankles, period)
        self._soles = Soles(robot, scale=0.8)
        if gait is None:
            gait_tuning.fit(self.walker)
        self.trouble = ""
        self.up = False  # whether it has stood up, and balances
        self._holds = False
        self._rising: StandingUp | None = None
        self._velocity: Velocity | None = None
        self._time = 0.0
        self._lost_since: float | None = None
        self._left: Integers | None = None

    # What one tells it.

    def stand(self, seconds: float = 2.0) -> None:
        """Take the posture in which it walks, and balance; from wherever the joints are, feet on the ground.

        If it does already, it stops.
        """
        if self.up and not self.trouble:
            self.stop()
            return
        self._rising = StandingUp(self.walker, seconds)
        self.trouble, self.up, self._holds, self._velocity, self._lost_since = "", False, False, None, None

    def walk(
        self,
        distance: float | None = None,
        velocity: Velocity | Sequence[float] | None = None,
        footsteps: Sequence[Footstep] | None = None,
        steps_in_place: int | None = None,
    ) -> None:
        """Walk so far forward (m), or on and on at a velocity (m/s, m/s, rad/s), or along footsteps, or on the spot."""
        given = [each for each in (distance, velocity, footsteps, steps_in_place) if each is not None]
        if len(given) != 1:
            raise BadFootsteps("say either a distance, a velocity, footsteps, or how many steps in place; one of them")
        if velocity is not None:
            self._go(Velocity(*velocity))
        elif distance is not None:
            self._go_to(Place(distance, 0.0, 0.0))
        elif footsteps is not None:
            self._follow(tuple(footsteps))
        else:
            self.finish()
            steps = in_place(self._last_feet, steps_in_place or 0, self._limits, self._next_side or "right")
            self._follow(self._within(steps, self._last_feet))

    def go(self, forward: float = 0.0, leftward: float = 0.0, turn: float = 0.0) -> None:
        """Walk to a place seen from where it stands, or will stand: m, m, rad."""
        self._go_to(Place(forward, leftward, turn))

    def turn(self, angle: float) -> None:
        """Turn on the spot, to the left if positive, rad."""
        self._go_to(Place(0.0, 0.0, angle))

    def stop(self) -> None:
        """Rest on both feet at once, or after the step that is under way, wherever it leaves them."""
        self._velocity = None
        self.walker.pattern.halt(self._time, lambda support, feet: self._soles.area(support, *feet))

    def finish(self) -> None:
        """Stand with the feet side by side, after the steps that cannot be taken back without haste."""
        self._velocity = None
        pattern = self.walker.pattern
        if not pattern.settled:
            kept = min(len(pattern.steps), AHEAD - 1)
            pattern.follow(self._closing(pattern.steps[kept - 1]), self._time, keep=kept)

    def adopt(self, gait: Gait) -> None:
        """Walk otherwise, after the steps that cannot be taken back without haste.

        How high the centre of mass is does not change while it stands or walks: it would jump.
        """
        if gait.height != self.gait.height and (self.up or self.rising):
            raise BadGait("the height of the centre of mass cannot change while it stands; set it before it stands up")
        self.walker.adopt(gait, self._time, keep=AHEAD - 1)

    def leave(self, joints: Integers) -> None:
        """Leave joints that are none of the legs', by number, to others: it balances with them wherever they are.

        Those that were left before and are not any more are its own again.
        """
        self._left = joints

    @property
    def gait(self) -> Gait:
        """How it walks."""
        return self.walker.gait

    @property
    def standing(self) -> bool:
        """Whether it is done with all that it was told."""
        return self._rising is None and self._velocity is None and self.walker.pattern.standing

    @property
    def left(self) -> float:
        """Seconds until it is done with all that it was told; no number if it goes on and on, or is not up."""
        if self._velocity is not None or not self.up:
            return math.nan
        return max(0.0, self.walker.pattern.ends - self._time)

    @property
    def velocity(self) -> Velocity | None:
        """At which it goes on and on; None if it does not."""
        return self._velocity

    @property
    def rising(self) -> bool:
        """Whether it is on its way up."""
        return self._rising is not None

    @property
    def blind(self) -> bool:
        """Whether a sensor that it needs is silent now."""
        return self._lost_since is not None

    @property
    def sensed(self) -> Balance | None:
        """How it stands and moves in the world of its footsteps, by its senses; None if it is blind, or not up."""
        return self.walker.balance if self.up and not self.blind else None

    @property
    def place(self) -> Place:
        """Where the body is by plan: between the feet."""
        target = self.walker.target
        return self.walker.pattern.feet.middle if target is None or self.blind else target.body

    # What it does.

    def cycle(self, state: State, reference: Reference) -> None:
        """One period: fill the reference from the state."""
        gap, self._time = state.time - self._time, state.time
        if self._moving and not 0.0 <= gap <= LONGEST_GAP:
            self._hold(gap, state, reference)
        if self._holds:
            return
        if self._rising is not None:
            if not self._rising.cycle(state, reference):
                return
            self._rising, self.up = None, True
            self.walker.pattern.follow(closing_step(self.walker.pattern.feet, self.walker.gait), self._time)
        if self._left is not None:
            self.walker.legs.take(self._left, state.position)
            self._left = self._left if len(self._left) else None
        if self._velocity is not None:
            self._step_on(self._velocity)
        try:
            self.walker.cycle(state, reference)
            self._lost_since = None
        except SensorLost as error:
            self._go_on_blind(error, reference)
        else:
            self._look_whether_it_fell()

    @property
    def _moving(self) -> bool:
        """Whether a plan goes on with time: on its way up, or along steps."""
        begun = self._rising is not None and self._rising.begun
        return begun or (self.up and not self.walker.pattern.standing)

    def _hold(self, gap: float, state: State, reference: Reference) -> None:
        """Stay as the joints were told last: to catch up with the plan would throw the robot."""
        self.trouble = (
            f"no state came for {gap:.2f} s in mid-step; it holds its joints where they were: tell it to stand"
        )
        self._rising, self._holds, self.up, self._velocity = None, True, False, None
        reference.position[:], reference.mode[:], reference.mask[:] = state.reference, Mode.POSITION, True

    def _look_whether_it_fell(self) -> None:
        """Lying, it holds its joints where they are told to be, and lets nobody walk it."""
        balance = self.walker.balance
        if balance is not None and balance.tilt > FALLEN:
            self._holds, self.up, self._velocity = True, False, None
            self.trouble = f"it has fallen: the pelvis leans by {math.degrees(balance.tilt):.0f}°"

    def _go_on_blind(self, error: SensorLost, reference: Reference) -> None:
        """Do as planned for a moment; if the sensor stays lost, stop after the steps that cannot be taken back."""
        self._lost_since = self._time if self._lost_since is None else self._lost_since
        if self._time - self._lost_since >= PATIENCE and not self.trouble:
            self.trouble = f"{error}; it stops and stands"
            self.finish()
        self.walker.cycle_blind(self._time, reference)

    # How a request becomes steps.

    @property
    def _limits(self) -> StepLimits:
        return self.walker.gait.limits

    @property
    def _last_feet(self) -> Feet:
        pattern = self.walker.pattern
        return pattern.feet_after(len(pattern.steps))

    @property
    def _next_side(self) -> Side | None:
        """The foot whose turn it is; None if it may be either."""
        last = self.walker.pattern.steps[-1:]
        return OTHER[last[0].side] if last else None

    def _follow(self, steps: tuple[Footstep, ...]) -> None:
        self._refuse_if_in_trouble()
        pattern = self.walker.pattern
        if steps and self._next_side not in (None, steps[0].side):
            raise BadFootsteps(
                f"the {steps[0].side} foot would step twice in a row; begin with the {self._next_side} one"
            )
        pattern.follow(steps, self._time, keep=len(pattern.steps))
        self._velocity = None

    def _go_to(self, goal: Place) -> None:
        self.finish()
        self._follow(self._within(to_place(self._last_feet, goal, self._limits, self._next_side), self._last_feet))

    def _go(self, velocity: Velocity) -> None:
        self._refuse_if_in_trouble()
        clamped = self._limits.clamped(velocity, self.walker.gait.step_time)
        if clamped != velocity:
            fastest = tuple(round(value, 3) for value in clamped)
            text = f"{tuple(velocity)} is faster than this robot can walk; it goes at {fastest}"
            warnings.warn(text, VelocityClamped, stacklevel=3)
        pattern = self.walker.pattern
        self._velocity = clamped
        if not pattern.settled:  # what is planned beyond the next steps was for another velocity
            keep = min(len(pattern.steps), AHEAD - 1)
            step = self._next(pattern.steps[keep - 1], clamped)
            pattern.follow(self._within((step,), pattern.feet_after(keep)), self._time, keep=keep)

    def _step_on(self, velocity: Velocity) -> None:
        """Plan one step more if there are fewer than AHEAD."""
        pattern = self.walker.pattern
        steps = pattern.steps
        if len(steps) >= AHEAD:
            return
        if steps:
            step = self._next(steps[-1], velocity)
        else:
            body = pattern.feet.middle.moved(velocity, self.walker.gait.step_time)
            step = beside_body(body, first_side(velocity), self._limits.spacing)
        pattern.follow(self._within((step,), self._last_feet), self._time, keep=len(steps))

    def _within(self, steps: Sequence[Footstep], feet: Feet) -> tuple[Footstep, ...]:
        return within(steps, feet, self._limits)

    def _next(self, step: Footstep, velocity: Velocity) -> Footstep:
        body = self._body_beside(step).moved(velocity, self.walker.gait.step_time)
        return beside_body(body, OTHER[step.side], self._limits.spacing)

    def _closing(self, step: Footstep) -> tuple[Footstep, ...]:
        return (beside_body(self._body_beside(step), OTHER[step.side], self._limits.spacing),)

    def _body_beside(self, step: Footstep) -> Place:
        return step.at.beside(0.0, -OUTWARD[step.side] * self._limits.spacing / 2)

    def _refuse_if_in_trouble(self) -> None:
        if self.trouble:
            raise SensorLost(f"it does not walk any more: {self.trouble}")
        if not math.isfinite(self._time):
            raise SensorLost("the state has no time")


def walking_parameters(walking: Walking) -> Parameters:
    """What can be tuned while it walks: gait.step_time, gait.limits.length, stabilizer.proportional …

    Gains count from the next cycle on, the gait from the next step that can still be planned.
    """
    parameters = Parameters()
    parameters.add_record("gait", lambda: walking.gait, walking.adopt)
    for path, gains in _gains(walking.walker).items():
        _add_in_place(parameters, path, gains)
    return parameters


def _gains(walker: Walker) -> dict[str, Any]:
    """By path; a stabilizer may have none."""
    found = {
        "stabilizer": getattr(walker.stabilizer, "gains", None),
        "swing_levelling": walker.levelling.gains,
        "ground_adaptation": walker.ground.gains,
        "sole_compliance": walker.compliance.gains,
    }
    return {path: gains for path, gains in found.items() if gains is not None}


def _add_in_place(parameters: Parameters, path: str, gains: Any) -> None:
    """Whoever holds these gains sees their change."""
    parameters.add_record(path, lambda: gains, lambda changed: vars(gains).update(vars(changed)))
