"""The antenna task as a person would have it done: what an operator says over RCP, and how long the robot takes.

The robot is simulated in real time with physics and walks by itself; the operator is examples/antenna_operator.py.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
from pathlib import Path

from benchmarks.page_server import MAIN, started
from wholebody.operator.rcp.client import Client

OPERATOR = Path(__file__).parents[1] / "examples" / "antenna_operator.py"


def antenna_task() -> dict[str, float]:
    """Commands, decisions and minutes of the robot's time; `antenna_fetched` is 1 if it stands where it belongs."""
    command = [*MAIN, "rcp", "--port", "0"]
    with (
        started("hubo2plus", "--scene", "antenna"),
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server,
    ):
        try:
            return _played(server)
        finally:
            server.terminate()


def _played(server: subprocess.Popen[str]) -> dict[str, float]:
    assert server.stdout is not None
    port = re.search(r":(\d+)", server.stdout.readline())
    assert port is not None
    found = importlib.util.spec_from_file_location("antenna_operator", OPERATOR)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    with Client(port=int(port[1])) as robot:
        operator = module.Operator(robot, quiet=True)
        end = operator.play()
        minutes = operator.robot_time() / 60
    return {
        "antenna_commands": float(operator.commands),
        "antenna_decisions": float(operator.decisions),
        "antenna_minutes": round(minutes, 2),
        "antenna_fetched": float(end == "done"),
    }
