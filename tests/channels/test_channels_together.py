"""Many channels in one call: Looks for readers, Copies for writers."""

import numpy as np
import pytest

from wholebody.channels import Channel
from wholebody.channels._ring import Copies, Looks
from wholebody.errors import ChannelClosed

VALUE = np.dtype([("time", "<f8"), ("values", "<f8", (3,))])


def test_looks_takes_the_newest_of_each_and_says_whose_is_new():
    channels = [Channel(f"topic{number}", VALUE) for number in range(4)]
    writers, readers = [each.writer() for each in channels], [each.reader() for each in channels]
    looks = Looks(readers)
    assert looks.latest() == []
    for number, value in ((2, 1.0), (0, 2.0), (2, 3.0)):
        writers[number].message["values"] = value
        writers[number].put()
    assert looks.latest() == [0, 2]
    assert [float(each.message["values"][0]) for each in readers] == [2.0, 0.0, 3.0, 0.0]
    assert [each.sequence for each in readers] == [1, 0, 2, 0]
    assert looks.latest() == [], "each counts once"


def test_copies_put_what_the_numbers_are_then_all_with_one_stamp():
    channels = [Channel(f"topic{number}", VALUE) for number in range(3)]
    readers = [each.reader() for each in channels]
    numbers = np.arange(9.0)
    copies = Copies([(each.writer(), numbers[3 * n : 3 * n + 3].data) for n, each in enumerate(channels)])
    for time in (0.5, 1.5):
        numbers += 100.0
        copies.put(time)
    assert [reader.latest() for reader in readers] == [True] * 3
    assert [reader.message["time"] for reader in readers] == [1.5] * 3
    assert np.concatenate([reader.message["values"] for reader in readers]).tolist() == numbers.tolist()
    assert len({reader.stamp_ns for reader in readers}) == 1


def test_what_is_closed_says_so_and_nothing_crashes():
    channel = Channel("topic", VALUE)
    writer, reader = channel.writer(), channel.reader()
    looks, copies = Looks([reader]), Copies([(writer, np.zeros(3).data)])
    writer.close()
    reader.close()
    with pytest.raises(ChannelClosed):
        looks.latest()
    with pytest.raises(ChannelClosed):
        copies.put(0.0)


def test_what_does_not_fit_is_refused():
    channel = Channel("topic", VALUE)
    writer, reader = channel.writer(), channel.reader()
    with pytest.raises(ValueError, match="do not hold a time and 16 bytes"):
        Copies([(writer, np.zeros(2).data)])
    with pytest.raises((BufferError, ValueError)):
        Copies([(writer, np.zeros(6)[::2])])
    for wrong in ([writer], [reader, None], 3):
        with pytest.raises(TypeError):
            Looks(wrong)
    for wrong in ([(reader, np.zeros(3).data)], [(writer, None)], [writer], 3):
        with pytest.raises(TypeError):
            Copies(wrong)
    with pytest.raises(TypeError):
        Copies([(writer, np.zeros(3).data)]).put("now")
