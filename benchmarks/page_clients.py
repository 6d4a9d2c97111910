"""Who looks at a page while it is measured: WebSocket clients in processes of their own, and a browser."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import struct
from collections import Counter
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import Any
from urllib.parse import urlsplit

from benchmarks.processes import Helper

CHROMIUM_FLAGS = ("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")


def look(control: Connection, address: str) -> None:
    """Take all that a page is sent, and say how many messages of each kind that was whenever one is told a word."""
    import aiohttp

    async def looking() -> None:
        count: Counter[int] = Counter()
        async with aiohttp.ClientSession() as session:
            origin = f"http://{urlsplit(address).netloc}"
            async with session.ws_connect(f"{origin}/line", origin=origin) as socket:
                await socket.send_str("CONNECT observer")
                while True:
                    with contextlib.suppress(asyncio.TimeoutError):
                        message = await socket.receive(timeout=0.05)
                        if message.type is aiohttp.WSMsgType.BINARY:
                            count[struct.unpack_from("<I", message.data)[0]] += 1
                    if control.poll():
                        if control.recv() is None:
                            return
                        control.send(dict(count))

    asyncio.run(looking())


@contextlib.contextmanager
def lookers(address: str, count: int) -> Iterator[list[Helper]]:
    """So many of them."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(Helper(look, address)) for _ in range(count)]


@contextlib.contextmanager
def browser(address: str) -> Iterator[Any]:
    """The page in Chromium, in control; None if there is no browser here."""
    chromium = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        chromium = None
    if chromium is None:
        yield None
        return
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=[*CHROMIUM_FLAGS])
        page = opened.new_page(viewport={"width": 1000, "height": 700})
        page.goto(address)
        page.wait_for_selector("body[data-connection=connected]", timeout=60_000)
        page.click("#control")
        page.wait_for_selector("body[data-control=mine]", timeout=60_000)
        try:
            yield page
        finally:
            opened.close()
