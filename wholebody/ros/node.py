"""Node: topics and services of ROS 2 under a name and a namespace, listed by the tools of ROS; it never waits.

with Node("robot", namespace="lab") as node:
    status = node.publisher("status", String)                    # /lab/status
    node.subscription("cmd_vel", Twist, lambda twist: ...)
    node.service("~/reset", TRIGGER, lambda request: TriggerResponse(True, "done"))
    while True:
        node.spin()

Services are those of rmw_cyclonedds_cpp: which request an answer belongs to stands before its fields.
"""

from __future__ import annotations

import itertools
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, make_dataclass
from typing import Any, Generic, Self, TypeVar

from wholebody.errors import BadBinding, BadMessage
from wholebody.ros.dds import USUAL, Participant, Quality, Reader, Writer
from wholebody.ros.interfaces import (
    Gid,
    NodeEntitiesInfo,
    ParticipantEntitiesInfo,
    Request,
    Response,
    ServiceType,
)
from wholebody.ros.message import Int64, Message, Uint64, remembered

M = TypeVar("M", bound=Message)
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
NAME = re.compile(r"(~/|/)?[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*")
DISCOVERY = "ros_discovery_info"
SERVICES = Quality(depth=64)


def check_namespace(namespace: str) -> str:
    """A namespace without slashes around it; BadBinding if it is none."""
    bare = namespace.strip("/")
    if bare and not all(WORD.fullmatch(word) for word in bare.split("/")):
        raise BadBinding(f"a namespace is words of letters, digits and _ between slashes, not '{namespace}'")
    return bare


def resolved(name: str, namespace: str, node: str) -> str:
    """The full name of a topic or service, without the first slash: ~ is the node, / the root."""
    if not NAME.fullmatch(name):
        raise BadBinding(
            f"a ROS topic is words of letters, digits and _ between slashes, such as arm/goal, not '{name}'"
        )
    if name.startswith("/"):
        return name[1:]
    parts = (namespace, node, name[2:]) if name.startswith("~/") else (namespace, name)
    return "/".join(part for part in parts if part)


@remembered
def with_header(kind: type[Message]) -> Any:
    """A request or an answer with what comes before it: whose it is, and which of theirs."""
    found: Any = make_dataclass(
        f"{kind.__name__}WithHeader", [("client", Uint64), ("sequence", Int64), ("body", kind)], bases=(Message,)
    )
    found.ros = kind.ros
    return found


@dataclass
class _Subscription(Generic[M]):
    reader: Reader[M]
    take: Callable[[M], None]


@dataclass
class _Service:
    reader: Reader[Any]
    writer: Writer[Any]
    answer: Callable[[Any], Any]


class Node:
    """A node of ROS 2; `spin` calls what is subscribed and asked, in the thread that calls it.

    complain  told what came in that is no message of its type
    """

    def __init__(
        self,
        name: str,
        namespace: str = "",
        domain: int = 0,
        network: str = "",
        complain: Callable[[str], None] = lambda text: None,
    ) -> None:
        if not WORD.fullmatch(name):
            raise BadBinding(f"a node's name is letters, digits and _, not '{name}'")
        self.name, self.namespace, self._complain = name, check_namespace(namespace), complain
        self.participant = Participant(domain, network, "enclave=/;")
        self._readers: list[Reader[Any]] = []
        self._writers: list[Writer[Any]] = []
        self._subscriptions: list[_Subscription[Any]] = []
        self._services: list[_Service] = []
        self._listed = self.participant.writer(DISCOVERY, ParticipantEntitiesInfo, Quality(transient=True, depth=1))
        self._changed = True

    def full_name(self, name: str) -> str:
        """The full name of a topic or service."""
        return resolved(name, self.namespace, self.name)

    def publisher(self, topic: str, kind: type[M], quality: Quality = USUAL) -> Writer[M]:
        """What publishes a topic."""
        return self._wrote(self.participant.writer(f"rt/{self.full_name(topic)}", kind, quality))

    def subscription(self, topic: str, kind: type[M], take: Callable[[M], None], quality: Quality = USUAL) -> Reader[M]:
        """Have `take` called with what is published."""
        reader = self._read(self.participant.reader(f"rt/{self.full_name(topic)}", kind, quality))
        self._subscriptions.append(_Subscription(reader, take))
        return reader

    def service(
        self,
        name: str,
        kind: ServiceType[Request, Response],
        answer: Callable[[Request], Response | Deferred[Response]],
    ) -> None:
        """Answer requests; an answer that comes later is a Deferred."""
        about, full = f"serviceid={secrets.token_hex(8)};", self.full_name(name)
        reader = self.participant.reader(f"rq/{full}Request", with_header(kind.request), SERVICES, about)
        writer = self.participant.writer(f"rr/{full}Reply", with_header(kind.response), SERVICES, about)
        self._services.append(_Service(self._read(reader), self._wrote(writer), answer))

    def client(self, name: str, kind: ServiceType[Request, Response]) -> ServiceClient[Request, Response]:
        """What asks a service."""
        about, full = f"clientid={secrets.token_hex(8)};", self.full_name(name)
        writer = self.participant.writer(f"rq/{full}Request", with_header(kind.request), SERVICES, about)
        reader = self.participant.reader(f"rr/{full}Reply", with_header(kind.response), SERVICES, about)
        return ServiceClient(self._wrote(writer), self._read(reader))

    def spin(self) -> int:
        """Take what came; how much that was."""
        if self._changed:
            self._changed = False
            self._listed.put(self._entities())
        count = 0
        for each in self._subscriptions:
            for message in self._taken(each.reader):
                each.take(message)
                count += 1
        for service in self._services:
            for request in self._taken(service.reader):
                _answer(service, request)
                count += 1
        return count

    def close(self) -> None:
        """Leave."""
        self.participant.close()

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def _taken(self, reader: Reader[M]) -> list[M]:
        try:
            return reader.take()
        except BadMessage as error:
            self._complain(str(error))
            return []

    def _read(self, reader: Reader[M]) -> Reader[M]:
        self._readers.append(reader)
        self._changed = True
        return reader

    def _wrote(self, writer: Writer[M]) -> Writer[M]:
        self._writers.append(writer)
        self._changed = True
        return writer

    def _entities(self) -> ParticipantEntitiesInfo:
        """This node with all that it has, as `ros2 node list` and `ros2 topic list` ask for it."""
        readers, writers = ([Gid(each.gid) for each in some] for some in (self._readers, self._writers))
        node = NodeEntitiesInfo(f"/{self.namespace}", self.name, readers, writers)
        return ParticipantEntitiesInfo(Gid(self.participant.gid), [node])


class Deferred(Generic[Response]):
    """An answer that is given later."""

    def __init__(self) -> None:
        self._send: Callable[[Response], None] | None = None

    def to(self, send: Callable[[Response], None]) -> None:
        """Where it goes."""
        self._send = send

    def give(self, response: Response) -> None:
        """Give it."""
        if self._send is not None:
            self._send(response)


def _answer(service: _Service, request: Any) -> None:
    """Answer a request, now or later."""

    def send(response: Any) -> None:
        service.writer.put(service.writer.kind(request.client, request.sequence, response))

    given = service.answer(request.body)
    if isinstance(given, Deferred):
        given.to(send)
    else:
        send(given)


class ServiceClient(Generic[Request, Response]):
    """Asks a service."""

    def __init__(self, writer: Writer[Any], reader: Reader[Any]) -> None:
        self._writer, self._reader = writer, reader
        self._client, self._numbers = secrets.randbits(63), itertools.count(1)
        self._answers: dict[int, Response] = {}

    @property
    def ready(self) -> bool:
        """Whether somebody serves it."""
        return self._writer.readers > 0 and self._reader.writers > 0

    def ask(self, request: Request) -> int:
        """Ask; the number by which to find the answer."""
        number = next(self._numbers)
        self._writer.put(self._writer.kind(self._client, number, request))
        return number

    def answer(self, number: int) -> Response | None:
        """The answer, if it has come."""
        for each in self._reader.take():
            if each.client == self._client:
                self._answers[each.sequence] = each.body
        return self._answers.pop(number, None)
