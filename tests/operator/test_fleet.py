"""Three robots on three machines: one table, one page, one STOP; the loss of one is told and harms no other."""

import json
import re
import signal
import socket
import urllib.error
import urllib.request
from importlib.util import find_spec

import pytest
from robot_processes import MAIN, wait_for
from two_machines import Machine

from wholebody.channels import directory
from wholebody.drivers import connect
from wholebody.operator.fleet import Fleet, page
from wholebody.processes.far_robots import FarRobots

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not find_spec("zenoh"), reason="eclipse-zenoh is not installed")]
ROBOTS = ("anna", "bert", "carl")


@pytest.fixture
def machines(channels_folder, near):
    """Three machines with a robot each: where each is found, and the process that opens it to others."""
    found, begun = {}, []
    for robot in ROBOTS:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            where = f"127.0.0.1:{probe.getsockname()[1]}"
        begun.append(machine := Machine(channels_folder / robot))
        host = machine.run(*MAIN, "process", "host", "--endpoint", where)
        assert host.stdout.readline()
        with FarRobots(where) as far:
            ran = far.run("start", "hubo2plus", "--driver", "loopback", "--name", robot)
            assert ran.code == 0, ran.err
        found[robot] = where, host
    yield found
    for robot, (where, host) in found.items():
        host.send_signal(signal.SIGCONT)
        with FarRobots(where) as far:
            far.run("stop", "--name", robot)
    for machine in begun:
        machine.stop()


def conditions(fleet):
    return {each.name: each.condition.split()[0] for each in fleet.members()}


def get(url, **more):
    with urllib.request.urlopen(urllib.request.Request(url, **more), timeout=20) as answer:
        return answer.read().decode()


def test_one_robot_is_lost_the_others_go_on_and_stop_all_says_whom_it_reached(machines, near):
    with Fleet([where for where, _ in machines.values()]) as fleet:
        fleet.until_heard(20.0)
        wait_for(lambda: conditions(fleet) == dict.fromkeys(ROBOTS, "running"))
        assert [each.where for each in fleet.members()] == [where for where, _ in machines.values()]
        with connect("test", "carl") as carl:
            where, host = machines["bert"]
            host.send_signal(signal.SIGSTOP)  # as if its cable were cut
            wait_for(lambda: conditions(fleet)["bert"] == "lost")
            assert fleet.silent == [where]

            def has_moved():
                assert carl.wait(5.0)
                carl.move({"RSP": -0.1})
                return carl.position("RSP") == pytest.approx(-0.1, abs=0.01)

            wait_for(has_moved)
        assert conditions(fleet) | {"bert": ""} == {"anna": "running", "bert": "", "carl": "running"}
        assert fleet.stop_all() == {"anna": True, "bert": False, "carl": True}
        wait_for(lambda: conditions(fleet) == {"anna": "stopped", "bert": "lost", "carl": "stopped"})
        host.send_signal(signal.SIGCONT)
        wait_for(lambda: conditions(fleet)["bert"] in ("running", "stopped"))
        assert fleet.stop_all() == dict.fromkeys(ROBOTS, True)
        wait_for(lambda: conditions(fleet) == dict.fromkeys(ROBOTS, "stopped"))
    assert [name for name in directory.names() if name.endswith(".tick")] == [], "nothing of them is left here"


def test_the_page_shows_the_fleet_and_stops_it_for_nobody_elses_page(machines, near):
    with Fleet([where for where, _ in machines.values()]) as fleet, page(fleet, 0) as port:
        fleet.until_heard(20.0)
        where = f"http://127.0.0.1:{port}"
        assert "STOP ALL" in get(where)
        told = json.loads(get(f"{where}/robots"))
        assert [each["name"] for each in told["members"]] == list(ROBOTS)
        with pytest.raises(urllib.error.HTTPError, match="403"):
            get(f"{where}/stop", method="POST")
        wait_for(lambda: conditions(fleet) == dict.fromkeys(ROBOTS, "running"))
        reached = json.loads(get(f"{where}/stop", method="POST", headers={"X-Wholebody": "stop"}))
        assert reached == dict.fromkeys(ROBOTS, True)
        wait_for(lambda: conditions(fleet) == dict.fromkeys(ROBOTS, "stopped"))


def test_the_command_shows_a_table_and_its_exit_code_says_whether_all_were_stopped(machines, near):
    hosts = [where for where, _ in machines.values()]
    shown = near.run(*MAIN, "fleet", "--once", *hosts).communicate(timeout=60)[0]
    for robot in ROBOTS:
        assert re.search(rf"{robot} .*running", shown), shown
    stopping = near.run(*MAIN, "fleet", "--stop", *hosts)
    said = stopping.communicate(timeout=60)[0]
    assert (said, stopping.returncode) == ("".join(f"{robot}: stopped\n" for robot in ROBOTS), 0)
    machines["anna"][1].send_signal(signal.SIGSTOP)
    stopping = near.run(*MAIN, "fleet", "--stop", *hosts)
    assert "anna" not in stopping.communicate(timeout=60)[0]
    assert stopping.returncode == 1
    assert "its robots were NOT REACHED" in near.said.read_text()
