"""Users in a file: YAML with a name, a role and the hash of a secret each.

users:
  - {name: anne, role: operator, hash: 8f3c…:51aa…}
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from wholebody.collaboration.rcp.users import Role, User
from wholebody.errors import BadConfiguration, BadParameter, closest
from wholebody.parameters.documents import Document, read_document

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
