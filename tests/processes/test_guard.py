"""The guard makes a robot safe whose daemon hangs or dies, and says so; without one nobody does."""

import os
import signal
import textwrap
import threading
import time
import warnings
from pathlib import Path

import pytest
from daemon_rig import Rig
from robot_processes import daemon, end_all, kill_daemon, wait_for, wholebody

from wholebody import robots
from wholebody.cli.start import stay
from wholebody.drivers import Loopback, SteadyClock, connect
from wholebody.drivers.catalog import find
from wholebody.drivers.hubo_can.simulated.process import Remote
from wholebody.drivers.udp import UdpServer
from wholebody.errors import HardwareError
from wholebody.operator.monitor.watcher import Watcher
from wholebody.processes import guard as guards
from wholebody.processes import lifecycle
from wholebody.processes.devices import bus_name
from wholebody.processes.guard import Guard
from wholebody.processes.launch_plan import LaunchPlan
from wholebody.processes.registry import DAEMON, GUARD, plan_of, process_of
from wholebody.realtime import has_ended

HELD = "the guard has told the device to hold"
SERVER = "the device stops by itself: the UdpServer stops the robot"


@pytest.fixture(autouse=True)
def nothing_is_left():
    yield
    end_all()


@pytest.fixture
def server():
    """A robot at the other end of a cable, whose interface notes when it is stopped."""

    class Noted(Loopback):
        stops = 0

        def stop(self):
            Noted.stops += 1
            super().stop()

    robot = robots.load("minihubo")
    with UdpServer(robot, Noted(robot), SteadyClock(0.005)) as server:
        ended = threading.Event()
        thread = threading.Thread(target=server.run, args=(lambda: not ended.is_set(),))
        thread.start()
        yield server
        ended.set()
        thread.join()


def told():
    """All that `wholebody status` shows of events."""
    return [f"{each.name}: {each.text}" for each in Watcher().look().events]


def said(text):
    """Whether the guard has said something, in the log and as an event."""
    log = lifecycle.log_file("robot").read_text()
    return text in log and any(text in each for each in told())


def gone_or_hung(how):
    process = daemon()
    if how == "hangs":
        os.kill(process, signal.SIGSTOP)
    else:
        kill_daemon()
    wait_for(lambda: said(how))
    return process


# A daemon in this process, which beats when it is told to.


@pytest.fixture
def watched(monkeypatch):
    """A daemon's cycle, a guard of it, and what the guard says; the device stops by itself."""
    monkeypatch.setattr(guards, "HANGS_AFTER", 0.1)
    with Rig() as rig, Guard(LaunchPlan("robot", "hubo2plus", "udp"), (lines := []).append) as watching:
        yield rig, watching, lines


def test_a_daemon_that_beats_is_left_alone_and_one_that_does_not_is_stopped_when_it_goes_on(watched):
    rig, watching, lines = watched
    for _ in range(30):
        rig.go()
        watching.look()
    assert not lines, "it beats"
    for _ in range(10):
        watching.look()
    assert [each.partition(":")[0] for each in lines] == ["hangs", "safe"]
    assert SERVER in lines[1]
    assert not rig.cycle.stopped, "it hangs"
    rig.go()
    assert "no beat of the daemon" in rig.cycle.stopped, "the first thing that it does is to stop"
    watching.look()
    assert "the robot stays stopped" in lines[-1]
    rig.go(10)
    assert rig.cycle.stopped, "until somebody says resume"


def test_drivers_say_what_their_devices_do_without_a_daemon():
    armed = {name: bool(find(name).watchdog) for name in ("udp", "simulation", "daemon", "hubo_can")}
    assert armed == {"udp": True, "simulation": True, "daemon": True, "hubo_can": False}
    assert not LaunchPlan("robot", "hubo2plus", "simulator").guarded
    assert LaunchPlan("robot", "hubo2plus", "hubo_can").guarded


# Real daemons.


@pytest.mark.parametrize("guarded", [pytest.param(True, id="guard"), pytest.param(False, id="no guard")])
@pytest.mark.parametrize("how", ["hangs", "died"])
@pytest.mark.slow
def test_boards_are_told_to_hold_when_the_daemon_is_lost_and_without_a_guard_nobody_tells_them(guarded, how):
    wholebody("start", "--driver", "full", "--guard" if guarded else "--no-guard")
    wholebody("console", "-c", "homeAll")
    boards, joint = Remote(bus_name(plan_of())), robots.load("hubo2plus").index["RSP"]
    with connect("mover") as robot:
        robot.move({"RSP": -0.8})
        wait_for(lambda: robot.wait(1.0) and robot.position("RSP") < -0.1)
    process = daemon()
    os.kill(process, signal.SIGSTOP)
    wait_for(lambda: Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "T")
    time.sleep(0.05)  # what it sent is through
    before = boards.report()["traffic"][0]["frames"]
    if how == "died":
        kill_daemon()
    if guarded:
        wait_for(lambda: said(how) and said(HELD))
        report = boards.report()
        assert report["traffic"][0]["frames"] > before
        assert report["goal"][joint] == pytest.approx(report["position"][joint], abs=0.01)
        assert report["position"][joint] > -0.85
    else:
        time.sleep(2.0)
        assert boards.report()["traffic"][0]["frames"] == before
        assert process_of(GUARD) is None


@pytest.mark.parametrize("how", ["hangs", "died"])
@pytest.mark.slow
def test_servos_hold_where_they_are_and_the_robot_starts_again(how):
    wholebody("start", "--driver", "mini")
    wholebody("console", "-c", "homeAll")
    with connect("mover") as robot:
        robot.move({"RSP": -0.8})
        wait_for(lambda: robot.wait(1.0) and robot.position("RSP") < -0.1)
        process = gone_or_hung(how)
        wait_for(lambda: said(HELD))
    if how == "hangs":
        os.kill(process, signal.SIGCONT)
        wait_for(lambda: Watcher().look().stopped)
        wait_for(lambda: said("the robot stays stopped until"))
        wholebody("console", "-c", "resume")
        assert not Watcher().look(since=time.monotonic()).stopped
        wholebody("stop")
        assert "died" not in lifecycle.log_file("robot").read_text(), "it was told to end"
    else:
        assert "the daemon (process" in wholebody("status", check=False).stdout
        wait_for(lambda: process_of(GUARD) is None)
        wholebody("start", "--driver", "mini")
        assert process_of(GUARD) is not None


@pytest.mark.parametrize("how", ["hangs", "died"])
@pytest.mark.slow
def test_the_server_of_a_robot_on_the_network_stops_it_by_itself(server, how):
    wholebody("start", "minihubo", "--driver", f"udp:port={server.address[1]}")
    before = server.interface.stops
    process = gone_or_hung(how)
    wait_for(lambda: server.interface.stops > before)
    wait_for(lambda: said(SERVER))
    if how == "hangs":
        assert not has_ended(process)
        os.kill(process, signal.SIGCONT)


ONLY_ONE = """
    import fcntl, os
    from pathlib import Path
    from wholebody.drivers import Loopback
    from wholebody.errors import HardwareError

    class OnlyOne(Loopback):
        '''A device that lets nobody in but its first user.'''

        watchdog = ""

        def __init__(self, robot, *, file: str = ""):
            super().__init__(robot)
            self.file = open(file, "a")
            try:
                fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise HardwareError("somebody has it") from None

        def stop(self):
            print(os.getpid(), file=self.file, flush=True)
"""


@pytest.mark.slow
def test_a_daemon_that_hangs_and_keeps_the_device_to_itself_is_killed(tmp_path):
    (tmp_path / "only.py").write_text(textwrap.dedent(ONLY_ONE))
    wholebody("start", "hubo2plus", "--driver", f"{tmp_path / 'only.py'}:OnlyOne:file={tmp_path / 'device'}")
    guard = process_of(GUARD)
    process = gone_or_hung("hangs")
    wait_for(lambda: said(HELD))
    assert has_ended(process)
    assert said("the device cannot be reached: somebody has it")
    assert str(guard) in (tmp_path / "device").read_text().split()


@pytest.mark.slow
def test_in_the_foreground_the_guard_makes_the_robot_safe_before_all_ends(tmp_path):
    (tmp_path / "only.py").write_text(textwrap.dedent(ONLY_ONE))
    choice = f"{tmp_path / 'only.py'}:OnlyOne:file={tmp_path / 'device'}"
    plan = LaunchPlan.make("robot", "hubo2plus", choice)

    def kill():
        wait_for(lambda: process_of(GUARD))
        time.sleep(0.5)
        os.kill(daemon(), signal.SIGKILL)

    killing = threading.Thread(target=kill)
    killing.start()
    with warnings.catch_warnings(), pytest.raises(HardwareError, match="exit code -9"):
        stay(plan, [DAEMON])
    killing.join()
    assert len((tmp_path / "device").read_text().split()) >= 1, "the guard has stopped it"
