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
    within: float = 0.85  # a sole lies flat if its centre of pressure is within its outline times this
    settles: float = 0.02  # for this long
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
        times = min(self.debounce, self.settles)
        if not (times >= 0 and 0 < self.within <= 1 and min(self.loaded, self.deviation, self.changes) > 0):
            raise BadEstimator(f"{self}: times must not be negative, `within` is at most 1, all else must be positive")


class ContactDetector:
    """Feet that stand or do not, and whether they lie flat.

    A flag changes when the force is beyond a threshold, another one each way, for a while without a break. The
    probability is that of a hidden state that changes now and then, seen through the force, which is normal about
    zero in the air and about `loaded` on the ground. A foot that stands is `firm`, lies flat, once its centre of
    pressure has been well within the sole for a while: on an edge it would rock.
    """

    def __init__(
        self, feet: int, weight: float, settings: ContactSettings | None = None, edges: Array | None = None
    ) -> None:
        """`edges`, as of Feet.edges, bound where the centre of pressure of a flat foot can be; without: anywhere."""
        if not 0 < weight < math.inf:
            raise BadEstimator(f"a robot that weighs {weight} N")
        self.settings = s = ContactSettings() if settings is None else settings
        self.contact, self.firm = np.zeros(feet), np.zeros(feet)  # 0 or 1
        self.probability = np.full(feet, 0.5)
        self._edges = np.zeros((feet, 1, 3)) if edges is None else edges
        self._since = np.zeros((2, feet))
        self._numbers = np.array([s.touches, s.leaves, s.debounce, s.loaded, s.deviation, s.changes, s.settles])
        self._numbers[[0, 1, 3, 4]] *= weight

    def start(self, wrench: Array) -> None:
        """Begin anew: feet stand and lie flat at once if they bear enough."""
        self.contact[:] = self.firm[:] = wrench[:, 2] > self._numbers[0]
        self.probability[:] = 0.5
        self._since[:] = 0.0

    def update(self, wrench: Array, dt: float) -> None:
        """Take what the ground does to each sole at its middle, force and torque, f × 6, dt seconds after the last."""
        detect(wrench, dt, self._numbers, self._edges, self.contact, self.firm, self.probability, self._since)


@compiled
def detect(
    wrench: Array,
    dt: float,
    numbers: Array,
    edges: Array,
    contact: Array,
    firm: Array,
    probability: Array,
    since: Array,
) -> None:
    """Flags with hysteresis and debounce, and the forward step of a hidden Markov model with two states."""
    touches, leaves, debounce, loaded, deviation, changes, settles = numbers
    for foot in range(len(contact)):
        force = wrench[foot, 2]
        other = force < leaves if contact[foot] != 0.0 else force > touches
        since[0, foot] = since[0, foot] + dt if other else 0.0
        if other and since[0, foot] >= debounce - 1e-9:
            contact[foot], since[0, foot] = 1.0 - contact[foot], 0.0
        flat = contact[foot] != 0.0 and force > leaves
        if flat:
            x, y = -wrench[foot, 4] / force, wrench[foot, 3] / force
            for edge in edges[foot]:
                flat = flat and edge[0] * x + edge[1] * y <= edge[2]
        since[1, foot] = since[1, foot] + dt if flat else 0.0
        firm[foot] = 1.0 if flat and (firm[foot] != 0.0 or since[1, foot] >= settles - 1e-9) else 0.0
        change = 0.5 * (1.0 - math.exp(-2.0 * changes * dt))
        p = probability[foot] * (1.0 - change) + (1.0 - probability[foot]) * change
        # The ratio of two normal densities of the same deviation.
        odds = loaded * (force - 0.5 * loaded) / (deviation * deviation)
        odds = min(30.0, max(-30.0, odds)) + math.log(p / (1.0 - p))
        probability[foot] = min(1.0 - 1e-9, max(1e-9, 1.0 / (1.0 + math.exp(-odds))))
