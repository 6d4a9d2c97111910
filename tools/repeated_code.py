"""tools/repeated_code.py [COMMIT] [--folders …] [--worst N]: how much Python is there twice, at a commit or now.

A run of statements repeats another if their syntax trees are equal once names, numbers and texts are left out of them.
Runs of six statements or more count, nested ones included; each repeat is counted once, at its longest. Imports,
docstrings and declarations (fields, constants of a module or a class) count for nothing.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
LEAST = 6
"""Statements of a run that counts."""
Sources = dict[str, str]


@dataclass(frozen=True)
class Statement:
    """One statement: what it is but for its names, how many statements it is with those inside, where it stands."""

    shape: str
    size: int
    file: str
    first: int
    last: int


@dataclass(frozen=True)
class Repeat:
    """A run of statements that is there more than once."""

    size: int
    places: tuple[tuple[str, int, int], ...]

    @property
    def extra(self) -> int:
        """Statements that could go if the run were there once."""
        return self.size * (len(self.places) - 1)


def on_disk(folders: Sequence[str], repository: Path = REPOSITORY) -> Sources:
    """The Python in folders as it is."""
    files = (path for folder in folders for path in (repository / folder).rglob("*.py"))
    return {str(path.relative_to(repository)): path.read_text("utf-8") for path in files}


def at_commit(commit: str, folders: Sequence[str], repository: Path = REPOSITORY) -> Sources:
    """The Python in folders as it was."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=repository, capture_output=True, text=True, check=True).stdout

    files = git("ls-tree", "-r", "--name-only", commit, *folders).splitlines()
    return {name: git("show", f"{commit}:{name}") for name in files if name.endswith(".py")}


def repeats(sources: Sources) -> list[Repeat]:
    """All repeated runs, those with the most to gain first."""
    same: dict[tuple[str, ...], list[list[Statement]]] = defaultdict(list)
    for block in [block for name in sorted(sources) for block in _blocks(ast.parse(sources[name]), name)]:
        for start in range(len(block)):
            size = 0
            for end in range(start, len(block)):
                size += block[end].size
                if size >= LEAST:
                    run = block[start : end + 1]
                    same[tuple(each.shape for each in run)].append(run)
    found: list[Repeat] = []
    taken: set[tuple[str, int]] = set()  # lines that a longer repeat has already
    for runs in sorted((each for each in same.values() if len(each) > 1), key=_size, reverse=True):
        lines: list[set[tuple[str, int]]] = []
        for run in runs:
            own = {(run[0].file, line) for line in range(run[0].first, run[-1].last + 1)}
            if not own & taken and not any(own & other for other in lines):
                lines.append(own)
        if len(lines) > 1:
            taken |= set().union(*lines)
            found.append(Repeat(_size(runs), tuple((min(each)[0], min(each)[1], max(each)[1]) for each in lines)))
    return sorted(found, key=lambda each: (-each.extra, each.places))


def _size(runs: list[list[Statement]]) -> int:
    """How many statements each of equal runs has."""
    return sum(each.size for each in runs[0])


def _blocks(tree: ast.AST, file: str) -> Iterator[list[Statement]]:
    """All lists of statements of a module, outer ones before those inside, without what does not count."""
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                declares = isinstance(node, ast.Module | ast.ClassDef)
                yield [_statement(each, file) for each in block if _counts(each, declares)]


def _statement(node: ast.stmt, file: str) -> Statement:
    size = sum(isinstance(each, ast.stmt) and _counts(each) for each in ast.walk(node))
    return Statement(_shape(node), size, file, node.lineno, node.end_lineno or node.lineno)


def _counts(node: ast.stmt, declares: bool = False) -> bool:
    """Whether a statement does something: no import, docstring or class, no field or constant that is declared."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Pass() | ast.ClassDef() | ast.Expr(value=ast.Constant()):
            return False
        case ast.AnnAssign():
            return node.value is not None and not declares
        case ast.Assign(value=value):
            return not (declares and _declared(value))
    return True


def _declared(value: ast.expr) -> bool:
    """Whether a value is written down, such as 7, 1 << 3 or Field("x"): made of texts and numbers alone."""
    match value:
        case ast.Call(func=ast.Name(), args=given, keywords=[]):
            return all(_declared(each) for each in given)
        case ast.BinOp(left=left, right=right):
            return _declared(left) and _declared(right)
    return isinstance(value, ast.Constant | ast.UnaryOp)


def _shape(node: ast.AST) -> str:
    """The syntax tree as text, without names, texts, numbers, annotations and docstrings."""
    if isinstance(node, ast.Constant):
        return "·"
    if isinstance(node, ast.stmt) and not _counts(node):
        return ""
    if isinstance(node, ast.AnnAssign):
        return f"Assign({_shape(node.target)},{_shape(node.value or node.target)})"
    parts = []
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "type_comment", "ctx", "decorator_list"):
            continue
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, ast.AST):
                parts.append(_shape(each))
    return f"{type(node).__name__}({','.join(parts)})"


def main() -> None:
    """Print the count, and the worst."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("commit", nargs="?", help="a commit; without one, the files as they are")
    parser.add_argument("--folders", nargs="+", default=["wholebody"], help="where to look")
    parser.add_argument("--worst", type=int, default=10, help="how many to show")
    asked = parser.parse_args()
    sources = at_commit(asked.commit, asked.folders) if asked.commit else on_disk(asked.folders)
    found = repeats(sources)
    for each in found[: asked.worst]:
        places = ", ".join(f"{file}:{first}-{last}" for file, first, last in each.places)
        print(f"{each.size} statements, {len(each.places)} times: {places}")
    print(f"{len(found)} runs repeat, {sum(each.extra for each in found)} statements too many, in {len(sources)} files")


if __name__ == "__main__":
    main()
