"""Controllers: the newest reference of everybody who wants to move the robot, in one table."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from wholebody.channels import Channel, directory
from wholebody.channels.channel import Reader
from wholebody.drivers.names import Names
from wholebody.errors import ChannelError, LayoutMismatch
from wholebody.messages import MAX_CONTROLLERS, NAME_SIZE, Dtype, References

FILE_TIME_GRAIN_NS = 20_000_000
"""File times stand still for so long: two files made within it may have the same."""
LOOK_EVERY = 0.02
"""s. So long may it take until a controller that is new is heard."""

Array = np.ndarray[Any, Any]


class Controllers:
    """One row per controller, found by the name of its channel and read in place.

    A controller may come, go, be killed and come again: its row stays until it is needed for another. `report` is
    told, once, what cannot be a controller of this robot and why.
    """

    def __init__(self, names: Names, dtype: Dtype, period: float, report: Callable[[str, str], None]) -> None:
        self.rows: Array = np.zeros(MAX_CONTROLLERS, dtype)
        self.references = References(self.rows)
        self.stamps = np.zeros(MAX_CONTROLLERS, np.int64)  # ns, of the messages in the rows
        self.name = [""] * MAX_CONTROLLERS
        self.received = [0] * MAX_CONTROLLERS
        self.left_out = 0
        self.declared: dict[int, float] = {}  # periods, of the rows that declare one
        self.leasing: set[int] = set()  # the rows that ask for a lease
        self._heard = [0] * MAX_CONTROLLERS  # in which cycle
        self._names, self._dtype, self._period, self._report = names, dtype, period, report
        self._periods, self._leases = self.references.period.data, self.references.lease.view(np.uint8).data
        self._stamps = self.stamps.data
        self._readers: list[tuple[int, Reader]] = []
        self._known: set[str] = set()
        self._folder = str(directory.folder())
        self._changed_ns = -1
        self._waiting: list[str] = []
        self._look_every = max(1, round(LOOK_EVERY / period))
        self._cycle = 0

    def take(self) -> None:
        """Read the newest reference of each."""
        self._cycle = cycle = self._cycle + 1
        if self._waiting or (cycle % self._look_every == 0 and self._folder_changed()):
            self._look_around()
        for row, reader in self._readers:
            if reader.latest():
                self._stamps[row] = reader.stamp_ns
                self._heard[row] = cycle
                self.received[row] += 1 + reader.missed
                if (period := self._periods[row]) != 0 or row in self.declared:
                    self._declare(row, period, bool(self._leases[row]))

    def silent_for(self, row: int) -> float:
        """Seconds of the loop's time since a controller's last word."""
        return (self._cycle - self._heard[row]) * self._period

    def _declare(self, row: int, period: float, lease: bool) -> None:
        self.declared.pop(row, None)
        self.leasing.discard(row)
        if period > 0:
            self.declared[row] = period
            if lease:
                self.leasing.add(row)

    def _folder_changed(self) -> bool:
        changed_ns = os.stat(self._folder).st_mtime_ns
        if changed_ns == self._changed_ns:
            return False
        if time.time_ns() - changed_ns > FILE_TIME_GRAIN_NS:
            self._changed_ns = changed_ns
        return True

    def _look_around(self) -> None:
        """Find new channels, and open one of them: opening takes a while, so the others wait for the next cycles."""
        if not self._waiting:
            present = {each for each in os.listdir(self._folder) if self._names.controller(each)}
            self._known &= present  # removed and made again is another channel
            for row, reader in list(self._readers):
                if self._names.reference(self.name[row]) not in present:
                    self._forget(row, reader)
            self._waiting = sorted(present - self._known)
        if self._waiting:
            channel = self._waiting.pop()
            self._known.add(channel)
            self._open(channel)

    def _open(self, channel: str) -> None:
        controller = self._names.controller(channel) or ""
        row = self._free_row()
        if row is None:
            self.left_out += 1
            self._report(controller, f"there are {MAX_CONTROLLERS} controllers already; '{controller}' is left out")
            return
        try:
            opened = Channel(channel)
            if opened.dtype != self._dtype:
                raise LayoutMismatch("its references are of another robot, or of another version")
            reader = opened.reader(into=self.rows[row : row + 1])
        except ChannelError as error:
            self.left_out += 1
            self._report(controller, f"'{controller}' cannot move this robot: {error}")
            return
        self.name[row] = controller[: NAME_SIZE - 1]
        self.received[row], self._heard[row] = 0, self._cycle
        self._readers.append((row, reader))

    def _free_row(self) -> int | None:
        """A row nobody has; or that of a controller whose process has ended, the one silent for longest."""
        taken = [row for row, _ in self._readers]
        free = [row for row in range(MAX_CONTROLLERS) if row not in taken]
        if free:
            return free[0]
        for row, reader in sorted(self._readers, key=lambda each: self._heard[each[0]]):
            channel = self._names.reference(self.name[row])
            try:
                with Channel(channel) as opened:
                    alive = opened.writer_processes()
            except ChannelError:
                alive = []
            if not alive:
                self._forget(row, reader)
                self._known.discard(channel)
                return row
        return None

    def _forget(self, row: int, reader: Reader) -> None:
        self._readers.remove((row, reader))
        self._declare(row, 0.0, False)
        self.rows[row] = np.zeros(1, self._dtype)[0]
        self.stamps[row] = 0
