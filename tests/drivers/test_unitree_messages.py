"""LowCmd and LowState on the wire: as Cyclone's own serializer writes Unitree's types, with Unitree's check sum."""

import struct
from dataclasses import dataclass

import numpy as np
import pytest

from wholebody.drivers.unitree.low_level import LOW_COMMAND, LOW_STATE, MOTORS, Message

idl = pytest.importorskip("cyclonedds.idl", reason="cyclonedds is not installed")
types = pytest.importorskip("cyclonedds.idl.types")

# Unitree's types, as their published IDL has them.


@dataclass
class MotorCmd(idl.IdlStruct, typename="unitree_hg.msg.dds_.MotorCmd_"):
    mode: types.uint8
    q: types.float32
    dq: types.float32
    tau: types.float32
    kp: types.float32
    kd: types.float32
    reserve: types.uint32


@dataclass
class LowCmd(idl.IdlStruct, typename="unitree_hg.msg.dds_.LowCmd_"):
    mode_pr: types.uint8
    mode_machine: types.uint8
    motor_cmd: types.array[MotorCmd, 35]
    reserve: types.array[types.uint32, 4]
    crc: types.uint32


@dataclass
class IMUState(idl.IdlStruct, typename="unitree_hg.msg.dds_.IMUState_"):
    quaternion: types.array[types.float32, 4]
    gyroscope: types.array[types.float32, 3]
    accelerometer: types.array[types.float32, 3]
    rpy: types.array[types.float32, 3]
    temperature: types.int16


@dataclass
class MotorState(idl.IdlStruct, typename="unitree_hg.msg.dds_.MotorState_"):
    mode: types.uint8
    q: types.float32
    dq: types.float32
    ddq: types.float32
    tau_est: types.float32
    temperature: types.array[types.int16, 2]
    vol: types.float32
    sensor: types.array[types.uint32, 2]
    motorstate: types.uint32
    reserve: types.array[types.uint32, 4]


@dataclass
class LowState(idl.IdlStruct, typename="unitree_hg.msg.dds_.LowState_"):
    version: types.array[types.uint32, 2]
    mode_pr: types.uint8
    mode_machine: types.uint8
    tick: types.uint32
    imu_state: IMUState
    motor_state: types.array[MotorState, 35]
    wireless_remote: types.array[types.uint8, 40]
    reserve: types.array[types.uint32, 4]
    crc: types.uint32


def crc_by_bits(words):
    """Unitree's check sum by its definition, bit by bit."""
    crc = 0xFFFFFFFF
    for word in words:
        for bit in range(31, -1, -1):
            top = crc >> 31
            crc = (crc << 1) & 0xFFFFFFFF
            if top:
                crc ^= 0x04C11DB7
            if word >> bit & 1:
                crc ^= 0x04C11DB7
    return crc


def command_of(random):
    """A LowCmd of theirs, and the same of ours."""
    numbers = random.normal(size=(MOTORS, 5)).astype(np.float32)
    motors = [MotorCmd(1, *map(float, row), 7) for row in numbers]
    theirs = LowCmd(0, 5, motors, [1, 2, 3, 4], 0)
    packed = struct.pack("<2B2x", 0, 5) + b"".join(
        struct.pack("<B3x5fI", 1, *map(float, row), 7) for row in numbers
    )  # the C struct
    theirs.crc = crc_by_bits(struct.unpack("<250I", packed + struct.pack("<4I", 1, 2, 3, 4)))
    ours = Message(LOW_COMMAND)
    ours.record["mode_machine"], ours.record["reserve"] = 5, (1, 2, 3, 4)
    ours.motors[:, 1:6], ours.modes[:], ours.record["motor"]["reserve"] = numbers, 1, 7
    return theirs, ours


def state_of(random):
    """A LowState of theirs."""
    motors = [
        MotorState(1, *map(float, random.normal(size=4)), [40, -3], 48.0, [1, 2], 0, [9, 8, 7, 6])
        for _ in range(MOTORS)
    ]
    imu = IMUState([1.0, 0.0, 0.0, 0.0], [0.1, 0.2, 0.3], [0.0, 0.0, 9.81], [0.0, 0.0, 0.0], 33)
    return LowState([1, 2], 0, 5, 77, imu, motors, list(range(40)), [5, 6, 7, 8], 0)


def test_a_command_on_the_wire_is_byte_by_byte_what_cyclone_makes_of_unitrees_type():
    theirs, ours = command_of(np.random.default_rng(2))
    assert ours.pack().tobytes() == theirs.serialize()[4:]  # after the header that says how it is encoded


def test_a_state_from_the_wire_says_what_unitrees_type_says():
    theirs, ours = state_of(np.random.default_rng(3)), Message(LOW_STATE)
    ours.unpack(np.frombuffer(theirs.serialize()[4:], np.uint8))
    record = ours.record
    assert (record["tick"], record["mode_machine"], record["imu"]["temperature"]) == (77, 5, 33)
    assert record["imu"]["linear_acceleration"][2] == np.float32(9.81)
    np.testing.assert_array_equal(
        ours.motors[:, 1:5], np.array([(m.q, m.dq, m.ddq, m.tau_est) for m in theirs.motor_state], np.float32)
    )
    assert record["motor"]["temperature"].tolist() == [[40, -3]] * MOTORS
    assert record["remote"].tolist() == list(range(40))
    assert ours.pack()[:-4].tobytes() == theirs.serialize()[4:-4]


@pytest.mark.parametrize("topic", [LOW_COMMAND, LOW_STATE], ids=lambda topic: topic.name)
def test_of_a_hundred_messages_with_one_bit_changed_none_is_believed(topic):
    random = np.random.default_rng(4)
    sent, heard = Message(topic), Message(topic)
    sent.motors[:, 1:] = random.normal(size=sent.motors[:, 1:].shape)
    for _ in range(100):
        wire = sent.pack().copy()
        assert heard.unpack(wire)
        at = int(random.integers(len(wire)))
        wire[at] ^= 1 << int(random.integers(8))
        assert not heard.unpack(wire) or heard.pack().tobytes() == sent.pack().tobytes()  # only padding
