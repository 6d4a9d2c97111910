"""Messages as typed views: attributes over the memory of a record."""

import copy
import gc
import os
import pickle
from pathlib import Path
from typing import get_type_hints

import numpy as np
import pytest

from wholebody import messages, robots
from wholebody.channels import Channel, Layout
from wholebody.channels.subscription import Subscription
from wholebody.errors import OldView, WrongRecord
from wholebody.messages import Base, Event, Floats, Mode, Record, Reference, Rows, State, Tick, Timing

JOINTS = ("RHY", "RHR", "RHP")
HUBO = robots.load("hubo2plus")
DTYPES = {
    "state": HUBO.state_dtype(),
    "reference": HUBO.reference_dtype(),
    "tick": messages.tick(),
    "timing": messages.timing(("read", "send")),
    "report": messages.report(HUBO.joint_names),
    "event": messages.event(),
}
HASHES = {
    "state": 0xCA46F7855756733E,
    "reference": 0x78C250272A7A15A9,
    "tick": 0x9AA2A953AB772A89,
    "timing": 0x52D3DF9AB4E13F1D,
    "report": 0x6877FCCFF43FE7E2,
    "event": 0x09C09066071E6E98,
}
"""As of version 0.1.0, but for the report, which has got ranges and more refusals: others know records by these."""


def new(kind):
    return np.zeros(1, DTYPES[kind])[0]


@pytest.mark.parametrize("kind", DTYPES)
def test_layouts_do_not_change(kind):
    assert Layout.of(DTYPES[kind]).hash == HASHES[kind]


@pytest.mark.parametrize("kind", DTYPES)
def test_every_field_is_an_attribute_and_every_attribute_a_field(kind):
    record = new(kind)
    assert tuple(get_type_hints(type(record))) == record.dtype.names
    for field in record.dtype.names:
        value, indexed = getattr(record, field), record[field]
        if isinstance(value, str):
            assert value.encode() == indexed
        elif isinstance(value, Record | Rows):
            assert all(np.array_equal(getattr(value, name), indexed[name]) for name in indexed.dtype.names)
        else:
            assert np.array_equal(value, indexed)


def test_arrays_are_the_records_memory():
    memory = np.zeros(1, DTYPES["state"])
    state = memory[0]
    state.position[3], state.base.orientation[3], state.imu[0].orientation[1] = 1.0, 2.0, 3.0
    assert (memory["position"][0, 3], memory["base"]["orientation"][0, 3]) == (1.0, 2.0)
    assert memory["imu"]["orientation"][0, 0, 1] == state.imu.orientation[0, 1] == 3.0
    memory["position"][0, 3], memory["time"], memory["base"]["known"] = 4.0, 5.0, True
    assert (state.position[3], state.time, state.base.known) == (4.0, 5.0, True)


def test_what_is_assigned_is_copied_into_the_record():
    memory = np.zeros(1, DTYPES["reference"])
    reference, position = memory[0], np.arange(len(HUBO.joint_names)) * 0.1
    reference.position, reference.time, reference.lease = position, 2.5, True
    position[:] = 0.0
    assert memory["position"][0, 3] == 0.1 * 3
    assert (memory["time"][0], memory["lease"][0]) == (2.5, True)
    reference.position += 1.0
    assert memory["position"][0, 3] == 0.1 * 3 + 1.0


def test_numbers_and_text_are_pythons():
    event = new("event")
    event.count, event.time, event.text = 3, 0.5, "zu weit"
    assert (type(event.count), type(event.time), event.text) == (int, float, "zu weit")
    event.text = "x" * 1000
    assert event.text == "x" * messages.TEXT_SIZE


def test_a_misspelt_field_is_an_error():
    state = new("state")
    with pytest.raises(AttributeError, match="positon"):
        state.positon = 1.0
    with pytest.raises(AttributeError, match="_imus"):
        getattr(state, "_imus")  # noqa: B009


def test_a_robot_without_sensors_has_empty_rows():
    state = np.zeros(1, messages.state(JOINTS))[0]
    assert (len(state.imu), len(state.force_torque), state.imu.orientation.shape) == (0, 0, (0, 4))


@pytest.mark.parametrize("duplicate", [Record.copy, copy.copy, copy.deepcopy, lambda r: pickle.loads(pickle.dumps(r))])
def test_a_copy_has_memory_of_its_own(duplicate):
    state = new("state")
    state.time, state.position[0], state.base.known = 1.0, 2.0, True
    kept = duplicate(state)
    assert (type(kept), kept.dtype, messages.labels(kept.dtype)) == (State, state.dtype, HUBO.joint_names)
    kept.time, kept.base.known, kept.position[0] = 3.0, False, 4.0
    assert (kept.time, kept.base.known, kept.position[0]) == (3.0, False, 4.0)
    assert (state.time, state.base.known, state.position[0]) == (1.0, True, 2.0)


def test_a_layout_that_lacks_fields_is_no_message_of_that_kind():
    with pytest.raises(WrongRecord, match="no State: it lacks tick, position"):
        State.of(np.dtype([("time", "<f8")]))
    with pytest.raises(WrongRecord, match="no Tick"):
        Tick.of(np.dtype("<f8"))


@pytest.fixture
def reference_channel():
    with Channel("test.views", messages.reference(JOINTS)) as channel, channel.writer() as writer:
        yield channel, writer


def put(writer, time):
    writer.message.time, writer.message.position[:], writer.message.mode[:] = time, time, Mode.EFFORT
    writer.put()


def test_a_channel_opened_by_its_name_has_views_of_the_kind_asked_for(reference_channel):
    _, writer = reference_channel
    put(writer, 1.0)
    with Channel("test.views", kind=Reference) as channel, channel.reader() as reader:
        assert reader.latest()
        assert isinstance(reader.message, Reference)
        assert reader.message.position.tolist() == [1.0] * 3
        assert messages.labels(channel.dtype) == JOINTS
    assert isinstance(Subscription("test.views", Reference).take(), Reference)
    with pytest.raises(WrongRecord, match="no Timing"):
        Channel("test.views", kind=Timing)


def test_what_a_reader_took_cannot_be_written(reference_channel):
    channel, writer = reference_channel
    put(writer, 1.0)
    with channel.reader() as reader:
        reader.latest()
        for change in (lambda m: m.position.fill(0.0), lambda m: setattr(m, "time", 0.0)):
            with pytest.raises(ValueError, match="read-only"):
                change(reader.message)


def test_one_view_follows_its_reader(reference_channel, monkeypatch):
    monkeypatch.delenv("WHOLEBODY_DEBUG", raising=False)
    channel, writer = reference_channel
    with channel.reader() as reader:
        view = reader.message
        for time in (1.0, 2.0):
            put(writer, time)
            reader.latest()
            assert (view.time, view.position[1]) == (time, time)


TAKES = [lambda r: r.latest(), lambda r: r.next(), lambda r: r.wait(1.0)]


@pytest.mark.parametrize("take", TAKES, ids=["latest", "next", "wait"])
def test_an_old_view_raises_when_debugging(reference_channel, monkeypatch, take):
    monkeypatch.setenv("WHOLEBODY_DEBUG", "1")
    channel, writer = reference_channel
    with channel.reader() as reader:
        put(writer, 1.0)
        assert take(reader)
        old, kept = reader.message, reader.message.copy()
        assert not reader.latest(), "nothing new"
        assert (old.time, reader.message is old) == (1.0, True)
        put(writer, 2.0)
        assert take(reader)
        for use in (lambda: old.time, lambda: old.position, lambda: old["mode"], lambda: old.dtype, lambda: old.copy()):
            with pytest.raises(OldView, match=r"message 1 was used when message 2 had taken its place.*copy"):
                use()
        assert (reader.message.time, kept.time) == (2.0, 1.0)
        assert isinstance(reader.message, Reference)


def test_a_record_of_ones_own_is_declared_by_its_annotations():
    space = {"__name__": __name__, "Record": Record, "Floats": Floats}
    for future in ("", "from __future__ import annotations\n"):
        exec(f"{future}class Arm(Record):\n    time: float\n    name: str\n    position: Floats\n", space)
        arm = messages.new(space["Arm"].of(np.dtype([("time", "<f8"), ("name", "S4"), ("position", "<f8", (2,))])))
        arm.time, arm.name, arm.position[1] = 1.5, "left", 2.5
        assert (arm.time, arm.name, arm["position"].tolist()) == (1.5, "left", [0.0, 2.5])


def test_event_and_base_are_kinds_of_their_own():
    assert isinstance(new("event"), Event)
    assert isinstance(new("state").base, Base)


# Memory.


def resident():
    """The memory of this process, in bytes."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_messages_that_were_copied_and_read_leave_nothing_behind():
    state = messages.new(HUBO.state_dtype())

    def read(count):
        for _ in range(count):
            kept = state.copy()
            assert kept.position[0] == kept.time == kept.base.position[0] == 0.0
            assert kept.imu[0].orientation[0] == kept.force_torque.force[0, 0] == 0.0

    read(100)
    before = resident()
    read(1500)
    assert resident() - before < 2_000_000, "it was 9 MB while messages and the arrays of their fields kept each other"


def test_a_field_outlives_its_message_and_is_as_writable_as_that():
    state = messages.new(HUBO.state_dtype())
    state.position[:], state.imu[0].orientation[:] = 3.0, (1, 2, 3, 4)
    kept = state.copy()
    position, orientation = kept.position, kept.imu[0].orientation
    position[0] = 5.0
    assert kept["position"][0] == 5.0
    assert state.position[0] == 3.0
    del kept
    others = [state.copy() for _ in range(100)]
    assert position[0] == 5.0
    assert orientation.tolist() == [1, 2, 3, 4]
    assert len(others) == 100
    rows = np.zeros(4, HUBO.state_dtype())
    part = rows[2:3]
    part.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        part[0].position[:] = 1.0


def test_each_row_of_a_table_has_its_own_memory_whatever_the_order_of_the_rows():
    rows = np.zeros(5, HUBO.state_dtype())
    for number in range(5):
        rows[number].position[:] = number
    assert rows["position"][:, 0].tolist() == [0, 1, 2, 3, 4]
    assert [row.position[0] for row in rows[::-2]] == [4, 2, 0]


def test_a_text_that_is_too_long_is_cut_between_letters():
    event = new("event")
    size = DTYPES["event"]["text"].itemsize
    for text in ("a" + "ü" * size, "ü" * size):
        event.text = text
        assert text.startswith(event.text)
        assert size - 1 <= len(event.text.encode()) <= size
