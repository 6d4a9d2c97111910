"""Requests of other processes are read in their order and done once each, whoever is killed or silent meanwhile."""

import math
import random
import subprocess
import sys
import time
import warnings

import counting_service
import pytest
from counting_service import NAME, Add, Corner, Counted, Counting, Draw, Reset

from wholebody.channels import Channel, directory
from wholebody.errors import BadMessage, ChannelRenewed, GoalNotDone, NoServer
from wholebody.services import Client, Stage
from wholebody.services.records import CLIENTS, format_of, request_record


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
def test_8_clients_ask_10_000_times_each_and_none_is_lost_or_done_twice_in_ten_kills(tmp_path):
    requests_are_done_once(tmp_path, clients=8, requests=10_000, kills=10)


@pytest.fixture
def counting():
    """A server in this process, and a client."""
    with Counting() as server, Client(NAME, answer=Counted) as service:
        yield server, service


def test_a_request_that_the_server_did_not_see_is_sent_again_and_those_after_it_wait_for_it(counting):
    server, service = counting
    numbers = [service.send(Add(1, number)) for number in range(3)]
    assert server._requests.next(), "the first is lost"
    server.serve()
    server.serve()
    assert server.count == 0, "or they would be done in another order"
    for number in numbers:
        service._again = 0.0  # it is time to send again
        service.reports(number)
        server.serve()
    assert [service.wait(number).answer.count for number in numbers] == [1, 2, 3]


def test_a_request_whose_reply_was_not_heard_is_not_done_again_not_even_in_another_life(counting):
    server, service = counting
    number = service.send(Add(1, 7))
    server.serve()
    assert server.count == 1
    server.close()
    with Counting() as again:
        service._replies.latest()  # as if it had not been heard
        service._again = 0.0
        assert service.reports(number) == ()
        again.serve()
        assert service.wait(number).answer == Counted(1, 1, 7)
        assert again.count == 1, "it knows what the life before has counted"
        again.reply(service.send(Add(1, 8)), Stage.REJECTED, text="full")
        assert again.last.answer.count == 1


def test_a_request_that_was_given_up_does_not_hold_up_the_next(counting):
    server, service = counting
    with pytest.raises(NoServer, match="did not come"):
        service.ask(Add(1, 0), timeout=0.01)
    assert server._requests.next(), "lost"
    number = service.send(Add(1, 1))
    server.serve()
    assert service.wait(number).answer == Counted(1, 1, 1)


def test_a_client_follows_a_server_whose_channels_were_removed(counting):
    server, service = counting
    server.close()
    for each in ("requests", "replies"):
        directory.remove(f"{NAME}.{each}", force=True)
    with Counting() as again:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ChannelRenewed)  # said where the client had no time to look for the new one
            number = service.send(Add(1, 0))
        with pytest.raises(NoServer, match=r"within 0.5 s"):
            service.wait(number, timeout=0.5)
        again.serve(1.0)
        assert service.wait(number).answer.count == 1


def test_more_clients_than_are_remembered_may_come_and_go(counting):
    server, _ = counting
    for number in range(CLIENTS + 8):
        with Client(NAME, answer=Counted) as passing:
            asked = passing.send(Add(number, 0))
            server.serve()
            assert passing.wait(asked).answer.count == number + 1
    server.close()
    with Counting() as again:
        assert again.count == CLIENTS + 8


def test_only_one_process_serves_a_name_and_what_it_does_not_know_is_rejected(counting):
    server, service = counting
    with pytest.raises(NoServer, match=r"'robot.counting' is served by another process already"):
        Counting()
    with pytest.raises(GoalNotDone, match=r"rejected: 'robot.counting' knows no 'cancel'; it knows add, draw, reset"):
        service.wait(service.cancel(1))
    message = service._requests.message
    message["number"], message["kind"] = service.send(Add(1, 1)) + 1, 99
    service._requests.put()
    server.serve()
    server.serve()
    assert server.count == 1
    assert server.take() is None


def test_all_that_a_request_may_consist_of_comes_as_it_was_sent(counting):
    server, service = counting
    drawn = Draw((Corner(1.0, 2.0), Corner(3.0, math.inf)), (0.5, 0.25), "green", "a square", True)
    for request in (drawn, Draw((), (0.0, 0.0)), Reset()):
        number = service.send(request)
        assert server.take() == (number, request)
    with pytest.raises(BadMessage, match="4 where at most 3 have room"):
        service.send(Draw(4 * (Corner(0.0, 0.0),), (0.0, 0.0)))
    raw = service._requests.message
    number = service.send(drawn)
    raw["number"], raw["draw"]["colour"] = number + 1, b"blue"
    service._requests.put()
    assert server.take().number == number
    assert server.take() is None, "it is rejected"
    wrong = format_of(Draw)
    assert wrong.dtype == request_record((Draw,))["draw"]


def test_a_look_at_a_service_that_nobody_asks_costs_little_more_than_one_at_its_channel(counting):
    server, _ = counting
    looks = {"service": [], "channel": []}
    for _ in range(50):
        for name, look in (("service", server.take), ("channel", server._requests.next)):
            began = time.perf_counter()
            for _ in range(200):
                look()
            looks[name].append(time.perf_counter() - began)
    service, channel = (sorted(each)[len(each) // 2] for each in looks.values())
    assert service < 4 * channel


def test_a_slow_server_is_not_flooded_by_what_is_sent_again(counting):
    server, service = counting
    for number in range(100):
        service.send(Add(1, number), keep=60.0)
    requests = Channel(f"{NAME}.requests")
    before = requests.newest
    for _ in range(10):
        service._again = 0.0
        service.reports(0)
    assert requests.newest - before == 10, "the oldest only, once each time"
    for _ in range(110):
        server.serve()
    assert server.count == 100


def test_what_is_repeated_anyway_is_not_sent_again_and_holds_up_nothing(counting):
    server, service = counting
    first, lost, last = (service.send(Add(1, number), keep=0.0) for number in range(3))
    server.serve()
    assert server._requests.next(), "lost"
    server.serve()
    assert service.wait(last).answer.count == 2
    assert service.reports(lost) == ()
    service._again = 0.0
    service.reports(first)
    assert server.take() is None
