"""Whether a robot is strong enough to stand on one leg, at rest: what to know of it before it walks."""

from __future__ import annotations

import numpy as np

from wholebody.locomotion.gait import SOLES, Gait
from wholebody.locomotion.legs import Legs
from wholebody.locomotion.pendulum import GRAVITY
from wholebody.model.model import Model


def trouble_on_one_leg(model: Model, gait: Gait) -> str:
    """Why it cannot stand on its left leg with the right foot lifted, as in the middle of a step; nothing if it can.

    τ = g(q) − Jᵀ w, with the ground's push w at the sole, right below the centre of mass, must be within the efforts.
    """
    legs, soles = Legs(model), (np.eye(4), np.eye(4))
    soles[0][1, 3], soles[1][1, 3] = gait.limits.spacing / 2, -gait.limits.spacing / 2
    soles[1][2, 3] = gait.lift
    com = np.array([gait.forward, gait.limits.spacing / 2 - gait.inward, gait.height])
    seen = legs.balance(com, np.eye(3), soles, rounds=10)
    foot = model.surface(SOLES[0])
    push = np.array([0.0, 0.0, model.total_mass * GRAVITY])
    lever = seen.com_in_world - seen.position(foot)
    effort = (seen.g - seen.jacobian(foot).T @ np.concatenate([push, np.cross(lever, push)]))[6:]
    shares = {j.name: abs(float(tau)) / j.effort for j, tau in zip(model.robot.moving, effort, strict=True) if j.effort}
    worst = max(shares, key=lambda name: shares[name])
    if shares[worst] <= 1.0:
        return ""
    most = model.robot.joint(worst).effort
    return f"on one leg '{worst}' needs {shares[worst] * most:.0f} N·m, and has {most:.0f} N·m at most"
