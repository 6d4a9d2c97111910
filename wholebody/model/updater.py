"""ModelUpdater: a thread that computes snapshots beside a control loop, which never waits for it.

with ModelUpdater(model, nap=0.00025) as updater:
    updater.ask(q, v, time)         # in one cycle
    done = updater.take()           # in a later one: None until it is ready
"""

from __future__ import annotations

import os
from typing import NamedTuple, Self

from wholebody import _kernels
from wholebody.errors import BadProblem
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.model.snapshot import Buffer, Snapshot


class Updated(NamedTuple):
    """A snapshot from beside the loop, with what it was asked with."""

    snapshot: Snapshot
    read: float
    measured: float


class ModelUpdater:
    """Computes one snapshot at a time in a thread of its own, without Python and its lock.

    The thread runs from entering the `with` block to leaving it. Nothing here waits, except leaving: for what is being
    computed. Without the thread, also in a process that was forked meanwhile, what is asked for is never ready. One
    thread of Python asks and takes.

    nap   how long the thread sleeps before it looks again whether it was asked, in seconds
    """

    def __init__(self, model: Model, nap: float) -> None:
        if not 0 < nap < 1e6:
            raise BadProblem(f"an updater naps for a time above 0 s, not {nap!r}")
        self.model, self.nap = model, nap
        self._handle = _kernels.model_updater(model.tree, float(nap))
        model.pool.reserve(4)  # in use, asked for, computed by the loop itself, and one that somebody keeps
        self._buffer: Buffer | None = None
        self._read = self._measured = 0.0
        self._process = os.getpid()

    def ask(self, q: Array, v: Array, read: float = 0.0, measured: float = 0.0) -> bool:
        """Ask for everything at (q, v), which is copied; False, and nothing happens, if it is still busy.

        read, measured   when the state was read and measured, in seconds: comes back with the snapshot
        """
        if self._buffer is not None:
            return False
        buffer = self.model.pool.take()
        first = self.model.nq
        buffer.storage[:first], buffer.storage[first : first + self.model.nv] = q, v
        _kernels.model_updater_ask(self._handle, buffer.handle)
        self._buffer, self._read, self._measured = buffer, read, measured
        return True

    def take(self) -> Updated | None:
        """The snapshot that was asked for, if it is ready; BadState as `Model.at`."""
        if self._buffer is None:
            return None
        verdict = _kernels.model_updater_take(self._handle)
        if verdict < 0:
            return None
        buffer, self._buffer = self._buffer, None
        return Updated(self.model.evaluated(buffer, verdict), self._read, self._measured)

    def __enter__(self) -> Self:
        """Start the thread; in a process that was forked meanwhile, what was asked for before is forgotten."""
        if self._process != os.getpid():
            self._buffer, self._process = None, os.getpid()
        _kernels.model_updater_begin(self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        """Join the thread."""
        _kernels.model_updater_end(self._handle)
