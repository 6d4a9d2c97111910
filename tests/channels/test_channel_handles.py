"""How long writers and readers live: closed, killed, forked, removed, made at once by many."""

import gc
import multiprocessing
import os
import signal
import subprocess
import time

import numpy as np
import pytest
from counted_channel import in_another_process, put
from robot_processes import wait_for

from wholebody.channels import Channel, directory
from wholebody.errors import ChannelClosed, ChannelGone, ForkedHandle, TooManyWriters, WrongRecord


def test_writers_beyond_the_limit_are_refused_and_a_closed_one_makes_room(channel):
    writers = [channel.writer() for _ in range(4)]
    with pytest.raises(TooManyWriters, match=f"processes {os.getpid()}.*writers="):
        channel.writer()
    writers[2].close()
    put(channel.writer(), 5)
    del writers
    gc.collect()
    assert channel.writer_processes() == [], "a writer that is let go gives its place back"


def test_a_killed_writer_makes_room_for_the_next(channel):
    source = """
import time
from wholebody.channels import Channel
writers = [Channel("test.count").writer() for _ in range(4)]
print("ready", flush=True)
time.sleep(60)
"""
    for _ in range(5):
        process = in_another_process(source, stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "ready\n"
        with pytest.raises(TooManyWriters):
            channel.writer()
        process.kill()
        process.communicate()
    writers = [channel.writer() for _ in range(4)]
    reader = channel.reader()
    for count, writer in enumerate(writers, start=1):
        put(writer, count)
        assert reader.next()
        assert reader.message["count"] == count


def test_closed_handles_say_so(channel):
    writer, reader = channel.writer(), channel.reader()
    for handle in (writer, reader, writer, reader):
        handle.close()
    with pytest.raises(ChannelClosed):
        writer.put()
    for call in (reader.latest, reader.next, reader.wait):
        with pytest.raises(ChannelClosed):
            call()
    channel.close()
    with pytest.raises(ChannelClosed):
        channel.reader()


def test_writers_and_readers_go_on_after_their_channel_is_closed(channel):
    writer, reader = channel.writer(), channel.reader()
    channel.close()
    put(writer, 3)
    assert reader.latest()


def _child_of_a_fork(channel, writer, reader, answers):
    try:
        writer.put()
    except ForkedHandle as error:
        answers.put(str(error))
    answers.put(reader.latest())
    with channel.writer() as own:
        put(own, 99)
    answers.put(os.getpid())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_writer_does_not_survive_fork_but_a_reader_does(channel):
    writer, reader = channel.writer(), channel.reader()
    put(writer, 1)
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=_child_of_a_fork, args=(channel, writer, reader, answers))
    child.start()
    assert "in the child" in answers.get(timeout=20)
    assert answers.get(timeout=20) is True
    process = answers.get(timeout=20)
    child.join(20)
    reader.latest()
    assert (reader.message["count"], reader.process) == (99, process)
    put(writer, 2)
    assert reader.latest()
    assert reader.message["count"] == 2, "the parent's writer is unharmed"


def test_a_forked_child_does_not_keep_its_dead_parents_place(channel):
    source = """
import os, time
from wholebody.channels import Channel
writer = Channel("test.count").writer()
if os.fork() == 0:
    print(os.getpid(), flush=True)
    time.sleep(60)
time.sleep(60)
"""
    parent = in_another_process(source, stdout=subprocess.PIPE, text=True)
    child = int(parent.stdout.readline())
    try:
        assert channel.writer_processes() == [parent.pid]
        parent.kill()
        parent.wait()
        assert channel.writer_processes() == []
    finally:
        os.kill(child, signal.SIGKILL)
        parent.stdout.close()


def test_a_removed_channel_can_be_made_anew_and_its_old_reader_reads_what_is_left(channel):
    writer, reader = channel.writer(), channel.reader(grace=0.0)
    put(writer, 1)
    directory.remove("test.count", force=True)
    with Channel("test.count", [("other", "f4")]) as anew:
        anew.writer().put()
        assert reader.latest()
        assert anew.newest == 1
        with pytest.raises(ChannelGone, match=r"test\.count.*truncated, replaced or removed"):
            wait_for(reader.latest)


def test_processes_that_create_a_channel_at_once_get_the_same_one():
    source = """
import sys, time
from wholebody.channels import Channel
while time.monotonic() < float(sys.argv[1]): pass
for number in range(200):
    channel = Channel(f"test.{number}", "i8", writers=8)
    writer = channel.writer()
    writer.put()
"""
    start = time.monotonic() + 1.0
    processes = [in_another_process(source, start) for _ in range(4)]
    assert [process.wait(60) for process in processes] == [0, 0, 0, 0]
    assert {Channel(f"test.{number}").newest for number in range(200)} == {4}


def test_readers_can_share_one_table_of_messages():
    dtype = np.dtype([("x", "<f8"), ("n", "<i8")])
    table = np.zeros(3, dtype)
    with Channel("one", dtype) as one, Channel("two", dtype) as two, one.writer() as first, two.writer() as second:
        readers = [one.reader(into=table[0:1]), two.reader(into=table[2:3])]
        first.message["x"], second.message["x"] = 1.0, 2.0
        first.put()
        second.put()
        assert [reader.latest() for reader in readers] == [True, True]
        assert list(table["x"]) == [1.0, 0.0, 2.0]
        for wrong in (table, np.zeros(1, "<f8"), np.zeros((1, 1), dtype)):
            with pytest.raises(WrongRecord):
                one.reader(into=wrong)
