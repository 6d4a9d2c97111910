"""Our G1 before programs of others, and before our daemon: processes, real topics, real time."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from robot_processes import MAIN, end_all, wait_for, wholebody
from unitree_rig import g1_file

from wholebody.processes.driver_check import check_driver
from wholebody.realtime import has_ended

RIGS = Path(__file__).parents[1]
CLIENT = """
import sys, time
sys.path[:0] = [{tests!r}, {rigs!r}]
import numpy as np
from cyclonedds.domain import Domain, DomainParticipant
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from test_unitree_messages import LowCmd, LowState, command_of, crc_by_bits

# Its configuration is that of Unitree's own Python package, its types come with all their type information.
domain = Domain({domain}, '<CycloneDDS><Domain Id="any"><General><Interfaces><NetworkInterface name="lo" '
                'priority="default" multicast="default"/></Interfaces></General></Domain></CycloneDDS>')
participant = DomainParticipant({domain})
writer = DataWriter(participant, Topic(participant, "rt/lowcmd", LowCmd))
reader = DataReader(participant, Topic(participant, "rt/lowstate", LowState))


def newest():
    found = None
    while found is None:
        found = next(iter(reader.take(1)), None)
    return found


state, (command, _) = newest(), command_of(np.random.default_rng(1))
start = state.motor_state[18].q
command.mode_machine, command.reserve = state.mode_machine, [0] * 4
for motor, seen in zip(command.motor_cmd, state.motor_state):
    motor.q, motor.dq, motor.tau, motor.kp, motor.kd, motor.reserve = seen.q, 0.0, 0.0, 100.0, 3.0, 0
command.motor_cmd[18].q += 0.3
import struct
packed = struct.pack("<2B2x", 0, command.mode_machine) + b"".join(
    struct.pack("<B3x5fI", m.mode, m.q, m.dq, m.tau, m.kp, m.kd, 0) for m in command.motor_cmd) + bytes(16)
command.crc = crc_by_bits(struct.unpack("<250I", packed))
while abs(state.motor_state[18].q - start - 0.3) > 0.1:
    writer.write(command)
    state = newest()
print("arrived", flush=True)
while True:
    writer.write(command)
    time.sleep(0.005)
"""

pytestmark = pytest.mark.slow


@pytest.fixture
def file(tmp_path):
    (tmp_path / "g1.urdf").symlink_to(g1_file())
    yield tmp_path / "g1.urdf"
    end_all()


@pytest.fixture
def device(file):
    """What begins a device on a domain; it is ended, and what it said is kept in device.log."""
    begun = []

    def begin(domain, *options):
        log = file.parent / "device.log"
        words = ["device", file, "--driver", f"unitree:interface=lo,domain={domain}", *options]
        with log.open("w") as output:
            begun.append(subprocess.Popen([*MAIN, *map(str, words)], stdout=output, stderr=output))
        return lambda words: re.search(words, log.read_text())

    yield begin
    for each in begun:
        each.send_signal(signal.SIGINT)
        assert each.wait(40) == 0


def test_a_client_with_unitrees_types_and_configuration_moves_it_and_when_killed_leaves_it_damped(device, file):
    said = device(71)
    text = CLIENT.format(tests=str(RIGS / "drivers"), rigs=str(RIGS / "rigs"), domain=71)
    with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True) as client:
        try:
            assert client.stdout.readline() == "arrived\n"
        finally:
            client.kill()
    wait_for(lambda: said("no command for 35 ms: its joints are damped"))


def test_our_daemon_moves_it_in_its_gantry_and_when_killed_leaves_it_damped(device, file):
    said = device(72, "--gantry", "600")
    wholebody("start", file, "--driver", "unitree:interface=lo,domain=72", "--period", "0.002", "--name", "g1")
    wholebody("console", "--name", "g1", "-c", "goto left_elbow_joint 0.5", check=False)
    where = wholebody("console", "--name", "g1", "-c", "status left_elbow_joint").stdout
    assert float(re.search(r"encoder\s+(\S+) rad", where)[1]) == pytest.approx(0.5, abs=0.1)
    assert ", 0 with a wrong check sum" in where
    assert said("it hangs in its gantry; lowered in 600 s")
    daemon = int(re.search(r"process (\d+)", wholebody("status", "--name", "g1").stdout)[1])
    os.kill(daemon, signal.SIGKILL)
    assert has_ended(daemon, 40)
    wait_for(lambda: said("its joints are damped"))


@pytest.mark.filterwarnings("ignore::wholebody.errors.RobotWarning")
def test_the_driver_keeps_every_law_on_our_simulated_g1(file):
    assert [each for each in check_driver("unitree", str(file), period=0.002) if not each.passed] == []


def test_the_benchmark_finds_no_wrong_check_sum_sent_and_all_received():
    pytest.importorskip("cyclonedds", reason="cyclonedds is not installed")
    found = json.loads(wholebody("bench", "unitree", "--quick", "--json", timeout=200).stdout)
    budgets = {each["name"]: each for each in found["budgets"]}
    assert budgets["sent wrong"]["value"] == budgets["received wrong and not noticed"]["value"] == 0
    assert {"CPU of driver / CPU of bare", "late driver / late sleeping", "until damped / 40 ms"} < set(budgets)


def test_what_has_no_device_of_its_own_is_refused(file):
    run = wholebody("device", file, "--driver", "loopback", check=False)
    assert run.returncode == 1
    assert "no simulated device of its own; there are dynamixel, hubo_can, unitree" in run.stderr + run.stdout
