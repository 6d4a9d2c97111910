"""warmup: compile every kernel of the model before it is needed, so that nothing compiles in a loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from numba.core import event

from wholebody.model.compiled import kernels_of
from wholebody.model.model import Model
from wholebody.model.support import Contacts
from wholebody.robots.robot import Joint, Link, Robot

Progress = Callable[[str, float], None]


def warmup(progress: Progress | None = None) -> None:
    """Compile all kernels of the model and keep them on disk: some 20 s the first time, half a second after.

    progress is called with the kernel that is compiled next, and the share that is done, 0 to 1.
    """
    say = progress or (lambda _what, _done: None)
    links = tuple(Link(name, 1.0, inertia=(1.0, 1.0, 1.0, 0.0, 0.0, 0.0)) for name in ("base", "arm"))
    robot = Robot("warmup", links, (Joint("elbow", "revolute", "base", "arm", lower=-1.0, upper=1.0),))
    with telling(say, kernels_of("wholebody.model")):
        Contacts(Model(robot), ["base"])


@contextmanager
def telling(progress: Progress, kernels: frozenset[str]) -> Iterator[None]:
    """Tell how many of some kernels are compiled; those that come from disk are not mentioned."""
    listener = _Listener(progress, kernels)
    progress("kernels", 0.0)
    with event.install_listener("numba:compile", listener):
        yield
    progress("kernels", 1.0)


class _Listener(event.Listener):
    def __init__(self, progress: Progress, kernels: frozenset[str]) -> None:
        self._progress, self._kernels = progress, kernels
        self._done: set[str] = set()

    def on_start(self, event: event.Event) -> None:
        self._tell(_kernel(event))

    def on_end(self, event: event.Event) -> None:
        self._done.add(_kernel(event))
        self._tell(_kernel(event))

    def _tell(self, kernel: str) -> None:
        if kernel in self._kernels:
            self._progress(kernel.strip("_").replace("_", " "), len(self._done & self._kernels) / len(self._kernels))


def _kernel(event: event.Event) -> str:
    return str(event.data["dispatcher"].py_func.__name__)
