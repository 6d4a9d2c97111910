"""Host: opens the robots of this machine to others, which mirror them and start, stop and ask after them.

It is a Gateway for services, a Bridge for what is newest, and one more question: what runs here. `wholebody remote` is
the other side.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

from wholebody.channels import directory
from wholebody.channels.bridge.bridge import Bridge
from wholebody.channels.bridge.gateway import REQUESTS, Gateway
from wholebody.channels.bridge.link import endpoint, open_link
from wholebody.drivers.names import SUFFIX
from wholebody.drivers.stop_input import stop_once
from wholebody.errors import ChannelError
from wholebody.processes.main import Ready
from wholebody.processes.registry import PLACE
from wholebody.realtime import sleep_until_told

KEY = "wholebody/host"
PORT = 7449
COMMANDS = ("start", "stop", "status")
"""What another machine may have run here, with its options."""
LONGEST = 180.0
"""s that a command may take."""
REPLIES = ".replies"
FROM_AFAR = (SUFFIX, ".unfiltered")
"""How the names of channels end that others write here."""


class Host:
    """Answers other machines about the robots of this one, until it is closed.

    with Host("0.0.0.0:7449"):
        ...
    """

    def __init__(self, listen: str, insecure: bool = False) -> None:
        import zenoh

        self._session = session = open_link(listen=[endpoint(listen)], insecure=insecure)
        self._gateway = Gateway(session=session)
        self._bridge = Bridge(session=session)
        self._bridge.start()
        self._lock = threading.Lock()
        self._wanted: dict[str, tuple[set[str], set[str]]] = {}  # by machine: what it wants, and what it brings
        self._pool = ThreadPoolExecutor(16, "host")
        questions: Any = zenoh.handlers.FifoChannel(64)
        self._asked: Any = session.declare_queryable(KEY, questions, allowed_origin=zenoh.Locality.REMOTE)
        threading.Thread(target=self._answer_all, daemon=True).start()

    def close(self) -> None:
        """Answer nobody any more; robots go on."""
        self._bridge.stop()
        self._gateway.close()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def _answer_all(self) -> None:
        with contextlib.suppress(Exception):  # the session is closed
            for query in self._asked.handler:
                self._pool.submit(self._answer, query)

    def _answer(self, query: Any) -> None:
        with query, contextlib.suppress(Exception):  # what comes from a network may be anything
            asked = json.loads(query.payload.to_bytes())
            query.reply(query.key_expr, json.dumps(self._answer_to(asked)), express=True)

    def _answer_to(self, asked: dict[str, Any]) -> dict[str, Any]:
        if "run" in asked:
            return _run([str(word) for word in asked["run"]])
        if "halt" in asked:
            return {"halted": _halt(str(asked["halt"]))}
        channels, services = _offers()
        with self._lock:
            wanted = {str(name) for name in asked["wants"]} & set(channels)
            brought = {str(name) for name in asked["brings"] if _may_be_brought(str(name))}
            self._wanted[str(asked["from"])] = (wanted, brought)
            exports = set[str]().union(*(each for each, _ in self._wanted.values()))
            imports = set[str]().union(*(each for _, each in self._wanted.values()))
            self._bridge.mirror(exports & set(channels), imports)
        return {"channels": channels, "services": services}


def robots_here() -> list[str]:
    """The robots whose daemon is a process of this machine, and no mirror."""
    return directory.ThisMachine().written(".tick")


def _offers() -> tuple[list[str], dict[str, Any]]:
    """What processes of this machine write for its robots; and its services, with the files of their requests."""
    channels, services, robots = [], {}, set(robots_here())
    for name in directory.names():
        robot, _, rest = name.partition(".")
        if robot not in robots or rest.startswith(f"{PLACE}.") or name.endswith((REQUESTS, *FROM_AFAR)):
            continue
        with contextlib.suppress(ChannelError):
            if not [each for each in directory.writers(name) if each != os.getpid()]:
                continue
            if name.endswith(REPLIES):
                service = name.removesuffix(REPLIES)
                services[service] = directory.identity(f"{service}{REQUESTS}")
            else:
                channels.append(name)
    return channels, services


def _may_be_brought(name: str) -> bool:
    return name.endswith(FROM_AFAR) and name.partition(".")[0] in robots_here()


def _halt(robot: str) -> bool:
    """Stop a robot of this machine."""
    if robot not in robots_here():
        return False
    stop_once(robot, "remote", "another machine asked for it")
    return True


def _run(words: list[str]) -> dict[str, Any]:
    """Run one of our commands."""
    if not words or words[0] not in COMMANDS:
        return {"code": 2, "out": "", "err": f"only {', '.join(COMMANDS)} can be done from afar\n"}
    command = [sys.executable, "-m", "wholebody.cli", *words]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return {"code": 1, "out": "", "err": f"'{words[0]}' is not done after {LONGEST:g} s\n"}
    return {"code": run.returncode, "out": run.stdout, "err": run.stderr}


def host(endpoint: str = f"127.0.0.1:{PORT}", insecure: str = "", *, ready: Ready) -> None:
    """Open the robots of this machine to others until SIGTERM or SIGINT."""
    with Host(endpoint, bool(insecure)):
        ready()
        print(f"the robots of this machine can be had at {endpoint}", flush=True)
        sleep_until_told()
