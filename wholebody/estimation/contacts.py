"""ContactDetector: which feet stand, from how hard the ground pushes: flags that do not flutter, and a probability."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from wholebody.errors import BadEstimator
from wholebody.model.compiled import compiled
from wholebody.model.layout import Array


@dataclass(frozen=True)
class ContactSettings:
    """Forces are shares of the robot's weight, times are seconds."""

    touches: float = 0.08  # a foot in the air that bears more for `debounce` stands
    leaves: float = 0.04  # a foot that stands and bears less for `debounce` is in the air
    debounce: float = 0.01
    loaded: float = 0.3  # what a foot that stands bears, as a rule
    deviation: float = 0.1  # of the force, in the air and on the ground
    changes: float = 2.0  # how often a foot comes or goes, per second

    def __post_init__(self) -> None:
        """Refuse thresholds that contradict each other."""
        if not 0 < self.leaves < self.touches < 1:
            raise BadEstimator(
                f"a foot touches above {self.touches} and leaves below {self.leaves} of the weight; "
                "give 0 < leaves < touches < 1"
            )
        if not (0 <= self.debounce < math.inf and self.loaded > 0 and self.deviation > 0 and self.changes > 0):
            raise BadEstimator(f"{self}: debounce must not be negative, all else must be positive")


class ContactDetector:
    """Feet that stand or do not.

    A flag changes when the force is beyond a threshold, another one each way, for a while without a break. The
    probability is that of a hidden state that changes now and then, seen through the force, which is normal about
    zero in the air and about `loaded` on the ground.
    """

    def __init__(self, feet: int, weight: float, settings: ContactSettings | None = None) -> None:
        if not 0 < weight < math.inf:
            raise BadEstimator(f"a robot that weighs {weight} N")
        self.settings = s = ContactSettings() if settings is None else settings
        self.contact = np.zeros(feet)  # 0 or 1
        self.probability = np.full(feet, 0.5)
        self._since = np.zeros(feet)
        self._numbers = np.array([s.touches, s.leaves, s.debounce, s.loaded, s.deviation, s.changes])
        self._numbers[[0, 1, 3, 4]] *= weight

    def start(self, force: Array) -> None:
        """Begin anew: feet stand at once if they bear enough."""
        self.contact[:] = force > self._numbers[0]
        self.probability[:] = 0.5
        self._since[:] = 0.0

    def update(self, force: Array, dt: float) -> None:
        """Take the force with which the ground pushes each foot up, N, dt seconds after the last."""
        detect(force, dt, self._numbers, self.contact, self.probability, self._since)


@compiled
def detect(force: Array, dt: float, numbers: Array, contact: Array, probability: Array, since: Array) -> None:
    """Flags with hysteresis and debounce, and the forward step of a hidden Markov model with two states."""
    touches, leaves, debounce, loaded, deviation, changes = numbers
    for foot in range(len(force)):
        other = force[foot] < leaves if contact[foot] != 0.0 else force[foot] > touches
        since[foot] = since[foot] + dt if other else 0.0
        if other and since[foot] >= debounce - 1e-9:
            contact[foot], since[foot] = 1.0 - contact[foot], 0.0
        change = 0.5 * (1.0 - math.exp(-2.0 * changes * dt))
        p = probability[foot] * (1.0 - change) + (1.0 - probability[foot]) * change
        # The ratio of two normal densities of the same deviation.
        odds = loaded * (force[foot] - 0.5 * loaded) / (deviation * deviation)
        odds = min(30.0, max(-30.0, odds)) + math.log(p / (1.0 - p))
        probability[foot] = min(1.0 - 1e-9, max(1e-9, 1.0 / (1.0 + math.exp(-odds))))
