"""Logs: every message once and in order, to the last bit, readable by others, also when the disk is full."""

import os
import signal
import subprocess
import sys
import threading
import time
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from robot_processes import MAIN, wait_for, wholebody

from wholebody import messages, robots
from wholebody.channels import Channel
from wholebody.channels.recording.cdr import Cdr
from wholebody.channels.recording.playback import Recording
from wholebody.channels.recording.recorder import Recorder
from wholebody.errors import BadRecording, UnknownName

needs_mcap = pytest.mark.skipif(not (find_spec("mcap") and find_spec("lz4")), reason="mcap and lz4 are not installed")
needs_rosbags = pytest.mark.skipif(not find_spec("rosbags"), reason="rosbags is not installed")

STATE = robots.load("hubo2plus").state_dtype()
INSIDE = np.dtype([("x", "<i4"), ("s", "S3", (2,))], align=True)
ODD = np.dtype(
    [("a", "u1"), ("b", "<f8"), ("t", "S5"), ("c", "<u2", (3,)), ("n", INSIDE, (2,)), ("last", "?")], align=True
)
LAYOUTS = {"state": STATE, "event": messages.event(), "reference": messages.reference(["a", "b"]), "odd": ODD}


def noise(dtype, seed):
    """A record of random bytes, with text that ends with zeros and bits that are true or false."""
    record = np.zeros(1, dtype)
    rng = np.random.default_rng(seed)

    def fill(array):
        if array.dtype.names is not None:
            for name in array.dtype.names:
                fill(array[name])
        elif array.dtype.kind == "S":
            array[...] = np.array(rng.choice([b"", b"ab", b"xyz"], array.shape), array.dtype)
        elif array.dtype.kind == "b":
            array[...] = rng.random(array.shape) < 0.5
        elif array.dtype.kind == "f":
            array[...] = rng.normal(size=array.shape)
        else:
            array[...] = rng.integers(0, 100, array.shape)

    fill(record)
    return record


@pytest.mark.parametrize("name", LAYOUTS)
@given(seed=some.integers(0, 2**32))
def test_a_record_comes_back_from_cdr_to_the_last_bit(name, seed):
    cdr = Cdr(f"robot.{name}", LAYOUTS[name])
    record, back = noise(LAYOUTS[name], seed), np.zeros(1, LAYOUTS[name])
    cdr.decode(cdr.encode(record.view(np.uint8).reshape(-1)), back.view(np.uint8).reshape(-1))
    assert back.tobytes() == record.tobytes()


@needs_rosbags
@pytest.mark.parametrize("name", LAYOUTS)
def test_other_peoples_tools_read_the_same_numbers_from_it(name):
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    store, cdr, record = get_typestore(Stores.EMPTY), Cdr(f"robot.{name}", LAYOUTS[name]), noise(LAYOUTS[name], 1)
    store.register(get_types_from_msg(cdr.definition, cdr.name))
    read = store.deserialize_cdr(cdr.encode(record.view(np.uint8).reshape(-1)), cdr.name)

    def same(theirs, ours):
        if ours.dtype.names is not None and ours.shape == ():
            for field in ours.dtype.names:
                same(getattr(theirs, field), ours[field])
        elif ours.dtype.names is not None:
            for one, other in zip(theirs, ours.ravel(), strict=True):
                same(one, other)
        elif ours.dtype.kind == "S":
            assert np.array_equal(np.ravel(theirs), [each.decode() for each in np.ravel(ours)])
        else:
            assert np.array_equal(np.ravel(theirs), np.ravel(ours))

    same(read, record[0])


def write(name, dtype, count, first=0):
    with Channel(name, dtype, depth=4096) as channel, channel.writer() as writer:
        for number in range(first, first + count):
            writer.message["time"] = number
            writer.put()


@needs_mcap
def test_every_message_is_there_once_and_in_order_with_its_time(tmp_path):
    write("robot.state", STATE, 10)
    write("robot.other", messages.event(), 5)
    with Recorder(tmp_path / "run.mcap", ["robot.state", "new.*"]) as recorder:
        while recorder.record(0.05):
            pass
        write("robot.state", STATE, 500, first=10)
        write("new.event", messages.event(), 3)
    recording = Recording(tmp_path / "run.mcap")
    assert recording.whole
    assert recording.counts == {"robot.state": 510, "new.event": 3}
    assert recorder.lost == 0
    played = list(recording.messages(["robot.state"]))
    assert [each.record["time"] for each in played] == list(range(510))
    assert [each.sequence for each in played] == list(range(1, 511))
    stamps = [each.stamp for each in played]
    assert stamps == sorted(stamps)
    assert 0 <= time.monotonic() - stamps[-1] < 60
    assert recording.layouts["robot.state"] == STATE
    assert messages.labels(recording.layouts["robot.state"]) == messages.labels(STATE)
    with pytest.raises(UnknownName, match=r"closest: 'robot\.state'"):
        list(recording.messages(["robot.stat"]))


@needs_mcap
def test_the_file_is_an_mcap_of_ros_2_with_an_index(tmp_path):
    from mcap.reader import make_reader

    write("robot.state", STATE, 2000)
    with Recorder(tmp_path / "run.mcap"):
        pass
    with open(tmp_path / "run.mcap", "rb") as stream:
        reader = make_reader(stream)
        assert reader.get_header().profile == "ros2"
        summary = reader.get_summary()
        assert summary.statistics.message_count == 2000
        assert {chunk.compression for chunk in summary.chunk_indexes} == {"lz4"}
        assert [each.encoding for each in summary.schemas.values()] == ["ros2msg"]
        assert [each.topic for each in summary.channels.values()] == ["/robot/state"]


@needs_mcap
def test_messages_that_were_overwritten_are_counted(tmp_path):
    with Channel("robot.state", STATE, depth=8) as channel, channel.writer() as writer:
        writer.put()
        with Recorder(tmp_path / "run.mcap") as recorder:
            recorder.record(0.1)
            for _ in range(20):
                writer.put()
        assert recorder.count == 9
        assert recorder.lost == 12


def wake_ups(channel):
    """How often a put had to wake somebody who waited: it stands in the last line of the channel's header."""
    data = channel.path.read_bytes()
    header_size = int.from_bytes(data[12:16], "little")
    return int.from_bytes(data[header_size - 64 : header_size - 60], "little") >> 1


@needs_mcap
@pytest.mark.parametrize(("depth", "waits"), [(1024, False), (8, True)])
def test_a_recorder_of_a_deep_channel_never_makes_its_writer_call_the_system(tmp_path, depth, waits):
    with Channel("robot.state", STATE, depth=depth) as channel, channel.writer() as writer:
        over = threading.Event()

        def put():
            while not over.wait(0.001):
                writer.put()

        with Recorder(tmp_path / "run.mcap") as recorder:
            recorder.record()
            thread = threading.Thread(target=put)
            thread.start()
            wait_for(lambda: (recorder.record(), recorder.count > 100)[1])
            over.set()
            thread.join()
        assert waits or recorder.lost == 0
        assert bool(wake_ups(channel)) is waits


@needs_mcap
def test_a_file_that_ends_anywhere_is_read_up_to_there(tmp_path):
    write("robot.state", STATE, 1500)
    with Recorder(tmp_path / "run.mcap"):
        pass
    data = (tmp_path / "run.mcap").read_bytes()
    before = 0
    for share in (0.3, 0.6, 0.9):
        (tmp_path / "cut.mcap").write_bytes(data[: int(share * len(data))])
        recording = Recording(tmp_path / "cut.mcap")
        assert not recording.whole
        times = [each.record["time"] for each in recording.messages()]
        assert times == list(range(len(times)))
        assert len(times) >= before
        before = len(times)
    assert before > 0
    for text in (b"", b"no log at all", data[:5]):
        (tmp_path / "none.mcap").write_bytes(text)
        with pytest.raises(BadRecording, match="no MCAP"):
            Recording(tmp_path / "none.mcap")
    with pytest.raises(BadRecording, match="cannot be read"):
        Recording(tmp_path / "nowhere.mcap")
    with pytest.raises(BadRecording, match="cannot be written"):
        Recorder(tmp_path / "no folder" / "run.mcap")


@needs_mcap
def test_a_channel_that_is_removed_and_made_anew_is_recorded_on(tmp_path):
    layouts = [np.dtype("<f8"), np.dtype("<f8"), np.dtype("<i4")]
    with Recorder(tmp_path / "run.mcap", ["robot.*"]) as recorder:
        for number, layout in enumerate(layouts):
            with Channel("robot.value", layout) as channel, channel.writer() as writer:
                for _ in range(5):
                    writer.message[...] = number
                    writer.put()
                wait_for(lambda number=number: recorder.record() >= 0 and recorder.count == 5 * (number + 1), 20)
                channel.path.unlink()
        assert recorder.lost == 0
    assert Recording(tmp_path / "run.mcap").counts["robot.value"] == 15


SMALL = """
import resource, sys, time
from wholebody.channels import Channel
from wholebody.channels.recording.recorder import Recorder
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with Recorder(sys.argv[1], ["robot.*"]) as recorder:
    print("ready", flush=True)
    until = time.monotonic() + 30
    while not recorder.full and time.monotonic() < until:
        recorder.record(0.05)
print("full" if recorder.full else "not full", recorder.count)
"""


@needs_mcap
def test_when_there_is_no_room_left_the_log_is_closed_in_good_order_and_nobody_else_notices(tmp_path):
    limit = 3_000_000
    rng = np.random.default_rng(0)
    with Channel("robot.state", STATE, depth=64) as channel, channel.writer() as writer:
        command = [sys.executable, "-c", SMALL, str(tmp_path / "run.mcap"), str(limit)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout.readline() == "ready\n"
            number = 0
            while process.poll() is None:
                writer.raw[:] = rng.integers(0, 256, len(writer.raw), np.uint8)  # nothing that could be packed
                writer.message["time"] = number
                writer.put()
                number += 1
                time.sleep(0.0003)
            said = process.stdout.read().split()
    assert said[0] == "full"
    assert (tmp_path / "run.mcap").stat().st_size <= limit
    recording = Recording(tmp_path / "run.mcap")
    assert recording.whole, "with its end"
    assert recording.counts["robot.state"] == int(said[1]) > 100


VALUE = np.dtype([("time", "<f8"), ("values", "<f8", (3,))])


def write_values(count):
    """Put so many messages whose second value is twice, whose third the negative of the first."""
    with Channel("robot.value", VALUE, depth=512) as channel, channel.writer() as writer:
        for number in range(count):
            writer.message["time"], writer.message["values"] = 0.01 * number, [number, 2 * number, -number]
            writer.put()


@pytest.fixture
def logged(tmp_path):
    """A log of 200 values."""
    file = tmp_path / "run.mcap"
    write_values(200)
    with Recorder(file, ["robot.*"]) as recorder:
        while recorder.record(0.05):
            pass
    return file


@needs_mcap
def test_the_command_log_writes_what_is_put_until_it_is_interrupted(tmp_path):
    file = tmp_path / "run.mcap"
    with Channel("robot.value", VALUE, depth=512):
        process = subprocess.Popen(
            [*MAIN, "log", str(file), "--channels", "robot.*"], stderr=subprocess.PIPE, text=True
        )
        wait_for(file.exists, 40)
        write_values(200)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
    assert process.returncode == 0
    assert "200 messages of 1 channels" in said
    assert os.path.getsize(file) < 100_000


@needs_mcap
def test_the_command_plot_draws_a_log(logged):
    picture = logged.with_name("p.png")
    drawn = wholebody("plot", logged, "robot.value", "robot.value.values[1]", "--out", picture)
    assert "400 points in 2 curves" in drawn.stdout
    assert picture.read_bytes()[:4] == b"\x89PNG"


@needs_mcap
def test_the_command_replay_puts_a_log_again(logged):
    wholebody("replay", logged, "--speed", 0, "--prefix", "again")
    with Channel("again.robot.value") as again, again.reader() as reader:
        assert reader.latest()
        assert reader.message["values"].tolist() == [199.0, 398.0, -199.0]
        assert again.newest == 200
