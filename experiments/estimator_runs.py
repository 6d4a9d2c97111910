"""The runs on which estimators are compared: Hubo2+ with flexible ankles steps, walks, is pushed, hangs on a crane.

Each is simulated once with perfect sensors; the sensors are made worse afterwards, so that all estimators, noises and
seeds see the same motion. `step` is open loop: legs follow a sine of the pelvis by their closed form. `walk` is what
`Walking` does with realistic sensors of its own: steps of 0.2 m that are balanced.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wholebody import robots
from wholebody.behaviors import Walking
from wholebody.estimation import AnkleSpring
from wholebody.kinematics import ClosedForm
from wholebody.locomotion.walking.gait import SOLES, gait_of
from wholebody.messages import State
from wholebody.model import Model
from wholebody.robots import Robot
from wholebody.robots.robot import Placement
from wholebody.simulation import AnkleFlexibility, SensorModel, Simulation
from wholebody.simulation.scenes import flat
from wholebody.simulation.sensors import Sensors

Array = npt.NDArray[np.float64]

PERIOD = 0.005
SECONDS = 12.0
TORSO = "Body_Torso"
CHEST = (0.0, 0.0, 0.15)


@dataclass(frozen=True)
class Run:
    """What was true, period by period: states, and roll and pitch of each ankle's spring, n × feet × 2."""

    robot: Robot
    states: npt.NDArray[np.void]
    flexion: Array
    com: Array

    def measured(self, sensors: SensorModel, seed: int) -> Iterator[State]:
        """The states as such sensors give them, one after the other; each is overwritten by the next."""
        layout = State.of(self.states.dtype)
        measuring = Sensors(sensors, layout, PERIOD, seed)
        state: State = np.zeros(1, layout)[0]
        measuring.restart(self.states[0])
        for truth in self.states[1:]:
            measuring.measure(truth)
            measuring.deliver(state)
            yield state

    @property
    def attitude(self) -> Array:
        """The true orientation of the base, x y z w, one row per period from the second on."""
        quaternions: Array = self.states["base"]["orientation"][1:]
        return quaternions


class Stepper:
    """Legs that step while the pelvis sways: y = sway · sin(π t / T), a foot in the air while the other is loaded."""

    def __init__(self, robot: Robot, period: float = 0.8, sway: float = 0.06, lift: float = 0.03, stride: float = 0.0):
        model = Model(robot)
        stand = model.at(model.posture("stand"))
        self.period, self.sway, self.lift, self.stride = period, sway, lift, stride
        self._feet = {+1: "left_sole", -1: "right_sole"}
        self._legs = {side: ClosedForm.of(robot, robot.root, sole) for side, sole in self._feet.items()}
        self._soles = {side: stand.placement(model.frame(sole)).copy() for side, sole in self._feet.items()}
        self._columns = {side: [robot.index[j] for j in leg.joint_names] for side, leg in self._legs.items()}

    def pose(self, time: float, q: Array) -> None:
        """Fill in the joints of the legs at a time; the first two seconds only sway begins."""
        begun, phase = min(1.0, time / 2.0), np.pi * time / self.period
        for side, leg in self._legs.items():
            sole = self._soles[side].copy()
            sole[0, 3] += self._forward(side, time)
            sole[1, 3] -= begun * self.sway * np.sin(phase)
            if time > 2.0:
                sole[2, 3] += 2.0 * self.lift * max(0.0, -side * np.sin(phase) - 0.5)
            columns = self._columns[side]
            q[columns] = leg.nearest(sole, to=q[columns]).joints

    def _forward(self, side: int, time: float) -> float:
        """How far a foot is ahead of the pelvis; it swings by two strides in the third of the time it is in the air."""
        cycle = 2.0 * self.period
        turns = time / cycle - np.ceil(2.0 / cycle)
        if turns < 0.0:
            return 0.0
        middle = 0.5 + 0.25 * side  # of its swing, in cycles
        steps = np.round(turns - middle)
        share = np.clip(turns - middle - steps, -1 / 6, 1 / 6)
        done = steps + 0.5 + 0.5 * np.sin(3.0 * np.pi * share)
        return float(2.0 * self.stride * (done - turns + 0.25 * side))


def step(**how: float) -> Run:
    """Step, in place unless a stride is given."""
    robot = robots.load("hubo2plus")
    simulation = Simulation(robot, ankles=AnkleFlexibility())
    return record(simulation, Stepper(robot, **how))


def walk(step_time: float, push: float = 0.0) -> Run:
    """Walk by steps of 0.2 m, balanced; a push aside at the chest comes in the middle of it, N·s."""
    robot = robots.load("hubo2plus")
    flexible, spring = AnkleFlexibility(), AnkleSpring()
    walking = Walking(robot, gait_of(Model(robot, watch=SOLES), step_time), ankles=spring)
    posture = walking.walker.stance()
    simulation = Simulation(robot, ankles=flexible, sensors=SensorModel.realistic(), posture=posture)
    if push:
        simulation.push(TORSO, (0.0, 10.0 * push, 0.0), 0.1, point=CHEST, start=7.0)
    walking.stand(0.5)
    return record(simulation, balanced=walking)


def standing() -> Run:
    """Stand, and nothing happens."""
    return record(Simulation(robots.load("hubo2plus"), ankles=AnkleFlexibility()))


def pushed() -> Run:
    """Stand, and be pushed at the chest every 1.5 s, each time from another side."""
    simulation = Simulation(robots.load("hubo2plus"), ankles=AnkleFlexibility())
    pushes = ((60, 0), (0, 60), (-50, 0), (0, -60), (40, 40), (-40, 40), (40, -40))
    for number, (x, y) in enumerate(pushes):
        simulation.push(TORSO, (x, y, 0.0), 0.1, point=CHEST, start=1.5 + 1.5 * number)
    return record(simulation)


def on_the_crane() -> Run:
    """Hang by a rope from the chest, feet in the air, and be pushed."""
    simulation = Simulation(robots.load("hubo2plus"), crane, ankles=AnkleFlexibility())
    simulation.reset(base=Placement((0.0, 0.0, 1.0)))
    for number, (x, y) in enumerate(((60, 0), (0, 60), (-60, 30), (30, -60))):
        simulation.push(TORSO, (x, y, 0.0), 0.2, point=CHEST, start=2.0 + 2.5 * number)
    return record(simulation)


def crane(root: ET.Element) -> Array:
    """A rope of 0.5 m from a hook to the robot's neck."""
    ground = flat(root)
    world = root.find("worldbody")
    torso = next(body for body in root.iter("body") if body.get("name") == TORSO)
    assert world is not None
    ET.SubElement(torso, "site", name="neck", pos="0 0 0.3", size="0.01")
    ET.SubElement(world, "site", name="hook", pos="0 0 1.9", size="0.02")
    rope = ET.SubElement(ET.SubElement(root, "tendon"), "spatial", name="rope", limited="true", range="0 0.5")
    rope.set("damping", "5")
    rope.set("rgba", "0.2 0.2 0.2 1")
    for site in ("hook", "neck"):
        ET.SubElement(rope, "site", site=site)
    return ground


def record(
    simulation: Simulation,
    stepper: Stepper | None = None,
    balanced: Walking | None = None,
    seconds: float = SECONDS,
) -> Run:
    """Let a run go by."""
    state, reference, told = simulation.new_state(), simulation.new_reference(), False
    states, flexion, com = [simulation.truth], [simulation.ankle_flexion], [simulation.com_in_world]
    while simulation.time < seconds:
        if stepper is not None:
            stepper.pose(simulation.time, reference.position)
            simulation.write(reference)
        if balanced is not None:
            if balanced.standing and simulation.time > 2.0 and not told:
                balanced.walk(distance=5.0)
                told = True
            simulation.read(state)
            balanced.cycle(state, reference)
            simulation.write(reference)
        simulation.tick()
        states.append(simulation.truth)
        flexion.append(simulation.ankle_flexion)
        com.append(simulation.com_in_world)
    return Run(simulation.robot, np.array(states, states[0].dtype), np.array(flexion), np.array(com))
