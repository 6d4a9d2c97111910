"""Frames that are lost, late or garbage, boards that fall silent, periods that no bus can keep."""

import numpy as np
import pytest
from can_rack import PERIOD, ROBOT, Stage, sine, track

from wholebody.drivers.hubo_can.budget import over
from wholebody.drivers.hubo_can.frames import Frame
from wholebody.drivers.hubo_can.robot import SILENT_AFTER, CanRobot
from wholebody.drivers.hubo_can.simulated.wire import Faults
from wholebody.drivers.hubo_can.wiring import Wiring
from wholebody.errors import HardwareError
from wholebody.messages import Measured, Status


def test_corrupted_frames_cost_time_but_nothing_is_lost():
    with Stage(Faults(corruption=0.01), seed=3) as stage:
        assert track(stage) < 0.03
        assert stage.rack.wires[1].traffic.corrupted > 50


def test_lost_frames_keep_the_last_value_and_are_counted():
    with Stage(Faults(loss=0.02), seed=3) as stage:
        assert track(stage) < 0.06
        lost = sum(wire.traffic.lost for wire in stage.rack.wires)
        assert 0 < stage.hubo.lost.sum() <= lost
        assert stage.hubo.take_events() == []
        assert np.isfinite(stage.state.velocity).all()


def test_without_faults_nothing_is_counted():
    with Stage() as stage:
        track(stage)
        assert stage.hubo.lost.sum() == stage.hubo.late == 0


def test_delayed_frames_are_used_late_and_counted_as_late():
    with Stage(Faults(delay=0.02, seconds=0.003), seed=3) as stage:
        assert track(stage) < 0.06
        assert stage.hubo.late > 0


def test_frames_turned_unnoticed_never_raise():
    with Stage(Faults(undetected=0.02), seed=5) as stage:
        for k in range(200):
            stage.cycle(RSP=sine(k))
        assert sum(wire.traffic.undetected for wire in stage.rack.wires) > 100
        assert np.isfinite(stage.state.position).all()


def test_garbage_on_the_bus_is_counted():
    with Stage() as stage:
        # Another node on the bus: identifiers nobody has, and lengths that do not fit.
        for frame in (Frame(0x7FF, b""), Frame(0x068, b"123"), Frame(0x041, b"12345678"), Frame(0x158, b"1")):
            for bus in (0, 1):
                stage.rack.send(bus, frame, sender="somebody")
        stage.run(0.05, RSP=0.1)
        assert stage.hubo.receiver.garbage == 8
        assert stage.hubo.lost.sum() == 0


def test_a_silent_board_is_reported_once_and_welcomed_back():
    with Stage() as stage:
        stage.run(0.2, RSP=0.1)
        stage.rack.kill_board("JMC8")
        stage.run(PERIOD * (SILENT_AFTER + 5))
        (event,) = stage.hubo.take_events()
        assert "JMC8 (RSP, RSR)" in event
        assert "silent" in event
        assert stage.at("RSP", "measured") == 0
        assert stage.at("RSP") == pytest.approx(0.1, abs=1e-3)
        assert stage.hubo.lost[stage.hubo.receiver.slots.index("board JMC8 (RSP, RSR)")] >= SILENT_AFTER
        assert track(stage, joint="LSP") < 0.03  # the others go on
        stage.rack.kill_board("JMC8", dead=False)
        stage.run(0.2)
        assert "answers again" in stage.hubo.take_events()[0]
        assert stage.at("RSP", "measured") & Measured.POSITION


def test_a_silent_board_is_no_longer_waited_for():
    with Stage() as stage:
        stage.rack.kill_board("JMC2")
        stage.cycle()
        began = stage.rack.time
        stage.hubo.read(stage.state)
        waited = stage.rack.time - began
        stage.run(0.3)
        began = stage.rack.time
        stage.hubo.read(stage.state)
        assert stage.rack.time - began < waited == pytest.approx(stage.hubo.patience)


def test_no_board_at_all_is_an_error_with_a_remedy():
    stage = Stage()
    for board in stage.rack.wiring.active:
        stage.rack.kill_board(board.name)
    with pytest.raises(HardwareError, match="check power"):
        stage.hubo.__enter__()


def test_the_wrong_number_of_buses_is_refused():
    with pytest.raises(HardwareError, match="wired to 2 buses; 0 were given"):
        CanRobot(ROBOT, [])


@pytest.mark.parametrize(("buses", "period"), [(2, 0.004), (2, 0.001), (4, 0.002)])
def test_a_period_that_the_buses_cannot_keep_is_refused(buses, period):
    wiring = over(Wiring.read("hubo2plus"), buses)
    with pytest.raises(HardwareError, match=r"takes up to .* more buses"):
        CanRobot(ROBOT, [None] * buses, wiring, period)


def test_broken_joints_are_seen_in_the_state():
    with Stage() as stage:
        stage.rack.break_joint("RSP", "jam")
        for k in range(150):
            stage.cycle(RSP=0.005 * k, LSP=0.001 * k)
        assert Status.JAMMED in Status(int(stage.at("RSP", "status")))
        assert not Status(int(stage.at("LSP", "status"))) & Status.JAMMED
        assert stage.at("LSP") == pytest.approx(0.149, abs=0.01)
