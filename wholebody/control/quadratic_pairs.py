"""The kernels of pairs of shapes: which may come too near within a period, and the rows that keep them apart.

Every shape lies within a capsule of its own: a segment, thickened. The distance of two capsules is never more than that
of the shapes in them, and it is found a hundred times faster; only pairs whose capsules are near need be looked at.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from wholebody.control.quadratic_memory import PAIRS, open_all
from wholebody.model.compiled import compiled
from wholebody.model.cut import cut
from wholebody.model.layout import Array, Integers, tree, values
from wholebody.model.point_kernels import Three, add_point_rows, point_motion, turned


class Shapes(NamedTuple):
    """Shapes on frames, and where they are in this cycle."""

    at: Array  # shapes × 4 × 4, shape to frame
    axis: Array  # shapes × 3: half the segment, in the shape's axes
    radius: Array  # shapes × 2: of the capsule, and of a sphere about it
    box: Array  # shapes × 3: half the size of a box about it, or zeros for one that is its capsule
    frame: Integers
    rotation: Array  # shapes × 3 × 3, shape to world: written here, as all below
    centre: Array  # shapes × 3, in world
    half: Array  # shapes × 3, the same in world
    velocity: Array  # shapes × 3, of the centre
    spin: Array  # shapes × 3, in world


@compiled
def place(integers: Integers, storage: Array, shapes: Shapes) -> None:
    """Put all shapes where their frames are."""
    now = values(integers, storage)
    for s in range(len(shapes.frame)):
        frame, at = shapes.frame[s], shapes.at[s]
        P = now.placement[frame]
        arm = turned(P, (at[0, 3], at[1, 3], at[2, 3]))
        velocity, _ = point_motion(now, frame, arm)
        w = now.velocity[frame]
        for i in range(3):
            shapes.centre[s, i] = P[i, 3] + arm[i]
            shapes.velocity[s, i], shapes.spin[s, i] = velocity[i], w[3 + i]
            shapes.half[s, i] = 0.0
            for j in range(3):
                total = 0.0
                for k in range(3):
                    total += P[i, k] * at[k, j]
                shapes.rotation[s, i, j] = total
                shapes.half[s, i] += total * shapes.axis[s, j]


@compiled
def list_near(
    shapes: Shapes,
    pairs: Integers,
    clearance: float,
    braking: float,
    sudden: float,
    period: float,
    near: Integers,
    room: Array,
) -> int:
    """The pairs that could be too near, or too fast to stop in time, after a period; how many.

    Their room is what they have of what they need to stop in: 0 at the clearance, below 1 for all that are listed.
    ((s + a dt)² − (a dt)²) / 2a is needed for a speed s that is braked with a. They close with the speed they have and
    what an acceleration of `sudden` adds.
    """
    count = 0
    for index in range(pairs.shape[0]):
        one, other = pairs[index, 0], pairs[index, 1]
        apart, speed = _apart_and_speed(shapes, one, other)
        within = clearance + _way_to_stop(speed + sudden * period, braking, period)
        if apart - shapes.radius[one, 1] - shapes.radius[other, 1] > within:
            continue
        distance, s, t = distance_of_capsules(shapes, one, other)
        if shapes.box[one, 0] == 0.0 and shapes.box[other, 0] == 0.0:
            speed = max(_closing(shapes, one, other, s, t), 0.0)
            within = clearance + _way_to_stop(speed + sudden * period, braking, period)
        else:
            distance = max(distance, _beside_box(shapes, one, other), _beside_box(shapes, other, one))
        if distance < within:
            near[count], room[count] = index, (distance - clearance) / (within - clearance)
            count += 1
    return count


@compiled
def _apart_and_speed(shapes: Shapes, one: int, other: int) -> tuple[float, float]:
    """How far apart two centres are, and the greatest speed of a point of the other, seen from the one as it turns."""
    square = speed = spin = 0.0
    w = shapes.spin[one]
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        square += (shapes.centre[other, i] - shapes.centre[one, i]) ** 2
        carried = w[j] * (shapes.centre[other, k] - shapes.centre[one, k])
        carried -= w[k] * (shapes.centre[other, j] - shapes.centre[one, j])
        speed += (shapes.velocity[other, i] - shapes.velocity[one, i] - carried) ** 2
        spin += (shapes.spin[other, i] - w[i]) ** 2
    return math.sqrt(square), math.sqrt(speed) + math.sqrt(spin) * shapes.radius[other, 1]


@compiled
def _way_to_stop(speed: float, braking: float, period: float) -> float:
    return (speed + 2.0 * braking * period) * speed / (2.0 * braking)


@compiled
def _closing(shapes: Shapes, one: int, other: int, s: float, t: float) -> float:
    """How fast the nearest points of two segments, at s and t, come nearer."""
    square = rate = 0.0
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        d = shapes.centre[one, i] + s * shapes.half[one, i] - shapes.centre[other, i] - t * shapes.half[other, i]
        a, b = shapes.spin[one], shapes.spin[other]
        mine = shapes.velocity[one, i] + s * (a[j] * shapes.half[one, k] - a[k] * shapes.half[one, j])
        theirs = shapes.velocity[other, i] + t * (b[j] * shapes.half[other, k] - b[k] * shapes.half[other, j])
        square += d * d
        rate += d * (mine - theirs)
    return -rate / math.sqrt(max(square, 1e-12))


@compiled
def distance_of_capsules(shapes: Shapes, one: int, other: int) -> tuple[float, float, float]:
    """Of two shapes, by the segments c + s h with −1 ≤ s ≤ 1: the least ‖d + s h₁ − t h₂‖, less radii; s; t."""
    h, k = shapes.half[one], shapes.half[other]
    aa = bb = ab = da = db = dd = 0.0
    for i in range(3):
        d = shapes.centre[one, i] - shapes.centre[other, i]
        aa += h[i] * h[i]
        bb += k[i] * k[i]
        ab += h[i] * k[i]
        da += d * h[i]
        db += d * k[i]
        dd += d * d
    best = (math.inf, 0.0, 0.0)
    determinant = aa * bb - ab * ab
    if determinant > 1e-12 * aa * bb:
        s, t = (ab * db - bb * da) / determinant, (aa * db - ab * da) / determinant
        if abs(s) <= 1.0 and abs(t) <= 1.0:
            best = (_square(aa, bb, ab, da, db, dd, s, t), s, t)
    for end in (-1.0, 1.0):  # else one of the four ends is nearest
        t = max(-1.0, min(1.0, (db + end * ab) / bb)) if bb > 0.0 else 0.0
        best = _nearer(best, (_square(aa, bb, ab, da, db, dd, end, t), end, t))
        s = max(-1.0, min(1.0, (end * ab - da) / aa)) if aa > 0.0 else 0.0
        best = _nearer(best, (_square(aa, bb, ab, da, db, dd, s, end), s, end))
    return math.sqrt(max(best[0], 0.0)) - shapes.radius[one, 0] - shapes.radius[other, 0], best[1], best[2]


@compiled
def _nearer(one: Three, other: Three) -> Three:
    return one if one[0] <= other[0] else other


@compiled
def _square(aa: float, bb: float, ab: float, da: float, db: float, dd: float, s: float, t: float) -> float:
    return dd + s * (2.0 * da + s * aa) + t * (-2.0 * db + t * bb) - 2.0 * s * t * ab


@compiled
def _beside_box(shapes: Shapes, box: int, other: int) -> float:
    """How far a capsule is at least from a shape in a box, by the box around its segment along the same axes."""
    if shapes.box[box, 0] == 0.0:
        return 0.0
    square = 0.0
    for j in range(3):
        centre = half = 0.0
        for i in range(3):
            centre += shapes.rotation[box, i, j] * (shapes.centre[other, i] - shapes.centre[box, i])
            half += shapes.rotation[box, i, j] * shapes.half[other, i]
        gap = abs(centre) - abs(half) - shapes.box[box, j]
        if gap > 0.0:
            square += gap * gap
    return math.sqrt(square) - float(shapes.radius[other, 0])


@compiled
def fill_pairs(
    integers: Integers,
    table: Integers,
    beyond: Integers,
    work_numbers: Array,
    counts: Integers,
    numbers: Array,
    storage: Array,
    frames: Integers,
    gaps: Array,
) -> None:
    """The rows of pairs of links: n · (J_other − J_one), with the rate of the distance and n · (J̇_other − J̇_one) v.

    Of each gap: a point on one, a point on the other, the normal from one to the other, and the distance.
    """
    fixed, now = tree(integers, numbers), values(integers, storage)
    a = open_all(integers, table, beyond, work_numbers, counts)
    column, B = cut(a.work.spare, 0, (a.n, 1)), a.memory.B
    a.work.state[PAIRS] = gaps.shape[0]
    for row in range(gaps.shape[0]):
        gap = gaps[row]
        for i in range(a.n):
            column[i, 0] = 0.0
        rate = bias = 0.0
        for side in range(2 if gap[9] < math.inf else 0):
            frame, sign = frames[row, side], -1.0 if side == 0 else 1.0
            d: Three = (
                gap[3 * side] - now.position[frame, 0],
                gap[3 * side + 1] - now.position[frame, 1],
                gap[3 * side + 2] - now.position[frame, 2],
            )
            lever = now.lever[frame]
            velocity, acceleration = point_motion(now, frame, d)
            for k in range(3):
                B[0, k], B[0, 3 + k] = sign * gap[6 + k], 0.0
                rate += sign * gap[6 + k] * velocity[k]
                bias += sign * gap[6 + k] * acceleration[k]
            at = (lever[0] + d[0], lever[1] + d[1], lever[2] + d[2])
            add_point_rows(fixed, now, integers[5] == 1, frame, at, B, 1, column, 0)
        for i in range(a.n):
            a.work.pairs[row, i] = column[i, 0]
        a.work.gaps[0, row], a.work.gaps[1, row], a.work.gaps[2, row] = gap[9], rate, bias
