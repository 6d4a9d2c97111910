"""warmup: compile every kernel of motion before it is needed, so that nothing compiles in a loop."""

from __future__ import annotations

from wholebody.model.compiled import kernels_of
from wholebody.model.warmup import Progress, telling
from wholebody.motion.pose import PoseTrajectory
from wholebody.motion.profile import OnlineProfile


def warmup(progress: Progress | None = None) -> None:
    """Compile all kernels of motion and keep them on disk: some seconds the first time."""
    say = progress or (lambda _what, _done: None)
    with telling(say, kernels_of("wholebody.motion")):
        OnlineProfile(1.0, 1.0, 0.001)
        PoseTrajectory([[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]] * 2, [0.0, 1.0])
