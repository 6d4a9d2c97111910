"""wholebody warmup: compile the numerical kernels now, so that no control loop ever waits for a compiler."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn


def warmup() -> None:
    """Compile the numerical kernels (some 20 s the first time, a second after) and keep them on disk."""
    from wholebody.model import warmup as warm_up_the_model

    console = Console(stderr=True)
    columns = (TextColumn("compiling"), BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=1.0)
        warm_up_the_model(lambda kernel, done: bar.update(task, description=kernel, completed=done))
    console.print("kernels are ready")
