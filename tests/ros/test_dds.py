"""Participants: bytes arrive as they were written, nothing leaves the loopback, no type information is sent."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from robot_processes import wait_for
from ros_peer import DOMAIN, Peer

from wholebody.errors import BadBinding, BadMessage
from wholebody.ros.cdr import encode
from wholebody.ros.dds import LATCHED, LOOPBACK, Participant, Quality, configuration, domain_of
from wholebody.ros.interfaces import TRIGGER, ParticipantEntitiesInfo, TriggerRequest, TriggerResponse
from wholebody.ros.message import dds_type
from wholebody.ros.node import Node, resolved
from wholebody.ros.standard import (
    Header,
    JointState,
    JointTrajectory,
    JointTrajectoryPoint,
    Marker,
    MarkerArray,
    Point,
    String,
    TFMessage,
    Time,
    TransformStamped,
)

MESSAGES = [
    JointState(Header(Time(1, 2), "é"), ("a", "bcd"), [1.0, 2.0], [], [3.0, 4.0]),
    TFMessage([TransformStamped(child_frame_id=each) for each in ("a", "bc", "def")]),
    JointTrajectory(joint_names=("a",), points=[JointTrajectoryPoint([1.0], [2.0]), JointTrajectoryPoint([3.0])]),
    MarkerArray([Marker(points=[Point(1.0), Point(2.0)], text="x"), Marker()]),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_what_is_written_is_taken_byte_by_byte(message):
    with Participant(DOMAIN) as here:
        reader, writer = here.reader("rt/here", type(message)), here.writer("rt/here", type(message))
        assert reader.take() == []
        writer.put(message)
        assert reader.wait(20.0)
        assert [encode(each) for each in reader.take()] == [encode(message)]


def test_bytes_of_another_type_do_not_go_out():
    with Participant(DOMAIN) as here:
        writer = here.writer("rt/here", JointState)
        with pytest.raises(BadMessage, match="no sensor_msgs/msg/JointState"):
            writer.put_bytes(b"\0\1\0\0" + b"\xff" * 40)


def test_what_is_latched_comes_to_who_joins_late():
    with Participant(DOMAIN) as here:
        here.writer("rt/late", String, LATCHED).put(String("said before"))
        reader = here.reader("rt/late", String, LATCHED)
        assert reader.wait(20.0)
        assert reader.take() == [String("said before")]


def test_who_reads_reliably_does_not_hear_who_writes_otherwise():
    with Participant(DOMAIN) as here:
        writer = here.writer("rt/here", String, Quality(reliable=False))
        deaf, hears = here.reader("rt/here", String), here.reader("rt/here", String, Quality(reliable=False))
        writer.put(String("x"))
        assert hears.wait(20.0)
        assert deaf.take() == []


def test_nothing_comes_in_but_by_the_loopback():
    held = []
    with Participant(DOMAIN):
        for number in map(int, os.listdir("/proc/self/fd")):
            if not Path(f"/proc/self/fd/{number}").is_socket():
                continue
            with socket.socket(fileno=os.dup(number)) as found:
                if found.type == socket.SOCK_DGRAM and found.family == socket.AF_INET:
                    address, port = found.getsockname()
                    device = found.getsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, 16).rstrip(b"\0")
                    if port // 250 == (7400 + 250 * DOMAIN) // 250 or address == "127.0.0.1":
                        held.append((address, device))
    assert len(held) >= 3
    assert all(address == "127.0.0.1" or device == b"lo" for address, device in held)


LISTENER = """
import sys, time
from dataclasses import dataclass
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic

@dataclass
class String(IdlStruct, typename="std_msgs.msg.dds_.String_"):
    data: str

own = DomainParticipant(int(sys.argv[1]))
reader = DataReader(own, Topic(own, "rt/chatter", String))
while not (found := reader.get_matched_publications()):
    time.sleep(0.01)
about = reader.get_matched_publication_data(found[0])
print(about.type_name, about.type_id)
"""


@pytest.mark.slow
def test_no_type_information_is_sent(monkeypatch):
    monkeypatch.setenv("CYCLONEDDS_URI", configuration(LOOPBACK))
    with Participant(DOMAIN) as here:
        here.writer("rt/chatter", String)
        command = [sys.executable, "-c", LISTENER, str(DOMAIN)]
        found = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=50, check=True)
    assert found.stdout.split() == [dds_type(String), "None"]


def test_a_process_has_one_network_for_a_domain():
    with Participant(DOMAIN), pytest.raises(BadBinding, match=f"domain {DOMAIN} of this process is on 'lo' already"):
        Participant(DOMAIN, "eth0")


def test_a_network_that_is_not_there_is_said():
    with pytest.raises(BadBinding, match=r"'nowhere0'.* `ip link`"):
        Participant(DOMAIN + 1, "nowhere0")


@pytest.mark.parametrize("said", ["a", "-1", "233", "1.5"])
def test_a_domain_is_a_number(said):
    with pytest.raises(BadBinding, match="0 to 232"):
        domain_of(said)


def test_a_topic_has_one_type():
    with Participant(DOMAIN) as here:
        here.writer("rt/here", String)
        with pytest.raises(BadBinding, match="std_msgs/msg/String already"):
            here.reader("rt/here", JointState)


def test_names_are_resolved_as_ros_does():
    assert resolved("cmd_vel", "lab/one", "robot") == "lab/one/cmd_vel"
    assert resolved("/tf", "lab", "robot") == "tf"
    assert resolved("~/reset", "lab", "robot") == "lab/robot/reset"
    for wrong in ("", "a b", "1a", "a//b", "a/"):
        with pytest.raises(BadBinding, match="between slashes"):
            resolved(wrong, "", "robot")


def test_a_service_answers_and_tools_list_its_node():
    with Node("robot", "lab", DOMAIN) as node, Peer(beat=lambda: (node.spin(), time.sleep(0.001))) as peer:
        node.service("~/reset", TRIGGER, lambda request: TriggerResponse(True, "done"))
        discovery = peer.participant.reader(
            "ros_discovery_info", ParticipantEntitiesInfo, Quality(transient=True, depth=100)
        )
        assert peer.call(peer.client("/lab/robot/reset", TRIGGER), TriggerRequest()) == TriggerResponse(True, "done")
        listed = []

        def nodes():
            listed.extend(each for info in discovery.take() for each in info.node_entities_info_seq)
            return [each for each in listed if each.node_name == "robot"]

        found = wait_for(nodes)[-1]
        assert found.node_namespace == "/lab"
        assert len(found.reader_gid_seq) == len(found.writer_gid_seq) == 1
