"""The carrier as a process: python -m wholebody.processes.carrier PLAN; `wholebody run` begins it."""

from __future__ import annotations

import json
import sys

from wholebody import plugins
from wholebody.parameters.bindings import Binding
from wholebody.parameters.records import ControllerNames
from wholebody.parameters.transports import Carrier
from wholebody.processes.main import as_process


def main(text: str) -> None:
    """Carry the plan's bindings until whoever began it closes the pipe, or dies."""
    plan = json.loads(text)
    bindings = [Binding(**each) for each in plan["bindings"]]
    names = ControllerNames(plan["robot"], plan["controller"])
    with Carrier(bindings, plan["sizes"], names, lambda name: plugins.load("transports", name)):
        print("ready", flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    as_process("carrier", main)
