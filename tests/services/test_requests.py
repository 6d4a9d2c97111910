"""Requests of other processes are read in their order and done once each, whoever is killed or silent meanwhile."""

import random
import subprocess
import sys
import time

import counting_service
import pytest
from counting_service import NAME

from wholebody.channels import Channel
from wholebody.services import Client


def begin(*role):
    return subprocess.Popen([sys.executable, counting_service.__file__, *map(str, role)])


def requests_are_done_once(folder, clients, requests, kills):
    """Clients ask at the same time, the server is killed and started again; every count comes once."""
    server, chance = begin("serve"), random.Random(7)
    told = [folder / f"{number}" for number in range(clients)]
    asking = [begin("ask", number, requests, file) for number, file in enumerate(told)]
    try:
        with Client(NAME, timeout=60.0):
            counted = Channel(f"{NAME}.replies").reader()
        for kill in range(kills):
            until = clients * requests * (kill + chance.uniform(0.2, 0.8)) / kills
            while not (counted.latest() and counted.message["answer"]["count"] >= until):
                time.sleep(0.005)
            server.kill()
            server.wait()
            server = begin("serve")
        assert [process.wait() for process in asking] == [0] * clients
    finally:
        for process in (server, *asking):
            process.kill()
            process.wait()
    found = sorted(int(count) for file in told for count in file.read_text().split())
    assert found == list(range(1, clients * requests + 1)), "one was lost, or done twice"


def test_no_request_is_lost_or_done_twice_though_the_server_is_killed(tmp_path):
    requests_are_done_once(tmp_path, clients=2, requests=200, kills=1)


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_8_clients_ask_10_000_times_each_and_none_is_lost_or_done_twice_in_ten_kills(tmp_path):
    requests_are_done_once(tmp_path, clients=8, requests=10_000, kills=10)
