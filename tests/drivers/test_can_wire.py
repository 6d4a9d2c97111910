"""A wire has 1 Mbit/s: frames take their time, lower identifiers go first, and faults cost what they cost."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from wholebody.drivers.hubo_can.frames import Frame, bits
from wholebody.drivers.hubo_can.simulated.wire import LONGEST_QUEUE, NEVER, Faults, Wire
from wholebody.errors import HardwareError

BIT = 1e-6


def carry(wire, frames, at=0.0):
    """Send frames of (sender, frame) at one time, and let everything through."""
    found = []
    for begin in range(0, max(len(frames), 1), LONGEST_QUEUE):
        for sender, frame in frames[begin : begin + LONGEST_QUEUE]:
            wire.put(at, sender, frame)
        while wire.next_time < NEVER:
            found.append(wire.step())
    return [delivery for delivery in found if delivery]


def frames_of(n, start=0x100):
    return [("pc", Frame(start + k % 64, bytes([k % 256] * (k % 9)))) for k in range(n)]


def test_a_frame_is_through_when_its_bits_are():
    frame = Frame(0x123, b"12345678")
    (delivery,) = carry(Wire(), [("pc", frame)], at=0.5)
    assert delivery.frame == frame
    assert delivery.time == pytest.approx(0.5 + (bits(frame) - 3) * BIT)


def test_frames_follow_each_other_without_a_gap():
    sent = frames_of(20)
    deliveries = carry(Wire(), sent)
    assert [each.frame for each in deliveries] == [frame for _, frame in sent]
    assert deliveries[-1].time == pytest.approx((sum(bits(frame) for _, frame in sent) - 3) * BIT)


@given(some.lists(some.integers(0, 0x7FF), min_size=1, max_size=20))
def test_the_lowest_identifier_of_different_senders_goes_first(identifiers):
    wire = Wire()
    deliveries = carry(wire, [(number, Frame(each, b"")) for number, each in enumerate(identifiers)])
    assert [each.frame.id for each in deliveries] == sorted(identifiers)


def test_one_sender_keeps_its_order_and_others_pass_it_by():
    low, high, middle = Frame(0x001, b""), Frame(0x300, b""), Frame(0x100, b"")
    deliveries = carry(Wire(), [("pc", high), ("pc", low), ("board", middle)])
    assert [each.frame for each in deliveries] == [middle, high, low]


def test_what_has_begun_is_not_interrupted():
    wire = Wire()
    wire.put(0.0, "pc", Frame(0x300, b"12345678"))
    assert wire.next_time < NEVER
    wire.put(10 * BIT, "board", Frame(0x001, b""))
    assert wire.step().frame.id == 0x300
    assert wire.next_time < NEVER
    assert wire.step().frame.id == 0x001


def test_a_full_second_carries_no_more_than_a_megabit():
    wire = Wire()
    sent = frames_of(14000)
    deliveries = carry(wire, sent)
    within = [each for each in deliveries if each.time < 1.0]
    assert sum(bits(each.frame) for each in within) <= 1_000_000 < wire.traffic.bits
    assert wire.traffic.bits == sum(bits(frame) for _, frame in sent)


def test_a_sender_that_does_not_stop_loses_what_is_too_much():
    wire = Wire()
    for _, frame in frames_of(LONGEST_QUEUE + 10):
        wire.put(0.0, "pc", frame)
    assert wire.traffic.refused == 10
    assert len(carry(wire, [])) + len(carry(wire, [("pc", Frame(1, b""))])) == LONGEST_QUEUE + 1


def test_lost_frames_take_their_time_and_arrive_nowhere():
    wire, sent = Wire(Faults(loss=0.2), seed=1), frames_of(1000)
    deliveries = carry(wire, sent)
    assert len(deliveries) == 1000 - wire.traffic.lost
    assert 150 < wire.traffic.lost < 250
    assert wire.traffic.bits == sum(bits(frame) for _, frame in sent)


def test_corrupted_frames_go_again_so_that_all_arrive_later_and_in_order():
    wire, sent = Wire(Faults(corruption=0.2), seed=1), frames_of(500)
    deliveries = carry(wire, sent)
    good = carry(Wire(), sent)
    assert [each.frame for each in deliveries] == [each.frame for each in good]
    assert 80 < wire.traffic.corrupted < 180
    extra = wire.traffic.bits - sum(bits(frame) for _, frame in sent)
    assert deliveries[-1].time == pytest.approx(good[-1].time + extra * BIT)


def test_an_error_costs_what_was_sent_an_error_frame_and_the_intermission():
    frame = Frame(0x155, b"\x55" * 8)
    costs = []
    for seed in range(400):
        wire = Wire(Faults(corruption=0.5), seed)
        carry(wire, [("pc", frame)])
        if wire.traffic.corrupted == 1:
            costs.append(wire.traffic.bits - bits(frame))
    # From the first bit to the last, then 20 bits of error frame and 3 of intermission.
    assert 24 <= min(costs) < 40
    assert bits(frame) < max(costs) <= bits(frame) - 4 + 23


def test_undetected_corruption_turns_one_bit():
    wire, sent = Wire(Faults(undetected=0.5), seed=1), frames_of(400)
    deliveries = carry(wire, sent)
    assert len(deliveries) == 400
    turned = [
        (int.from_bytes(frame.data, "big") ^ int.from_bytes(each.frame.data, "big")).bit_count()
        for (_, frame), each in zip(sent, deliveries, strict=True)
    ]
    assert set(turned) == {0, 1}
    assert sum(turned) == wire.traffic.undetected > 100


def test_a_delayed_frame_comes_late_and_the_others_in_time():
    wire = Wire(Faults(delay=0.3, seconds=0.01), seed=2)
    sent = [("pc", Frame(0x100, number.to_bytes(2, "big"))) for number in range(200)]
    due = {each.frame: each.time for each in carry(Wire(), sent)}
    deliveries = carry(wire, sent)
    late = [round(each.time - due[each.frame], 9) for each in deliveries]
    assert len(deliveries) == 200
    assert set(late) == {0.0, 0.01}
    assert late.count(0.01) == wire.traffic.delayed > 30
    assert [each.time for each in deliveries] == sorted(each.time for each in deliveries)


def test_the_same_seed_has_the_same_faults():
    faults = Faults(loss=0.1, delay=0.1, corruption=0.1, undetected=0.1)
    first, second, other = (carry(Wire(faults, seed), frames_of(300)) for seed in (7, 7, 8))
    assert first == second != other


@pytest.mark.parametrize("wrong", [{"loss": -0.1}, {"delay": 1.5}, {"corruption": 1.0}, {"seconds": -1.0}])
def test_impossible_faults_are_refused(wrong):
    with pytest.raises(HardwareError, match="give"):
        Faults(**wrong)
