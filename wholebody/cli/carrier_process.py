"""The carrier as a process: python -m wholebody.cli.carrier_process PLAN; `wholebody run` begins it."""

from __future__ import annotations

import json
import sys

from wholebody.configuration import plugins
from wholebody.errors import WholebodyError
from wholebody.parameters.bindings import Binding
from wholebody.parameters.carrier import Carrier
from wholebody.parameters.records import ControllerNames


def main(text: str) -> None:
    """Carry the plan's bindings until whoever began it closes the pipe, or dies."""
    plan = json.loads(text)
    bindings = [Binding(**each) for each in plan["bindings"]]
    names = ControllerNames(plan["robot"], plan["controller"])
    with Carrier(bindings, plan["sizes"], names, lambda name: plugins.load("transports", name)):
        print("ready", flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except WholebodyError as error:
        print(f"carrier: {error}", file=sys.stderr, flush=True)
        sys.exit(1)
