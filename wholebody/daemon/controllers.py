"""Controllers: the newest reference of everybody who wants to move the robot, in one table."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from wholebody.channels import Channel, directory
from wholebody.channels.channel import Reader
from wholebody.errors import ChannelError, LayoutMismatch
from wholebody.hardware.names import Names
from wholebody.messages import MAX_CONTROLLERS, NAME_SIZE, Dtype, Mode, Refusal

FILE_TIME_GRAIN_NS = 20_000_000
"""File times stand still for so long: two files made within it may have the same."""
LOOK_EVERY = 0.02
"""s. So long may it take until a controller that is new is heard."""
VALUES = ("position", "velocity", "effort", "stiffness", "damping")

Array = np.ndarray[Any, Any]


class Controllers:
    """One row per controller, found by the name of its channel and read in place.

    A controller may come, go, be killed and come again: its row stays until it is needed for another. `report` is
    told, once, what cannot be a controller of this robot and why. `speaks_for` are the joints of a row's mask for which
    the row makes sense: finite values, in a mode that the robot has.
    """

    def __init__(
        self, names: Names, dtype: Dtype, modes: frozenset[Mode], period: float, report: Callable[[str, str], None]
    ) -> None:
        self.rows: Array = np.zeros(MAX_CONTROLLERS, dtype)
        n = self.rows["mask"].shape[1]
        self.values = _block(self.rows, dtype, n)
        self.speaks_for = np.zeros((MAX_CONTROLLERS, n), bool)
        self.name = [""] * MAX_CONTROLLERS
        self.stamp = np.zeros(MAX_CONTROLLERS, np.int64)  # ns, of the message in the row
        self.silent_for = np.zeros(MAX_CONTROLLERS)  # s of the loop's time
        self.received = np.zeros(MAX_CONTROLLERS, np.uint64)
        self.refused = np.zeros((len(Refusal), n), np.uint64)
        self.left_out = 0
        self.period: dict[int, float] = {}  # of the rows that declare one
        self.leasing: set[int] = set()  # the rows that ask for a lease
        self._names, self._dtype, self._period, self._report = names, dtype, period, report
        self._allowed = np.array([mode in modes for mode in range(256)])
        self._mask = self.rows["mask"].view(np.uint8)
        self._usual_modes = bytes([Mode.POSITION]) * n if Mode.POSITION in modes else b""
        self._mode_bytes = slice(start := dtype.fields["mode"][1] if dtype.fields else 0, start + n)
        self._readers: list[tuple[int, Reader]] = []
        self._known: set[str] = set()
        self._folder = str(directory.folder())
        self._changed_ns = -1
        self._waiting: list[str] = []
        self._look_every = max(1, round(LOOK_EVERY / period))
        self._cycles = 0

    def take(self) -> None:
        """Read the newest reference of each."""
        self._cycles += 1
        if self._waiting or (self._cycles % self._look_every == 1 % self._look_every and self._folder_changed()):
            self._look_around()
        self.silent_for += self._period
        for row, reader in self._readers:
            if reader.latest():
                self.stamp[row] = reader.stamp_ns
                self.silent_for[row] = 0.0
                self.received[row] += np.uint64(1 + reader.missed)
                self._understand(row, reader)

    def _understand(self, row: int, reader: Reader) -> None:
        np.greater(self._mask[row], 0, out=self.speaks_for[row])  # a client may have put any byte into the mask
        message = self.rows[row]
        if message["lease"] or message["period"] or row in self.period:
            self._declare(row, float(message["period"]), bool(message["lease"]))
        if not np.isfinite(self.values[row]).all() or reader.raw[self._mode_bytes].tobytes() != self._usual_modes:
            self._leave_out_nonsense(row)

    def _declare(self, row: int, period: float, lease: bool) -> None:
        self.period.pop(row, None)
        self.leasing.discard(row)
        if period > 0:
            self.period[row] = period
            if lease:
                self.leasing.add(row)

    def _leave_out_nonsense(self, row: int) -> None:
        asked = self.speaks_for[row].copy()
        finite = np.isfinite(self.values[row]).all(0)
        allowed = self._allowed[self.rows["mode"][row]]
        self.refused[Refusal.NOT_FINITE] += asked & ~finite
        self.refused[Refusal.WRONG_MODE] += asked & finite & ~allowed
        self.speaks_for[row] = asked & finite & allowed

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
        self.stamp[row], self.silent_for[row], self.received[row] = 0, 0.0, 0
        self._readers.append((row, reader))

    def _free_row(self) -> int | None:
        """A row nobody has; or that of a controller whose process has ended, the one silent for longest."""
        taken = [row for row, _ in self._readers]
        free = [row for row in range(MAX_CONTROLLERS) if row not in taken]
        if free:
            return free[0]
        for row, reader in sorted(self._readers, key=lambda each: -self.silent_for[each[0]]):
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
        self.speaks_for[row] = False
        self.stamp[row] = 0


def _block(rows: Array, dtype: Dtype, n: int) -> Array:
    """The VALUES of all rows as one array: they lie one behind the other."""
    offsets = [dtype.fields[name][1] for name in VALUES] if dtype.fields else []
    assert offsets == [offsets[0] + 8 * n * i for i in range(len(VALUES))]
    return np.ndarray(
        (len(rows), len(VALUES), n), np.float64, rows.data, offset=offsets[0], strides=(dtype.itemsize, 8 * n, 8)
    )
