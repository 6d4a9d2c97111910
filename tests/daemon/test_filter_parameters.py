"""How the daemon filters references is told by parameters, and changed by them, checked by who knows."""

import json

import pytest
from robot_processes import end_all, wholebody

from wholebody.channels import Channel
from wholebody.drivers import Names, connect
from wholebody.errors import BadParameter, NoRobot, UnknownName
from wholebody.messages import Mode
from wholebody.processes.filter_parameters import FilterParameters

JOINT = "RSP"


@pytest.fixture
def robot():
    wholebody("start", "minihubo", "--driver", "loopback")
    yield
    end_all()


@pytest.fixture
def filters(robot):
    return FilterParameters()


def first_command_for_a_step_of(angle):
    """What the daemon tells a joint in the cycle in which its reference steps from zero, as a share of the step."""
    with connect("step") as connection, Channel(Names().commanded) as channel, channel.reader() as reader:
        assert connection.wait(1.0)
        joint = connection.index[JOINT]
        connection.reference.mask[joint], connection.reference.mode[:] = True, Mode.POSITION
        connection.reference.position[joint] = angle
        reader.latest()
        before = reader.message["position"][joint]
        connection.put()
        while reader.wait(1.0, mode="next"):
            if reader.message["position"][joint] != before:
                return (reader.message["position"][joint] - before) / (angle - before)
    raise AssertionError("the joint did not move")


@pytest.mark.slow
def test_every_joint_has_a_mode_a_length_and_a_gain_with_bounds_and_meaning(filters):
    listed = {about.path: about for about in filters.list()}
    assert all(about.meaning for about in listed.values())
    assert listed[f"filter.{JOINT}.mode"].choices == ("pass", "smooth", "compliant", "feedback")
    assert (listed[f"filter.{JOINT}.length"].lower, listed[f"filter.{JOINT}.length"].kind) == (1, "whole")
    assert len(listed) == 3 * sum(path.endswith(".mode") for path in listed)
    assert {filters.get(path) for path in listed if path.endswith(".mode")} == {"pass"}


@pytest.mark.slow(but="20")
@pytest.mark.parametrize("length", [4, 20])
def test_the_daemon_filters_as_it_is_told(filters, length):
    filters.set(f"filter.{JOINT}.mode", "smooth")
    filters.set(f"filter.{JOINT}.length", length)
    assert first_command_for_a_step_of(0.02) == pytest.approx(1 / length, rel=1e-9)


def test_what_cannot_be_is_refused_and_nothing_changes(filters):
    filters.set(f"filter.{JOINT}.mode", "smooth")
    before = filters.values()
    for path, value, says in (
        ("length", 0, "outside 1 … 100000"),
        ("length", 2.5, "whole number"),
        ("gain", 0.5, "mode is smooth, which does not use it; set it to compliant first"),
        ("gain", 1.5, "outside 0 … 0.99999"),
    ):
        with pytest.raises(BadParameter, match=says):
            filters.set(f"filter.{JOINT}.{path}", value)
    with pytest.raises(UnknownName, match="closest: 'smooth'"):
        filters.set(f"filter.{JOINT}.mode", "smoth")
    assert filters.values() == FilterParameters().values() == before
    filters.set(f"filter.{JOINT}.mode", "compliant")
    with pytest.raises(BadParameter, match=r"0\.99999"):  # says the daemon
        filters.set(f"filter.{JOINT}.gain", 1.0)
    assert filters.get(f"filter.{JOINT}.gain") == 0.0


@pytest.mark.slow
def test_what_is_saved_comes_back_whole_or_not_at_all(filters, tmp_path):
    file, tuned = tmp_path / "filters.yaml", {"RSP": ("smooth", 12), "LSP": ("feedback", 7), "REB": ("compliant", 0.4)}
    for joint, (mode, value) in tuned.items():
        filters.set(f"filter.{joint}.mode", mode)
        filters.set(f"filter.{joint}.{'gain' if mode == 'compliant' else 'length'}", value)
    saved = filters.values()
    filters.save(file)
    for joint in tuned:
        filters.set(f"filter.{joint}.mode", "pass")
    passing = filters.values()
    assert passing != saved

    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(file.read_text().replace("filter.LSP.length: 7", "filter.LSP.length: -7"))
    with pytest.raises(BadParameter, match=r"wrong.yaml:\d+.*filter.LSP.length"):
        filters.load(wrong)
    assert filters.values() == passing
    filters.load(file)
    assert filters.values() == saved


@pytest.mark.slow
def test_a_person_reaches_filters_by_the_same_commands(robot, tmp_path):
    file = tmp_path / "filters.yaml"
    assert wholebody("set", f"filter.{JOINT}.mode", "smooth").stdout == "smooth\n"
    wholebody("set", f"filter.{JOINT}.length", 8)
    assert wholebody("get", f"filter.{JOINT}.length").stdout == "8\n"
    listed = json.loads(wholebody("params", f"filter.{JOINT}", "--json").stdout)
    assert {path: about["value"] for path, about in listed.items()} == {
        f"filter.{JOINT}.mode": "smooth",
        f"filter.{JOINT}.length": 8,
        f"filter.{JOINT}.gain": 0,
    }
    wholebody("params", "--controller", "daemon", "--save", file)
    wholebody("set", f"filter.{JOINT}.mode", "pass")
    assert JOINT in wholebody("params", "filter", "--load", file).stdout
    assert wholebody("get", f"filter.{JOINT}.length").stdout == "8\n"
    refused = wholebody("set", f"filter.{JOINT}.gain", 0.5, check=False)
    assert refused.returncode
    assert "set it to compliant first" in " ".join(refused.stderr.split())


def test_without_a_daemon_it_says_how_to_start_one():
    with pytest.raises(NoRobot, match="wholebody start"):
        FilterParameters("nobody")
