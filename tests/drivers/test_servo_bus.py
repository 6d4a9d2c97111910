"""Mini-Hubo on simulated servos, in virtual time."""

import math

import numpy as np
import pytest

from wholebody import robots
from wholebody.drivers import Boards, RobotInterface
from wholebody.drivers.dynamixel import packets
from wholebody.drivers.dynamixel.packets import RADIANS_PER_COUNT, Fault, Instruction, Request
from wholebody.drivers.dynamixel.robot import HOLLOW, HOMING_SPEED, ServoRobot
from wholebody.drivers.dynamixel.simulated import LineFaults, SimulatedServos
from wholebody.drivers.dynamixel.table import ServoTable
from wholebody.errors import HardwareError
from wholebody.messages import ALL_JOINTS, Measured, Mode, Status, Verb

MINI = robots.load("minihubo")
TABLE = ServoTable.of(MINI)
N = len(MINI.moving)
RSP = MINI.index["RSP"]
PERIOD = 0.005


class Mini:
    """A robot, its simulated servos, and a loop that writes, lets a period go by and reads."""

    def __init__(self, simulated=None, lines=None, faults=None, period=PERIOD):
        self.simulated = simulated or SimulatedServos(MINI, lines=lines, faults=faults)
        self.period = period
        self.robot = ServoRobot(MINI, self.simulated.ports()[:lines], period)
        self.state = np.zeros(1, MINI.state_dtype())[0]
        self.reference = np.zeros(1, MINI.reference_dtype())[0]
        self.robot.__enter__()
        self.robot.read(self.state)
        self.reference.position[:], self.reference.mask[:] = self.state.position, True

    def go(self, seconds):
        seen = []
        for _ in range(round(seconds / self.period)):
            self.robot.write(self.reference)
            self.simulated.advance(self.period)
            self.robot.read(self.state)
            seen.append(self.state.copy())
        return seen

    @property
    def truth(self):
        return self.simulated.servos.plant.position

    def home(self):
        assert self.robot.command(Verb.HOME, ALL_JOINTS, ()).accepted
        self.go(0.2)
        self.reference.position[:] = 0.001
        self.go(0.05)
        return self


@pytest.fixture
def mini():
    return Mini().home()


def test_it_is_a_robot_with_boards(mini):
    assert isinstance(mini.robot, RobotInterface)
    assert isinstance(mini.robot, Boards)
    assert mini.robot.modes == {Mode.POSITION}
    assert mini.robot.simulated


@pytest.mark.parametrize("lines", [1, 2])
def test_every_joint_goes_where_it_is_told_to_a_count(lines):
    mini = Mini(lines=lines).home()
    lower, upper = (np.array([getattr(j, end) for j in MINI.moving]) for end in ("lower", "upper"))
    mini.reference.position[:] = np.clip(np.linspace(-0.4, 0.4, N), lower, upper)
    mini.go(0.8)
    assert np.abs(mini.truth - mini.reference.position).max() <= RADIANS_PER_COUNT / 2 + 1e-6
    assert np.abs(mini.state.position - mini.truth).max() <= RADIANS_PER_COUNT / 2 + 1e-6
    assert mini.robot.unanswered.sum() == 0


def test_velocity_effort_and_temperature_are_the_servos(mini):
    mini.reference.position[RSP] = 0.6
    states = mini.go(0.4)
    fastest = max(state.velocity[RSP] for state in states)
    assert fastest == pytest.approx(MINI.joint("RSP").velocity, rel=0.15)
    mini.simulated.servos.plant.load[RSP] = -1.5
    mini.go(0.5)
    assert mini.state.effort[RSP] == pytest.approx(1.5, abs=0.02)
    assert mini.state.temperature.tolist() == [25] * N


def test_measured_is_what_servos_measure_and_nothing_else(mini):
    flags = Measured.POSITION | Measured.VELOCITY | Measured.EFFORT | Measured.TEMPERATURE
    assert (mini.state.measured == flags).all()
    assert mini.state.imu.measured.tolist() == [0], "Mini-Hubo has no IMU"
    assert mini.state.force_torque.measured.tolist() == [0, 0], "they are not on the servo lines"
    assert not mini.state.base.known
    assert mini.state.imu.orientation[0].tolist() == [0, 0, 0, 1]


def test_servos_are_limp_until_they_are_switched_on():
    mini = Mini()
    mini.reference.position[RSP] = 0.5
    mini.go(0.5)
    assert mini.truth[RSP] == 0
    assert not mini.state.status[RSP] & Status.CONTROL_ON
    mini.robot.command(Verb.CONTROL, RSP, (1.0,))
    states = mini.go(1.4)
    assert mini.truth[RSP] == pytest.approx(0.5, abs=0.01)
    assert max(abs(s["velocity"][RSP]) for s in states) < 1.3 * HOMING_SPEED, "what is switched on does not jump"
    assert mini.state.status[RSP] & Status.CONTROL_ON
    mini.robot.command(Verb.CONTROL, RSP, (0.0,))
    mini.simulated.servos.plant.load[RSP] = -1.0
    mini.go(0.5)
    assert mini.truth[RSP] < 0


def test_a_servo_that_lost_its_power_comes_back_slowly(mini):
    mini.reference.position[RSP] = 0.4
    mini.go(0.4)
    off = Request(TABLE.servo[RSP], Instruction.WRITE, bytes((packets.TORQUE_ENABLE, 0)))
    mini.simulated.servos.plant.load[RSP] = -1.0
    for _ in range(20):
        mini.simulated.servos.hear(off)
        mini.go(PERIOD)
    assert mini.truth[RSP] < 0.3
    mini.simulated.servos.plant.load[RSP] = 0
    states = mini.go(1.0)
    assert mini.truth[RSP] == pytest.approx(0.4, abs=0.01), "it is switched on again"
    assert max(state.velocity[RSP] for state in states) < 1.3 * HOMING_SPEED


def test_home_is_a_slow_way_to_zero_that_old_references_do_not_undo(mini):
    mini.reference.position[RSP] = 0.4
    mini.go(0.3)
    mini.robot.command(Verb.HOME, RSP, ())
    states = mini.go(1.2)
    assert not states[20]["status"][RSP] & Status.HOMED, "on its way"
    assert mini.state.status[RSP] & Status.HOMED
    assert mini.truth[RSP] == pytest.approx(0, abs=RADIANS_PER_COUNT), "the reference is still 0.4"
    assert max(abs(s["velocity"][RSP]) for s in states) < 1.3 * HOMING_SPEED
    mini.reference.position[RSP] = 0.3
    states = mini.go(1.0)
    assert mini.truth[RSP] == pytest.approx(0.3, abs=0.01), "a new one is followed"
    assert max(abs(s["velocity"][RSP]) for s in states) < 1.3 * HOMING_SPEED


def test_joints_out_of_the_mask_and_in_other_modes_keep_what_they_had(mini):
    mini.reference.position[:] = 0.1
    mini.reference.mask[:] = False
    mini.reference.mask[[RSP, 0]] = True
    mini.reference.mode[0] = Mode.EFFORT
    mini.reference.position[1] = math.nan
    mini.go(0.5)
    assert np.flatnonzero(np.abs(mini.truth) > 0.05).tolist() == [RSP]


def test_stop_holds_every_joint_on_its_way(mini):
    mini.reference.position[RSP] = 1.2
    mini.go(0.1)
    mini.robot.stop()
    mini.simulated.advance(0.5)
    there = mini.truth[RSP]
    assert 0.05 < there < 0.9
    mini.simulated.advance(1.0)
    assert mini.truth[RSP] == pytest.approx(there, abs=1e-6)


def test_servos_hold_when_the_daemon_dies_and_the_next_takes_over_without_a_jump(mini):
    mini.reference.position[RSP] = 0.8
    mini.simulated.servos.plant.load[RSP] = 1.0
    mini.go(1.0)
    before = mini.truth.copy()
    mini.simulated.advance(3.0)  # nobody says anything
    assert mini.truth == pytest.approx(before, abs=1e-9)
    after = Mini(mini.simulated)
    assert after.robot._goal[RSP] == pytest.approx(0.8, abs=RADIANS_PER_COUNT)
    assert after.state.status[RSP] & Status.CONTROL_ON
    states = after.go(0.5)
    assert np.ptp([s["position"][RSP] for s in states]) < 0.04, "no further than the load had moved it"


@pytest.mark.parametrize("faults", [LineFaults(loss=0.2, seed=3), LineFaults(corruption=0.2, seed=4)])
def test_on_a_bad_line_the_robot_still_moves_and_counts(faults):
    mini = Mini(faults=faults).home()
    mini.go(0.5)
    mini.reference.position[RSP] = 0.5
    states = mini.go(1.0)
    assert mini.truth[RSP] == pytest.approx(0.5, abs=0.01)
    assert mini.robot.unanswered.sum() > 50
    positions = np.array([state.position for state in states])
    assert np.abs(np.delete(positions, RSP, 1)).max() < 0.02, "nothing spoilt is taken for a position"
    if faults.corruption:
        assert mini.robot.readings.spoilt > 0


def test_faults_are_the_same_again_with_the_same_seed():
    def counted(seed):
        return Mini(faults=LineFaults(loss=0.1, seed=seed)).home().robot.unanswered.tolist()

    assert counted(1) == counted(1) != counted(2)


def test_a_dead_servo_keeps_its_last_value_is_counted_and_flagged(mini):
    mini.reference.position[RSP] = 0.3
    mini.go(0.5)
    mini.simulated.servos.dead.add(RSP)
    last = mini.state.position[RSP]
    mini.reference.position[RSP] = 0.0
    mini.go(0.5)
    assert mini.state.position[RSP] == last
    assert mini.robot.unanswered[RSP] >= HOLLOW
    before = np.delete(mini.robot.unanswered, RSP)
    mini.go(0.2)
    assert mini.robot.unanswered[RSP] > HOLLOW, "it is asked again, now and then"
    assert np.delete(mini.robot.unanswered, RSP).sum() - before.sum() < 10, "the others have their line for themselves"
    assert mini.state.status[RSP] & Status.ENCODER_ERROR
    assert not mini.state.status[0] & Status.ENCODER_ERROR


def test_a_robot_without_any_servo_is_refused_and_one_with_a_dead_one_is_not():
    simulated = SimulatedServos(MINI)
    simulated.servos.dead.add(RSP)
    mini = Mini(simulated)
    assert mini.state.measured[RSP] == 0
    assert mini.state.measured[0] != 0
    simulated.servos.dead.update(range(N))
    with pytest.raises(HardwareError, match="no servo answers"):
        Mini(simulated)


@pytest.mark.parametrize(
    ("fault", "flag"),
    [
        (Fault.OVERHEATING, Status.TOO_HOT),
        (Fault.OVERLOAD, Status.SATURATED),
        (Fault.VOLTAGE, Status.DRIVER_FAULT),
    ],
)
def test_what_a_servo_complains_of_is_in_the_status(mini, fault, flag):
    mini.simulated.servos.faults[RSP] = fault
    mini.go(0.05)
    assert mini.state.status[RSP] & flag
    assert not mini.state.status[0] & flag
    mini.simulated.servos.faults[RSP] = 0
    mini.go(0.05)
    assert not mini.state.status[RSP] & flag


def test_a_load_beyond_the_servo_is_an_overload(mini):
    mini.simulated.servos.plant.load[RSP] = 4.0
    mini.go(0.5)
    assert mini.state.status[RSP] & Status.SATURATED


def test_where_no_servo_turns_it_stops_and_says_so(mini):
    mini.reference.position[RSP] = -2.9
    mini.go(2.0)
    assert mini.truth[RSP] == pytest.approx(TABLE.lower[RSP], abs=0.01)
    assert mini.state.status[RSP] & Status.POSITION_BELOW_MINIMUM


def test_a_console_hears_what_servos_cannot_do(mini):
    answer = mini.robot.command(Verb.GAINS, 0, (1.0, 0, 0))
    assert not answer.accepted
    assert "home" in answer.text
    told = mini.robot.command(Verb.STATUS, RSP, ())
    assert told.text == "servo 17: faults none, 0 unanswered"
    assert told.status & Status.HOMED
    assert told.values[2] == 25


def test_a_line_is_as_busy_as_counted(mini):
    before = [line.busy for line in mini.simulated.lines]
    mini.go(1.0)
    used = [(line.busy - was) / 1.0 for line, was in zip(mini.simulated.lines, before, strict=True)]
    assert used == pytest.approx([each.use(PERIOD) for each in mini.robot.traffic.values()], abs=1e-3)


def test_a_loop_too_fast_for_the_line_reads_servos_in_turn():
    mini = Mini(lines=1).home()
    mini.reference.position[:] = 0.02
    at = [np.array([state.position for state in mini.go(0.2)])]
    changes = (np.diff(at[0], axis=0) != 0).any(0)
    assert changes[np.array([j.upper > 0.02 for j in MINI.moving])].all(), "everyone's turn comes"
    assert mini.robot.unanswered.sum() == 0, "and nobody is asked for more than fits"
