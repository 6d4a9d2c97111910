"""Write `docs/coverage.md`: each row of the specification with its command, its test and its figure, or "not yet"."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
DATA = Path(__file__).with_suffix(".toml")
PAGE = REPOSITORY / "docs" / "coverage.md"
LAST = {"H": 23, "C": 25, "A": 10, "S": 17, "B": 10}
IDS = tuple(f"{part}{number}" for part, last in LAST.items() for number in range(1, last + 1))
PARTS = {
    "H": "The robot layer",
    "C": "Whole-body control",
    "A": "Crawling",
    "S": "Estimation, balance, walking, collaboration",
    "B": "Beyond the documents",
}
SHOWN = ("command", "test", "figure")

INTRODUCTION = """\
# Coverage

<!-- Written by tools/specification.py from tools/specification.toml; `make docs` writes it anew. -->

What `wholebody` is to do, row by row: how a user does it, which test shows it, where its figure is. A row **works** if
it has all three and nothing is missing; `tests/project/test_coverage.py` looks whether they exist.
"""


@dataclass(frozen=True)
class Row:
    """One row of the specification, and where it is shown; `missing` says what is not done."""

    title: str
    command: str = ""
    test: str = ""
    figure: str = ""
    missing: str = ""

    @property
    def state(self) -> str:
        """works, partly or not yet."""
        if not self.missing:
            return "works"
        return "partly" if any(getattr(self, cell) for cell in SHOWN) else "not yet"


def rows(data: Path = DATA) -> dict[str, Row]:
    """The rows by their ids, as the data file has them."""
    return {name: Row(**entry) for name, entry in tomllib.loads(data.read_text(encoding="utf-8")).items()}


def problems(all_rows: dict[str, Row], repository: Path = REPOSITORY) -> list[str]:
    """What is wrong with the rows, one line each: ids, cells that are empty, and what they name but does not exist."""
    found = [f"{name}: there is no such row" for name in all_rows if name not in IDS]
    found += [f"{name}: the row is missing" for name in IDS if name not in all_rows]
    for name, row in all_rows.items():
        if row.state == "not yet":
            continue
        found += [f"{name}: {row.state}, but it names no {cell}" for cell in SHOWN if not getattr(row, cell)]
        if row.command and not _is_command(row.command, repository):
            found.append(f"{name}: there is no command '{row.command}'")
        if row.test and not (repository / row.test).is_file():
            found.append(f"{name}: there is no test {row.test}")
        if row.figure and not (_is_place(row.figure, repository) or _is_command(row.figure, repository)):
            found.append(f"{name}: there is no {row.figure}")
    return found


def _is_command(line: str, repository: Path) -> bool:
    """Whether a command's program, and the first object that it is told, exist."""
    match line.split():
        case ["wholebody", "bench", name, *_]:
            return (repository / "benchmarks" / f"{name}.py").is_file()
        case ["wholebody", *words]:
            return _is_ours(words)
        case ["make", target]:
            text = (repository / "Makefile").read_text(encoding="utf-8")
            return re.search(rf"^{target}:", text, re.MULTILINE) is not None
        case ["python", "-m", module, *_]:
            return (repository / module.replace(".", "/")).with_suffix(".py").is_file()
        case ["python", script, *_]:
            return (repository / script).is_file()
    return False


def _is_ours(words: list[str]) -> bool:
    """Whether the command line knows a command, the one below it, and the options that are named."""
    import typer

    from wholebody.cli import application

    known: Any = typer.main.get_command(application(words[:1]))
    while hasattr(known, "commands") and words and not words[0].startswith("-"):
        if words[0] not in known.commands:
            return False
        known, words = known.commands[words[0]], words[1:]
    options = {option for each in known.params for option in (*each.opts, *each.secondary_opts)}
    return {word for word in words if word.startswith("-")} <= options


def _is_place(link: str, repository: Path) -> bool:
    """Whether a page and the heading in it exist."""
    path, _, anchor = link.partition("#")
    page = repository / path
    if page.suffix != ".md" or not page.is_file():
        return False
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return not anchor or anchor in {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


def page(all_rows: dict[str, Row]) -> str:
    """The whole text of `docs/coverage.md`."""
    lines = [INTRODUCTION]
    counts = {state: sum(row.state == state for row in all_rows.values()) for state in ("works", "partly", "not yet")}
    works, partly, not_yet = counts.values()
    lines.append(f"Of {len(all_rows)} rows {works} work, {partly} do in part, {not_yet} not yet.\n")
    for part, title in PARTS.items():
        lines += [f"## {title}", "", "| | what | | command | test | figure |", "|---|---|---|---|---|---|"]
        for name in (each for each in IDS if each[0] == part and each in all_rows):
            row = all_rows[name]
            state = f"{row.state}; missing: {row.missing}" if row.missing else "**works**"
            cells = (name, row.title, state, _code(row.command), _link(row.test), _link(row.figure))
            lines.append(f"| {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _code(command: str) -> str:
    return f"`{command}`" if command else ""


def _link(place: str) -> str:
    if "/" not in place or place.startswith("python "):
        return _code(place)
    path, _, anchor = place.partition("#")
    words = " ".join(filter(None, (Path(path).stem.removeprefix("test_"), anchor))).replace("_", " ").replace("-", " ")
    target = path.removeprefix("docs/") if path.startswith("docs/") else f"../{path}"
    return f"[{words}]({'#'.join(filter(None, (target, anchor)))})"


if __name__ == "__main__":
    PAGE.write_text(page(rows()), encoding="utf-8")
