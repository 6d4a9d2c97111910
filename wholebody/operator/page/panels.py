"""Panels: those of a page while it is served, each in a thread of its own, and the pages that have them open."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from wholebody.errors import BadParameter, Refused, UnknownName, WholebodyError
from wholebody.operator.page.panel import Panel, PanelContext
from wholebody.operator.page.viewer import Seen, Viewer, as_json
from wholebody.operator.rcp.command_server import CommandServer

LOG = logging.getLogger(__name__)
SHOW_EVERY = 0.1
"""s"""
LOOKED_AT = 1.0
"""s for which a panel goes on after the last page that had it open."""
REMEMBERED = 600
"""Samples of a plot, which is a minute at its fastest."""
LATE = 3.0
"""s that a panel may take for one call before its box says so."""
MOST_ROWS, MOST_WAITING = 500, 20
Result = TypeVar("Result")


@dataclass(frozen=True)
class Answer:
    """What came of a form; `lines` of RCP are to be said by whoever submitted it."""

    accepted: bool
    text: str
    lines: tuple[str, ...] = ()


class RunningPanel:
    """A panel in its thread: what it shows now, and the forms that wait for it."""

    def __init__(self, name: str, kind: type[Panel], context: PanelContext) -> None:
        self.name, self.kind, self._context = name, kind, context
        self.version, self._state = 0, dict[str, Any]()
        self._samples: deque[tuple[int, float, list[float]]] = deque(maxlen=REMEMBERED)
        self._errors: dict[str, str] = {}  # by what went wrong; each is logged once
        self._jobs: queue.Queue[Callable[[Panel], None] | None] = queue.Queue()
        self._showing = threading.Lock()
        self._looked_at, self._busy_since, self._was_late = 0.0, 0.0, False
        self._thread = threading.Thread(target=self._run, name=f"panel {name}", daemon=True)
        self._thread.start()

    def described(self) -> dict[str, Any]:
        """What does not change, as JSON."""
        kind = self.kind
        return {
            "name": self.name,
            "title": kind.title or kind.__name__,
            "open": kind.open,
            "urgent": kind.urgent,
            "columns": [asdict(each) for each in kind.columns],
            "series": [asdict(each) for each in kind.series],
        }

    def look(self, now: float) -> None:
        """Somebody has it open."""
        slept, self._looked_at = now > self._looked_at + LOOKED_AT, now
        if slept:
            self._jobs.put(lambda panel: None)
        late = 0.0 < self._busy_since < now - LATE
        if late is not self._was_late:
            self._was_late = late
            self._show("late", f"{self.kind.__name__} has not answered for {LATE:g} s" if late else "")

    def news(self, seen: Seen) -> str | None:
        """What a page has not seen yet; None if there is nothing."""
        news: dict[str, Any] = {}
        if self.version != seen.version:
            seen.version, news = self.version, dict(self._state)
        if fresh := [each for each in tuple(self._samples) if each[0] > seen.sample]:
            seen.sample = fresh[-1][0]
            news["samples"] = [[round(at, 3), *values] for _, at, values in fresh]
        return as_json({"panel": self.name, **news}) if news else None

    def take(self, form: str, values: Mapping[str, str]) -> Future[Answer]:
        """Have a form taken in its turn."""
        done: Future[Answer] = Future()
        if self._jobs.qsize() >= MOST_WAITING:
            raise Refused(f"{MOST_WAITING} forms wait for '{self.name}' already")
        if not self._thread.is_alive():
            raise Refused(f"'{self.name}' does not run: {'; '.join(self._errors.values())}")
        self._jobs.put(lambda panel: done.set_result(self._taken(panel, form, values)))
        return done

    def end(self) -> None:
        """Have it end; one that hangs is left to itself."""
        self._jobs.put(None)
        self._thread.join(timeout=0.5)

    # In its thread.

    def _run(self) -> None:
        panel = self._tried("start", lambda: self.kind(self._context))
        if panel is None:
            return
        next_look = next_sample = 0.0
        while True:
            now = time.monotonic()
            due = min(next_look, next_sample if self.kind.series else next_look)
            wait = max(0.0, due - now) if now < self._looked_at + LOOKED_AT else None
            with contextlib.suppress(queue.Empty):
                if (job := self._jobs.get(timeout=wait)) is None:
                    break
                job(panel)
                next_look = 0.0  # what a form has changed is seen at once
            now = time.monotonic()
            if self.kind.series and now >= next_sample:
                next_sample = now + max(SHOW_EVERY, self.kind.sampled)
                self._tried("values", lambda: self._sample(panel))
            if now >= next_look:
                next_look = now + self.kind.period
                self._tried("rows", lambda: self._look(panel))
        self._tried("end", panel.close)

    def _tried(self, what: str, do: Callable[[], Result]) -> Result | None:
        """Do something of the panel's; what it raises is shown in its box, and logged once."""
        self._busy_since = time.monotonic()
        try:
            result = do()
        except Exception as error:
            text = str(error) if isinstance(error, WholebodyError) else f"{type(error).__name__}: {error}"
            if self._errors.get(what) != text:
                LOG.error("panel '%s' fails at %s", self.name, what, exc_info=error)
            self._errors[what] = text
            self._show("error", "; ".join(dict.fromkeys(self._errors.values())))
            return None
        finally:
            self._busy_since = 0.0
        if self._errors.pop(what, None) is not None:
            self._show("error", "; ".join(dict.fromkeys(self._errors.values())))
        return result

    def _look(self, panel: Panel) -> None:
        self._show("forms", [each.described() for each in panel.forms()])
        if self.kind.columns:
            self._show("rows", list(self._rows(panel.rows())))

    def _rows(self, rows: Iterable[Any]) -> Iterator[list[Any]]:
        for number, row in enumerate(rows):
            if number >= MOST_ROWS:
                raise BadParameter(f"a table shows at most {MOST_ROWS} rows; give fewer")
            cells = list(row)
            if len(cells) != len(self.kind.columns):
                raise BadParameter(
                    f"row {number + 1} has {len(cells)} cells, and there are {len(self.kind.columns)} columns"
                )
            yield [_cell(each) for each in cells]

    def _sample(self, panel: Panel) -> None:
        values = [float(each) for each in panel.values()]
        if len(values) != len(self.kind.series):
            raise BadParameter(f"values() gives {len(values)} numbers, and there are {len(self.kind.series)} series")
        number = self._samples[-1][0] + 1 if self._samples else 1
        self._samples.append((number, time.monotonic(), values))

    def _taken(self, panel: Panel, form: str, values: Mapping[str, str]) -> Answer:
        panel.lines, self._busy_since = [], time.monotonic()
        try:
            text = panel.take(form, values)
        except WholebodyError as error:
            return Answer(False, str(error))
        except Exception as error:
            LOG.error("panel '%s' fails at its form", self.name, exc_info=error)
            return Answer(False, f"{type(error).__name__}: {error}")
        finally:
            self._busy_since = 0.0
        return Answer(True, str(text or ""), tuple(panel.lines))

    def _show(self, what: str, value: Any) -> None:
        with self._showing:
            if self._state.get(what) != value:
                self._state = self._state | {what: value}
                self.version += 1


def _cell(value: Any) -> str | float:
    if isinstance(value, str | bool):
        return str(value)
    try:
        return float(value)
    except (TypeError, ValueError):
        return str(value)


class Panels:
    """All panels of a page."""

    def __init__(self, kinds: Mapping[str, type[Panel]], context: PanelContext, commands: CommandServer) -> None:
        self._commands = commands
        self._running = {name: RunningPanel(name, kind, context) for name, kind in kinds.items()}
        self._answering: set[asyncio.Task[None]] = set()

    def described(self) -> list[dict[str, Any]]:
        """As JSON, to be made once."""
        return [each.described() for each in self._running.values()]

    def show(self, viewers: Iterable[Viewer]) -> None:
        """Send to each page what is new in the panels that it has open."""
        now = time.monotonic()
        for viewer in viewers:
            for name, seen in viewer.panels.items():
                running = self._running[name]
                running.look(now)
                viewer.show(f"panel {name}", lambda running=running, seen=seen: running.news(seen))  # type: ignore[misc]

    def hear(self, viewer: Viewer, text: str) -> None:
        """What a page says of panels: which it has open, or a form."""
        if not self._commands.hears(viewer.session, time.monotonic()):
            return
        try:
            said = json.loads(text)
            if "open" in said:
                viewer.panels = {
                    each: viewer.panels.get(each, Seen()) for each in said["open"] if each in self._running
                }
                return
            name, form, values = str(said["panel"]), str(said["form"]), dict(said["values"])
        except (ValueError, TypeError, KeyError, RecursionError):
            viewer.session.outbox.append("KO that is no word of a page; a form has panel, form and values")
            return
        task = asyncio.create_task(self._answer(viewer, name, form, {str(k): str(v) for k, v in values.items()}))
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    async def _answer(self, viewer: Viewer, name: str, form: str, values: Mapping[str, str]) -> None:
        """Have a form taken, if whoever it is may do that; what it says of RCP, they say."""
        session, commands = viewer.session, self._commands
        try:
            if name not in self._running:
                raise UnknownName("panel", name, self._running)
            running = self._running[name]
            commands.must_be_allowed(session, running.kind.role)
            answer = await asyncio.wrap_future(running.take(form, values))
        except WholebodyError as error:
            answer = Answer(False, str(error))
        for line in answer.lines:
            commands.line(session, line, time.monotonic())
        told = {"panel": name, "answer": {"form": form, "accepted": answer.accepted, "text": answer.text}}
        viewer.show(f"answer {name}", as_json(told))

    def end(self) -> None:
        """End them all."""
        for task in self._answering:
            task.cancel()
        for each in self._running.values():
            each.end()
