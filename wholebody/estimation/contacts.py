"""ContactDetector: which feet stand, from how hard the ground pushes: flags that do not flutter, and a probability."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wholebody import _kernels
from wholebody.errors import BadEstimator, MissingSensor
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.model.support import convex_hull
from wholebody.robots.robot import Robot, Sensor, Surface


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


SETTINGS = ("touches", "leaves", "debounce", "settles", "loaded", "deviation", "changes")
"""ContactSettings of estimation.h."""


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
        self._touches = weight * s.touches
        self.handle = _kernels.estimation_contacts(
            np.array([newtons.get(name, getattr(s, name)) for name in SETTINGS]),
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


@dataclass(frozen=True)
class Feet:
    """All soles of a robot, in the order of its surfaces or as named.

    An ankle is the origin of the link that has the sole: there the last joint of the leg turns, and there flexibility
    is. Wrenches are force, then torque.
    """

    names: tuple[str, ...]
    ankles: npt.NDArray[np.int64]  # frames of the model
    soles: npt.NDArray[np.int64]
    sensors: npt.NDArray[np.int64]  # places among the state's force-torque sensors
    at_sole: Array  # f × 6 × 6: wrench in the sensor to wrench at the sole's origin, in its axes
    at_ankle: Array  # f × 2 × 6: the same to roll and pitch torque about the ankle, in the axes of the sole
    sole_from_ankle: Array  # f × 3: the sole's origin, in the axes of the sole
    outlines: tuple[Array, ...]  # corners of what each sole stands on, its convex hull, counter-clockwise

    @classmethod
    def of(cls, model: Model, names: Sequence[str] | None = None) -> Feet:
        """The surfaces of these names, or all with "sole" in theirs; MissingSensor if one has no force sensor."""
        robot = model.robot
        soles = [s for s in robot.surfaces if "sole" in s.name] if names is None else [robot.surface(n) for n in names]
        if not soles:
            raise MissingSensor(f"'{robot.name}' has no soles, so nothing can be said of its feet; name its surfaces")
        sensors = robot.sensors_of("force_torque")
        behind = [_sensor_behind(robot, sole, sensors) for sole in soles]
        wrenches = [_at_sole(sole, sensors[number]) for sole, number in zip(soles, behind, strict=True)]
        ankles = [_at(sole, np.zeros(3), sensors[number])[3:5] for sole, number in zip(soles, behind, strict=True)]
        return cls(
            names=tuple(sole.name for sole in soles),
            ankles=np.array([model.frame(sole.link) for sole in soles]),
            soles=np.array([model.surface(sole.name) for sole in soles]),
            sensors=np.array(behind),
            at_sole=np.array(wrenches),
            at_ankle=np.array(ankles),
            sole_from_ankle=np.array([sole.at.rotation.T @ np.array(sole.at.xyz) for sole in soles]),
            outlines=tuple(convex_hull(np.array(sole.outline)) for sole in soles),
        )

    @property
    def places(self) -> npt.NDArray[np.int64]:
        """Of each foot: frames of ankle and sole, and the sensor, f × 3."""
        return np.stack([self.ankles, self.soles, self.sensors], axis=1).astype(np.int64)

    @property
    def geometry(self) -> Array:
        """FootGeometry of estimation.h, of each foot: what is fixed between sensor, sole and ankle."""
        return np.hstack([each.reshape(len(self), -1) for each in (self.at_sole, self.at_ankle, self.sole_from_ankle)])

    def edges(self, scale: float) -> Array:
        """The soles' outlines, scaled about their middles, as f × edges × 3: x y is inside where a x + b y ≤ c."""
        longest = max(len(sole) for sole in self.outlines)
        edges = np.zeros((len(self.outlines), longest, 3))  # rows of zeros hold everywhere
        for rows, corners in zip(edges, self.outlines, strict=True):
            middle = corners.mean(0)
            normals = (np.roll(corners, -1, 0) - corners) @ ((0.0, -1.0), (1.0, 0.0))
            rows[: len(corners), :2] = normals
            rows[: len(corners), 2] = np.sum(normals * (middle + scale * (corners - middle)), axis=1)
        return edges

    def __len__(self) -> int:
        """How many there are."""
        return len(self.names)


def _sensor_behind(robot: Robot, sole: Surface, sensors: Sequence[Sensor]) -> int:
    for number, sensor in enumerate(sensors):
        if sensor.link == sole.link:
            return number
    raise MissingSensor(
        f"'{robot.name}' has no force-torque sensor in '{sole.link}', the link of '{sole.name}': whether that foot "
        f"stands cannot be known. Sensors are in: {', '.join(s.link for s in sensors) or 'none'}"
    )


def _at_sole(sole: Surface, sensor: Sensor) -> Array:
    return _at(sole, np.array(sole.at.xyz), sensor)


def _at(sole: Surface, point_in_link: Array, sensor: Sensor) -> Array:
    """The matrix from a wrench in the sensor to one at a point of its link, in the axes of the sole."""
    turn = sole.at.rotation.T @ sensor.at.rotation
    x, y, z = sole.at.rotation.T @ (np.array(sensor.at.xyz) - point_in_link)
    lever = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    matrix = np.zeros((6, 6))
    matrix[:3, :3] = matrix[3:, 3:] = turn
    matrix[3:, :3] = lever @ turn
    return matrix
