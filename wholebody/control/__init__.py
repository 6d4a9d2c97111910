"""From what we want to what the joints get: Problem, and WBOSC or QuadraticController, which solve it."""

from wholebody.control.problem import Problem
from wholebody.control.quadratic import QuadraticController
from wholebody.control.quadratic_result import Limit, Loss
from wholebody.control.result import Fault, LimitWarning, Result
from wholebody.control.transitions import Durations, Transitions
from wholebody.control.warmup import warmup
from wholebody.control.wbosc import WBOSC

__all__ = [
    "WBOSC",
    "Durations",
    "Fault",
    "Limit",
    "LimitWarning",
    "Loss",
    "Problem",
    "QuadraticController",
    "Result",
    "Transitions",
    "warmup",
]
