"""The kernel of limits: where joints will be after a period, and commands cut at what joints can do."""

from __future__ import annotations

from wholebody.control.memory import Output
from wholebody.model.compiled import inlined
from wholebody.model.layout import Array, Values

PERIOD, TASK_TOLERANCE, FORCE_TOLERANCE, HARD_TOLERANCE, SHARED = range(5)
ENFORCE_EFFORT, ENFORCE_POSITION, ENFORCE_VELOCITY, SETTINGS = range(5, 9)
"""Where a controller's settings stand; after them, of each joint: lower, upper, velocity and effort limits."""


@inlined
def enforce_limits(now: Values, settings: Array, out: Output, joints: int) -> None:
    """Where each joint will be after a period, and everything cut at its limits, if they are enforced."""
    period = settings[PERIOD]
    base = len(now.v) - joints
    shift = len(now.q) - len(now.v)
    for i in range(joints):
        velocity = now.v[base + i] + period * out.acceleration[base + i]
        position = now.q[base + shift + i] + period * velocity
        out.unlimited_effort[i] = out.effort[i]
        out.unlimited_position[i], out.unlimited_velocity[i] = position, velocity
        lower, upper = settings[SETTINGS + i], settings[SETTINGS + joints + i]
        fastest, strongest = settings[SETTINGS + 2 * joints + i], settings[SETTINGS + 3 * joints + i]
        if settings[ENFORCE_VELOCITY] > 0.0:
            velocity = min(max(velocity, -fastest), fastest)
        if settings[ENFORCE_POSITION] > 0.0:
            position = min(max(position, lower), upper)
        if settings[ENFORCE_EFFORT] > 0.0:
            out.effort[i] = min(max(out.effort[i], -strongest), strongest)
        out.position[i], out.velocity[i] = position, velocity
