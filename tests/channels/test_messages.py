"""Records and their layouts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wholebody import messages
from wholebody.channels import Channel, Layout
from wholebody.errors import BadMessage

JOINTS = ("RHY", "RHR", "RHP")

RECORDS = {
    "state": messages.state(JOINTS, imus=["pelvis"], force_torques=["right_foot", "left_foot"]),
    "small_state": messages.state(JOINTS),
    "reference": messages.reference(JOINTS),
    "tick": messages.tick(),
    "event": messages.event(),
}


@pytest.mark.parametrize("name", RECORDS)
def test_every_record_crosses_a_channel_and_comes_back_with_its_labels(name):
    record = RECORDS[name]
    with Channel(f"test.{name}", record) as channel, channel.writer() as writer, Channel(f"test.{name}") as other:
        writer.raw[:] = np.arange(record.itemsize)
        writer.put()
        reader = other.reader()
        assert reader.latest()
        assert reader.raw.tobytes() == writer.raw.tobytes()
        assert other.dtype == record
        assert messages.labels(other.dtype) == messages.labels(record)


@pytest.mark.parametrize("name", RECORDS)
def test_every_number_is_aligned_as_c_would_align_it(name):
    def check(dtype):
        for kind, offset in (dtype.fields[field][:2] for field in dtype.names):
            base = kind.base
            assert offset % base.alignment == 0
            if base.names:
                check(base)

    check(RECORDS[name])


def test_a_state_has_all_quantities_of_each_joint():
    record = np.zeros((), RECORDS["state"])
    for quantity in ("position", "velocity", "acceleration", "effort", "current", "temperature", "reference", "status"):
        assert record[quantity].shape == (3,)
    assert record["imu"]["orientation"].shape == (1, 4)
    assert record["force_torque"]["force"].shape == (2, 3)
    assert record["base"]["position"].shape == (3,)
    assert not record["base"]["known"], "an unset pose is not a pose"
    assert messages.labels(RECORDS["state"], "force_torques") == ("right_foot", "left_foot")


def test_a_reference_has_all_quantities_of_each_joint_and_speaks_for_none_unless_told():
    record = np.zeros((), RECORDS["reference"])
    for quantity in ("position", "velocity", "effort", "stiffness", "damping", "mode", "mask"):
        assert record[quantity].shape == (3,)
    assert not record["mask"].any()


def test_all_flags_fit_their_field():
    assert max(messages.Status) <= np.iinfo(RECORDS["state"]["status"].base).max
    assert max(messages.Mode) <= np.iinfo(RECORDS["reference"]["mode"].base).max


def test_layouts_of_different_robots_differ():
    records = [*RECORDS.values(), messages.reference(JOINTS[::-1]), messages.reference(("a", "b", "c"))]
    hashes = {Layout.of(record).hash for record in records}
    assert len(hashes) == len(records)


@pytest.mark.parametrize("joints", [[], "RHY", ["a", "a"], [""], [3]])
def test_joint_names_that_make_no_sense_are_refused(joints):
    for build in (messages.state, messages.reference):
        with pytest.raises(BadMessage):
            build(joints)


def test_sensor_names_given_twice_are_refused():
    with pytest.raises(BadMessage, match="IMU names given twice: pelvis"):
        messages.state(JOINTS, imus=["pelvis", "pelvis"])


SCALARS = st.sampled_from(["<f8", "<f4", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", ">f8", "|b1", "|S5", "<U3", "<c16"])
SHAPES = st.lists(st.integers(1, 3), max_size=2).map(tuple)


def records(inner):
    names = st.lists(st.text("abcxyz_é", min_size=1, max_size=6), min_size=1, max_size=5, unique=True)

    @st.composite
    def build(draw):
        fields = [(name, draw(inner), draw(SHAPES)) for name in draw(names)]
        return np.dtype(fields, align=draw(st.booleans()))

    return build()


DTYPES = st.recursive(SCALARS, records, max_leaves=12).map(np.dtype)


@given(DTYPES)
def test_a_layouts_text_gives_back_the_dtype(dtype):
    layout = Layout.of(dtype)
    assert layout.dtype == dtype
    assert Layout.of(layout.dtype) == layout
    assert layout.lines()


@given(DTYPES, DTYPES)
def test_two_layouts_have_the_same_hash_only_if_they_are_the_same(first, second):
    one, other = Layout.of(first), Layout.of(second)
    assert (one.hash == other.hash) == (one.text == other.text)
    assert ("≠" in one.difference(other)) == (one.text != other.text)
