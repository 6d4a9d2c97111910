"""A walking robot told by RCP: daemon, MuJoCo, walking controller and command server, in simulated time."""

import math
import re
import time

import pytest
from walking_rig import NAME, Rig

from wholebody.behaviors.walking_goals import CONTROLLER, Bearing
from wholebody.channels import Channel
from wholebody.drivers import Names
from wholebody.locomotion.walking.gait import gait_of
from wholebody.model import Model
from wholebody.operator.map import Block, Map
from wholebody.operator.rcp.command_server import CommandServer, Rules
from wholebody.operator.robot.robot import WalkingBody
from wholebody.services import Stage as Become
from wholebody.services.records import Reply, read_report

PILLAR = Block("pillar", 1.2, -0.9, 0.2, 0.2)
HALL = Map([Block("north", 0.0, 2.0, 8.0, 0.1)], [PILLAR])
ENDS = r"COMMAND {} (COMPLETED|FAILED|INTERRUPTEDBY).*"


class People:
    """A command server whose clock is the robot's, and people who talk to it."""

    def __init__(self, rig, **rules):
        self.rig = rig
        self.body = WalkingBody(rig.robot, NAME, HALL)
        self.commands = CommandServer(self.body, rules=Rules(**rules))
        self.sessions, self.heard = {}, {}

    def arrives(self, who, timeout=None):
        self.sessions[who] = self.commands.open(True, self.now, timeout)
        self.heard[who] = []
        self.says(who, "CONNECT operator")

    def says(self, who, line):
        self.commands.line(self.sessions[who], line, self.now)
        return self.hears(who)

    def hears(self, who):
        lines = list(self.sessions[who].outbox)
        self.sessions[who].outbox.clear()
        self.heard[who] += lines
        return lines

    def begins(self, who, line):
        """The number of an order."""
        return int(re.search(r"COMMAND (\d+) (QUEUED|STARTED)", self.says(who, line)[-1])[1])

    def end_of(self, who, number, seconds=90.0):
        """What becomes of an order."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.commands.update(self.now)
            self.hears(who)
            for line in self.heard[who]:
                if found := re.search(ENDS.format(number), line):
                    return found[0].partition(f"{number} ")[2]
            time.sleep(0.002)
        raise AssertionError(f"{number} did not end: {self.heard[who][-5:]}")

    def does(self, who, line):
        return self.end_of(who, self.begins(who, line))

    def waits(self, condition, seconds=60.0):
        until = time.monotonic() + seconds
        while not condition():
            self.commands.update(self.now)
            assert time.monotonic() < until
            time.sleep(0.002)

    @property
    def step_time(self):
        return gait_of(Model(self.rig.robot)).step_time

    @property
    def now(self):
        return self.rig.world.time

    @property
    def truth(self):
        """Where the robot is, and where it faces."""
        base = self.rig.world.base_to_world
        return base[0, 3], base[1, 3], math.atan2(base[1, 0], base[0, 0])


@pytest.fixture
def people():
    """A robot that stands, and anne in control; bob looks on."""
    with Rig() as rig:
        people = People(rig)
        people.arrives("anne")
        people.arrives("bob")
        people.says("anne", "CONTROL BEGIN")
        yield people
        people.body.close()


@pytest.mark.slow
def test_what_people_ask_is_done_and_they_hear_when(people):
    walk = people.begins("anne", "MOVE WALKING FORWARD 3 STEPS")
    turn = people.begins("anne", "MOVE TURNING LEFT 40 DEGREES")
    assert people.end_of("anne", walk) == "COMPLETED"
    said = [line for line in people.heard["anne"] if f"COMMAND {walk} " in line]
    assert said == [f"OK COMMAND {walk} {stage}" for stage in ("QUEUED", "STARTED", "COMPLETED")]
    step = float(people.says("anne", "QUERY PARAM walking.step")[0].split()[-1])
    assert people.truth[0] == pytest.approx(3 * step, abs=0.06)
    people.waits(lambda: people.body.underway() is not None and people.body.underway().left is not None)
    begun, left = people.now, people.body.underway().left
    assert people.end_of("anne", turn) == "COMPLETED"
    assert people.now - begun == pytest.approx(left, abs=1.0), "one knew when it would end"
    assert people.body.underway() is None
    assert people.truth[2] == pytest.approx(math.radians(40), abs=0.06)

    assert people.does("anne", "MOVE HEAD LEFT 20 DEGREES") == "COMPLETED"
    neck = people.rig.world.truth.position[people.rig.robot.index["NKY"]]
    assert neck == pytest.approx(math.radians(20), abs=0.03), "though the walking controller holds the neck, too"
    assert "the neck goes from" in people.says("anne", "MOVE HEAD LEFT 100 DEGREES")[0]

    assert people.says("anne", "GOTO 0 3")[0].endswith("FAILED north is in the way")
    assert people.does("anne", "GOTO OBJECT(pillar)") == "COMPLETED"
    x, y, _ = people.truth
    reach = PILLAR.length / 2 + people.body.settings.goto.range
    assert reach - 0.05 < max(abs(x - PILLAR.x), abs(y - PILLAR.y)) < reach + 0.15
    assert people.rig.upright


@pytest.mark.slow
def test_a_stop_counts_within_200_ms_and_rests_in_double_support_within_one_step_and_half_a_second(people):
    walk, more = (people.begins("anne", f"MOVE WALKING FORWARD {n} STEPS") for n in (15, 5))
    people.waits(lambda: people.truth[0] > 0.3)
    with Channel(f"{Names(NAME).service(CONTROLLER)}.replies", kind=Reply) as channel, channel.reader() as reader:
        reader.latest()
        said = people.now
        stop = people.begins("bob", "STOP")
        assert people.end_of("anne", walk) == f"INTERRUPTEDBY {stop}"
        assert people.end_of("anne", more) == f"INTERRUPTEDBY {stop}"
        on_one_foot = []

        def stands():
            doing = people.rig.client.doing
            if doing.bearing in (Bearing.LEFT, Bearing.RIGHT):
                on_one_foot.append(doing.time)
            return doing.standing

        people.waits(stands)
        assert people.end_of("bob", stop) == "COMPLETED"
        accepted = []
        while reader.next():
            report = read_report(reader.message)
            accepted += [report.time] if report.stage is Become.ACCEPTED else []
    assert accepted[-1] - said < 0.2, "it plans anew, which changes what it commands"
    assert max(on_one_foot, default=accepted[-1]) - accepted[-1] < people.step_time + 0.5
    rested, stood, bore = people.now, people.truth[0], set()
    people.waits(lambda: bore.add(people.rig.client.doing.bearing) or people.now > rested + 3.0)
    assert bore == {Bearing.BOTH}
    assert people.truth[0] == pytest.approx(stood, abs=0.1)  # it sways to between its feet
    assert people.rig.upright


@pytest.mark.slow
def test_control_that_is_lost_in_any_way_stops_the_walk_and_given_back_it_does_not(people):
    def walks_on(who):
        begin = people.begins(who, "MOVE WALKING FORWARD 5 STEPS")
        far = people.truth[0] + 0.1
        people.waits(lambda: people.truth[0] > far)
        return begin

    walk = walks_on("anne")
    assert "anne" not in people.says("bob", "CONTROL BEGIN")[0], "operators do not take from operators"
    people.says("anne", "CONTROL END")
    assert people.end_of("anne", walk) == "COMPLETED", "the control arm: given back, not lost"

    people.says("bob", "CONTROL BEGIN")
    walk = walks_on("bob")
    people.commands.close(people.sessions["bob"], people.now)
    people.waits(lambda: people.commands.orders.machine.state == "idle")
    assert people.commands.orders.log[walk - 1].stage == "INTERRUPTEDBY"

    people.arrives("page", timeout=2.0)
    people.says("page", "CONTROL BEGIN")
    walk = walks_on("page")
    people.waits(lambda: people.commands.orders.log[walk - 1].stage == "INTERRUPTEDBY")
    assert "silent for 2 s" in people.hears("page")[-1] or "silent for 2 s" in " ".join(people.heard["page"])
    people.waits(lambda: people.commands.orders.machine.state == "idle")
    assert people.rig.client.doing.standing
    assert people.rig.upright


def test_a_velocity_is_walked_while_it_is_repeated_and_without_a_controller_the_daemon_holds(people):
    drive = people.begins("anne", "DRIVE 0.15 0 0")
    while (at := people.truth[0]) < 0.25:
        told = people.now
        assert not any("COMPLETED" in line for line in people.says("anne", "DRIVE 0.15 0 0"))
        people.commands.update(people.now)
        time.sleep(0.01)
    assert people.end_of("anne", drive) == "COMPLETED", "half a second after the last word"
    assert people.truth[0] < at + 0.15 * (people.now - told) + 0.15, "no faster than told, and a step to stop"

    walk = people.begins("anne", "MOVE WALKING FORWARD 5 STEPS")
    far = people.truth[0] + 0.1
    people.waits(lambda: people.truth[0] > far)
    people.rig.kill_controller()
    assert "it has ended" in people.end_of("anne", walk)
    assert "no walking controller runs" in people.says("anne", "MOVE WALKING FORWARD 1 STEPS")[0]
    assert "the daemon holds every joint" in people.does("anne", "STOP")
    people.says("anne", "RESUME")
    people.waits(lambda: any(line.startswith("OK RESUME") for line in people.hears("anne")))
