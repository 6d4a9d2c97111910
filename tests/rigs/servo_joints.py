"""Joints with motors behind a gate, or without: each a mass that its board drives in any mode, ten times a period."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

import numpy as np

from wholebody.daemon.gate import Gate
from wholebody.daemon.limits import Limits
from wholebody.messages import Measured, Mode, Status

FIELDS = ("position", "velocity", "effort", "stiffness", "damping")
PERIOD = 0.005


class Gated:
    """Some joints before the gate: what is wanted of them, measured at them, and told to them."""

    def __init__(self, limits: Limits, period: float = PERIOD) -> None:
        n = len(limits.lower)
        self.limits, self.gate = limits, Gate(limits, period, tuple(f"j{number}" for number in range(n)))
        self.values, self.mode, block = np.zeros((5, n)), np.zeros(n, np.uint8), np.zeros((5, n))
        self.command = SimpleNamespace(**dict(zip(FIELDS, block, strict=True)), mode=np.zeros(n, np.uint8))
        measured = np.full(n, Measured.POSITION | Measured.VELOCITY, np.uint8)
        self.state = SimpleNamespace(position=np.zeros(n), velocity=np.zeros(n), measured=measured)
        self.state.position[:] = self.command.position[:] = np.clip(0.0, limits.lower, limits.upper)
        self.go = self.gate.passing(self.values[0], self.values, self.mode, self.state, self.command)

    def want(self, mode: int, **values: float) -> bool:
        """Ask the same of all joints, and pass it; what is not given is zero."""
        self.mode[:] = mode
        for row, field in zip(self.values, FIELDS, strict=True):
            row[:] = values.get(field, 0.0)
        return self.go()

    def at(self, position: float, velocity: float = 0.0) -> None:
        """Say where all joints are measured."""
        self.state.position[:], self.state.velocity[:] = position, velocity

    def effort_made(self) -> np.ndarray:
        """By an impedance command, where the joints are measured."""
        c, s = self.command, self.state
        return c.stiffness * (c.position - s.position) + c.damping * (c.velocity - s.velocity) + c.effort

    def refused(self, why: int) -> int:
        """How often something was, of all joints."""
        return int(self.gate.refused[why].sum())


def one_joint(**changed: float) -> Gated:
    """A joint of ±1 rad, 5 rad/s, 20 N m, at most 100 N m/rad and 2 N m s/rad, but for what is given."""
    usual = {"lower": -1.0, "upper": 1.0, "velocity": 5.0, "effort": 20.0, "stiffness": 100.0, "damping": 2.0}
    return Gated(Limits(**{name: np.array([value]) for name, value in (usual | changed).items()}))


class Motor:
    """One joint that moves: inertia in kg m², a load in N m; its own position servo has 1000 N m/rad and 20 N m s/rad.

    What is measured reaches the gate one period late, as the daemon writes before it reads.
    """

    def __init__(self, joint: Gated, inertia: float = 0.1, load: float = 0.0, gated: bool = True) -> None:
        self.joint, self.inertia, self.load, self.gated = joint, inertia, load, gated
        self.q = self.v = 0.0
        self.path: list[tuple[float, float, bool]] = []  # position, velocity, taken over

    def cycle(self, mode: int, **values: float) -> None:
        """A period with one command; without the gate the motor follows what is wanted."""
        joint = self.joint
        seen = self.q, self.v
        taken = joint.want(mode, **values)
        told = {name: float(getattr(joint.command, name)[0]) for name in FIELDS}
        told, mode = (told, int(joint.command.mode[0])) if self.gated else (dict.fromkeys(FIELDS, 0.0) | values, mode)
        self.path.append((self.q, self.v, taken))
        for _ in range(10):
            effort = float(np.clip(self._effort(mode, told), -joint.limits.effort[0], joint.limits.effort[0]))
            self.v += PERIOD / 10 * (effort + self.load) / self.inertia
            self.q += PERIOD / 10 * self.v
        joint.at(*seen)

    def _effort(self, mode: int, told: dict[str, float]) -> float:
        if mode == Mode.POSITION:
            return 1000.0 * (told["position"] - self.q) - 20.0 * self.v
        if mode == Mode.VELOCITY:
            return 20.0 * (told["velocity"] - self.v)
        if mode == Mode.EFFORT:
            return told["effort"]
        spring = told["stiffness"] * (told["position"] - self.q) + told["damping"] * (told["velocity"] - self.v)
        return spring + told["effort"]

    def run(self, cycles: int, mode: int, **values: float) -> np.ndarray:
        """Want the same for a while; the path since then: position, velocity, taken over."""
        begin = len(self.path)
        for _ in range(cycles):
            self.cycle(mode, **values)
        return np.array(self.path[begin:])


class ServoBody:
    """A driver for all modes: joints of 1 kg m² that know nothing of each other, and every command that was written.

    The commands are kept with what had been read before, and saved when the robot is let go of.
    """

    simulated = True
    servo_period = 0.001
    modes = frozenset(Mode)

    def __init__(self, robot: Any, period: float = PERIOD, kept: Path | None = None) -> None:
        joints = robot.moving
        self.period, self._kept = period, kept
        self.q = np.array([float(np.clip(0.0, joint.lower, joint.upper)) for joint in joints])
        self.v, self.load = np.zeros(len(joints)), np.zeros(len(joints))
        self._values, self._mode = np.zeros((5, len(joints))), np.zeros(len(joints), np.uint8)
        self._values[0] = self.q
        self._read = self.q.copy(), self.v.copy()
        self.written: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = []

    def read(self, state: Any) -> None:
        """Let a period go by, and say where the joints were when it began."""
        self._read = self.q.copy(), self.v.copy()
        state.position[:], state.velocity[:] = self._read
        state.measured[:] = Measured.POSITION | Measured.VELOCITY
        state.status[:] = Status.DRIVER_ON | Status.CONTROL_ON | Status.HOMED
        position, velocity, effort, stiffness, damping = self._values
        steering, impedance = self._mode == Mode.POSITION, self._mode == Mode.IMPEDANCE
        stiffness = np.where(steering, 1e4, np.where(impedance, stiffness, 0.0))
        damping = np.where(steering | (self._mode == Mode.VELOCITY), 200.0, np.where(impedance, damping, 0.0))
        velocity, effort = np.where(steering, 0.0, velocity), np.where(steering, 0.0, effort)
        for _ in range(10):
            force = stiffness * (position - self.q) + damping * (velocity - self.v) + effort
            self.v += self.period / 10 * (force + self.load)
            self.q += self.period / 10 * self.v

    def write(self, reference: Any) -> None:
        """Follow it, and keep it."""
        self._values[:] = [getattr(reference, name) for name in FIELDS]
        self._mode[:] = reference.mode
        self.written.append((self._values.copy(), self._mode.copy(), *self._read))

    def stop(self) -> None:
        """Hold every joint where it is."""
        self._values[:], self._values[0], self._mode[:] = 0.0, self.q, Mode.POSITION

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        if self._kept is not None:
            values, mode, q, v = (np.array(each) for each in zip(*self.written, strict=True))
            np.savez(self._kept, values=values, mode=mode, q=q, v=v)
