"""Calls of kernels as the packages make them: recorded with their arrays, to be repeated elsewhere or spoilt.

A call's arrays are those that it is given and those that its handles point into. They are kept as they were before and
after the call, so that the calls can be repeated in their order, and nothing but the kernels has to be there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import BuiltinFunctionType
from typing import Any

import numpy as np

from wholebody import _kernels

Array = np.ndarray


@dataclass(frozen=True)
class AnArray:
    """The array of that number."""

    number: int


@dataclass(frozen=True)
class AHandle:
    """What the call of that number returned."""

    call: int


class Lapack:
    """The eigensolver of LAPACK that scipy exports."""


@dataclass
class Call:
    """One call: its arguments, its arrays before and after, and its result."""

    name: str
    arguments: list[Any]
    before: dict[int, Array]
    after: dict[int, Array] = field(default_factory=dict)
    result: Any = None


def like(what: Any, parts: list[Any]) -> Any:
    """These parts as a tuple, named tuple or list of the same kind."""
    return what._make(parts) if hasattr(what, "_make") else type(what)(parts)


class Recorder:
    """While it is entered, keeps the calls of all functions of wholebody._kernels."""

    def __init__(self, most: int = 40) -> None:
        self.most = most
        self.calls: list[Call] = []
        self._counts: dict[str, int] = {}
        self._seen: dict[int, tuple[Any, Any, set[int]]] = {}  # by id: the object, what stands for it, its arrays
        self._arrays: list[Array] = []
        self._own: dict[str, BuiltinFunctionType] = {}

    def __enter__(self) -> Recorder:
        """Put a recording function in place of each kernel."""
        for name, kernel in vars(_kernels).items():
            if isinstance(kernel, BuiltinFunctionType):
                self._own[name] = kernel
        for name, kernel in self._own.items():
            setattr(_kernels, name, self._recording(name, kernel))
        return self

    def __exit__(self, *_: object) -> None:
        """Put the kernels back."""
        for name, kernel in self._own.items():
            setattr(_kernels, name, kernel)

    @property
    def handles(self) -> list[Any]:
        """All handles that were made, in their order."""
        return [seen[0] for seen in self._seen.values() if isinstance(seen[1], AHandle)]

    def array(self, told: AnArray) -> Array:
        """The array that was recorded under a number."""
        return self._arrays[told.number]

    def _recording(self, name: str, kernel: BuiltinFunctionType) -> Any:
        def call(*arguments: Any) -> Any:
            self._counts[name] = self._counts.get(name, 0) + 1
            if self._counts[name] > self.most:  # a handle that is made now is not known
                return kernel(*arguments)
            try:
                told, numbers = self._told(arguments)
            except KeyError:
                return kernel(*arguments)
            made = Call(name, told, {each: self._arrays[each].copy() for each in numbers})
            made.result = result = kernel(*arguments)
            if type(result).__name__ == "PyCapsule":
                made.result = AHandle(len(self.calls))
                self._seen[id(result)] = result, made.result, numbers
            made.after = {each: self._arrays[each].copy() for each in numbers}
            self.calls.append(made)
            return result

        return call

    def _told(self, arguments: tuple[Any, ...]) -> tuple[list[Any], set[int]]:
        """What stands for the arguments, and the numbers of all arrays that they lead to."""
        told: list[Any] = []
        numbers: set[int] = set()
        for each in arguments:
            if isinstance(each, tuple | list):
                inside, some = self._told(tuple(each))
                told.append(like(each, inside))
                numbers |= some
            elif isinstance(each, np.ndarray):
                if id(each) not in self._seen:
                    self._seen[id(each)] = each, AnArray(len(self._arrays)), {len(self._arrays)}
                    self._arrays.append(each)
                told.append(self._seen[id(each)][1])
                numbers |= self._seen[id(each)][2]
            elif type(each).__name__ == "PyCapsule":
                if "void (char *, char *, int *" in repr(each):
                    told.append(Lapack())
                else:
                    told.append(self._seen[id(each)][1])
                    numbers |= self._seen[id(each)][2]
            else:
                told.append(each)
        return told, numbers


class Player:
    """Repeats calls, in their order, on arrays of its own."""

    def __init__(self) -> None:
        self.arrays: dict[int, Array] = {}
        self.results: list[Any] = []

    def prepare(self, call: Call) -> list[Any]:
        """The arguments of a call, with all arrays as they were."""
        for number, value in call.before.items():
            if number in self.arrays:
                self.arrays[number][...] = value
            else:
                self.arrays[number] = value.copy()
        return [self.argument(each) for each in call.arguments]

    def argument(self, told: Any) -> Any:
        """What an argument stands for."""
        if isinstance(told, AnArray):
            return self.arrays[told.number]
        if isinstance(told, AHandle):
            return self.results[told.call]
        if isinstance(told, Lapack):
            from scipy.linalg import cython_lapack

            return cython_lapack.__pyx_capi__["dsyevd"]
        if isinstance(told, tuple | list):
            return like(told, [self.argument(each) for each in told])
        return told

    def play(self, call: Call) -> Any:
        """Repeat a call."""
        result = getattr(_kernels, call.name)(*self.prepare(call))
        self.results.append(result)
        return result


def recorded(most: int = 40) -> list[Call]:
    """Calls of all packages: models, tasks, controllers, kinematics, estimation, walking, motion."""
    from wholebody import robots
    from wholebody.behaviors import Walking
    from wholebody.constraints import FlatContact
    from wholebody.control import WBOSC, Problem, QuadraticController
    from wholebody.estimation import AttitudeFilter
    from wholebody.kinematics import ClosedForm, Collisions, InverseKinematics
    from wholebody.locomotion import Walker, gait_of
    from wholebody.model import Model
    from wholebody.model.support import convex_hull
    from wholebody.motion import OnlineProfile
    from wholebody.simulation import SensorModel, Simulation
    from wholebody.tasks import CartesianPositionTask, CenterOfMassTask, JointPositionTask, Orientation3DTask

    rng = np.random.default_rng(0)
    with Recorder(most) as recorder:
        robot = robots.load("hubo2plus")
        model = Model(robot)
        stand = model.posture("stand")
        now = model.at(stand, rng.uniform(-0.1, 0.1, model.nv))
        levels = [
            [CenterOfMassTask("com", now.com_in_world + 0.01)],
            [
                CartesianPositionTask("hand", "left_palm", now.position(model.frame("left_palm")) + 0.02),
                Orientation3DTask("chest", "Body_Torso", now.rotation(model.frame("Body_Torso"))),
            ],
            [JointPositionTask("posture", robot.posture("stand"))],
        ]
        problem = Problem(levels, [FlatContact(side, f"{side}_sole") for side in ("left", "right")])
        collisions = Collisions(model)
        controllers = WBOSC(model), QuadraticController(model, period=0.001, collisions=collisions)
        for _ in range(5):
            q = model.integrate(stand, rng.uniform(-0.05, 0.05, model.nv), 1.0)
            now = model.at(q, rng.uniform(-0.1, 0.1, model.nv))
            now.jacobian(model.frame("left_palm"))
            for controller in controllers:
                controller.solve(now, problem)
        solver = ClosedForm.of(robot, "Body_Hip", "left_sole")
        joints = rng.uniform(solver.chain.lower, solver.chain.upper, (10, len(solver.chain.lower)))
        poses = solver.forward(joints)
        solver.solve_many(poses)
        for pose, near in zip(poses, joints, strict=True):
            solver.solve(pose)
            solver.nearest(pose, near + 0.01)
        palms = [CartesianPositionTask(name, name, (0.0, 0.0, 0.0)) for name in ("left_palm", "right_palm")]
        inverse = InverseKinematics(model, palms)
        for _ in range(3):
            moved = model.at(model.integrate(stand, rng.uniform(-0.2, 0.2, model.nv), 1.0))
            for palm in palms:
                palm.goal = moved.position(model.frame(palm.frame))
            inverse.solve(stand)
        collisions.check(now)
        convex_hull(rng.uniform(-1.0, 1.0, (12, 2)))
        attitude, profile = AttitudeFilter(), OnlineProfile(np.full(8, 2.0), np.full(8, 20.0), 0.005)
        for _ in range(20):
            attitude.update(rng.uniform(-0.1, 0.1, 3), rng.uniform(9.0, 10.0, 3) * (0, 0, 1), 0.005)
            profile.step(rng.uniform(-1.0, 1.0, 8))
        walking = Walking(robot, gait_of(Walker(robot).model, 0.6))
        with Simulation(robot, sensors=SensorModel.realistic(), control_period=0.005) as simulation:
            state, reference = simulation.new_state(), simulation.new_reference()
            walking.stand(0.1)
            for cycle in range(60):
                simulation.tick()
                simulation.read(state)
                walking.cycle(state, reference)
                simulation.write(reference)
                if cycle == 25:
                    walking.walk(velocity=(0.2, 0.0, 0.0))
        call_parts(model, rng)
        call_unitree(rng)
        tree, snapshot = model.tree, now.handle
        task = levels[1][0].handle(model)
        _kernels.tasks_rows(task, tree, snapshot, np.zeros((model.nv, 3)), np.zeros((5, 3)))
        _kernels.model_evaluate_plainly(tree, snapshot, now.q, now.v)
        _kernels.model_jacobian(tree, snapshot, 1)
        quadratic = next(each for each in recorder.handles if "wholebody.Quadratic" in repr(each))
        output, report = next(each.arguments[2:] for each in recorder.calls if each.name == "quadratic_solve")
        _kernels.quadratic_write(quadratic, snapshot, *(recorder.array(each) for each in (output, report)))
        _kernels.quadratic_evaluate(quadratic)
        _kernels.quadratic_blend(quadratic)
        table = controllers[0].table_of(problem)
        _kernels.control_changes(table.handle, np.zeros(table.parameters), 1.0, 1.0)
    return recorder.calls


def call_unitree(rng: np.random.Generator) -> None:
    """Send a command to a G1, and take its state, without a network."""
    from wholebody.drivers.unitree.low_level import LOW_COMMAND, LOW_STATE, Message

    command, state, n = Message(LOW_COMMAND), Message(LOW_STATE), 29
    joints, on, chosen = np.arange(n), np.ones(n, bool), np.zeros((n, 5))
    wanted, own = rng.uniform(-1.0, 1.0, (5, n)), rng.uniform(0.0, 9.0, (3, n))
    mode, mask = np.arange(n, dtype=np.uint8) % 4, joints % 5 > 0
    _kernels.unitree_choose(*[each.copy() for each in wanted], mode, mask, own, chosen)
    _kernels.unitree_command(chosen, on, joints, joints, command.memory)
    command.pack()
    state.motors[:, 1:5] = rng.uniform(-1.0, 1.0, (35, 4))
    state.unpack(state.pack())
    _kernels.unitree_measure(state.memory, joints, joints, 0.5, *np.zeros((6, n)))
    _kernels.unitree_imu(state.memory, np.zeros(4), np.zeros(3), np.zeros(3))


def call_parts(model: Any, rng: np.random.Generator) -> None:
    """Call the kernels that other kernels use, too, and those that a walk needs now and then."""
    from wholebody.estimation.attitude import ATTITUDE
    from wholebody.estimation.support import Motion
    from wholebody.messages import numbers_of, packed

    def some(*shape: int) -> Array:
        return rng.uniform(-1.0, 1.0, shape)

    def unit(count: int) -> Array:
        value = some(count)
        return value / np.sqrt(value @ value)

    attitude, motion = np.zeros(1, ATTITUDE), np.zeros(1, packed(Motion))
    attitude["orientation"], attitude["gyro"], motion["gyro"] = unit(4), some(3), some(3)
    x = np.concatenate([unit(4), some(6), *(part for _ in range(2) for part in (some(4), unit(4)))])
    square = np.array([(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)])
    pose, lean = np.eye(4), 0.1 * some(2)
    _kernels.estimation_believe(np.eye(2), np.zeros(2), some(2), 0.1, 1.0, 9.0)
    _kernels.estimation_see_up(np.eye(6), np.zeros(6), unit(4), 9.81 * unit(3), 9.81, 1.0)
    _kernels.estimation_turn_attitude(numbers_of(attitude), 0.005, np.eye(6))
    _kernels.estimation_apply_error(x.copy(), 0.1 * some(23))
    _kernels.estimation_move_body(x.copy(), numbers_of(motion), 9.81, 0.005, np.eye(9))
    _kernels.estimation_sole_turn(x, 1, np.eye(3), np.zeros((3, 23)), np.zeros(3))
    _kernels.estimation_ankle_velocity(x, some(3), some(3), some(3), np.zeros((3, 23)), np.zeros(3))
    _kernels.kinematics_arctangent(0.3, -0.4)
    _kernels.kinematics_rotation_gap(np.eye(3), pose)
    _kernels.kinematics_boxed_step(
        *(some(3, 5), some(3), np.ones(5), np.zeros(5), 1e-3, np.full(5, -0.1), np.full(5, 0.1)),
        *(np.zeros(5, np.int64), np.zeros((3, 3)), np.zeros(3), np.zeros(5)),
    )
    _kernels.locomotion_share_of_area(square, some(2))
    _kernels.locomotion_rotation(some(3), np.zeros((3, 3)))
    _kernels.locomotion_turn_sole(pose, lean, np.zeros((4, 4)))
    _kernels.model_difference(model.tree, model.posture("stand"), model.posture("stand"), np.zeros(model.nv))
    _kernels.model_signed_distance(square, 0.2, 0.3)
    _kernels.motion_evaluate(np.arange(3.0), some(2, 4, 3), 4, np.array([0.5, 1.5]), np.zeros((3, 2, 3)))
    _kernels.quadratic_velocity_range(0.1, 0.2, -1.0, 1.0, 5.0, 10.0, 0.001)
    shapes = _kernels.quadratic_shapes(
        (
            *(np.tile(np.eye(4), (2, 1, 1)), some(2, 3), np.full((2, 2), 0.1), np.full((2, 3), 0.1), np.arange(2)),
            *(np.zeros((2, 9)), *(np.zeros((2, 3)) for _ in range(4))),
        )
    )
    _kernels.quadratic_capsule_distance(shapes, 0, 1)
    _kernels.quadratic_closing_range(0.1, -0.2, 0.01, 10.0, 0.001)
