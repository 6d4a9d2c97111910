"""The line of a page: who may open one, and what becomes of those who do not listen."""

import asyncio
import contextlib
import json
import math
import socket
import time

import aiohttp
import pytest
from rcp_body import QuickBody

from wholebody.errors import CommandsTaken
from wholebody.operator.page import server as page_server
from wholebody.operator.page.server import PageServer
from wholebody.operator.page.viewer import GOOD_BYE, MOST_UNDER_WAY, Viewer
from wholebody.operator.rcp.command_server import CommandServer, Rules
from wholebody.operator.rcp.server import Server
from wholebody.operator.rcp.session import Session


def test_a_port_that_is_taken_is_said_in_words(static):
    async def another():
        async with served() as (server, _):
            commands = CommandServer(QuickBody())
            for again in (PageServer(Nothing(), commands, port=server.port), Server(commands, port=server.port)):
                with pytest.raises(CommandsTaken, match=f"port {server.port}: another program listens there; give"):
                    await again.__aenter__()

    asyncio.run(another())


class Nothing:
    """A robot of which there is nothing to be seen."""

    def drawing(self):
        return {}

    def poses(self):
        return None

    def picture(self):
        return None

    def situation(self):
        return {}

    def news(self):
        return {}


@pytest.fixture
def static(tmp_path, monkeypatch):
    """A page that is built, in a way."""
    for name in page_server.TYPES:
        (tmp_path / name).write_text(name)
    monkeypatch.setattr(page_server, "STATIC", tmp_path)


@contextlib.asynccontextmanager
async def served(called=(), view=None, **rules):
    """A page's server, and a client of it."""
    commands = CommandServer(QuickBody(), rules=Rules(**rules))
    async with (
        PageServer(view or Nothing(), commands, port=0, called=called) as server,
        aiohttp.ClientSession(server.address) as client,
    ):
        yield server, client


async def opens(client, host, origin):
    """What comes of asking for a line: 101 is one."""
    try:
        async with client.ws_connect("/line", headers={"Host": host, "Origin": origin}):
            return 101
    except aiohttp.WSServerHandshakeError as refused:
        return refused.status


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]", "LOCALHOST", "robot.example"])
def test_a_line_is_for_pages_of_this_machine_by_its_addresses_and_names(static, name):
    async def line():
        async with served(called=["robot.example"]) as (server, client):
            host = f"{name}:{server.port}"
            assert await opens(client, host, f"http://{host}") == 101
            assert await opens(client, host, "http://evil.example") == 403
            assert await opens(client, host, "") == 403

    asyncio.run(line())


def test_a_name_that_another_site_points_to_this_machine_opens_nothing(static):
    async def line():
        async with served() as (server, client):
            host = f"evil.example:{server.port}"
            assert await opens(client, host, f"http://{host}") == 403
            for path in ("/", "/robot.json"):
                async with client.get(path, headers={"Host": host}) as answer:
                    assert answer.status == 403
                async with client.get(path) as answer:
                    assert answer.status == 200

    asyncio.run(line())


def line_of(server, client):
    """A line as a page of ours opens it."""
    return client.ws_connect("/line", headers={"Origin": f"http://127.0.0.1:{server.port}"})


async def hears(line, text):
    """Wait for something that is said; the message."""
    while not isinstance(message := (await line.receive(20.0)).data, str) or text not in message:
        pass
    return message


def test_a_line_on_which_nobody_says_connect_is_closed_and_takes_nobodys_place(static):
    async def line():
        async with served(connect_within=0.5) as (server, client), line_of(server, client) as says:
            await says.send_str("CONNECT observer")
            async with line_of(server, client) as idle:
                await hears(idle, "KO nobody has said CONNECT within 0.5 s")
                while (await idle.receive(20.0)).type is not aiohttp.WSMsgType.CLOSE:
                    pass
            while len(server.viewers) > 1:
                await asyncio.sleep(0.01)
            await says.send_str("QUERY POSITION")
            await hears(says, "OK POSITION")

    asyncio.run(line())


def test_a_page_hears_how_long_its_line_takes(static):
    async def line():
        async with served(view=Busy()) as (server, client):
            origin = {"Origin": f"http://127.0.0.1:{server.port}"}
            async with client.ws_connect("/line?acknowledges", headers=origin) as page:
                await asyncio.wait_for(page.receive(), 20)
                await asyncio.sleep(0.1)
                await page.send_str("1")
                (viewer,) = server.viewers
                while viewer.round_trip is None:
                    await asyncio.sleep(0.01)
                server._show_health()  # as it does once a second
                said = await asyncio.wait_for(hears(page, "round_trip"), 20)
                assert json.loads(said)["round_trip"] >= 0.1

    asyncio.run(line())


class Strange(Nothing):
    """A robot of which something can be shown, something breaks, and something nobody knows."""

    def situation(self):
        return {}["elbow"]

    def news(self):
        return {"health": {"rate": math.nan, "ages": (1.5, -math.inf)}}


@pytest.mark.slow
def test_an_error_that_nobody_foresaw_is_logged_once_the_page_goes_on_and_what_is_no_number_is_null(static, caplog):
    async def line():
        async with served(view=Strange()) as (server, client), line_of(server, client) as page:
            await page.send_str("CONNECT observer")
            for _ in range(2):  # news come once a second, and what breaks was tried several times before
                news = json.loads(await hears(page, "health"), parse_constant=pytest.fail)
                assert news == {"health": {"rate": None, "ages": [1.5, None]}}
            assert not any(task.done() for task in server._tasks)

    asyncio.run(line())
    assert [record.exc_info[0] for record in caplog.records] == [KeyError]


@contextlib.contextmanager
def deaf_line(port):
    """A line of somebody who talks, and takes nothing from the network."""
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    raw.connect(("127.0.0.1", port))
    here = f"127.0.0.1:{port}"
    key = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
    upgrade = f"Upgrade: websocket\r\nConnection: Upgrade\r\n{key}"
    raw.sendall(f"GET /line HTTP/1.1\r\nHost: {here}\r\nOrigin: http://{here}\r\n{upgrade}\r\n\r\n".encode())
    raw.setblocking(False)
    with raw:
        yield raw


def frame(line):
    """A line as browsers send it: masked, here by zeros."""
    return bytes([0x81, 0x80 | len(line), 0, 0, 0, 0]) + line.encode()


def test_a_page_that_takes_no_lines_is_cut_off_and_the_others_go_on(static):
    async def line():
        async with served(lines_per_second=1e9, observer_lines_per_second=1e9) as (server, client):
            loop = asyncio.get_running_loop()
            async with line_of(server, client) as other:
                await other.send_str("CONNECT observer")
                with deaf_line(server.port) as raw:
                    while len(server.viewers) < 2:
                        await asyncio.sleep(0.01)
                    until = time.monotonic() + 40.0
                    with contextlib.suppress(ConnectionError):
                        await loop.sock_sendall(raw, frame("CONNECT observer"))
                        while len(server.viewers) == 2 and time.monotonic() < until:
                            await loop.sock_sendall(raw, frame("QUERY SENSOR") * 500)
                        assert len(server.viewers) == 1
                await other.send_str("QUERY POSITION")
                await hears(other, "OK POSITION")

    asyncio.run(line())


class Busy(Nothing):
    """A robot that looks different in every frame."""

    def poses(self):
        return bytes(1000)


def test_on_a_slow_line_no_more_is_under_way_than_it_can_take_and_lines_go_past_what_waits(static):
    async def line():
        async with served(view=Busy()) as (server, client):
            origin = {"Origin": f"http://127.0.0.1:{server.port}"}
            async with client.ws_connect("/line?acknowledges", headers=origin) as page, line_of(server, client) as raw:
                got, taken = 0, 0

                async def hear(enough):
                    """Take what comes until it is enough, or nothing comes any more."""
                    nonlocal got, taken
                    with contextlib.suppress(TimeoutError):
                        while not enough():
                            got, taken = got + 1, taken + len((await page.receive(2.0)).data)

                await hear(lambda: False)
                before = taken
                assert 0 < before < MOST_UNDER_WAY + 2000
                await page.send_str("CONNECT observer")
                await asyncio.wait_for(hears(page, "OK CONNECTED"), 20)
                await page.send_str(str(got + 1))
                await hear(lambda: False)
                assert before + 1000 <= taken < before + MOST_UNDER_WAY + 2000
                more = taken
                await page.send_str("999999999999")
                await page.send_str("1")
                await hear(lambda: False)
                assert taken < more + MOST_UNDER_WAY + 2000, "there is no more to be got than was sent"
                size = 0
                while size < 2 * MOST_UNDER_WAY:
                    size += len((await raw.receive(20.0)).data)  # who says nothing of that gets all

    asyncio.run(line())


class Deaf:
    """The socket and the wire of a page that takes nothing."""

    closed = False
    aborted = False

    async def send_str(self, text):
        await asyncio.Event().wait()

    async def close(self, code):
        await asyncio.Event().wait()

    def abort(self):
        self.aborted = True


def test_a_page_that_takes_no_lines_does_not_hold_up_the_end():
    async def line():
        wire, session = Deaf(), Session(1, True, 0.0)
        viewer = Viewer(wire, session, wire)
        session.outbox.append("OK")
        viewer.tell()
        began = time.monotonic()
        await viewer.close()
        assert wire.aborted
        assert time.monotonic() - began < 3 * GOOD_BYE

    asyncio.run(line())
