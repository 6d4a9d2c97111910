"""The daemon's whole cycle on simulated CAN boards, with faults, and on MuJoCo: the laws of the loopback robot."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from can_rack import Joints
from daemon_rig import PERIOD, ROBOT, Rig, StepClock

from experiments.hubo_step import expected_rise, rise
from wholebody.drivers.hubo_can.robot import CanRobot
from wholebody.drivers.hubo_can.simulated.bus import SteppedBus
from wholebody.drivers.hubo_can.simulated.wire import Faults, Rack
from wholebody.drivers.joint_drives import SLOPE, Drives
from wholebody.messages import Filter, Refusal, Status, Verb
from wholebody.simulation import Simulation

RSP = ROBOT.index["RSP"]


@dataclass
class RackClock(StepClock):
    """Beats in the time of the boards."""

    rack: Any = None

    def tick(self) -> float:
        self.beats += 1
        self.rack.advance_to(max(self.rack.time, self.beats * self.period))
        return self.rack.time


def rig_on(rack: Rack) -> Rig:
    buses = [SteppedBus(rack, bus) for bus in range(len(rack.wires))]
    hubo = CanRobot(ROBOT, buses, rack.wiring, PERIOD, now=lambda: rack.time)
    hubo.__enter__()
    return Rig(interface=hubo, clock=RackClock(rack=rack, beats=math.ceil(rack.time / PERIOD)))


def rack_of(plant: Any = None, faults: Faults | None = None) -> Rack:
    return Rack(ROBOT, plant or Joints(ROBOT), None, faults or Faults(), 0, True)


def follow_a_sine(rig: Rig, size: float, seconds: float) -> list[float]:
    """Errors of the measured position, once it has got going."""
    rig.put("sine", {"RSP": rig.command("RSP")})
    errors = []
    for k in range(round(seconds / PERIOD)):
        wanted = size * math.sin(2 * math.pi * 0.5 * k * PERIOD)
        rig.put("sine", {"RSP": wanted})
        rig.go()
        errors.append(abs(float(rig.cycle.state.position[RSP]) - wanted))
    return errors[20:]


def test_a_controller_moves_the_boards_through_the_daemon():
    with rig_on(rack_of()) as rig:
        assert max(follow_a_sine(rig, 0.3, 2.0)) < 0.3 * math.pi * 0.03  # 30 ms behind at most


@pytest.mark.slow(but="loss")
@pytest.mark.parametrize(
    "faults", [Faults(loss=0.05), Faults(corruption=0.05), Faults(delay=0.1)], ids=["loss", "corruption", "delay"]
)
def test_with_a_bad_bus_the_joint_still_follows(faults):
    with rig_on(rack_of(faults=faults)) as rig:
        assert np.median(follow_a_sine(rig, 0.3, 3.0)) < 0.03


def test_frames_that_are_wrong_and_pass_for_right_make_no_command_wrong():
    lower, upper = np.array([(joint.lower, joint.upper) for joint in ROBOT.moving]).T
    with rig_on(rack_of(faults=Faults(undetected=0.01))) as rig:
        for k in range(400):
            rig.put("sine", {"RSP": 0.3 * math.sin(0.02 * k)})
            rig.go()
            position = rig.cycle.command["position"]
            assert np.isfinite(position).all()
            driven = rig.cycle.merging.owner >= 0
            assert (position[driven] >= lower[driven]).all()
            assert (position[driven] <= upper[driven]).all()


def test_when_the_daemon_dies_the_boards_hold_and_the_next_one_goes_on_without_a_jump():
    plant = Joints(ROBOT)
    rack = rack_of(plant)
    with rig_on(rack) as rig:
        rig.put("mine", {"RSP": 0.6})
        rig.go(4)
        half_way = rig.command("RSP")
        assert 0.1 < half_way < 0.59
    rack.advance(0.5)  # nobody speaks
    held = plant.position[RSP]
    assert held == pytest.approx(half_way, abs=0.03)
    with rig_on(rack) as rig:
        last = held
        rig.go(50)
        assert plant.position[RSP] == pytest.approx(held, abs=1e-3)
        rig.put("mine", {"RSP": 0.6})
        for _ in range(60):
            rig.go()
            assert abs(rig.command("RSP") - last) <= ROBOT.joint("RSP").velocity * PERIOD + 1e-3
            last = rig.command("RSP")
        assert last == 0.6


@pytest.mark.slow
def test_homing_through_the_daemon_ends_at_zero():
    plant = Joints(ROBOT, start=np.full(len(ROBOT.moving), 0.0))
    with rig_on(rack_of(plant)) as rig:
        assert rig.ask(Verb.HOME, "RSP").accepted
        rig.put("mine", {"RSP": 0.3})
        rig.go(200)
        assert rig.refused(Refusal.NOT_READY, "RSP") > 0
        rig.go(2500)
        assert rig.cycle.state.status[RSP] & Status.HOMED
        assert plant.position[RSP] == pytest.approx(0.0, abs=0.01)


def test_a_jammed_joint_is_switched_off_and_its_command_follows_it():
    plant = Joints(ROBOT)
    rack = rack_of(plant)
    with rig_on(rack) as rig:
        rack.break_joint("RSP", "jam")
        rig.put("mine", {"RSP": 0.6})
        rig.go(400)
        assert rig.cycle.state.status[RSP] & Status.JAMMED
        assert rig.command("RSP") == pytest.approx(plant.position[RSP], abs=0.02)


@pytest.mark.slow(but="0-0.0-0.5")
@pytest.mark.parametrize(
    ("mode", "value", "seconds"),
    [(Filter.PASS, 0.0, 0.5), (Filter.SMOOTH, 20.0, 1.5), (Filter.COMPLIANT, 0.9, 3.0), (Filter.FEEDBACK, 10.0, 3.0)],
)
def test_the_step_experiment_through_daemon_bus_and_boards(mode, value, seconds):
    """Hubo-Ach §3.5. The boards interpolate between references and the bus takes its time: all is a little later."""
    drives = Drives(ROBOT)
    rack = rack_of(drives)
    with rig_on(rack) as rig:
        assert rig.ask(Verb.STEP_LIMIT, "RSP", 10.0).accepted
        assert rig.ask(Verb.FILTER, "RSP", mode, value).accepted
        rig.put("step", {"RSP": 0.0})
        rig.go(20)
        rig.put("step", {"RSP": 0.4})
        joint = []
        for _ in range(round(seconds / PERIOD)):
            rig.go()
            joint.append(drives.position[RSP])
        assert joint[-1] == pytest.approx(0.4, abs=4e-3)
        took = rise(np.arange(len(joint)) * PERIOD, np.array(joint))
        assert took == pytest.approx(expected_rise(mode, value, SLOPE), rel=0.12, abs=0.012)
        assert not rig.cycle.state.status[RSP] & (Status.BIG_ERROR | Status.DRIVER_FAULT)


def test_the_same_cycle_moves_a_robot_in_physics():
    with Simulation(ROBOT, seed=1) as simulation, Rig(interface=simulation, clock=simulation) as rig:
        start = rig.command("RSP")
        for k in range(400):
            rig.put("mine", {"RSP": start - 0.4 * min(1.0, k / 200)})
            rig.go()
        assert rig.cycle.state.position[RSP] == pytest.approx(start - 0.4, abs=0.03)
        assert simulation.com_in_world[2] > 0.4  # it stands
