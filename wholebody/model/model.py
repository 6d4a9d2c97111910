"""Model: a robot's physics, built once and never changed; `model.at(q, v)` is a Snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NoReturn, TypeVar

import numpy as np
import numpy.typing as npt

from wholebody import _kernels
from wholebody.errors import BadRobot, BadState, UnknownName
from wholebody.model.layout import Array, Integers
from wholebody.model.pinocchio_model import flat_integers, flat_numbers, mimic_matrix, mimic_offset, pinocchio_model
from wholebody.model.snapshot import Buffer, Pool, Snapshot
from wholebody.robots.robot import Link, Robot, Sensor, Surface

Kind = TypeVar("Kind", bound=np.generic)


class Model:
    """The physics of a robot: masses, joints and frames, built once and never changed.

        model = Model(robots.load("hubo2plus"))
        left_sole = model.frame("left_sole")
        snapshot = model.at(q, v)
        snapshot.M, snapshot.h, snapshot.jacobian(left_sole), snapshot.com_in_world

    With a floating base, q is base position, quaternion (x y z w), joints, and v is the base's linear and angular
    velocity in its own axes, joints; else both are the joints alone. Joints are in the order of `robot.joint_names`.
    Those that mimic others, or are fixed, have no number of their own; all their masses and frames are there.

    gravity                    the acceleration of a falling body, in world
    gravity_compensation_mask  joints whose gravity is not to be compensated: see Snapshot.gravity_compensation
    coupled_joint_groups       groups of joints, each a list of names or the name of one of the robot's groups; M is
                               zero between different groups, and all other joints and the base are one more group
    watch                      frames whose Jacobians come with every snapshot: the robot's surfaces, unless told
    """

    def __init__(
        self,
        robot: Robot,
        gravity: Sequence[float] = (0.0, 0.0, -9.81),
        *,
        gravity_compensation_mask: Iterable[str] = (),
        coupled_joint_groups: Iterable[str | Sequence[str]] = (),
        watch: Iterable[str] | None = None,
    ) -> None:
        self.robot = robot
        self.floating = robot.floating
        self.joint_names = robot.joint_names
        self.nv = self._base + len(self.joint_names)
        self.nq = self.nv + self.floating
        self.total_mass = robot.mass
        if self.nv == 0 or self.total_mass <= 0:
            raise BadRobot(f"{robot.name} has no mass, or no joint that moves: there is no physics to it")
        self.gravity = _constant(_gravity(gravity))
        named: tuple[Link | Surface | Sensor, ...] = (*robot.links, *robot.surfaces, *robot.sensors)
        self.frames = tuple(each.name for each in named)
        self.watched = self._watched(watch)
        self.gravity_compensated = _constant(self._compensated(gravity_compensation_mask))
        self.groups = _constant(self._groups(coupled_joint_groups))
        self.pinocchio = pinocchio_model(robot, self.gravity)
        self.integers = _constant(flat_integers(robot, self.pinocchio, self.watched, self.groups))
        self.numbers = _constant(flat_numbers(robot, self.pinocchio, self.gravity_compensated))
        self.tree = _kernels.model_tree(self.integers, self.numbers)
        self._ready = frozenset(self.watched)
        self._q_shape, self._v_shape = (self.nq,), (self.nv,)
        self._still = _constant(np.zeros(self.nv))
        self.pool = Pool(self.tree, self.integers)

    def __repr__(self) -> str:
        """Name and size."""
        return f"<Model of {self.robot.name}: {self.nv} degrees of freedom, {self.total_mass:.1f} kg>"

    # --- state to physics --------------------------------------------------------------------------

    def at(self, q: npt.ArrayLike, v: npt.ArrayLike | None = None) -> Snapshot:
        """Everything at configuration q and velocity v (at rest, if not given).

        BadState if a length is wrong, a value is no number, or the quaternion's length is off by more than 0.001 (up
        to there it is normalised). The snapshot is yours for as long as you keep it.
        """
        velocity = self._still if v is None else v
        pool = self.pool
        buffer = pool.take()
        try:
            verdict = _kernels.model_evaluate(self.tree, buffer.handle, q, velocity)
        except ValueError:  # no arrays of float64, or not of this size
            q, velocity = self._vector("q", q, self._q_shape), self._vector("v", velocity, self._v_shape)
            verdict = _kernels.model_evaluate(self.tree, buffer.handle, q, velocity)
        snapshot = Snapshot(self, buffer, self._ready)
        pool.put(buffer)
        if verdict != 0:
            self._refuse(snapshot)
        return snapshot

    def evaluated(self, buffer: Buffer, verdict: int) -> Snapshot:
        """The snapshot in a buffer taken from `pool`, where a kernel evaluated it; BadState if it could not."""
        snapshot = Snapshot(self, buffer, self._ready)
        self.pool.put(buffer)
        if verdict != 0:
            self._refuse(snapshot)
        return snapshot

    # --- frames ------------------------------------------------------------------------------------

    def frame(self, name: str) -> int:
        """The index of a link, surface or sensor, by which a Snapshot knows it; the first of them with that name."""
        try:
            return self._frame_index[name]
        except KeyError:
            raise UnknownName("frame", name, self.frames) from None

    def surface(self, name: str) -> int:
        """The index of a surface's frame, even if a link has its name."""
        found = self.robot.surfaces.index(self.robot.surface(name))
        return len(self.robot.links) + found

    def sensor(self, name: str) -> int:
        """The index of a sensor's frame, even if a link or surface has its name."""
        names = [each.name for each in self.robot.sensors]
        if name not in names:
            raise UnknownName("sensor", name, names)
        return len(self.robot.links) + len(self.robot.surfaces) + names.index(name)

    @cached_property
    def _frame_index(self) -> dict[str, int]:
        return {name: index for index, name in reversed(list(enumerate(self.frames)))}

    def _watched(self, watch: Iterable[str] | None) -> tuple[int, ...]:
        if watch is None:
            return tuple(self.surface(each.name) for each in self.robot.surfaces)
        return tuple(dict.fromkeys(self.frame(name) for name in watch))

    # --- orders of joints --------------------------------------------------------------------------

    @property
    def _base(self) -> int:
        return 6 if self.robot.floating else 0

    @cached_property
    def virtual_joints(self) -> Integers:
        """Where in v the base stands."""
        return _constant(np.arange(self._base))

    @cached_property
    def real_joints(self) -> Integers:
        """Where in v the joints stand."""
        return _constant(np.arange(self._base, self.nv))

    @cached_property
    def actuated_joints(self) -> Integers:
        """Where in v the joints with a motor stand."""
        return _constant(np.array([self.column(each.name) for each in self.robot.moving if each.actuated], np.int64))

    @cached_property
    def actuated_names(self) -> tuple[str, ...]:
        """The joints with a motor: the order of efforts τ."""
        return tuple(joint.name for joint in self.robot.moving if joint.actuated)

    @cached_property
    def selection(self) -> Array:
        """S: picks the joints with a motor, S v, and hands efforts to them, Sᵀ τ."""
        return _constant(np.eye(self.nv)[self.actuated_joints])

    @cached_property
    def transmission(self) -> Array:
        """One row for each pair of joints that one motor moves: T v = 0, from v_slave − ratio · v_master = 0."""
        rows = np.zeros((len(self.robot.couplings), self.nv))
        for row, coupling in zip(rows, self.robot.couplings, strict=True):
            row[self.column(coupling.slave)] = 1.0
            row[self.column(coupling.master)] -= coupling.ratio
        return _constant(rows)

    @cached_property
    def mimic_matrix(self) -> Array:
        """G: the velocities of all joints that move, also those that mimic others, are G v: the v of `pinocchio`."""
        return _constant(mimic_matrix(self.robot))

    def column(self, joint: str) -> int:
        """Where in v a joint stands."""
        if joint not in self.robot.index:
            raise UnknownName("moving joint", joint, self.joint_names)
        return self._base + self.robot.index[joint]

    def _compensated(self, mask: Iterable[str]) -> Array:
        compensated = np.ones(self.nv)
        for joint in mask:
            compensated[self.column(joint)] = 0.0
        return compensated

    def _groups(self, groups: Iterable[str | Sequence[str]]) -> Integers:
        """The group of each number in v; 0 for those of no group, −1 everywhere if there are no groups."""
        group_of = np.zeros(self.nv, np.int64)
        number = 0
        for number, group in enumerate(groups, start=1):
            joints = [self.joint_names[i] for i in self.robot.group(group)] if isinstance(group, str) else group
            for joint in joints:
                if group_of[self.column(joint)]:
                    raise BadRobot(f"{self.robot.name}: joint '{joint}' is in two of the coupled joint groups")
                group_of[self.column(joint)] = number
        return group_of if number else group_of - 1

    # --- configurations ----------------------------------------------------------------------------

    def neutral(self) -> Array:
        """Base at the origin of the world, joints at zero or at the limit nearest to it."""
        return self._with_base(np.clip(0.0, *self._limits))

    def posture(self, name: str) -> Array:
        """Base at the origin of the world, joints as in a posture of the robot."""
        return self._with_base(self.robot.posture(name))

    def random(self, seed: int | np.random.Generator | None = None) -> Array:
        """Joints anywhere within their limits (±π where there are none), base anywhere within 1 m, turned anyhow."""
        rng = np.random.default_rng(seed)
        lower, upper = np.nan_to_num(self._limits, posinf=np.pi, neginf=-np.pi)
        q = self._with_base(rng.uniform(lower, upper))
        if self.floating:
            q[:3] = rng.uniform(-1.0, 1.0, 3)
            quaternion = rng.normal(size=4)
            q[3:7] = quaternion / np.linalg.norm(quaternion)
        return q

    def integrate(self, q: npt.ArrayLike, v: npt.ArrayLike, dt: float) -> Array:
        """Where velocity v leads from q in time dt, if it stays the same."""
        result = np.empty(self.nq)
        start, velocity = self._vector("q", q, self._q_shape), self._vector("v", v, self._v_shape)
        _kernels.model_integrate(self.tree, start, velocity, float(dt), result)
        return result

    def difference(self, q0: npt.ArrayLike, q1: npt.ArrayLike) -> Array:
        """The constant velocity that leads from q0 to q1 in one second, the base by the shorter way round."""
        result = np.empty(self.nv)
        start, end = self._vector("q0", q0, self._q_shape), self._vector("q1", q1, self._q_shape)
        _kernels.model_difference(self.tree, start, end, result)
        return result

    def to_pinocchio(self, q: npt.ArrayLike) -> Array:
        """The same configuration for `model.pinocchio`, where mimicking joints have a number of their own."""
        values = self._vector("q", q, self._q_shape)
        base, joints = values[: self.nq - len(self.joint_names)], values[self.nq - len(self.joint_names) :]
        G = self.mimic_matrix[self._base :, self._base :]
        return np.concatenate([base, G @ joints + mimic_offset(self.robot)])

    @property
    def _limits(self) -> Array:
        return np.array([(joint.lower, joint.upper) for joint in self.robot.moving]).reshape(-1, 2).T

    def _with_base(self, joints: Array) -> Array:
        return np.concatenate([(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0), joints]) if self.floating else joints

    def _vector(self, name: str, given: npt.ArrayLike, shape: tuple[int]) -> Array:
        try:
            vector = np.array(given, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise BadState(f"{name} is no vector of numbers: {error}") from error
        if vector.shape != shape:
            base = {self.nq: "base position, quaternion and ", self.nv: "base velocity and "} if self.floating else {}
            raise BadState(
                f"{name} has shape {vector.shape}, but {self.robot.name} needs ({shape[0]},): "
                f"{base.get(shape[0], '')}{len(self.joint_names)} joints"
            )
        return vector

    def _refuse(self, snapshot: Snapshot) -> NoReturn:
        for name, values in (("q", snapshot.q), ("v", snapshot.v)):
            for index in np.flatnonzero(~np.isfinite(values)):
                place = index - len(values) + len(self.joint_names)
                what = f"joint '{self.joint_names[place]}'" if place >= 0 else "the base"
                raise BadState(f"{name}[{index}], of {what}, is {values[index]}; it must be a number")
        quaternion = snapshot.q[3:7]
        raise BadState(
            f"the quaternion in q[3:7], {quaternion}, has length {np.linalg.norm(quaternion):.6g}; divide it by that"
        )


def _constant(array: npt.NDArray[Kind]) -> npt.NDArray[Kind]:
    array.flags.writeable = False
    return array


def _gravity(given: Sequence[float]) -> Array:
    gravity = np.array(given, dtype=np.float64)
    if gravity.shape != (3,) or not np.isfinite(gravity).all():
        raise BadState(f"gravity must be three numbers (m/s², in world), not {given}")
    return gravity
