"""The robot in Foxglove: a client of its protocol sees it move, drives it, and sets parameters; in lock step."""

import contextlib
import itertools
import json
import struct
import threading
import time
from importlib.util import find_spec

import pytest
from daemon_rig import ROBOT, Rig
from robot_processes import wholebody
from rosbags.typesys import Stores, get_typestore

from wholebody.errors import BadBinding, BadMessage
from wholebody.operator.foxglove.bridge import FoxgloveBridge, FoxgloveOptions, layout
from wholebody.operator.foxglove.link import FoxgloveLink, from_plain
from wholebody.ros.cdr import encode
from wholebody.ros.dds import LATCHED
from wholebody.ros.standard import Duration, JointTrajectory, JointTrajectoryPoint, String, Twist

pytestmark = pytest.mark.skipif(not find_spec("foxglove"), reason="foxglove-sdk is not installed")
STORE = get_typestore(Stores.ROS2_JAZZY)


class Client:
    """A client of the protocol foxglove.sdk.v1, of a library that knows nothing of it."""

    def __init__(self, port, beat):
        from websockets.sync.client import connect

        self._open, self._beat = contextlib.ExitStack(), beat
        address, protocols = f"ws://127.0.0.1:{port}", ["foxglove.sdk.v1"]
        self._socket = self._open.enter_context(connect(address, subprotocols=protocols, close_timeout=0.1))
        self._numbers = itertools.count(1)
        self.channels, self.heard, self.parameters, self._names = {}, {}, {}, {}

    def say(self, **what):
        self._socket.send(json.dumps(what))

    def take(self):
        """All that has come: what a server puts faster than it is taken waits in its queue."""
        with contextlib.suppress(TimeoutError):
            while True:
                self._note(self._socket.recv(timeout=0.001))

    def _note(self, data):
        if isinstance(data, bytes):
            if data[0] == 1:
                number, _ = struct.unpack_from("<IQ", data, 1)
                kind, topic = self._names[number]
                self.heard.setdefault(topic, []).append(STORE.deserialize_cdr(data[13:], kind))
            return
        told = json.loads(data)
        if told["op"] == "advertise":
            self.channels |= {each["topic"]: each for each in told["channels"]}
        elif told["op"] == "parameterValues":
            self.parameters |= {each["name"]: each.get("value") for each in told["parameters"]}

    def subscribe(self, topic):
        self.wait_for(lambda: topic in self.channels)
        channel = self.channels[topic]
        self._names[channel["id"]] = channel["schemaName"], topic
        self.say(op="subscribe", subscriptions=[{"id": channel["id"], "channelId": channel["id"]}])

    def tell(self, topic, encoding, kind, data):
        number = next(self._numbers)
        one = {"id": number, "topic": topic, "encoding": encoding, "schemaName": kind}
        self.say(op="advertise", channels=[one])
        self._socket.send(b"\x01" + struct.pack("<I", number) + data)

    def wait_for(self, condition, seconds=40.0):
        until = time.monotonic() + seconds
        while not (value := condition()):
            assert time.monotonic() < until, "waited in vain"
            self._beat()
            self.take()
        return value

    def close(self):
        self._open.close()


class World:
    """A daemon and its server for Foxglove, in step."""

    def __init__(self):
        self.rig, self.said = Rig(), []
        self.rig.go(30)
        over = threading.Event()

        def beat():
            while not over.wait(0.002):
                self.rig.go()

        thread = threading.Thread(target=beat)
        thread.start()
        try:
            self.bridge = FoxgloveBridge(FoxgloveOptions("robot", "hubo2plus", port=0), self.said.append)
        finally:
            over.set()
            thread.join()
        self.client = Client(self.bridge.server.port, self.beat)
        self.rig.go(30)

    def beat(self):
        self.rig.go()
        self.bridge.once()

    def close(self):
        self.client.close()
        self.bridge.close()
        self.rig.__exit__()


@pytest.fixture
def world():
    world = World()
    yield world
    world.close()


def test_a_client_sees_the_robot_and_moves_it(world):
    client, at = world.client, ROBOT.index["RSP"]
    for topic in ("/robot_description", "/joint_states", "/tf", "/tf_static"):
        client.subscribe(topic)
    client.wait_for(lambda: len(client.heard) == 4)
    assert client.heard["/robot_description"][0].data.startswith("<robot name=")  # though it was said before
    told = JointTrajectory(
        joint_names=("RSP",), points=[JointTrajectoryPoint([-0.3], time_from_start=Duration.of(0.2))]
    )
    topic = "/joint_trajectory_controller/joint_trajectory"
    client.tell(topic, "cdr", "trajectory_msgs/msg/JointTrajectory", encode(told))
    client.wait_for(lambda: abs(client.heard["/joint_states"][-1].position[at] + 0.3) < 1e-3)


def test_what_a_client_tells_and_is_not_done_is_said(world):
    twist = {"linear": {"x": 0.1}, "angular": {"z": 0.0}}
    world.client.tell("/cmd_vel", "json", "geometry_msgs/Twist", json.dumps(twist).encode())
    world.client.wait_for(lambda: world.said)
    assert "wholebody walk" in world.said[0]
    world.client.tell("/nothing", "json", "std_msgs/String", b"{}")
    world.client.wait_for(lambda: len(world.said) > 1)
    assert "it takes /joint_trajectory_controller/joint_trajectory, /cmd_vel" in world.said[1]


def test_parameters_are_listed_and_set():
    values = {"reach.tasks.hand.kp": 64.0, "reach.tasks.hand.goal": [0.1, 0.2, 0.3]}

    def listed(names):
        return {name: value for name, value in values.items() if names is None or name in names}

    with FoxgloveLink("robot", port=0, parameters=(listed, values.__setitem__)) as link:
        client = Client(link.port, link.spin)
        client.say(op="getParameters", parameterNames=[], id="all")
        client.wait_for(lambda: len(client.parameters) == 2)
        client.say(op="setParameters", parameters=[{"name": "reach.tasks.hand.kp", "value": 80.5}], id="one")
        client.wait_for(lambda: client.parameters["reach.tasks.hand.kp"] == 80.5)
        client.close()
    assert values["reach.tasks.hand.kp"] == 80.5


def test_two_who_tell_the_same_topic_have_the_same_readers():
    with FoxgloveLink("robot", port=0) as link:
        one, other = link.publisher("said", String), link.publisher("/said", String)
        client = Client(link.port, link.spin)
        client.subscribe("/said")
        client.wait_for(lambda: one.readers == other.readers == 1)
        client.close()


def test_it_does_not_listen_beyond_this_machine_unasked():
    run = wholebody("foxglove", "--host", "0.0.0.0", "--port", 0, check=False)
    assert run.returncode == 1
    assert "without TLS and without a token; its protocol has neither: say --insecure" in run.stderr


def test_what_is_latched_comes_to_who_subscribes_late():
    with FoxgloveLink("robot", port=0) as link:
        link.publisher("said", String, LATCHED).put(String("before"))
        client = Client(link.port, link.spin)
        client.subscribe("/said")
        assert client.wait_for(lambda: client.heard.get("/said"))[0].data == "before"
        client.close()


def test_a_port_that_is_taken_is_said():
    with FoxgloveLink("robot", port=0) as link, pytest.raises(BadBinding, match="give another --port"):
        FoxgloveLink("other", port=link.port)


@pytest.mark.parametrize("given", [3, {"linaer": {}}, {"linear": {"x": "fast"}}, {"linear": 1}, {"linear": {"x": [1]}}])
def test_json_that_is_no_message_is_refused(given):
    with pytest.raises(BadMessage, match="geometry_msgs/msg"):
        from_plain(Twist, given)
    assert from_plain(Twist, {"linear": {"x": 1}}).linear.x == 1.0


def test_the_layout_is_of_panels_that_are_in_it():
    told = json.loads(layout("hubo2plus"))

    def panels(node):
        return [node] if isinstance(node, str) else [*panels(node["first"]), *panels(node["second"])]

    assert set(panels(told["layout"])) == set(told["configById"])
