"""A log has standard messages beside exact records: tools of others show the robot move, ours read what they did."""

import itertools

import numpy as np
import pytest
from daemon_rig import PERIOD, ROBOT, Rig

from wholebody.channels.recording.playback import Recording
from wholebody.channels.recording.recorder import Recorder, mcap_module
from wholebody.operator.recordings.curves import curve, draw
from wholebody.operator.ros.log_messages import StandardLog
from wholebody.processes.launch_plan import LaunchPlan
from wholebody.processes.registry import DAEMON, Registration


@pytest.fixture
def rig():
    with Rig() as rig, Registration(DAEMON, "robot") as entry:
        entry.run(LaunchPlan.make("robot", "hubo2plus", "loopback"))
        yield rig


def record(rig, file, rate, seconds=0.5):
    """Some seconds of a robot that waves, recorded in step."""
    with Recorder(file, ["robot.*"], StandardLog(["robot.*"], rate)) as recorder:
        recorder.record()
        for cycle in range(round(seconds / PERIOD)):
            angles = 5 * cycle * PERIOD + np.arange(len(ROBOT.joint_names))
            rig.put("wave", dict(zip(ROBOT.joint_names, 0.2 * np.sin(angles), strict=True)))
            rig.go()
            recorder.record(timeout=PERIOD)
    return Recording(file)


def standard_messages(file):
    """What other people's tools see: type, topic, message."""
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    store, found = get_typestore(Stores.ROS2_JAZZY), []
    with open(file, "rb") as stream:
        for schema, channel, message in mcap_module("reader").make_reader(stream).iter_messages():
            if schema.name in store.fielddefs:
                assert (
                    get_types_from_msg(schema.data.decode(), schema.name)[schema.name][1]
                    == store.fielddefs[schema.name][1]
                )
                found.append((schema.name, channel.topic, store.deserialize_cdr(message.data, schema.name)))
    return found


def test_other_peoples_tools_see_the_robot_move(rig, tmp_path):
    recording = record(rig, tmp_path / "run.mcap", 50.0)
    found = standard_messages(tmp_path / "run.mcap")
    by_topic = {topic: [each for _, where, each in found if where == topic] for _, topic, _ in found}
    assert {"/robot_description", "/tf_static", "/tf", "/joint_states"} <= set(by_topic)
    assert by_topic["/robot_description"][0].data.startswith("<robot name=")
    joints = by_topic["/joint_states"]
    assert 5 < len(joints) < 0.7 * recording.counts["robot.state"]
    at = joints[0].name.index("RSP")
    moved = [each.position[at] for each in joints]
    assert max(moved) - min(moved) > 0.1
    turns = [each for each in by_topic["/tf"][-1].transforms if each.child_frame_id == ROBOT.joint("RSP").child]
    assert turns


def test_our_own_reading_of_the_log_is_what_it_was_without_them(rig, tmp_path):
    with_them, without = record(rig, tmp_path / "with.mcap", 50.0), record(rig, tmp_path / "without.mcap", 0.0)
    assert set(with_them.layouts) == set(without.layouts)
    assert with_them.counts["robot.state"] > 75
    states = [each.record for each in with_them.messages(["robot.state"])]
    assert all(one["tick"] + 1 == other["tick"] for one, other in itertools.pairwise(states))


def test_a_robot_that_nobody_describes_has_its_exact_records_alone(tmp_path):
    with Rig() as rig:
        assert record(rig, tmp_path / "run.mcap", 50.0).counts["robot.state"] > 75
    assert standard_messages(tmp_path / "run.mcap") == []


def test_curves_have_names_and_units(rig, tmp_path):
    recording = record(rig, tmp_path / "run.mcap", 0.0)
    joints = curve(recording, "robot.state.position")
    assert (joints.unit, joints.labels) == ("rad", ROBOT.joint_names)
    assert curve(recording, "robot.state.position[3]").labels == (ROBOT.joint_names[3],)
    assert curve(recording, "robot.state.base.position").unit == "m"
    assert curve(recording, "robot.state.base.position").labels == ("x", "y", "z")
    force = curve(recording, "robot.state.force_torque.force")
    assert force.unit == "N"
    assert force.labels[:3] == tuple(f"{ROBOT.sensors_of('force_torque')[0].name} {axis}" for axis in "xyz")
    assert curve(recording, "robot.timing.took").labels[0] == "reference"
    draw([joints, force], tmp_path / "run.png")
    assert (tmp_path / "run.png").stat().st_size > 10_000
