"""Controllers: the newest reference of each controller; Merging: joint by joint, the newest word, leases, silence."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from wholebody.channels import Channel, directory
from wholebody.channels.channel import Reader
from wholebody.daemon import _kernels
from wholebody.drivers.names import Names
from wholebody.errors import ChannelError, LayoutMismatch, Overrun
from wholebody.messages import MAX_CONTROLLERS, NAME_SIZE, Dtype, Mode, References, Refusal, Silence, offset
from wholebody.messages.bounds import DECLARED_PERIOD, LEASE_PERIOD

FILE_TIME_GRAIN_NS = 20_000_000
"""File times stand still for so long: two files made within it may have the same."""
LOOK_EVERY = 0.02
"""s. So long may it take until a controller that is new is heard."""
PERIODS_OF_SILENCE = 3
"""How many of its declared periods a controller may be silent."""
NOBODY = -1
VALUES = ("position", "velocity", "effort", "stiffness", "damping")

Array = np.ndarray[Any, Any]


class Controllers:
    """One row per controller, found by the name of its channel and read in place.

    A controller may come, go, be killed and come again: its row stays until it is needed for another. `report` is
    told, once, what is left out or refused, and why.
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
        self._complained: set[int] = set()  # of the rows whose declared period was refused
        self._look_every = max(1, round(LOOK_EVERY / period))
        self._cycle = 0

    def take(self) -> None:
        """Read the newest reference of each."""
        self._cycle = cycle = self._cycle + 1
        if self._waiting or (cycle % self._look_every == 0 and self._folder_changed()):
            self._look_around()
        for row, reader in self._readers:
            if _has_news(reader):
                self._stamps[row] = reader.stamp_ns
                self._heard[row] = cycle
                self.received[row] += 1 + reader.missed
                if (period := self._periods[row]) != 0 or row in self.declared:
                    self._declare(row, period, bool(self._leases[row]))

    def silent_for(self, row: int) -> float:
        """Seconds of the loop's time since a controller's last word."""
        return (self._cycle - self._heard[row]) * self._period

    def _declare(self, row: int, period: float, lease: bool) -> None:
        """Note a declared period. One out of bounds counts as the nearest one within, and lends nothing."""
        self.declared.pop(row, None)
        self.leasing.discard(row)
        bound = LEASE_PERIOD if lease else DECLARED_PERIOD
        if bound.least <= period <= bound.most:
            self.declared[row] = period
            if lease:
                self.leasing.add(row)
        elif period != 0:
            if period > 0:
                self.declared[row] = min(max(period, bound.least), bound.most)
            if row not in self._complained:
                self._complained.add(row)
                rest = "; no joint is leased to it" if lease else ""
                self._report("refused", f"'{self.name[row]}': {bound.complaint(period)}{rest}")

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
            self._report("left out", f"there are {MAX_CONTROLLERS} controllers already; '{controller}' is left out")
            return
        try:
            opened = Channel(channel)
            if opened.dtype != self._dtype:
                raise LayoutMismatch("its references are of another robot, or of another version")
            reader = opened.reader(into=self.rows[row : row + 1], grace=math.inf)  # silence is judged by its period
        except ChannelError as error:
            self.left_out += 1
            self._report("left out", f"'{controller}' cannot move this robot: {error}")
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
        self._complained.discard(row)
        self._declare(row, 0.0, False)
        self.rows[row] = np.zeros(1, self._dtype)[0]
        self.stamps[row] = 0


class Merging:
    """What is wanted of each joint, and by whom.

    Only the newest message of a controller counts: what it says of a joint is in force until somebody says something
    newer of that joint, also after the controller is gone. Words from before `begin` are not heard. What makes no sense
    (values that are not finite, a mode that the robot has not) is refused joint by joint, and drowns out nobody.
    """

    def __init__(self, controllers: Controllers, modes: frozenset[Mode]) -> None:
        self._controllers = controllers
        rows = controllers.rows
        self._mask, self._silence = controllers.references.mask.view(np.uint8), controllers.references.silence
        n = self._mask.shape[1]
        self.values = np.zeros((len(VALUES), n))  # wanted: position, velocity, effort, stiffness, damping
        self.mode = np.zeros(n, np.uint8)
        self.owner = np.full(n, NOBODY, np.int8)
        self.leased_to = np.full(n, NOBODY, np.int8)
        self.refused = np.zeros((len(Refusal), n), np.uint64)
        self._heard_ns = np.zeros(n, np.int64)
        self._seen_ns = np.zeros(MAX_CONTROLLERS, np.int64)
        self._joints = np.arange(n)
        self._silent: set[int] = set()
        self._lease_ended: set[int] = set()
        self._anything_leased = False
        position, mode, mask = (offset(rows.dtype, name) for name in ("position", "mode", "mask"))
        assert [offset(rows.dtype, name) - position for name in VALUES] == [8 * n * i for i in range(len(VALUES))]
        self._merge = _kernels.merge(
            *(rows.view(np.uint8), controllers.stamps, self._seen_ns, self.leased_to),
            *(self.values, self.mode, self.owner, self._heard_ns, self.refused),
            *(position, mode, mask),
            sum(1 << mode for mode in modes),
        )

    def begin(self, position: Array, now_ns: int) -> None:
        """Want every joint to stay where it is, and hear only what is said from now on."""
        self.values[:] = 0.0
        self.values[0] = position
        self.mode[:] = Mode.POSITION
        self.owner[:] = NOBODY
        self._heard_ns[:] = now_ns

    def update(self) -> None:
        """Take in what is new."""
        if self._controllers.leasing or self._anything_leased:
            self._lend()
        self._merge()

    def fallen_silent(self) -> list[tuple[int, Silence]]:
        """The controllers that declared a period and have just exceeded it, with what is to happen."""
        declared = self._controllers.declared
        if not declared:
            return []
        late = {row for row, p in declared.items() if self._controllers.silent_for(row) > PERIODS_OF_SILENCE * p}
        news, self._silent = late - self._silent, late
        return [(row, _silence(self._silence[row])) for row in sorted(news)]

    def hold(self, joints: Array, position: Array, why: Refusal) -> None:
        """Take joints from whoever moves them, and want them to stay at a position."""
        self.refused[why] += joints & (self.owner != NOBODY)
        self.values[1:, joints] = 0.0
        self.values[0, joints] = position[joints]
        self.mode[joints] = Mode.POSITION
        self.owner[joints] = NOBODY

    def end_lease(self, joint: int) -> int:
        """End the lease on a joint, with all others of its holder; returns whose it was."""
        holder = int(self.leased_to[joint])
        if holder != NOBODY:
            self._lease_ended.add(holder)
        return holder

    def contested(self, within: float) -> list[tuple[int, list[int]]]:
        """The joints that several controllers moved within the last seconds, with those controllers."""
        controllers = self._controllers
        live = [row for row, count in enumerate(controllers.received) if count and controllers.silent_for(row) < within]
        wanted = self._mask[live] > 0
        joints = np.flatnonzero((wanted.sum(0) > 1) & (self.leased_to == NOBODY))
        return [(int(joint), [live[index] for index in np.flatnonzero(wanted[:, joint])]) for joint in joints]

    def _lend(self) -> None:
        """Keep every lease whose holder still claims it, and give free joints to who claims them.

        A holder whose lease was ended gets no other until it has stopped asking.
        """
        leasing = self._controllers.leasing
        self._lease_ended &= leasing
        claims = np.zeros(self._mask.shape, bool)
        for row in leasing - self._silent - self._lease_ended:
            claims[row] = self._mask[row] > 0
        kept = (self.leased_to != NOBODY) & claims[self.leased_to, self._joints]
        self.leased_to[:] = np.where(kept, self.leased_to, np.where(claims.any(0), claims.argmax(0), NOBODY))
        self._anything_leased = bool((self.leased_to != NOBODY).any())


def _has_news(reader: Reader) -> bool:
    """Take the newest message; of one so fast that none can be copied the next cycle has a newer one anyway."""
    try:
        return reader.latest()
    except Overrun:
        return False


def _silence(byte: int) -> Silence:
    return Silence(byte) if byte in list(Silence) else Silence.HOLD
