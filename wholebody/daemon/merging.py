"""Merging: joint by joint, the newest word of all controllers; leases, and who falls silent."""

from __future__ import annotations

import numpy as np

from wholebody.daemon import _kernels
from wholebody.daemon.controllers import Array, Controllers
from wholebody.messages import MAX_CONTROLLERS, Mode, Refusal, Silence, offset

PERIODS_OF_SILENCE = 3
"""How many of its declared periods a controller may be silent."""
NOBODY = -1
VALUES = ("position", "velocity", "effort", "stiffness", "damping")


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
        self.only_positions = True
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
        self.only_positions = not self._merge()

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


def _silence(byte: int) -> Silence:
    return Silence(byte) if byte in list(Silence) else Silence.HOLD
