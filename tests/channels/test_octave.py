"""Octave reads and moves robots by the package +wholebody: bytes, fields, services, parameters, and its errors."""

import os
import shutil
import subprocess
import threading
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pytest
from typer.testing import CliRunner

from wholebody import cli, messages
from wholebody.channels import Channel
from wholebody.channels.languages import octave_package
from wholebody.errors import MissingProgram
from wholebody.parameters.records import Get, Set, Values
from wholebody.services import AtMost, GoalServer, Server, Stage

needs_octave = pytest.mark.skipif(
    not (shutil.which("mkoctfile") and shutil.which("octave")), reason="apt install octave liboctave-dev"
)
JOINTS = ("RSP", "REB", "RWY")


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    folder = octave_package.copy(tmp_path_factory.mktemp("octave"))
    octave_package.build(folder)
    return folder


def octave(package, script, *, begin_only=False):
    """Run a script; what it prints, line by line."""
    words = ["octave", "--no-gui", "--no-window-system", "--quiet", "--no-init-file", "--eval"]
    words.append(f"addpath ('{package}'); {script}")
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if begin_only:
        return process
    said, wrong = process.communicate(timeout=50)
    assert process.returncode == 0, wrong
    return said.splitlines()


@pytest.fixture
def robot():
    """A robot's channels, without a robot."""
    state = messages.state(JOINTS, imus=["pelvis"], force_torques=["foot"])
    with (
        Channel("robot.state", state) as states,
        Channel("robot.commanded", messages.reference(JOINTS)) as commanded,
        Channel("robot.tick", np.dtype("<f8")) as tick,
        tick.writer(),
        commanded.writer(),
        states.writer() as writer,
    ):
        writer.message.time = 12.5
        writer.message.position[:] = 0.1, -0.2, np.pi
        writer.message["tick"] = 2**53 - 1
        writer.message["imu"]["orientation"] = 0.0, 0.6, 0.0, 0.8
        writer.put()
        yield writer


TELL = "say = @ (x) printf ('%.17g\\n', x); "
CATCH = "function no (does) try, does (); catch e, printf ('%s\\n', e.message); end, end\n"


@needs_octave
@pytest.mark.slow
def test_a_state_is_read_bit_for_bit_whole_or_some_fields_of_it(package, robot):
    said = octave(
        package,
        TELL + "robot = wholebody.connect ('robot', 'test'); s = robot.latest (); say (s.position); say (s.tick);"
        "say (s.imu.orientation); s = robot.latest ({'time'}); say (s.time); say (numel (fieldnames (s)));"
        "say (robot.joint ({'RWY', 'RSP'})); i = robot.info (); say (i.sequence); disp (robot.joints{2})",
    )
    numbers = [float(each) for each in said[:-1]]
    assert numbers == [0.1, -0.2, np.pi, 2**53 - 1, 0.0, 0.6, 0.0, 0.8, 12.5, 1, 3, 1, 1]
    assert said[-1] == "REB"


@needs_octave
@pytest.mark.slow
def test_a_command_moves_the_joints_named_and_no_others_at_the_time_of_the_state(package, robot):
    octave(package, "r = wholebody.connect ('robot', 'test'); r.put (r.joint ({'REB', 'RWY'}), [0.5 -1]);")
    with Channel("robot.test.reference") as channel, channel.reader() as reader:
        assert reader.latest()
        assert reader.message["position"].tolist() == [0.0, 0.5, -1.0]
        assert reader.message["mask"].tolist() == [False, True, True]
        assert reader.message["time"] == 12.5
    octave(
        package,
        "r = wholebody.connect ('robot', 'test'); q = struct ('period', 0.25, 'mask', [true false true],"
        "'effort', single ([1 2 3]), 'mode', int8 ([2 0 2])); r.put (q);",
    )
    with Channel("robot.test.reference") as channel, channel.reader() as reader:
        assert reader.latest()
        assert reader.message["effort"].tolist() == [1.0, 2.0, 3.0]
        assert reader.message["mode"].tolist() == [2, 0, 2]
        assert reader.message["period"] == 0.25


@needs_octave
@pytest.mark.slow
def test_what_is_wrong_is_said_with_the_channel_and_the_remedy(package, robot):
    wrong = {
        "wholebody.connect ('nobody')": "no robot called 'nobody' is running; start one",
        "wholebody_channel ('reader', 'no.such')": "channel 'no.such': there is none; nobody has made it",
        "r.joint ('XYZ')": "the robot 'robot' has no joint 'XYZ'; it has RSP, REB, RWY",
        "r.latest ({'speed'})": "channel 'robot.state' has no field 'speed'; see: wholebody channels show robot.state",
        "r.put (struct ('positon', 1))": "channel 'robot.test.reference' has no field 'positon'",
        "r.put (struct ('position', [1 2]))": "field 'position' holds 3 numbers, not 2",
        "r.put (struct ('mode', [NaN 0 0]))": "field 'mode' holds whole numbers; nan is none",
        "r.put (1, NaN)": "the position of joint 1 is nan; give a number",
        "r.put (4, 0)": "4 is no number of a joint; there are 3",
        "r.put ({1}, 0)": "numbers are wanted",
        "r.put (1:2, 0)": "as many positions as joints are wanted",
        "r.wait (-1)": "how long to wait is at least 0 s",
        "r.service ('gripper')": "'robot.gripper' does not run; see: wholebody status",
        "wholebody_channel ('reader', '../etc')": "not a legal channel name",
        "wholebody_channel ('latest', 99)": "this channel is closed; connect again",
        "wholebody_channel ('fly', 1)": "'fly' is no verb",
        "wholebody_channel (7)": "the first argument is a verb",
    }
    calls = "\n".join(f"no (@ () {call});" for call in wrong)
    said = octave(package, f"1; {CATCH} r = wholebody.connect ('robot', 'test');\n{calls}")
    for line, (call, expected) in zip(said, wrong.items(), strict=True):
        assert expected in line, call
    with Channel("robot.test.reference") as channel:
        assert channel.newest == 0, "and nothing was put"


@needs_octave
@pytest.mark.slow
def test_a_channel_that_is_pulled_away_or_of_another_version_is_said_so(package, robot, tmp_path, channels_folder):
    (channels_folder / "robot.other.reference").write_bytes((channels_folder / "robot.state").read_bytes())
    gone = f"delete ('{channels_folder}/robot.state'); pause (0.3); no (@ () r.latest ());"
    other = "no (@ () wholebody.connect ('robot', 'other'));"
    said = octave(package, f"1; {CATCH} r = wholebody.connect ('robot', 'test');\n{other} {gone}")
    assert (
        "channel 'robot.other.reference': the channel holds messages of another layout; it belongs to another"
        in said[0]
    )
    assert (
        "channel 'robot.state': the channel's file was truncated, replaced or removed; the robot was stopped" in said[1]
    )
    older = octave_package.copy(tmp_path / "older")
    header = older / "ring.h"
    header.write_text(header.read_text().replace("#define WB_VERSION 2u", "#define WB_VERSION 1u"))
    octave_package.build(older)
    said = octave(older, f"1; {CATCH} no (@ () wholebody_channel ('reader', 'robot.commanded'));")
    assert "another version of this library; build this MEX function again (wholebody octave install)" in said[0]


@dataclass(frozen=True)
class Corner:
    """A place, and how it is called."""

    x: float
    name: str = ""


@dataclass(frozen=True)
class Draw:
    """What a request may consist of."""

    corners: Annotated[tuple[Corner, ...], AtMost(2)]
    filled: bool = False


class Board(GoalServer):
    """Draws for ever, until something else is to be drawn or it is cancelled; nothing without corners."""

    def __init__(self):
        super().__init__("robot.board", (Draw,))
        self.drawn = []

    def serve(self):
        asked = self.take_goal(0.0)
        for slot, each in list(self.under_way.items()):
            if each.cancelled:
                self.finish(Stage.SUCCEEDED, 0.0, slot=slot)
        if asked is not None and not asked.request.corners:
            self.reply(asked.number, Stage.REJECTED, text="nothing to draw")
        elif asked is not None:
            self.drawn.append(asked.request)
            self.accept(asked, 0.0)
            self.run(0.0, progress=0.25)


@needs_octave
@pytest.mark.slow
def test_a_goal_is_rejected_preempted_or_cancelled_and_each_is_done_once(package):
    script = f"""1; {CATCH}
    board = wholebody.service ('robot.board'); printf ('%s ', board.kinds{{:}}); printf ('\\n');
    no (@ () board.ask ('draw'));
    no (@ () board.send ('paint'));
    no (@ () board.send ('draw', struct ('colour', 1)));
    corners = struct ('count', 1, 'items', struct ('x', 1.5, 'name', 'top'));
    first = board.send ('draw', struct ('corners', corners, 'filled', true));
    second = board.send ('draw', struct ('corners', corners));
    no (@ () board.wait (first, 20));
    while ~ strcmp (board.report (second).stage, 'running') pause (0.01); end
    disp (board.report (second).progress);
    board.wait (board.cancel (second), 20); no (@ () board.wait (second, 20));"""
    with Board() as board:
        running = octave(package, script, begin_only=True)
        while running.poll() is None:
            board.serve()
        said, wrong = running.communicate()
    assert running.returncode == 0, wrong
    kinds, *lines = said.splitlines()
    assert kinds.split() == ["draw", "cancel"]
    assert lines[0] == "'robot.board': rejected nothing to draw"
    assert lines[1] == "'robot.board' knows no 'paint'; it knows draw, cancel"
    assert lines[2] == "'draw' has no field 'colour'"
    assert lines[3].startswith("'robot.board': preempted order")
    assert float(lines[4]) == 0.25
    assert lines[5].startswith("'robot.board': cancelled")
    top = (Corner(1.5, "top"),)
    assert board.drawn == [Draw(top, filled=True), Draw(top)], "what was not given is not that of the one before"


@needs_octave
@pytest.mark.slow
def test_parameters_are_read_and_set(package):
    values, ended = {"gain": [100.0]}, threading.Event()

    def serve(server):
        while not ended.is_set():
            if (asked := server.wait(0.05)) is None:
                continue
            path = asked.request.path
            if path not in values:
                server.reply(asked.number, Stage.REJECTED, text=f"no parameter '{path}'")
                continue
            if isinstance(asked.request, Set):
                values[path] = list(asked.request.values)
            server.reply(asked.number, Stage.SUCCEEDED, answer=Values(np.array(values[path])))

    script = f"""1; {CATCH} reach = wholebody.parameters ('reach', 'robot');
    disp (reach.get ('gain')); disp (reach.set ('gain', [1.5 2.5])); no (@ () reach.get ('pain'));"""
    with Server("robot.reach.parameters", (Get, Set), answer=Values, room=64) as server:
        thread = threading.Thread(target=serve, args=(server,))
        thread.start()
        try:
            said = octave(package, script)
        finally:
            ended.set()
            thread.join()
    assert said[0].split() == ["100"]
    assert said[1].split() == ["1.5000", "2.5000"]
    assert said[2] == "'robot.reach.parameters': rejected no parameter 'pain'"
    assert values["gain"] == [1.5, 2.5]


@needs_octave
@pytest.mark.slow
def test_every_function_has_its_help(package):
    for name in ("connect", "service", "parameters", "index"):
        text = "\n".join(octave(package, f"help wholebody.{name}"))
        assert f"wholebody.{name} (" in text
        assert "% robot" not in text


def test_for_matlab_the_sources_are_put_there_and_its_command_is_told(tmp_path):
    said = CliRunner().invoke(
        cli.application(["octave"]), ["octave", "install", "--matlab", "--to", str(tmp_path / "m")]
    )
    assert said.exit_code == 0
    assert f"cd '{tmp_path}/m'; mex wholebody_channel.c ring.c; addpath '{tmp_path}/m'" in said.stdout
    assert (tmp_path / "m" / "+wholebody" / "connect.m").exists()


def test_without_mkoctfile_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    folder = octave_package.copy(tmp_path / "there")
    assert {"+wholebody", "ring.c", "ring.h", "wholebody_channel.c"} == set(os.listdir(folder))
    with pytest.raises(MissingProgram, match="no mkoctfile: apt install octave liboctave-dev"):
        octave_package.build(folder)
    assert not (folder / octave_package.BUILT).exists()
