"""The bytes of messages are those that ROS gives them, and bytes of nobody's are refused."""

import contextlib
import inspect
import random

import numpy as np
import pytest
from ros_peer import filled
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from wholebody.errors import BadLayout, BadMessage
from wholebody.ros import interfaces, standard
from wholebody.ros.cdr import decode, encode
from wholebody.ros.message import Message, definition, fields_of

STORE = get_typestore(Stores.ROS2_JAZZY)
KINDS = {
    kind.ros: kind
    for module in (standard, interfaces)
    for _, kind in inspect.getmembers(module, inspect.isclass)
    if issubclass(kind, Message) and kind.ros
}
THEIRS = sorted(set(KINDS) & set(STORE.fielddefs))


def test_most_of_our_messages_are_known_to_others():
    assert len(THEIRS) > 50
    assert {each for each in KINDS if "/srv/" not in each and "control_msgs" not in each} == set(THEIRS)


@pytest.mark.parametrize("name", THEIRS)
def test_bytes_are_those_of_ros_2(name):
    for seed in range(5):
        message = filled(KINDS[name], random.Random(seed))
        ours = encode(message)
        assert bytes(STORE.serialize_cdr(STORE.deserialize_cdr(ours, name), name)) == ours


@pytest.mark.parametrize("name", sorted(KINDS))
def test_what_was_written_is_read_again(name):
    for seed in range(3):
        ours = encode(filled(KINDS[name], random.Random(seed)))
        assert encode(decode(KINDS[name], ours)) == ours


@pytest.mark.parametrize("name", sorted(kind.ros for kind in KINDS.values() if kind.__module__ == standard.__name__))
def test_definitions_have_the_fields_that_ros_has(name):
    theirs = get_types_from_msg(definition(KINDS[name]), name)
    assert {each: theirs[each][1] for each in theirs} == {each: STORE.fielddefs[each][1] for each in theirs}


@pytest.mark.parametrize("name", ["sensor_msgs/msg/JointState", "trajectory_msgs/msg/JointTrajectory"])
def test_bytes_of_nobodys_are_refused_and_nothing_else(name):
    rng = random.Random(1)
    whole = encode(filled(KINDS[name], rng))
    for _ in range(300):
        spoilt = bytearray(whole[: rng.randint(0, len(whole))])
        for _ in range(rng.randint(0, 4)):
            if spoilt:
                spoilt[rng.randrange(len(spoilt))] = rng.randint(0, 255)
        with contextlib.suppress(BadMessage):
            decode(KINDS[name], bytes(spoilt))


def test_a_message_in_the_other_byte_order_is_read():
    data = b"\x00\x00\x00\x00" + np.array([1.5, -2.0, 3.0], ">f8").tobytes()
    assert decode(standard.Vector3, data) == standard.Vector3(1.5, -2.0, 3.0)


def test_an_array_of_another_length_is_refused_by_name():
    with pytest.raises(BadMessage, match=r"orientation_covariance .* 8 numbers; give 9"):
        encode(standard.Imu(orientation_covariance=(0.0,) * 8))


def test_a_field_that_no_message_can_have_is_said():
    class Wrong(Message, ros="my_msgs/msg/Wrong"):
        field: dict

    with pytest.raises(BadLayout, match="field 'field' of Wrong"):
        fields_of(Wrong)


def test_times_are_seconds_and_nanoseconds():
    assert standard.Time.of(12.25) == standard.Time(12, 250_000_000)
    assert standard.Duration.of(-0.25) == standard.Duration(-1, 750_000_000)
    assert standard.Duration(-1, 750_000_000).seconds == -0.25
