"""Engines: what makes a simulated world go on: MuJoCo's physics, none at all, or DART (imported when asked for)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from importlib import import_module

import mujoco
import numpy as np

from wholebody.errors import BadSimulation, SimulationDiverged, UnknownName
from wholebody.messages import Mode
from wholebody.robots.robot import Array
from wholebody.simulation.contacts import Pushes, Touch, touches
from wholebody.simulation.ground import place, set_joints
from wholebody.simulation.sensors import (
    Accelerometers,
    Truth,
    move_wrench,
    vertical_forces,
    wrenches_in_sensors,
)
from wholebody.simulation.servo import Servo
from wholebody.simulation.world import Sole, World

ENGINES = {
    "mujoco": "wholebody.simulation.engines:Physics",
    "dart": "wholebody.simulation.dart:DartPhysics",
}
LARGEST = 1e10
"""What MuJoCo itself takes for a sign of instability, in rad/s²."""
TOUCHING = 1e-3
"""A sole this near to the ground, in metres, takes its share of the weight."""
Pose = tuple[Array, Array]
"""Position, and quaternion with w first, as MuJoCo has it."""


class Engine:
    """What a Simulation needs of an engine; `world` shows where everything is, whoever moves it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.peaks: Array | None = None  # see Simulation.peak_forces; nothing is kept unless there is a place for it
        self._wrenches = np.zeros((len(world.at.force_sensors), 6))

    def start(self, positions: Array, base_to_world: Array | None) -> None:
        """Put the robot on the ground, or its base to a pose, at rest."""
        place(self.world, positions, base_to_world)

    def settle_sensors(self, servo: Servo) -> None:
        """Compute what sensors measure with the servo in force, without time going on."""
        raise NotImplementedError

    def replace(self, world: World) -> None:
        """Go on in another world, which differs only in what is carried."""
        world.take_state_of(self.world)
        self.world = world

    def advance(self, servo: Servo, pushes: Pushes) -> None:
        """One control period with the servo's references held."""
        raise NotImplementedError

    def observe(self, truth: Truth) -> None:
        """Fill in what perfect sensors measure."""
        truth.observe(self.world, self._wrenches)

    def touches(self) -> list[Touch]:
        """The robot's contacts, with their forces; none where there are no forces."""
        return []


def engine_named(name: str) -> Callable[[World, int], Engine]:
    """The engine of a name: a function of a world and of the physics steps in a control period."""
    if name not in ENGINES:
        raise UnknownName("engine", name, ENGINES)
    module, _, kind = ENGINES[name].partition(":")
    made: Callable[[World, int], Engine] = getattr(import_module(module), kind)
    return made


class Physics(Engine):
    """A world that moves by itself.

    Between periods everything that follows from position and velocity is up to date; forces and accelerations are those
    of the last physics step, but what accelerometers measure, which is the mean of the period.
    """

    def __init__(self, world: World, steps: int) -> None:
        super().__init__(world)
        self.step = 0
        self._steps = steps
        self._accelerometers = Accelerometers(steps * world.model.opt.timestep)

    def start(self, positions: Array, base_to_world: Array | None) -> None:
        super().start(positions, base_to_world)
        self.step = 0

    def settle_sensors(self, servo: Servo) -> None:
        servo.apply(self.world.model, self.world.data, self.world.at)
        mujoco.mj_forward(self.world.model, self.world.data)
        self._accelerometers.start(self.world)
        self._feel()

    def advance(self, servo: Servo, pushes: Pushes) -> None:
        """One control period with the servo's references held.

        MuJoCo's step is used in its two halves, the second first, so that it ends with positions and what follows from
        them at the same instant, at no cost.
        """
        model, data = self.world.model, self.world.data
        servo.apply(model, data, self.world.at)
        if self.world.objects.hands:
            self.world.objects.grip(model, data, servo.position)
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

    def touches(self) -> list[Touch]:
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


_SENSING = (
    *(mujoco.mj_comPos, mujoco.mj_collision, mujoco.mj_comVel),
    *(mujoco.mj_sensorPos, mujoco.mj_sensorVel, mujoco.mj_sensorAcc),
)


class Kinematic(Engine):
    """A world without physics, in which nothing has inertia.

    A joint moves towards its position at its velocity limit at most, or with its commanded velocity; one that is
    commanded an effort stays where it is. The lowest sole is the support and does not move; a robot without soles, or
    whose base was put to a pose, keeps its base where it is. Force-torque sensors of feet share the weight as in rest.
    """

    def __init__(self, world: World, period: float) -> None:
        super().__init__(world)
        robot = world.robot
        self._period = period
        self._reach = np.array([joint.velocity * period if joint.actuated else 0.0 for joint in robot.moving])
        self._lower = np.array([joint.lower for joint in robot.moving])
        self._upper = np.array([joint.upper for joint in robot.moving])
        self._up: Array = world.ground_to_world[:3, 2].copy()
        self._ground = float(self._up @ world.ground_to_world[:3, 3])
        self._support: tuple[Sole, Pose] | None = None
        self._heights: list[float] = []
        self._corners = np.concatenate([np.empty(0, np.int64), *(sole.corners for sole in world.at.soles)])
        ends = np.cumsum([0, *(len(sole.corners) for sole in world.at.soles)]).tolist()
        self._corners_of_sole = [slice(*each) for each in itertools.pairwise(ends)]
        self._weight = robot.mass * 9.81
        self._pose: Pose = np.zeros(3), np.zeros(4)
        self._other_pose: Pose = np.zeros(3), np.zeros(4)
        self._load = np.zeros(6)  # torque, force

    def start(self, positions: Array, base_to_world: Array | None) -> None:
        super().start(positions, base_to_world)
        self._support = None
        if base_to_world is None and self.world.at.soles and self.world.at.base_position is not None:
            heights = self._sole_heights()
            sole = self.world.at.soles[heights.index(min(heights))]
            self._support = sole, _pose(self.world, sole.body)
        self._move()

    def settle_sensors(self, servo: Servo) -> None:
        self._sense()

    def replace(self, world: World) -> None:
        super().replace(world)
        self._weight = float(world.model.body_subtreemass[world.at.root]) * 9.81

    def advance(self, servo: Servo, pushes: Pushes) -> None:
        model, data, at = self.world.model, self.world.data, self.world.at
        before, velocity_before = data.qpos.copy(), data.qvel.copy()
        q = before[at.position]
        change = servo.position - q
        if not servo.only_positions:
            change = np.where(servo.mode == Mode.VELOCITY, servo.velocity * self._period, change)
            change[servo.mode == Mode.EFFORT] = 0.0
        change = np.maximum(np.minimum(change, self._reach), -self._reach)
        set_joints(self.world, np.maximum(np.minimum(q + change, self._upper), self._lower))
        self._move()
        mujoco.mj_differentiatePos(model, data.qvel, self._period, before, data.qpos)
        np.subtract(data.qvel, velocity_before, out=data.qacc)
        data.qacc *= 1 / self._period
        data.time += self._period
        self._sense()

    def _move(self) -> None:
        """Compute where everything is, with the support foot where it was."""
        world = self.world
        mujoco.mj_kinematics(world.model, world.data)
        if self._support is None:
            return
        self._stand_on(*self._support)
        self._heights = self._sole_heights()
        lowest = min(self._heights)
        sole = world.at.soles[self._heights.index(lowest)]
        if sole is not self._support[0] and lowest < -1e-9:
            place = _pose(world, sole.body)
            place[0][:] -= lowest * self._up
            self._support = sole, place
            self._stand_on(sole, place)
            self._heights = self._sole_heights()

    def _stand_on(self, sole: Sole, place: Pose) -> None:
        """Move the base so that the body of a sole is at a place: base' = place · body⁻¹ · base."""
        data, root, start = self.world.data, self.world.at.root, self.world.at.base_position or 0
        mujoco.mju_negPose(*self._pose, data.xpos[sole.body], data.xquat[sole.body])
        mujoco.mju_mulPose(*self._other_pose, *self._pose, data.xpos[root], data.xquat[root])
        base = data.qpos[start : start + 3], data.qpos[start + 3 : start + 7]
        mujoco.mju_mulPose(*base, *place, *self._other_pose)
        mujoco.mj_kinematics(self.world.model, data)

    def _sole_heights(self) -> list[float]:
        """Of the lowest corner of each sole over the ground."""
        heights = (self.world.data.site_xpos[self._corners] @ self._up).tolist()
        return [min(heights[part]) - self._ground for part in self._corners_of_sole]

    def _sense(self) -> None:
        """Compute what is in what, and what the sensors see of positions, velocities and accelerations."""
        for stage in _SENSING:
            stage(self.world.model, self.world.data)
        if self._support is not None:
            self._share_weight()

    def _share_weight(self) -> None:
        """What the ground does to each foot in rest: to one under the centre of mass, to two by the lever."""
        data, at = self.world.data, self.world.at
        com = data.subtree_com[at.root]
        standing = [sole for sole, height in zip(at.soles, self._heights, strict=True) if height < TOUCHING]
        points = [com] if len(standing) == 1 else [data.site_xpos[sole.middle] for sole in standing]
        shares = [1.0]
        if len(standing) == 2:
            (x, y, _), (x0, y0, _), (x1, y1, _) = com.tolist(), points[0].tolist(), points[1].tolist()
            dx, dy = x1 - x0, y1 - y0
            share = min(max(((x - x0) * dx + (y - y0) * dy) / max(dx * dx + dy * dy, 1e-9), 0.0), 1.0)
            shares = [1.0 - share, share]
        self._wrenches[:] = 0.0
        for sole, point, share in zip(standing, points, shares, strict=False):
            if sole.sensor is not None:
                self._load[5] = share * self._weight
                move_wrench(data, self._load, point, at.force_sensors.sites[sole.sensor], self._wrenches[sole.sensor])


def _pose(world: World, body: int) -> Pose:
    return world.data.xpos[body].copy(), world.data.xquat[body].copy()
