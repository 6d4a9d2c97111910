"""Access: who may read and write the channels of this machine: the rights of their folder, kept by the kernel."""

from __future__ import annotations

import grp
import os
import pwd
import stat
from dataclasses import dataclass
from pathlib import Path

from wholebody.channels import directory
from wholebody.errors import NotPermitted, UnknownName

PRIVATE, GROUP, READABLE = 0o700, 0o070, 0o005
STICKY = stat.S_ISGID | stat.S_ISVTX
"""In the folder of a group: channels belong to the group, and only who made one, or owns the folder, removes it."""


@dataclass(frozen=True)
class Access:
    """Who is let in: the owner, the members of a group if there is one, and, to read alone, everybody else."""

    owner: str
    group: str = ""
    readable: bool = False

    def __str__(self) -> str:
        """In words."""
        writers = f"user {self.owner}" + (f" and group {self.group}" if self.group else "")
        return f"{writers} may move it, " + ("everybody may read it" if self.readable else "nobody else may read it")


def access() -> Access:
    """Who may use the channels as they are now."""
    found = directory.folder().stat()
    group = _group_name(found.st_gid) if found.st_mode & GROUP & 0o020 else ""
    return Access(_user_name(found.st_uid), group, bool(found.st_mode & READABLE & 0o004))


def grant(group: str = "", readable: bool = False) -> Access:
    """Make the folder of channels ours, and let in whom we name; what was granted before stays, if nothing is named.

    A robot belongs to who owns the folder: NotPermitted if that is somebody else, who could move it.
    """
    folder = directory.make_folder()
    _check_owner(folder)
    found = folder.stat()
    mode, number = stat.S_IMODE(found.st_mode) & ~0o002, found.st_gid
    if group or readable:
        number = group_number(group) if group else number
        mode = PRIVATE | (GROUP | STICKY if group else 0) | (READABLE if readable else 0)
    if (mode, number) != (stat.S_IMODE(found.st_mode), found.st_gid):
        _change(folder, mode, number, group)
        for name in directory.names():
            _change_channel(folder / name, mode, number)
    return access()


def _check_owner(folder: Path) -> None:
    owners = {os.lstat(folder).st_uid, folder.stat().st_uid}  # of a link, and of what it leads to
    theirs = owners - {os.geteuid(), 0}
    if theirs:
        name = _user_name(theirs.pop())
        raise NotPermitted(
            f"{folder} belongs to user {name}, who could move the robot: have it removed, or set WHOLEBODY_CHANNELS to "
            "a folder of your own"
        )


def _change(folder: Path, mode: int, number: int, group: str) -> None:
    try:
        os.chown(folder, -1, number)
        folder.chmod(mode)
    except PermissionError:
        owner = _user_name(folder.stat().st_uid)
        reason = f"only its owner {owner}, as a member of group {group or _group_name(number)}, may let others in"
        raise NotPermitted(f"not permitted to change who may use {folder}: {reason}") from None


def _change_channel(path: Path, mode: int, number: int) -> None:
    """Give a channel of ours that was made before the rights of its folder; nothing else that lies there."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return
    try:
        found = os.fstat(file)
        if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and found.st_nlink == 1:
            os.fchown(file, -1, number)
            os.fchmod(file, mode & 0o664)
    finally:
        os.close(file)


def group_number(name: str) -> int:
    """The number of a group of this machine; UnknownName if there is none."""
    try:
        return grp.getgrnam(name).gr_gid
    except KeyError:
        raise UnknownName("group", name, [each.gr_name for each in grp.getgrall()]) from None


def _group_name(number: int) -> str:
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)


def _user_name(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)
