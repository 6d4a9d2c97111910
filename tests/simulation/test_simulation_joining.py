"""A simulation as the simulator of a robot's name, and as the mechanics behind simulated boards."""

import itertools
import math
import threading
import time

import numpy as np
import pytest
from simulator_peers import PERIOD, make_channels, new_records, process, simulator

from wholebody import messages, robots
from wholebody.channels import Channel
from wholebody.drivers.interface import Plant
from wholebody.drivers.simulator_link import SimulatorLink
from wholebody.errors import BadSimulation, SimulationDiverged
from wholebody.messages import Mode
from wholebody.simulation import Pace, SensorModel, SimulatedPlant, Simulation, join, lockstep

ROBOT = "hoap3"
ARM = "R_SAA"


@pytest.fixture(scope="module")
def robot():
    return robots.load(ROBOT)


class Joined:
    """A simulation that is joined in a thread of the test's own process."""

    def __init__(self, simulation, real_time=None):
        self.simulation, self.reports = simulation, []
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(real_time,))

    def _run(self, real_time):
        running = lambda: not self._end.is_set()  # noqa: E731
        self.pace = join(self.simulation, "robot", real_time, running, self.reports.append)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        self._thread.join(20)
        assert not self._thread.is_alive()


def swing(cycle, reference, start, arm):
    reference.position[:] = start
    reference.position[arm] += 0.2 * math.sin(0.05 * cycle)


# Joining.


@pytest.mark.parametrize("physics", [True, False], ids=["physics", "kinematic"])
def test_through_the_link_states_are_bit_by_bit_those_of_the_simulation_itself(robot, physics):
    arm, cycles = robot.index[ARM], 400
    direct = Simulation(robot, physics=physics, seed=5, sensors=SensorModel.realistic())
    start = direct.new_reference()["position"].copy()
    expected, state, reference = [], *new_records(robot)
    for cycle in range(cycles):
        direct.read(state)
        expected.append(state.tobytes())
        swing(cycle, reference, start, arm)
        direct.write(reference)
        direct.advance()
    with process(simulator, ROBOT, "robot", physics, None, 5), SimulatorLink(robot) as link:
        for cycle in range(cycles):
            link.tick()
            swing(cycle, reference, start, arm)
            link.write(reference)
            link.read(state)
            assert state.tobytes() == expected[cycle], f"cycle {cycle}"
    assert len(set(expected)) == cycles, "something moved"


def test_without_a_pace_it_never_waits_for_real_time(robot, monkeypatch):
    monkeypatch.setattr(lockstep, "sleep_until", pytest.fail)
    with Joined(Simulation(robot, physics=False)) as joined, SimulatorLink(robot) as link:
        _, reference = new_records(robot)
        reference.mask[:] = False
        for _ in range(2000):
            link.tick()
            link.write(reference)
    assert joined.pace.periods >= 1999
    assert joined.pace.simulated == joined.pace.periods * PERIOD
    assert joined.pace.late == 0


def test_paced_it_is_never_faster_than_asked(robot):
    with Joined(Simulation(robot, physics=False), real_time=5.0) as joined, SimulatorLink(robot) as link:
        _, reference = new_records(robot)
        reference.mask[:] = False
        link.tick()
        began = time.monotonic()
        for _ in range(200):
            link.write(reference)
            link.tick()
        assert time.monotonic() - began >= 199 * PERIOD / 5.0
    assert joined.pace.real_time < 5.5


def test_without_an_answer_the_world_stands_still_and_says_so(robot):
    simulation = Simulation(robot)
    with Joined(simulation) as joined:
        time.sleep(1.5)
        assert simulation.time == 0.0
        assert joined.reports
        assert joined.reports[0].waiting
        assert joined.reports[0].recent == 0.0
    assert joined.pace.waiting
    assert joined.pace.periods == 0


def test_a_bad_command_is_refused_and_the_joints_keep_what_they_had(robot):
    simulation = Simulation(robot)
    start = simulation.new_reference()["position"].copy()
    state, reference = new_records(robot)
    with Joined(simulation) as joined, SimulatorLink(robot) as link:
        for bad, mode in ((math.nan, Mode.POSITION), (math.inf, Mode.POSITION), (0.0, 77)):
            link.tick()
            reference.position[:], reference.position[3], reference.mode[3] = start + 0.01, bad, mode
            link.write(reference)
        link.tick()
        link.read(state)
        assert np.array_equal(state.reference, start)
        reference.position[:], reference.mode[:] = start + 0.01, Mode.POSITION
        link.write(reference)
        link.tick()
        link.read(state)
        assert np.array_equal(state.reference, start + 0.01), "and it goes on"
    assert joined.pace.refused == 3
    assert f"joint '{robot.joint_names[3]}'" in joined.pace.trouble


def test_physics_that_became_unstable_begins_anew(robot, monkeypatch):
    simulation = Simulation(robot)
    advance, count = simulation.advance, itertools.count()

    def unstable():
        if next(count) == 10:
            raise SimulationDiverged("it became unstable")
        advance()

    monkeypatch.setattr(simulation, "advance", unstable)
    with Joined(simulation) as joined, SimulatorLink(robot) as link:
        _, reference = new_records(robot)
        reference.mask[:] = False
        times = []
        for _ in range(30):
            times.append(link.tick())
            link.write(reference)
        assert np.diff(times) == pytest.approx(PERIOD)
        assert link.restarts == 1
    assert (joined.pace.resets, joined.pace.trouble) == (1, "it became unstable")


def test_a_command_for_an_earlier_simulator_is_not_obeyed(robot):
    with Channel("robot.commanded", robot.reference_dtype()).writer() as commands:
        commands.message["position"], commands.message["mask"] = 0.5, True
        commands.put()
    simulation = Simulation(robot)
    start = simulation.new_reference()["position"].copy()
    with Joined(simulation), SimulatorLink(robot) as link:
        state, _ = new_records(robot)
        for _ in range(5):
            link.tick()
        link.read(state)
        assert np.array_equal(state.reference, start)


def test_a_name_has_one_simulator(robot):
    second = Simulation(robot)
    with Joined(Simulation(robot)), SimulatorLink(robot), pytest.raises(BadSimulation, match="already"):
        join(second, "robot")


@pytest.mark.parametrize("real_time", [0.0, -1.0, math.nan, 1e9])
def test_a_pace_that_is_none_is_refused(robot, real_time):
    with pytest.raises(BadSimulation, match="times real time"):
        join(Simulation(robot, physics=False), "robot", real_time)


def test_the_share_of_real_time_is_what_went_by_in_what_it_took():
    assert Pace(200, 1.0, 0.5, 2.0, 0, 0, 0, False, "").real_time == 2.0


@pytest.mark.slow(but="simulated")
@pytest.mark.parametrize("trigger", ["state", "simulated", "from_simulator", "to_simulator"])
def test_a_controller_can_follow_simulated_time_by_the_state_or_by_a_trigger(robot, trigger):
    make_channels(robot)
    ended = threading.Event()

    def daemon():
        with SimulatorLink(robot) as link, Channel("robot.state", robot.state_dtype(), depth=16384).writer() as states:
            reference = new_records(robot)[1]
            reference.mask[:] = False
            while not ended.is_set():
                link.tick()
                link.write(reference)
                link.read(states.message)
                states.put()

    loop = threading.Thread(target=daemon)
    with Joined(Simulation(robot, physics=False), real_time=4.0):
        loop.start()
        layout = robot.state_dtype() if trigger in ("state", "simulated") else messages.tick()
        follower, times = Channel(f"robot.{trigger}", layout, depth=16384).reader(), []
        while len(times) < 500 and follower.wait(20, mode="next"):
            times.append(float(follower.message["time"]))
        ended.set()
        loop.join()
    assert times == [cycle * PERIOD for cycle in range(500)]


# Behind simulated boards.


@pytest.fixture(params=[True, False], ids=["physics", "kinematic"])
def simulation(robot, request):
    return Simulation(robot, physics=request.param, control_period=0.001)


def test_a_plant_is_a_plant(simulation):
    plant: Plant = SimulatedPlant(simulation)
    state = simulation.new_state()
    plant.read(state)
    assert state.tobytes() == simulation.truth.tobytes()


@pytest.mark.parametrize("slices", [[0.0049], [0.0001], [0.005, 0.0003, 0.00117, 1e-7]])
def test_time_goes_by_in_whole_periods_and_nothing_of_it_is_lost(robot, slices):
    simulation = Simulation(robot, physics=False, control_period=0.001)
    plant, target = SimulatedPlant(simulation), simulation.new_reference()["position"].copy()
    powered, total = np.ones(len(target), bool), 0.0
    for seconds in itertools.islice(itertools.cycle(slices), 300):
        plant.advance(seconds, target, powered)
        total += seconds
        assert total - 0.001 - 1e-6 < simulation.time <= total + 1e-6


def test_a_powered_joint_goes_to_its_target(simulation):
    plant, target = SimulatedPlant(simulation), simulation.new_reference()["position"].copy()
    arm = simulation.robot.index[ARM]
    target[arm] -= 0.3
    for _ in range(200):
        plant.advance(0.005, target, np.ones(len(target), bool))
    assert simulation.truth.position[arm] == pytest.approx(target[arm], abs=0.02)


def test_a_joint_without_power_is_limp(robot):
    simulation = Simulation(robot, control_period=0.001)
    plant, target = SimulatedPlant(simulation), simulation.new_reference()["position"].copy()
    powered = np.ones(len(target), bool)
    arm = robot.index[ARM]
    powered[arm] = False
    target[arm] -= 0.5
    for _ in range(20):
        plant.advance(0.005, target, powered)
        assert simulation.truth.effort[arm] == 0.0
    before = simulation.truth.position[arm]
    powered[arm] = True
    for _ in range(200):
        plant.advance(0.005, target, powered)
    assert abs(simulation.truth.position[arm] - before) > 0.1, "with power it moves"
