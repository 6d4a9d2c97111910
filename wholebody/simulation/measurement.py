"""Measurement: a state in memory of its own, and its fields as arrays: numpy's cost is per call, and per field."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from wholebody.hardware import Record
from wholebody.messages import Dtype
from wholebody.robots.robot import Array

Block = tuple[npt.NDArray[np.void], Dtype, int]
"""Bytes of a record as one value without parts, their type, and where they begin."""
JOINT_FIELDS = ("position", "velocity", "acceleration", "effort", "current")
PARTS = {
    "imu": ("orientation", "angular_velocity", "linear_acceleration"),
    "force_torque": ("force", "torque"),
}


class Measurement:
    """What was measured in one period: `numbers` by field, of sensors as rows."""

    def __init__(self, layout: Dtype) -> None:
        memory, names = np.zeros(1, layout), layout.names or ()
        self.record: Record = memory[0]
        self._bytes = memory.view(np.uint8)
        self.numbers: dict[str, Array] = {field: memory[field][0] for field in JOINT_FIELDS}
        for sensor, parts in PARTS.items():
            if sensor in names:
                self.numbers.update({part: memory[sensor][part][0] for part in parts})
        self._blocks = {each: self._block(layout, (each,)) for each in (*PARTS, "base") if each in names}
        self._blocks["joints"] = self._block(layout, JOINT_FIELDS)
        self._blocks["all"] = self._raw(0, layout.itemsize)

    def _block(self, layout: Dtype, names: tuple[str, ...]) -> Block:
        """Fields that lie one behind the other."""
        places = [layout.fields[name] for name in names] if layout.fields else []
        begin, size = int(places[0][1]), sum(kind.itemsize for kind, *_ in places)
        assert places[-1][1] + places[-1][0].itemsize == begin + size
        return self._raw(begin, size)

    def _raw(self, begin: int, size: int) -> Block:
        raw: Dtype = np.dtype((np.void, size))
        return self._bytes[begin : begin + size].view(raw).reshape(()), raw, begin

    def take(self, state: Record) -> None:
        """Copy a state of the same layout."""
        self._bytes[:] = np.frombuffer(state, np.uint8)

    def give(self, state: Record, block: str = "all") -> None:
        """Copy into a state of the same layout: all, what joints say, or the sensors of a kind, if there are any."""
        if block in self._blocks:
            state.setfield(*self._blocks[block])
