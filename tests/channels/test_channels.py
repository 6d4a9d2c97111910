"""The contract of a channel, law by law."""

import os
import signal
import subprocess
import threading
import time

import numpy as np
import pytest
from counted_channel import COUNT, in_another_process, put

from wholebody.channels import Channel, Layout, wait_any
from wholebody.errors import ReaderBusy


def test_what_a_mirror_lost_counts_as_missed_by_each_reader(channel):
    with channel.writer() as mirror, channel.writer() as other:
        reader = channel.reader()

        def missed(lost, writer=mirror):
            writer.put_stamped(1, lost)
            assert reader.next()
            return reader.missed

        assert missed(5) == 0, "before the first message nobody missed any"
        assert [missed(5), missed(8), missed(8)] == [0, 3, 0]
        assert missed(0, other) == 0, "a message that was put here is not behind another"
        assert missed(9) == 1
        late = channel.reader()
        assert late.next()
        mirror.put_stamped(1, 11)
        mirror.put_stamped(1, 12)
        assert reader.latest()
        assert reader.missed == 3 + 1, "one of them is passed over here, too"
        assert reader.missed_total == 8


def test_latest_gives_the_newest_message_and_then_nothing_new(channel):
    writer, reader = channel.writer(), channel.reader()
    assert not reader.latest()
    put(writer, 1, 2, 3)
    assert reader.latest()
    assert (reader.message["count"], reader.sequence, reader.missed) == (3, 3, 0)
    assert not reader.latest()
    assert reader.message["count"] == 3, "what was read last can be read again"


def test_next_gives_every_message_in_order(channel):
    writer, reader = channel.writer(), channel.reader()
    put(writer, *range(1, 9))
    taken = []
    while reader.next():
        taken.append(int(reader.message["count"]))
    assert taken == list(range(1, 9))


def test_next_counts_the_messages_that_were_overwritten(channel):
    writer, reader = channel.writer(), channel.reader()
    put(writer, 1)
    assert reader.next()
    put(writer, *range(2, 21))
    assert reader.next()
    assert (reader.sequence, reader.missed) == (13, 11), "depth 8 keeps 13 to 20"
    assert reader.missed_total == 11


def test_at_fetches_any_message_still_kept_and_moves_nothing(channel):
    writer, reader = channel.writer(), channel.reader()
    put(writer, *range(1, 13))
    reader.latest()
    assert reader.at(5)
    assert (reader.message["count"], reader.sequence) == (5, 5)
    assert not reader.at(4), "overwritten"
    assert not reader.at(13), "not yet put"
    assert not reader.at(0)
    assert (reader.message["count"], reader.sequence) == (5, 5), "a failed look spoils nothing"
    put(writer, 13)
    assert reader.next()
    assert reader.sequence == 13


def test_readers_do_not_disturb_each_other_or_the_writer(channel):
    writer, first, second = channel.writer(), channel.reader(), channel.reader()
    put(writer, 1, 2)
    assert first.latest()
    assert second.next()
    assert (first.sequence, second.sequence) == (2, 1)


def test_sequences_of_several_writers_are_one_total_order_without_holes(channel):
    writers, reader = [channel.writer() for _ in range(4)], channel.reader()
    sequences, stamps = [], []
    for round_ in range(50):
        put(writers[round_ % 4], round_)
        assert reader.next()
        sequences.append(reader.sequence)
        stamps.append(reader.stamp_ns)
    assert sequences == list(range(1, 51))
    assert stamps == sorted(stamps)


def test_the_stamp_is_the_instant_of_the_put_and_age_counts_from_it(channel):
    writer, reader = channel.writer(), channel.reader()
    assert reader.age == float("inf")
    before = time.monotonic_ns()
    put(writer, 1)
    after = time.monotonic_ns()
    reader.latest()
    assert before <= reader.stamp_ns <= after
    assert reader.stamp == pytest.approx(reader.stamp_ns * 1e-9)
    first = reader.age
    assert 0 <= first <= reader.age


def test_a_message_knows_the_process_that_put_it(channel):
    put(channel.writer(), 1)
    reader = channel.reader()
    reader.latest()
    assert reader.process == os.getpid()


def test_what_is_not_filled_again_stays_as_it_was(channel):
    writer, reader = channel.writer(), channel.reader()
    put(writer, 7)
    writer.message["count"] = 8
    writer.put()
    reader.latest()
    assert reader.message["count"] == 8
    assert (reader.message["filling"] == 7).all()


def test_a_read_message_cannot_be_changed_by_mistake(channel):
    reader = channel.reader()
    with pytest.raises(ValueError, match="read-only"):
        reader.message["filling"][0] = 1


@pytest.mark.parametrize("dtype", ["f8", ("f4", (3,)), [("a", "u1"), ("b", "f8")], [("text", "S9")]])
def test_any_layout_of_plain_data_crosses(dtype):
    with Channel("test.any", dtype) as channel:
        writer, reader = channel.writer(), channel.reader()
        writer.raw[:] = np.arange(1, 1 + channel.dtype.itemsize)
        writer.put()
        assert reader.latest()
        assert reader.raw.tobytes() == writer.raw.tobytes() == np.asarray(reader.message).tobytes()
        assert Channel("test.any").layout == Layout.of(dtype), "and can be opened without knowing the dtype"


def test_messages_outlive_their_writer(channel):
    with channel.writer() as writer:
        put(writer, 1, 2)
    reader = channel.reader()
    assert reader.latest()
    assert reader.message["count"] == 2


def test_an_existing_channel_keeps_its_depth(channel):
    assert Channel("test.count", COUNT, depth=1000).depth == 8


def test_wait_returns_at_once_when_there_is_something_unread(channel):
    writer, reader = channel.writer(), channel.reader()
    put(writer, 1, 2)
    assert reader.wait(timeout=0, mode="next")
    assert reader.sequence == 1
    assert reader.wait(timeout=0)
    assert reader.sequence == 2
    assert not reader.wait(timeout=0)


@pytest.mark.parametrize("spin", [0.0, 0.02, 10.0])
def test_wait_gives_up_when_the_time_is_over_and_not_before(channel, spin):
    reader = channel.reader()
    start = time.monotonic()
    assert not reader.wait(timeout=0.12, spin=spin)
    assert time.monotonic() - start >= 0.12
    until = time.monotonic() + 0.03
    assert not reader.wait(until=until, spin=spin)
    assert time.monotonic() >= until


@pytest.mark.parametrize("spin", [0.0, 10.0])
def test_wait_wakes_for_a_put_of_another_process(channel, spin):
    source = """
from wholebody.channels import Channel
ask, answer = Channel("test.count").reader(), Channel("test.answer").writer()
while ask.wait(20, mode="next") and ask.message["count"] >= 0:
    answer.message["count"] = ask.message["count"]
    answer.put()
"""
    answers = Channel("test.answer", COUNT).reader()
    process = in_another_process(source)
    writer = channel.writer()
    try:
        for count in range(200):
            put(writer, count)
            assert answers.wait(20, spin=spin)
            assert answers.message["count"] == count
    finally:
        put(writer, -1)
        assert process.wait(20) == 0


def test_other_threads_run_while_one_waits(channel):
    reader, ran = channel.reader(), threading.Event()
    thread = threading.Thread(target=lambda: reader.wait(20))
    thread.start()
    ran.set()  # would not be reached before the wait is over if it held the GIL
    put(channel.writer(), 1)
    thread.join(20)
    assert ran.is_set()
    assert not thread.is_alive()
    assert reader.sequence == 1


def latest_until(reader, deadline):
    while time.monotonic() < deadline:
        reader.latest()


def test_one_reader_serves_one_thread_at_a_time(channel):
    reader, writer = channel.reader(), channel.writer()
    thread = threading.Thread(target=lambda: reader.wait(20))
    thread.start()
    deadline = time.monotonic() + 20
    with pytest.raises(ReaderBusy, match="reader of its own"):
        latest_until(reader, deadline)
    put(writer, 1)
    thread.join(20)
    assert not thread.is_alive()


def test_ctrl_c_interrupts_a_wait(channel):
    source = """
from wholebody.channels import Channel
reader = Channel("test.count").reader()
print("waiting", flush=True)
reader.wait()
"""
    process = in_another_process(source, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "waiting\n"
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    assert "KeyboardInterrupt" in process.communicate(timeout=20)[1]


def test_wait_any_names_the_readers_that_have_something_new(channel):
    other = Channel("test.other", COUNT)
    readers = [channel.reader(), other.reader(), channel.reader()]
    start = time.monotonic()
    assert wait_any(readers, timeout=0.07) == []
    assert time.monotonic() - start >= 0.07
    put(other.writer(), 1)
    assert wait_any(readers, timeout=20) == [readers[1]]
    assert readers[1].latest()
    assert wait_any(readers, timeout=0) == []
    timer = threading.Timer(0.1, put, (channel.writer(), 2))
    timer.start()
    assert wait_any(readers, timeout=20) == [readers[0], readers[2]]
    timer.join()


def test_wait_any_takes_a_sensible_number_of_readers(channel):
    with pytest.raises(ValueError, match="1 to 64"):
        wait_any([])
    with pytest.raises(ValueError, match="1 to 64"):
        wait_any([channel.reader() for _ in range(65)])
    with pytest.raises(TypeError, match="readers"):
        wait_any(["reader"])


def test_the_time_to_wait_must_make_sense(channel):
    reader = channel.reader()
    with pytest.raises(ValueError, match="not a number"):
        reader.wait(float("nan"))
    with pytest.raises(TypeError, match="not both"):
        reader.wait(timeout=1, until=1)
    with pytest.raises(ValueError, match="'latest' or 'next'"):
        reader.wait(mode="newest")
    assert not reader.wait(-1)
    assert not reader.wait(until=0)
