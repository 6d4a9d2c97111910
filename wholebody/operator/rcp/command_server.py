"""CommandServer: who is connected, and the answer to every line. It waits for nobody; the server does that."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from wholebody.errors import BadCommand, Refused, WholebodyError
from wholebody.operator.rcp import commands as rcp
from wholebody.operator.rcp.body import Body
from wholebody.operator.rcp.commands import Command
from wholebody.operator.rcp.grammar import VERBS, parse
from wholebody.operator.rcp.orders import MOVING, Machine, Orders, unforeseen
from wholebody.operator.rcp.session import TOPICS, Awaited, Negotiation, Notifications, Session
from wholebody.operator.rcp.users import Role, Users

PROFILES = ("operator", "observer")
BUSY = 0.2
"""s from tick to tick beyond which a server was busy: what was said meanwhile is heard only then."""
SPARED = 0.5
"""s in which that is heard, once; a server that is busy again and again must not let silence last for ever."""
HTTP = re.compile(r"\S+ \S+ HTTP/[\d.]+|[\w-]+:.*", re.IGNORECASE)
"""A request, or one of its headers: pages of strangers can have a browser say it to any port of its machine."""
STOPS = (["STOP"], ["DIRECT", "STOP"])
"""What waits for nothing, and is never too much."""


@dataclass(frozen=True)
class Rules:
    """How patient the command server is."""

    control_timeout: float = 30.0
    """s of silence after which control is lost, and the robot stopped"""
    lines_per_second: float = 10_000.0
    """of one connection; more are refused"""
    observer_lines_per_second: float = 2_000.0
    """of all observers together, and of whoever is not connected yet, each the same share: nobody takes another's"""
    decision_timeout: float = 60.0
    """s until a strategy must be chosen"""
    strange_lines: int = 5
    """that are no commands, of one connection before its CONNECT, until it is closed"""
    wrong_secrets: int = 5
    """of one connection, until it is closed"""
    secret_every: float = 0.25
    """s between two secrets that are tried from one address: who guesses has to wait, and nobody else"""
    connect_within: float = 10.0
    """s in which a connection must say CONNECT, or it is closed: those who never do would take the places of others"""


class CommandServer:
    """Takes lines, gives lines; `outbox` of each session is what is to be sent to it."""

    def __init__(self, body: Body, users: Users | None = None, rules: Rules | None = None) -> None:
        self.body, self.users, self.rules = body, users or Users(), rules or Rules()
        self.sessions: dict[int, Session] = {}
        self._notifications = Notifications(body, self.sessions)
        self.notify = self._notifications.notify
        self.orders = Orders(body, self._notifications, self.rules.decision_timeout)
        self._control_of = Negotiation()
        self._count = 0
        self._next_secret: dict[str, float] = {}  # by address
        self._hashing = ThreadPoolExecutor(1, "secrets")
        self._ticked = 0.0
        self._observers = 1
        self._answers: dict[type, Callable[[Session, Any, float], str]] = {
            rcp.Connect: self._connect,
            rcp.Disconnect: self._disconnect,
            rcp.Control: self._control,
            rcp.Stop: self._stop,
            rcp.Direct: self._direct,
            rcp.Move: self._order,
            rcp.Goto: self._order,
            rcp.Drive: self._drive,
            rcp.Handle: self._order,
            rcp.Do: self._order,
            rcp.Cancel: self._cancel,
            rcp.UseStrategy: self._use_strategy,
            rcp.QueryParameter: self._query_parameter,
            rcp.SetParameter: self._set_parameter,
            rcp.QuerySensor: self._query_sensor,
            rcp.QueryPosition: self._query_position,
            rcp.Position: self._position,
            rcp.Notify: self._notify,
            rcp.Resume: self._resume,
            rcp.Help: self._help,
            rcp.SelectStrategy: self._select_strategy,
            rcp.Acknowledge: lambda session, command, now: "",
        }

    @property
    def holder(self) -> Session | None:
        """Who has control."""
        return self._control_of.holder

    @property
    def machine(self) -> Machine:
        """Who is listened to."""
        return self._control_of.machine

    @property
    def troubles(self) -> tuple[str, ...]:
        """What is wrong with the robot now."""
        return self._notifications.wrong

    # --- from the server ---------------------------------------------------------------------------

    def open(self, local: bool, now: float, timeout: float | None = None, address: str = "") -> Session:
        """Somebody has come; programs that say something every second are missed sooner than people."""
        self._count += 1
        timeout = self.rules.control_timeout if timeout is None else timeout
        session = Session(self._count, local, timeout, address, opened=now, heard=now)
        self.sessions[session.number] = session
        self._count_observers()
        session.allowance = self._rate(session)
        return session

    def close(self, session: Session, now: float) -> None:
        """Somebody has gone, or was cut off: if they had control, the robot stops."""
        self.sessions.pop(session.number, None)
        self._count_observers()
        if session is self.holder:
            self._lose_control(session, f"{session.user} is gone")

    def line(self, session: Session, line: str, now: float) -> None:
        """Answer a line."""
        stops = line.upper().split() in STOPS
        if not self.hears(session, now) and not stops:
            session.outbox.append(f"KO more than {self._rate(session):g} lines a second")
        elif session.awaited is not None and not stops:
            session.held.append(line)
        else:
            self._take(session, line, now)

    def hears(self, session: Session, now: float) -> bool:
        """Whether it says no more than it may; it is there, in any case."""
        rate = self._rate(session)
        session.allowance = min(rate, session.allowance + (now - session.heard) * rate)
        session.heard, session.spared = now, False
        enough = session.allowance >= 1.0
        session.allowance -= enough
        return enough

    def must_be_allowed(self, session: Session, role: Role) -> None:
        """Refused unless a session may do what takes a role; an operator needs control for it, too."""
        if not session.connected:
            raise Refused("CONNECT <profile> comes first")
        if role is Role.OPERATOR and session.role < Role.ADMINISTRATOR:
            self._control_of.must_have(session)
        if session.role < role:
            raise Refused(f"only an {role.name.lower()} may do that")

    def update(self, now: float) -> None:
        """See who has been silent for too long, and hear the body."""
        if silent := self._control_of.silent(now):
            self._lose_control(silent, f"{silent.user} was silent for {silent.timeout:g} s")
        with self._notifications.goes_on():
            self.orders.update(now)
            self._notifications.remarks()
            self._notifications.troubles()
            self._notifications.underway(self.orders.current if self.orders.machine.state == MOVING else None, now)
        for session in list(self.sessions.values()):
            self._tell_awaited(session, now)
            self._close_stranger(session, now)
        self._control_of.goes_on(self.orders.current.number if self.orders.current is not None else 0)

    def tick(self, now: float) -> None:
        """Update, as servers do again and again; while they were too busy for that, nobody counts as silent."""
        since, self._ticked = now - self._ticked, now
        if self.holder is not None and since > BUSY:
            self._spare(self.holder, now)
        self.update(now)

    def _spare(self, session: Session, now: float) -> None:
        """Let what a session has said meanwhile be heard before its silence counts."""
        enough = now - max(0.0, session.timeout - SPARED)
        if session.heard < enough and not session.spared:
            session.heard, session.spared = enough, True

    def _rate(self, session: Session) -> float:
        """Lines a second that a session may say."""
        rules = self.rules
        if session.role > Role.OBSERVER:
            return rules.lines_per_second
        return min(rules.lines_per_second, rules.observer_lines_per_second / self._observers)

    def _count_observers(self) -> None:
        self._observers = max(1, sum(each.role == Role.OBSERVER for each in self.sessions.values()))

    # --- answers -----------------------------------------------------------------------------------

    def _take(self, session: Session, line: str, now: float) -> None:
        def answer() -> str:
            if not session.connected and HTTP.fullmatch(line.strip()):
                session.closing = True
                raise Refused("this is no web server; CONNECT <profile> comes first")
            return self._answer(session, parse(line, self.body.verbs), now)

        self._say(session, answer)

    def _say(self, session: Session, answered: Callable[[], str]) -> None:
        """Say an answer, or why there is none."""
        try:
            answer = answered()
        except BadCommand as error:
            session.strange += not session.connected
            session.closing = session.closing or session.strange >= self.rules.strange_lines
            answer = f"KO {error}"
        except WholebodyError as error:
            answer = f"KO {error}"
        except Exception as error:
            answer = f"KO {unforeseen(error)}"
        if answer:
            session.outbox.append(answer)

    def _answer(self, session: Session, command: Command, now: float) -> str:
        if not session.connected and not isinstance(command, rcp.Connect | rcp.Disconnect | rcp.Help):
            raise Refused("CONNECT <profile> comes first")
        return self._answers[type(command)](session, command, now)

    def _connect(self, session: Session, command: rcp.Connect, now: float) -> str:
        if session.connected:
            raise Refused(f"connected already, as {session.user}")
        if command.profile.lower() not in PROFILES:
            raise Refused(f"the profiles are {' and '.join(PROFILES)}, not '{command.profile}'")
        if not command.secret:
            admitted = self.users.admit(command.user, command.secret, session.local)
            return self._admit(session, command, lambda: admitted)
        self._next_secret = {address: when for address, when in self._next_secret.items() if when > now}
        if session.address in self._next_secret:
            raise Refused(f"somebody has just connected; try again in {self.rules.secret_every:g} s")
        self._next_secret[session.address] = now + self.rules.secret_every
        done = self._hashing.submit(self.users.admit, command.user, command.secret, session.local)
        return self._later(session, done, lambda: self._admit(session, command, done.result))

    def _admit(self, session: Session, command: rcp.Connect, admitted: Callable[[], tuple[str, Role]]) -> str:
        try:
            session.user, role = admitted()
        except Refused:
            session.wrong_secrets += 1
            session.closing = session.wrong_secrets >= self.rules.wrong_secrets
            raise
        session.role = role if command.profile.lower() == "operator" else Role.OBSERVER
        session.connected = True
        self._count_observers()
        session.allowance = max(session.allowance, self._rate(session))
        return f"OK CONNECTED {session.user} {session.role.name}"

    def _disconnect(self, session: Session, command: Command, now: float) -> str:
        session.closing = True
        self.close(session, now)
        return "OK DISCONNECTED"

    def _control(self, session: Session, command: rcp.Control, now: float) -> str:
        control = self._control_of
        if not command.begin:
            control.must_have(session)
            control.end()
            self.notify("control", f"{session.user} gave control back")
            return "OK CONTROL END"
        control.must_be_free_for(session, now)
        if control.holder is not None and control.holder is not session:
            self._lose_control(control.holder, f"{session.user} takes over")
        control.begin(session)
        self.notify("control", f"{session.user} has control")
        return "OK CONTROL BEGIN"

    def _stop(self, session: Session, command: rcp.Stop, now: float) -> str:
        """Anybody may stop the robot, with control or without."""
        self._control_of.goes_past(self.orders.stop(session.number))
        return ""

    def _direct(self, session: Session, command: rcp.Direct, now: float) -> str:
        """What does not wait anyhow is answered as ever."""
        match command.command:
            case rcp.Move() | rcp.Goto() | rcp.Handle() | rcp.Do() as order:
                return self._order(session, order, now, direct=True)
            case other:
                return self._answers[type(other)](session, other, now)

    def _order(self, session: Session, order: rcp.Order, now: float, direct: bool = False) -> str:
        self._control_of.must_have(session)
        number = self.orders.add(order, session.number, direct, now)
        if number and direct:
            self._control_of.goes_past(number)
        return ""

    def _drive(self, session: Session, command: rcp.Drive, now: float) -> str:
        self._control_of.must_have(session)
        if number := self.orders.drive(command, session.number, now):
            self._control_of.goes_past(number)
        return ""

    def _resume(self, session: Session, command: Command, now: float) -> str:
        self._control_of.must_have(session)
        done = self.body.resume()
        return self._later(session, done, lambda: f"OK RESUME {done.result()}".rstrip())

    def _cancel(self, session: Session, command: rcp.Cancel, now: float) -> str:
        self._control_of.must_have(session)
        self.orders.cancel(command.order, session.number, now)
        return ""

    def _use_strategy(self, session: Session, command: rcp.UseStrategy, now: float) -> str:
        self._control_of.must_have(session)
        self.orders.choose(command.order, command.strategy)
        return ""

    def _query_parameter(self, session: Session, command: rcp.QueryParameter, now: float) -> str:
        parameters = self.body.parameters()
        if command.name not in parameters:
            raise Refused(f"no parameter '{command.name}'; there are {', '.join(parameters)}")
        return self._parameter(command.name)

    def _set_parameter(self, session: Session, command: rcp.SetParameter, now: float) -> str:
        if session.role < Role.ADMINISTRATOR:
            self._control_of.must_have(session)
        done = self.body.set_parameter(command.name, command.value)
        if done is None:
            return self._parameter(command.name)
        return self._later(session, done, lambda: done.result() or self._parameter(command.name))

    def _later(self, session: Session, done: Future[Any], answer: Callable[[], str]) -> str:
        """Answer when something is done; it may be already."""
        if done.done():
            return answer()
        session.awaited = Awaited(done, answer)
        return ""

    def _tell_awaited(self, session: Session, now: float) -> None:
        """Answer what took a while, and then what was said since; only a STOP has not waited for it."""
        awaited = session.awaited
        if awaited is None or not awaited.done.done():
            return
        session.awaited = None
        self._say(session, awaited.answer)
        while session.held and session.awaited is None and not session.closing:
            self._take(session, session.held.popleft(), now)

    def _close_stranger(self, session: Session, now: float) -> None:
        """Have the server close a connection that is there and says nothing."""
        patience = self.rules.connect_within
        if not session.connected and not session.closing and now - session.opened > patience:
            session.closing = True
            session.outbox.append(f"KO nobody has said CONNECT within {patience:g} s")

    def _parameter(self, name: str) -> str:
        return f"OK PARAM {name} {self.body.parameters()[name]}"

    def _query_sensor(self, session: Session, command: rcp.QuerySensor, now: float) -> str:
        sensors = self.body.sensors()
        if unknown := [label for label in command.labels if label not in sensors]:
            raise Refused(f"no sensor '{unknown[0]}'; there are {', '.join(sensors)}")
        labels = command.labels or tuple(sensors)
        return "OK SENSOR " + rcp.listed(tuple(f"{label}={sensors[label]}" for label in labels))

    def _query_position(self, session: Session, command: Command, now: float) -> str:
        return f"OK {self.body.position()}"

    def _position(self, session: Session, command: rcp.Position, now: float) -> str:
        self._control_of.must_have(session)
        self.body.correct(command)
        return f"OK {command}"

    def _notify(self, session: Session, command: rcp.Notify, now: float) -> str:
        if unknown := [topic for topic in command.topics if topic not in TOPICS]:
            raise Refused(f"no topic '{unknown[0]}'; there are {', '.join(TOPICS)}")
        session.topics, session.warned = command.topics, ()
        return f"OK {command}"

    def _help(self, session: Session, command: rcp.Help, now: float) -> str:
        verbs = self.body.verbs()
        if not command.verb:
            return f"OK HELP {rcp.listed((*VERBS, *map(str.upper, verbs)))}"
        if command.verb.lower() not in verbs:
            raise Refused(f"no behaviour knows '{command.verb}'; of {', '.join(verbs) or 'none'} there is help")
        verb = verbs[command.verb.lower()]
        return f"OK HELP {verb.usage}: {verb.help}"

    def _select_strategy(self, session: Session, command: Command, now: float) -> str:
        raise Refused("it is the robot that asks for a strategy")

    def _lose_control(self, session: Session, why: str) -> None:
        """Control is taken away, not given back: the robot stops."""
        self._control_of.end()
        self.orders.stop(session.number)
        if session.number in self.sessions:
            session.outbox.append(f"NOTIFY control lost: {why}")
        self.notify("control", f"{session.user} lost control: {why}")
