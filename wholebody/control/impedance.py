"""Impedance: whole-body control of joints that follow positions, by an internal model that moves as the efforts ask.

The controller finds the acceleration v̇ of all joints; the internal model (q', v') makes motion of it:

    v' += (v̇ + leak (v − v')) dt
    q' += (v' + leak (q − q')) dt

It goes where the tasks want the joints to go, and a stiff servo follows. What the joint does not do, because
something is in its way, leaks out of the model: leak = 0 is as stiff as the servo, and with a leak of 1/dt only the
effort is left, which is effort control. In between the robot gives way the more the faster it leaks, and follows its
goals the less: `python -m experiments.standing_pushes` measures both. Without a leak contacts have position
feedback, unless the controller was told otherwise: nothing else keeps the soles of the model where they stand.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Protocol

import numpy as np
import numpy.typing as npt

from wholebody.control.preparation import TabledController
from wholebody.control.problem import Problem
from wholebody.control.result import Fault
from wholebody.errors import BadProblem
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.model.snapshot import Snapshot
from wholebody.parameters import Bounds, Unit

WIDEST = 0.2
"""rad or m: the window of a joint whose greatest effort nobody knows."""


class Solution(Protocol):
    """What the internal model needs of a controller's result."""

    @property
    def effort(self) -> Array:
        """τ of each joint."""

    @property
    def acceleration(self) -> Array:
        """v̇ of base and joints."""

    @property
    def fault(self) -> Fault | None:
        """Why it is the last safe command once more, if it is."""


class Solver(Protocol):
    """A controller whose commands are turned into positions."""

    model: Model
    period: float

    def prepare(self, problem: Problem) -> None:
        """Make a problem ready, before the loop."""

    def solve(self, snapshot: Snapshot, problem: Problem) -> Solution:
        """The command of one cycle."""


class ImpedanceCommand:
    """Positions, velocities, efforts and gains for joints that follow them; the arrays are written anew every cycle."""

    def __init__(self, joints: int) -> None:
        self.position, self.velocity, self.effort = np.zeros(joints), np.zeros(joints), np.zeros(joints)
        self.stiffness, self.damping = np.zeros(joints), np.zeros(joints)
        self.fault: Fault | None = None
        self.solution: Solution | None = None


class Impedance:
    """A controller around another: its efforts become positions and velocities, kept within the limits of the joints.

        controller = Impedance(WBOSC(model, period=0.005))
        Servo(robot, clock, controller, behavior, mode=Mode.POSITION)

    Joints that take position, velocity, effort and gains together (Mode.IMPEDANCE) are given all of them. Those that
    take a position alone sag under a load, and lag behind: so the position that is sent is q' + (τ + kd v') / kp with
    the gains of their servo, with which they get the very same effort. That needs `offset`.

    leak     in 1/s, how fast the internal model comes back to what is measured: see above
    window   how far the internal model may be from what is measured, rad or m, one for all or one for each; unless
             told, as far as the servo needs for the greatest effort of its joint
    offset   whether what the servo lacks is added to the position
    """

    leak: Annotated[float, Unit("1/s"), Bounds(0, 1e4)]
    window: Annotated[Array, Unit("rad"), Bounds(1e-6, 1e3)]

    def __init__(
        self,
        controller: Solver,
        *,
        leak: float = 2.0,
        window: npt.ArrayLike | None = None,
        offset: bool = True,
        stiffness: npt.ArrayLike | None = None,
        damping: npt.ArrayLike | None = None,
    ) -> None:
        self.controller, self.model, self.period = controller, controller.model, controller.period
        if not 0 <= leak <= 1 / self.period:
            raise BadProblem(f"a leak of {leak}/s; it must be from 0 to one a period, {1 / self.period:g}/s")
        self.leak = leak
        inner = _innermost(controller)
        if leak == 0 and inner is not None:
            inner.hold_contacts()
        moving = self.model.robot.moving
        self._lower, self._upper, self._fastest = np.array([(j.lower, j.upper, j.velocity) for j in moving]).T.copy()
        self._slowest = -self._fastest
        self._command = ImpedanceCommand(len(moving))
        self._take_gains(stiffness, damping, offset)
        efforts = np.array([joint.effort for joint in moving])
        enough = np.where(np.isfinite(efforts), efforts / self._command.stiffness, WIDEST)
        self.window = np.array(np.broadcast_to(enough if window is None else window, len(moving)), float)
        if not (self.window > 0).all():
            raise BadProblem(f"a window must be above 0, not {window!r}; a joint without effort has none")
        self.position, self.velocity = np.zeros(len(moving)), np.zeros(len(moving))
        self._spare = np.zeros(len(moving))
        self._edge = np.zeros(len(moving))
        self._first_acceleration = self.model.nv - len(moving)
        self._begun = False

    def _take_gains(self, stiffness: npt.ArrayLike | None, damping: npt.ArrayLike | None, offset: bool) -> None:
        own = [self.model.robot.gains.get(each.name) for each in self.model.robot.moving]
        missing = [each.name for each, gain in zip(self.model.robot.moving, own, strict=True) if gain is None]
        if missing and (stiffness is None or damping is None):
            raise BadProblem(f"{self.model.robot.name} has no gains for '{missing[0]}'; give stiffness and damping")
        command = self._command
        command.stiffness[:] = [gain.stiffness if gain else 0.0 for gain in own] if stiffness is None else stiffness
        command.damping[:] = [gain.damping if gain else 0.0 for gain in own] if damping is None else damping
        if not (command.stiffness > 0).all() or not (command.damping >= 0).all():
            raise BadProblem("a joint that follows positions has a stiffness above 0, and no negative damping")
        self._compliance = offset / command.stiffness
        self._lag = offset * command.damping / command.stiffness

    def prepare(self, problem: Problem) -> None:
        """Make a problem ready, before the loop."""
        self.controller.prepare(problem)

    def restart(self, snapshot: Snapshot) -> None:
        """Begin anew where the robot is."""
        joints = len(self.position)
        self.position[:], self.velocity[:] = snapshot.q[-joints:], snapshot.v[-joints:]
        self._begun = True

    def solve(self, snapshot: Snapshot, problem: Problem) -> ImpedanceCommand:
        """The command of one cycle. If none could be found, the internal model stays where it is, and at rest."""
        if not self._begun:
            self.restart(snapshot)
        command = self._command
        solution = self.controller.solve(snapshot, problem)
        command.solution, command.fault = solution, solution.fault
        if solution.fault is None:
            self._integrate(snapshot.q[-len(self.position) :], snapshot.v[-len(self.position) :], solution.acceleration)
            command.effort[:] = solution.effort
        else:
            self.velocity[:] = 0.0
        self._fill(command)
        return command

    def _integrate(self, q: Array, v: Array, acceleration: Array) -> None:
        dt, spare = self.period, self._spare
        share = -math.expm1(-self.leak * dt)
        np.subtract(v, self.velocity, out=spare)
        spare *= share
        self.velocity += spare
        np.multiply(acceleration[self._first_acceleration :], dt, out=spare)
        self.velocity += spare
        np.clip(self.velocity, self._slowest, self._fastest, out=self.velocity)
        np.subtract(q, self.position, out=spare)
        spare *= share
        self.position += spare
        np.multiply(self.velocity, dt, out=spare)
        self.position += spare
        self._keep_within(q)

    def _keep_within(self, q: Array) -> None:
        """Near what is measured and within the limits; where the position is cut, what drives it further is too."""
        free, edge = self._spare, self._edge
        free[:] = self.position
        np.clip(free, np.subtract(q, self.window, out=edge), None, out=free)
        np.clip(free, None, np.add(q, self.window, out=edge), out=free)
        np.clip(free, self._lower, self._upper, out=free)
        np.subtract(free, self.position, out=edge)  # where it was cut, and which way
        self.position[:] = free
        np.multiply(edge, self.velocity, out=free)
        np.copyto(self.velocity, 0.0, where=free < 0)

    def _fill(self, command: ImpedanceCommand) -> None:
        spare = self._spare
        command.velocity[:] = self.velocity
        command.position[:] = self.position
        np.multiply(command.effort, self._compliance, out=spare)
        command.position += spare
        np.multiply(self.velocity, self._lag, out=spare)
        command.position += spare


def _innermost(controller: object) -> TabledController[Any, Any] | None:
    """The controller by tables inside others, if there is one."""
    while not isinstance(controller, TabledController):
        controller = getattr(controller, "controller", None)
        if controller is None:
            return None
    return controller
