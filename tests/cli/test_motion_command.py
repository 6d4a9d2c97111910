"""`wholebody motion` and `wholebody teach`, as a person types them."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from wholebody import robots
from wholebody.channels import Channel
from wholebody.cli import application
from wholebody.motion import JointTable, KeyFrames

WAVE = Path(__file__).parents[2] / "examples" / "wave.yaml"
MAIN = [sys.executable, "-c", "from wholebody.cli import main; main()"]
HEAD = "robot: hubo2plus\nframes:\n  - {posture: stand}\n"


def wholebody(*arguments, stdin=None):
    """Run a command in this process."""
    words = [str(each) for each in arguments]
    return CliRunner().invoke(application(words[:1]), words, input=stdin)


def hubo():
    return robots.load("hubo2plus")


@pytest.fixture
def file(tmp_path):
    def write(text, name="motion.yaml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


# --- check ----------------------------------------------------------------------------------------


def test_the_example_is_a_wave_that_can_be_played():
    run = wholebody("motion", "check", WAVE)
    assert run.exit_code == 0, run.output
    assert "playable" in run.output
    assert "Hubo2+ for 4.7 s: 7 key frames" in run.output
    moved = {line.split()[0] for line in run.output.splitlines()[2:-1]}
    assert {"RSR", "REB"} <= moved
    assert not moved & {"LSR", "LEB", "RKN"}, "only the right arm and the head"


@pytest.mark.slow
def test_a_motion_that_cannot_be_played_exits_with_one_and_names_frame_and_joint(file):
    path = file(HEAD + "  - {name: kick, posture: {RKN: 2.9}, duration: 1}\n")
    run = subprocess.run([*MAIN, "motion", "check", path], capture_output=True, text=True, timeout=60)
    assert run.returncode == 1
    assert "frame 2 'kick': joint RKN has position 2.9, its limit is 2.6" in run.stderr
    assert "Traceback" not in run.stderr


def test_a_collision_names_the_pair_and_the_frame(file):
    path = file(HEAD + "  - {name: clap, posture: {RSR: 0.5, REB: -1.5, RSY: 1.5}, duration: 2}\n")
    run = wholebody("motion", "check", path)
    assert run.exit_code == 1
    assert "frame 2 'clap': collides: Body_" in str(run.exception)
    assert " with Body_" in str(run.exception)
    assert wholebody("motion", "check", path, "--no-collisions").exit_code == 0


@pytest.mark.parametrize(
    ("text", "name", "says"),
    [
        (HEAD + "  - {posture: {RKM: 0.1}, duration: 1}\n", "a.yaml", "no moving joint 'RKM'; closest: 'RKN'"),
        (HEAD + "  - {posture: {RKN: .nan}, duration: 1}\n", "a.yaml", "joint RKN is 'nan'"),
        (HEAD + "  - {posture: {RKN: 0.1}, duration: 0}\n", "a.yaml", "frame 2 comes 0.0 s after"),
        (HEAD + "  - {posture: {}, duration: 1, contacts: [left_soul]}\n", "a.yaml", "closest: 'left_sole'"),
        ("frames:\n  - {posture: stand}\n", "a.yaml", "does not say which robot it is for"),
        ("robot: hubo3\nframes:\n  - {posture: stand}\n", "a.yaml", "hubo3"),
        ("# robot: hubo2plus\n# period 0.01\nRKN RKM\n0 0\n", "a.traj", "the column 'RKM' is no moving joint"),
        ("# robot: hubo2plus\ntime RKN\n0 0\n0.1 0\n0.1 0\n", "a.traj", "row 3: time 0.1 comes after 0.1"),
        ("# robot: hubo2plus\nRKN\n0\n", "a.traj", "does not say its period"),
        ("# robot: hoap3\n# period 0.01\nRKN\n0\n", "a.traj", "'RKN' is no moving joint of hoap3"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_file_and_place(file, text, name, says):
    run = wholebody("motion", "check", file(text, name))
    assert run.exit_code == 1
    assert says in str(run.exception)


def test_another_robot_than_that_of_the_file_is_refused(file):
    path = file("# robot: hoap3\n# period 0.01\nRKN\n0\n0\n", "a.traj")
    run = wholebody("motion", "check", path, "--robot", "hubo2plus")
    assert "made for hoap3, and this robot is hubo2plus" in str(run.exception)


# --- resample, plot, play -------------------------------------------------------------------------


def test_key_frames_become_a_trajectory_file_of_the_same_motion(tmp_path):
    path = tmp_path / "wave.traj"
    assert wholebody("motion", "resample", WAVE, path, "--rate", 100).exit_code == 0
    table, trajectory = JointTable.read(path, hubo()), KeyFrames.read(WAVE, hubo()).trajectory()
    assert table.robot == "hubo2plus"
    assert table.period == 0.01
    assert table.positions == pytest.approx(trajectory.sample(table.times).position, abs=1e-12)
    again = tmp_path / "again.traj"
    assert wholebody("motion", "resample", path, again, "--rate", 250).exit_code == 0
    other = JointTable.read(again)
    assert other.robot == "hubo2plus"
    assert np.abs(other.positions - trajectory.sample(other.times).position).max() < 1e-3
    assert wholebody("motion", "check", again).exit_code == 0


def test_a_trajectory_file_is_not_named_like_key_frames(tmp_path):
    run = wholebody("motion", "resample", WAVE, tmp_path / "wave.yaml")
    assert "would be taken for key frames" in str(run.exception)
    run = wholebody("motion", "resample", WAVE, tmp_path / "none" / "wave.traj")
    assert "there is no folder" in str(run.exception)


@pytest.mark.slow
def test_a_motion_is_drawn(tmp_path):
    path = tmp_path / "wave.png"
    assert wholebody("motion", "plot", WAVE, "-o", path).exit_code == 0
    assert path.read_bytes().startswith(b"\x89PNG")
    run = wholebody("motion", "plot", WAVE, "-o", path, "--joint", "REV")
    assert "no joint 'REV'; closest: " in str(run.exception)


@pytest.mark.slow(but="--physics")
@pytest.mark.parametrize("how", ["--physics", "--no-physics"])
def test_a_motion_is_played_and_filmed(tmp_path, how):
    film = tmp_path / "wave.png"
    run = wholebody("motion", "play", WAVE, how, "--out", film)
    assert run.exit_code == 0, run.output
    assert "holds its end" in run.output
    assert film.read_bytes().startswith(b"\x89PNG")


def test_on_the_way_to_its_beginning_the_robot_stays_on_its_feet():
    run = wholebody("motion", "play", WAVE, "--posture", "home")
    assert run.exit_code == 0, run.output
    assert "holds its end" in run.output


def test_a_motion_beyond_limits_is_not_played(file):
    run = wholebody("motion", "play", file(HEAD + "  - {posture: {RKN: 2.9}, duration: 1}\n"))
    assert run.exit_code == 1
    assert "joint RKN has position 2.9" in str(run.exception)


def test_a_robot_that_falls_is_said_to_have_fallen(file):
    path = file(HEAD + "  - {posture: {RAP: 0.6, LAP: 0.6}, duration: 0.6}\n  - {posture: {}, duration: 3}\n")
    run = wholebody("motion", "play", path)
    assert run.exit_code == 1
    assert "fell" in run.output


# --- teach ----------------------------------------------------------------------------------------


@pytest.fixture
def state():
    """A robot's state channel, put to at 100 Hz, and a way to move the knee."""
    with Channel("robot.state", hubo().state_dtype()) as channel, channel.writer() as writer:
        ended, moved = threading.Event(), threading.Event()
        position = writer.message["position"]
        position[:] = hubo().posture("stand")

        def keep_putting():
            while not ended.wait(0.01):
                writer.put()
                moved.set()

        def move(knee):
            position[hubo().index["RKN"]] = knee
            moved.clear()
            assert moved.wait(10)
            moved.clear()
            assert moved.wait(10), "the first may have been put while the knee moved"

        thread = threading.Thread(target=keep_putting)
        thread.start()
        move(0.1)
        yield move
        ended.set()
        thread.join()


def test_lines_take_name_and_drop_poses(state, tmp_path):
    path = tmp_path / "taught.yaml"
    run = wholebody("teach", "hubo2plus", "-o", path, stdin="\nreach out\noops\nd\nq\n")
    assert run.exit_code == 0, run.output
    frames = KeyFrames.read(path, hubo()).frames
    assert [frame.name for frame in frames] == ["pose 1", "reach out"]
    assert frames[0].position[hubo().index["RKN"]] == 0.1
    assert "oops dropped" in run.output
    assert "wholebody motion check" in run.output


def test_a_pose_that_is_none_is_not_taken_and_nothing_else_is_lost(state, tmp_path):
    path = tmp_path / "taught.yaml"
    state(np.nan)
    run = wholebody("teach", "hubo2plus", "-o", path, stdin="broken\nq\n")
    assert run.exit_code == 0, run.output
    assert "no pose taken" in run.output
    assert "joint RKN is nan" in run.output
    assert not path.exists()


def test_the_end_of_the_input_is_an_end_too_and_a_pose_beyond_limits_is_remarked_on(state, tmp_path):
    state(2.9)
    path = tmp_path / "taught.yaml"
    run = wholebody("teach", "hubo2plus", "-o", path, stdin="high")
    assert "joint RKN has position 2.9, its limit is 2.6" in run.output
    assert len(KeyFrames.read(path, hubo()).frames) == 1


def test_nothing_is_written_where_nothing_was_taken(state, tmp_path):
    path = tmp_path / "taught.yaml"
    run = wholebody("teach", "hubo2plus", "-o", path, stdin="d\n\nd\nq\n")
    assert run.exit_code == 0
    assert "there is no frame to forget" in run.output
    assert "no poses were taken" in run.output
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_exists_is_kept_unless_forced(state, tmp_path):
    path = tmp_path / "taught.yaml"
    path.write_text("precious")
    run = wholebody("teach", "hubo2plus", "-o", path, stdin="\nq\n")
    assert "--force" in str(run.exception)
    assert path.read_text() == "precious"
    assert wholebody("teach", "hubo2plus", "-o", path, "--force", stdin="\nq\n").exit_code == 0
    assert len(KeyFrames.read(path, hubo()).frames) == 1


def test_the_state_of_another_robot_is_refused_and_so_is_a_channel_that_is_not_there(state, tmp_path):
    run = wholebody("teach", "hoap3", "-o", tmp_path / "a.yaml", "--channel", "robot.state", stdin="q\n")
    assert "this is no state of hoap3" in str(run.exception)
    run = wholebody("teach", "hubo2plus", "-o", tmp_path / "a.yaml", "--channel", "nobody.state", stdin="q\n")
    assert "nobody.state" in str(run.exception)


def taught_frames(path):
    return len(KeyFrames.read(path, hubo()).frames) if path.exists() else 0


def wait_for(what):
    deadline = time.monotonic() + 40
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.slow(but="9")
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_however_it_ends_nothing_is_lost(state, tmp_path, end):
    path = tmp_path / "taught.yaml"
    command = [*MAIN, "teach", "hubo2plus", "-o", str(path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as process:
        assert "Hubo2+" in process.stdout.readline()
        for number, knee in enumerate((0.2, 0.4), 1):
            state(knee)
            process.stdin.write("\n")
            process.stdin.flush()
            wait_for(lambda number=number: taught_frames(path) == number)
        os.kill(process.pid, end)
        output, errors = process.communicate(timeout=40)
    knees = [frame.position[hubo().index["RKN"]] for frame in KeyFrames.read(path, hubo()).frames]
    assert knees == [0.2, 0.4]
    assert "Traceback" not in errors
    if end == signal.SIGINT:
        assert process.returncode == 0
        assert "interrupted" in output
        assert "written:" in output


def test_a_channel_gone_quiet_is_said_so_and_what_was_taken_is_kept(state, tmp_path, monkeypatch):
    from wholebody.cli import captured

    monkeypatch.setattr(captured, "FRESH", 0.0)
    monkeypatch.setattr(captured, "PATIENCE", 0.05)
    path = tmp_path / "taught.yaml"
    run = wholebody("teach", "hubo2plus", "-o", path, stdin="\nq\n")
    assert "nothing has come on robot.state for 0.05 s" in run.output.replace("\n", " ")
    assert not path.exists()
    assert run.exit_code == 0
