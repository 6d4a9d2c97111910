"""A page that says ten thousand messages, right, mutilated and broken: others are answered, and nothing breaks."""

import asyncio
import contextlib
import json
import logging
import random
from dataclasses import dataclass
from typing import Annotated, Literal

import aiohttp
import pytest
from rcp_body import QuickBody
from test_page_line import Nothing, hears, line_of, static  # noqa: F401
from test_rcp_fuzz import broken, mutilated, right

from wholebody.errors import Refused
from wholebody.operator.page.panel import Column, Panel, PanelContext
from wholebody.operator.page.panels import Panels
from wholebody.operator.page.server import LONGEST, PageServer
from wholebody.operator.rcp.command_server import CommandServer, Rules
from wholebody.parameters import Bounds, Unit

MESSAGES = 10_000
AT_ONCE = 100


@dataclass
class Wish:
    """A form with every kind of field."""

    far: Annotated[float, Unit("m"), Bounds(0, 2)] = 1.0
    often: Annotated[int, Unit("1")] = 1
    side: Literal["LEFT", "RIGHT"] = "LEFT"
    loud: bool = False
    note: str = ""


class Wishes(Panel):
    """Says what it was told, and refuses some of it."""

    form, columns = Wish, (Column("what"),)

    def submit(self, form):
        if form.loud:
            raise Refused("too loud")
        self.say(f"SET walking.step {form.far} {form.note}")
        return form.note

    def rows(self):
        return [("nothing",)]


RIGHT = {"far": "1", "often": "1", "side": "LEFT", "loud": "false", "note": "please"}


def of_panels(chance):
    """What a page says of panels, right or nearly so."""
    odd = (3, None, [], {}, "x", 1e308, -0.0, True, "\ud800", [[]], {"a": {}}, 10**300, "9" * 30)
    texts = ("1", "nan", "-1", "true", "LEFT", "", "1,2", "\ud800", "a\nSTOP", "30cm", "9" * 400)
    wrong = {chance.choice((*RIGHT, "x")): chance.choice(texts) for _ in range(chance.randint(0, 3))}
    said = chance.choice(
        (
            {"open": ["wishes"]},
            {"open": chance.choice(odd)},
            {"open": [chance.choice(odd), "wishes"]},
            {
                "panel": "wishes",
                "form": "Wish",
                "values": RIGHT | wrong,
            },
            {"panel": chance.choice(odd), "form": chance.choice(odd), "values": chance.choice(odd)},
        )
    )
    text = json.dumps(said)
    if chance.random() < 0.2:
        at = chance.randrange(len(text))
        text = text[:at] + chance.choice(("", "[" * 1500, "NaN", "\\ud800", "{", '"')) + text[at + 1 :]
    return text[:LONGEST]


def counted(chance):
    """How many messages it has got, or a number that cannot be."""
    return chance.choice(("1", "0", "99999999", "٣", "9" * 4000, str(chance.randrange(1000))))


def bytes_of(chance):
    """What no page sends: it is closed."""
    return chance.randbytes(chance.randrange(50))


KINDS = (right, right, mutilated, mutilated, broken, of_panels, of_panels, of_panels, of_panels, counted)


@contextlib.asynccontextmanager
async def served():
    """A page's server with a panel, whose rules do not slow anybody down."""
    rules = Rules(lines_per_second=1e9, observer_lines_per_second=1e9, connect_within=1e6)
    commands = CommandServer(QuickBody(), rules=rules)
    panels = Panels({"wishes": Wishes}, PanelContext("robot", None, list, list, str), commands)
    async with (
        PageServer(Nothing(), commands, port=0, panels=panels) as server,
        aiohttp.ClientSession(server.address) as client,
    ):
        yield server, client


async def fuzz(count, seed):
    """Say so many messages, and see again and again that another page is answered; how many lines were closed."""
    chance, closed = random.Random(seed), 0
    async with served() as (server, client), line_of(server, client) as other:
        await other.send_str("CONNECT observer")
        await asyncio.wait_for(hears(other, "OK CONNECTED"), 20)
        await other.send_str("NOTIFY [event, progress, warning]")
        page = None
        for number in range(count):
            if page is None or page.closed:
                page = await client.ws_connect(
                    f"/line{chance.choice(('', '?acknowledges'))}",
                    headers={"Origin": f"http://127.0.0.1:{server.port}"},
                )
                await page.send_str("CONNECT operator")
                await page.send_str("CONTROL BEGIN")
            said = bytes_of(chance) if chance.random() < 0.002 else chance.choice(KINDS)(chance)
            with contextlib.suppress(ConnectionError, aiohttp.ClientError):
                if isinstance(said, bytes):
                    await page.send_bytes(said)
                else:
                    await page.send_str(said.encode(errors="replace").decode())
            with contextlib.suppress(TimeoutError):
                while (heard := await page.receive(0.0005)).type is aiohttp.WSMsgType.TEXT:
                    assert "unforeseen" not in heard.data, (said, heard.data)
                closed += heard.type is not aiohttp.WSMsgType.BINARY
            if number % AT_ONCE == 0:
                await other.send_str("QUERY POSITION")
                await asyncio.wait_for(hears(other, "OK POSITION"), 20)
        assert not any(task.done() for task in server._tasks)
        assert all(not viewer._task.done() for viewer in server.viewers), "each is still sent what is new"
        return closed


def test_whatever_a_page_says_the_others_are_answered(static, caplog):  # noqa: F811
    asyncio.run(fuzz(200, 1))
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


@pytest.mark.slow
def test_ten_thousand_messages_of_a_page_break_nothing(static, caplog):  # noqa: F811
    assert asyncio.run(fuzz(MESSAGES, 2)) > 5, "bytes and lines that are too long end a line"
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []
