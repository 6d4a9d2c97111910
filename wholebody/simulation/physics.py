"""Physics: advances the world by MuJoCo's steps, and gives what perfect sensors would measure."""

from __future__ import annotations

import math

import mujoco
import numpy as np

from wholebody.errors import BadSimulation, SimulationDiverged
from wholebody.robots.robot import Array
from wholebody.simulation.contacts import Touch, touches
from wholebody.simulation.disturbances import Pushes
from wholebody.simulation.ground import set_base, set_joints, stand
from wholebody.simulation.observation import Truth, vertical_forces, wrenches_in_sensors
from wholebody.simulation.sensors import Accelerometers
from wholebody.simulation.servo import Servo
from wholebody.simulation.world import World

LARGEST = 1e10
"""What MuJoCo itself takes for a sign of instability, in rad/s²."""


class Physics:
    """A world that moves by itself.

    Between periods everything that follows from position and velocity is up to date; forces and accelerations are those
    of the last physics step, but what accelerometers measure, which is the mean of the period.
    """

    def __init__(self, world: World, steps: int) -> None:
        self.world = world
        self.step = 0
        self._steps = steps
        self.peaks: Array | None = None
        self._wrenches = np.zeros((len(world.at.force_sensors), 6))
        self._accelerometers = Accelerometers(steps * world.model.opt.timestep)

    def start(self, positions: Array, base_to_world: Array | None) -> None:
        """Put the robot on the ground, or its base to a pose, at rest."""
        model, data = self.world.model, self.world.data
        mujoco.mj_resetData(model, data)
        if base_to_world is None:
            stand(self.world, positions)
        else:
            set_joints(self.world, positions)
            set_base(self.world, base_to_world[:3, 3], base_to_world[:3, :3])
        self.step = 0

    def settle_sensors(self, servo: Servo) -> None:
        """Compute what sensors measure with the servo in force, without time going on."""
        servo.apply(self.world.model, self.world.data, self.world.at)
        mujoco.mj_forward(self.world.model, self.world.data)
        self._accelerometers.start(self.world)
        self._feel()

    def replace(self, world: World) -> None:
        """Go on in another world, which differs only in what is carried."""
        world.take_state_of(self.world)
        self.world = world

    def advance(self, servo: Servo, pushes: Pushes) -> None:
        """One control period with the servo's references held.

        MuJoCo's step is used in its two halves, the second first, so that it ends with positions and what follows from
        them at the same instant, at no cost.
        """
        model, data = self.world.model, self.world.data
        servo.apply(model, data, self.world.at)
        self.world.things.grip(model, data, servo.position)
        if pushes.none and self.peaks is None:
            mujoco.mj_step2(model, data)
            if self._steps > 1:
                mujoco.mj_step(model, data, self._steps - 1)
        else:
            self._step_by_step(pushes)
        self._feel()  # before the frames move on
        mujoco.mj_step1(model, data)
        self._accelerometers.end(self.world)
        self.step += self._steps
        if not data.qacc @ data.qacc < LARGEST**2:  # nor if it is NaN
            self._diverged()

    def _step_by_step(self, pushes: Pushes) -> None:
        """The same, with pushes that may begin and end at any step, and whose points move; peaks are of all steps."""
        model, data = self.world.model, self.world.data
        if self.peaks is not None:
            self.peaks[:] = 0.0
        for number in range(self._steps):
            if number:
                mujoco.mj_step1(model, data)
            pushes.apply(self.step + number, data)
            mujoco.mj_step2(model, data)
            if self.peaks is not None:
                np.maximum(self.peaks, vertical_forces(self.world), out=self.peaks)

    def _feel(self) -> None:
        if len(self._wrenches):
            wrenches_in_sensors(self.world, self._wrenches)

    def observe(self, truth: Truth) -> None:
        """Fill in what perfect sensors measure."""
        truth.observe(self.world, self._wrenches)

    def touches(self) -> list[Touch]:
        """The robot's contacts, with their forces."""
        return touches(self.world)

    def _diverged(self) -> None:
        model, data = self.world.model, self.world.data
        size = np.nan_to_num(np.abs(data.qacc), nan=np.inf, posinf=np.inf)
        joint = model.joint(int(model.dof_jntid[int(np.argmax(size))])).name
        raise SimulationDiverged(
            f"the simulation became unstable at {self.step * model.opt.timestep:.3f} s, first at joint '{joint}': its "
            "acceleration is beyond all bounds; give a smaller step, softer gains or a smaller effort"
        )


def steps_per_period(step: float, period: float) -> int:
    """How many physics steps a control period has: a whole number, or it is refused."""
    if not (0 < step < math.inf and 0 < period < math.inf):
        raise BadSimulation(f"a step of {step} s and a control period of {period} s; both must be positive")
    steps = round(period / step)
    if steps < 1 or abs(steps * step - period) > 1e-9 * period:
        near = max(1, steps) * step
        raise BadSimulation(
            f"a control period of {period} s is no multiple of the physics step of {step} s; "
            f"take a period of {near:.6g} s, or a step of {period / max(1, math.ceil(period / step)):.6g} s"
        )
    return steps
