"""A robot that runs, and its page, as a person starts them."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import time
from collections.abc import Iterator

from wholebody.processes.registry import CAMERA, running_as

MAIN = (sys.executable, "-m", "wholebody.cli")


@contextlib.contextmanager
def started(*options: str) -> Iterator[None]:
    """A robot."""
    subprocess.run([*MAIN, "start", *options], check=True, stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        subprocess.run([*MAIN, "stop"], check=True, stdout=subprocess.DEVNULL)


@contextlib.contextmanager
def page() -> Iterator[tuple[int, str, int]]:
    """The page and RCP; gives process, address and port."""
    command = [*MAIN, "page", "--port", "0", "--rcp", "0", "--no-walk"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            said = process.stdout.readline() + process.stdout.readline()
            address, port = re.search(r"http://\S+", said), re.search(r"RCP is at \S+?:(\d+)", said)
            assert address is not None, said
            assert port is not None, said
            yield process.pid, address[0], int(port[1])
        finally:
            process.terminate()


def camera_process() -> int:
    """The process that draws what the robot's camera sees."""
    until = time.monotonic() + 20.0
    while (found := running_as(CAMERA)) is None:
        if time.monotonic() > until:
            raise RuntimeError("no camera began")
        time.sleep(0.1)
    return found.process
