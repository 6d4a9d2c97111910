"""Bindings: values that come in at one point and go out as one put, by channels, udp and zenoh."""

import json
import socket
import time
from importlib.util import find_spec

import numpy as np
import pytest
from robot_processes import wait_for

from wholebody.channels import Channel
from wholebody.errors import BadBinding, UnknownName
from wholebody.parameters import Parameters
from wholebody.parameters.bindings import Binding, Bindings, check_bindings
from wholebody.parameters.records import ControllerNames, value_record
from wholebody.parameters.transports import Carrier, Udp, Zenoh, decode, encode
from wholebody.tasks import CartesianPositionTask, JointPositionTask

NAMES = ControllerNames("robot", "reach")
GOAL = "tasks.hand.goal"


@pytest.fixture
def hand():
    return CartesianPositionTask("hand", "right_palm", (0.1, 0.2, 0.3))


@pytest.fixture
def parameters(hand):
    parameters = Parameters()
    parameters.add("tasks", hand)
    parameters.add("tasks", JointPositionTask("posture", np.zeros(5)))
    return parameters


def send(topic, values, size=None):
    with Channel(topic, value_record(len(values) if size is None else size)) as channel, channel.writer() as writer:
        writer.message["values"] = values
        writer.put()


def test_a_bound_goal_is_that_of_the_newest_message_from_the_next_apply_on(parameters, hand):
    bindings = Bindings([Binding(GOAL, "input", "goal")], parameters, NAMES, 1000)
    bindings.apply()
    assert hand.goal.tolist() == [0.1, 0.2, 0.3]
    send("goal", [1.0, 1.0, 1.0])
    send("goal", [0.4, 0.5, 0.6])
    assert hand.goal.tolist() == [0.1, 0.2, 0.3], "not before"
    bindings.apply()
    assert hand.goal.tolist() == [0.4, 0.5, 0.6]
    assert bindings.inputs[0].taken == 1, "the newest alone counts"
    hand.goal[:] = 0.0
    bindings.apply()
    assert hand.goal.tolist() == [0.0, 0.0, 0.0], "and counts once"


def test_a_value_that_cannot_be_is_refused_whole_and_the_next_one_is_taken(parameters, hand):
    bindings = Bindings([Binding(GOAL, "input", "goal")], parameters, NAMES, 1000)
    send("goal", [0.4, np.nan, 0.6])
    bindings.apply()
    assert hand.goal.tolist() == [0.1, 0.2, 0.3]
    assert bindings.inputs[0].refused == 1
    assert "must be finite" in bindings.inputs[0].trouble
    send("goal", [0.4, 0.5, 0.6])
    bindings.apply()
    assert hand.goal.tolist() == [0.4, 0.5, 0.6]


@pytest.mark.parametrize("latch", [True, False])
def test_a_value_from_before_counts_if_it_is_latched(parameters, hand, latch):
    send("goal", [0.4, 0.5, 0.6])
    bindings = Bindings([Binding(GOAL, "input", "goal", latch=latch)], parameters, NAMES, 1000)
    bindings.apply()
    assert hand.goal.tolist() == ([0.4, 0.5, 0.6] if latch else [0.1, 0.2, 0.3])


def test_whoever_sends_may_go_and_come_back(parameters, hand):
    bindings = Bindings([Binding(GOAL, "input", "goal")], parameters, NAMES, 1000)
    for number in range(5):  # every send is a writer of its own, which then goes
        send("goal", [number, 0.0, 0.0])
        bindings.apply()
        assert hand.goal[0] == number


def test_an_output_is_put_in_every_cycle_or_at_its_rate(parameters, hand):
    every = Binding(GOAL, "output", "always", queue=64)
    seldom = Binding("tasks.posture.goal", "output", "seldom", rate=100, queue=64)
    bindings = Bindings([every, seldom], parameters, NAMES, 1000)
    readers = {name: Channel(name).reader() for name in ("always", "seldom")}
    for cycle in range(20):
        hand.goal[0] = cycle
        bindings.put(0.001 * cycle, cycle)
    assert {name: sum(iter(reader.next, False)) for name, reader in readers.items()} == {"always": 20, "seldom": 2}
    assert readers["always"].message["values"].tolist() == [19.0, 0.2, 0.3]
    assert readers["always"].message["time"] == pytest.approx(0.019)


def test_a_reading_is_brought_up_to_date_before_it_goes_out():
    parameters, count = Parameters(), iter(range(1, 9))
    parameters.add_reading("cycles", "1", "how many", lambda into: into.fill(next(count)))
    bindings = Bindings([Binding("cycles", "output", "cycles")], parameters, NAMES, 1000)
    reader = Channel("cycles").reader()
    for _ in range(3):
        bindings.put(0.0, 0)
    assert reader.latest()
    assert reader.message["values"][0] == 3


@pytest.mark.parametrize(
    ("bindings", "says"),
    [
        ([Binding(GOAL, "input", "a"), Binding("tasks.posture.goal", "output", "a")], "two types"),
        ([Binding(GOAL, "sideways", "a")], "input or output"),
        ([Binding(GOAL, "input", "a", "pigeon")], "no transport 'pigeon'"),
        ([Binding(GOAL, "output", "a", rate=0.0)], "above 0 Hz"),
        ([Binding(GOAL, "output", "a", queue=1)], "at least 2"),
    ],
)
def test_what_cannot_be_bound_is_refused_before_anything_is_opened(parameters, bindings, says):
    with pytest.raises(BadBinding, match=says):
        check_bindings(bindings, parameters, ["channel", "udp"])


def test_the_same_type_may_come_and_go_on_one_topic(parameters):
    check_bindings([Binding(GOAL, "input", "a"), Binding(GOAL, "output", "a")], parameters, [])
    with pytest.raises(UnknownName, match="closest"):
        check_bindings([Binding("tasks.hand.gaol", "input", "a")], parameters, [])


def test_a_topic_that_somebody_uses_for_something_else_is_refused(parameters):
    with Channel("goal", np.dtype("<i4")) as channel, channel.writer():  # noqa: SIM117
        with pytest.raises(BadBinding, match="another layout"):
            Bindings([Binding(GOAL, "input", "goal")], parameters, NAMES, 1000)
    Bindings([Binding(GOAL, "input", "goal")], parameters, NAMES, 1000).close()


# Other transports.


def test_a_value_is_json_and_anything_else_is_nothing():
    assert decode(encode(1.5, [1.0, -2.0, 1e-300]), 3) == [1.0, -2.0, 1e-300]
    assert decode(b"[1, 2, 3]", 3) == [1.0, 2.0, 3.0]
    for noise in (b"", b"\xff", b"[1, 2]", b'{"value": 3}', b"[1, [2], 3]", b'["a", 1, 2]', b"3", b"null"):
        assert decode(noise, 3) is None


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.bind(("127.0.0.1", 0))
        return end.getsockname()[1]


def test_udp_carries_goals_in_and_errors_out_and_peers_may_die(parameters, hand):
    inward, outward = free_port(), free_port()
    chosen = [
        Binding(GOAL, "input", f"127.0.0.1:{inward}", "udp"),
        Binding("tasks.posture.goal", "output", f"127.0.0.1:{outward}", "udp"),
    ]
    bindings = Bindings(chosen, parameters, NAMES, 1000)
    with Carrier(chosen, {GOAL: 3, "tasks.posture.goal": 5}, NAMES, lambda name: Udp):
        for turn in range(2):  # with other sockets, as from a process that was started again
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
                peer.bind(("127.0.0.1", outward))
                peer.settimeout(5.0)
                peer.sendto(b"noise", ("127.0.0.1", inward))
                peer.sendto(json.dumps([turn, 0.5, 0.6]).encode(), ("127.0.0.1", inward))
                wait_for(lambda turn=turn: (bindings.apply(), hand.goal[0] == turn)[1])
                bindings.put(1.25 + turn, 0)
                sent = iter(lambda: json.loads(peer.recv(1000)), None)
                assert next(each for each in sent if each["time"] != 9.0) == {"time": 1.25 + turn, "values": [0.0] * 5}
            bindings.put(9.0, 0)  # nobody is there


@pytest.mark.parametrize("topic", ["nowhere", "127.0.0.1:99999", "127.0.0.1:http", ""])
def test_a_udp_topic_is_host_and_port(topic):
    with pytest.raises(BadBinding, match="HOST:PORT"):
        Udp().receive(topic, 3, lambda values: None)


@pytest.mark.skipif(not find_spec("zenoh"), reason="eclipse-zenoh is not installed")
def test_zenoh_carries_values_both_ways():
    here, there, got = Zenoh(), Zenoh(), []
    topic = f"wholebody/test/{time.monotonic_ns()}"
    subscription = here.receive(topic, 2, got.append)
    sender = there.sender(topic)
    wait_for(lambda: (sender.send(1.0, [0.5, 0.25]), time.sleep(0.05), got)[2])
    assert got[0] == [0.5, 0.25]
    sender.close()
    subscription.close()
