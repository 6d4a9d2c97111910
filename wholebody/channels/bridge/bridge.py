"""Bridge: mirrors channels between machines over zenoh, newest first; one bridge process per machine.

Who is let in can read what is exported and write what is imported: beyond this machine only with TLS and the token
(wholebody.security).

It runs beside the control loops and never in one: to them it is one more reader, which no writer waits for.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Self

from wholebody.channels import _ring
from wholebody.channels.bridge.link import Answer, Exchange, Question, endpoint, open_link
from wholebody.channels.bridge.mirror import BULK_BYTES, Export, Import, MirrorStatus
from wholebody.errors import BridgeError

if TYPE_CHECKING:
    import zenoh

LOOK_NS = 200_000_000  # how often the exporter looks whether a channel was made, or made again
BUSY_NS = 20_000_000  # a channel that was put to so recently is looked at regularly instead of waited for
POLL_NS = 500_000  # so often
ASK_SECONDS = 0.5  # how often an importer asks who is there and what time it is
ASK_AGAIN_SECONDS = 0.1  # and how often while nobody answers
ASK_PAUSE_SECONDS = 0.02  # and at most, when messages arrive that it cannot place
ANSWER_SECONDS = 3.0  # how long it waits for the answers: they may stand behind messages on a slow link
EXPORTS_MAX = 64  # what one thread can wait on
AT_ONCE = 128  # small messages that may wait for a thread of ours; a slower one loses the oldest


class Bridge:
    """Mirrors local channels to other machines (exports) and theirs to this one (imports), until stopped.

        with Bridge(listen=["0.0.0.0:7447"], exports=["hubo.state"], imports=["hubo.reference.walk"]) as bridge:
            bridge.status()

    Endpoints are HOST:PORT or tcp/HOST:PORT. A connecting bridge tries again for ever; either side may be killed and
    return. Machines that mirror from each other need an endpoint between them: nobody passes on what it receives.
    """

    def __init__(
        self,
        listen: Iterable[str] = (),
        connect: Iterable[str] = (),
        exports: Iterable[str] = (),
        imports: Iterable[str] = (),
        rate: float = 1000.0,
        insecure: bool = False,
        session: zenoh.Session | None = None,
    ) -> None:
        self._listen = [endpoint(one) for one in listen]
        self._connect = [endpoint(one) for one in connect]
        if not (0 < rate < math.inf):
            raise BridgeError(f"the rate is {rate} Hz; it must be more than 0")
        self._insecure = insecure
        self._process, self._rate = secrets.randbits(47) + 1, rate
        self._exports = {name: Export(name, self._process, rate) for name in exports}
        self._imports = {name: Import(name) for name in imports}
        self._subscribers: dict[str, list[Any]] = {}
        self._given = session
        if session is None:
            self._refuse_nonsense()
        self._bulk: dict[str, bytes] = {}
        self._has_bulk = threading.Event()
        self._stopped = threading.Event()
        self._threads: list[threading.Thread] = []
        self._session: zenoh.Session | None = None
        self._failure: BaseException | None = None

    def _refuse_nonsense(self) -> None:
        if not self._listen and not self._connect:
            raise BridgeError("a bridge needs an endpoint: listen on one (0.0.0.0:7447) or connect to one (HOST:7447)")
        if not self._exports and not self._imports:
            raise BridgeError("a bridge needs a channel to export or to import")
        both = sorted(self._exports.keys() & self._imports.keys())
        if both:
            raise BridgeError(f"'{both[0]}' is both exported and imported; its messages would go round in a circle")
        if len(self._exports) > EXPORTS_MAX:
            raise BridgeError(f"{len(self._exports)} exports; one bridge can do {EXPORTS_MAX}, start a second")

    def start(self) -> None:
        """Open the link and begin to mirror; BridgeError if an endpoint cannot be listened on."""
        if self._session is not None:
            raise BridgeError("a bridge is started once")
        self._session = session = self._given or open_link(self._listen, self._connect, self._insecure)
        if self._exports or self._given:
            self._run(self._export, session)
            self._run(self._export_bulk, session)
            self._run(self._answer, session)
        for each in self._imports.values():
            self._begin(session, each)

    def mirror(self, exports: Iterable[str], imports: Iterable[str]) -> None:
        """From now on mirror these, and nothing else; of a bridge that was given its session."""
        exported, imported, session = set(exports), set(imports), self._session
        if session is None or self._given is None:
            raise BridgeError("only a bridge that was given its session, and was started, can mirror something else")
        if len(exported) > EXPORTS_MAX:
            raise BridgeError(f"{len(exported)} exports; one bridge can do {EXPORTS_MAX}")
        fresh = {name: Export(name, self._process, self._rate) for name in exported - self._exports.keys()}
        kept = {name: each for name, each in self._exports.items() if name in exported}
        self._exports = kept | fresh
        for name in self._imports.keys() - imported:
            self._imports.pop(name).close()
            for subscriber in self._subscribers.pop(name, ()):
                subscriber.undeclare()
        for name in imported - self._imports.keys():
            self._imports[name] = each = Import(name)
            self._begin(session, each)
        self._threads = [each for each in self._threads if each.is_alive()]

    def _begin(self, session: zenoh.Session, each: Import) -> None:
        self._run(self._receive, session, each, "message", AT_ONCE)
        self._run(self._receive, session, each, "bulk", 1)
        self._run(self._ask, session, each)

    def stop(self) -> None:
        """Close the link and end the threads; never raises, and twice is fine."""
        self._stopped.set()
        self._has_bulk.set()
        for each in self._imports.values():
            each.has_question.set()
        if self._session is not None and self._given is None:
            with contextlib.suppress(Exception):
                self._session.close()  # type: ignore[no-untyped-call]
        for subscriber in itertools.chain(*self._subscribers.values()):
            with contextlib.suppress(Exception):
                subscriber.undeclare()
        if self._given is None:  # else its threads end with the session
            for thread in self._threads:
                thread.join(timeout=ANSWER_SECONDS)
        for each in self._imports.values():
            each.close()

    def status(self) -> list[MirrorStatus]:
        """How each channel is doing, exports first; BridgeError if a part of the bridge has broken down."""
        if self._failure is not None:
            raise BridgeError(f"the bridge has broken down: {self._failure!r}") from self._failure
        now_ns = time.monotonic_ns()
        exports = [each.status(now_ns) for each in self._exports.values()]
        return exports + [each.status(now_ns) for each in self._imports.values()]

    def __enter__(self) -> Self:
        """Start the bridge."""
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the bridge."""
        self.stop()

    def _run(self, job: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=self._guard, args=(job, *arguments), daemon=True)
        thread.start()
        self._threads.append(thread)

    def _guard(self, job: Callable[..., None], *arguments: object) -> None:
        try:
            job(*arguments)
        except BaseException as error:
            if not self._stopped.is_set():
                self._failure = error

    def _export(self, session: zenoh.Session) -> None:
        """Wait on all exported channels and send what is new of each."""
        publishers: dict[str, zenoh.Publisher] = {}
        look_ns = 0
        while not self._stopped.is_set():
            now_ns = time.monotonic_ns()
            if now_ns >= look_ns:
                look_ns = now_ns + LOOK_NS
                for name, export in self._exports.items():
                    export.look(now_ns)
                    if name not in publishers:
                        publishers[name] = _publisher(session, name)
                    export.somebody_listens = _has_listeners(publishers[name])
            self._wait(look_ns)
            now_ns = time.monotonic_ns()
            for name, export in self._exports.items():
                if name not in publishers:
                    continue  # it is new
                for message in export.take(now_ns) if export.due_ns <= now_ns else ():
                    if len(message) > BULK_BYTES:
                        self._bulk[name] = message
                        self._has_bulk.set()
                    else:
                        publishers[name].put(message)

    def _export_bulk(self, session: zenoh.Session) -> None:
        """Send the newest large message of each channel, piece by piece between the small ones."""
        publishers: dict[str, zenoh.Publisher] = {}
        while not self._stopped.is_set():
            self._has_bulk.wait()
            self._has_bulk.clear()
            for name in list(self._bulk):
                if name not in publishers:
                    publishers[name] = _publisher(session, name, bulk=True)
                publishers[name].put(self._bulk.pop(name))

    def _wait(self, until_ns: int) -> None:
        """Sleep until a channel that may be sent has something new, or one that may not yet becomes due.

        A waiting reader costs every put a wake-up (a system call, 5 µs), so busy channels are looked at regularly.
        """
        now_ns = time.monotonic_ns()
        readers = []
        for export in self._exports.values():
            if export.reader is not None and export.due_ns <= now_ns:
                readers.append(export.reader)
            elif export.reader is not None:
                until_ns = min(until_ns, export.due_ns)
        if any(now_ns - export.taken_ns < BUSY_NS for export in self._exports.values()):
            time.sleep(max(0, min(until_ns - now_ns, POLL_NS)) * 1e-9)
        elif readers:
            _ring.wait_any(readers, until=until_ns * 1e-9)
        else:
            self._stopped.wait((until_ns - now_ns) * 1e-9)

    def _answer(self, session: zenoh.Session) -> None:
        """Answer the importers' questions."""
        import zenoh

        queries: zenoh.handlers.RingChannel[zenoh.Query] = zenoh.handlers.RingChannel(256)
        queryable = session.declare_queryable("wholebody/ask/*", queries, allowed_origin=zenoh.Locality.REMOTE)
        for query in queryable.handler:
            received_ns = time.monotonic_ns()
            with query:
                export = self._exports.get(str(query.key_expr).rpartition("/")[2])
                question = Question.parse(query.payload.to_bytes()) if query.payload else None
                if export is not None and question is not None:
                    query.reply(query.key_expr, export.answer(question, received_ns), express=True)

    def _receive(self, session: zenoh.Session, mirror: Import, kind: str, at_once: int) -> None:
        """Take in the newest messages that have arrived."""
        import zenoh

        newest: zenoh.handlers.RingChannel[zenoh.Sample] = zenoh.handlers.RingChannel(at_once)
        key = f"wholebody/{kind}/{mirror.name}"
        subscriber = session.declare_subscriber(key, newest, allowed_origin=zenoh.Locality.REMOTE)
        self._subscribers.setdefault(mirror.name, []).append(subscriber)
        for sample in subscriber.handler:
            mirror.arrived(sample.payload.to_bytes())

    def _ask(self, session: zenoh.Session, mirror: Import) -> None:
        """Ask the exporters, now and then and when something arrives that cannot be placed."""
        while not self._stopped.is_set() and not mirror.closed:
            exchanges = list(_exchanges(session, mirror))
            mirror.settle(exchanges)
            self._stopped.wait(ASK_PAUSE_SECONDS)
            mirror.has_question.wait(ASK_SECONDS if exchanges else ASK_AGAIN_SECONDS)


def _publisher(session: zenoh.Session, name: str, bulk: bool = False) -> zenoh.Publisher:
    import zenoh

    return session.declare_publisher(
        f"wholebody/{'bulk' if bulk else 'message'}/{name}",
        congestion_control=zenoh.CongestionControl.DROP,
        priority=zenoh.Priority.DATA_LOW if bulk else zenoh.Priority.DATA_HIGH,
        express=True,
        allowed_destination=zenoh.Locality.REMOTE,
    )


def _has_listeners(publisher: zenoh.Publisher) -> bool:
    status = publisher.matching_status
    return bool(getattr(status, "matching", status))  # zenoh documents a bool and returns a MatchingStatus


def _exchanges(session: zenoh.Session, mirror: Import) -> Iterator[Exchange]:
    """Put one question to all who export the channel, and wait until all have answered."""
    import zenoh

    question, asked_ns = mirror.question().pack(), time.monotonic_ns()
    replies = session.get(
        f"wholebody/ask/{mirror.name}",
        target=zenoh.QueryTarget.ALL,
        consolidation=zenoh.ConsolidationMode.NONE,
        timeout=ANSWER_SECONDS,
        congestion_control=zenoh.CongestionControl.DROP,
        priority=zenoh.Priority.REAL_TIME,
        express=True,
        payload=question,
        allowed_destination=zenoh.Locality.REMOTE,
    )
    for reply in replies:
        arrived_ns = time.monotonic_ns()
        answer = Answer.parse(reply.ok.payload.to_bytes()) if reply.ok else None
        if answer is not None:
            yield Exchange(asked_ns, answer, arrived_ns)
