"""Write `docs/architecture.md`: the map of the package from its docstrings, and who may import whom."""

import ast
from pathlib import Path

from import_rule import (
    BESIDE,
    INNER,
    LADDER,
    NEVER_LOADED_BY,
    ONLY_IN,
    PACKAGES,
    SIDEWAYS,
    USERS,
    Module,
    modules,
    package_of,
)

REPOSITORY = Path(__file__).resolve().parent.parent
PAGE = REPOSITORY / "docs" / "architecture.md"

INTRODUCTION = """\
# Architecture

<!-- Written by tools/architecture.py from the docstrings; `make docs` writes it anew. -->

Imports point down, values return up, and other processes are reached only through channels.
The daemon owns the robot and runs nobody's controller; controllers, operator tools and bridges are
processes of their own, so none of them can slow or break its loop.
"""


def page(repository: Path) -> str:
    """The whole text of `docs/architecture.md` for the package as it is on disk."""
    return "\n".join([INTRODUCTION, *_map(repository), "", *_rule(repository)]) + "\n"


def _map(repository: Path) -> list[str]:
    lines = ["## The map", "", "| module | what it is |", "|---|---|"]
    on_disk = modules(repository)
    for package in PACKAGES:
        for module in on_disk:
            if package_of(module.name) == package:
                short = module.name.partition(".")[2]
                title = f"**`{short}`**" if short == package else f"`{short}`"
                lines.append(f"| {title} | {_first_line(module)} |")
    return lines


def _first_line(module: Module) -> str:
    text = ast.get_docstring(ast.parse(module.source)) or "(it does not say)"
    return text.splitlines()[0].replace("|", "\\|")


def _rule(repository: Path) -> list[str]:
    present = {package_of(module.name) for module in modules(repository)}

    def named(packages: tuple[str, ...]) -> str:
        return ", ".join(f"`{each}`" if each in present else f"*{each}*" for each in packages)

    lines = [
        "## Who may import whom",
        "",
        "A package imports from the rungs below its own; in italics: not written yet.",
        "",
        "| rung | packages |",
        "|---|---|",
    ]
    for rung in range(len(LADDER), 0, -1):
        lines.append(f"| {rung} | {named(LADDER[rung - 1])} |")
    lines.append("")
    for package, neighbours in SIDEWAYS.items():
        lines.append(f"- On its own rung, {named((package,))} may import {named(tuple(sorted(neighbours)))}.")
    for package, ceiling in BESIDE.items():
        lines.append(
            f"- {named((package,))} stands beside the ladder: it may import {named((ceiling,))} and the rungs "
            f"below that, and only {named(USERS[package])} import it."
        )
    for folder, ceiling in INNER.items():
        lines.append(f"- `{folder}` imports {named((ceiling,))} and the rungs below that, not all that its package may.")
    for outsider, owner in ONLY_IN.items():
        lines.append(f"- Only {named((owner,))} imports {outsider}.")
    for package, outsiders in NEVER_LOADED_BY.items():
        lines.append(f"- {named((package,))} loads no {', '.join(sorted(outsiders))}, not even by way of others.")
    lines.append("- `wholebody` itself imports none of them: who imports one loads only what that one needs.")
    return [
        *lines,
        "",
        "The rule is data in `tools/import_rule.py`; `tests/project/test_architecture.py` checks every import.",
    ]


if __name__ == "__main__":
    PAGE.write_text(page(REPOSITORY), encoding="utf-8")
