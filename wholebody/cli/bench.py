"""wholebody bench, experiment: run a benchmark or an experiment, of the source tree or in a file of one's own."""

from __future__ import annotations

import ast
import importlib
import json
import os
import platform
import runpy
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

import wholebody
from wholebody import plugins
from wholebody.cli import options
from wholebody.errors import UnknownBenchmark, WholebodyError, closest

if TYPE_CHECKING:
    from benchmarks.report import Report, Section

SOURCE_TREE = Path(wholebody.__file__).resolve().parent.parent
UNITS = {"us": "µs", "ratio": "", "count": "", "share": "", "difference": ""}
Machine = dict[str, str | int | float]
Run = Callable[[bool, Callable[[str, float], None]], "Report"]


def bench(
    name: Annotated[
        str | None, typer.Argument(help="Which, or a FILE.py of your own; none: list them.", show_default=False)
    ] = None,
    as_json: options.Json = False,
    quick: Annotated[bool, typer.Option("--quick", help="Measure less, for a first look.")] = False,
) -> None:
    """Measure how fast wholebody is on this machine, beside the limits it has set itself."""
    known = programs(SOURCE_TREE, "benchmarks", "run")
    if name is None:
        show_list(known, "bench")
        return
    run = load(name, known)
    conditions = machine()
    with progress_on_stderr(name) as progress:
        report = run(quick, progress)
    if as_json:
        print(json.dumps(as_object(report, conditions), ensure_ascii=False, indent=2))
    else:
        show_report(name, report, conditions)


@options.context(ignore_unknown_options=True)  # options after its name are the experiment's
def experiment(
    name: Annotated[
        str | None, typer.Argument(help="Which, or a FILE.py of your own; none: list them.", show_default=False)
    ] = None,
    words: Annotated[list[str] | None, typer.Argument(metavar="[OPTION …]", help="What it takes.")] = None,
) -> None:
    """Run an experiment: a program that prints its table."""
    known = programs(SOURCE_TREE, "experiments", "main")
    if name is None:
        show_list(known, "experiment")
        return
    path = program(name, known)
    sys.path.insert(0, str(SOURCE_TREE))
    sys.argv[:] = [str(path), *(words or ())]
    runpy.run_path(str(path), run_name="__main__")


def programs(source_tree: Path, kind: str, function: str) -> dict[str, str]:
    """The benchmarks or experiments of a source tree: their names and first lines. Nothing is imported."""
    folder = source_tree / kind
    if not folder.is_dir():
        raise WholebodyError(
            f"the {kind} are part of the source tree, and this wholebody is installed without it: "
            "get the source, install it with `pip install -e .` and run this again"
        )
    found = {}
    for path in sorted(folder.glob("*.py")):
        module = ast.parse(path.read_text(encoding="utf-8"))
        if any(isinstance(each, ast.FunctionDef) and each.name == function for each in module.body):
            found[path.stem] = (ast.get_docstring(module) or "").partition("\n")[0]
    return found


def program(name: str, known: dict[str, str]) -> Path:
    """The file of an experiment, by its name or its path."""
    if name not in known and not name.endswith(".py"):
        hint = closest(name, known) or "; there are: " + ", ".join(repr(each) for each in known)
        raise UnknownBenchmark(f"there is no experiment '{name}'{hint}")
    path = SOURCE_TREE / "experiments" / f"{name}.py" if name in known else Path(name)
    if not path.is_file():
        raise UnknownBenchmark(f"there is no file {path}")
    return path


def load(name: str, known: dict[str, str]) -> Run:
    """The function that runs the benchmark of that name, or of that file."""
    sys.path.insert(0, str(SOURCE_TREE))
    if name.endswith(".py"):
        own: Run = plugins.module_of(Path(name).resolve()).run
        return own
    if name not in known:
        hint = closest(name, known) or "; there are: " + ", ".join(repr(each) for each in known)
        raise UnknownBenchmark(f"there is no benchmark '{name}'{hint}")
    run: Run = importlib.import_module(f"benchmarks.{name}").run
    return run


def machine() -> Machine:
    """What the figures depend on; the load is that of the last minute before the run."""
    memory_kib = (_value("/proc/meminfo", "MemTotal") or "0 kB").split()[0]
    return {
        "cpu": _value("/proc/cpuinfo", "model name") or platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(int(memory_kib) / 2**20, 1),
        "load": round(os.getloadavg()[0], 2),
        "kernel": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "wholebody": wholebody.__version__,
    }


def _value(path: str, key: str) -> str:
    """What stands after `key:` in a file, or nothing."""
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return ""


def as_object(report: Report, conditions: Machine) -> dict[str, Any]:
    """The report as `--json` prints it, in a form that is fixed; `notes` is there only if something is to be said."""
    results = {
        name: result if isinstance(result, int | float) else asdict(result) for name, result in report.results.items()
    }
    budgets = [asdict(budget) | {"met": budget.met} for budget in report.budgets]
    notes = {"notes": report.notes} if report.notes else {}
    return {"machine": conditions, "results": results, "budgets": budgets} | notes


@contextmanager
def progress_on_stderr(name: str) -> Iterator[Callable[[str, float], None]]:
    """Show how far a benchmark is: a bar in a terminal, else a line for each part.

    There is no thread behind it, which would disturb what is measured.
    """
    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        console=console,
        auto_refresh=False,
        transient=True,
        disable=not console.is_terminal,
    )
    said = ""

    def progress(what: str, done: float) -> None:
        nonlocal said
        if what != said and not console.is_terminal:
            print(f"{name}: {what}", file=sys.stderr, flush=True)
        said = what
        bar.update(task, description=what, completed=done, refresh=True)

    with bar:
        task = bar.add_task(name, total=1.0)
        yield progress


def show_list(known: dict[str, str], command: str) -> None:
    """Print what there is."""
    console = Console(highlight=False)
    for name, first_line in known.items():
        console.print(f"[bold]{name}[/]  {first_line}")
    console.print(f"\nrun one with: wholebody {command} NAME", style="dim")


def show_report(name: str, report: Report, conditions: Machine) -> None:
    """Print the results, section by section, and whether each budget is met."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 120  # a file has room
    console.print(f"[bold]wholebody bench {name}[/]")
    for key, value in conditions.items():
        console.print(f"{key.replace('_gib', ''):>10}  {value}{' GiB' * key.endswith('_gib')}", style="dim")
    width = max(len(each) for each in [*report.results, *(budget.name for budget in report.budgets)])
    for section in report.sections:
        console.print(f"\n[bold cyan]{section.title}[/]")
        console.print(section_table(section, width))
    console.print("\n[bold cyan]budgets[/]")
    console.print(budget_table(report, width))
    if report.notes:
        console.print()
    for note in report.notes:
        console.print(f"note: {note}", style="yellow", markup=False)


def section_table(section: Section, width: int) -> Table:
    """The results of one section, all with the same number of decimals."""
    timings = [each for each in section.results.values() if not isinstance(each, int | float)]
    decimals = 3 if min((each.median for each in timings), default=0.0) < 2.0 else 1
    units = sorted({UNITS.get(each.unit, each.unit) for each in timings})
    table = _table(", ".join(units), width, "min", "median", "p99")
    for name, result in section.results.items():
        if isinstance(result, int | float):
            table.add_row(name, f"{result:,}")
        else:
            table.add_row(name, *(f"{each:,.{decimals}f}" for each in (result.min, result.median, result.p99)))
    return table


def budget_table(report: Report, width: int) -> Table:
    """The budgets, met or not."""
    table = _table("", width, "value", "limit", "")
    for budget in report.budgets:
        unit = UNITS.get(budget.unit, budget.unit)
        figures = f"{budget.value:,.5g} {unit}".rstrip(), f"≤ {budget.limit:,.5g} {unit}".rstrip()
        table.add_row(budget.name, *figures, "[green]met[/]" if budget.met else "[bold red]not met[/]")
    return table


def _table(first: str, width: int, *headings: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(first, width=width, no_wrap=True)
    for heading in headings:
        table.add_column(heading, justify="right", min_width=10, no_wrap=True)
    return table
