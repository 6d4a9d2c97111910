"""The gait and the gains of a walking robot are parameters: told while it walks, checked, saved and loaded."""

import json
from dataclasses import replace

import numpy as np
import pytest
from robot_processes import wholebody
from walking_rig import NAME, Rig

from wholebody import plugins, robots
from wholebody.behaviors import Walking
from wholebody.behaviors.walking import AHEAD, walking_parameters
from wholebody.behaviors.walking_goals import Bearing
from wholebody.channels import Channel
from wholebody.drivers import Names
from wholebody.errors import BadFootsteps, BadGait, BadParameter
from wholebody.locomotion import Pattern
from wholebody.locomotion.walking.footsteps import in_place
from wholebody.operator.robot.settings import LiveParameters
from wholebody.parameters import Parameters
from wholebody.parameters.remote import Remote

ONE_FOOT = (Bearing.LEFT, Bearing.RIGHT)
PERIOD = 0.005


@pytest.fixture(scope="module")
def hubo():
    return robots.load("hubo2plus")


@pytest.fixture
def walking(hubo):
    return Walking(hubo)


@pytest.mark.parametrize("stabilizer", plugins.names("stabilizers"))
def test_every_parameter_of_every_stabilizer_has_unit_bounds_and_meaning_and_can_be_set_within_them(hubo, stabilizer):
    parameters = walking_parameters(Walking(hubo, stabilizer=stabilizer))
    assert {"gait.step_time", "gait.limits.length", "swing_levelling.rise"} <= set(parameters.paths)
    assert any(path.startswith("stabilizer.") for path in parameters.paths) == (stabilizer != "none")
    for slot in parameters:
        about, value = slot.about, slot.value()
        assert about.unit
        assert about.meaning, about.path
        assert about.lower <= value <= about.upper, about.path
        nearby = value + 1e-3 * min(1.0, about.upper - value) - 1e-3 * (value == about.upper)
        slot.set(nearby)
        assert slot.value() == nearby, about.path
        with pytest.raises(BadParameter, match="outside"):
            slot.set(about.upper + 1.0)
        assert slot.value() == nearby


def test_what_does_not_fit_together_is_refused_and_nothing_changes(walking):
    parameters, gait = walking_parameters(walking), walking.gait
    with pytest.raises(BadGait, match="leave a fifth of the step or more"):
        parameters.set("gait.double_support", 0.9 * gait.step_time)
    with pytest.raises(BadFootsteps, match="in this order"):
        parameters.set("gait.limits.narrowest", gait.limits.spacing + 0.01)
    assert walking.gait == walking.walker.pattern.gait == gait


def test_gains_that_are_set_are_those_the_stabilizer_uses(hubo):
    walking = Walking(hubo, stabilizer="regions")
    parameters = walking_parameters(walking)
    parameters.set("stabilizer.regions.safe", 0.4)
    parameters.set("stabilizer.pull", 12.0)
    assert (walking.walker.stabilizer.gains.regions.safe, walking.walker.stabilizer.gains.pull) == (0.4, 12.0)
    with pytest.raises(BadGait, match="safe < nearly critical"):
        parameters.set("stabilizer.regions.safe", 0.9)


def pattern_in_the_middle_of_its_first_step(walking):
    gait = walking.gait
    pattern = Pattern(gait, walking.walker.pattern.feet)
    pattern.follow(in_place(pattern.feet, 8, gait.limits), 0.0)
    now = gait.begin + 0.5 * gait.single_support
    assert pattern.at(now).support != "both"
    return pattern, now


def landings(pattern, since):
    """When feet land, by plan."""
    times, before = [], pattern.at(since).support
    for time in np.arange(since, since + 20.0, 0.001):
        support = pattern.at(float(time)).support
        if before != "both" and support == "both":
            times.append(time)
        before = support
    return np.array(times)


def test_another_gait_counts_after_the_steps_that_are_kept_and_moves_nothing_now(walking):
    quick = replace(walking.gait, step_time=0.7 * walking.gait.step_time)
    pattern, now = pattern_in_the_middle_of_its_first_step(walking)
    before = pattern.at(now)
    pattern.adopt(quick, now, keep=AHEAD - 1)
    after = pattern.at(now)
    assert np.linalg.norm(after.dcm - before.dcm) < 1e-3
    taken = np.diff(landings(pattern, now))
    slow = walking.gait.step_time
    assert len(taken) == 7
    assert taken[0] == pytest.approx(slow, abs=0.002)
    assert taken[1:] == pytest.approx(quick.step_time, abs=0.002)

    hasty, now = pattern_in_the_middle_of_its_first_step(walking)
    hasty.adopt(quick, now, keep=1)
    assert np.linalg.norm(hasty.at(now).dcm - before.dcm) > 1e-3  # so the next step is kept, too


def test_values_that_fit_only_after_others_are_loaded_in_whatever_order_they_stand(walking, tmp_path):
    parameters, file = walking_parameters(walking), tmp_path / "gait.yaml"
    parameters.set_all({"gait.step_time": 0.2, "gait.double_support": 0.02, "stabilizer.proportional": 3.0})
    parameters.save(file)
    others = walking_parameters(other := Walking(walking.walker.robot))
    others.set("gait.double_support", 0.3)
    with pytest.raises(BadGait):
        others.set("gait.step_time", 0.2)  # alone
    others.load(file)
    assert other.gait == walking.gait
    assert values(others) == values(parameters)

    file.write_text(file.read_text().replace("stabilizer.proportional: 3.0", "stabilizer.proportional: 300.0"))
    fresh = walking_parameters(Walking(walking.walker.robot))
    before = values(fresh)
    with pytest.raises(BadParameter, match=r"gait.yaml:\d+.*stabilizer.proportional = 300.0 is outside"):
        fresh.load(file)
    assert values(fresh) == before


def values(parameters: Parameters):
    return {path: parameters.get(path) for path in parameters.paths}


def test_the_height_changes_before_the_robot_stands_up_and_not_after():
    with Rig() as rig:
        walk = Remote("walk", NAME)
        lower = 0.97 * walk.get("gait.height")
        assert walk.set("gait.height", lower) == lower
        rig.client.wait(rig.client.stand(1.0))
        assert rig.world.com_in_world[2] == pytest.approx(lower, abs=0.01)
        with pytest.raises(BadParameter, match="set it before it stands up"):
            walk.set("gait.height", 1.02 * lower)
        assert walk.get("gait.height") == lower


def steps_taken(count):
    """Seconds from one foot's landing to the next, of so many to come."""
    times, before = [], Bearing.BOTH
    with Channel(Names(NAME).doing("walk")) as channel, channel.reader() as reader:
        reader.latest()
        while len(times) <= count:
            assert reader.wait(30.0, mode="next")
            now = Bearing(int(reader.message["bearing"]))
            if now is Bearing.BOTH and before in ONE_FOOT:
                times.append(float(reader.message["time"]))
            before = now
    return np.diff(times)


@pytest.mark.slow
def test_a_walking_robot_takes_other_steps_when_told_and_refuses_what_it_cannot(tmp_path):
    with Rig() as rig:
        robot, walk, live = rig.client, Remote("walk", NAME), LiveParameters(NAME, Parameters())
        rig.callback(live.close)
        robot.wait(robot.stand(1.0))
        slow = walk.get("gait.step_time")
        file = tmp_path / "before.yaml"
        walk.save(file)

        robot.walk(steps_in_place=100)
        assert steps_taken(2) == pytest.approx(slow, abs=1.5 * PERIOD)
        quick = 0.75 * slow
        assert wholebody("set", "gait.step_time", quick, "--controller", "walk", "--name", NAME).stdout.strip()
        assert walk.get("gait.step_time") == quick
        steps_taken(AHEAD)
        assert steps_taken(2) == pytest.approx(quick, abs=1.5 * PERIOD)

        refused = wholebody("set", "gait.step_time", 9, "--controller", "walk", "--name", NAME, check=False)
        assert refused.returncode
        assert "outside 0.2 … 5" in " ".join(refused.stderr.split())
        with pytest.raises(BadParameter, match="leave a fifth of the step"):
            live.set("walk:gait.double_support", "0.9").result()  # as SET of RCP and the page's form do
        assert float(live.values()["walk:gait.step_time"]) == pytest.approx(quick, rel=1e-5)
        assert walk.get("gait.double_support") < 0.9
        assert steps_taken(2) == pytest.approx(quick, abs=1.5 * PERIOD)

        wholebody("params", "--controller", "walk", "--name", NAME, "--load", file)
        listed = json.loads(wholebody("params", "gait", "--controller", "walk", "--name", NAME, "--json").stdout)
        assert listed["gait.step_time"]["value"] == slow
        assert listed["gait.step_time"]["unit"] == "s"
        steps_taken(AHEAD)
        assert steps_taken(2) == pytest.approx(slow, abs=1.5 * PERIOD)
        robot.wait(robot.stop())
        assert rig.upright
