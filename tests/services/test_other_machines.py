"""Services of another machine are asked as those of this one; nothing is lost though the link is cut."""

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Annotated

import counting_service
import pytest
from counting_service import NAME, Add, Counted
from robot_processes import wait_for

from wholebody.behaviors import Goals, walking_goals
from wholebody.channels.bridge.gateway import Gateway
from wholebody.drivers import Names
from wholebody.errors import GoalNotDone, NoServer
from wholebody.estimation.base_pose import doing_record
from wholebody.parameters import Unit
from wholebody.parameters.verbs import described
from wholebody.services import Client, GoalServer, Stage

pytestmark = pytest.mark.skipif(not find_spec("zenoh"), reason="eclipse-zenoh is not installed")


def free_port():
    with socket.socket() as end:
        end.bind(("127.0.0.1", 0))
        return end.getsockname()[1]


class Cable:
    """Carries bytes from a port of this machine to another port, as long as it is not cut."""

    def __init__(self, target):
        self.port, self._target = free_port(), target
        self._ends, self._listener = [], None
        self.mend()

    @property
    def where(self):
        return f"127.0.0.1:{self.port}"

    def mend(self):
        self._listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def cut(self):
        for each in (self._listener, *self._ends):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        self._ends.clear()

    def _accept(self, listener):
        with contextlib.suppress(OSError):
            while True:
                near, _ = listener.accept()
                try:
                    far = socket.create_connection(("127.0.0.1", self._target))
                except OSError:
                    near.close()
                    continue
                self._ends += [near, far]
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=self._carry, args=pair, daemon=True).start()

    def _carry(self, source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def cable():
    """A gateway is to listen at its other end."""
    cable = Cable(free_port())
    yield cable
    cable.cut()


@pytest.mark.slow
def test_no_request_is_lost_or_done_twice_though_server_and_gateway_are_killed_and_the_link_is_cut(cable, tmp_path):
    clients, requests = 2, 60
    told = [tmp_path / f"{number}" for number in range(clients)]
    with tempfile.TemporaryDirectory(prefix="wholebody-test-", dir="/dev/shm") as folder:

        def begin(role, *arguments, **environment):
            command = [sys.executable, counting_service.__file__, role, *map(str, arguments)]
            return subprocess.Popen(command, env={**os.environ, **environment})

        there = {"WHOLEBODY_CHANNELS": folder}
        where = f"127.0.0.1:{cable._target}"
        server, gateway = begin("serve", **there), begin("gateway", where, **there)
        asking = [begin("ask", number, requests, file, cable.where, 5) for number, file in enumerate(told)]

        def done():
            return min(len(file.read_text().split()) if file.exists() else 0 for file in told)

        try:
            wait_for(lambda: done() >= 10, 40)
            cable.cut()
            time.sleep(0.3)
            cable.mend()
            wait_for(lambda: done() >= 25, 40)
            server.kill()
            server.wait()
            server = begin("serve", **there)
            wait_for(lambda: done() >= 40, 40)
            gateway.kill()
            gateway.wait()
            gateway = begin("gateway", where, **there)
            assert [process.wait(40) for process in asking] == [0] * clients
        finally:
            for process in (server, gateway, *asking):
                process.kill()
                process.wait()
    counts = sorted(int(count) for file in told for count in file.read_text().split())
    assert counts == list(range(1, clients * requests + 1)), "one was lost, or done twice"


@dataclass(frozen=True)
class Lift:
    """Lift something."""

    height: Annotated[float, Unit("m")]


def test_how_a_goal_ended_is_heard_though_the_link_was_cut_then(cable):
    with (
        GoalServer("robot.lift", (Lift,)) as server,
        Gateway(f"127.0.0.1:{cable._target}"),
        Client("robot.lift", connect=cable.where, patience=30.0) as client,
    ):
        assert client.alive
        number = client.send(Lift(0.5))
        asked = []
        wait_for(lambda: asked.append(server.take_goal(1.0)) or asked[-1] is not None, 20)
        assert asked[-1].request == Lift(0.5)
        server.accept(asked[-1], 1.0)
        assert client.wait(number, until=Stage.ACCEPTED).time == 1.0
        cable.cut()
        server.run(2.0, progress=0.5)
        server.finish(Stage.FAILED, 3.0, "it is too heavy")
        time.sleep(0.2)
        assert [each.stage for each in client.reports(number)] == [Stage.ACCEPTED]
        cable.mend()
        with pytest.raises(GoalNotDone, match="too heavy"):
            client.wait(number, 30.0)
        assert [each.stage for each in client.reports(number)] == [Stage.ACCEPTED, Stage.RUNNING, Stage.FAILED]


def test_verbs_of_another_machine_are_told_without_their_classes(cable):
    with (
        GoalServer("robot.lift", (Lift,), about=described((Lift,))) as server,
        Gateway(f"127.0.0.1:{cable._target}"),
        Goals("robot", connect=cable.where) as robot,
    ):
        wait_for(lambda: robot._look() or "lift" in robot.verbs, 20)
        going, asked = robot.lift(height="50cm"), []
        wait_for(lambda: asked.append(server.take_goal(1.0)) or asked[-1] is not None, 20)
        assert asked[-1].request == Lift(0.5)
        server.accept(asked[-1], 1.0)
        server.finish(Stage.SUCCEEDED, 2.0)
        assert going.wait(20.0).time == 2.0


def test_a_walking_robot_of_another_machine_is_told_where_to_go_and_tells_what_it_does(cable):
    names = Names("robot")
    with (
        GoalServer(names.service("walk"), walking_goals.GOALS, doing_record()) as server,
        Gateway(f"127.0.0.1:{cable._target}"),
        walking_goals.WalkingClient("robot", connect=cable.where) as robot,
    ):
        now = server._doing.message
        now.time, now.place[:], now.standing, now.trouble = 3.0, (1.0, 2.0, 0.5), True, "a foot slips"
        now.bearing = walking_goals.Bearing.BOTH
        server._doing.put()
        doing = robot.wait_until(lambda doing: doing.time == 3.0, 20.0)
        assert (doing.place, doing.standing, doing.trouble) == ((1.0, 2.0, 0.5), True, "a foot slips")
        assert doing.bearing is walking_goals.Bearing.BOTH
        number, asked = robot.go(0.5, turn=0.1), []
        wait_for(lambda: asked.append(server.take_goal(3.0)) or asked[-1] is not None, 20)
        assert asked[-1].request == walking_goals.Go(0.5, 0.0, 0.1)
        server.accept(asked[-1], 3.0)
        server.finish(Stage.SUCCEEDED, 4.0)
        assert robot.wait(number, 20.0).time == 4.0


def test_who_asks_a_machine_that_does_not_answer_is_told(cable):
    with pytest.raises(NoServer, match="does not run"):
        Client(NAME, timeout=0.0, answer=Counted, connect=cable.where)
    with counting_service.Counting() as server, Gateway(f"127.0.0.1:{cable._target}"):
        client = Client(NAME, answer=Counted, connect=cable.where)
        client.patience = 0.2
        number = client.send(Add(1, 1))
        wait_for(lambda: server.serve() or server.count == 1, 20)
        assert client.wait(number).answer == Counted(1, 1, 1)
        cable.cut()
        with pytest.raises(NoServer, match="has ended"):
            client.wait(client.send(Add(1, 2)))
        client.close()
