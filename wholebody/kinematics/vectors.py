"""Three-vectors as tuples inside kernels: nothing is allocated, and the compiler keeps them in registers."""

from __future__ import annotations

import math

from wholebody.model.compiled import compiled
from wholebody.model.layout import Array

Three = tuple[float, float, float]


@compiled
def three(numbers: Array, begin: int) -> Three:
    """Read a vector from an array."""
    return numbers[begin], numbers[begin + 1], numbers[begin + 2]


@compiled
def plus(a: Three, b: Three) -> Three:
    """a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@compiled
def minus(a: Three, b: Three) -> Three:
    """a − b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@compiled
def times(factor: float, a: Three) -> Three:
    """factor · a."""
    return factor * a[0], factor * a[1], factor * a[2]


@compiled
def dot(a: Three, b: Three) -> float:
    """a · b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled
def cross(a: Three, b: Three) -> Three:
    """a × b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@compiled
def norm(a: Three) -> float:
    """|a|."""
    return math.sqrt(dot(a, a))


@compiled
def across(a: Three, axis: Three) -> Three:
    """The part of a that is perpendicular to a unit axis."""
    return minus(a, times(dot(a, axis), axis))


@compiled
def turned(a: Three, axis: Three, cosine: float, sine: float) -> Three:
    """Turn a about a unit axis by an angle of that cosine and sine (Rodrigues)."""
    along = (1.0 - cosine) * dot(axis, a)
    b = cross(axis, a)
    return (
        cosine * a[0] + sine * b[0] + along * axis[0],
        cosine * a[1] + sine * b[1] + along * axis[1],
        cosine * a[2] + sine * b[2] + along * axis[2],
    )


@compiled
def turned_about(x: Three, point: Three, axis: Three, cosine: float, sine: float) -> Three:
    """Turn the point x about a line through another point."""
    return plus(point, turned(minus(x, point), axis, cosine, sine))


@compiled
def apply(numbers: Array, begin: int, a: Three) -> Three:
    """Multiply a vector by the 3 × 3 matrix that stands in an array row by row."""
    return (
        dot(three(numbers, begin), a),
        dot(three(numbers, begin + 3), a),
        dot(three(numbers, begin + 6), a),
    )


@compiled
def arctangent(y: float, x: float) -> float:
    """atan2(y, x) of finite numbers, to 5e-16, in half the library's time: the rational function of Cephes."""
    width, height = abs(x), abs(y)
    large, small = max(width, height), min(width, height)
    steep = small > 0.66 * large
    z = (small - large if steep else small) / (small + large if steep else (large if large > 0.0 else 1.0))
    angle = 0.25 * math.pi if steep else 0.0
    w = z * z
    p = -8.750608600031904122785e-1
    p = p * w - 1.615753718733365076637e1
    p = p * w - 7.500855792314704667340e1
    p = p * w - 1.228866684490136173410e2
    p = p * w - 6.485021904942025371773e1
    q = w + 2.485846490142306297962e1
    q = q * w + 1.650270098316988542046e2
    q = q * w + 4.328810604912902668951e2
    q = q * w + 4.853903996359136964868e2
    q = q * w + 1.945506571482613964425e2
    angle += z * (w * p / q) + z
    angle = 0.5 * math.pi - angle if height > width else angle
    angle = math.pi - angle if x < 0.0 else angle
    return angle if y >= 0.0 else -angle
