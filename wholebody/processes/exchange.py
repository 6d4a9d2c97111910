"""Exchange with others as processes: parameters over transports other than channels, services for other machines.

`wholebody run` begins them; `wholebody process carrier` and `gateway` do, too.
"""

from __future__ import annotations

import json

from wholebody import plugins
from wholebody.channels.bridge.gateway import Gateway
from wholebody.parameters.bindings import Binding
from wholebody.parameters.records import ControllerNames
from wholebody.parameters.transports import Carrier
from wholebody.processes.main import Ready
from wholebody.realtime import sleep_until_told


def carrier(name: str, controller: str, bindings: str, *, ready: Ready) -> None:
    """Carry some bindings, given as JSON with the sizes of their parameters, until SIGTERM or SIGINT."""
    given = json.loads(bindings)
    names = ControllerNames(name, controller)
    chosen = [Binding(**each) for each in given["bindings"]]
    with Carrier(chosen, given["sizes"], names, lambda name: plugins.load("transports", name)):
        ready()
        sleep_until_told()


def gateway(endpoint: str, name: str = "", insecure: str = "", *, ready: Ready) -> None:
    """Answer other machines until SIGTERM or SIGINT."""
    with Gateway(endpoint, bool(insecure)):
        ready()
        sleep_until_told()
