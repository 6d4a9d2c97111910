"""What arrives on another machine, and what may happen on the way."""

import contextlib
import signal
import socket
import threading
import time

import numpy as np
import pytest
from robot_processes import wait_for
from two_machines import OTHER, STATE, Machine, keep_putting_until, newest, put, reader_of, state_of

from wholebody.channels import Layout
from wholebody.channels.bridge.bridge import Bridge

# --- What arrives -------------------------------------------------------------------------------------


def test_messages_arrive_whole_and_in_order_and_the_last_one_always(far, near, port):
    writer = far.channel("hubo.state", STATE).writer()
    far.bridge("--listen", port, "--export", "hubo.state", "--rate", 5000)
    near.bridge("--connect", port, "--import", "hubo.state")
    reader = reader_of(near, "hubo.state")
    keep_putting_until(writer, lambda: newest(reader) > 0)
    start, seen = int(writer.message["count"]), []
    for count in range(start + 1, start + 1001):
        put(writer, count)
        while reader.next():
            assert (reader.message["position"] == reader.message["count"]).all()
            seen.append(int(reader.message["count"]))
        time.sleep(0.0005)
    wait_for(lambda: newest(reader) == start + 1000)
    assert len(seen) > 100
    assert seen == sorted(set(seen))


def test_bursts_within_the_rate_arrive_whole(far, near, port):
    writer = far.channel("hubo.state", STATE).writer()
    far.bridge("--listen", port, "--export", "hubo.state", "--rate", 100_000)
    near.bridge("--connect", port, "--import", "hubo.state")
    reader = reader_of(near, "hubo.state")
    keep_putting_until(writer, lambda: newest(reader) > 0)
    wait_for(lambda: newest(reader) == int(writer.message["count"]))
    seen, start = [], int(writer.message["count"])
    for count in range(start + 1, start + 201):
        put(writer, count)
        while (count - start) % 10 == 0 and (not seen or seen[-1] < count):  # ten at once, then until the last has come
            if reader.wait(20, mode="next"):
                seen.append(int(reader.message["count"]))
    assert seen == list(range(start + 1, start + 201))


@pytest.mark.slow
def test_a_reader_is_told_of_every_message_that_the_bridge_dropped(far, near, port):
    writer = far.channel("hubo.state", STATE).writer()
    far.bridge("--listen", port, "--export", "hubo.state", "--rate", 200)
    importer = near.bridge("--connect", port, "--import", "hubo.state")
    reader = reader_of(near, "hubo.state")
    keep_putting_until(writer, lambda: newest(reader) > 0)
    first, missed, seen = int(reader.message["count"]), reader.missed_total, []

    def told_all_until(count):
        while reader.next():
            seen.append(int(reader.message["count"]))
            assert seen[-1] == (seen[-2] if len(seen) > 1 else first) + 1 + reader.missed
        return seen and seen[-1] == count

    last = int(writer.message["count"]) + 1000
    for count in range(last - 999, last + 1):
        if count % 500 in (100, 400):  # as if the link were cut for a while
            importer.send_signal(signal.SIGSTOP if count % 500 == 100 else signal.SIGCONT)
        put(writer, count)
        time.sleep(0.0005)
        told_all_until(count)
    importer.send_signal(signal.SIGCONT)
    wait_for(lambda: told_all_until(last))
    assert len(seen) < 900, "the control: it dropped many"
    assert reader.missed_total - missed == last - first - len(seen)


def test_a_burst_is_thinned_to_the_rate_and_its_last_message_gets_through(far, near, port):
    writer = far.channel("hubo.state", STATE).writer()
    far.bridge("--listen", port, "--export", "hubo.state", "--rate", 10)
    near.bridge("--connect", port, "--import", "hubo.state")
    reader = reader_of(near, "hubo.state")
    for count in range(1, 1001):
        put(writer, count)
    wait_for(lambda: newest(reader) == 1000)
    assert reader.sequence < 100


@pytest.mark.slow
def test_the_rate_limit_holds(far, near, port):
    writer = far.channel("hubo.state", STATE).writer()
    far.bridge("--listen", port, "--export", "hubo.state", "--rate", 20)
    near.bridge("--connect", port, "--import", "hubo.state")
    reader = reader_of(near, "hubo.state")
    keep_putting_until(writer, lambda: newest(reader) > 0)
    before, start = reader.sequence, time.monotonic()
    keep_putting_until(writer, lambda: time.monotonic() > start + 1)
    wait_for(lambda: newest(reader) == int(writer.message["count"]))
    assert reader.sequence - before <= 20 * (time.monotonic() - start) + 5


@pytest.mark.slow
def test_a_message_put_before_the_importer_starts_reaches_it(far, near, port):
    put(far.channel("settings", STATE).writer(), 7)
    far.bridge("--listen", port, "--export", "settings")
    near.bridge("--connect", port, "--import", "settings")
    reader = reader_of(near, "settings")
    wait_for(lambda: newest(reader) == 7)
    assert reader.sequence == 1


DTYPES = {
    "labels": STATE,
    "gaps": np.dtype({"names": ["a", "b"], "formats": [">i4", ("S5", (2,))], "offsets": [8, 20], "itemsize": 64}),
    "nested": np.dtype([("imu", [("q", "<f4", (4,)), ("ok", "?")], (2,))]),
    "array": np.dtype(("<f4", (3, 2))),
    "number": np.dtype("<u2"),
}


def test_every_mirror_has_the_layout_and_the_bytes_of_the_original(far, near, port):
    writers = {name: far.channel(name, dtype, depth=5).writer() for name, dtype in DTYPES.items()}
    for writer in writers.values():
        raw = writer.message.base.view(np.uint8).reshape(-1)
        raw[:] = np.random.default_rng(1).integers(0, 2, len(raw))
        writer.put()
    far.bridge("--listen", port, *(word for name in DTYPES for word in ("--export", name)))
    near.bridge("--connect", port, *(word for name in DTYPES for word in ("--import", name)))
    for name, dtype in DTYPES.items():
        reader = reader_of(near, name)
        assert reader.wait(20)
        mirror = near.channel(name)
        assert mirror.layout.hash == far.channel(name).layout.hash == Layout.of(dtype).hash
        assert dict(mirror.dtype.metadata or {}) == dict(dtype.metadata or {})
        assert mirror.depth == 5
        assert reader.message.tobytes() == writers[name].message.tobytes()


def test_a_large_message_arrives_whole(far, near, port):
    image = np.dtype([("count", "<i8"), ("pixels", "u1", (1080, 1920, 3))])
    writer = far.channel("camera", image, depth=3).writer()
    writer.message["pixels"][:] = np.random.default_rng(1).integers(0, 256, (1080, 1920, 3))
    far.bridge("--listen", port, "--export", "camera")
    near.bridge("--connect", port, "--import", "camera")
    reader = reader_of(near, "camera")
    keep_putting_until(writer, lambda: newest(reader) > 0)
    assert (reader.message["pixels"] == writer.message["pixels"]).all()


# --- What may happen on the way -----------------------------------------------------------------------


@pytest.mark.slow(but="importer-exporter")
@pytest.mark.parametrize("listener", ["exporter", "importer"])
@pytest.mark.parametrize("killed", ["exporter", "importer"])
def test_either_side_may_be_killed_and_return(far, near, port, listener, killed):
    writer = far.channel("hubo.state", STATE).writer()
    sides = {
        "exporter": (far, ("--export", "hubo.state")),
        "importer": (near, ("--import", "hubo.state")),
    }

    def start(side):
        machine, job = sides[side]
        return machine.bridge("--listen" if side == listener else "--connect", port, *job)

    running = {side: start(side) for side in sides}
    reader = reader_of(near, "hubo.state")
    keep_putting_until(writer, lambda: newest(reader) > 0)
    running[killed].kill()
    running[killed].wait()
    while reader.wait(0.3):
        pass
    last = newest(reader)
    put(writer, keep_putting_until(writer, lambda: True) + 100)
    time.sleep(0.3)
    assert newest(reader) == last  # the control: nobody else carries it across
    start(killed)
    wait_for(lambda: newest(reader) == int(writer.message["count"]))
    keep_putting_until(writer, lambda: newest(reader) > last + 110)


@pytest.mark.slow
def test_the_connecting_side_may_start_first(far, near, port):
    writer = far.channel("hubo.state", STATE).writer()
    near.bridge("--connect", f"tcp/{port}", "--import", "hubo.state")
    time.sleep(1)
    far.bridge("--listen", port, "--export", "hubo.state")
    reader = reader_of(near, "hubo.state")
    keep_putting_until(writer, lambda: newest(reader) > 0)


@pytest.mark.slow
def test_an_export_may_wait_for_its_channel_which_may_be_made_anew(far, near, port):
    exporter = far.bridge("--listen", port, "--export", "hubo.state")
    with Bridge(connect=[port], imports=["hubo.state"]) as bridge:
        assert "waiting for channel" in exporter.stdout.readline()
        wait_for(lambda: state_of(bridge, "hubo.state").state == "waiting for channel")
        writer = far.channel("hubo.state", STATE).writer()
        put(writer, 5000)
        reader = reader_of(near, "hubo.state")
        wait_for(lambda: newest(reader) == 5000)
        (far.folder / "hubo.state").unlink()
        writer = far.channel("hubo.state", STATE).writer()
        put(writer, 1)
        wait_for(lambda: newest(reader) == 1)


@pytest.mark.slow
def test_a_stopped_importer_blocks_no_writer_and_then_gets_the_newest(far, near, port):
    writer = far.channel("hubo.state", STATE).writer()
    far.bridge("--listen", port, "--export", "hubo.state")
    importer = near.bridge("--connect", port, "--import", "hubo.state")
    reader = reader_of(near, "hubo.state")
    keep_putting_until(writer, lambda: newest(reader) > 0)
    importer.send_signal(signal.SIGSTOP)
    longest, end, count = 0.0, time.monotonic() + 1.5, int(writer.message["count"])
    while time.monotonic() < end:
        count += 1
        before = time.monotonic()
        put(writer, count)
        longest = max(longest, time.monotonic() - before)
        time.sleep(0.001)
    importer.send_signal(signal.SIGCONT)
    wait_for(lambda: newest(reader) == count)
    assert longest < 1


def relay(listening, target, bytes_per_second):
    """Carry what one side sends quickly and what the other answers slowly, with little room on the way."""

    def pump(source, sink, pause):
        with contextlib.suppress(OSError), source, sink:
            while data := source.recv(2048):
                sink.sendall(data)
                time.sleep(pause * len(data))
            sink.shutdown(socket.SHUT_RDWR)

    client = listening.accept()[0]
    server = socket.create_connection(target)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16384)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16384)
    for source, sink, pause in ((client, server, 0), (server, client, 1 / bytes_per_second)):
        threading.Thread(target=pump, args=(source.dup(), sink.dup(), pause), daemon=True).start()
    client.close()
    server.close()


@pytest.mark.slow
def test_a_slow_link_drops_messages_and_does_not_queue_them(far, near, port):
    writer = far.channel("hubo.state", STATE).writer()
    exporter = far.bridge("--listen", port, "--export", "hubo.state")
    exporter.stdout.readline()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        near.bridge("--connect", f"127.0.0.1:{listening.getsockname()[1]}", "--import", "hubo.state")
        relay(listening, ("127.0.0.1", int(port.split(":")[1])), bytes_per_second=150_000)
        reader = reader_of(near, "hubo.state")
        keep_putting_until(writer, lambda: newest(reader) > 0)
        end, count = time.monotonic() + 2, int(writer.message["count"])
        while time.monotonic() < end:
            count += 1
            put(writer, count)
            time.sleep(0.001)
        newest(reader)
        before = reader.sequence
        wait_for(lambda: newest(reader) == count)
        queued = reader.sequence - before
    assert queued < 150  # as many as fit in small buffers; with those of the system it is six hundred


@pytest.mark.slow
def test_two_exporters_of_one_name_are_never_mixed(far, near, port, channels_folder):
    rival = Machine(channels_folder / "rival")
    try:
        ours, theirs = (machine.channel("hubo.state", STATE).writer() for machine in (far, rival))
        put(ours, 1)
        put(theirs, -1)
        first = far.bridge("--connect", port, "--export", "hubo.state")
        with Bridge(listen=[port], imports=["hubo.state"]) as bridge:
            reader = reader_of(near, "hubo.state")
            wait_for(lambda: newest(reader) == 1)
            rival.bridge("--connect", port, "--export", "hubo.state")
            wait_for(lambda: "second exporter" in state_of(bridge, "hubo.state").state)
            for count in range(2, 300):
                put(ours, count)
                put(theirs, -count)
                time.sleep(0.001)
                assert newest(reader) > 0
            first.kill()
            wait_for(lambda: newest(reader) == -299)  # and when the first has gone, the other may
    finally:
        rival.stop()


# --- Layouts that do not fit --------------------------------------------------------------------------


@pytest.mark.slow
def test_another_local_layout_is_refused_field_by_field_until_the_channel_is_removed(far, near, port):
    writers = [far.channel(name, STATE).writer() for name in ("hubo.state", "fine")]
    for writer in writers:
        put(writer, 3)
    near.channel("hubo.state", OTHER)
    far.bridge("--listen", port, "--export", "hubo.state", "--export", "fine")
    near.bridge("--connect", port, "--import", "hubo.state", "--import", "fine")
    fine = reader_of(near, "fine")
    wait_for(lambda: newest(fine) == 3)
    wait_for(lambda: "≠ effort" in near.said.read_text())
    time.sleep(1.2)
    assert near.said.read_text().count("cannot import 'hubo.state'") == 1  # said once, not at every try
    (near.folder / "hubo.state").unlink()
    reader = reader_of(near, "hubo.state")
    wait_for(lambda: newest(reader) == 3)


@pytest.mark.slow
def test_when_the_far_layout_changes_the_mirror_follows_once_the_old_one_is_removed(far, near, port):
    put(far.channel("hubo.state", STATE).writer(), 3)
    far.bridge("--listen", port, "--export", "hubo.state")
    with Bridge(connect=[port], imports=["hubo.state"]) as bridge:
        reader = reader_of(near, "hubo.state")
        wait_for(lambda: newest(reader) == 3)
        (far.folder / "hubo.state").unlink()
        put(far.channel("hubo.state", OTHER).writer(), 4)
        refused = wait_for(lambda: state_of(bridge, "hubo.state").detail)
        assert "≠ effort" in refused
        assert state_of(bridge, "hubo.state").state.startswith("refused: ")
        assert newest(reader) == 3
        (near.folder / "hubo.state").unlink()
        reader = reader_of(near, "hubo.state")
        wait_for(lambda: newest(reader) == 4)
        assert near.channel("hubo.state").layout == Layout.of(OTHER)
        assert state_of(bridge, "hubo.state").state == "mirroring"


@pytest.mark.slow
def test_a_mirror_removed_while_it_runs_is_made_again(far, near, port):
    writer = far.channel("hubo.state", STATE).writer()
    far.bridge("--listen", port, "--export", "hubo.state")
    near.bridge("--connect", port, "--import", "hubo.state")
    reader_of(near, "hubo.state")
    (near.folder / "hubo.state").unlink()
    reader = reader_of(near, "hubo.state")
    keep_putting_until(writer, lambda: newest(reader) > 0)
