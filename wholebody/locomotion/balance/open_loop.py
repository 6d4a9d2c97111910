"""OpenLoop: the pattern alone, as Hubo-Ach plays it; whatever the sensors say."""

from __future__ import annotations

from wholebody.estimation import Balance
from wholebody.locomotion.balance.stabilizers import Command, as_planned
from wholebody.locomotion.target import Target
from wholebody.model.model import Model


class OpenLoop:
    """No stabilizer: what others are compared with."""

    feels_ground = False
    believes = None

    def __init__(self, model: Model) -> None:
        self.model = model

    def reset(self) -> None:
        """There is nothing to forget."""

    def correct(self, target: Target, balance: Balance, period: float) -> Command:
        """What was planned."""
        return as_planned(target)
