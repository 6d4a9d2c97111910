"""Another user of the machine, who is in no group of ours unless told."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator

import pytest

BEFORE = """
import encodings.utf_8_sig, fcntl, json, os, struct, sys, time
import numpy as np
import hostile
from wholebody import errors
from wholebody.channels import Channel, directory, renewal
from wholebody.channels.faults import fault
"""
"""What is imported while it still may be."""


@contextlib.contextmanager
def another_user(source: str, *arguments: object, groups: tuple[int, ...] = ()) -> Iterator[subprocess.Popen[str]]:
    """A program that another user runs, killed at the end. Skips unless we are root."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    needed = BEFORE + ("from wholebody import robots" if "robots." in source else "")
    text = f"{needed}\nhostile.become_another_user({groups!r})\n{textwrap.dedent(source)}"
    command = [sys.executable, "-c", text, *map(str, arguments)]
    here = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=here) as process:
        try:
            yield process
        finally:
            process.kill()


def as_another_user(source: str, *arguments: object, groups: tuple[int, ...] = ()) -> str:
    """What a program says that another user runs."""
    with another_user(source, *arguments, groups=groups) as process:
        said, trouble = process.communicate(timeout=50)
    assert process.returncode == 0, trouble
    return said
