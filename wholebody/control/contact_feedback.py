"""Feedback on constraints: J v̇ + J̇ v = −kd J v − kp e, e how far a contact is from where it was switched on.

On measured states damping is enough: the ground holds a foot, and a position error is one of the estimate. An internal
model has no ground: what integration loses in a cycle stays lost, and soles drift apart without kp (Baumgarte).
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple, get_args

from wholebody.errors import BadProblem
from wholebody.parameters.annotations import Bounds
from wholebody.parameters.parameter import Parameter

Feedback = Literal["none", "damping", "position"]
DAMPING, STIFFNESS = 10.0, 400.0
"""1/s on measured states, and 1/s² where positions count."""

PARAMETERS = {
    "contact_damping": Parameter("contact_damping", "1/s", Bounds(0, 1e4), None),
    "contact_stiffness": Parameter("contact_stiffness", "1/s²", Bounds(0, 1e8), None),
}


class ContactGains(NamedTuple):
    """kd in 1/s and kp in 1/s²."""

    damping: float
    stiffness: float


def contact_gains(feedback: Feedback, damping: float | None, stiffness: float | None, period: float) -> ContactGains:
    """The gains of a kind of feedback; without a damping given 10/s, or 2 √kp where positions count."""
    if feedback not in get_args(Feedback):
        raise BadProblem(f"contact_feedback is {' or '.join(get_args(Feedback))}, not {feedback!r}")
    if feedback == "none":
        if damping or stiffness:
            raise BadProblem("contact_feedback 'none' has no gains; leave contact_damping and contact_stiffness out")
        return ContactGains(0.0, 0.0)
    if feedback == "damping" and stiffness:
        raise BadProblem("contact_feedback 'damping' has no stiffness; 'position' has")
    kp = 0.0 if feedback == "damping" else STIFFNESS if stiffness is None else stiffness
    if not 0 <= kp <= period**-2:
        raise BadProblem(f"contact_stiffness must be from 0 to {period**-2:g}/s², one a period squared, not {kp}")
    kd = damping if damping is not None else DAMPING if feedback == "damping" else 2.0 * math.sqrt(kp)
    if not 0 <= kd <= 1.0 / period:
        raise BadProblem(f"contact_damping must be from 0 to {1.0 / period:g}/s, one a period, not {kd}")
    return ContactGains(kd, kp)
