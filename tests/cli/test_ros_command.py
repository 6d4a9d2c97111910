"""wholebody ros as people run it: a walking robot is driven by /cmd_vel; a bridge that is killed harms nobody."""

import contextlib
import math
import os
import re
import signal
import subprocess

import pytest
from robot_processes import MAIN, end_all, wholebody
from ros_peer import DOMAIN, Peer, TrajectoryClient

from wholebody.behaviors.walking_goals import WalkingClient
from wholebody.channels.recording.recorder import Recorder
from wholebody.drivers.connection import connect
from wholebody.operator.ros.log_messages import StandardLog
from wholebody.processes import lifecycle
from wholebody.processes.registry import WALK
from wholebody.ros.dds import SENSORS
from wholebody.ros.standard import Clock, JointState, Odometry, Twist, Vector3


@pytest.fixture
def robot():
    wholebody("start", "hubo2plus")
    yield
    end_all()


@contextlib.contextmanager
def bridge(*options):
    command = [*MAIN, "ros", "--domain", str(DOMAIN), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            line = process.stdout.readline()
            assert re.fullmatch(rf"node /\S+ is on lo, domain {DOMAIN}; Ctrl-C ends it\n", line), line
            yield process
        finally:
            process.terminate()
            process.wait(30)


@pytest.mark.slow
def test_a_walking_robot_is_driven_by_velocities_and_stops_when_none_come(robot):
    with lifecycle.beside(WALK, name="robot", robot="hubo2plus") as walk, bridge(), Peer() as peer:
        walk.until_ready()
        with WalkingClient("robot") as client:
            client.wait(client.stand())
        where, clock = peer.listen("/odom", Odometry), peer.listen("/clock", Clock, SENSORS)
        told = peer.publisher("/cmd_vel", Twist)
        peer.wait_for(lambda: where and clock and told.readers)
        start = where[-1].pose.pose.position.x

        def ahead():
            told.put(Twist(Vector3(0.15)))
            return where[-1].pose.pose.position.x > start + 0.3

        peer.wait_for(ahead, 300)

        def still():
            recent = [(each.twist.twist.linear.x, each.twist.twist.linear.y) for each in where[-200:]]
            return max(math.hypot(*each) for each in recent) < 0.03

        here = where[-1].pose.pose.position.x
        peer.wait_for(lambda: len(where) > 200 and still(), 120)
        assert abs(where[-1].pose.pose.position.x - here) < 0.5


@pytest.mark.slow
def test_a_bridge_that_is_killed_in_mid_motion_leaves_joints_where_they_were_told_to_be(robot):
    with Peer() as peer:
        joints = peer.listen("/joint_states", JointState)
        with bridge() as process:
            client = TrajectoryClient(peer)
            client.begin(["RSP"], [(5.0, [-1.0])])
            at = peer.wait_for(lambda: joints and list(joints[-1].name).index("RSP") + 1) - 1
            peer.wait_for(lambda: joints[-1].position[at] < -0.2)
            os.kill(process.pid, signal.SIGKILL)
            process.wait(30)
        with bridge():  # the next one finds it where it was left
            joints.clear()
            peer.wait_for(lambda: len(joints) > 100)
            assert -0.6 < joints[-1].position[at] < -0.15
            assert abs(joints[-1].velocity[at]) < 0.05
            again = client.begin(["RSP"], [(0.5, [0.0])])
            assert client.end(again)[1] == 0


@pytest.mark.slow
def test_robots_in_namespaces_do_not_mix(robot):
    with bridge("--namespace", "lab") as _, Peer() as peer:
        mine, nobodys = peer.listen("/lab/joint_states", JointState), peer.listen("/joint_states", JointState)
        peer.wait_for(lambda: len(mine) > 10)
        assert not nobodys


@pytest.mark.slow
def test_what_cannot_be_is_said_in_one_line():
    for options, text in (
        (["--domain", "900"], "0 to 232"),
        (["--namespace", "a b"], "a namespace is words"),
        (["--name", "nobody"], "no robot called 'nobody'"),
    ):
        said = wholebody("ros", *options, check=False)
        assert said.returncode == 1
        assert text in said.stderr + said.stdout
        assert "Traceback" not in said.stderr


@pytest.mark.slow
def test_standard_messages_make_a_log_of_a_moving_robot_at_most_1_4_times_as_large(robot, tmp_path):
    with connect("wave") as wave:
        began, sizes = wave.now, []
        moved = [name for name in wave.joints if name[:3] in ("RSP", "RSR", "REP", "LSP", "LSR", "LEP")]
        for rate in (50.0, 0.0):
            with Recorder(tmp_path / f"{rate}.mcap", ["robot.*"], StandardLog(["robot.*"], rate)) as recorder:
                while recorder.counts.get("robot.state", 0) < 1600:
                    wave.wait()
                    wave.move({name: 0.1 * math.sin(2 * (wave.now - began)) for name in moved})
                    recorder.record(timeout=0.001)
            sizes.append((tmp_path / f"{rate}.mcap").stat().st_size / recorder.counts["robot.state"])
        assert sizes[0] < 1.4 * sizes[1]
