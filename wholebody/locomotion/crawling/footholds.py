"""Footholds: where on uneven ground a limb is put, near to where it would go on level ground.

ground = RoughGround(heights)
ground.foothold((x, y))              # x, y and height of the best place nearby
ground.highest_at(points)            # what a limb has to get over on its way
ground.roughness(start, goal)       # whether it can be put there at all
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt
from scipy.ndimage import binary_closing, maximum_filter, minimum_filter

from wholebody.errors import BadGoal
from wholebody.locomotion.crawling.odometry import heading
from wholebody.locomotion.walking.footsteps import Place
from wholebody.messages import State
from wholebody.model.layout import Array
from wholebody.model.snapshot import Snapshot
from wholebody.perception.camera_model import CameraModel, Picture
from wholebody.perception.height_map import HeightMap

if TYPE_CHECKING:
    from wholebody.locomotion.crawling.crawler import Crawler

RISING = 0.2
"""How much a shin rises behind its knee, m each m."""

WRONG = 0.05
"""The share of the cells around a place that is watched that may be too low, or too high."""

PINHOLE = 2
"""Cells: a hole in a map is filled up that is no wider than twice this."""


class Ground(Protocol):
    """What limbs are put on."""

    def foothold(self, wanted: Array, shin: Array | None = None) -> Array:
        """x, y and height of where a limb that wants to be at x y is put; a shin (x y) lies behind it, or none."""
        ...

    def highest_between(self, start: Array, end: Array) -> float:
        """The highest point on the way, m."""
        ...

    def highest_at(self, points: Array) -> Array:
        """The highest point below a limb at each of n points, m."""
        ...

    def roughness(self, start: Array, goal: Array) -> float:
        """How far heights differ below a limb at a goal, or from where it was put at the start, m.

        Infinite where it has to be seen, and nobody has.
        """
        ...


class MappedGround(Ground, Protocol):
    """Ground of which there is a map."""

    heights: HeightMap

    def look_again(self) -> None:
        """Take in how the map has become."""
        ...


class LevelGround:
    """A plane of height 0, on which every place is as good as another."""

    def foothold(self, wanted: Array, shin: Array | None = None) -> Array:
        """Where it wants to be."""
        return np.array([wanted[0], wanted[1], 0.0])

    def highest_between(self, start: Array, end: Array) -> float:
        """Zero."""
        return 0.0

    def highest_at(self, points: Array) -> Array:
        """Zeros."""
        return np.zeros(len(points))

    def roughness(self, start: Array, goal: Array) -> float:
        """Zero."""
        return 0.0


class WatchedGround(LevelGround):
    """Ground that is taken for level, with a map by which somebody watches whether it is; limbs have to prove the rest.

    radius    around a goal that has to be level, m: as far as a hand on an edge slips, and as maps and limbs are off
    """

    def __init__(self, heights: HeightMap, radius: float = 0.1) -> None:
        self.heights, self.radius = heights, radius

    def look_again(self) -> None:
        """Nothing: it looks at the map itself."""

    def roughness(self, start: Array, goal: Array) -> float:
        """Of the map; a few cells may be wrong."""
        around, before = self._around(goal), self._around(start)
        if not len(around):
            return 0.0
        low, high = (float(each) for each in np.sort(around)[[int(WRONG * len(around)), -1 - int(WRONG * len(around))]])
        way = float(np.median(around)) - (float(np.median(before)) if len(before) else 0.0)
        return max(high - low, abs(way))

    def _around(self, place: Array) -> Array:
        """Heights around a place, as far as they were seen."""
        heights = self.heights.around(float(place[0]), float(place[1]), self.radius)
        return np.asarray(heights[np.isfinite(heights)])


class RoughGround:
    """Ground of known heights, as they were when it looked last.

    Of the places around the one that is wanted it takes the one with the least

        distance + unevenness · (highest − lowest height under the limb) + climbing · |height − mean height around|

    radius       of the limb where it bears, m
    search       how far from where it wants to be a limb may go, m
    unevenness   metres of way that a metre of unevenness under the limb is worth
    climbing     metres of way that a metre up or down is worth
    tolerance    unevenness that is none, m: how far heights of a flat place may differ in a map that has errors

    What nobody has seen is no place to be put; where nothing is known around, the ground is taken for level.
    """

    def __init__(
        self,
        heights: HeightMap,
        radius: float = 0.06,
        search: float = 0.12,
        unevenness: float = 20.0,
        climbing: float = 1.0,
        tolerance: float = 0.0,
    ) -> None:
        self.heights, self.radius, self.unevenness, self.climbing = heights, radius, unevenness, climbing
        self.tolerance = tolerance
        around = np.argwhere(_disk(search / heights.cell)) - int(search / heights.cell)
        self._around = around[np.argsort((around**2).sum(axis=1), kind="stable")]
        self.look_again()

    def look_again(self) -> None:
        """Take in how the map has become."""
        under, known = _disk(self.radius / self.heights.cell), _without_pinholes(self.heights.heights)
        unknown = np.isnan(known)
        highest = maximum_filter(np.where(unknown, -np.inf, known), footprint=under, mode="nearest")
        lowest = minimum_filter(np.where(unknown, np.inf, known), footprint=under, mode="nearest")
        blind = maximum_filter(unknown, footprint=under, mode="nearest")
        self._highest = np.where(np.isfinite(highest), highest, 0.0)
        rough = np.where(blind, np.inf, highest - lowest)
        even = rough < self.tolerance
        self._rough = np.where(even, 0.0, rough)
        self._bears = self._highest - np.where(even, rough / 2, 0.0)

    def foothold(self, wanted: Array, shin: Array | None = None) -> Array:
        """The best place nearby."""
        cells = self._around + self.heights.cells(wanted)
        cells = cells[((cells >= 0) & (cells < self._rough.shape)).all(axis=1)]
        rough, height = self._rough[tuple(cells.T)], self._bears[tuple(cells.T)]
        known = np.isfinite(rough)
        if not known.any():
            return np.array([wanted[0], wanted[1], 0.0])
        places = np.asarray(self.heights.corner) + (cells + 0.5) * self.heights.cell
        cost = np.linalg.norm(places - np.asarray(wanted)[:2], axis=1) + self.unevenness * rough
        if shin is not None:
            cost += self.unevenness * self._below_shins(places, height, shin)
        best = int(np.argmin(cost + self.climbing * np.abs(height - height[known].mean())))
        return np.array([*places[best], height[best]])

    def _below_shins(self, places: Array, heights: Array, shin: Array) -> Array:
        """How much higher than a shin, which rises behind its knee, the ground below it is, at most, m."""
        along = np.arange(self.radius, float(np.linalg.norm(shin)), self.heights.cell)
        points = places[:, None] + along[:, None] * (shin / np.linalg.norm(shin))
        below = self._highest[tuple(np.moveaxis(self._inside(points), -1, 0))]
        return np.asarray(np.maximum(below - heights[:, None] - RISING * along, 0.0).max(axis=1))

    def _inside(self, points: Array) -> npt.NDArray[np.int64]:
        """Cells of points; of those beyond the map, the nearest."""
        return np.clip(self.heights.cells(points), 0, np.array(self._highest.shape) - 1)

    def highest_between(self, start: Array, end: Array) -> float:
        """The highest point within a radius of the straight way."""
        way = np.asarray(end)[:2] - np.asarray(start)[:2]
        count = 2 + int(float(np.linalg.norm(way)) / self.heights.cell)
        return float(self.highest_at(np.asarray(start)[:2] + np.linspace(0.0, 1.0, count)[:, None] * way).max())

    def highest_at(self, points: Array) -> Array:
        """The highest point within a radius of each."""
        return np.asarray(self._highest[tuple(self._inside(points).T)])

    def roughness(self, start: Array, goal: Array) -> float:
        """Highest minus lowest under the limb, or the way up or down."""
        below = float(self._rough[tuple(self._inside(np.asarray(goal)[:2]))])
        return max(below, abs(float(goal[2] - start[2])))


class DriftedGround:
    """Ground as a plan has it that has drifted off: `drift` says where in the world the plan's origin is by now."""

    def __init__(self, ground: Ground, drift: Callable[[], Place]) -> None:
        self.ground, self._drift = ground, drift

    def foothold(self, wanted: Array, shin: Array | None = None) -> Array:
        """The best place nearby, in the plan."""
        drift = self._drift()
        turned = None if shin is None else beside(Place(0.0, 0.0, drift.yaw), shin)
        x, y, height = self.ground.foothold(beside(drift, wanted), turned)
        return np.array([*Place(x, y, 0.0).seen_from(drift)[:2], height])

    def highest_between(self, start: Array, end: Array) -> float:
        """On the straight way."""
        drift = self._drift()
        return self.ground.highest_between(beside(drift, start), beside(drift, end))

    def highest_at(self, points: Array) -> Array:
        """Below each point."""
        drift = self._drift()
        return self.ground.highest_at(np.array([beside(drift, point) for point in points]))

    def roughness(self, start: Array, goal: Array) -> float:
        """At a goal in the plan."""
        drift = self._drift()
        return self.ground.roughness(*(np.array([*beside(drift, place), place[2]]) for place in (start, goal)))


def beside(place: Place, seen: Array) -> Array:
    """x y in world of a point seen from a place."""
    return np.array(place.beside(float(seen[0]), float(seen[1]))[:2])


def _without_pinholes(heights: Array) -> Array:
    """Unknown cells among known ones, as in the shadow of an edge, are as low as the lowest beside them."""
    unknown, size = np.isnan(heights), 2 * PINHOLE + 1
    lowest = minimum_filter(np.where(unknown, np.inf, heights), size=size, mode="nearest")
    return np.where(unknown & binary_closing(~unknown, np.ones((size, size))), lowest, heights)


def _disk(cells: float) -> npt.NDArray[np.bool_]:
    """A round patch of so many cells to each side."""
    reach = np.arange(-int(cells), int(cells) + 1)
    return np.asarray(reach[:, None] ** 2 + reach**2 <= cells**2)


FARTHEST = 2.0
"""m: what is farther away, a pair of cameras measures too coarsely."""
EVEN = 0.015
"""m by which heights of a flat place differ in a map of noisy pictures."""
AHEAD, BESIDE = 0.05, 0.3
"""m: ground that is known from the start, before hands and knees and beside them."""
AROUND = 1.2
"""m around the robot that are always on the map: it moves along."""


class GroundMapper:
    """Adds what is seen to the map of a ground over which the crawler crawls, or which it watches."""

    def __init__(self, crawler: Crawler, ground: MappedGround, lens: CameraModel) -> None:
        robot = crawler.model.robot
        cameras = robot.sensors_of("camera")
        if not cameras:
            raise BadGoal(f"{robot.name} has no camera to see the ground with; give a map of it")
        self.crawler, self.ground, self.heights, self.lens = crawler, ground, ground.heights, lens
        self.camera = cameras[0]
        arms = [joint for name, joints in robot.groups.items() if "arm" in name for joint in joints]
        self._own = [crawler.model.frame(robot.joint(joint).child) for joint in arms]
        low, high = crawler.gait.places.min(axis=0), crawler.gait.places.max(axis=0)
        self.heights.put_level((low[0] - crawler.gait.shin, high[0] + AHEAD), (low[1] - BESIDE, high[1] + BESIDE))
        ground.look_again()

    def see(self, depth: Picture, state: State) -> None:
        """Take in a picture of depth, and the state in which it was taken."""
        crawler = self.crawler
        q = crawler.q.copy()
        q[:3], q[3:7], q[7:] = 0.0, state.imu[0].orientation, state.position
        at = crawler.model.at(q)
        trunk_to_world = self._trunk_to_world(at)
        camera = np.eye(4)
        link = crawler.model.frame(self.camera.link)
        camera[:3, :3], camera[:3, 3] = at.rotation(link), at.position(link)
        own = np.array([at.position(frame) for frame in self._own])
        self.heights.keep_inside(*crawler.odometry.trunk[:2], AROUND)
        self.heights.see(
            depth, self.lens, trunk_to_world @ camera @ self.camera.at.matrix, FARTHEST,
            own @ trunk_to_world[:3, :3].T + trunk_to_world[:3, 3],
        )  # fmt: skip
        self.ground.look_again()

    def _trunk_to_world(self, at: Snapshot) -> Array:
        """From the IMU's axes at the trunk to the world of the map."""
        crawler = self.crawler
        trunk, load = crawler.odometry.trunk, crawler.target.load
        turn = trunk.yaw - heading(at.rotation(crawler.model.frame(crawler.model.robot.root)))
        limbs = np.array([at.position(frame) for frame in crawler.joints.frames])
        up = load @ (crawler.joints.frames_on(at, crawler.target.places) - limbs)[:, 2] / load.sum()
        c, s = math.cos(turn), math.sin(turn)
        return np.array([[c, -s, 0.0, trunk.x], [s, c, 0.0, trunk.y], [0.0, 0.0, 1.0, up], [0.0, 0.0, 0.0, 1.0]])
