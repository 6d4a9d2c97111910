"""wholebody warmup: compile the numerical kernels now, so that no control loop ever waits for a compiler."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn


def warmup() -> None:
    """Compile the numerical kernels (some minutes the first time, seconds after) and keep them on disk."""
    from wholebody import control, estimation, kinematics, locomotion, model, motion

    console = Console(stderr=True)
    columns = (TextColumn("compiling"), BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        for package in (model, kinematics, motion, estimation, control, locomotion):
            package.warmup(_progress(bar, bar.add_task("", total=1.0)))
    console.print("kernels are ready")


def _progress(bar: Progress, task: TaskID) -> Callable[[str, float], None]:
    return lambda kernel, done: bar.update(task, description=kernel, completed=done)
