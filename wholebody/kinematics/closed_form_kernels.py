"""The closed form of six joints, compiled: one spherical end, and three joints that place its centre.

With every joint turned to zero the tip stands at M; joint k turns by q about a fixed line, eₖ(q). The pose is

    T = e₁ e₂ e₃ e₄ e₅ e₆ M,     G = T M⁻¹

and e₁, e₂, e₃ leave the centre C of the hip or shoulder where it is, so d = G⁻¹ C has to satisfy e₄ e₅ e₆ d = C: three
equations for three angles. Two neighbours of the three, the pair (i, j), are parallel or meet; the third one, the
single, then has to satisfy one equation of its own, which is A cos θ + B sin θ = c, and so has j; i aligns two
vectors. What is left, e₁ e₂ e₃, is a rotation, and its angles are Euler angles. Two signs at each of these three
places make eight branches. A chain whose spherical end is the last one is solved backwards, from G⁻¹.
"""

from __future__ import annotations

import math

import numpy as np

from wholebody.kinematics.closed_form_angles import (
    FREE,
    LIMIT_SLACK,
    Roots,
    Two,
    aligning,
    crossing,
    euler,
    placed,
    root,
    sharper,
)
from wholebody.kinematics.vectors import (
    Three,
    across,
    arctangent,
    cross,
    dot,
    minus,
    norm,
    plus,
    three,
    times,
    turned,
    turned_about,
)
from wholebody.model.compiled import compiled
from wholebody.model.layout import Array

BRANCHES = 8
JOINTS = 6
WITHIN, DISTANCE, TURN = 6, 7, 8  # columns after the joints
COLUMNS = 9
REACHED = 1e-9  # m: nearer than that is there
STRAIGHT = 1e-7  # rad: two branches nearer than that are one (this moves nothing by more than 1e-14 of a limb)
ROTATION_SLACK = 1e-6
SAME_TURN = 1e-6  # rad: orientations nearer than that are alike

# Where things stand in the numbers of a chain.
CENTRE, FRAME_1, FRAME_3, TILT, HOME = 0, 3, 12, 21, 22  # HOME: rotation and translation of M⁻¹
KNOT, REACH = 34, 37  # where the last two axes meet; least and greatest distance of C from there
SINGLE, PAIR_I, PAIR_J = 39, 45, 51  # axis and a point of each
BACKWARDS, SINGLE_LAST, PARALLEL, MEETING = 57, 58, 59, 60  # MEETING: where the pair meets
LOWER, UPPER = 63, 69
ELBOW = 75  # seen from the knot: its distance along the forearm, beside it, and the radius of C about it; or zeros
SIZE = 78

# Where things stand in the sheet of the ways to place C: sines and cosines of six joints each, and so on.
WAYS = BRANCHES // 2
COSINES, DISTANCES = WAYS * JOINTS, 2 * WAYS * JOINTS
UNIQUE, SHEET = DISTANCES + WAYS, DISTANCES + 2 * WAYS


@compiled
def is_pose(pose: Array) -> bool:
    """Whether a 4 × 4 matrix is a rotation and a translation, to 1e-6; NaN is none."""
    worst = abs(pose[3, 0]) + abs(pose[3, 1]) + abs(pose[3, 2]) + abs(pose[3, 3] - 1.0)
    finite = abs(pose[0, 3]) + abs(pose[1, 3]) + abs(pose[2, 3])
    x = (pose[0, 0], pose[1, 0], pose[2, 0])
    y = (pose[0, 1], pose[1, 1], pose[2, 1])
    z = (pose[0, 2], pose[1, 2], pose[2, 2])
    worst += abs(dot(x, x) - 1.0) + abs(dot(y, y) - 1.0) + abs(dot(z, z) - 1.0)
    worst += abs(dot(x, y)) + abs(dot(y, z)) + abs(dot(z, x))
    return worst < ROTATION_SLACK and finite < math.inf and dot(cross(x, y), z) > 0.0


@compiled
def moved_into_reach(chain: Array, d: Three) -> tuple[Three, bool]:
    """d, moved to the nearest place that C can get to; and whether it was there already.

    Seen from the knot, where the last two axes meet, that is between two spheres. For an arm whose elbow is
    perpendicular to the forearm and to the wrist, with ρ and h the distances of d from the last axis and along it: the
    forearm is perpendicular to the last axis, and the elbow at (ρₑ, hₑ); further up than the line to there, d has to be
    in the circle about the elbow whose radius is the upper arm.
    """
    knot, last = three(chain, KNOT), three(chain, PAIR_J)
    r = minus(d, knot)
    upper_arm = chain[ELBOW + 2]
    if upper_arm > 0.0:
        h = dot(r, last)
        out = across(r, last)
        rho = norm(out)
        x, y = rho - chain[ELBOW], abs(h) - chain[ELBOW + 1]
        length = math.sqrt(x * x + y * y)
        if length > upper_arm and abs(h) * chain[ELBOW] > rho * chain[ELBOW + 1]:
            x, y = chain[ELBOW] + x * upper_arm / length, chain[ELBOW + 1] + y * upper_arm / length
            out = times(x / rho, out) if rho > FREE else times(x, three(chain, PAIR_I))
            return plus(knot, plus(out, times(y if h > 0.0 else -y, last))), False
    distance = norm(r)
    wanted = min(max(distance, chain[REACH]), chain[REACH + 1])
    if wanted == distance or distance < FREE:
        return d, True
    return plus(knot, times(wanted / distance, r)), False


@compiled
def free_value(chain: Array, near: Array, joint: int) -> float:
    """What a joint is told to be where it can be anything, in the sense and order in which the chain is solved."""
    return float(near[joint]) if chain[BACKWARDS] == 0.0 else -float(near[5 - joint])


@compiled
def combined(factors: Three, a: Three, b: Three, c: Three) -> Three:
    """x a + y b + z c."""
    return (
        factors[0] * a[0] + factors[1] * b[0] + factors[2] * c[0],
        factors[0] * a[1] + factors[1] * b[1] + factors[2] * c[1],
        factors[0] * a[2] + factors[1] * b[2] + factors[2] * c[2],
    )


@compiled
def from_home(chain: Array, pose: Array) -> tuple[Three, Three, Three, Three]:
    """G = T M⁻¹, or its inverse if the chain is solved backwards: the rows of the rotation, and the translation."""
    x, y, z = (
        (pose[0, 0], pose[0, 1], pose[0, 2]),
        (pose[1, 0], pose[1, 1], pose[1, 2]),
        (pose[2, 0], pose[2, 1], pose[2, 2]),
    )
    h = three(chain, HOME + 9)
    t = (pose[0, 3] + dot(x, h), pose[1, 3] + dot(y, h), pose[2, 3] + dot(z, h))
    h0, h1, h2 = three(chain, HOME), three(chain, HOME + 3), three(chain, HOME + 6)
    x, y, z = combined(x, h0, h1, h2), combined(y, h0, h1, h2), combined(z, h0, h1, h2)
    if chain[BACKWARDS] == 0.0:
        return x, y, z, t
    t = times(-1.0, combined(t, x, y, z))
    return (x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2]), t


@compiled
def single_roots(chain: Array, x: Three, other: Three, free: float) -> Roots:
    """The single turns x until the pair can bring it to the other point, or the other to it."""
    a, p = three(chain, SINGLE), three(chain, SINGLE + 3)
    r = minus(x, p)
    s = across(r, a)
    if chain[PARALLEL] != 0.0:  # the same height along the axes of the pair
        k = three(chain, PAIR_I)
        c = dot(k, minus(minus(other, p), minus(r, s)))
    else:  # the same distance from where they meet
        W = three(chain, MEETING)
        k, q = minus(W, p), minus(other, W)
        c = 0.5 * (dot(r, r) + dot(k, k) - dot(q, q)) - dot(k, minus(r, s))
    return crossing(dot(k, s), dot(k, cross(a, s)), c, free, STRAIGHT)


@compiled
def pair_roots(chain: Array, u: Three, w: Three, free: float, reached: bool) -> Roots:
    """Joint j of the pair turns u until joint i can bring it to w."""
    ai, aj = three(chain, PAIR_I), three(chain, PAIR_J)
    if chain[PARALLEL] != 0.0:  # the same distance from the axis i
        pi, pj = three(chain, PAIR_I + 3), three(chain, PAIR_J + 3)
        k, s, q = across(minus(pi, pj), ai), across(minus(u, pj), ai), across(minus(w, pi), ai)
        c = 0.5 * (dot(s, s) + dot(k, k) - dot(q, q))
        return crossing(dot(k, s), dot(k, cross(aj, s)), c, free, STRAIGHT)
    r, q = minus(u, three(chain, MEETING)), minus(w, three(chain, MEETING))
    s = across(r, aj)
    c = dot(ai, minus(q, minus(r, s)))  # the same height along the axis i
    roots = crossing(dot(ai, s), dot(ai, cross(aj, s)), c, free, 0.0)
    if reached and abs(dot(ai, aj)) < FREE:
        return sharper(roots, c, norm(across(q, ai)), dot(aj, r))
    return roots


@compiled
def miss(chain: Array, d: Three, single: Two, i: Two, j: Two) -> float:
    """|e₄ e₅ e₆ d − C|, which is how far the tip stays from the goal when the orientation is right."""
    a, p = three(chain, SINGLE), three(chain, SINGLE + 3)
    last = chain[SINGLE_LAST] != 0.0
    z = turned_about(d, p, a, single[0], single[1]) if last else d
    z = turned_about(z, three(chain, PAIR_J + 3), three(chain, PAIR_J), j[0], j[1])
    z = turned_about(z, three(chain, PAIR_I + 3), three(chain, PAIR_I), i[0], i[1])
    return norm(minus(z if last else turned_about(z, p, a, single[0], -single[1]), three(chain, CENTRE)))


@compiled
def turned_back(chain: Array, a: Three, single: Two, i: Two, j: Two) -> Three:
    """(e₄ e₅ e₆)⁻¹ a, of a direction."""
    if chain[SINGLE_LAST] == 0.0:
        a = turned(a, three(chain, SINGLE), single[0], single[1])
    a = turned(a, three(chain, PAIR_I), i[0], -i[1])
    a = turned(a, three(chain, PAIR_J), j[0], -j[1])
    return a if chain[SINGLE_LAST] == 0.0 else turned(a, three(chain, SINGLE), single[0], -single[1])


@compiled
def solve(chain: Array, pose: Array, near: Array, table: Array) -> int:
    """Fill one row per branch: six joints, within limits or not, distance from the goal in m and rad.

    Returns how many rows, or −1 if the pose is none. Rows that reach the goal stand alone; only if there are none are
    there rows that do not. near: values for joints that can be anywhere.
    """
    if not is_pose(pose):
        return -1
    sheet = np.empty(SHEET)  # of every way to place C: sines and cosines of the joints, how far the goal, if unique
    ways = place(chain, pose, near, sheet)
    angles = sheet[:COSINES]
    for index in range(ways * JOINTS):
        angles[index] = arctangent(angles[index], sheet[COSINES + index])
    count = 0
    least = math.inf
    for way in range(ways):
        least = min(least, sheet[DISTANCES + way])
        for turned_over in range(2 if sheet[UNIQUE + way] != 0.0 else 1):
            row = table[count]
            write(chain, near, angles[JOINTS * way : JOINTS * (way + 1)], turned_over, row)
            row[DISTANCE], row[TURN] = sheet[DISTANCES + way], 0.0
            count += 1
    return count if least <= REACHED else nearest_rows(table, count, least, DISTANCE)


@compiled
def place(chain: Array, pose: Array, near: Array, sheet: Array) -> int:
    """Bring C to its place, in up to four ways, and turn the spherical end; how many ways there are."""
    g0, g1, g2, t = from_home(chain, pose)
    C = three(chain, CENTRE)
    goal = combined(minus(C, t), g0, g1, g2)
    d, reached = moved_into_reach(chain, goal)
    f0 = combined(three(chain, FRAME_1), g0, g1, g2)
    f1 = combined(three(chain, FRAME_1 + 3), g0, g1, g2)
    f2 = combined(three(chain, FRAME_1 + 6), g0, g1, g2)
    last = chain[SINGLE_LAST] != 0.0
    single, i = (5, 3) if last else (3, 4)
    sense = 1.0 if last else -1.0  # a single that comes first turns C back
    start = three(chain, PAIR_I + 3) if chain[PARALLEL] != 0.0 else three(chain, MEETING)

    ways = 0
    least = math.inf
    x, other = (d, C) if last else (C, d)
    roots = single_roots(chain, x, other, sense * free_value(chain, near, single))
    reached = reached and roots[4]
    for first in range(2 if roots[3] > 0.0 else 1):
        turn_single = root(roots, 1.0 - 2.0 * first)
        y = turned_about(x, three(chain, SINGLE + 3), three(chain, SINGLE), turn_single[0], turn_single[1])
        u, w = (y, C) if last else (d, y)
        roots_j = pair_roots(chain, u, w, free_value(chain, near, i + 1), reached)
        for second in range(2 if roots_j[3] > 0.0 else 1):
            turn_j = root(roots_j, 1.0 - 2.0 * second)
            v = turned_about(u, three(chain, PAIR_J + 3), three(chain, PAIR_J), turn_j[0], turn_j[1])
            turn_i = aligning(minus(v, start), minus(w, start), three(chain, PAIR_I), free_value(chain, near, i))
            distance = 0.0 if reached and roots_j[4] else miss(chain, goal, turn_single, turn_i, turn_j)
            if distance <= REACHED < least:
                ways = 0
            elif distance > REACHED and least <= REACHED:
                continue
            least = min(least, distance)
            # What is left is a rotation: F₁ᵀ e₁ e₂ e₃ F₃ = Rz(q₁) Ry(q₂ + tilt) Rz(q₃).
            m = turned_back(chain, three(chain, FRAME_3 + 3), turn_single, turn_i, turn_j)
            n = turned_back(chain, three(chain, FRAME_3 + 6), turn_single, turn_i, turn_j)
            m, n = (dot(f0, m), dot(f1, m), dot(f2, m)), (dot(f0, n), dot(f1, n), dot(f2, n))
            turn_1, turn_2, turn_3, unique = euler(m, n, free_value(chain, near, 0))
            note(sheet, ways, 0, turn_1)
            note(sheet, ways, 1, turn_2)
            note(sheet, ways, 2, turn_3)
            note(sheet, ways, single, (turn_single[0], sense * turn_single[1]))
            note(sheet, ways, i, turn_i)
            note(sheet, ways, i + 1, turn_j)
            sheet[DISTANCES + ways], sheet[UNIQUE + ways] = distance, 1.0 if unique else 0.0
            ways += 1
    return ways


@compiled
def note(sheet: Array, way: int, joint: int, turn: Two) -> None:
    """Write down the sine and cosine of a joint."""
    sheet[JOINTS * way + joint], sheet[COSINES + JOINTS * way + joint] = turn[1], turn[0]


@compiled
def write(chain: Array, near: Array, angles: Array, turned_over: int, row: Array) -> None:
    """Put joints in the order of the chain, each angle within limits if it can be, and say whether all are.

    turned_over: the other way to turn the spherical end, q₁ + π, −q₂, q₃ + π.
    """
    for k in range(JOINTS):
        row[k] = angles[k]
    if turned_over:
        row[0], row[1], row[2] = row[0] + math.pi, -row[1], row[2] + math.pi
    row[1] -= chain[TILT]
    if chain[BACKWARDS] != 0.0:
        for k in range(3):
            row[k], row[5 - k] = -row[5 - k], -row[k]
    within = 1.0
    for k in range(JOINTS):
        lower, upper = chain[LOWER + k], chain[UPPER + k]
        row[k] = placed(row[k], lower, upper, near[k])
        within *= 1.0 if lower - LIMIT_SLACK <= row[k] <= upper + LIMIT_SLACK else 0.0
    row[WITHIN] = within


@compiled
def nearest_rows(table: Array, count: int, least: float, distance: int) -> int:
    """Keep the rows that come nearest to the goal, to 1e-9 m; distance is their column."""
    kept = 0
    for index in range(count):
        if table[index, distance] <= least + REACHED:
            for column in range(table.shape[1]):
                table[kept, column] = table[index, column]
            kept += 1
    return kept


@compiled
def keep_within(table: Array, count: int, within: int) -> int:
    """Keep the rows within limits; within is their column."""
    kept = 0
    for index in range(count):
        if table[index, within] != 0.0:
            for column in range(table.shape[1]):
                table[kept, column] = table[index, column]
            kept += 1
    return kept


@compiled
def choose(table: Array, count: int, joints: int, near: Array) -> int:
    """The row nearest to a posture (least Σ Δq²) of those that reach the goal within limits; −1 if none does.

    If they do not all turn the tip alike (fewer than six joints), only those that turn it best.
    """
    least = math.inf
    for index in range(count):
        if table[index, joints] != 0.0 and table[index, joints + 1] <= REACHED:
            least = min(least, table[index, joints + 2])
    best, best_cost = -1, math.inf
    for index in range(count):
        if table[index, joints] == 0.0 or table[index, joints + 1] > REACHED:
            continue
        cost = 0.0 if table[index, joints + 2] <= least + SAME_TURN else math.inf
        for k in range(joints):
            cost += (table[index, k] - near[k]) ** 2
        if cost < best_cost:
            best, best_cost = index, cost
    return best
