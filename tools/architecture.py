"""Write `docs/architecture.md` and its picture: the map of the package, where to add what, and who may import whom."""

import ast
from html import escape
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
PICTURE = PAGE.with_suffix(".svg")

INTRODUCTION = """\
# Architecture

<!-- Written by tools/architecture.py from the docstrings; `make docs` writes it anew. -->

Imports point down, values return up, and other processes are reached only through channels.
The daemon owns the robot and runs nobody's controller; controllers, operator tools and bridges are
processes of their own, so none of them can slow or break its loop.

![packages on their rungs: each imports only from rungs below its own](architecture.svg)
"""

ADDING = (
    (
        "robot",
        "`wholebody/robots/descriptions/NAME.yaml`",
        "the path of its YAML, URDF or MJCF; or a function `robot() -> Robot` of a package, by an entry point: "
        "`wholebody/robots/catalog.py`",
    ),
    (
        "driver",
        "`wholebody/drivers/NAME.py`, a RobotInterface; or `path/to/file.py:Class`",
        "`wholebody.drivers`; `wholebody start --driver NAME`, `wholebody drivers check NAME`",
    ),
    ("task", "`wholebody/tasks/NAME.py`, a Task: error and Jacobian", "`wholebody.tasks`"),
    ("constraint", "`wholebody/constraints/NAME.py`, a Constraint: a Jacobian", "`wholebody.constraints`"),
    ("controller", "`wholebody/control/NAME.py`, a class with `solve`", "`wholebody.controllers`"),
    ("clock", "`wholebody/drivers/interface.py`, a class that is called with a period", "`wholebody.clocks`"),
    (
        "stabilizer",
        "`wholebody/locomotion/balance/NAME.py`, a Stabilizer: `correct(target, balance, period)`",
        "`wholebody.stabilizers`; `wholebody walk --stabilizer NAME`",
    ),
    (
        "behaviour and verb",
        "`wholebody/behaviors/NAME.py`, a Goal: a dataclass with `run(robot)`; see [behaviors.md](behaviors.md)",
        "`wholebody.behaviors`; `wholebody start --behavior NAME`",
    ),
    (
        "page panel",
        "`wholebody/operator/robot/panels.py`, a Panel: a form, a table, a plot, or some of them",
        "`wholebody.panels`; `wholebody page --panel FILE.py:Class`",
    ),
    (
        "transport",
        "`wholebody/parameters/transports.py`, a class with `receive` and `sender`",
        "`wholebody.transports`",
    ),
    (
        "command",
        "`wholebody/cli/NAME.py`, a function or a Typer application",
        "`wholebody.commands`; `wholebody NAME`, or `wholebody FILE.py:function`",
    ),
    ("benchmark", "`benchmarks/NAME.py`, a function `run(quick, progress) -> Report`", "`wholebody bench FILE.py`"),
    (
        "experiment",
        "`experiments/NAME.py`, a program that prints its table",
        "`wholebody experiment FILE.py`; `make experiments` runs all that are there",
    ),
)
"""What somebody adds, where ours of that kind are, and how one from outside is found."""


def page(repository: Path) -> str:
    """The whole text of `docs/architecture.md` for the package as it is on disk."""
    return "\n".join([INTRODUCTION, *_adding(), "", *_map(repository), "", *_rule(repository)]) + "\n"


def _adding() -> list[str]:
    rows = [f"| {what} | {where} | {found} |" for what, where, found in ADDING]
    return [
        "## Where do I add …",
        "",
        "| what | where ours are | how one of your own is found |",
        "|---|---|---|",
        *rows,
        "",
        "A name in the last column is a group of entry points; instead of one, `path/to/file.py:Class` will do (of a",
        "robot the path of its YAML, URDF or MJCF). `tests/project/test_own_parts.py` adds one of each kind that needs",
        "one file, from outside, and uses it; `test_own_panels.py` does so with panels.",
    ]


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
        lines.append(
            f"- `{folder}` imports {named((ceiling,))} and the rungs below that, not all that its package may."
        )
    for outsider, owners in ONLY_IN.items():
        lines.append(f"- Only {named(owners)} import{'s' if len(owners) == 1 else ''} {outsider}.")
    for package, outsiders in NEVER_LOADED_BY.items():
        lines.append(f"- {named((package,))} loads no {', '.join(sorted(outsiders))}, not even by way of others.")
    lines.append("- `wholebody` itself imports none of them: who imports one loads only what that one needs.")
    return [
        *lines,
        "",
        "The rule is data in `tools/import_rule.py`; `tests/project/test_architecture.py` checks every import.",
    ]


# --- picture ---------------------------------------------------------------------------------------

BOX, ROW, GAP, LEFT = (118, 34), 50, 8, 46
"""px: width and height of a box, from rung to rung, between boxes, and what stands left of them."""


def picture(repository: Path) -> str:
    """The whole text of `docs/architecture.svg`: a box for each package, on its rung."""
    says = {module.name: _first_line(module) for module in modules(repository)}
    columns = max(len(rung) for rung in LADDER)
    width, height = LEFT + (columns + len(BESIDE)) * (BOX[0] + GAP) + 2 * GAP, len(LADDER) * ROW + GAP
    shapes = []

    def box(package: str, x: float, rung: int, style: str) -> None:
        y = height - (rung + 1) * ROW
        shapes.append(
            f"<g><title>{escape(says.get(f'wholebody.{package}', 'not written yet'))}</title>"
            f'<rect class="{style}" x="{x:g}" y="{y}" width="{BOX[0]}" height="{BOX[1]}" rx="5"/>'
            f'<text x="{x + BOX[0] / 2:g}" y="{y + BOX[1] / 2 + 4:g}">{package}</text></g>'
        )

    for rung, packages in enumerate(LADDER):
        y = height - (rung + 1) * ROW
        band = f'x="{LEFT - GAP}" y="{y - GAP}" width="{columns * (BOX[0] + GAP) + GAP}" height="{ROW}"'
        shapes.append(f'<rect class="rung" {band}/>')
        shapes.append(f'<text class="number" x="{LEFT / 2 - GAP / 2:g}" y="{y + BOX[1] / 2 + 4:g}">{rung + 1}</text>')
        start = LEFT + (columns - len(packages)) * (BOX[0] + GAP) / 2
        for number, package in enumerate(packages):
            style = "package" if f"wholebody.{package}" in says else "planned"
            box(package, start + number * (BOX[0] + GAP), rung, style)
    for number, (package, ceiling) in enumerate(BESIDE.items()):
        rung = next(i for i, names in enumerate(LADDER) if ceiling in names) + 1
        box(package, LEFT + (columns + number) * (BOX[0] + GAP) + GAP, rung, "beside")
    return SVG.format(width=width, height=height, shapes="\n".join(shapes))


SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">
<!-- Written by tools/architecture.py from the rule of imports; `make docs` writes it anew. -->
<style>
text {{ font: 14px sans-serif; text-anchor: middle; fill: #222 }}
.number {{ fill: #888 }}
.rung {{ fill: #f4f6f8; stroke: #ffffff; stroke-width: 2 }}
.package {{ fill: #cfe3f5; stroke: #4a7ba6 }}
.planned {{ fill: #ffffff; stroke: #999999; stroke-dasharray: 4 3 }}
.beside {{ fill: #f9dcb8; stroke: #b5792c }}
</style>
<rect width="100%" height="100%" fill="#ffffff"/>
{shapes}
</svg>
"""


if __name__ == "__main__":
    PICTURE.write_text(picture(REPOSITORY), encoding="utf-8")
    PAGE.write_text(page(REPOSITORY), encoding="utf-8")
