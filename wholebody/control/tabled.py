"""TabledController: what controllers by tables share: problems made ready for the loop, and the newest command."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from typing import Generic, Protocol, TypeVar

from wholebody import _kernels
from wholebody.control.contact_feedback import contact_gains
from wholebody.control.layout import ProblemLayout
from wholebody.control.problem import Problem
from wholebody.control.result import Result
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.model.snapshot import Snapshot


class Prepared(Protocol):
    """A problem made ready for the loop."""

    @property
    def table(self) -> ProblemLayout:
        """The problem as arrays; it keeps the problem, so the id of that is its own."""


P = TypeVar("P", bound=Prepared)
R = TypeVar("R", bound=Result)


class TabledController(ABC, Generic[P, R]):
    """A controller of one robot that makes problems ready before the loop, and remembers what it commanded last."""

    KEPT = 8  # problems made ready

    model: Model
    period: float
    limits: Array  # lower, upper, velocity and effort limits, 4 × joints
    enforces_effort: bool
    blends_inside = False
    """Whether it goes from one law to another by itself, with `begin_transition` and `blend`."""
    _contact_gains: Array  # damping and stiffness of the feedback on constraints
    _feedback_told: bool  # whether the user asked for some kind of it

    def __init__(self) -> None:
        self._prepared: OrderedDict[int, P] = OrderedDict()
        self._forget()

    def _forget(self) -> None:
        """Be as new."""
        self._prepared.clear()
        self._problem: Problem | None = None
        self._now: P | None = None
        self._last: R | None = None
        self._written: Array | None = None

    @abstractmethod
    def _make_ready(self, problem: Problem) -> P:
        """Check a problem against the robot, and take all the memory that its cycles need."""

    @abstractmethod
    def solve(self, snapshot: Snapshot, problem: Problem) -> R:
        """The command of one cycle."""

    def begin_transition(self, snapshot: Snapshot, problem: Problem) -> None:
        """Begin a transition from the last command to what the problem asks for; `blend` says how far it has come."""
        raise NotImplementedError

    def blend(self, problem: Problem, share: float) -> None:
        """From the next cycle on, keep that share of the difference between what was and what is asked for."""
        raise NotImplementedError

    def hold_contacts(self) -> None:
        """Give contacts position feedback, as internal models need it, unless another kind was asked for."""
        if not self._feedback_told:
            self._contact_gains[:] = contact_gains("position", None, None, self.period)

    def release_contacts(self, problem: Problem) -> None:
        """Forget where contacts are held: the next cycle holds them where they are by then."""
        for each in problem.constraints:
            _kernels.constraints_release(each.handle(self.model))

    def prepare(self, problem: Problem) -> None:
        """Check a problem against the robot and make it ready, so that nothing is left to do in the loop."""
        self._ready(problem)

    def table_of(self, problem: Problem) -> ProblemLayout:
        """The table of a problem, made ready if it is not yet."""
        return self._ready(problem).table

    def written_command(self, result: Result) -> Array | None:
        """Efforts, positions and velocities of the newest result in one array, to be changed; None after a fault."""
        if result is not self._last or self._written is None:
            return None
        return self._written[: 3 * len(self.model.joint_names)]

    def _ready(self, problem: Problem) -> P:
        """A problem that is ready; nothing is done if it is the one of the cycle before."""
        if problem is self._problem and self._now is not None:
            return self._now
        found = self._prepared.get(id(problem))
        if found is None:
            found = self._prepared[id(problem)] = self._make_ready(problem)
            while len(self._prepared) > self.KEPT:
                self._prepared.popitem(last=False)
        self._hold_anew(problem)
        self._problem, self._now = problem, found
        return found

    def _hold_anew(self, problem: Problem) -> None:
        """Contacts that the problem before did not hold are switched on: their place is where they are."""
        before = {id(each) for each in self._problem.constraints} if self._problem is not None else set()
        for each in problem.constraints:
            if id(each) not in before:
                _kernels.constraints_release(each.handle(self.model))
