"""wholebody run: a controller from a file as a process, alone, through the daemon, and with bindings by udp."""

import json
import signal
import socket
import subprocess
import sys

import pytest
from robot_processes import EXAMPLES, MAIN, end_all, wait_for, wholebody

from wholebody import plugins, robots
from wholebody.cli.log import again
from wholebody.configuration.reading import read
from wholebody.errors import BadPeriod, BadRecording
from wholebody.parameters.remote import Remote, running

FAST = "include: dreamer_reach.yaml\ninterface: {type: simulation, real_time: false}\n"


@pytest.fixture(autouse=True)
def no_process_stays():
    yield
    end_all()


def begin(*arguments):
    return subprocess.Popen(
        [*MAIN, "run", *map(str, arguments), "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def ended(process):
    """Interrupt it; what it told at the end."""
    process.send_signal(signal.SIGINT)
    told, said = process.communicate(timeout=30)
    assert process.returncode == 0, said
    return json.loads(told)


@pytest.mark.slow
def test_it_runs_for_so_long_and_says_how_it_went(tmp_path):
    (tmp_path / "fast.yaml").write_text(FAST)
    ran = json.loads(wholebody("run", tmp_path / "fast.yaml", "--seconds", 1.5, "--json").stdout)
    assert ran["seconds"] == pytest.approx(1.5)
    assert ran["cycles"] == 1500
    assert ran["faults"] == 0
    assert ran["events"] == 3
    wrong = wholebody("run", "dreamer_raech", check=False)
    assert wrong.returncode == 1
    assert "closest: 'dreamer_reach'" in wrong.stderr


@pytest.mark.slow
def test_it_runs_through_the_daemon_of_a_robot_and_its_joints_follow(tmp_path):
    (tmp_path / "slow.yaml").write_text("include: dreamer_posture.yaml\nservo_frequency: 200\n")
    wholebody("start", "dreamer", "--name", "tall")
    refused = wholebody("run", "dreamer_posture", "--driver", "daemon", "--name", "tall", check=False)
    assert "servo_frequency: 200" in refused.stderr
    process = begin(tmp_path / "slow.yaml", "--driver", "daemon", "--name", "tall")
    wait_for(lambda: running() or process.poll() is not None, 40)
    remote = Remote("posture", "tall")
    goal = remote.get("tasks.posture.goal", timeout=30)
    goal[3] += 0.2
    remote.set("tasks.posture.goal", goal, timeout=30)
    wait_for(lambda: abs(remote.get("joints.position", 30)[3] - goal[3]) < 0.02, 30)
    status = json.loads(wholebody("status", "--name", "tall", "--json").stdout)
    assert status["running"]
    assert status["whole_body"][0]["name"] == "posture"
    assert ended(process)["faults"] == 0


def test_goals_come_and_errors_go_by_udp(tmp_path):
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free,
    ):
        peer.bind(("127.0.0.1", 0))
        free.bind(("127.0.0.1", 0))
        inward, outward = free.getsockname()[1], peer.getsockname()[1]
        free.close()
        bound = f"""{FAST}bindings:
  - {{parameter: tasks.right_hand.goal, direction: input, topic: "127.0.0.1:{inward}", transport_type: udp}}
  - parameter: tasks.right_hand.error
    direction: output
    topic: "127.0.0.1:{outward}"
    transport_type: udp
    properties: [rate: 50]
"""
        (tmp_path / "udp.yaml").write_text(bound)
        process = begin(tmp_path / "udp.yaml")
        peer.settimeout(40.0)
        assert len(json.loads(peer.recv(2000))["values"]) == 3
        peer.sendto(b"[0.25, -0.25, 0.8]", ("127.0.0.1", inward))
        remote = Remote()
        wait_for(lambda: remote.get("tasks.right_hand.goal", 20).tolist() == [0.25, -0.25, 0.8], 30)
        assert ended(process)["inputs"] == 1


@pytest.mark.slow
def test_it_runs_over_udp_on_a_robot_of_another_process(tmp_path):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (tmp_path / "far.yaml").write_text(f"include: dreamer_reach.yaml\ninterface: {{type: udp, port: {port}}}\n")
    command = [sys.executable, "-m", "examples.far_robot", "serve", str(port), "20"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=EXAMPLES.parent) as server:
        try:
            assert "listens" in server.stdout.readline()
            ran = json.loads(wholebody("run", tmp_path / "far.yaml", "--seconds", 1.5, "--json").stdout)
            assert (ran["cycles"], ran["faults"]) == (1500, 0)
            assert ran["events"] > 0, "the hands have arrived"
            wrong = plugins.load("drivers", "udp")(robots.load("dreamer"), 0.002, port=port)
            with pytest.raises(BadPeriod, match="set servo_frequency: 1000"):
                wrong.__enter__()
        finally:
            server.kill()


@pytest.mark.parametrize("kind", ["daemon", "loopback", "udp"])
def test_a_run_on_anything_but_a_simulation_cannot_be_repeated_and_that_is_said(kind, tmp_path):
    settings = read("dreamer_reach").settings.model_dump(mode="json")
    told = {"configuration": {**settings, "interface": {"type": kind}}, "parameters": []}
    with pytest.raises(BadRecording, match=f"by '{kind}'; only simulations can be repeated"):  # noqa: SIM117
        with again(told, [], tmp_path / "run.mcap"):
            pass


def test_a_run_that_took_models_from_beside_cannot_be_repeated_and_that_is_said(tmp_path):
    settings = read("dreamer_reach").settings.model_dump(mode="json")
    told = {"configuration": {**settings, "model_beside": True, "model_every": 5}, "parameters": []}
    with pytest.raises(BadRecording, match="model_beside"):  # noqa: SIM117
        with again(told, [], tmp_path / "run.mcap"):
            pass
