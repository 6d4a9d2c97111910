"""Stop buttons: keys of a real terminal, records of a gamepad, and what happens when one is unplugged or dies."""

import contextlib
import os
import pty
import signal
import struct
import subprocess
import threading

import pytest
from daemon_rig import Rig
from robot_processes import MAIN, end_all, wait_for, wholebody

from wholebody.errors import HardwareError
from wholebody.operator.monitor.watcher import Watcher
from wholebody.operator.stop_button import Gamepad, StopButtons

PRESSED, RELEASED, AXIS, BUTTON, AS_IT_WAS = 1, 0, 2, 1, 0x80


def record(value, kind, number, milliseconds=1000):
    """What Linux says of a joystick."""
    return struct.pack("<IhBB", milliseconds, value, kind, number)


@pytest.fixture
def pad(tmp_path):
    """A gamepad, and the end of it that is plugged in."""
    path = tmp_path / "js0"
    os.mkfifo(path)
    plug = os.open(path, os.O_RDWR)
    pads = []

    def made(button=None):
        pads.append(Gamepad(str(path), button))
        return pads[-1]

    yield made, plug
    for each in pads:
        each.close()


def test_buttons_of_a_gamepad_are_pressed_and_axes_and_releases_are_not(pad):
    made, plug = pad
    gamepad = made()
    os.write(plug, record(0, BUTTON | AS_IT_WAS, 0) + record(-32767, AXIS, 1) + record(RELEASED, BUTTON, 3))
    assert not list(gamepad.take())
    os.write(plug, record(PRESSED, BUTTON, 3)[:5])
    assert not list(gamepad.take()), "half a record"
    os.write(plug, record(PRESSED, BUTTON, 3)[5:] + record(PRESSED, BUTTON, 7))
    assert list(gamepad.take()) == ["button 3 was pressed", "button 7 was pressed"]
    os.write(plug, record(PRESSED, BUTTON | AS_IT_WAS, 2))
    assert list(gamepad.take()) == ["button 2 was pressed"], "it was pressed when it was opened"


def test_only_the_button_that_was_named_counts(pad):
    made, plug = pad
    gamepad = made(7)
    os.write(plug, record(PRESSED, BUTTON, 3) + record(PRESSED, BUTTON, 7))
    assert list(gamepad.take()) == ["button 7 was pressed"]


def test_a_gamepad_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(HardwareError, match=r"gamepad .*js9: No such file.*plugged in"):
        Gamepad(str(tmp_path / "js9"))


@pytest.mark.parametrize(("only_told", "stops"), [(False, True), (True, False)])
def test_one_that_is_unplugged_is_told_and_stops_the_robot_unless_it_is_only_to_be_told(tmp_path, only_told, stops):
    path = tmp_path / "js0"
    os.mkfifo(path)
    plug, said = os.open(path, os.O_RDWR), []
    gamepad = Gamepad(str(path))
    with Rig() as rig:
        buttons = StopButtons("", [gamepad], said.append, within=0.1, only_told=only_told)
        turns = iter(range(20))

        def goes_on():
            rig.go()
            if next(turns) == 3:
                assert not rig.cycle.stopped
                os.close(plug)
            return True

        with pytest.raises(HardwareError, match="no stop button is left"):
            buttons.run(goes_on)
        rig.go(3)
        assert said == [f"gamepad {path} is unplugged"]
        assert bool(rig.cycle.stopped) == stops
    gamepad.close()


# Real processes.


@pytest.fixture
def robot():
    wholebody("start", "--driver", "loopback")
    yield
    end_all()


@contextlib.contextmanager
def at_a_terminal(*options):
    """The command at a terminal of its own: the terminal's other end, and all that was said."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([*MAIN, "stop-button", *options], stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    said = bytearray()

    def listen():
        with contextlib.suppress(OSError):
            while data := os.read(ours, 4096):
                said.extend(data)

    threading.Thread(target=listen, daemon=True).start()
    try:
        wait_for(lambda: b"any key: stop" in said)
        yield ours, process, said
    finally:
        process.kill()
        process.wait()


def stopped():
    return Watcher().look().stopped


@pytest.mark.parametrize("key", [pytest.param(b" ", id="space"), pytest.param(b"\x1b", id="escape")])
@pytest.mark.slow
def test_a_key_stops_the_robot_r_resumes_and_q_ends(robot, key):
    with at_a_terminal() as (terminal, process, said):
        os.write(terminal, key)
        wait_for(stopped)
        wait_for(lambda: b"'robot' is stopped" in said)
        os.write(terminal, b"r")
        wait_for(lambda: not stopped())
        assert f"process {process.pid}" in wholebody("status").stdout
        os.write(terminal, b"q")
        assert process.wait(20) == 0
        wait_for(lambda: any("ends" in each.text for each in Watcher().look().events))
        assert not stopped()


@pytest.mark.slow
def test_a_button_whose_process_is_killed_stops_the_robot_and_that_is_told(robot):
    with at_a_terminal() as (_, process, _):
        wait_for(lambda: any("can stop the robot" in each.text for each in Watcher().look().events))
        os.kill(process.pid, signal.SIGKILL)
        wait_for(stopped)
        assert any("is lost: it has said nothing for" in each.text for each in Watcher().look().events)


@pytest.mark.slow
def test_a_daemon_that_hangs_does_not_answer_and_that_is_said(robot):
    process = Watcher().process
    with at_a_terminal() as (terminal, _, said):
        os.kill(process, signal.SIGSTOP)
        os.write(terminal, b" ")
        wait_for(lambda: b"DOES NOT ANSWER: use the wired stop" in said)
        os.kill(process, signal.SIGCONT)
        wait_for(stopped)


def test_without_a_terminal_there_are_no_keys_and_that_is_said():
    run = subprocess.run([*MAIN, "stop-button"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert run.returncode == 1
    assert "no terminal" in run.stderr
