"""The four reference modes, against the document's formulas and what follows from them."""

import math
import multiprocessing
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wholebody import messages
from wholebody.channels import Channel
from wholebody.daemon import filters
from wholebody.daemon.filters import LENGTH, Filters
from wholebody.drivers import Names
from wholebody.errors import BadReference
from wholebody.messages import Filter

angles = st.floats(-3, 3)
lengths = st.integers(1, 400)


def one(mode, value, reference, before, measured):
    """The command of a single joint, from a robot of three whose others do something else."""
    filters, out = Filters(3), np.zeros(3)
    filters.set(0, Filter.SMOOTH, 7)
    filters.set(1, mode, value)
    filters.set(2, Filter.COMPLIANT, 0.5)
    filters.apply(*(np.array([9.0, value, -9.0]) for value in (reference, before, measured)), out)
    return out[1]


@given(angles, angles, angles, lengths, st.floats(0, 0.999))
def test_every_mode_is_the_documents_formula(reference, before, measured, length, gain):
    def close(value):
        return pytest.approx(value, abs=1e-12)

    given = reference, before, measured
    assert one(Filter.PASS, 0.0, *given) == reference
    assert one(Filter.SMOOTH, length, *given) == close((before * (length - 1) + reference) / length)
    assert one(Filter.COMPLIANT, gain, *given) == close(gain * (measured - reference) + reference)
    assert one(Filter.FEEDBACK, length, *given) == close((measured * (length - 1) + reference) / length)


@given(angles, angles, angles)
def test_length_one_is_no_filter(reference, before, measured):
    given = reference, before, measured
    assert one(Filter.SMOOTH, 1, *given) == one(Filter.FEEDBACK, 1, *given) == one(Filter.PASS, None, *given)


@given(angles, angles, angles, lengths)
def test_feedback_is_compliance_of_one_minus_one_over_its_length(reference, before, measured, length):
    given = reference, before, measured
    assert one(Filter.FEEDBACK, length, *given) == one(Filter.COMPLIANT, 1 - 1 / length, *given)


@pytest.mark.parametrize("length", [2, 20, 40, 400])
def test_a_smoothed_step_converges_geometrically_and_arrives(length):
    filters, out, before, reference = Filters(1), np.zeros(1), np.zeros(1), np.array([0.4])
    filters.set(0, Filter.SMOOTH, length)
    for step in range(1, 200):
        filters.apply(reference, before, before, out)
        before[:] = out
        assert 0.4 - out[0] == pytest.approx(0.4 * ((length - 1) / length) ** step, rel=1e-9, abs=1e-15)
    before[:] = reference
    filters.apply(reference, before, before, out)
    assert out[0] == 0.4, "where it is, it stays exactly"


@pytest.mark.parametrize(("mode", "value"), [(Filter.COMPLIANT, 0.8), (Filter.FEEDBACK, 5)])
def test_a_joint_that_arrives_where_it_is_told_arrives_at_the_reference(mode, value):
    filters, out, measured, reference = Filters(1), np.zeros(1), np.zeros(1), np.array([0.4])
    filters.set(0, mode, value)
    for _ in range(200):
        filters.apply(reference, out.copy(), measured, out)
        measured[:] = out
    assert measured[0] == pytest.approx(0.4, abs=1e-12)


@pytest.mark.parametrize(("mode", "value", "softer"), [(Filter.COMPLIANT, 0.75, 4), (Filter.FEEDBACK, 20, 20)])
def test_a_load_moves_a_compliant_joint_further(mode, value, softer):
    filters, out, measured, reference = Filters(1), np.zeros(1), np.zeros(1), np.array([0.4])
    filters.set(0, mode, value)
    for _ in range(1000):
        filters.apply(reference, out.copy(), measured, out)
        measured[:] = out + 0.01
    assert measured[0] - 0.4 == pytest.approx(0.01 * softer, rel=1e-6)


def test_joints_pass_until_they_are_set_and_pass_again():
    filters, out = Filters(2), np.zeros(2)
    far = np.full(2, 100.0)
    filters.apply(np.array([0.1, 0.2]), far, far, out)
    assert out.tolist() == [0.1, 0.2]
    filters.set(1, Filter.SMOOTH)
    assert (filters.mode[1], filters.value[1], filters.length[1]) == (Filter.SMOOTH, LENGTH, 40)
    filters.set(1, Filter.PASS)
    filters.apply(np.array([0.1, 0.2]), far, far, out)
    assert out.tolist() == [0.1, 0.2]
    assert filters.value.tolist() == [0, 0]


def test_what_a_mode_does_not_need_cannot_spoil_its_command():
    nothing = math.nan
    assert one(Filter.PASS, None, 0.1, nothing, nothing) == 0.1
    assert one(Filter.SMOOTH, 2, 0.1, 0.3, nothing) == pytest.approx(0.2)
    assert one(Filter.FEEDBACK, 2, 0.1, nothing, 0.3) == pytest.approx(0.2)
    assert math.isnan(one(Filter.PASS, None, nothing, 0, 0)), "a reference that is none is for the gate to refuse"


@pytest.mark.parametrize("mode", [Filter.SMOOTH, Filter.FEEDBACK])
@pytest.mark.parametrize("length", [0, -1, 1.5, 1e9, math.nan, math.inf])
def test_an_impossible_length_is_refused_and_changes_nothing(mode, length):
    filters = Filters(1)
    with pytest.raises(BadReference, match="give a whole number"):
        filters.set(0, mode, length)
    assert filters.mode[0] == Filter.PASS


@pytest.mark.parametrize("gain", [1.0, 1.5, -0.1, math.nan])
def test_an_unstable_gain_is_refused(gain):
    with pytest.raises(BadReference, match=r"0\.99999"):
        Filters(1).set(0, Filter.COMPLIANT, gain)


# The filter as a process of its own.


JOINTS = ("one", "two", "three")


@pytest.fixture
def wires():
    """What a daemon and a controller hold of the filter's channels: state and unfiltered writers, filtered reader."""
    with Channel("robot.state", messages.state(JOINTS)) as states:
        layout = messages.reference(JOINTS)
        with Channel(Names().unfiltered("wave"), layout) as raw, Channel("robot.wave.reference", layout) as out:
            state = states.writer()
            state.message["reference"] = [0.1, 0.2, 0.3]
            state.message["position"] = [0.1, 0.2, 0.3]
            state.put()
            yield state, raw.writer(), out.reader(), states, raw, out


def want(writer, positions, mask, period=0.0):
    writer.message["position"], writer.message["mask"], writer.message["period"] = positions, mask, period
    writer.put()


def stepped(wires, mode=Filter.SMOOTH, value=4):
    _, _, _, states, raw, out = wires
    return filters.Smoothing(states.reader(), raw.reader(), out.writer(), mode, value)


def test_the_filter_begins_at_the_command_in_force_and_speaks_for_the_mask(wires):
    _, writer, reader, *_ = wires
    smoothing = stepped(wires)
    assert not smoothing.once(), "nobody wants anything yet"
    want(writer, [0.5, 9, 9], [True, False, False])
    assert smoothing.once()
    assert reader.latest()
    assert reader.message["position"][0] == pytest.approx(0.1 + 0.4 / 4)
    assert reader.message["mask"].tolist() == [True, False, False]
    want(writer, [0.5, 1.0, 9], [True, True, False])
    smoothing.once()
    reader.latest()
    assert reader.message["position"][:2] == pytest.approx([0.1 + 0.4 * (1 - 0.75**2), 0.2 + 0.8 / 4])


def test_what_was_wanted_before_the_filter_began_is_not_followed(wires):
    _, writer, *_ = wires
    want(writer, [0.5, 0.5, 0.5], True)
    smoothing = stepped(wires)
    assert not smoothing.once()
    want(writer, [0.5, 0.5, 0.5], True)
    assert smoothing.once()


def test_the_feedback_mode_takes_what_was_measured(wires):
    state, writer, reader, *_ = wires
    smoothing = stepped(wires, Filter.FEEDBACK, 2)
    want(writer, [0.5, 0.5, 0.5], True)
    state.message["position"] = [-0.5, 0.0, 0.5]
    state.put()
    smoothing.once()
    reader.latest()
    assert reader.message["position"] == pytest.approx([0.0, 0.25, 0.5])


def test_a_reference_that_is_none_is_passed_on_to_be_refused_and_then_forgotten(wires):
    _, writer, reader, *_ = wires
    smoothing = stepped(wires)
    want(writer, [math.nan, 0.2, 0.3], True)
    smoothing.once()
    reader.latest()
    assert math.isnan(reader.message["position"][0])
    want(writer, [0.5, 0.2, 0.3], True)
    smoothing.once()
    reader.latest()
    assert reader.message["position"][0] == pytest.approx(0.1 + 0.4 / 4)


def test_a_controller_that_falls_silent_against_its_word_silences_the_filter(wires):
    _, writer, *_ = wires
    smoothing = stepped(wires)
    want(writer, [0.5, 0.5, 0.5], True, period=0.01)
    assert smoothing.once()
    time.sleep(0.05)
    assert not smoothing.once()
    want(writer, [0.5, 0.5, 0.5], True, period=0.0)
    time.sleep(0.05)
    assert smoothing.once(), "one that declares none is followed for ever"


def test_a_process_of_its_own_makes_irregular_steps_regular_and_smooth(wires):
    _, writer, reader, *_ = wires
    process = multiprocessing.get_context("spawn").Process(
        target=filters.run, args=("wave",), kwargs={"mode": Filter.SMOOTH, "value": 10}
    )
    process.start()
    try:
        path, stamps, sent = [0.1], [], 0
        until = time.monotonic() + 30
        while len(path) < 120 and time.monotonic() < until:
            if len(path) in (1, 8, 60, 63) and sent != len(path):
                sent = len(path)
                want(writer, [0.5 if sent < 60 else -0.5, 0.2, 0.3], True)
            if reader.wait(0.05, "next"):
                path.append(float(reader.message["position"][0]))
                stamps.append(reader.stamp)
            elif len(path) == 1:
                sent = 0  # the process is not there yet
        steps = np.diff(path)
        assert len(path) == 120
        assert np.abs(steps).max() <= 1.0 / 10 + 1e-9, "no step larger than a tenth of what was asked"
        assert path[-1] == pytest.approx(-0.5, abs=0.05)
        beats = (stamps[-1] - stamps[0]) / filters.PERIOD
        assert len(stamps) - 1 <= beats + 1, "never more often than its period; how late it is, is the machine's affair"
    finally:
        process.terminate()
        process.join(10)
    assert process.exitcode == 0, "SIGTERM ends it in order"
