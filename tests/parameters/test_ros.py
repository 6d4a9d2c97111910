"""Bindings by ROS: the bytes are those of ROS's own messages, and peers that know nothing of us hear and are heard."""

import contextlib
import json
import os
import subprocess
import sys
import time
from importlib.util import find_spec

import pytest
from robot_processes import wait_for

from wholebody.errors import BadBinding, MissingExtra
from wholebody.parameters import Parameters
from wholebody.parameters.bindings import Binding, Bindings
from wholebody.parameters.records import ControllerNames
from wholebody.parameters.ros import Ros1, Ros2, multi_array, name_on_the_wire
from wholebody.processes import lifecycle
from wholebody.processes.registry import CARRIER
from wholebody.ros.cdr import encode
from wholebody.ros.dds import LOOPBACK, configuration, library
from wholebody.tasks import CartesianPositionTask

needs_dds = pytest.mark.skipif(not find_spec("cyclonedds"), reason="cyclonedds is not installed")
needs_rospy = pytest.mark.skipif(
    not (find_spec("rospy") and find_spec("rosmaster") and find_spec("std_msgs")), reason="rospy is not installed"
)
NAMES = ControllerNames("robot", "reach")
NUMBERS = [1.5, -2.25, 1e-300]


@pytest.fixture(autouse=True)
def own_world(monkeypatch):
    """A domain of ROS 2, and a master of ROS 1, for this test alone."""
    monkeypatch.setenv("ROS_DOMAIN_ID", str(1 + os.getpid() % 200))
    monkeypatch.setenv("CYCLONEDDS_URI", configuration(LOOPBACK))  # for peers
    monkeypatch.setenv("ROS_MASTER_URI", f"http://127.0.0.1:{20000 + os.getpid() % 10000}")
    monkeypatch.setenv("ROS_IP", "127.0.0.1")


@needs_dds
@pytest.mark.skipif(not find_spec("rosbags"), reason="rosbags is not installed")
@pytest.mark.parametrize("count", [0, 1, 3, 16])
def test_a_message_has_the_bytes_that_ros_2_gives_it(count):
    from rosbags.typesys import Stores, get_typestore

    values = [0.1 * number for number in range(count)]
    ours = encode(multi_array(values))
    store = get_typestore(Stores.ROS2_HUMBLE)
    theirs = store.deserialize_cdr(ours, "std_msgs/msg/Float64MultiArray")
    assert theirs.data.tolist() == values
    assert theirs.layout.dim[0].size == count
    assert bytes(store.serialize_cdr(theirs, "std_msgs/msg/Float64MultiArray")) == ours


DDS_PEER = """
import sys, time
from dataclasses import dataclass
from cyclonedds.core import Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.annotations import final
from cyclonedds.idl.types import float64, sequence, uint32
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic

@dataclass
@final
class Dimension(IdlStruct, typename="std_msgs.msg.dds_.MultiArrayDimension_"):
    label: str
    size: uint32
    stride: uint32

@dataclass
@final
class Layout(IdlStruct, typename="std_msgs.msg.dds_.MultiArrayLayout_"):
    dim: sequence[Dimension]
    data_offset: uint32

@dataclass
@final
class Numbers(IdlStruct, typename="std_msgs.msg.dds_.Float64MultiArray_"):
    layout: Layout
    data: sequence[float64]

own = DomainParticipant(int(sys.argv[1]))
qos = Qos(Policy.Reliability.Reliable(1_000_000_000), Policy.History.KeepLast(10))  # as of a node of ROS 2
reader = DataReader(own, Topic(own, "rt/hand/error", Numbers), qos=qos)
writer = DataWriter(own, Topic(own, "rt/hand/goal", Numbers), qos=qos)
while True:
    for sample in reader.take(10):
        print("heard", *sample.data, flush=True)
    writer.write(Numbers(Layout([], 0), [float(each) for each in sys.argv[2:]]))
    time.sleep(0.02)
"""


@contextlib.contextmanager
def carried(transport):
    """A goal and an error bound by a transport, with the process that carries them."""
    hand, parameters, names = CartesianPositionTask("hand", "palm", (9.0, 9.0, 9.0)), Parameters(), NAMES
    parameters.add("tasks", hand)
    chosen = [
        Binding("tasks.hand.goal", "input", "hand/goal", transport),
        Binding("tasks.hand.goal_velocity", "output", "hand/error", transport),
    ]
    given = {
        "bindings": [{**vars(each), "properties": {}} for each in chosen],
        "sizes": {each.parameter: 3 for each in chosen},
    }
    bindings = Bindings(chosen, parameters, names, 1000)
    options = {"name": names.robot, "controller": names.controller, "bindings": json.dumps(given)}
    with lifecycle.beside(CARRIER, **options) as carrier:
        carrier.until_ready()
        yield hand, bindings
        carrier.process.terminate()
        assert carrier.process.wait(20) == 0
    bindings.close()


def hears_and_is_heard(transport, command):
    """A peer with other numbers each time hears ours and is heard, though it is killed and started again."""
    with carried(transport) as (hand, bindings):
        for turn in range(2):
            numbers = [turn + each for each in NUMBERS]
            with subprocess.Popen([*command, *map(str, numbers)], stdout=subprocess.PIPE, text=True) as peer:
                try:
                    os.set_blocking(peer.stdout.fileno(), False)
                    hand.goal_velocity = numbers
                    heard = []

                    def both(peer=peer, heard=heard, numbers=numbers):
                        assert peer.poll() is None
                        bindings.put(0.0, 0)
                        bindings.apply()
                        time.sleep(0.02)
                        heard.append(peer.stdout.readline().split())
                        return hand.goal.tolist() == numbers and ["heard", *map(str, numbers)] in heard

                    wait_for(both, 40)
                finally:
                    peer.kill()


@needs_dds
def test_a_node_of_ros_2_hears_and_is_heard_also_when_it_was_started_again():
    hears_and_is_heard("ros2", [sys.executable, "-c", DDS_PEER, os.environ["ROS_DOMAIN_ID"]])


@needs_dds
def test_messages_of_another_size_are_nothing():
    here, there, got = Ros2(), Ros2(), []
    subscription, short, right = here.receive("hand/goal", 3, got.append), there.sender("hand/goal"), [1.0, 2.0, 3.0]
    wait_for(lambda: (short.send(0.0, [1.0, 2.0]), short.send(0.0, right), time.sleep(0.02), got)[3], 20)
    assert {tuple(each) for each in got} == {tuple(right)}
    short.close()
    subscription.close()


@pytest.mark.parametrize("topic", ["", "/", "hand goal", "hand//goal", "1hand", "hand/", "händ"])
def test_a_topic_of_ros_2_is_words_between_slashes(topic):
    with pytest.raises(BadBinding, match="between slashes"):
        name_on_the_wire(topic)
    assert name_on_the_wire("/hand/goal") == name_on_the_wire("hand/goal") == "rt/hand/goal"


def test_what_is_not_installed_or_not_there_is_said_with_the_remedy(monkeypatch):
    library.cache_clear()
    monkeypatch.setattr("wholebody.ros.dds.importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="-m pip install 'cyclonedds>="):
        Ros2()
    with pytest.raises(
        BadBinding, match="start one: roscore" if find_spec("rospy") else "apt-get install python3-rospy"
    ):
        Ros1()


@needs_dds
@pytest.mark.parametrize("domain", ["a", "-1", "233"])
def test_a_domain_that_cannot_be_is_refused(monkeypatch, domain):
    monkeypatch.setenv("ROS_DOMAIN_ID", domain)
    with pytest.raises(BadBinding, match="ROS_DOMAIN_ID"):
        Ros2()


ROS_PEER = """
import sys, rospy
from std_msgs.msg import Float64MultiArray
rospy.init_node("peer", anonymous=True)
rospy.Subscriber("hand/error", Float64MultiArray, lambda message: print("heard", *message.data, flush=True))
publisher = rospy.Publisher("hand/goal", Float64MultiArray, queue_size=1)
while not rospy.is_shutdown():
    publisher.publish(Float64MultiArray(data=[float(each) for each in sys.argv[1:]]))
    rospy.sleep(0.02)
"""
MASTER = """
import os, time
from rosmaster.master import Master
master = Master(int(os.environ["ROS_MASTER_URI"].rpartition(":")[2]))
master.start()
print("ready", flush=True)
while master.ok():
    time.sleep(0.1)
"""


@needs_rospy
def test_a_node_of_ros_1_hears_and_is_heard_also_when_it_was_started_again():
    with subprocess.Popen([sys.executable, "-c", MASTER], stdout=subprocess.PIPE, text=True) as master:
        try:
            assert master.stdout.readline() == "ready\n"
            hears_and_is_heard("ros1", [sys.executable, "-c", ROS_PEER])
        finally:
            master.kill()
