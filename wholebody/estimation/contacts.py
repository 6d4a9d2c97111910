"""ContactDetector: which feet stand, from how hard the ground pushes: flags that do not flutter, and a probability."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from wholebody import _kernels
from wholebody.errors import BadEstimator
from wholebody.estimation.records import CONTACT_SETTINGS
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
        self._since = np.zeros((2, feet))
        newtons = {name: weight * getattr(s, name) for name in ("touches", "leaves", "loaded", "deviation")}
        self._touches = newtons["touches"]
        self.handle = _kernels.estimation_contacts(
            np.array([newtons.get(name, getattr(s, name)) for name in CONTACT_SETTINGS]),
            np.zeros((feet, 1, 3)) if edges is None else edges,
            self.contact, self.firm, self.probability, self._since,
        )  # fmt: skip

    def start(self, wrench: Array) -> None:
        """Begin anew: feet stand and lie flat at once if they bear enough."""
        self.contact[:] = self.firm[:] = wrench[:, 2] > self._touches
        self.probability[:] = 0.5
        self._since[:] = 0.0

    def update(self, wrench: Array, dt: float) -> None:
        """Take what the ground does to each sole at its middle, force and torque, f × 6, dt seconds after the last."""
        _kernels.estimation_detect_contacts(self.handle, wrench, dt)
