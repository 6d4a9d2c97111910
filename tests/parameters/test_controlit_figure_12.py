"""ControlIt!, Fig. 12: controller, application and logger as three processes; the application is killed and comes back.

Goals and errors are bound to topics, as in the figure. The controller runs in simulated physics, in real time as far as
the machine permits.
"""

import json
import os
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from robot_processes import MAIN, wait_for, wholebody

from wholebody.channels.recording.playback import Recording
from wholebody.parameters.remote import Remote, running

REPOSITORY = Path(__file__).resolve().parents[2]
NEEDED = find_spec("mcap") and find_spec("lz4")

APPLICATION = """
import sys, time
import numpy as np
from wholebody.parameters.remote import Remote
from wholebody.parameters.bindings import Sending

home, amplitude = np.array([float(each) for each in sys.argv[1:4]]), float(sys.argv[4])
with Sending("dreamer.right_hand.goal", 3) as goal:
    for step in range(10**9):
        goal.put(home + [amplitude * np.sin(0.02 * step), 0.0, 0.0])
        if step == 20:
            print("streaming", flush=True)
        time.sleep(0.01)
"""


def begin(*command, **more):
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=REPOSITORY, **more)


def application(home, amplitude):
    process = begin(sys.executable, "-c", APPLICATION, *map(str, home), str(amplitude))
    assert process.stdout.readline() == "streaming\n", process.stderr.read()
    return process


@pytest.mark.slow
@pytest.mark.skipif(not NEEDED, reason="the logger needs mcap and lz4, which are not installed")
def test_three_processes_and_the_application_is_killed_and_started_again(tmp_path):
    log = tmp_path / "run.mcap"
    controller = begin(*MAIN, "run", "dreamer_reach", "--json")
    logger = begin(*MAIN, "log", str(log), "--channels", "robot.reach.*", "--channels", "dreamer.*")
    processes = [controller, logger]
    try:
        wait_for(lambda: running() or controller.poll() is not None, 60)
        assert controller.poll() is None, controller.stderr.read()
        remote = Remote("reach")
        home = remote.get("tasks.right_hand.goal", timeout=20)
        wait_for(log.exists, 40)

        first = application(home, 0.03)
        processes.append(first)
        wait_for(lambda: remote.get("tasks.right_hand.error_norm", 20) > 1e-4, 20)
        os.kill(first.pid, signal.SIGKILL)
        first.wait()
        held = remote.get("tasks.right_hand.goal", timeout=20)
        cycles = remote.get("servo.cycles", timeout=20)
        wait_for(lambda: remote.get("servo.cycles", 20) > cycles + 300, 30)
        assert np.array_equal(remote.get("tasks.right_hand.goal", timeout=20), held), "its last word holds"

        second = application(home, 0.02)
        processes.append(second)
        wait_for(lambda: not np.array_equal(remote.get("tasks.right_hand.goal", 20), held), 20)
        os.kill(second.pid, signal.SIGKILL)
        second.wait()

        remote.forget()
        remote.set("tasks.right_hand.goal", home + np.array([0.05, 0.0, 0.05]), timeout=20)
        assert remote.wait_for("right_hand_arrived", timeout=40) is not None
        for process in (controller, logger):
            process.send_signal(signal.SIGINT)
        told = json.loads(controller.communicate(timeout=30)[0])
        logger.communicate(timeout=30)
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
            process.communicate()

    assert told["faults"] == 0
    assert told["refused"] == 0
    recording = Recording(log)
    assert recording.whole
    _, goals = recording.table("dreamer.right_hand.goal")
    _, errors = recording.table("dreamer.right_hand.error")
    restarts = int((np.diff(goals["time"]) > 0.2).sum())
    assert restarts >= 1, "two lives of the application"
    assert np.abs(goals["values"][:, 0] - home[0]).max() > 0.01
    assert len(errors) > 500
    assert np.linalg.norm(errors["values"][-1]) < 0.01
    repeated = wholebody("replay", log, "--repeat")
    compared, differ = (int(word) for word in repeated.stdout.split() if word.isdigit())
    assert compared > 500
    assert differ == 0, "the run can be repeated from its log, bit by bit"
