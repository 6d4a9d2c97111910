"""The closed form of arms with four or five joints, compiled: position exactly, orientation as near as can be.

A spherical shoulder with centre C, an elbow e₄ and perhaps a last joint e₅ whose axis goes through the tip, so that it
does not move it. The elbow makes the distance from C to the tip right, |e₄ p − C| = |goal − C|, in two ways. The
shoulder brings the tip to the goal and may still turn everything by φ about the line ĝ from C to the goal: the swivel.
As quaternions, the orientation is

    (cos φ/2 + ĝ sin φ/2) n (cos q₅/2 + a₅ sin q₅/2),

and its product with the goal's is [cos φ/2, sin φ/2] K [cos q₅/2, sin q₅/2]ᵀ: the best φ and q₅ are the first singular
vectors of K, two by two. Two signs of the elbow and two of the shoulder make four branches.
"""

from __future__ import annotations

import math

from wholebody.kinematics.closed_form_angles import FREE, LIMIT_SLACK, crossing, euler, placed, root
from wholebody.kinematics.closed_form_kernels import (
    CENTRE,
    FRAME_1,
    FRAME_3,
    HOME,
    STRAIGHT,
    TILT,
    is_pose,
    nearest_rows,
)
from wholebody.kinematics.vectors import (
    Three,
    across,
    apply,
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

BRANCHES = 4
Four = tuple[float, float, float, float]  # a quaternion, the scalar first: only in this file

# Where things stand in the numbers of a chain, after those it shares with six joints.
TIP, ELBOW, LAST, LIMITS = 34, 37, 43, 46  # tip at home; axis and a point; axis; lower, upper of each joint
SIZE = 56


@compiled
def product(a: Four, b: Four) -> Four:
    """Multiply quaternions."""
    v = plus(plus(times(a[0], (b[1], b[2], b[3])), times(b[0], (a[1], a[2], a[3]))),
             cross((a[1], a[2], a[3]), (b[1], b[2], b[3])))  # fmt: skip
    return a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3], v[0], v[1], v[2]


@compiled
def inner(a: Four, b: Four) -> float:
    """The scalar product of quaternions: the cosine of half the angle between two rotations."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]


@compiled
def quaternion(x: Three, y: Three, z: Three) -> Four:
    """The quaternion of the rotation with these columns."""
    if x[0] + y[1] + z[2] > 0.0:
        s = 2.0 * math.sqrt(1.0 + x[0] + y[1] + z[2])
        return 0.25 * s, (y[2] - z[1]) / s, (z[0] - x[2]) / s, (x[1] - y[0]) / s
    if x[0] > y[1] and x[0] > z[2]:
        s = 2.0 * math.sqrt(1.0 + x[0] - y[1] - z[2])
        return (y[2] - z[1]) / s, 0.25 * s, (y[0] + x[1]) / s, (z[0] + x[2]) / s
    if y[1] > z[2]:
        s = 2.0 * math.sqrt(1.0 + y[1] - x[0] - z[2])
        return (z[0] - x[2]) / s, (y[0] + x[1]) / s, 0.25 * s, (z[1] + y[2]) / s
    s = 2.0 * math.sqrt(1.0 + z[2] - x[0] - y[1])
    return (x[1] - y[0]) / s, (z[0] + x[2]) / s, (z[1] + y[2]) / s, 0.25 * s


@compiled
def unit(a: Three, otherwise: Three) -> Three:
    """The direction of a, or another if a is nearly zero."""
    length = norm(a)
    return times(1.0 / length, a) if length > FREE else otherwise


@compiled
def beside(axis: Three, wanted: Three, otherwise: Three) -> Three:
    """A unit vector perpendicular to a unit axis, as near as can be to the first of two directions that gives one."""
    a = across(wanted, axis)
    if dot(a, a) < 1e-18:
        a = across(otherwise, axis)
    if dot(a, a) < 1e-18:
        a = across((axis[1], axis[2], -axis[0]), axis)
    return times(1.0 / norm(a), a)


@compiled
def solve(chain: Array, pose: Array, near: Array, swivel: float, table: Array) -> int:
    """Fill one row per branch: joints, within limits or not, distance in m and rad; how many, −1 if it is no pose.

    With a swivel (not NaN), φ is such that the elbow is that far from hanging down, about ĝ.
    """
    if not is_pose(pose):
        return -1
    joints = near.size
    C, tip = three(chain, CENTRE), three(chain, TIP)
    a, p = three(chain, ELBOW), three(chain, ELBOW + 3)
    b = three(chain, LAST)
    towards = minus((pose[0, 3], pose[1, 3], pose[2, 3]), C)
    length = norm(towards)
    r, k = minus(tip, p), minus(C, p)
    s = across(r, a)
    c = 0.5 * (dot(r, r) + dot(k, k) - length * length) - dot(k, minus(r, s))
    roots = crossing(dot(k, s), dot(k, cross(a, s)), c, near[3], STRAIGHT)
    # The goal's orientation without that of the tip at home: R M⁻¹.
    h0, h1, h2 = three(chain, HOME), three(chain, HOME + 3), three(chain, HOME + 6)
    x = (
        dot_row(pose, 0, h0[0], h1[0], h2[0]),
        dot_row(pose, 1, h0[0], h1[0], h2[0]),
        dot_row(pose, 2, h0[0], h1[0], h2[0]),
    )
    y = (
        dot_row(pose, 0, h0[1], h1[1], h2[1]),
        dot_row(pose, 1, h0[1], h1[1], h2[1]),
        dot_row(pose, 2, h0[1], h1[1], h2[1]),
    )
    wanted = quaternion(x, y, cross(x, y))
    elbow = across(minus(p, C), a)  # from C to the nearest point of the elbow's axis

    count = 0
    for first in range(2 if roots[3] > 0.0 else 1):
        cosine, sine = root(roots, 1.0 - 2.0 * first)
        q_4 = arctangent(sine, cosine)
        u = minus(turned_about(tip, p, a, cosine, sine), C)
        distance = abs(norm(u) - length)
        u_hat = unit(u, (0.0, 0.0, -1.0))
        g = unit(towards, u_hat)
        # R₀: u to ĝ, and the elbow to where it hangs down.
        e = beside(u_hat, elbow, cross(a, u_hat))
        f = beside(g, (0.0, 0.0, -1.0), (1.0, 0.0, 0.0))
        e_3, f_3 = cross(u_hat, e), cross(g, f)
        start = quaternion(
            plus(plus(times(u_hat[0], g), times(e[0], f)), times(e_3[0], f_3)),
            plus(plus(times(u_hat[1], g), times(e[1], f)), times(e_3[1], f_3)),
            plus(plus(times(u_hat[2], g), times(e[2], f)), times(e_3[2], f_3)),
        )
        n = product(start, half_turn(a, 0.5 * q_4))
        gn = product((0.0, g[0], g[1], g[2]), n)
        k_00, k_10 = inner(n, wanted), inner(gn, wanted)
        k_01, k_11 = 0.0, 0.0
        if joints == 5:
            last = (0.0, b[0], b[1], b[2])
            k_01, k_11 = inner(product(n, last), wanted), inner(product(gn, last), wanted)
        alpha, beta = best(k_00, k_01, k_10, k_11, 0.5 * swivel, joints == 5)
        if joints == 5:
            lower, upper = chain[LIMITS + 4], chain[LIMITS + 5 + 4]
            q_5 = placed(2.0 * beta, lower, upper, near[4])
            if q_5 < lower or q_5 > upper:
                q_5 = clamped(q_5, lower, upper)
                beta = 0.5 * q_5
                if math.isnan(swivel):
                    cb, sb = math.cos(beta), math.sin(beta)
                    alpha = arctangent(k_10 * cb + k_11 * sb, k_00 * cb + k_01 * sb)
        reached = product(product(half_turn(g, alpha), n), half_turn(b, beta))
        off = product((reached[0], -reached[1], -reached[2], -reached[3]), wanted)
        turn = 2.0 * arctangent(norm((off[1], off[2], off[3])), abs(off[0]))
        # The shoulder: e₁ e₂ e₃ = Rot(ĝ, φ) R₀.
        cosine, sine = math.cos(2.0 * alpha), math.sin(2.0 * alpha)
        v, w = three(chain, FRAME_3 + 3), three(chain, FRAME_3 + 6)
        v = plus(plus(times(dot(u_hat, v), g), times(dot(e, v), f)), times(dot(e_3, v), f_3))
        w = plus(plus(times(dot(u_hat, w), g), times(dot(e, w), f)), times(dot(e_3, w), f_3))
        v, w = turned(v, g, cosine, sine), turned(w, g, cosine, sine)
        turn_1, turn_2, turn_3, unique = euler(apply(chain, FRAME_1, v), apply(chain, FRAME_1, w), near[0])
        q_1, q_2 = arctangent(turn_1[1], turn_1[0]), arctangent(turn_2[1], turn_2[0])
        q_3 = arctangent(turn_3[1], turn_3[0])
        for second in range(2 if unique else 1):
            if second:
                q_1, q_2, q_3 = q_1 + math.pi, -q_2, q_3 + math.pi
            row = table[count]
            row[0], row[1], row[2], row[3] = q_1, q_2 - chain[TILT], q_3, q_4
            if joints == 5:
                row[4] = 2.0 * beta
            row[joints + 1], row[joints + 2] = distance, turn
            within = 1.0
            for index in range(joints):
                lower, upper = chain[LIMITS + index], chain[LIMITS + 5 + index]
                row[index] = placed(row[index], lower, upper, near[index])
                if row[index] < lower - LIMIT_SLACK or row[index] > upper + LIMIT_SLACK:
                    within = 0.0
            row[joints] = within
            count += 1
    return nearest_rows(table, count, least(table, count, joints + 1), joints + 1)


@compiled
def clamped(x: float, lower: float, upper: float) -> float:
    """The limit that is nearer round the circle."""
    return lower if math.cos(x - lower) > math.cos(x - upper) else upper


@compiled
def dot_row(pose: Array, row: int, x: float, y: float, z: float) -> float:
    """A row of the pose's rotation times a vector."""
    return float(pose[row, 0] * x + pose[row, 1] * y + pose[row, 2] * z)


@compiled
def half_turn(axis: Three, half: float) -> Four:
    """The quaternion of a turn about an axis, by twice the angle."""
    s = math.sin(half)
    return math.cos(half), s * axis[0], s * axis[1], s * axis[2]


@compiled
def best(k_00: float, k_01: float, k_10: float, k_11: float, alpha: float, both: bool) -> tuple[float, float]:
    """α, β with the greatest [cos α, sin α] K [cos β, sin β]ᵀ; of β alone if α is no NaN, of α alone if not both."""
    if not math.isnan(alpha):
        c, s = math.cos(alpha), math.sin(alpha)
        return alpha, arctangent(c * k_01 + s * k_11, c * k_00 + s * k_10) if both else 0.0
    if not both:
        return arctangent(k_10, k_00), 0.0
    total = arctangent(k_10 + k_01, k_00 - k_11)
    difference = arctangent(k_10 - k_01, k_00 + k_11)
    return 0.5 * (total + difference), 0.5 * (total - difference)


@compiled
def least(table: Array, count: int, column: int) -> float:
    """The least value of a column."""
    value = math.inf
    for index in range(count):
        value = min(value, float(table[index, column]))
    return value
