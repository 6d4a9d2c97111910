"""Drivers of anybody's: found by name or path, checked by the laws that ours keep, and behind the real daemon."""

import json
import os

import numpy as np
import pytest
from robot_processes import daemon, end_all, heavy_libraries, wait_for, wholebody

from wholebody import robots
from wholebody.configuration.reading import read
from wholebody.drivers import connect
from wholebody.drivers.catalog import DriverChoice, find, for_robot, names, open_driver
from wholebody.drivers.laws import REACH, check
from wholebody.errors import BadConfiguration, BadDriver, UnknownName
from wholebody.processes.driver_check import check_driver
from wholebody.processes.launch_plan import LaunchPlan

ROBOT = robots.load("minihubo")

MINE = '''
from __future__ import annotations

import time
from typing import Annotated, Literal

import numpy as np

from wholebody.messages import Measured, Status
from wholebody.parameters import Bounds, Unit


class Mine:
    """Joints that go a part of their way each cycle.

    share  of its way that a joint goes
    """

    simulated = True

    def __init__(self, robot, period: float, *, share: Annotated[float, Unit("1"), Bounds(0.01, 1)] = 0.2,
                 quick: bool = False, ports: tuple[str, ...] = (), kind: Literal["arm", "leg"] = "arm"):
        self.robot, self.period, self.share = robot, period, share
        self.start = robot.posture(list(robot.postures)[-1])
        self.position, self.goal = self.start.copy(), self.start.copy()
        self.reads = 0

    def read(self, state):
        before = self.position.copy()
        self.position += self.share * (self.goal - self.position)
        state.position[:], state.velocity[:] = self.position, (self.position - before) / self.period
        state.measured[:] = Measured.POSITION | Measured.VELOCITY
        state.status[:] = Status.DRIVER_ON | Status.CONTROL_ON | Status.HOMED
        self.reads += 1

    def write(self, reference):
        np.copyto(self.goal, reference.position, where=reference.mask)

    def stop(self):
        self.goal[:] = self.position

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.stop()


class Stepped(Mine):
    """The same in a time of its own, which goes by as fast as it can."""

    missed, now = 0, 0.0

    def tick(self):
        self.now += self.period
        return self.now


class Absent(Stepped):
    def __enter__(self):
        raise OSError("there is no /dev/mine0")


class Slow(Stepped):
    def read(self, state):
        time.sleep(2 * self.period)
        super().read(state)


class OtherBeat(Stepped):
    def tick(self):
        self.now += 2 * self.period
        return self.now


class Backwards(Stepped):
    def read(self, state):
        super().read(state)
        state.time = 1.0 - 0.005 * self.reads


class Milliseconds(Stepped):
    def read(self, state):
        super().read(state)
        state.time = 1000.0 * self.now


class Nameless(Stepped):
    def read(self, state):
        super().read(state)
        state.measured[:] = 0


class OtherNames(Stepped):
    joints = ("RSP", "shoulder_left")


class NotANumber(Stepped):
    def read(self, state):
        super().read(state)
        state.velocity[3] = np.nan


class Degrees(Stepped):
    def read(self, state):
        super().read(state)
        state.position[:] = np.degrees(state.position)

    def write(self, reference):
        np.copyto(self.goal, np.radians(reference.position), where=reference.mask)


class Asleep(Stepped):
    def read(self, state):
        super().read(state)
        state["status"] = 0


class Drifts(Stepped):
    def read(self, state):
        self.goal[2] += 0.002
        super().read(state)

    def write(self, reference):
        pass


class GoesAway(Stepped):
    def write(self, reference):
        super().write(reference)
        self.goal[5] = self.start[5] + 0.1


class RaisesInStop(Stepped):
    def stop(self):
        if self.reads > 10:
            raise OSError("the cable is out")


class RaisesAtTheEnd(Stepped):
    ended = False

    def stop(self):
        if self.ended:
            raise ValueError("the port is closed")
        super().stop()

    def __exit__(self, kind, error, trace):
        self.ended = True


class RaisesInRead(Stepped):
    def read(self, state):
        if self.reads == 15:
            raise TimeoutError("no answer")
        super().read(state)


class Deaf(Stepped):
    def write(self, reference):
        pass


class Inverted(Stepped):
    def write(self, reference):
        np.copyto(self.goal, 2 * self.start - reference["position"], where=reference["mask"])


class Doubles(Stepped):
    def write(self, reference):
        np.copyto(self.goal, 2 * reference["position"] - self.start, where=reference["mask"])


class OtherOrder(Stepped):
    def write(self, reference):
        goal = self.start + np.roll(reference["position"] - self.start, 1)
        np.copyto(self.goal, goal, where=np.roll(reference["mask"], 1))


class Gesticulates(Stepped):
    def write(self, reference):
        super().write(reference)
        self.goal += 0.8 * (self.goal - self.start).sum() * (np.arange(len(self.goal)) == 0)


class DegreesPerSecond(Stepped):
    def read(self, state):
        super().read(state)
        state["velocity"] = np.degrees(state["velocity"]) / 4  # not so much that it is implausible


class AllJoints(Stepped):
    def write(self, reference):
        self.goal[:] = reference["position"]


class GoesOn(Stepped):
    def stop(self):
        pass


class NoStop:
    def __init__(self, robot): ...
    def read(self, state): ...
    def write(self, reference): ...
    def __enter__(self): ...


class NoRobot(Mine):
    def __init__(self): ...


class NeedsPort(Mine):
    def __init__(self, robot, period, port: str):
        super().__init__(robot, period)
'''


@pytest.fixture
def mine(tmp_path):
    """The user's file, and the name of a class in it."""
    (tmp_path / "mine.py").write_text(MINE)
    return lambda name: f"{tmp_path / 'mine.py'}:{name}"


@pytest.fixture(autouse=True)
def no_process_stays():
    yield
    end_all()


def verdicts(driver, seconds=0.2, **more):
    return list(check_driver(driver, "minihubo", seconds=seconds, **more))


def broken(driver):
    return {each.law: each for each in verdicts(driver, joints=("RSP",)) if not each.passed}


# The laws.


def test_a_good_driver_of_ones_own_keeps_every_law(mine):
    found = verdicts(mine("Mine"), joints=("RSP", "LEB"))
    assert [each for each in found if not each.passed] == []
    assert {"opens", "period", "times", "names", "finite", "units", "status", "holds", "stop", "lets go"} < {
        each.law for each in found
    }
    assert {f"LEB {law}" for law in ("follows", "alone", "velocity", "mask", "stops")} < {each.law for each in found}


@pytest.mark.parametrize(
    ("name", "law", "figure", "remedy"),
    [
        ("Absent", "opens", "/dev/mine0", "device"),
        ("Slow", "period", "read take 1", "must not wait"),
        ("OtherBeat", "period", "10 ms from beat to beat", "once a period"),
        ("Backwards", "times", "go back", "monotonic"),
        ("Milliseconds", "times", "s in a second", "seconds"),
        ("Nameless", "names", "0 of 22 joints", "Measured.POSITION"),
        ("OtherNames", "names", "shoulder_left", "robot.joint_names"),
        ("NotANumber", "finite", "velocity of", "last value"),
        ("Degrees", "units", "position of", "rad"),
        ("Asleep", "status", "0 of 22 joints on", "Status.DRIVER_ON"),
        ("Drifts", "holds", "rad", "as read"),
        ("RaisesInStop", "stop", "the cable is out", "never raises"),
        ("RaisesAtTheEnd", "lets go", "the port is closed", "never raises"),
        ("RaisesInRead", "goes on", "no answer", "must not raise"),
        ("Deaf", "RSP follows", "went +0.0000 rad", "does not follow"),
        ("Inverted", "RSP follows", "went -0.0", "wrong way"),
        ("Doubles", "RSP follows", "went +0.", "too far"),
        ("OtherOrder", "RSP alone", "others moved 0.0", "order of robot.joint_names"),
        ("Gesticulates", "RSP alone", "others moved 0.0", "order of robot.joint_names"),
        ("DegreesPerSecond", "RSP velocity", "adds up to", "rad/s"),
        ("AllJoints", "RSP mask", "moved 0.0", "mask"),
        ("GoesOn", "RSP stops", "after stop()", "forgets"),
    ],
)
def test_each_law_is_broken_by_a_driver_that_breaks_it_and_says_how_and_what_to_do(mine, name, law, figure, remedy):
    found = broken(mine(name))
    assert law in found
    assert figure in found[law].figure
    assert remedy in found[law].remedy


@pytest.mark.parametrize("name", ["Slow", "NotANumber", "AllJoints", "GoesOn", "DegreesPerSecond", "Deaf"])
def test_a_driver_with_one_fault_breaks_one_law(mine, name):
    assert len(broken(mine(name))) == 1


def test_without_joints_to_move_a_real_device_is_told_to_stay_where_it_is(mine):
    asked = []

    class Watched(find(mine("Stepped")).make):
        simulated = False

        def write(self, reference):
            asked.append(np.abs(reference.position - self.start).max())
            super().write(reference)

    laws = [each.law for each in check(lambda: Watched(ROBOT, 0.005), ROBOT, 0.005, seconds=0.2)]
    assert max(asked) == 0
    assert not [law for law in laws if "RSP" in law]
    assert all(each.passed for each in check(lambda: Watched(ROBOT, 0.005), ROBOT, 0.005, joints=["RSP"], seconds=0.2))
    assert max(asked) == pytest.approx(REACH, abs=0.01)
    assert max(asked) <= REACH + 1e-9


@pytest.mark.parametrize(("name", "law"), [("Degrees", "units"), ("Asleep", "status"), ("GoesAway", "holds")])
def test_a_real_device_that_breaks_a_law_at_rest_is_not_moved(mine, name, law):
    asked = []

    class Watched(find(mine(name)).make):
        simulated = False

        def write(self, reference):
            asked.append(reference.position - self.start)
            super().write(reference)

    found = check(lambda: Watched(ROBOT, 0.005), ROBOT, 0.005, joints=["RSP"], seconds=0.2)
    broken = {each.law: each for each in found if not each.passed}
    assert set(broken) == {law, "moves"}
    assert law in broken["moves"].figure
    if name == "Degrees":
        assert asked == [], "positions that cannot be are not written back"
    else:
        assert np.abs(asked).max() == 0


@pytest.mark.slow(but="loopback")
@pytest.mark.parametrize("driver", ["loopback", "hubo_can", "dynamixel", "simulator", "simulation", "mini", "full"])
def test_ours_keep_them(driver, channels_folder):
    found = list(check_driver(driver, seconds=0.5))
    assert [each for each in found if not each.passed] == []
    assert any("RSP follows" in each.law for each in found), "a simulated device moves"
    assert list(channels_folder.glob("check-*")) == [], "nothing is left behind"


@pytest.mark.slow
def test_a_simulated_wheel_that_the_robot_stands_on_keeps_them(channels_folder):
    found = list(check_driver("simulation", "trikey", seconds=0.5))
    assert [each for each in found if not each.passed] == []
    assert any("wheel2 follows" in each.law for each in found)


def test_a_joint_that_the_robot_lacks_is_no_joint_to_move(mine):
    with pytest.raises(UnknownName, match="closest: 'RSP'"):
        verdicts(mine("Mine"), joints=("RSPP",))


def test_the_command_prints_every_law_and_ends_with_1_if_one_is_broken(mine):
    good = wholebody("drivers", "check", mine("Mine"), "--robot", "minihubo", "--seconds", 0.2, "--move", "RSP,LSP")
    assert good.stdout.count("passed") == 20
    assert "20 laws kept, 0 broken" in good.stdout
    bad = wholebody("drivers", "check", mine("Degrees"), "--robot", "minihubo", "--seconds", 0.2, check=False)
    assert bad.returncode == 1
    assert "failed  units" in bad.stdout
    assert "convert to rad" in bad.stdout


# The door.


def test_a_list_of_drivers_has_name_options_units_and_origin():
    text = wholebody("drivers").stdout
    for name in ("loopback", "simulator", "hubo_can", "dynamixel", "udp", "simulation", "daemon"):
        assert f"\n{name}  " in f"\n{text}"
    assert "timeout=5 s" in text
    assert "hubo2plus: virtual = simulator, full = hubo_can" in text
    assert "(wholebody)" in text


def test_a_choice_is_read_as_it_is_typed_and_a_tier_is_a_drivers_name():
    choice = DriverChoice.parse("hubo_can:buses=can0,can1,interface=virtual")
    assert choice.options == {"buses": "can0,can1", "interface": "virtual"}
    assert str(choice) == "hubo_can:buses=can0,can1,interface=virtual"
    hubo = robots.load("hubo2plus")
    assert str(for_robot("full:buses=can0,can1", hubo)) == "hubo_can:buses=can0,can1"
    with pytest.raises(UnknownName, match="no driver of hubo2plus 'mini'"):
        for_robot("mini", hubo)
    assert DriverChoice.parse("a/b.py:C:x=1,2").name == "a/b.py:C"


def test_options_have_the_types_that_their_annotations_say(mine):
    driver = find(mine("Mine"))
    assert driver.checked({"share": "0.5", "quick": "yes", "ports": "a,b", "kind": "leg"}) == {
        "share": 0.5,
        "quick": True,
        "ports": ("a", "b"),
        "kind": "leg",
    }
    assert driver.options["share"].unit == "1"
    assert driver.options["share"].meaning == "of its way that a joint goes"
    assert "period" not in driver.options
    assert open_driver(mine("Mine:share=0.5"), ROBOT, 0.005).share == 0.5


@pytest.mark.parametrize(
    ("driver", "error", "said"),
    [
        ("loopbak", UnknownName, "closest: 'loopback'"),
        ("simulation", BadDriver, "behind a daemon take simulator"),
        ("FILE:Mein", BadConfiguration, "no 'Mein' in .*; closest: 'Mine'"),
        ("FILE", BadConfiguration, "no class named after a colon"),
        ("nowhere.py:Mine", BadConfiguration, "nowhere.py"),
        ("FILE:NoStop", BadDriver, r"lacks stop\(self\), __exit__\(self, kind, error, trace\)"),
        ("FILE:NoRobot", BadDriver, "takes no robot"),
        ("FILE:NeedsPort", BadDriver, "needs the option port: a word"),
        ("FILE:Mine:shaer=0.5", UnknownName, "closest: 'share'"),
        ("FILE:Mine:share=much", BadDriver, "share = 'much'; give a number from 0.01 to 1"),
        ("FILE:Mine:share=2", BadDriver, "share = '2'; give a number from 0.01 to 1"),
        ("FILE:Mine:quick=perhaps", BadDriver, "give yes or no"),
        ("FILE:Mine:kind=wing", BadDriver, "give 'arm' or 'leg'"),
        ("FILE:Mine:fast", BadDriver, "'fast' is no option"),
    ],
)
def test_what_is_wrong_with_a_driver_is_said_before_anything_begins(mine, driver, error, said):
    with pytest.raises(error, match=said):
        LaunchPlan.make("robot", "minihubo", driver.replace("FILE", mine("Mine").rpartition(":")[0]))


def test_a_file_that_cannot_be_run_is_no_driver_and_nothing_is_started(tmp_path):
    (tmp_path / "torn.py").write_text("import there_is_no_such_module\n")
    run = wholebody("start", "minihubo", "--driver", tmp_path / "torn.py:Mine", check=False)
    assert run.returncode == 1
    assert "there_is_no_such_module" in run.stderr
    assert "Traceback" not in run.stderr
    assert daemon() is None


# Behind the daemon, and in a controller from a file.


def moved(joint, by):
    with connect("mover") as robot:
        goal = robot.position(joint) + by
        wait_for(lambda: robot.wait() and (robot.move({joint: goal}), abs(robot.position(joint) - goal) < 1e-3)[1])
    return True


def test_ones_own_file_is_the_robot_behind_the_real_daemon_and_a_controller_moves_it(mine, tmp_path):
    wholebody("start", "minihubo", "--driver", "mine.py:Mine:share=0.5", cwd=tmp_path)
    with connect("look") as robot:
        assert robot.position("RKN") == pytest.approx(ROBOT.posture("stand")[ROBOT.index["RKN"]]), "where it stands"
    assert moved("RSP", 0.1)
    assert heavy_libraries(daemon()) == []
    status = json.loads(wholebody("status", "--json").stdout)
    assert status["behind"] == mine("Mine")
    assert not status["faults"]


@pytest.mark.slow
def test_an_installed_package_brings_a_driver_by_its_entry_point(mine, tmp_path, monkeypatch):
    package = tmp_path / "mine-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[wholebody.drivers]\nmy_robot = mine:Mine\n")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', os.getcwd())}")
    assert "my_robot  Joints that go a part of their way each cycle.  (mine)" in wholebody("drivers").stdout
    wholebody("start", "minihubo", "--driver", "my_robot:share=0.5")
    assert moved("LSP", -0.1)


@pytest.mark.slow
def test_a_controller_from_a_file_runs_on_the_same_driver(mine, tmp_path):
    (tmp_path / "own.yaml").write_text(
        f"include: dreamer_posture.yaml\ninterface: {{type: '{mine('Mine')}', share: 0.5}}\n"
    )
    ran = json.loads(wholebody("run", tmp_path / "own.yaml", "--seconds", 0.5, "--json").stdout)
    assert ran["cycles"] > 100
    told = wholebody("run", "dreamer_posture", "--driver", f"{mine('Mine')}:shaer=1", "--seconds", 0.1, check=False)
    assert told.returncode == 1
    assert "closest: 'share'" in told.stderr
    (tmp_path / "wrong.yaml").write_text(
        f"include: dreamer_posture.yaml\ninterface: {{type: '{mine('Mine')}', share: much}}\n"
    )
    with pytest.raises(BadConfiguration, match=r"wrong.yaml:2.*share.*expected a number from 0.01 to 1, not 'much'"):
        read(str(tmp_path / "wrong.yaml"))


def test_every_driver_of_ours_says_what_it_is_and_what_its_options_mean():
    for name in names():
        driver = find(name)
        assert driver.what.endswith(".")
        assert all(option.meaning for option in driver.options.values()), name
