"""Simulation: a robot in a simulated world, behind the same interface as a real one, with its own time.

with Simulation(robots.load("hubo2plus"), scene="flat", seed=1) as simulation:
    state, reference = simulation.new_state(), simulation.new_reference()
    while simulation.tick() < 10.0:
        simulation.read(state)
        ...
        simulation.write(reference)
"""

from __future__ import annotations

import contextlib
from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from wholebody import messages
from wholebody.errors import BadSimulation, UnknownName
from wholebody.messages import Mode, Reference, State
from wholebody.robots.robot import Array, Placement, Robot, Vector
from wholebody.simulation import contacts, ground, scenes
from wholebody.simulation.cameras import TRACKING, Cameras, View
from wholebody.simulation.contacts import Push, Pushes
from wholebody.simulation.engines import Engine, Kinematic, engine_named, steps_per_period
from wholebody.simulation.jamming import colliding_as_chosen
from wholebody.simulation.sensors import SensorModel, Sensors, Truth
from wholebody.simulation.servo import Servo, check_layout
from wholebody.simulation.world import AnkleFlexibility, Load, World


class Simulation:
    """A RobotInterface and a Clock. The same arguments, calls and seed give the same states, bit by bit.

    physics=False moves the joints without dynamics, many times faster (see Kinematic). `engine` is mujoco or dart (see
    DartPhysics). `step` is the physics step and
    `control_period` what one advance() takes, both in seconds. With `peaks`, forces are watched at each physics step.
    `self_collision` says which links collide with each other: usual, all or none (see colliding_as_chosen).
    """

    simulated = True
    watchdog = "the simulated world ends with the process of the loop"

    def __init__(
        self,
        robot: Robot,
        scene: str | scenes.Scene = "flat",
        *,
        physics: bool = True,
        engine: str = "mujoco",
        step: float = 0.001,
        control_period: float = 0.005,
        seed: int = 0,
        sensors: SensorModel | None = None,
        ankles: AnkleFlexibility | None = None,
        posture: str | npt.ArrayLike | None = None,
        peaks: bool = False,
        self_collision: str = "usual",
    ) -> None:
        self.robot = robot
        self.physics = physics
        self._period = control_period
        self._step = step
        steps = steps_per_period(step, control_period)
        if seed != int(seed) or seed < 0:
            raise BadSimulation(f"a seed of {seed}; give a whole number that is not negative")
        around = scenes.named(scene) if isinstance(scene, str) else scene
        self._world = partial(World, scene=around, step=step, ankles=ankles)
        world = self._world(robot)
        self._simulated = colliding_as_chosen(world, self_collision, physics)
        below = ground.depth_of_a_bolted_robot(world)
        if self._simulated is not robot or below > 0:
            self._world = partial(self._world, below=below)
            world = self._world(self._simulated)
        self._engine: Engine = engine_named(engine)(world, steps) if physics else Kinematic(world, control_period)
        if peaks:
            self._engine.peaks = np.zeros(len(world.at.force_sensors))
        self._servo = Servo(robot)
        self._pushes = Pushes(step)
        self._loads: list[Load] = []
        self._loads_to_come: list[Load] = []
        self._layout = robot.state_dtype()
        self._accepted: np.dtype[Any] = self._layout
        model = SensorModel() if sensors is None else sensors
        self._truth = Truth(robot, model.temperature)
        self._sensors = Sensors(model, self._layout, control_period, seed)
        self._cameras: Cameras | None = None
        self.view = View()  # of the camera that follows the robot
        self._tick = 0
        self.reset(posture)

    # The robot's interface.

    def read(self, state: State) -> None:
        """Fill in what the sensors say: as often as one likes, it is the same until time goes on."""
        if state.dtype is not self._accepted:
            check_layout(state.dtype, self._layout, "state", self.robot)
            self._accepted = state.dtype
        self._sensors.deliver(state)

    def write(self, reference: Reference) -> None:
        """Take a reference, in force from the next advance() on."""
        self._servo.take(reference)

    def stop(self) -> None:
        """Hold every joint where it is."""
        with contextlib.suppress(Exception):
            self._servo.hold(np.nan_to_num(self._truth.position))

    def __enter__(self) -> Self:
        """Take the robot."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it, and let go of its cameras."""
        self.close()

    def close(self) -> None:
        """Stop, and let go of the cameras."""
        self.stop()
        if self._cameras is not None:
            self._cameras.close()
            self._cameras = None

    # Time.

    @property
    def period(self) -> float:
        """Seconds of one control period."""
        return self._period

    missed = 0  # simulated time waits for the loop

    @property
    def time(self) -> float:
        """Simulated seconds since the reset."""
        return self._tick * self._period

    def tick(self) -> float:
        """Let one control period go by; returns the time after it. With this the simulation is a Clock."""
        self.advance()
        return self.time

    def advance(self) -> None:
        """Let one control period go by, with the references held."""
        if self._loads_to_come:
            self._take_loads()
        self._engine.advance(self._servo, self._pushes)
        self._tick += 1
        self._observe()
        self._sensors.measure(self._truth.record)

    def reset(self, posture: str | npt.ArrayLike | None = None, base: Placement | None = None) -> None:
        """Begin anew at time zero: the robot stands at rest in a posture, holding it.

        Without a posture it takes "stand" if the robot has one. The base is put so that the soles lie on the ground, or
        where `base` says. Pushes, loads and noise begin anew too.
        """
        positions = ground.joint_positions(self.robot, posture)
        self._pushes.clear()
        self._loads_to_come.clear()
        if self._loads:
            self._loads.clear()
            self._rebuild()
        self._engine.start(positions, None if base is None else base.matrix)
        self._servo.hold(positions)
        self._engine.settle_sensors(self._servo)
        if self._engine.peaks is not None:
            self._engine.peaks[:] = 0.0
        self._tick = 0
        self._observe()
        self._sensors.restart(self._truth.record)

    # Disturbances.

    def push(
        self,
        link: str,
        force: Vector,
        duration: float,
        point: Vector | None = None,
        start: float | None = None,
    ) -> None:
        """Push a link, or a body of the scene, with a force in world axes, N, for some seconds, now or later.

        The point is in the link's frame; without one it is the link's centre of mass.
        """
        self._need_physics("a push")
        body = self._body(link)
        begin = self.time if start is None else start
        self._pushes.add(
            Push(link, _vector(force), float(duration), begin, None if point is None else _vector(point)), body
        )

    def attach(self, mass: float, link: str, at: Vector = (0.0, 0.0, 0.0), start: float | None = None) -> None:
        """Give a link a mass to carry, kg, at a point in the link's frame, now or from an instant on."""
        self._body(link)
        self._loads_to_come.append(Load(float(mass), link, _vector(at), self.time if start is None else start))

    def drop_loads(self) -> None:
        """Take away all that is carried."""
        self._loads_to_come.clear()
        if self._loads:
            self._loads.clear()
            self._rebuild()

    # What is true, whatever the sensors say.

    @property
    def truth(self) -> State:
        """The state as perfect sensors would have it; a copy."""
        record = self.new_state()
        record.copy_from(self._truth.record)
        return record

    @property
    def com_in_world(self) -> Array:
        """Centre of mass of the robot."""
        world = self._engine.world
        return np.array(world.data.subtree_com[world.at.root])

    @property
    def base_to_world(self) -> Array:
        """The 4 × 4 frame of the root link."""
        return ground.pose(self._engine.world, self._engine.world.at.root)

    @property
    def base_pose(self) -> Array:
        """The same as position and quaternion x y z w."""
        world = self._engine.world
        return np.concatenate((world.data.xpos[world.at.root], np.roll(world.data.xquat[world.at.root], -1)))

    def link_to_world(self, link: str) -> Array:
        """The 4 × 4 frame of a link, or of a body of the scene."""
        return ground.pose(self._engine.world, self._body(link))

    @property
    def objects(self) -> tuple[str, ...]:
        """What of the scene can be moved."""
        return self._engine.world.objects.names

    @property
    def object_poses(self) -> Array:
        """Where each of the objects is: position and quaternion x y z w; n × 7."""
        return self._engine.world.objects.poses(self._engine.world.data)

    def put_objects(self, poses: Array) -> None:
        """Put the objects there, at rest."""
        world = self._engine.world
        world.objects.put(world.model, world.data, poses)

    @property
    def held(self) -> dict[str, str]:
        """What each hand holds, by side; see MovableObjects."""
        return self._engine.world.objects.held(self._engine.world.data)

    @property
    def ankle_flexion(self) -> Array:
        """Roll and pitch of each flexible ankle, rad, in the order of the soles: n × 2, with no rows if none is."""
        world = self._engine.world
        return np.array(world.data.qpos[world.at.flexions])

    @property
    def touches(self) -> list[contacts.Touch]:
        """The robot's contacts, with their forces; without physics there are no forces."""
        return self._engine.touches()

    @property
    def peak_forces(self) -> Array:
        """The highest vertical force beyond each force-torque sensor at any physics step of the last period, N.

        An impact is over before sensors are read again. For Simulation(peaks=True), as it costs some time.
        """
        if self._engine.peaks is None:
            raise BadSimulation("forces of all physics steps are kept only if asked for; give peaks=True")
        return self._engine.peaks.copy()

    @property
    def collisions(self) -> list[contacts.Collision]:
        """What is in what, the deepest first. With physics contacts push back, so only without is this much."""
        return contacts.collisions(self._engine.world)

    # Cameras.

    @property
    def cameras(self) -> tuple[str, ...]:
        """The robot's cameras, and one that follows it."""
        return (*(sensor.name for sensor in self.robot.sensors_of("camera")), TRACKING)

    def image(self, camera: str = TRACKING, width: int = 320, height: int = 240) -> npt.NDArray[np.uint8]:
        """What a camera sees: height × width × 3, red, green, blue."""
        return self._camera_set().image(self._camera(camera), width, height)

    def depth(self, camera: str = TRACKING, width: int = 320, height: int = 240) -> npt.NDArray[np.float32]:
        """How far it is to what a camera sees, in metres along its axis: height × width."""
        return self._camera_set().depth(self._camera(camera), width, height)

    # Records to read into and to write.

    def new_state(self) -> State:
        """A state to read into."""
        record = messages.new(self._layout)
        return record

    def new_reference(self) -> Reference:
        """A reference that holds the posture commanded last, all joints in its mask, in position mode."""
        record = messages.new(self.robot.reference_dtype())
        record.position[:], record.mode[:], record.mask[:] = self._servo.position, Mode.POSITION, True
        return record

    def _observe(self) -> None:
        truth = self._truth
        self._engine.observe(truth)
        truth.record.time, truth.record.tick = self.time, self._tick
        truth.reference[:] = self._servo.position
        if self.physics:
            truth.flag()

    def _take_loads(self) -> None:
        due = [load for load in self._loads_to_come if load.start <= self.time + self._step / 2]
        if due:
            self._loads += due
            self._loads_to_come = [load for load in self._loads_to_come if load not in due]
            self._rebuild()

    def _rebuild(self) -> None:
        self._engine.replace(self._world(self._simulated, loads=self._loads))
        self._servo.forget_model()
        if self._cameras is not None:
            self._cameras.close()
            self._cameras = None

    def _body(self, link: str) -> int:
        bodies = self._engine.world.bodies
        if link not in bodies:
            raise UnknownName("link", link, bodies)
        return bodies[link]

    def _camera(self, name: str) -> str:
        if name not in self.cameras:
            raise UnknownName("camera", name, self.cameras)
        return name

    def _camera_set(self) -> Cameras:
        if self._cameras is None:
            self._cameras = Cameras(self._engine.world, self.view)
        self._cameras.view = self.view
        return self._cameras

    def _need_physics(self, what: str) -> None:
        if not self.physics:
            raise BadSimulation(f"{what} does nothing without physics; leave out physics=False")


def _vector(given: npt.ArrayLike) -> Vector:
    values = np.asarray(given, np.float64)
    if values.shape != (3,):
        raise BadSimulation(f"{given!r} is no vector; give three numbers")
    x, y, z = (float(value) for value in values)
    return x, y, z
