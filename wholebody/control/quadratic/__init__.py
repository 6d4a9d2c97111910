"""Whole-body control with limits that hold: of contacts, joints, motors and distances."""

from wholebody.control.quadratic.controller import QuadraticController
from wholebody.control.quadratic.result import InfeasibleFault, Limit, Loss, QuadraticResult

__all__ = ["InfeasibleFault", "Limit", "Loss", "QuadraticController", "QuadraticResult"]
