"""From what we want to what the joints get: Problem, controllers that solve it, and the Servo that runs them."""

from wholebody.control.estimate import BaseOnFoot
from wholebody.control.impedance import Impedance
from wholebody.control.introspection.steering import PublishState
from wholebody.control.joint_pid import JointPID
from wholebody.control.problem import Problem
from wholebody.control.quadratic import QuadraticController
from wholebody.control.quadratic.result import Limit, Loss
from wholebody.control.result import Fault, LimitWarning, Result
from wholebody.control.servo import Servo
from wholebody.control.transitions import Durations, Transitions
from wholebody.control.wbosc import WBOSC

__all__ = [
    "WBOSC",
    "BaseOnFoot",
    "Durations",
    "Fault",
    "Impedance",
    "JointPID",
    "Limit",
    "LimitWarning",
    "Loss",
    "Problem",
    "PublishState",
    "QuadraticController",
    "Result",
    "Servo",
    "Transitions",
]
