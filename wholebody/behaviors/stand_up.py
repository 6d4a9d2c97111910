"""Rising: from wherever the joints are to the posture in which the robot stands before its first step.

The feet stay where they are, if one can stand there: so a controller that was killed in the middle of a step goes on.
"""

from __future__ import annotations

import numpy as np

from wholebody.errors import BadState
from wholebody.locomotion.walking.footsteps import Feet, Place
from wholebody.locomotion.walking.gait import SOLES
from wholebody.locomotion.walking.pattern import Pattern
from wholebody.locomotion.walking.walker import Walker
from wholebody.messages import Mode, Reference, State
from wholebody.model.layout import Array

LEVEL = 0.05
"""m. Soles whose heights differ by more are not both on the way to the ground."""


class Rising:
    """Joints go from where they are to where they shall be, from rest to rest in some seconds."""

    def __init__(self, walker: Walker, seconds: float) -> None:
        if not 0.1 <= seconds <= 60.0:
            raise BadState(f"to rise in {seconds} s; give 0.1 to 60")
        self._walker, self._seconds = walker, seconds
        self._begin: float | None = None

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
