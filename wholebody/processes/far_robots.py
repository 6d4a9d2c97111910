"""FarRobots: the robots of another machine as if they ran on this one: states, references, services, stop."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import threading
import time
from dataclasses import dataclass
from typing import Any, Self

from wholebody.channels import Channel, directory
from wholebody.channels.bridge.bridge import Bridge
from wholebody.channels.bridge.gateway import PATIENCE, REQUESTS, OtherMachine
from wholebody.channels.bridge.link import endpoint, open_link
from wholebody.channels.bridge.mirror import MirrorStatus
from wholebody.drivers.names import Names
from wholebody.errors import BridgeError, ChannelError
from wholebody.messages import event
from wholebody.processes.host import FROM_AFAR, KEY, LONGEST, PORT, REPLIES

LOOK_EVERY = 0.25
"""s between two questions what there is."""
KEPT, CLIENTS = 256, 64
SLICE = 0.1


@dataclass(frozen=True)
class Ran:
    """What became of a command on the other machine."""

    code: int
    out: str
    err: str


class FarRobots:
    """Mirrors all robots of the machine whose Host is at HOST or HOST:PORT, as long as it is open.

    with FarRobots("192.168.1.5") as far:
        while True:
            far.look()

    A mirrored robot is found by `connect`, by commands and by the page as one of this machine. While the link is cut,
    and when its daemon ends, nobody writes its channels here: all who use it are told, as of a daemon that ends.

    taken  which machine the robots of a name are of, if several machines are mirrored
    """

    def __init__(self, where: str, taken: dict[str, FarRobots] | None = None) -> None:
        self._taken = {} if taken is None else taken  # by name, also of others in this process
        self.where = where if where.rpartition(":")[2].isdigit() and ":" in where else f"{where}:{PORT}"
        self._session = open_link(connect=[endpoint(self.where)])
        self._machine = OtherMachine(self.where, self._session)
        self._bridge = Bridge(session=self._session)
        self._bridge.start()
        self._identity = secrets.token_hex(8)
        self._imports: set[str] = set()
        self._services: dict[str, _Service] = {}
        self._stops: dict[str, _Stop] = {}
        self.heard, self.complete = 0.0, False  # when it answered last, and whether all that it has is mirrored
        self.refused: dict[str, str] = {}

    @property
    def reachable(self) -> bool:
        """Whether the other machine has answered of late."""
        return time.monotonic() < self.heard + PATIENCE

    @property
    def robots(self) -> tuple[str, ...]:
        """Which robots are mirrored now."""
        return tuple(sorted(self._stops))

    def look(self) -> bool:
        """Ask what there is, mirror it, and say whether the machine answers; to be called some times a second."""
        brings = [
            name
            for name in directory.names()
            if name.endswith(FROM_AFAR) and name.partition(".")[0] in self._stops and _is_written(name)
        ]
        told = self._ask(1.0, {"from": self._identity, "wants": sorted(self._imports), "brings": brings})
        if told is None:
            if not self.reachable:
                self._mirror(set(), {}, [])
            return False
        self.heard = time.monotonic()
        self.refused.clear()
        channels = [name for name in told["channels"] if not self._is_taken(name)]
        services = {name: file for name, file in told["services"].items() if not self._is_taken(f"{name}{REPLIES}")}
        self.complete = self.complete or set(channels) == self._imports
        self._mirror(set(channels), services, brings)
        return True

    def run(self, *words: str) -> Ran:
        """Have a command run there: start, stop or status. BridgeError if nobody answers."""
        until = time.monotonic() + PATIENCE
        while self._ask(1.0, {"from": self._identity, "wants": [], "brings": []}) is None:
            if time.monotonic() > until:
                raise BridgeError(self.silence)
        told = self._ask(LONGEST + 5.0, {"run": list(words)})
        if told is None:
            raise BridgeError(
                f"the link to {self.where} was lost while '{words[0]}' ran; see: wholebody remote … status"
            )
        return Ran(int(told["code"]), str(told["out"]), str(told["err"]))

    def stop(self, robot: str, timeout: float = 2.0) -> bool:
        """Stop a robot there, by the channel that needs its daemon alone; False if that could not be said in time."""
        until = time.monotonic() + timeout
        while (left := until - time.monotonic()) > 0.0:
            told = self._ask(min(left, 0.5), {"halt": robot})
            if told is not None:
                return bool(told["halted"])
        return False

    def status(self) -> list[MirrorStatus]:
        """How each channel is doing."""
        return self._bridge.status()

    @property
    def silence(self) -> str:
        """What to say if nobody answers."""
        return (
            f"nobody answers at {self.where}; on that machine: wholebody process host --endpoint 0.0.0.0:{PORT}; and "
            "have its keys here, if it is another one (docs/channels.md#keys)"
        )

    def close(self) -> None:
        """Mirror nothing any more; what was mirrored is removed."""
        with contextlib.suppress(Exception):
            self._mirror(set(), {}, [])
        self._bridge.stop()
        self._machine.close()

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def _ask(self, timeout: float, question: dict[str, Any]) -> dict[str, Any] | None:
        replies: Any = self._session.get(KEY, timeout=timeout, payload=json.dumps(question), express=True)
        for reply in replies:
            if reply.ok is not None:
                answer: dict[str, Any] = json.loads(reply.ok.payload.to_bytes())
                return answer
        time.sleep(0.05)
        return None

    def _is_taken(self, name: str) -> bool:
        """Whether a robot of this name is here already: it has precedence, so that two are never mixed."""
        robot, others = name.partition(".")[0], set[int]()
        with contextlib.suppress(ChannelError):
            others = set(directory.writers(name)) - {os.getpid()}
        other = self._taken.setdefault(robot, self)
        if others or other is not self:
            whose = f"at {other.where}" if other is not self else f"here (process {min(others)})"
            self.refused[robot] = (
                f"its '{robot}' is left out, as a robot of that name runs {whose}: start it with --name"
            )
        return robot in self.refused

    def _mirror(self, channels: set[str], services: dict[str, Any], brings: list[str]) -> None:
        self._bridge.mirror(brings, channels)
        for name in self._imports - channels:
            with contextlib.suppress(ChannelError):
                directory.remove(name, force=True)
        self._imports = channels
        for name, service in list(self._services.items()):
            if services.get(name) != service.file:
                self._services.pop(name).close()
        for name in services.keys() - self._services.keys():
            with contextlib.suppress(ChannelError, BridgeError):
                self._services[name] = _Service(self._machine, name, services[name])
        robots = {name.partition(".")[0] for name in channels if name.endswith(".tick")}
        for name in [name for name, far in self._taken.items() if far is self and name not in robots]:
            del self._taken[name]
        for name in self._stops.keys() - robots:
            self._stops.pop(name).close()
        for name in robots - self._stops.keys():
            self._stops[name] = _Stop(self, name)


def _is_written(name: str) -> bool:
    with contextlib.suppress(ChannelError):
        return bool(directory.writers(name))
    return False


class _Service:
    """A service of the other machine: requests from here to there, replies from there to here, none of them lost."""

    def __init__(self, there: OtherMachine, name: str, file: Any) -> None:
        self.name, self.file, self._ended = name, file, threading.Event()
        self._to, self._from = there.writer(f"{name}{REQUESTS}"), there.reader(f"{name}{REPLIES}")
        self._requests = Channel(f"{name}{REQUESTS}", self._to.message.dtype, depth=KEPT, writers=CLIENTS)
        self._asked = self._requests.reader()
        self._asked.latest()
        with Channel(f"{name}{REPLIES}", self._from.message.dtype, depth=KEPT, writers=1) as replies:
            self._replies = replies.writer()
        self._threads = [threading.Thread(target=each, daemon=True) for each in (self._carry, self._bring)]
        for each in self._threads:
            each.start()

    def _carry(self) -> None:
        while not self._ended.is_set():
            with contextlib.suppress(ChannelError):
                if self._asked.wait(SLICE, mode="next"):
                    self._to.raw[:] = self._asked.raw
                    self._to.put()

    def _bring(self) -> None:
        while not self._ended.is_set():
            if self._from.wait(SLICE, mode="next"):
                self._replies.raw[:] = self._from.raw
                self._replies.put()

    def close(self) -> None:
        """Carry nothing any more."""
        self._ended.set()
        self._from.close()
        for each in self._threads:
            each.join()
        self._replies.close()
        for name in (f"{self.name}{REQUESTS}", f"{self.name}{REPLIES}"):
            with contextlib.suppress(ChannelError):
                directory.remove(name, force=True)


class _Stop:
    """Whoever stops the mirrored robot here stops it there: said again until the other machine has done it."""

    def __init__(self, far: FarRobots, robot: str) -> None:
        self._far, self._robot, self._ended = far, robot, threading.Event()
        self._channel = Channel(Names(robot).stop, event())
        self._told = self._channel.reader()
        self._told.latest()
        self._thread = threading.Thread(target=self._pass_on, daemon=True)
        self._thread.start()

    def _pass_on(self) -> None:
        while not self._ended.is_set():
            with contextlib.suppress(ChannelError):
                if self._told.wait(SLICE):
                    while not (self._far.stop(self._robot) or self._ended.is_set()):
                        pass

    def close(self) -> None:
        """Listen no more."""
        self._ended.set()
        self._thread.join()
        with contextlib.suppress(ChannelError):
            directory.remove(self._channel.name, force=True)
