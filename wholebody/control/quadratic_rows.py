"""The kernels of the rows of limits: what they are rows on, and their bounds."""

from __future__ import annotations

import math

from wholebody.constraints import constraint as constraint_kinds
from wholebody.constraints.contacts import across_axis
from wholebody.control.quadratic_limits import closing_range, velocity_range
from wholebody.control.quadratic_memory import (
    BRAKING,
    CLEARANCE,
    CLOSING,
    LISTED,
    PAIRS,
    PERIOD,
    ROWS,
    SETTINGS,
    All,
)
from wholebody.control.table import constraint_line
from wholebody.model.compiled import compiled
from wholebody.model.cut import at_address, cut
from wholebody.model.layout import Array, Integers, Values


@compiled
def fill_contact_rows(now: Values, a: All, table: Integers, contacts: Integers, bearing: Array) -> None:
    """What contacts can bear, as rows on λ; those of a contact that is off stay without bounds."""
    rows = a.work.contact
    for r in range(rows.shape[0]):
        for c in range(rows.shape[1]):
            rows[r, c] = 0.0
    for index in range(len(contacts) // 4):
        constraint, frame = contacts[4 * index], contacts[4 * index + 1]
        begin_at, count = contacts[4 * index + 2], contacts[4 * index + 3]
        first = a.memory.first_of_constraint[constraint]
        if first < 0:
            continue
        line = constraint_line(table, constraint)
        for r in range(begin_at, begin_at + count):
            for k in range(3):
                if frame < 0:
                    rows[r, first + k] = bearing[r, k]
                    continue
                R = now.placement[frame]
                for m in range(3):
                    rows[r, first + k] += R[k, m] * bearing[r, m]
                    if line.kind == constraint_kinds.FLAT:
                        rows[r, first + 3 + k] += R[k, m] * bearing[r, 3 + m]
            if line.kind == constraint_kinds.LINE:
                numbers = at_address(line.address, line.length)
                one, two = across_axis(numbers[1], numbers[2], numbers[3])
                for m in range(3):
                    rows[r, first + 3] += one[m] * bearing[r, 3 + m]
                    rows[r, first + 4] += two[m] * bearing[r, 3 + m]


@compiled
def fill_limits(now: Values, a: All, settings: Array, bearing: Array, contacts: Integers) -> None:
    """The bounds of all rows, each divided by what is large for its kind."""
    work, joints, n = a.work, a.joints, a.n
    lower, upper, scale = work.lower, work.upper, work.scale
    period, braking = settings[PERIOD], settings[BRAKING]
    base, shift = n - joints, len(now.q) - n
    limits = cut(settings, SETTINGS, (4, joints))
    for i in range(joints):
        v = now.v[base + i]
        low, high = velocity_range(
            now.q[base + shift + i], v, limits[0, i], limits[1, i], limits[2, i], braking, period
        )
        scale[i] = braking
        lower[i], upper[i] = (low - v) / period / braking, (high - v) / period / braking
    for k in range(len(a.driven)):
        most = limits[3, a.driven[k] - base]
        row = joints + k
        scale[row] = most if 0.0 < most < math.inf else 1.0
        lower[row], upper[row] = -most / scale[row], most / scale[row]
    first = joints + len(a.driven)
    for r in range(bearing.shape[0]):
        scale[first + r] = bearing[r, 7]
        lower[first + r], upper[first + r] = bearing[r, 6] / bearing[r, 7], math.inf
    for index in range(len(contacts) // 4):
        constraint, begin_at, count = contacts[4 * index], contacts[4 * index + 2], contacts[4 * index + 3]
        on = 1.0 - a.fading.share[0] * a.fading.new[constraint]
        for r in range(first + begin_at, first + begin_at + count):
            lower[r] = on * lower[r] if a.memory.first_of_constraint[constraint] >= 0 else -math.inf
    first += bearing.shape[0]
    gaps = work.gaps
    for r in range(work.state[PAIRS]):
        least = closing_range(gaps[0, r], gaps[1, r], settings[CLEARANCE], settings[CLOSING], period)
        scale[first + r] = settings[CLOSING]
        lower[first + r] = ((least - gaps[1, r]) / period - gaps[2, r]) / settings[CLOSING]
        upper[first + r] = math.inf
    work.state[ROWS] = first + work.state[PAIRS]
    work.state[LISTED] = 0
    for row in range(work.state[ROWS]):
        work.known[row] = 0
