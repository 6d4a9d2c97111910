"""Write `tests/project/public_names.txt`: the names that users rely on, so that none goes or comes unnoticed.

They are what packages list in `__all__`, what the modules beside them define, what README, docs and examples import
from anywhere else, and the entry points, such as those of commands.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from import_rule import ROOT

REPOSITORY = Path(__file__).resolve().parent.parent
SNAPSHOT = REPOSITORY / "tests" / "project" / "public_names.txt"


def names(repository: Path = REPOSITORY) -> list[str]:
    """All public names, sorted; nothing is imported."""
    package = repository / ROOT
    found = {f"{ROOT}.{path.stem}.{name}" for path in package.glob("[a-z]*.py") for name in _defined(path)}
    for path in package.rglob("__init__.py"):
        dotted = ".".join(path.parent.relative_to(repository).parts)
        found |= {f"{dotted}.{name}" for name in _listed(path, "__all__")}
    for text in _shown(repository):
        found |= set(_imported(text))
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for group, entries in project["entry-points"].items():
        found |= {f"entry point {group} {name}" for name in entries}
    return sorted(found)


def _defined(path: Path) -> Iterator[str]:
    """The public names that a module defines, not those that it imports."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                defined = [name]
            case ast.Assign(targets=targets):
                defined = [each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)]
            case _:
                defined = []
        yield from (name for name in defined if not name.startswith("_"))


def _listed(path: Path, variable: str) -> list[str]:
    """The strings in a list or tuple of a module."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == variable:
            return list(ast.literal_eval(node.value))
    return []


def _shown(repository: Path) -> Iterator[str]:
    """The Python that users read: examples, and the blocks of README and docs."""
    for path in (repository / "examples").rglob("*.py"):
        yield path.read_text(encoding="utf-8")
    for path in (repository / "README.md", *(repository / "docs").glob("*.md")):
        yield from re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)


def _imported(text: str) -> Iterator[str]:
    """What a program imports from the package by `from … import`."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == ROOT:
            yield from (f"{node.module}.{each.name}" for each in node.names)


if __name__ == "__main__":
    SNAPSHOT.write_text("\n".join(names()) + "\n", encoding="utf-8")
