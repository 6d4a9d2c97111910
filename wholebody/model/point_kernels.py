"""The kernels of points: how a point fixed to a frame moves, and rows of its Jacobian as columns of a wide matrix.

Controllers want Jᵀ, whose columns are the rows of many tasks side by side; these kernels write them there at once, and
touch only the joints that move the point.
"""

from __future__ import annotations

from wholebody.model.compiled import compiled, inlined
from wholebody.model.layout import Array, Tree, Values

Three = tuple[float, float, float]


@inlined
def cross(a: Three, b: Three) -> Three:
    """a × b."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@inlined
def turned(R: Array, d: Three) -> Three:
    """R d, with the rotation in the upper left of a 4 × 4 placement."""
    return (
        R[0, 0] * d[0] + R[0, 1] * d[1] + R[0, 2] * d[2],
        R[1, 0] * d[0] + R[1, 1] * d[1] + R[1, 2] * d[2],
        R[2, 0] * d[0] + R[2, 1] * d[1] + R[2, 2] * d[2],
    )


@inlined
def turned_back(R: Array, d: Three) -> Three:
    """Rᵀ d."""
    return (
        R[0, 0] * d[0] + R[1, 0] * d[1] + R[2, 0] * d[2],
        R[0, 1] * d[0] + R[1, 1] * d[1] + R[2, 1] * d[2],
        R[0, 2] * d[0] + R[1, 2] * d[1] + R[2, 2] * d[2],
    )


@inlined
def point_motion(now: Values, frame: int, d: Three) -> tuple[Three, Three]:
    """Velocity v + ω × d of a point at d (world axes) from a frame's origin, and J̇ v: a + α × d + ω × (ω × d)."""
    velocity, bias = now.velocity[frame], now.bias[frame]
    w, alpha = (velocity[3], velocity[4], velocity[5]), (bias[3], bias[4], bias[5])
    u = cross(w, d)
    a, b = cross(alpha, d), cross(w, u)
    return (
        (velocity[0] + u[0], velocity[1] + u[1], velocity[2] + u[2]),
        (bias[0] + a[0] + b[0], bias[1] + a[1] + b[1], bias[2] + a[2] + b[2]),
    )


@compiled
def add_point_rows(
    fixed: Tree, now: Values, floating: bool, frame: int, p: Three, rows: Array, count: int, into: Array, first: int
) -> None:
    """Add the rows B J of a point's Jacobian J as columns of `into`, from column `first` on.

    p is where the point is from O, the base's place, in world axes; B are the first `count` of `rows`, each of six
    numbers for the linear and the angular velocity. Joints that do not move the frame are left alone.
    """
    px, py, pz = p
    if floating:
        for k in range(3):
            a, b, c = now.rotation[0, k], now.rotation[0, 3 + k], now.rotation[0, 6 + k]
            x, y, z = b * pz - c * py, c * px - a * pz, a * py - b * px
            for i in range(count):
                r0, r1, r2 = rows[i, 0], rows[i, 1], rows[i, 2]
                into[k, first + i] += r0 * a + r1 * b + r2 * c
                into[3 + k, first + i] += (
                    r0 * x + r1 * y + r2 * z + rows[i, 3] * a + rows[i, 4] * b + rows[i, 5] * c
                )  # fmt: skip
    body = fixed.frame_body[frame]
    while body > 0:
        column, screw = fixed.column[body], now.screw[body]
        a, b, c = screw[3], screw[4], screw[5]
        x, y, z = screw[0] + b * pz - c * py, screw[1] + c * px - a * pz, screw[2] + a * py - b * px
        for i in range(count):
            into[column, first + i] += (
                rows[i, 0] * x + rows[i, 1] * y + rows[i, 2] * z + rows[i, 3] * a + rows[i, 4] * b + rows[i, 5] * c
            )
        body = fixed.parent[body]
