"""Merging: joint by joint, the newest word of all controllers; leases, and who falls silent."""

from __future__ import annotations

import numpy as np

from wholebody.daemon.controllers import VALUES, Array, Controllers
from wholebody.messages import MAX_CONTROLLERS, Mode, Refusal, Silence

PERIODS_OF_SILENCE = 3
"""How many of its declared periods a controller may be silent."""
NOBODY = -1

_CONTROLLERS = np.arange(MAX_CONTROLLERS)[:, None]


class Merging:
    """What is wanted of each joint, and by whom.

    Only the newest message of a controller counts: what it says of a joint is in force until somebody says something
    newer of that joint, also after the controller is gone. Words from before `begin` are not heard. The work is the
    same however many controllers there are, whether they speak or not.
    """

    def __init__(self, controllers: Controllers) -> None:
        self._controllers = controllers
        n = controllers.speaks_for.shape[1]
        self._mode, self._silence = controllers.rows["mode"], controllers.rows["silence"]
        self._joints = np.arange(n)
        self.values = np.zeros((len(VALUES), n))  # wanted: position, velocity, effort, stiffness, damping
        self.mode = np.zeros(n, np.uint8)
        self.owner = np.full(n, NOBODY, np.int8)
        self.leased_to = np.full(n, NOBODY, np.int8)
        self.refused = np.zeros((len(Refusal), n), np.uint64)
        self._heard_ns = np.zeros(n, np.int64)
        self._silent: set[int] = set()
        self._lease_ended: set[int] = set()
        self._anything_leased = False
        self._stamps = np.zeros((MAX_CONTROLLERS, n), np.int64)

    def begin(self, position: Array, now_ns: int) -> None:
        """Want every joint to stay where it is, and hear only what is said from now on."""
        self.values[:] = 0.0
        self.values[0] = position
        self.mode[:] = Mode.POSITION
        self.owner[:] = NOBODY
        self._heard_ns[:] = now_ns

    def update(self) -> None:
        """Take in what is new."""
        controllers = self._controllers
        if controllers.leasing or self._anything_leased:
            eligible = self._lend()
        else:
            eligible = controllers.speaks_for
        np.multiply(eligible, controllers.stamp[:, None], out=self._stamps)
        winner = self._stamps.argmax(0)
        stamp = self._stamps[winner, self._joints]
        new = stamp > self._heard_ns
        np.copyto(self._heard_ns, stamp, where=new)
        np.copyto(self.values, controllers.values[winner, :, self._joints].T, where=new)
        np.copyto(self.mode, self._mode[winner, self._joints], where=new)
        np.copyto(self.owner, winner, where=new, casting="unsafe")

    def fallen_silent(self) -> list[tuple[int, Silence]]:
        """The controllers that declared a period and have just exceeded it, with what is to happen."""
        declared = self._controllers.period
        if not declared:
            return []
        late = {r for r, p in declared.items() if self._controllers.silent_for[r] > PERIODS_OF_SILENCE * p}
        news, self._silent = late - self._silent, late
        return [(row, _silence(self._silence[row])) for row in sorted(news)]

    def let_go(self, controller: int, position: Array) -> Array:
        """Take the joints from a silent controller, and want them to stay at a position; returns which they were."""
        joints: Array = self.owner == controller
        self.values[:, joints] = 0.0
        self.values[0, joints] = position[joints]
        self.mode[joints] = Mode.POSITION
        self.owner[joints] = NOBODY
        self.refused[Refusal.SILENT] += joints
        return joints

    def end_lease(self, joint: int) -> list[int]:
        """End the lease on a joint, with all others of its holder; returns whose it was. He may ask anew."""
        holder = int(self.leased_to[joint])
        if holder == NOBODY:
            return []
        self._lease_ended.add(holder)
        return [holder]

    def contested(self, within: float) -> list[tuple[int, list[int]]]:
        """The joints that several controllers moved within the last seconds, with those controllers."""
        live = (self._controllers.silent_for < within) & (self._controllers.received > 0)
        wanted = self._controllers.speaks_for & live[:, None]
        joints = np.flatnonzero((wanted.sum(0) > 1) & (self.leased_to == NOBODY))
        return [(int(joint), [int(row) for row in np.flatnonzero(wanted[:, joint])]) for joint in joints]

    def _lend(self) -> Array:
        """Keep every lease whose holder still claims it, give free joints to who claims them; return who may speak.

        A holder whose lease was ended gets no other until it has stopped asking.
        """
        controllers = self._controllers
        self._lease_ended &= controllers.leasing
        claiming = np.zeros(MAX_CONTROLLERS, bool)
        claiming[list(controllers.leasing - self._silent - self._lease_ended)] = True
        claims = controllers.speaks_for & claiming[:, None]
        kept = (self.leased_to != NOBODY) & claims[self.leased_to, self._joints]
        self.leased_to[:] = np.where(kept, self.leased_to, np.where(claims.any(0), claims.argmax(0), NOBODY))
        self._anything_leased = bool((self.leased_to != NOBODY).any())
        barred = controllers.speaks_for & (self.leased_to != NOBODY) & (self.leased_to != _CONTROLLERS)
        fresh = (controllers.silent_for == 0.0)[:, None]
        self.refused[Refusal.LEASED] += (barred & fresh).sum(0).astype(np.uint64)
        return controllers.speaks_for & ~barred


def _silence(byte: int) -> Silence:
    return Silence(byte) if byte in list(Silence) else Silence.HOLD
