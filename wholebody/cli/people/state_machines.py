"""StateMachines: the machines that programs publish of what they do with the robot, as they are now."""

from __future__ import annotations

import json
from typing import Any

from wholebody.behaviors.state_machine_channel import ENDING
from wholebody.cli.people.taps import Taps


class StateMachines:
    """Those of programs that run (behaviors/state_machine_channel.py)."""

    def __init__(self, name: str) -> None:
        self._taps = Taps(name, ENDING)

    def newest(self) -> list[dict[str, Any]]:
        """Each machine with its states, transitions and current state; those inside states come after theirs."""
        found: list[dict[str, Any]] = []
        for tap in self._taps.all().values():
            message = tap.take()
            if message is not None and tap.writers:
                found += json.loads(bytes(message["text"][: int(message["size"])]))["machines"]
        return found
