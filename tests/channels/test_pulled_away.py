"""A channel that is truncated, replaced, removed or filled with garbage hurts nobody, and is told or made anew."""

import math
import os
import random
import time
import warnings

import hostile
import numpy as np
import pytest
from robot_processes import wait_for

from wholebody import errors
from wholebody.channels import Channel, directory, wait_any

WORDS = np.dtype([("count", "<i8"), ("words", "<f8", (700,))])


@pytest.fixture
def channel():
    with Channel("test.hostile", WORDS, depth=4, writers=3) as opened:
        yield opened


def put(writer, count):
    writer.message["count"] = count
    writer.put()


def exchange(writer, reader, count):
    """Whether a message goes from one to the other."""
    put(writer, count)
    return reader.latest() and reader.message["count"] == count


@pytest.mark.parametrize("how", hostile.STRIKES)
@pytest.mark.filterwarnings("ignore::wholebody.errors.ChannelRenewed")
def test_a_writer_and_a_reader_find_each_other_again_whatever_was_done_to_their_channel(channel, how):
    dice = random.Random(how)
    writer, reader, counts = channel.writer(), channel.reader(), iter(range(1, 1 << 30))
    assert exchange(writer, reader, next(counts))
    assert hostile.strike(channel.path, how, dice)
    wait_for(lambda: exchange(writer, reader, next(counts)) and heard_by_newcomer(channel.name, writer, next(counts)))


def heard_by_newcomer(name, writer, count):
    """Whether who opens the channel now hears the writer."""
    try:
        with Channel(name, WORDS) as opened, opened.reader() as reader:
            return exchange(writer, reader, count)
    except errors.ChannelError:
        return False


@pytest.mark.slow(but="removed")
@pytest.mark.parametrize("how", ["cut off all", "removed", "replaced by garbage", "garbage in the header"])
def test_a_reader_whose_writer_has_gone_says_so_in_bounded_time(channel, how):
    with channel.writer() as writer:
        put(writer, 1)
    reader = channel.reader()
    assert reader.latest()
    hostile.strike(channel.path, how, random.Random(1))
    begun = time.monotonic()
    with pytest.raises((errors.ChannelGone, errors.NotAChannel)):
        reader.wait(timeout=30.0)
    assert time.monotonic() - begun < 20.0
    with pytest.raises((errors.ChannelGone, errors.NotAChannel)):
        wait_for(reader.latest)


def test_a_wait_on_many_channels_ends_when_one_is_pulled_away(channel):
    with Channel("test.other", "i8") as other:
        readers = [channel.reader(grace=0.0), other.reader(grace=0.0)]
        channel.path.unlink()
        assert wait_any(readers, timeout=30.0) == readers[:1]
        with pytest.raises(errors.ChannelGone, match=r"test\.hostile.*nobody has made it anew"):
            readers[0].latest()


def test_what_was_put_before_a_channel_was_removed_can_still_be_read(channel):
    writer, reader = channel.writer(), channel.reader(grace=0.0)
    for count in (1, 2, 3):
        put(writer, count)
    channel.path.unlink()
    assert [reader.next() and int(reader.message["count"]) for _ in range(3)] == [1, 2, 3]
    with pytest.raises(errors.ChannelGone):
        wait_for(reader.next)


def test_a_reader_of_a_channel_of_ones_own_makes_it_anew(channel):
    with Channel("test.kept", "i8", keep=True) as kept, kept.reader() as reader:
        kept.path.unlink()
        wait_for(lambda: reader.latest() or kept.path.exists())
        with Channel("test.kept", "i8") as other, other.writer() as writer:
            writer.put()
            assert wait_for(reader.latest)


def test_a_writer_warns_when_it_makes_its_channel_anew(channel):
    writer = channel.writer()
    put(writer, 1)
    os.truncate(channel.path, 0)
    with pytest.warns(errors.ChannelRenewed, match=r"'test\.hostile' was pulled away"):
        put(writer, 2)
    assert Channel("test.hostile").newest == 1


def test_writers_of_one_channel_meet_again_in_one(channel):
    writers, reader = [channel.writer() for _ in range(3)], channel.reader()
    channel.path.unlink()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", errors.ChannelRenewed)
        wait_for(
            lambda: (
                all(exchange(writer, reader, number) for number, writer in enumerate(writers, 1))
                and channel.path.exists()
                and len(Channel("test.hostile").writer_processes()) == 3
            )
        )


def test_somebody_elses_channel_in_its_place_does_not_keep_a_writer_out():
    with Channel("test.taken", "i8", writers=1) as channel:
        writer = channel.writer()
        channel.path.unlink()
        with Channel("test.taken", "i8", writers=1) as intruder, intruder.writer():
            theirs = directory.identity("test.taken")
            with pytest.warns(errors.ChannelRenewed):
                wait_for(lambda: writer.put() or directory.identity("test.taken") not in (theirs, None))
            assert Channel("test.taken").newest == writer.sequence


def test_a_sparse_file_that_would_take_all_memory_is_refused(channel):
    size = channel.file_size
    copy = channel.path.with_name("test.sparse")
    copy.write_bytes(channel.path.read_bytes()[: hostile.HEADER + 4096])
    os.truncate(copy, size)
    with pytest.raises(errors.NotAChannel, match="not as long"):
        Channel("test.sparse")


def test_a_pipe_under_a_channels_name_makes_nobody_wait(channels_folder):
    os.mkfifo(channels_folder / "test.pipe")
    with pytest.raises(errors.NotAChannel):
        Channel("test.pipe")


@pytest.mark.filterwarnings("ignore::wholebody.errors.ChannelRenewed")
def test_reading_on_without_end_is_for_those_whose_silence_is_judged_elsewhere(channel):
    reader = channel.reader(grace=math.inf)
    channel.path.unlink()
    until = time.monotonic() + 1.3
    while time.monotonic() < until:
        assert not reader.wait(0.1)
    with Channel("test.hostile", WORDS) as anew:
        put(anew.writer(), 7)
        assert wait_for(reader.latest)
