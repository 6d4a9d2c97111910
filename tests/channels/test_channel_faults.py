"""Bad input and bad files: each a clear error of ours, nothing lost, no process hurt."""

import fcntl
import os
import shutil
import struct
import subprocess
import sys

import numpy as np
import pytest
from robot_processes import wait_for

from wholebody import errors
from wholebody.channels import Channel, _ring

VERSION_OFFSET, DEPTH_OFFSET, LEASES_OFFSET = 8, 16, 80


@pytest.fixture
def channel():
    with Channel("test.faults", [("a", "f8"), ("b", "f8", (4,))], depth=4) as opened:
        opened.writer().put()
        yield opened


def overwrite(path, offset, data):
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(data)


def test_another_layout_under_the_same_name_shows_both_field_by_field(channel):
    with pytest.raises(errors.LayoutMismatch) as caught:
        Channel("test.faults", [("a", "f8"), ("b", "f4", (4,)), ("c", "i2")])
    lines = str(caught.value).splitlines()
    assert any(line.split() == ["a", "float64", "at", "0", "float64", "at", "0"] for line in lines)
    assert any(line.startswith("  ≠ b") and "float32 × 4" in line and "float64 × 4" in line for line in lines)
    assert any(line.startswith("  ≠ c") and "int16" in line and line.endswith("–") for line in lines)
    assert channel.reader().latest(), "and the channel is as it was"


def test_the_same_layout_with_other_joint_names_is_another_layout():
    ours, theirs = (np.dtype([("q", "f8", (2,))], metadata={"joints": names}) for names in (("a", "b"), ("a", "c")))
    Channel("test.labels", ours)
    with pytest.raises(errors.LayoutMismatch, match=r"a, c\s+a, b"):
        Channel("test.labels", theirs)


@pytest.mark.parametrize("name", ["", "a/b", "../a", ".hidden", "-x", "ä", "a b", "a\0b", "x" * 121])
def test_an_illegal_name_is_refused(name):
    with pytest.raises(errors.IllegalName, match="letters, digits"):
        Channel(name, "f8")


def test_a_name_must_be_text():
    with pytest.raises(TypeError, match="str"):
        Channel(3, "f8")


@pytest.mark.parametrize(
    "dtype", [object, [("a", object)], "V8", [("a", "V4")], [], "S0", np.dtype("f8", metadata={"unit": 3})]
)
def test_a_dtype_that_cannot_cross_is_refused(dtype):
    with pytest.raises(errors.BadLayout):
        Channel("test.bad", dtype)
    assert not os.listdir(os.environ["WHOLEBODY_CHANNELS"])


@pytest.mark.parametrize(
    "options",
    [{"dtype": ("u1", (_ring.PAYLOAD_MAX + 1,))}, {"depth": 1}, {"depth": 32769}, {"writers": 0}, {"writers": 1025}],
)
def test_sizes_out_of_range_are_refused_with_the_range(options):
    with pytest.raises(errors.SizeOutOfRange, match=r"at most 67108864.*2 to 32768.*1 to 1024"):
        Channel("test.size", **{"dtype": "f8", **options})


def test_a_full_shared_memory_is_an_error_that_tells_the_room_left():
    with pytest.raises(errors.SharedMemoryFull, match=r"has \d+\.\d MB left.*smaller depth"):
        Channel("test.full", ("u1", (_ring.PAYLOAD_MAX,)), depth=_ring.DEPTH_MAX)
    assert not os.listdir(os.environ["WHOLEBODY_CHANNELS"]), "nothing is left of the attempt"


def test_without_a_dtype_the_channel_must_exist(channel):
    with pytest.raises(errors.ChannelNotFound, match=r"no channel 'test\.fault'.*closest: 'test\.faults'"):
        Channel("test.fault")


def test_a_folder_that_cannot_be_made_is_named(monkeypatch):
    monkeypatch.setenv("WHOLEBODY_CHANNELS", "/dev/shm/no/such")
    with pytest.raises(errors.ChannelNotFound, match="/dev/shm/no/such does not exist"):
        Channel("test.any", "f8")


def test_a_foreign_file_is_no_channel(channels_folder):
    (channels_folder / "test.foreign").write_bytes(b"something else " * 100)
    (channels_folder / "test.empty").touch()
    for name in ("test.foreign", "test.empty"):
        for dtype in ("f8", None):
            with pytest.raises(errors.NotAChannel, match="no channel"):
                Channel(name, dtype)
    assert (channels_folder / "test.foreign").read_bytes().startswith(b"something else"), "nor is it touched"


def test_a_truncated_file_is_refused(channel):
    for size in (100, 500, channel.file_size - 1, channel.file_size + 1):
        copy = channel.path.with_name(f"test.{size}")
        shutil.copy(channel.path, copy)
        os.truncate(copy, size)
        with pytest.raises(errors.NotAChannel, match="not as long as it says"):
            Channel(copy.name)


def test_a_damaged_header_is_refused(channel):
    overwrite(channel.path, DEPTH_OFFSET, struct.pack("<I", 5))
    with pytest.raises(errors.NotAChannel, match="contradict"):
        Channel("test.faults")


def test_a_damaged_layout_is_refused(channel):
    text = channel.path.read_bytes().index(b'{"size"')
    overwrite(channel.path, text, b"\xff\xfe\x00")
    with pytest.raises(errors.NotAChannel, match="layout is unreadable"):
        Channel("test.faults")


def test_a_channel_of_another_version_is_refused(channel):
    overwrite(channel.path, VERSION_OFFSET, struct.pack("<I", _ring.VERSION + 1))
    with pytest.raises(errors.OtherVersion, match="channels rm"):
        Channel("test.faults")


def test_a_channel_from_before_the_machine_restarted_is_refused(channel):
    with open("/proc/sys/kernel/random/boot_id", "rb") as file:
        boot = file.read().strip()
    overwrite(channel.path, channel.path.read_bytes().index(boot), bytes(reversed(boot)))
    with pytest.raises(errors.StaleChannel, match="restarted"):
        Channel("test.faults")


def test_a_reader_of_a_ring_full_of_garbage_raises_until_its_writer_makes_it_anew(channel):
    writer, reader = channel.writer(), channel.reader()
    assert reader.latest()
    entries = channel.path.read_bytes().index(struct.pack("<Q", 1 << 16 | 4))  # message 1 in slot 4, at index 1
    overwrite(channel.path, entries - 8, struct.pack("<4Q", *[1 << 16 | 0xFFFF] * 4))
    with pytest.raises(errors.NotAChannel, match="contradict"):
        wait_for(lambda: channel.reader(grace=0.0).latest())
    overwrite(channel.path, entries - 8, struct.pack("<4Q", *[0xFFFF] * 4))
    with pytest.warns(errors.ChannelRenewed, match=r"test\.faults.*made anew"):
        writer.put()
    assert writer.sequence == 1
    assert wait_for(reader.latest)


def test_a_message_from_the_future_gives_its_content_but_no_age(channel):
    writer, reader = channel.writer(), channel.reader()
    writer.message["a"] = 5
    writer.put_stamped(2**62)
    assert reader.latest()
    assert reader.message["a"] == 5
    with pytest.raises(errors.ClockJumped, match="CLOCK_MONOTONIC"):
        _ = reader.age
    writer.put()
    assert reader.latest()
    assert reader.age >= 0


def test_a_clock_that_jumps_in_another_time_namespace_is_noticed(channel):
    if shutil.which("unshare") is None:
        pytest.skip("unshare is not installed")
    source = "from wholebody.channels import Channel; Channel('test.faults').writer().put()"
    run = subprocess.run(
        ["unshare", "--time", "--monotonic", "100000", "--fork", sys.executable, "-c", source],
        capture_output=True,
        text=True,
        timeout=30,
    )
    if run.returncode:
        pytest.skip(f"no time namespaces here: {run.stderr.strip()[-200:]}")
    reader = channel.reader()
    assert reader.latest()
    with pytest.raises(errors.ClockJumped):
        _ = reader.age
    assert not reader.wait(0.05), "waiting goes by our own clock"


def test_a_stamp_before_time_began_is_refused(channel):
    with pytest.raises(ValueError, match="at least 0"):
        channel.writer().put_stamped(-1)


def test_a_stopped_process_in_the_middle_of_registering_is_an_error_not_a_hang(channel):
    with open(channel.path, "r+b") as file:
        registration = (1 << 48) + 16  # the byte after those of the 16 writers
        lock = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, registration, 1, 0)
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, lock)
        with pytest.raises(errors.RegistrationBusy, match="continue or kill"):
            channel.writer()
    channel.writer().put()


def test_a_writer_stopped_just_before_its_swap_keeps_no_newcomer_out():
    with Channel("test.stopped", "i8", depth=4, writers=2) as channel:
        stopped, other, reader = channel.writer(), channel.writer(), channel.reader()
        leases = struct.unpack_from("<Q", channel.path.read_bytes(), LEASES_OFFSET)[0]
        mine = struct.unpack_from("<H", channel.path.read_bytes(), leases)[0]
        about_to_take = 1  # message 1 displaces slot 1
        overwrite(channel.path, leases, struct.pack("<HH", mine, about_to_take))
        other.put()  # gets slot 1 instead
        other.close()  # and gives it back, while the stopped writer still seems to want it
        newcomer = channel.writer()
        for count in range(20):
            writer = (newcomer, stopped)[count % 2]
            writer.message[...] = count
            writer.put()
            assert reader.latest()
            assert reader.message == count


def test_every_error_is_ours_and_in_the_drawn_tree():
    drawn = errors.__doc__
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    assert len(kinds) > 20
    for kind in kinds:
        assert kind.__name__ in drawn, f"{kind.__name__} is missing in the docstring of errors.py"
        assert issubclass(kind, errors.WholebodyError | Warning)
        assert kind.__doc__
