"""Two machines on one: each has shared memory of its own, and a TCP link between their bridges is all they share."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import zenoh
from hypothesis import given
from hypothesis import strategies as st

from wholebody.channels import Channel, Layout
from wholebody.channels.bridge import Bridge
from wholebody.channels.mirror import Import
from wholebody.channels.wire import HEAD, Answer, Exchange, FarClock, Message, Question
from wholebody.errors import BridgeError, IllegalName, WholebodyError

MAIN = "from wholebody.cli import main; main()"
STATE = np.dtype([("count", "<i8"), ("position", "<f8", (100,))], metadata={"joints": ("RHY", "RHR")})
OTHER = np.dtype([("count", "<i8"), ("effort", "<f4", (3,))])


class Machine:
    """A folder for channels, and the processes started with it; `said` has what the last one put on stderr."""

    def __init__(self, folder):
        folder.mkdir()
        self.folder = folder
        self.processes = []

    def channel(self, name, dtype=None, **options):
        before, os.environ["WHOLEBODY_CHANNELS"] = os.environ["WHOLEBODY_CHANNELS"], str(self.folder)
        try:
            return Channel(name, dtype, **options)
        finally:
            os.environ["WHOLEBODY_CHANNELS"] = before

    def run(self, *command):
        environment = {**os.environ, "WHOLEBODY_CHANNELS": str(self.folder), "PYTHONUNBUFFERED": "1"}
        self.said = self.folder / f".said{len(self.processes)}"
        with self.said.open("w") as errors:
            pipe = subprocess.PIPE
            process = subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=errors, text=True)
        self.processes.append(process)
        return process

    def bridge(self, *arguments):
        return self.run(sys.executable, "-c", MAIN, "bridge", *map(str, arguments))

    def has(self, name):
        return (self.folder / name).exists()

    def stop(self):
        for process in self.processes:
            process.kill()
            process.communicate()


@pytest.fixture
def far(channels_folder):
    machine = Machine(channels_folder / "far")
    yield machine
    machine.stop()


@pytest.fixture
def near(channels_folder, monkeypatch):
    """The machine that imports; bridges and channels of the test process itself are there too."""
    machine = Machine(channels_folder / "near")
    monkeypatch.setenv("WHOLEBODY_CHANNELS", str(machine.folder))
    yield machine
    machine.stop()


@pytest.fixture
def port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


def until(condition, seconds=20):
    """Wait until the condition holds, and return what it returned."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.005)
    raise AssertionError("waited in vain")


def reader_of(machine, name):
    until(lambda: machine.has(name))
    return machine.channel(name).reader()


def put(writer, count):
    writer.message["count"] = count
    if "position" in writer.message.dtype.names:
        writer.message["position"][:] = count
    writer.put()


def newest(reader):
    reader.latest()
    return int(reader.message["count"])


def keep_putting_until(writer, condition, seconds=20):
    """Put 1, 2, 3 … until the condition holds; return the last number put."""
    count = int(writer.message["count"])

    def put_one():
        nonlocal count
        count += 1
        put(writer, count)
        return condition()

    until(put_one, seconds)
    return count


def state_of(bridge, name):
    return next(one for one in bridge.status() if one.name == name)


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
    until(lambda: newest(reader) == start + 1000)
    assert len(seen) > 100
    assert seen == sorted(set(seen))


def test_a_burst_is_thinned_to_the_rate_and_its_last_message_gets_through(far, near, port):
    writer = far.channel("hubo.state", STATE).writer()
    far.bridge("--listen", port, "--export", "hubo.state", "--rate", 10)
    near.bridge("--connect", port, "--import", "hubo.state")
    reader = reader_of(near, "hubo.state")
    for count in range(1, 1001):
        put(writer, count)
    until(lambda: newest(reader) == 1000)
    assert reader.sequence < 100


def test_the_rate_limit_holds(far, near, port):
    writer = far.channel("hubo.state", STATE).writer()
    far.bridge("--listen", port, "--export", "hubo.state", "--rate", 20)
    near.bridge("--connect", port, "--import", "hubo.state")
    reader = reader_of(near, "hubo.state")
    keep_putting_until(writer, lambda: newest(reader) > 0)
    before, start = reader.sequence, time.monotonic()
    keep_putting_until(writer, lambda: time.monotonic() > start + 1)
    until(lambda: newest(reader) == int(writer.message["count"]))
    assert reader.sequence - before <= 20 * (time.monotonic() - start) + 5


def test_a_message_put_before_the_importer_starts_reaches_it(far, near, port):
    put(far.channel("settings", STATE).writer(), 7)
    far.bridge("--listen", port, "--export", "settings")
    near.bridge("--connect", port, "--import", "settings")
    reader = reader_of(near, "settings")
    until(lambda: newest(reader) == 7)
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
    until(lambda: newest(reader) == int(writer.message["count"]))
    keep_putting_until(writer, lambda: newest(reader) > last + 110)


def test_the_connecting_side_may_start_first(far, near, port):
    writer = far.channel("hubo.state", STATE).writer()
    near.bridge("--connect", f"tcp/{port}", "--import", "hubo.state")
    time.sleep(1)
    far.bridge("--listen", port, "--export", "hubo.state")
    reader = reader_of(near, "hubo.state")
    keep_putting_until(writer, lambda: newest(reader) > 0)


def test_an_export_may_wait_for_its_channel_which_may_be_made_anew(far, near, port):
    exporter = far.bridge("--listen", port, "--export", "hubo.state")
    with Bridge(connect=[port], imports=["hubo.state"]) as bridge:
        assert "waiting for channel" in exporter.stdout.readline()
        until(lambda: state_of(bridge, "hubo.state").state == "waiting for channel")
        writer = far.channel("hubo.state", STATE).writer()
        put(writer, 5000)
        reader = reader_of(near, "hubo.state")
        until(lambda: newest(reader) == 5000)
        (far.folder / "hubo.state").unlink()
        writer = far.channel("hubo.state", STATE).writer()
        put(writer, 1)
        until(lambda: newest(reader) == 1)


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
    until(lambda: newest(reader) == count)
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
        until(lambda: newest(reader) == count)
        queued = reader.sequence - before
    assert queued < 150  # as many as fit in small buffers; with those of the system it is six hundred


def test_two_exporters_of_one_name_are_never_mixed(far, near, port, channels_folder):
    rival = Machine(channels_folder / "rival")
    try:
        ours, theirs = (machine.channel("hubo.state", STATE).writer() for machine in (far, rival))
        put(ours, 1)
        put(theirs, -1)
        first = far.bridge("--connect", port, "--export", "hubo.state")
        with Bridge(listen=[port], imports=["hubo.state"]) as bridge:
            reader = reader_of(near, "hubo.state")
            until(lambda: newest(reader) == 1)
            rival.bridge("--connect", port, "--export", "hubo.state")
            until(lambda: "second exporter" in state_of(bridge, "hubo.state").state)
            for count in range(2, 300):
                put(ours, count)
                put(theirs, -count)
                time.sleep(0.001)
                assert newest(reader) > 0
            first.kill()
            until(lambda: newest(reader) == -299)  # and when the first has gone, the other may
    finally:
        rival.stop()


# --- Layouts that do not fit --------------------------------------------------------------------------


def test_another_local_layout_is_refused_field_by_field_until_the_channel_is_removed(far, near, port):
    writers = [far.channel(name, STATE).writer() for name in ("hubo.state", "fine")]
    for writer in writers:
        put(writer, 3)
    near.channel("hubo.state", OTHER)
    far.bridge("--listen", port, "--export", "hubo.state", "--export", "fine")
    near.bridge("--connect", port, "--import", "hubo.state", "--import", "fine")
    fine = reader_of(near, "fine")
    until(lambda: newest(fine) == 3)
    until(lambda: "≠ effort" in near.said.read_text())
    time.sleep(1.2)
    assert near.said.read_text().count("cannot import 'hubo.state'") == 1  # said once, not at every try
    (near.folder / "hubo.state").unlink()
    reader = reader_of(near, "hubo.state")
    until(lambda: newest(reader) == 3)


def test_when_the_far_layout_changes_the_mirror_follows_once_the_old_one_is_removed(far, near, port):
    put(far.channel("hubo.state", STATE).writer(), 3)
    far.bridge("--listen", port, "--export", "hubo.state")
    with Bridge(connect=[port], imports=["hubo.state"]) as bridge:
        reader = reader_of(near, "hubo.state")
        until(lambda: newest(reader) == 3)
        (far.folder / "hubo.state").unlink()
        put(far.channel("hubo.state", OTHER).writer(), 4)
        refused = until(lambda: state_of(bridge, "hubo.state").detail)
        assert "≠ effort" in refused
        assert state_of(bridge, "hubo.state").state.startswith("refused: ")
        assert newest(reader) == 3
        (near.folder / "hubo.state").unlink()
        reader = reader_of(near, "hubo.state")
        until(lambda: newest(reader) == 4)
        assert near.channel("hubo.state").layout == Layout.of(OTHER)
        assert state_of(bridge, "hubo.state").state == "mirroring"


def test_a_mirror_removed_while_it_runs_is_made_again(far, near, port):
    writer = far.channel("hubo.state", STATE).writer()
    far.bridge("--listen", port, "--export", "hubo.state")
    near.bridge("--connect", port, "--import", "hubo.state")
    reader_of(near, "hubo.state")
    (near.folder / "hubo.state").unlink()
    reader = reader_of(near, "hubo.state")
    keep_putting_until(writer, lambda: newest(reader) > 0)


# --- What others may send -----------------------------------------------------------------------------


def raw_session(endpoint):
    configuration = zenoh.Config()
    for key, value in {
        "connect/endpoints": [f"tcp/{endpoint}"],
        "listen/endpoints": [],
        "scouting/multicast/enabled": False,
        "scouting/gossip/enabled": False,
    }.items():
        configuration.insert_json5(key, json.dumps(value))
    return zenoh.open(configuration)


def test_garbage_is_dropped_and_counted(far, near, port):
    writer = far.channel("hubo.state", STATE).writer()
    far.bridge("--connect", port, "--export", "hubo.state")
    with Bridge(listen=[port], imports=["hubo.state"]) as bridge, raw_session(port) as session:
        reader = reader_of(near, "hubo.state")
        last = keep_putting_until(writer, lambda: newest(reader) > 0)
        until(lambda: newest(reader) == last)
        foreign, before = wire(-1, sequence=1 << 40, source=1), reader.sequence
        kinds = [b"", b"hello", foreign[:20], foreign, b"XXXX" + foreign[4:], foreign[:4] + b"\x09\x09" + foreign[6:]]
        for number, kind in enumerate(kinds, 1):
            session.put("wholebody/message/hubo.state", kind)
            until(lambda number=number: state_of(bridge, "hubo.state").bad >= number)
        session.delete("wholebody/message/hubo.state")
        until(lambda: state_of(bridge, "hubo.state").bad >= len(kinds) + 1)
        assert not reader.latest()
        assert reader.sequence == before
        for payload in (None, b"", b"hello", foreign):
            list(session.get("wholebody/ask/*", payload=payload, timeout=0.2))
        keep_putting_until(writer, lambda: newest(reader) > last)


SOURCE, LAYOUT = 5 << 16, Layout.of(STATE)


def wire(count, sequence, source=SOURCE, layout_hash=LAYOUT.hash):
    message = np.zeros(1, STATE)
    message["count"] = count
    data = bytearray(HEAD) + message.tobytes()
    Message(source, layout_hash, sequence, time.monotonic_ns()).pack_into(data)
    return bytes(data)


def introduced_import():
    """An import that has met its exporter."""
    mirror, now = Import("x"), time.monotonic_ns()
    answer = Answer(SOURCE, LAYOUT.hash, 8, received_ns=now, sent_ns=now, layout_text=LAYOUT.text)
    mirror.settle([Exchange(now, answer, now)])
    return mirror


def test_only_newer_messages_of_the_exporter_are_put_and_all_others_counted(near):
    mirror = introduced_import()
    reader = near.channel("x").reader()
    good = wire(10, sequence=10)
    for data, count, gaps, bad in [
        (good, 10, 0, 0),
        (wire(9, sequence=9), 10, 0, 0),  # overtaken on the way
        (good, 10, 0, 0),
        (wire(14, sequence=14), 14, 3, 0),
        (b"XXXX" + wire(15, sequence=15)[4:], 14, 3, 1),
        (wire(15, sequence=15)[:4] + b"\x09\x09" + wire(15, sequence=15)[6:], 14, 3, 2),
        (wire(15, sequence=15) + b"x", 14, 3, 3),
        (wire(15, sequence=15)[:-1], 14, 3, 4),
        (wire(15, sequence=15), 15, 3, 4),
    ]:
        mirror.arrived(data)
        status = mirror.status(time.monotonic_ns())
        assert (newest(reader), status.gaps, status.bad) == (count, gaps, bad)
    assert reader.sequence == status.received == 3


def test_a_message_waits_for_the_answer_that_explains_it(near):
    mirror = introduced_import()
    reader = near.channel("x").reader()
    mirror.arrived(wire(10, sequence=10))
    mirror.arrived(wire(1, sequence=1, source=SOURCE + 1))  # the channel was made anew there
    assert mirror.has_question.is_set()
    assert newest(reader) == 10
    now = time.monotonic_ns()
    mirror.settle([Exchange(now, Answer(SOURCE + 1, LAYOUT.hash, 8, now, now), now)])
    assert newest(reader) == 1
    mirror.arrived(wire(7, sequence=7, source=1))
    mirror.settle([Exchange(now, Answer(SOURCE + 1, LAYOUT.hash, 8, now, now), now)])
    assert newest(reader) == 1
    assert mirror.status(now).bad == 1


def test_messages_are_sent_at_once_or_dropped_and_large_ones_give_way(far, near, port):
    image = np.dtype([("count", "<i8"), ("pixels", "u1", (100_000,))])
    writers = [far.channel(name, dtype).writer() for name, dtype in (("hubo.state", STATE), ("camera", image))]
    far.bridge("--listen", port, "--export", "hubo.state", "--export", "camera")
    samples = {}

    def take(sample):
        samples[str(sample.key_expr).rpartition("/")[2]] = sample

    with raw_session(port) as session:
        subscriber = session.declare_subscriber("wholebody/message/*", take)
        keep_putting_until(writers[0], lambda: writers[1].put() or len(samples) == 2)
        subscriber.undeclare()
    for sample in samples.values():
        assert sample.express
        assert sample.congestion_control == zenoh.CongestionControl.DROP
    assert samples["camera"].priority == zenoh.Priority.DATA_LOW
    assert samples["hubo.state"].priority == zenoh.Priority.DATA_HIGH


@given(st.binary(max_size=200))
def test_no_bytes_from_the_network_raise(data):
    for kind in (Message, Question, Answer):
        kind.parse(data)
    mirror = Import("x")
    mirror.arrived(data)
    answer = Answer.parse(Question(1, 2, 3).pack() + data)
    mirror.settle([Exchange(0, answer, 1)] if answer else [])


@given(st.text(max_size=60) | st.just('{"size":8,"fields":[["","<f8",[],4]]}') | st.just('{"size":1e999,"fields":[]}'))
def test_a_layout_text_that_makes_no_sense_is_refused(text):
    mirror = Import("x")
    answer = Answer(source=1 << 16, layout_hash=Layout(text).hash, depth=4, received_ns=0, sent_ns=0, layout_text=text)
    mirror.settle([Exchange(0, answer, 1)])
    if text:
        assert mirror.status(0).state.startswith("refused: ")


# --- Time ---------------------------------------------------------------------------------------------

FAR_ROBOT = """
import sys
import numpy as np
from wholebody.channels import Channel
from wholebody.channels.bridge import Bridge
writer = Channel("hubo.state", np.dtype([("count", "<i8")])).writer()
with Bridge(listen=[sys.argv[1]], exports=["hubo.state"]):
    for count, line in enumerate(sys.stdin, 1):
        writer.message["count"] = count
        writer.put()
        print(count)
"""


def namespace(seconds):
    command = ["unshare", "--time", "--monotonic", str(seconds), "--fork", "--kill-child"]
    with contextlib.suppress(OSError):
        if subprocess.run([*command, "true"], capture_output=True).returncode == 0:
            return command
    pytest.skip(f"not permitted to make a time namespace of {seconds} s: the age across two clocks is not tested")


@pytest.mark.parametrize("seconds", [0, 100_000, -60], ids=["same clock", "far clock ahead", "far clock behind"])
def test_the_age_of_a_mirrored_message_is_true_whatever_the_far_clock_shows(far, near, port, seconds):
    prefix = namespace(seconds) if seconds else []
    robot = far.run(*prefix, sys.executable, "-c", FAR_ROBOT, port)

    def put_there():
        earliest = time.monotonic()
        robot.stdin.write("\n")
        robot.stdin.flush()
        robot.stdout.readline()
        return earliest, time.monotonic()

    def check(reader, earliest, latest):
        before = time.monotonic()
        age = reader.age
        assert before - latest - 0.1 <= age <= time.monotonic() - earliest + 0.1

    old = put_there()
    time.sleep(0.5)
    near.bridge("--connect", port, "--import", "hubo.state")
    reader = reader_of(near, "hubo.state")
    until(lambda: newest(reader) == 1)
    check(reader, *old)
    fresh = put_there()
    until(lambda: newest(reader) == 2)
    check(reader, *fresh)


@given(
    offset=st.integers(-(10**15), 10**15),
    ways=st.lists(st.tuples(st.integers(0, 10**8), st.integers(0, 10**8)), min_size=1, max_size=20),
)
def test_the_far_clock_is_known_to_half_a_round_trip_and_the_drift_since(offset, ways):
    clock, now, bounds = FarClock(), 10**16, []
    for there, back in ways:
        received = now + there + offset
        answer = Answer(1, 1, 1, received_ns=received, sent_ns=received + 1000)
        bounds.append(Exchange(now, answer, now + there + 1000 + back))
        clock.compare(bounds[-1])
        now += 500_000_000
    assert abs(clock.offset_ns - offset) <= min(one.uncertainty_ns(bounds[-1].arrived_ns) for one in bounds) + 1


def test_a_far_clock_that_stood_still_is_noticed_at_once():
    clock = FarClock()
    for asked, received, back in ((0, 50, 50), (10**9, 10**9 + 50, 50), (2 * 10**9, 10**9 + 50, 10**7)):
        clock.compare(Exchange(asked, Answer(1, 1, 1, received, received), asked + 50 + back))
    assert clock.offset_ns == pytest.approx(-(10**9), abs=10**7)


# --- Asking for nonsense, and ending ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        ({"exports": ["x"]}, BridgeError, "endpoint"),
        ({"listen": ["127.0.0.1:1"]}, BridgeError, "export or to import"),
        ({"listen": ["127.0.0.1:1"], "exports": ["x"], "imports": ["x"]}, BridgeError, "'x' is both"),
        ({"listen": ["127.0.0.1:1"], "exports": ["../x"]}, IllegalName, "../x"),
        ({"listen": ["127.0.0.1:1"], "imports": ["a b"]}, IllegalName, "a b"),
        ({"listen": ["127.0.0.1"], "exports": ["x"]}, BridgeError, "HOST:PORT"),
        ({"listen": ["127.0.0.1:70000"], "exports": ["x"]}, BridgeError, "HOST:PORT"),
        ({"connect": ["udp/127.0.0.1:7000"], "exports": ["x"]}, BridgeError, "HOST:PORT"),
        ({"listen": ["127.0.0.1:1"], "exports": ["x"], "rate": 0}, BridgeError, "rate"),
        ({"listen": ["127.0.0.1:1"], "exports": ["x"], "rate": float("nan")}, BridgeError, "rate"),
        ({"listen": ["127.0.0.1:1"], "exports": [f"x{i}" for i in range(65)]}, BridgeError, "64"),
    ],
)
def test_nonsense_is_refused_before_anything_starts(arguments, kind, text):
    with pytest.raises(kind, match=text) as caught:
        Bridge(**arguments)
    assert isinstance(caught.value, WholebodyError)


def test_a_port_that_is_taken_is_a_clear_error(far, port):
    with socket.create_server(("127.0.0.1", int(port.split(":")[1]))):
        with pytest.raises(BridgeError, match="the port is taken"):
            Bridge(listen=[port], exports=["x"]).start()
        process = far.bridge("--listen", port, "--export", "x")
        assert process.communicate(timeout=20)[0] == ""
    err = far.said.read_text()
    assert process.returncode == 1
    assert err.startswith(f"wholebody: cannot listen on tcp/{port}: the port is taken")
    assert err.count("\n") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_bridge_ends_cleanly_when_asked(far, port, number):
    process = far.bridge("--listen", port, "--export", "x", "--import", "y")
    assert "x export waiting for channel" in process.stdout.readline()
    process.send_signal(number)
    process.communicate(timeout=20)
    assert (process.returncode, far.said.read_text()) == (0, "")


def test_a_quiet_bridge_says_nothing(far, near, port):
    put(far.channel("x", STATE).writer(), 1)
    exporter = far.bridge("--listen", port, "--export", "x", "--quiet")
    near.bridge("--connect", port, "--import", "x", "--quiet")
    reader = reader_of(near, "x")
    until(lambda: newest(reader) == 1)
    exporter.terminate()
    assert exporter.communicate(timeout=20)[0] + far.said.read_text() == ""


def test_a_bridge_can_be_opened_and_closed_many_times(near, port):
    for _ in range(10):
        with Bridge(listen=[port], exports=["x"], imports=["y"]) as bridge:
            assert [one.name for one in bridge.status()] == ["x", "y"]
        bridge.stop()


def test_without_zenoh_the_error_says_what_to_install():
    source = """
import sys
sys.modules["zenoh"] = None
from wholebody.cli import main
main()
"""
    command = [sys.executable, "-c", source, "bridge", "--listen", "127.0.0.1:1", "--export", "x"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=40)
    assert run.returncode == 1
    assert "pip install 'wholebody[net]'" in run.stderr


def test_importing_the_bridge_does_not_load_zenoh():
    source = "import sys, wholebody.channels.bridge, wholebody.cli.bridge; sys.exit('zenoh' in sys.modules)"
    subprocess.run([sys.executable, "-c", source], check=True, timeout=40)
