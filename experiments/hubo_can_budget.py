"""Hubo-Ach, §3.3: how much of its CAN buses a cycle uses, and how fast the loop can be on 2, 4 and 8 of them.

    python -m experiments.hubo_can_budget

prints the tables beside the document's figures. Ours count every frame of a cycle, requests too, with the intermission
and the worst stuffing; the document's Table 3.3 counts 44 bits and the data of the answers. `measured` is the simulated
bus in stepped time, with the stuffing that these very frames have.
"""

from __future__ import annotations

import numpy as np

from wholebody import robots
from wholebody.drivers.hubo_can.budget import Budget, exchanges, table
from wholebody.drivers.hubo_can.robot import CanRobot
from wholebody.drivers.hubo_can.simulated.bus import SteppedBus
from wholebody.drivers.hubo_can.simulated.wire import Rack
from wholebody.drivers.hubo_can.wiring import Wiring
from wholebody.drivers.joint_drives import Drives

RATE = 200
DOCUMENT_USE = 78
DOCUMENT_RATES = {2: 237, 4: 469, 8: 1063}


def measured_use(seconds: float = 5.0) -> list[float]:
    """The share of each bus's time that a loop at 200 Hz uses while all joints move."""
    robot = robots.load("hubo2plus")
    rack = Rack(robot, Drives(robot))
    buses = [SteppedBus(rack, bus) for bus in range(2)]
    state, reference = np.zeros(1, robot.state_dtype())[0], np.zeros(1, robot.reference_dtype())[0]
    reference.mask[:] = True
    with CanRobot(robot, buses, now=lambda: rack.time) as hubo:
        start, before = rack.time, [wire.traffic.bits for wire in rack.wires]
        for cycle in range(round(seconds * RATE)):
            rack.advance_to(start + cycle / RATE)
            reference.position[:] = 0.1 * np.sin(cycle / RATE + np.arange(len(robot.joint_names)))
            hubo.write(reference)
            hubo.read(state)
        rack.advance_to(start + seconds)
        carried = [wire.traffic.bits - bits for wire, bits in zip(rack.wires, before, strict=True)]
    return [bits / (seconds * 1e6) for bits in carried]


def main() -> None:
    """Print the tables."""
    wiring = Wiring.read("hubo2plus")
    budget = Budget.of(exchanges(wiring), wiring.buses)
    measured = measured_use()
    print(f"use at {RATE} Hz on two buses     ours    measured   document")
    print(f"  lower body, bits a cycle  {budget.bits[0]:7d}   {measured[0] * 1e6 / RATE:8.0f}")
    print(f"  upper body, bits a cycle  {budget.bits[1]:7d}   {measured[1] * 1e6 / RATE:8.0f}")
    print(f"  status of one joint       {budget.status:7d}")
    print(f"  mean of both buses        {budget.mean_use(RATE):7.2%}   {np.mean(measured):8.2%}   {DOCUMENT_USE:6d} %")
    print(f"  the busier bus            {budget.busiest_use(RATE):7.2%}   {max(measured):8.2%}")
    print()
    print("highest rate, Hz      the busiest bus full   all buses full (no split is better)   document")
    for row in table(wiring):
        rate, even = row.budget.highest_rate, row.budget.even_rate
        print(f"  {row.buses} buses, {row.split:13s} {rate:15.1f} {even:30.1f} {DOCUMENT_RATES[row.buses]:20d}")


if __name__ == "__main__":
    main()
