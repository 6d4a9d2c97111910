"""Packets of the servo bus in Dynamixel protocol 2.0, to bytes and back, and the registers of X servos.

    FF FF FD 00  servo  length (2)  instruction  parameters…  CRC (2)
    a reply has the instruction 55, and faults before its data

length counts what follows it. Where FF FF FD occurs after the length, another FD follows it. The CRC is that of the
polynomial 8005, begun with 0, over all that is before it. Numbers have the low byte first; negative ones are two's
complements. A sync read asks many servos with one packet; they answer one after the other, in its order.

Position counts a turn in 4096 steps, growing counter-clockwise; velocity counts 0.229 rpm; current, 2.69 mA on most.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

from wholebody.drivers.dynamixel.packets import BROADCAST, Fault, Instruction, Reply, Request, Split
from wholebody.errors import HardwareError

RETURN_DELAY = 9  # in 2 µs
OPERATING_MODE = 11  # 3: position
STATUS_LEVEL = 68  # 0: answers pings only, 1: reads too, 2: everything
TORQUE_ENABLE = 64
HARDWARE_ERROR = 70
BUS_WATCHDOG = 98  # in 20 ms; 0: none, 255: it has run out, and goals are not taken until it is set to 0
PROFILE_VELOCITY = 112  # 0: as fast as it can
GOAL_POSITION = 116
PRESENT_CURRENT = 126
PRESENT_VELOCITY = 128
PRESENT_POSITION = 132
REGISTERS = 150

COUNTS = 4096
RADIANS_PER_COUNT = 2 * math.pi / COUNTS
SPEED_UNIT = 0.229 * 2 * math.pi / 60
WATCHDOG_UNIT = 0.02  # s
RAN_OUT = 255
ALERT = 0x80
"""In a reply's faults: the servo has a hardware error."""

HEADER = b"\xff\xff\xfd\x00"
_STATUS = 0x55
_STUFFED, _PLAIN = b"\xff\xff\xfd\xfd", b"\xff\xff\xfd"
GREATEST_LENGTH = 1024
_KNOWN = frozenset(int(instruction) for instruction in Instruction)


def _crc_table() -> tuple[int, ...]:
    table = []
    for byte in range(256):
        crc = byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ (0x8005 if crc & 0x8000 else 0)) & 0xFFFF
        table.append(crc)
    return tuple(table)


_CRC = _crc_table()


def checksum(data: bytes) -> int:
    """The CRC of some bytes."""
    crc = 0
    for byte in data:
        crc = (crc << 8 & 0xFFFF) ^ _CRC[crc >> 8 ^ byte]
    return crc


def ping(servo: int) -> bytes:
    """Ask a servo whether it is there."""
    return _packet(servo, Instruction.PING, b"")


def read(servo: int, address: int, count: int) -> bytes:
    """Ask a servo for registers."""
    return _packet(servo, Instruction.READ, _two(address) + _two(count))


def write(servo: int, address: int, data: bytes) -> bytes:
    """Set registers of one servo, or of all (BROADCAST)."""
    return _packet(servo, Instruction.WRITE, _two(address) + data)


def sync_read(address: int, count: int, servos: Sequence[int]) -> bytes:
    """Ask many servos for the same registers."""
    return _packet(BROADCAST, Instruction.SYNC_READ, _two(address) + _two(count) + bytes(servos))


def sync_write(address: int, data: Mapping[int, bytes]) -> bytes:
    """Set the same registers of many servos, each to its own data: {servo: data}."""
    lengths = {len(each) for each in data.values()}
    if len(lengths) != 1:
        raise HardwareError(f"a sync write of {len(data)} servos with {sorted(lengths)} bytes each; give all the same")
    parts = b"".join(bytes((servo,)) + each for servo, each in data.items())
    return _packet(BROADCAST, Instruction.SYNC_WRITE, _two(address) + _two(lengths.pop()) + parts)


def reply(servo: int, faults: int = 0, data: bytes = b"") -> bytes:
    """What a servo answers."""
    return _packet(servo, _STATUS, bytes((faults,)) + data)


def split(stream: bytes) -> Split:
    """Find the packets in a stream; bytes that belong to none are skipped, one by one, until a header comes."""
    packets, at, spoilt = [], 0, 0
    while (start := stream.find(HEADER, at)) >= 0:
        spoilt, at = spoilt + start - at, start
        if len(stream) < at + 7:
            break
        length = int.from_bytes(stream[at + 5 : at + 7], "little")
        end = at + 7 + length
        if stream[at + 4] > BROADCAST or not 3 <= length <= GREATEST_LENGTH:
            spoilt, at = spoilt + 1, at + 1
        elif len(stream) < end:
            break
        elif checksum(stream[at : end - 2]) == int.from_bytes(stream[end - 2 : end], "little"):
            packets.append(stream[at:end])
            at = end
        else:
            spoilt, at = spoilt + 1, at + 1
    if start < 0:
        kept = next((size for size in (3, 2, 1) if stream[at:].endswith(HEADER[:size])), 0)
        spoilt, at = spoilt + len(stream) - at - kept, len(stream) - kept
    return Split(tuple(packets), stream[at:], spoilt)


@lru_cache(4096)
def decode_request(packet: bytes) -> Request:
    """Take a request apart; read_of, write_of and decode_sync_write understand its parameters."""
    servo, kind, parameters = _apart(packet)
    if kind not in _KNOWN:
        raise HardwareError(f"servo {servo} was sent the instruction {kind:#04x}, which we do not know")
    return Request(servo, Instruction(kind), parameters)


def decode_reply(packet: bytes) -> Reply:
    """Take a reply apart."""
    servo, kind, parameters = _apart(packet)
    if kind != _STATUS or not parameters:
        raise HardwareError(f"{packet.hex(' ')} is no reply")
    return Reply(servo, Fault(parameters[0] & 0x7F), parameters[1:])


def read_of(parameters: bytes) -> tuple[int, int]:
    """Address and count of a read."""
    _at_least(parameters, 4)
    return int.from_bytes(parameters[:2], "little"), int.from_bytes(parameters[2:4], "little")


def write_of(parameters: bytes) -> tuple[int, bytes]:
    """Address and data of a write."""
    _at_least(parameters, 3)
    return int.from_bytes(parameters[:2], "little"), parameters[2:]


def decode_sync_write(parameters: bytes) -> tuple[int, dict[int, bytes]]:
    """The address, and the data of each servo, of a sync write."""
    address, count = read_of(parameters)
    parts = parameters[4:]
    if len(parts) % (count + 1):
        raise HardwareError(f"a sync write of {len(parts)} bytes is no whole number of servos with {count} bytes each")
    return address, {parts[at]: parts[at + 1 : at + 1 + count] for at in range(0, len(parts), count + 1)}


def _packet(servo: int, kind: int, parameters: bytes) -> bytes:
    body = (bytes((kind,)) + parameters).replace(_PLAIN, _STUFFED)
    if not 0 <= servo <= BROADCAST or len(body) + 2 > GREATEST_LENGTH:
        raise HardwareError(
            f"a packet to servo {servo} with {len(parameters)} bytes; servos are 0 to 252 ({BROADCAST}: all), packets "
            f"hold some {GREATEST_LENGTH} bytes at most"
        )
    packet = HEADER + bytes((servo,)) + _two(len(body) + 2) + body
    return packet + _two(checksum(packet))


def _apart(packet: bytes) -> tuple[int, int, bytes]:
    """Servo, instruction and parameters of a packet that split has found whole."""
    if len(packet) < 10 or packet[:4] != HEADER or checksum(packet[:-2]) != int.from_bytes(packet[-2:], "little"):
        raise HardwareError(f"{packet.hex(' ')} is no packet: header, length or CRC is wrong")
    return packet[4], packet[7], packet[7:-2].replace(_STUFFED, _PLAIN)[1:]


def _at_least(parameters: bytes, count: int) -> None:
    if len(parameters) < count:
        raise HardwareError(f"parameters '{parameters.hex(' ')}' are fewer than {count} bytes")


def _two(value: int) -> bytes:
    return value.to_bytes(2, "little")
