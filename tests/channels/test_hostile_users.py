"""Nothing that a process does to the files of channels ends a robot's daemon, or a client in Python or in C."""

import math
import random
import subprocess
import sys
import time

import hostile
import numpy as np
import pytest
from other_user import as_another_user
from robot_processes import end_all, wait_for
from torture import programs

from wholebody.channels import Channel, access
from wholebody.drivers import connect
from wholebody.errors import ChannelError
from wholebody.processes import lifecycle, registry
from wholebody.processes.launch_plan import LaunchPlan

PAUSE = 0.002
"""s between two strikes."""
STATE, TICK, REFERENCE, PLAIN = "robot.state", "robot.tick", "robot.client.reference", "test.plain"
VICTIMS = (STATE, TICK, REFERENCE, PLAIN, "robot.report", "robot.stop", "robot.timing", "robot.daemon.requests")
CLIENT = """
import sys, warnings
import numpy as np
from wholebody.drivers import connect
tallies = np.memmap(sys.argv[1], np.uint64, "r+")
warnings.simplefilter("ignore")
with connect("client") as robot:
    while robot.wait(0.5) or True:
        robot.move({"RSP": robot.position("RSP")})
        tallies[0] += 1
"""


@pytest.fixture
def folder(channels_folder, monkeypatch):
    channels_folder.chmod(0o755)
    monkeypatch.setenv("WHOLEBODY_CHANNELS", str(channels_folder / "channels"))
    access.grant(group="games")
    return channels_folder / "channels"


class Victims:
    """A daemon, a client in Python and one in C, and whether they live and get on."""

    def __init__(self, folder, tmp_path):
        self.folder, self.processes = folder, {}
        plan, log = LaunchPlan("robot", "hubo2plus", "loopback"), tmp_path / "daemon"
        self.log = log
        child = lifecycle.spawn(registry.DAEMON, log=log, plan=plan)
        list(lifecycle.until_first_state(plan, [child], log))
        self.processes["daemon"] = child.process
        self.counts = {}
        program = programs.compile_program("plain_client", tmp_path / "plain_client", sources=("ring.c",))
        self._begin("C", tmp_path, 4, [program, folder / STATE, folder / PLAIN])
        self._begin("Python", tmp_path, 1, [sys.executable, "-c", CLIENT])

    def _begin(self, name, tmp_path, count, command):
        tallies = tmp_path / f"tallies of {name}"
        tallies.write_bytes(bytes(8 * count))
        self.counts[name] = np.memmap(tallies, np.uint64, "r")
        with (tmp_path / name).open("w") as said:
            self.processes[name] = subprocess.Popen([*map(str, command), str(tallies)], stderr=said)
        wait_for(lambda: self.counts[name][0] > 0)

    def dead(self):
        return {name: process.returncode for name, process in self.processes.items() if process.poll() is not None}

    def get_on(self):
        """Wait until all hear and are heard again."""
        before, begun = {name: counts.copy() for name, counts in self.counts.items()}, time.monotonic()
        for name in (STATE, TICK, REFERENCE):
            wait_for(lambda name=name: self.dead() or newest_stamp(name) > begun)
        wait_for(lambda: self.dead() or all((self.counts[name] > before[name])[:2].all() for name in before))

    def end(self):
        for process in self.processes.values():
            process.kill()
            process.wait(20)


@pytest.fixture
def victims(folder, tmp_path):
    victims = Victims(folder, tmp_path)
    yield victims
    victims.end()
    end_all()


def newest_stamp(name):
    try:
        with Channel(name) as channel, channel.reader() as reader:
            return reader.stamp if reader.latest() else 0.0
    except ChannelError:
        return 0.0


def strike_all(folder, count, dice):
    """Do `count` hostile things to channels, each kind as often; how many were done."""
    done, kinds = 0, list(hostile.STRIKES)
    while done < count:
        path = folder / dice.choice(VICTIMS)
        done += hostile.strike(path, kinds[done % len(kinds)], dice)
        time.sleep(PAUSE)
    return done


def survive(victims, strikes, rounds=1):
    done = 0
    for _ in range(rounds):
        done += strikes()
        victims.get_on()
        assert victims.dead() == {}, victims.log.read_text()[-2000:]
    return done


def obeys():
    """Whether the daemon follows a reference of a new controller."""
    with connect("test") as controller:
        position = controller.position("RSP")
        goal = position - math.copysign(0.01, position)  # garbage may have left it at either end of its range

        def is_there():
            controller.wait(1.0)
            controller.move({"RSP": goal})
            return abs(controller.position("RSP") - goal) < 1e-6

        return wait_for(is_there)


def test_a_daemon_and_its_clients_live_on_whatever_its_own_user_does_to_channels(folder, victims):
    dice = random.Random(1)
    assert survive(victims, lambda: strike_all(folder, 3 * len(hostile.STRIKES), dice)) >= 70
    assert obeys()


@pytest.mark.slow
def test_ten_thousand_hostile_truncations_and_replacements_by_its_own_user_kill_nobody(folder, victims):
    dice = random.Random(2)
    assert survive(victims, lambda: strike_all(folder, 500, dice), rounds=20) >= 10_000
    assert obeys()


HANDSHAKE = ("robot.from_simulator", "robot.to_simulator", "robot.simulated", "robot.commanded", "robot.objects")


@pytest.mark.slow
def test_a_daemon_and_its_simulator_find_each_other_again_whatever_is_done_to_their_channels(folder, tmp_path):
    plan, log, dice = LaunchPlan("robot", "hubo2plus", "simulator", physics=False), tmp_path / "log", random.Random(4)
    children = [lifecycle.spawn(role, log=log, plan=plan) for role in (registry.SIMULATOR, registry.DAEMON)]
    try:
        list(lifecycle.until_first_state(plan, children, log))
        for how in (*hostile.STRIKES, *hostile.STRIKES):
            for name in HANDSHAKE:
                hostile.strike(folder / name, how, dice)
                time.sleep(PAUSE)
            begun = time.monotonic()
            wait_for(lambda begun=begun: newest_stamp(STATE) > begun)
            assert [child.process.poll() for child in children] == [None, None], log.read_text()[-2000:]
        assert obeys()
    finally:
        for child in children:
            child.end()


STRANGER = """
import random
from pathlib import Path
folder, count, dice, done, tried = Path(os.environ["WHOLEBODY_CHANNELS"]), int(sys.argv[1]), random.Random(3), 0, 0
kinds, victims = list(hostile.STRIKES), sys.argv[2:]
while (done if os.getgroups() else tried) < count:
    done += hostile.strike(folder / dice.choice(victims), kinds[tried % len(kinds)], dice)
    tried += 1
    time.sleep(0.002 if os.getgroups() else 0.0)
print(tried, done)
"""


@pytest.mark.slow
def test_ten_thousand_of_a_member_of_the_robots_group_kill_nobody(folder, victims):
    groups = (folder.stat().st_gid,)

    def strikes():
        return int(as_another_user(STRANGER, 500, *VICTIMS, groups=groups).split()[1])

    assert survive(victims, strikes, rounds=20) >= 10_000


@pytest.mark.slow(but="1000")
@pytest.mark.parametrize("count", [1000, 10_000], ids=str)
def test_another_user_gets_at_no_channel(folder, victims, count):
    tried, done = map(int, as_another_user(STRANGER, count, *VICTIMS).split())
    assert (tried, done) == (count, 0)
    victims.get_on()
    assert victims.dead() == {}
