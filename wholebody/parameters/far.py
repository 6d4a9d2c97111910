"""Far: controllers of another machine, asked over the network as those of this one are by channels.

On the robot's machine a Switchboard answers for all controllers that run there (`wholebody run --listen`); on the
other, FarLine is what Line is at home. A question is a line of JSON, its answer too; events are told as they happen.

The link is neither encrypted nor authenticated: who reaches the port can set parameters. Use it on a network you trust.
"""

from __future__ import annotations

import contextlib
import json
import queue
import threading
import time
from typing import Any, Self

import numpy as np

from wholebody import messages
from wholebody.channels.bridge.link import endpoint, open_link
from wholebody.errors import BadParameter, NoController, WholebodyError
from wholebody.parameters.line import Line, running
from wholebody.parameters.parameter import Array
from wholebody.parameters.records import ControllerNames, Verb

ASK, EVENTS = "wholebody/services", "wholebody/events"
CONNECTING = 5.0
"""Seconds for which somebody who connects waits for an answer."""
SLICE = 0.2
WAITING = 256
"""Questions that wait, at most, and events that nobody has looked at."""


class Switchboard:
    """Answers other machines for the controllers of this one, in threads beside whatever else the process does.

    with Switchboard("0.0.0.0:7448"):
        ...
    """

    def __init__(self, listen: str) -> None:
        import zenoh

        self._session = open_link(listen=[endpoint(listen)])
        self._lines: dict[ControllerKey, Line] = {}
        self._over = threading.Event()
        self._watching: list[threading.Thread] = []
        waiting: Any = zenoh.handlers.FifoChannel(WAITING)
        self._asked: Any = self._session.declare_queryable(ASK, waiting, allowed_origin=zenoh.Locality.REMOTE)
        self._thread = threading.Thread(target=self._answer_all, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Hang up."""
        self._over.set()
        self._session.close()  # type: ignore[no-untyped-call]
        for each in (self._thread, *self._watching):
            each.join(2 * SLICE)
        for line in self._lines.values():
            line.close()

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Hang up."""
        self.close()

    def _answer_all(self) -> None:
        for query in self._asked.handler:
            with query:
                try:
                    said = self._answer(json.loads(query.payload.to_bytes()))
                except WholebodyError as error:
                    said = {"refused": isinstance(error, BadParameter), "why": str(error)}
                except (ValueError, TypeError, KeyError, AttributeError) as error:
                    said = {"refused": True, "why": f"that is no question: {error!r}"}
                query.reply(query.key_expr, json.dumps(said).encode())

    def _answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        if asked["what"] == "running":
            return {"running": running()}
        line = self._line((str(asked["robot"]), str(asked["controller"])))
        match asked["what"]:
            case "read":
                return {"life": line.life, "told": line.read()}
            case "life":
                return {"life": line.life, "alive": line.alive}
            case "long":
                return {"values": line.long(Verb(asked["verb"]), int(asked["index"]), CONNECTING).tolist()}
        numbers = [float(each) for each in asked["numbers"]]
        answer = line.ask(Verb(asked["verb"]), int(asked["index"]), numbers, CONNECTING)
        return {"values": answer["values"][: int(answer["count"])].tolist()}

    def _line(self, key: ControllerKey) -> Line:
        if key not in self._lines:
            if key not in running():
                raise NoController(f"no controller called '{key[1]}' runs on '{key[0]}'")
            self._lines[key] = line = Line(ControllerNames(*key))
            told = (line.events(), "/".join((EVENTS, *key)))
            thread = threading.Thread(target=self._tell_events, args=told, daemon=True)
            self._watching.append(thread)
            thread.start()
        return self._lines[key]

    def _tell_events(self, reader: Any, key: str) -> None:
        while not self._over.is_set():
            if reader.wait(SLICE, mode="next"):
                self._session.put(key, reader.raw.tobytes())


ControllerKey = tuple[str, str]
"""Robot and controller."""


class Switchboards:
    """The connection to another machine's Switchboard."""

    def __init__(self, connect: str) -> None:
        self.where = connect
        self.session = open_link(connect=[endpoint(connect)])

    def ask(self, what: str, *, timeout: float = CONNECTING, **more: Any) -> dict[str, Any]:
        """Ask, and return the answer; BadParameter if it is no, NoController if there is none."""
        until = time.monotonic() + timeout
        question = json.dumps({"what": what, **more}).encode()
        while (left := until - time.monotonic()) > 0:
            for reply in self.session.get(ASK, timeout=left, payload=question):
                if reply.ok is not None:
                    return self._checked(json.loads(reply.ok.payload.to_bytes()))
            time.sleep(min(0.05, max(left, 0.0)))  # not connected yet
        raise NoController(f"nobody answers at {self.where}; is a controller there run with --listen?")

    def running(self) -> list[ControllerKey]:
        """The controllers that run there, as (robot, controller)."""
        return [(robot, controller) for robot, controller in self.ask("running")["running"]]

    def close(self) -> None:
        """Hang up."""
        self.session.close()  # type: ignore[no-untyped-call]

    def _checked(self, said: dict[str, Any]) -> dict[str, Any]:
        if "why" in said:
            raise (BadParameter if said["refused"] else NoController)(said["why"])
        return said


class FarLine:
    """The line to one controller of another machine; see Line."""

    def __init__(self, there: Switchboards, names: ControllerNames) -> None:
        self.names, self._there = names, there
        self._told = -1
        self._who: dict[str, Any] = {"robot": names.robot, "controller": names.controller}

    @property
    def alive(self) -> bool:
        """Whether the controller runs."""
        return (self.names.robot, self.names.controller) in self._there.running()

    @property
    def is_new(self) -> bool:
        """Whether the controller was started again since it was read."""
        return bool(self._there.ask("life", **self._who)["life"] != self._told)

    def read(self) -> dict[str, Any]:
        """What the controller tells of itself."""
        said = self._there.ask("read", **self._who)
        self._told = said["life"]
        told: dict[str, Any] = said["told"]
        return told

    def ask(self, verb: Verb, index: int, numbers: Any, timeout: float) -> Any:
        """Ask, and return the answer."""
        plain = [float(each) for each in numbers]
        said = self._there.ask("ask", timeout=timeout, **self._who, verb=int(verb), index=index, numbers=plain)
        return {"values": np.array(said["values"])}

    def long(self, verb: Verb, index: int, timeout: float) -> Array:
        """Ask for many numbers."""
        said = self._there.ask("long", timeout=timeout, **self._who, verb=int(verb), index=index)
        return np.array(said["values"])

    def events(self) -> FarEvents:
        """What comes true from now on."""
        return FarEvents(self._there, f"{EVENTS}/{self.names.robot}/{self.names.controller}", self._who)

    def close(self) -> None:
        """Hang up."""
        self._there.close()


class FarEvents:
    """Events of a controller of another machine, to be read as from a channel."""

    def __init__(self, there: Switchboards, key: str, who: dict[str, Any]) -> None:
        self._waiting: queue.Queue[bytes] = queue.Queue(WAITING)
        self._subscriber = there.session.declare_subscriber(key, self._take)
        there.ask("life", **who)  # what is said on a link arrives in order: they know of the subscription now
        self.message: Any = None

    def next(self) -> bool:
        """Take the oldest that was not taken; False if there is none."""
        return self.wait(until=0.0)

    def wait(self, until: float | None = None, mode: str = "next") -> bool:
        """Wait for one until an instant of time.monotonic(), or for ever."""
        left = None if until is None else max(0.0, until - time.monotonic())
        try:
            data = self._waiting.get(block=left != 0.0, timeout=left or None)
        except queue.Empty:
            return False
        self.message = np.frombuffer(data, messages.event())[0]
        return True

    def close(self) -> None:
        """Listen no more."""
        with contextlib.suppress(Exception):
            self._subscriber.undeclare()  # type: ignore[no-untyped-call]

    def _take(self, sample: Any) -> None:
        data = sample.payload.to_bytes()
        if len(data) == messages.event().itemsize and not self._waiting.full():
            self._waiting.put_nowait(data)
