"""StateMachine: an application as states, with transitions on events and time-outs; states can be machines themselves.

grab = StateMachine(
    "grab",
    [
        State("reach", enter=stream_goal, on={"right_hand_arrived": "close"}, timeout=8.0, late="failed"),
        State("close", enter=close_fingers, timeout=1.0, late="done"),
        State("done"),
        State("failed"),
    ],
)
outcome = grab.run(events_of(Remote("reach")))       # done or failed
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wholebody.channels.channel import Writer
from wholebody.errors import BadStateMachine, UnknownName
from wholebody.messages import TEXT_SIZE
from wholebody.parameters.remote import Remote

Wait = Callable[[Sequence[str], float | None], str | None]
"""Wait for one of some events, for so long; the one that came, or None."""


@dataclass(frozen=True)
class State:
    """A state, and where it leads.

    enter    what is done when it is entered
    on       which state follows, by event; of a state with a machine inside, by that machine's final state
    timeout  seconds after which `late` follows
    inside   a machine that runs while in this state
    """

    name: str
    enter: Callable[[], None] | None = None
    on: Mapping[str, str] = field(default_factory=dict)
    timeout: float | None = None
    late: str | None = None
    inside: StateMachine | None = None

    @property
    def final(self) -> bool:
        """Whether nothing follows."""
        return not self.on and self.late is None


@dataclass(frozen=True)
class Change:
    """A transition: when (time.monotonic()), from where, where to, and why; nested states as outer/inner."""

    time: float
    machine: str
    before: str
    after: str
    why: str


Watch = Callable[["StateMachine", Change], None]
"""Who wants to know of every change, with the outermost machine."""


class StateMachine:
    """States, of which one is current: the first is entered first, and it ends in one from which none follows."""

    def __init__(self, name: str, states: Sequence[State]) -> None:
        self.name = name
        self.states = {state.name: state for state in states}
        self.current: State | None = None
        if len(self.states) < max(1, len(states)):
            raise BadStateMachine(f"machine '{name}' has {'two states of one name' if states else 'no states'}")
        for state in states:
            self._check(state)

    @property
    def path(self) -> str:
        """The current state, and what is current inside it: outer/inner."""
        if self.current is None:
            return ""
        inner = self.current.inside.path if self.current.inside is not None else ""
        return f"{self.current.name}/{inner}" if inner else self.current.name

    def run(self, wait: Wait, watch: Sequence[Watch] = ()) -> str:
        """Go through the states until a final one; its name."""
        return self._run(wait, watch, self)

    def _run(self, wait: Wait, watch: Sequence[Watch], outermost: StateMachine) -> str:
        state, why = next(iter(self.states.values())), "start"
        while True:
            before = outermost.path
            self.current = state
            change = Change(time.monotonic(), outermost.name, before, outermost.path, why)
            for each in watch:
                each(outermost, change)
            if state.enter is not None:
                state.enter()
            if state.final and state.inside is None:
                return self._end(state)
            why = self._leave(state, wait, watch, outermost)
            if state.final:
                return self._end(state)
            state = self.states[state.on[why] if why in state.on else str(state.late)]

    def _end(self, state: State) -> str:
        self.current = None
        return state.name

    def _leave(self, state: State, wait: Wait, watch: Sequence[Watch], outermost: StateMachine) -> str:
        """Stay in a state until something ends it; what."""
        if state.inside is not None:
            return state.inside._run(wait, watch, outermost)
        event = wait(tuple(state.on), state.timeout)
        return "time-out" if event is None else event

    def _check(self, state: State) -> None:
        for target in (*state.on.values(), *((state.late,) if state.late is not None else ())):
            if target not in self.states:
                raise UnknownName(f"state after '{state.name}' in machine '{self.name}'", target, self.states)
        if (state.timeout is None) != (state.late is None) or (state.timeout is not None and not state.timeout > 0):
            raise BadStateMachine(
                f"state '{state.name}': a time-out (above 0 s) and the state that follows it belong together"
            )
        if state.inside is not None and not state.final:
            ends = {each.name for each in state.inside.states.values() if each.final}
            if ends != set(state.on) or state.timeout is not None:
                raise BadStateMachine(
                    f"state '{state.name}': what follows must be said for each end of '{state.inside.name}' "
                    f"({', '.join(sorted(ends))}), and for nothing else"
                )


def events_of(controller: Remote) -> Wait:
    """Events of a running controller."""

    def wait(events: Sequence[str], timeout: float | None) -> str | None:
        if not events:
            time.sleep(timeout or 0.0)
            return None
        happened = controller.wait_for_any(events, timeout)
        return None if happened is None else happened.name

    return wait


def announce(writer: Writer) -> Watch:
    """Put every change on a channel of `messages.event()`: the new state as its name, the transition as its text."""
    message: Any = writer.message
    count = 0

    def watch(machine: StateMachine, change: Change) -> None:
        nonlocal count
        count += 1
        message["time"], message["source"], message["count"] = change.time, change.machine.encode(), count
        message["name"] = change.after.encode()
        message["text"] = f"{change.before} → {change.after}: {change.why}".encode()[:TEXT_SIZE]
        writer.put()

    return watch
