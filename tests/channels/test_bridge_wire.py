"""What others may send to a bridge: garbage, old messages, layouts that make no sense."""

import json
import time

import numpy as np
import zenoh
from hypothesis import given
from hypothesis import strategies as st
from robot_processes import wait_for
from two_machines import STATE, keep_putting_until, newest, reader_of, state_of

from wholebody.channels import Layout
from wholebody.channels.bridge.bridge import Bridge
from wholebody.channels.bridge.link import HEAD, Answer, Exchange, Message, Question
from wholebody.channels.bridge.mirror import Import


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
        wait_for(lambda: newest(reader) == last)
        foreign, before = wire(-1, sequence=1 << 40, source=1), reader.sequence
        kinds = [b"", b"hello", foreign[:20], foreign, b"XXXX" + foreign[4:], foreign[:4] + b"\x09\x09" + foreign[6:]]
        for number, kind in enumerate(kinds, 1):
            session.put("wholebody/message/hubo.state", kind)
            wait_for(lambda number=number: state_of(bridge, "hubo.state").bad >= number)
        session.delete("wholebody/message/hubo.state")
        wait_for(lambda: state_of(bridge, "hubo.state").bad >= len(kinds) + 1)
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
        subscriber = session.declare_subscriber("wholebody/*/*", take)
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
