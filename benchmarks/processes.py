"""Processes of a benchmark: started together, told what to do through a pipe, ended with it.

Every helper is a fresh Python process (spawned, not forked: it inherits no memory of ours). It is killed by the kernel
when we die, however we die, and leaves Ctrl-C to us.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any, Self

SPAWN = get_context("spawn")
PATIENCE = 20.0  # seconds without an answer after which a helper counts as lost, on the busiest machine
SHARED_MEMORY = Path("/dev/shm")
FOLDER_VARIABLE = "WHOLEBODY_CHANNELS"


class HelperLost(RuntimeError):
    """A helper process died, or gives no answer."""


class Helper:
    """A process that runs `work(control, *args)`; `control` is its end of a pipe to us, and None on it means: end."""

    def __init__(self, work: Callable[..., None], *args: Any) -> None:
        self.name = work.__name__
        self.control, theirs = SPAWN.Pipe()
        self.process = SPAWN.Process(target=_guarded, args=(work, theirs, *args), daemon=True)
        with _without_interrupts():
            self.process.start()
        theirs.close()

    def tell(self, order: object) -> None:
        """Send an order."""
        try:
            self.control.send(order)
        except OSError as error:
            raise HelperLost(f"the process '{self.name}' died") from error

    def answer(self) -> Any:
        """Wait for the answer to an order."""
        try:
            if self.control.poll(PATIENCE):
                return self.control.recv()
        except (EOFError, OSError) as error:
            raise HelperLost(f"the process '{self.name}' died") from error
        raise HelperLost(f"the process '{self.name}' gave no answer in {PATIENCE:.0f} s")

    def __enter__(self) -> Self:
        """Return the helper."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process, by force if it does not do so itself."""
        with contextlib.suppress(OSError):
            self.control.send(None)
        self.control.close()
        self.process.join(2.0)
        self.process.kill()
        self.process.join()


def _guarded(work: Callable[..., None], control: Connection, *args: Any) -> None:
    """Run `work` in the helper: it dies with its parent, and writes nothing among the parent's results."""
    die_with_parent()
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with contextlib.suppress(EOFError, BrokenPipeError):
        work(control, *args)


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Hold Ctrl-C back; a process started meanwhile holds it back for ever, from its first instruction on."""
    resource_tracker.ensure_running()  # which lets Ctrl-C in again when it starts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def die_with_parent() -> None:
    """Ask the kernel to kill this process when its parent ends."""
    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)
    parent = parent_process()
    if parent is not None and os.getppid() != parent.pid:  # it ended before we could ask
        os._exit(1)


@contextlib.contextmanager
def private_channels() -> Iterator[Path]:
    """Give this process and its helpers a channel folder of their own, gone afterwards, also after SIGTERM.

    What others leave beside it under a name that begins with the folder's goes too.
    """
    before = os.environ.get(FOLDER_VARIABLE)
    old_handler = signal.signal(signal.SIGTERM, _exit)
    folder = Path(tempfile.mkdtemp(prefix="wholebody-bench-", dir=SHARED_MEMORY))
    try:
        os.environ[FOLDER_VARIABLE] = str(folder)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        for left in SHARED_MEMORY.glob(f"{folder.name}*"):
            left.unlink()
        os.environ.pop(FOLDER_VARIABLE)
        if before is not None:
            os.environ[FOLDER_VARIABLE] = before
        signal.signal(signal.SIGTERM, old_handler)


def _exit(number: int, _: FrameType | None) -> None:
    raise SystemExit(128 + number)
