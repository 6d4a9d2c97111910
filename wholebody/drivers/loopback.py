"""Loopback: a robot of nothing but numbers, whose joints are where they are told to be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np

from wholebody import messages
from wholebody.drivers.interface import Answer
from wholebody.messages import Measured, Mode, Reference, State, Status, Verb
from wholebody.robots.robot import Robot

_READY = int(Status.DRIVER_ON | Status.CONTROL_ON | Status.HOMED)


class Loopback:
    """A robot of nothing but numbers: a joint is where it was told to be, one write later; it has encoders alone."""

    simulated = True
    watchdog = "joints that are numbers stay as they are"
    modes = frozenset({Mode.POSITION})

    def __init__(self, robot: Robot) -> None:
        self._state = messages.new(robot.state_dtype())
        self._position = self._state.position
        self._position[:] = [float(np.clip(0.0, joint.lower, joint.upper)) for joint in robot.moving]
        self._state.status[:], self._state.measured[:] = _READY, Measured.POSITION
        self._commanded = self._position.copy()
        self._read_into: State | None = None
        self._written: Reference | None = None
        self._mask = np.zeros(len(self._position), np.uint8).data
        self._everything = np.ones(len(self._position), bool).tobytes()
        # The same as memoryviews: in a cold cache, numpy would take several times as long.
        self._here, self._next = self._position.data, self._commanded.data
        self._shown, self._wanted = self._here, self._here

    def read(self, state: State) -> None:
        """Fill in where the joints were told to be by the last write but one."""
        if state is not self._read_into:  # the first time all of it; then only what changes
            state.copy_from(self._state)
            self._read_into, self._shown = state, state.position.data
        self._shown[:] = self._here

    def write(self, reference: Reference) -> None:
        """Go where the last write said, and remember this one."""
        if reference is not self._written:
            self._written, self._wanted = reference, reference.position.data
            self._mask = reference.mask.view(np.uint8).data
        self._here[:] = self._next
        if self._mask == self._everything:
            self._next[:] = self._wanted
        else:
            np.copyto(self._commanded, reference.position, where=reference.mask)

    def stop(self) -> None:
        """Stay where it is."""
        np.copyto(self._commanded, self._position)

    def command(self, verb: Verb, joint: int, values: Sequence[float]) -> Answer:
        """Do what can be done without a body: nothing, gladly."""
        return Answer(True, "done: a loopback robot is always ready", _READY)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it."""
        self.stop()
