"""RCP over a network that is cut: packets just do not come any more, in a network of the test's own."""

import subprocess
import sys
from pathlib import Path

import pytest
import rcp_body

from wholebody.operator.rcp.server import UNANSWERED

ALONE = ("unshare", "--net")
CUT = """
import asyncio, socket, subprocess, time
from rcp_body import SlowBody
from wholebody.operator.rcp.command_server import CommandServer
from wholebody.operator.rcp.server import Server

def loopback(state):
    subprocess.run(["ip", "link", "set", "lo", state], check=True)

async def walk():
    body = SlowBody()
    async with Server(CommandServer(body), port=0) as server:
        with socket.create_connection(("127.0.0.1", server.port)) as client:
            for line in ("CONNECT operator", "CONTROL BEGIN", "MOVE WALKING FORWARD 3 STEPS"):
                client.sendall(f"{line}\\n".encode())
            await asyncio.sleep(4.0)
            assert body.begun and not body.stops, "silence alone is no cut"
            loopback("down")
            since = time.monotonic()
            while not body.stops and time.monotonic() < since + 20.0:
                await asyncio.sleep(0.02)
            print(time.monotonic() - since)

loopback("up")
asyncio.run(walk())
"""


def may_have_a_network_of_its_own():
    try:
        return subprocess.run([*ALONE, "ip", "link"], check=False, capture_output=True).returncode == 0
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.skipif(not may_have_a_network_of_its_own(), reason="needs unshare, ip, and the right to use them")
def test_a_network_that_is_cut_stops_the_walk_long_before_a_silent_person_would():
    run = subprocess.run(
        [*ALONE, sys.executable, "-c", CUT],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(rcp_body.__file__).parent,
    )
    assert float(run.stdout) < UNANSWERED + 1.5
    assert run.stderr == ""
