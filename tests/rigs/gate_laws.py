"""What must hold of every command that a driver is given, and references that nobody should send."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from wholebody import robots
from wholebody.daemon.limits import Limits, safe_limits
from wholebody.messages import Mode
from wholebody.robots.robot import Robot

LOOK_AHEAD = 0.05
SLACK = 1.1
ROUNDING = 1e-9
POISON = np.array(
    [np.nan, np.inf, -np.inf, 1e300, -1e300, 1.7e308, 5e-324, -2e-310, 1e-300, -0.0, 0.0, 1e18, -1e18, 1e9, 1e6]
)
FIELDS = ("position", "velocity", "effort", "stiffness", "damping")


def without_limits(robot: Robot) -> Robot:
    """The robot as an MJCF describes it: no joint has a velocity or an effort limit, or gains."""
    joints = tuple(replace(joint, velocity=np.inf, effort=np.inf) for joint in robot.joints)
    return replace(robot, joints=joints, gains={})


def five_robots() -> list[Robot]:
    """With many joints, with fingers, with wheels that turn without end, small ones, and one without limits."""
    names = ("hubo2plus", "dreamer_full", "trikey", "minihubo")
    return [*(robots.load(name) for name in names), without_limits(robots.load("hoap3"))]


def hostile(rng: np.random.Generator, usual: np.ndarray, share: float = 0.3) -> np.ndarray:
    """Numbers of a usual size and far from it, and in a share of places such as no controller should send."""
    values = usual * rng.normal(size=usual.shape) * 10 ** rng.uniform(-2, 2, usual.shape)
    return np.where(rng.random(usual.shape) < share, rng.choice(POISON, usual.shape), values)


@dataclass
class Told:
    """The commands of one cycle: five rows of numbers, and the modes."""

    values: np.ndarray
    mode: np.ndarray

    @classmethod
    def of(cls, command: Any) -> Told:
        """Keep what a command says."""
        return cls(np.array([getattr(command, name) for name in FIELDS]), np.array(command.mode))


def broken(
    limits: Limits, step: np.ndarray, before: Told, told: Told, q: np.ndarray, v: np.ndarray, known: np.ndarray
) -> dict[str, int]:
    """How often each law is broken by commands given where joints were at q and v, if that is known."""
    position, velocity, effort, stiffness, damping = told.values
    steering = told.mode == Mode.POSITION
    free = ~steering
    follows = {mode: told.mode == mode for mode in Mode}
    q, v = np.where(known, q, 0.0), np.where(known, v, 0.0)
    base = np.where((before.mode == Mode.POSITION) | ~known, before.values[0], q)
    slack = ROUNDING * (1 + np.abs(base))
    nearer = (position <= np.maximum(limits.upper, base)) & (position >= np.minimum(limits.lower, base))
    made = np.where(follows[Mode.IMPEDANCE], stiffness * (position - q) + damping * (velocity - v), 0.0) + effort
    most = limits.effort * (1 + ROUNDING)
    soon = q + LOOK_AHEAD * v
    leaving = ((made > 0) & (soon > limits.upper)) | ((made < 0) & (soon < limits.lower))
    slowed = q + LOOK_AHEAD * velocity
    outward = ((velocity > 0) & (slowed > limits.upper + slack)) | ((velocity < 0) & (slowed < limits.lower - slack))
    inside = (position >= limits.lower) & (position <= limits.upper)
    laws = {
        "a number is not finite": ~np.isfinite(told.values).all(0),
        "a mode does not exist": told.mode > Mode.IMPEDANCE,
        "nobody knows where the joint is": free & ~known,
        "a position is out of range": np.where(steering, ~nearer, ~inside),
        "a step is too long": steering & (np.abs(position - base) > step + slack),
        "a velocity is too high": np.abs(velocity) > limits.velocity,
        "a velocity leads out of range": follows[Mode.VELOCITY] & outward,
        "an effort is too high": np.abs(effort) > most,
        "an impedance makes too much effort": np.abs(made) > most,
        "too stiff": (stiffness < 0) | (stiffness > limits.stiffness) | (damping < 0) | (damping > limits.damping),
        "a joint that leaves its range is pushed": (follows[Mode.EFFORT] | follows[Mode.IMPEDANCE]) & leaving,
        "a joint that is too fast is not braked": free & (np.abs(v) > SLACK * limits.velocity),
    }
    return {law: int(wrong.sum()) for law, wrong in laws.items() if wrong.any()}


def tiled(robot: Robot, count: int, servo_period: float) -> Limits:
    """The limits of so many robots side by side: joints do not know of each other."""
    one = safe_limits(robot, servo_period)
    arrays = {name: np.tile(getattr(one, name), count) for name in Limits.__dataclass_fields__ if name != "said"}
    return Limits(**arrays)
