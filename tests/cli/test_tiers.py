"""One controller, three tiers: the same file moves the virtual, the miniature and the full-size robot."""

import shutil
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from compiled_example import compiled
from robot_processes import (
    EXAMPLES,
    daemon,
    end_all,
    heavy_libraries,
    kill_daemon,
    resident_megabytes,
    simulator,
    wait_for,
    wholebody,
)

from wholebody.channels import Channel, directory
from wholebody.drivers import connect
from wholebody.messages import labels
from wholebody.processes.registry import BOARDS, process_of

RAISED = {"RSP": -0.8, "REB": -1.4}


@pytest.fixture(params=["virtual", "mini", "full"])
def tier(request):
    wholebody("start", "--driver", request.param)
    wholebody("console", "-c", "initializeAll")
    yield request.param
    end_all()


class Watch:
    """Positions of all joints while something runs, every state of them."""

    def __enter__(self):
        self._ended, self._rows, self._commands = threading.Event(), [], []
        with Channel("robot.state") as channel:
            self.joints = labels(channel.dtype)
            self._reader = channel.reader()
        self._reader.latest()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        return self

    def _run(self):
        while not self._ended.is_set():
            if self._reader.wait(0.1, mode="next"):
                self._rows.append(self._reader.message["position"].copy())
                self._commands.append(self._reader.message["reference"].copy())

    def __exit__(self, *_):
        self._ended.set()
        self._thread.join()

    def position(self, joint):
        return np.array(self._rows)[:, self.joints.index(joint)]

    def command(self, joint):
        return np.array(self._commands)[:, self.joints.index(joint)]


def position(joint):
    with connect("look") as robot:
        return robot.position(joint)


def wave_in_python(seconds):
    command = [sys.executable, "-W", "default", EXAMPLES / "wave.py", str(seconds)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def wave_in(language, seconds, folder):
    """Start the wave in a language."""
    if language == "python":
        return wave_in_python(seconds)
    if language == "m":
        wholebody("octave", "install", "--to", folder)
        script = f"addpath ('{folder}', '{EXAMPLES}'); wave ({seconds})"
        return subprocess.Popen(["octave", "--no-gui", "--quiet", "--eval", script], stderr=subprocess.PIPE, text=True)
    program = compiled(EXAMPLES / f"wave.{language}", folder)
    return subprocess.Popen([program, str(seconds)], stderr=subprocess.PIPE, text=True)


@pytest.mark.slow(but="virtual-python")
@pytest.mark.parametrize("language", ["python", "c", "cpp", "m"])
def test_the_same_file_waves_on_every_tier(tier, language, tmp_path):
    if language == "m" and not (shutil.which("octave") and shutil.which("mkoctfile")):
        pytest.skip("apt install octave liboctave-dev")
    with Watch() as watch:
        wave = wave_in(language, 4, tmp_path)
        _, said = wave.communicate(timeout=30)
    assert wave.returncode == 0, said
    for joint, goal in RAISED.items():
        assert watch.position(joint).min() == pytest.approx(goal, abs=0.1), "up"
        wait_for(lambda joint=joint: position(joint) == pytest.approx(watch.position(joint)[0], abs=0.05))  # and down
    assert np.ptp(watch.position("RSR")) > 0.4, "it swings"
    assert np.ptp(watch.position("LSP")) < 0.05, "and the other arm does not"
    assert said.count("RWY") == (1 if tier == "mini" else 0), "dropped, with one warning, where there is none"
    if tier != "mini":
        assert watch.position("RWY").max() == pytest.approx(0.4, abs=0.1)


class References:
    """What a controller says while something runs: when, by the robot's time, and the positions of all joints."""

    def __enter__(self):
        self._ended, self.rows = threading.Event(), []
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        return self

    def _run(self):
        while "robot.wave.reference" not in directory.names() and not self._ended.wait(0.01):
            pass
        with Channel("robot.wave.reference") as channel, channel.reader() as reader:
            if channel.newest and not channel.writer_processes():
                reader.latest()  # of the one before
            while not self._ended.is_set() or reader.wait(0.0, mode="next"):
                if reader.wait(0.05, mode="next"):
                    self.rows.append((float(reader.message["time"]), reader.message["position"].copy()))

    def __exit__(self, *_):
        self._ended.set()
        self._thread.join()

    def path(self):
        """Seconds since the first, and the positions."""
        times = np.array([time for time, _ in self.rows])
        return times - times[0], np.array([position for _, position in self.rows])


def apart(one, other):
    """How far two paths are from each other, rad, once they are aligned in time."""
    (times, path), (others, of_others) = one, other
    shifts = np.arange(-0.05, 0.05, 0.001)
    inside = (times > 0.06) & (times < min(times[-1], others[-1]) - 0.06)
    assert inside.sum() > 100

    def off(shift):
        columns = [np.interp(times[inside] + shift, others, column) for column in of_others.T]
        return float(np.abs(np.array(columns).T - path[inside]).max())

    return min(map(off, shifts))


@pytest.mark.slow
def test_every_language_moves_the_arm_along_the_same_path(tier, tmp_path):
    languages = ["python", "c", "cpp"] + ["m"] * bool(shutil.which("octave") and shutil.which("mkoctfile"))
    start, paths = position("RSP"), {}
    for language in languages:
        with References() as references:
            wave = wave_in(language, 3, tmp_path)
            _, said = wave.communicate(timeout=40)
        assert wave.returncode == 0, said
        paths[language] = references.path()
        wait_for(lambda: position("RSP") == pytest.approx(start, abs=0.005))
    assert np.ptp(paths["python"][1], axis=0).max() > 1.0, "it is a path"
    for language in languages[1:]:
        assert apart(paths[language], paths["python"]) < 0.01, language
    slower = paths["python"][0] * 1.05, paths["python"][1]
    assert apart(slower, paths["python"]) > 0.02, "the control: a path that is not the same"


@pytest.mark.slow
def test_what_would_move_nothing_says_so_and_what_to_do_and_fails(tmp_path):
    wholebody("start", "--driver", "mini")
    for language in ("c", "cpp"):
        wave = wave_in(language, 2, tmp_path)
        assert "RSP is off or not homed, so nothing moves; first: wholebody console -c homeAll" in wave.communicate()[1]
        assert wave.returncode == 1
    wave = wave_in_python(2)
    with Watch() as watch:
        _, said = wave.communicate(timeout=30)
    assert wave.returncode == 1
    assert "RSP, RSR, REB: off or not homed, so nothing moves; first: wholebody console -c homeAll" in said
    assert np.ptp(watch.command("RSP")) == pytest.approx(0.0, abs=0.01), "and nothing has moved"
    end_all()


@pytest.mark.slow
def test_a_controller_killed_in_mid_motion_does_no_harm_and_the_daemon_is_small(tier):
    process = daemon()
    wave = wave_in_python(10)
    with connect("look") as robot:
        start = robot.position("RSP")
        wait_for(lambda: robot.wait() and robot.position("RSP") < start - 0.2, 30)
        wave.kill()
        wave.communicate()
        wait_for(lambda: robot.wait() and abs(robot.state.velocity[robot.index["RSP"]]) < 0.02)
        ticks = robot.state.tick
        with Watch() as watch:
            wait_for(lambda: robot.wait() and robot.state.tick > ticks + 200)
    assert np.ptp(watch.command("RSP")) == 0, "the command stays what it was"
    assert np.ptp(watch.position("RSP")) < 0.02, "the robot holds"
    assert watch.position("RSP")[0] < start - 0.2, "in the middle of its way"
    assert daemon() == process, "and the daemon goes on"
    assert heavy_libraries(process) == []
    assert resident_megabytes(process) < 100
    held = float(watch.command("RSP")[0])
    with Watch() as watch:
        wave = wave_in_python(3)
        assert wave.communicate(timeout=30) is not None
    assert np.abs(np.diff(watch.command("RSP"))).max() < 0.1, "another begins where that one was"
    wait_for(lambda: position("RSP") == pytest.approx(held, abs=0.05))


@pytest.mark.slow
def test_boards_and_simulators_hold_when_the_daemon_is_killed_and_it_comes_back_without_a_jump(tier):
    companion = simulator() if tier == "virtual" else process_of(BOARDS)
    with connect("test") as robot:
        begin, start = robot.now, robot.position("RSP")
        while robot.wait() and robot.now < begin + 1.5:
            robot.move({"RSP": start + min(1.0, robot.now - begin) * (-0.5 - start)})
        held = robot.position("RSP")
    assert held == pytest.approx(-0.5, abs=0.05)
    kill_daemon()
    with Watch() as watch:
        wholebody("start", "--driver", tier)
        with connect("look") as robot:
            wait_for(lambda: robot.wait() and robot.state.tick > 100)
    assert companion == (simulator() if tier == "virtual" else process_of(BOARDS))
    assert watch.position("RSP").min() > held - 0.05
    assert watch.position("RSP").max() < held + 0.05


@pytest.mark.slow
def test_the_console_homes_and_moves_every_tier(tier):
    said = wholebody("console", "-c", "homeAll; goto RSP 0.3 REB -0.4; status RSP; resetAll", timeout=45).stdout
    assert "homed: " in said
    assert "RSP at 0.3 rad" in said
    assert "REB at -0.4 rad" in said
    assert "control on" in said
    assert position("RSP") == pytest.approx(0.3, abs=0.02)


def test_the_example_is_short():
    lines = (EXAMPLES / "wave.py").read_text().split('"""')[2].splitlines()
    assert len([line for line in lines if line.strip() and not line.strip().startswith("#")]) <= 15


@pytest.mark.slow
def test_a_wave_without_a_robot_says_how_to_start_one():
    run = subprocess.run([sys.executable, EXAMPLES / "wave.py"], capture_output=True, text=True, timeout=30)
    assert run.returncode == 1
    assert "wholebody start" in run.stderr


@pytest.mark.slow
def test_signals_that_end_a_wave_leave_the_arm_where_it_is_told():
    wholebody("start", "--driver", "loopback")
    try:
        wave = wave_in_python(30)
        with connect("look") as robot:
            wait_for(lambda: robot.wait() and robot.position("RSP") < -0.1)
            wave.send_signal(signal.SIGINT)
            wave.communicate(timeout=10)
            held = robot.wait() and robot.position("RSP")
            robot.wait()
            assert robot.position("RSP") == pytest.approx(held, abs=0.02)
    finally:
        end_all()
