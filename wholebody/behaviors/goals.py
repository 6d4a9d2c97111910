"""Goals: tell a robot anything that its running behaviours know, by verb, without knowing their classes.

with Goals("robot") as robot:
    robot.nod(times=3).wait()
    going = robot.say("go forward=1 turn=30deg")
    going.cancel()
    robot.verbs                          # what can be told now: of every behaviour that runs
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

from wholebody.channels.directory import Machine, machine
from wholebody.drivers import Names
from wholebody.errors import NoController, NoServer, UnknownName
from wholebody.parameters.verbs import Verb, verbs_in
from wholebody.services import Client, Report

LOOK_EVERY = 0.5
"""s from one look for behaviours to the next, unless a verb is not known."""


@dataclass(frozen=True)
class GoalHandle:
    """A goal that was given, by which one hears what becomes of it."""

    client: Client
    number: int
    verb: str

    def wait(self, timeout: float = 120.0) -> Report:
        """Wait until it is done; GoalNotDone says why it is not, NoServer that its behaviour has ended."""
        return self.client.wait(self.number, timeout)

    def reports(self) -> tuple[Report, ...]:
        """What became of it so far; NoServer if its behaviour has ended before it was done."""
        return self.client.followed(self.number)

    def cancel(self) -> None:
        """Give it up."""
        self.client.cancel(self.number)


class Goals:
    """The verbs of a robot's behaviours, here or on another machine (connect=HOST:PORT); a verb is a method.

    Where two behaviours know the same verb, each is called BEHAVIOUR.VERB, such as walk.stand.
    """

    def __init__(self, robot: str = "", connect: str | Machine = "") -> None:
        self._first = f"{Names(robot).robot}."
        self._owns_machine = isinstance(connect, str)
        self._machine = machine(connect) if isinstance(connect, str) else connect
        self._clients: dict[str, Client] = {}
        self._known: dict[str, tuple[Verb, str]] = {}  # and whose it is, as BEHAVIOUR.VERB
        self._short: dict[str, str] = {}
        self._looked = float("-inf")

    @property
    def verbs(self) -> dict[str, Verb]:
        """What can be told now, by name."""
        if time.monotonic() > self._looked + LOOK_EVERY:
            self._look()
        return {short: self._known[full][0] for short, full in self._short.items()}

    def verb(self, name: str) -> tuple[Verb, str]:
        """A verb, and the behaviour that knows it; UnknownName if none does."""
        if self._short.get(name, name) not in self._known:
            self._look()
        if (full := self._short.get(name, name)) not in self._known:
            raise UnknownName("verb", name, self._short)
        return self._known[full]

    def give(self, verb: str, *words: Any, **named: Any) -> GoalHandle:
        """Give a goal, with its arguments as values or as text; BadParameter if they will not do."""
        about, behavior = self.verb(verb)
        goal = about.goal(words, **named)
        client = self._clients[behavior]
        if not client.alive:
            raise NoController(f"'{self._first}{behavior}', which knows '{verb}', has ended; start it again")
        return GoalHandle(client, client.send(goal), verb)

    def say(self, line: str) -> GoalHandle:
        """Give a goal as people type it: a verb, and its arguments in their order or by name."""
        verb, *words = line.split() or [""]
        return self.give(verb.lower(), *words)

    def __getattr__(self, verb: str) -> Callable[..., GoalHandle]:
        """A verb as a method."""
        if verb.startswith("_"):
            raise AttributeError(verb)
        return lambda *words, **named: self.give(verb, *words, **named)

    def close(self) -> None:
        """Let go of channels, and of the other machine."""
        for each in self._clients.values():
            each.close()
        self._clients.clear()
        if self._owns_machine:
            self._machine.close()

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def _look(self) -> None:
        """See which behaviours run; a client is kept for who still has goals under way there."""
        self._looked = time.monotonic()
        there = self._machine.written(".replies")
        self._known = {}
        for service in there:
            behavior = service.removeprefix(self._first)
            if behavior == service or "." in behavior:  # another robot's, or what a controller has besides its goals
                continue
            try:
                client = self._clients.get(behavior) or Client(service, timeout=0.0, connect=self._machine)
            except NoServer:  # it has just ended
                continue
            client.follow()
            self._clients[behavior] = client
            self._known |= {f"{behavior}.{verb.name}": (verb, behavior) for verb in verbs_in(client.about).values()}
        count = Counter(verb.name for verb, _ in self._known.values())
        self._short = {verb.name if count[verb.name] == 1 else full: full for full, (verb, _) in self._known.items()}
