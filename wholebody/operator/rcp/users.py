"""Users: who may do what, known by a secret that is kept as its hash only."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from wholebody.errors import BadConfiguration, BadParameter, Refused, closest
from wholebody.parameters.documents import Document, read_document

ROUNDS = 100_000


class Role(IntEnum):
    """What a user may do; each may do what those before may."""

    OBSERVER = 1  # look, and stop the robot
    OPERATOR = 2  # control it
    ADMINISTRATOR = 3  # take control from others, set what is not the operator's to set


@dataclass(frozen=True)
class User:
    """Somebody with a secret."""

    name: str
    role: Role
    salt: bytes
    hashed: bytes

    @classmethod
    def new(cls, name: str, role: Role, secret: str) -> User:
        """With a secret of eight characters at least."""
        if len(secret) < 8 or any(each.isspace() for each in secret):
            raise BadParameter(f"the secret of '{name}' has eight characters or more, and no spaces")
        salt = secrets.token_bytes(16)
        return cls(name, role, salt, _hash(secret, salt))

    def text(self) -> str:
        """Salt and hash as one word, for a file."""
        return f"{self.salt.hex()}:{self.hashed.hex()}"

    @classmethod
    def of_text(cls, name: str, role: Role, text: str) -> User:
        """Read what text() wrote."""
        salt, _, hashed = text.partition(":")
        try:
            return cls(name, role, bytes.fromhex(salt), bytes.fromhex(hashed))
        except ValueError:
            raise BadParameter(f"the hash of '{name}' is none; `wholebody rcp --new-user {name}` makes one") from None

    def knows(self, secret: str) -> bool:
        """Whether the secret is right; takes as long if it is not."""
        return hmac.compare_digest(self.hashed, _hash(secret, self.salt))


class Users:
    """All who are known. If nobody is, whoever connects from this machine is an operator."""

    def __init__(self, users: Iterable[User] = ()) -> None:
        self._users = {user.name: user for user in users}

    def __bool__(self) -> bool:
        """Whether anybody is known."""
        return bool(self._users)

    def admit(self, name: str, secret: str, local: bool) -> tuple[str, Role]:
        """Name and role of who connects; Refused if the secret is wrong."""
        if not name:
            if self._users or not local:
                return "guest", Role.OBSERVER
            return "local", Role.OPERATOR
        user = self._users.get(name)
        known = user if user is not None else _NOBODY
        if not known.knows(secret) or user is None:
            raise Refused("no such user, or another secret")
        return user.name, user.role


def _hash(secret: str, salt: bytes) -> bytes:
    return hashlib.pbkdf2_hmac("sha256", secret.encode(), salt, ROUNDS)


_NOBODY = User("", Role.OBSERVER, b"nobody", b"")


KEYS = ("name", "role", "hash")
ROLES = {role.name.lower(): role for role in Role}


def read_users(file: str | Path) -> list[User]:
    """Everybody in a file; BadConfiguration says file, line and what is wrong."""
    document = read_document(file)
    listed = document.data.get("users") if isinstance(document.data, dict) else None
    if not isinstance(listed, list) or set(document.data) != {"users"}:
        raise BadConfiguration(f"{file}: it has a list 'users', and nothing else")
    users = list(_users(document, listed))
    names = [user.name for user in users]
    for name in names:
        if names.count(name) > 1:
            raise BadConfiguration(f"{file}: there are two users called '{name}'")
    return users


def entry(user: User) -> str:
    """A user as a line of such a file."""
    return f"  - {{name: {user.name}, role: {user.role.name.lower()}, hash: '{user.text()}'}}"


def _users(document: Document, listed: list[object]) -> Iterator[User]:
    for number, given in enumerate(listed):
        where = document.where(("users", number))
        if not isinstance(given, dict) or set(given) != set(KEYS):
            raise BadConfiguration(f"{where}: a user has {', '.join(KEYS)}, and nothing else")
        name, role = str(given["name"]), str(given["role"]).lower()
        if role not in ROLES:
            raise BadConfiguration(f"{where}: no role '{role}'{closest(role, ROLES)}; there are {', '.join(ROLES)}")
        if not name or any(each.isspace() for each in name):
            raise BadConfiguration(f"{where}: a name is one word, not '{name}'")
        try:
            yield User.of_text(name, ROLES[role], str(given["hash"]))
        except BadParameter as error:
            raise BadConfiguration(f"{where}: {error}") from error
