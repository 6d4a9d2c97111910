"""Little room: a real small disk, and processes whose memory the kernel takes away. Both need root, or they say so."""

import contextlib
import os
import subprocess
import tempfile
from pathlib import Path

DISK, MEMORY = 256 * 1024, 16 * 1024 * 1024
"""bytes"""
GROUPS = Path("/sys/fs/cgroup")


def no_disk():
    """Why no small disk can be had here; nothing, if it can."""
    try:
        with tempfile.TemporaryDirectory() as folder, small_disk(folder):
            return ""
    except (OSError, subprocess.CalledProcessError):
        return "needs the right to mount a small disk (root)"


@contextlib.contextmanager
def small_disk(folder):
    """A disk of its own in place of a folder."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", folder], check=True, capture_output=True)
    try:
        yield Path(folder)
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def no_group():
    """Why no process can be made to run out of memory here; nothing, if one can."""
    return "" if os.access(_groups(), os.W_OK) else "needs the right to make control groups of memory (root)"


def allow_little_memory(process):
    """From now on the kernel kills it when it has taken MEMORY more; its group, to be removed at the end."""
    group = _groups() / f"wholebody-faults-{process}"
    group.mkdir()
    (group / "cgroup.procs").write_text(str(process))
    (group / ("memory.limit_in_bytes" if group.parent.name == "memory" else "memory.max")).write_text(str(MEMORY))
    return group


def _groups():
    """Of memory: version 1 has a folder for it, version 2 has not."""
    return GROUPS / "memory" if (GROUPS / "memory").is_dir() else GROUPS
