"""warmup: compile every kernel of estimation before it is needed, so that nothing compiles in a loop."""

from __future__ import annotations

from wholebody import robots
from wholebody.estimation.attitude import AttitudeFilter
from wholebody.estimation.balance import BalanceEstimator
from wholebody.model import Model
from wholebody.model.compiled import kernels_of
from wholebody.model.warmup import Progress, telling


def warmup(progress: Progress | None = None) -> None:
    """Compile all kernels of estimation and keep them on disk: about half a minute the first time."""
    say = progress or (lambda _what, _done: None)
    model = Model(robots.load("hoap3"))
    with telling(say, kernels_of("wholebody.estimation")):
        AttitudeFilter()
        BalanceEstimator(model)
