"""ClosedChain: two arms and the object they hold as one closed chain, carried by virtual joints of the centre of mass.

chain = ClosedChain(Model(robots.load("hubo2plus")), q)
held = chain.step(object_to_world, velocity, period)
held.q, held.com_in_world, held.closure

The virtual joints move the base along x and y of the world and stand for what legs do: where they go is where whatever
carries the arms has to bring the centre of mass (Stabilizer, 6.2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wholebody.behaviors.arms import ARMS, hand_of
from wholebody.errors import BadGoal, BadState
from wholebody.kinematics import GoalError
from wholebody.kinematics.inverse_rates import pseudo_inverse, rotation_gap
from wholebody.kinematics.inverse_variables import variables_of
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.model.snapshot import Snapshot
from wholebody.rotations import quaternion_of_matrix

DIRECTIONS = "xyz"
DAMPING = 1e-8
"""Added to the squared singular values of a task: nothing, unless an arm is stretched."""

APPROACH = 10.0
"""1/s. How much faster a joint may go for each rad that it is away from the end of its range."""
PARTING = 1e-4
"""m/s and rad/s. How fast the hands may leave each other before closure's feedback takes them back."""

Target = tuple[Array, Array]
"""J and w of J ż = w."""


@dataclass(frozen=True)
class Held:
    """The chain after a step.

    closure    how far the left hand is from where the right hand's grasp has it: m, rad
    path       how far the object is from where it was to be, in what is asked for
    stopped    joints that are at an end of their range and would have gone on
    """

    q: Array
    com_in_world: Array
    object_to_world: Array
    closure: GoalError
    path: GoalError
    stopped: tuple[str, ...]


class ClosedChain:
    """Joint velocities that keep both hands on an object, and move it as told.

    With J_L and J_R of the point and axes of the object as either hand carries them, virtual joints q_C among the
    common ones, Eq. 6.4 and 6.6 in order of priority:

        closure    (J_R − J_L) q̇ = K e₁       common joints drop out of it
        position   J_R q̇ = ṗ* + K e₂           in what closure leaves free
        turns      J_R q̇ = ω* + K e₂           in what these leave free
        range      q̇ = −k (q − q_mid)          in what is left

    A joint at an end of its range is left out, and the others do without it.

    q             the configuration in which the object is held: whatever the hands are like then, they stay
    shared        joints or groups between base and arms that may move too; the torso, if there is one
    turns         axes of the world about which the object's orientation is told; all if each arm has six joints, else z
    virtual       whether the base moves along x and y; without, it stays where it was put
    mobility      how much more willingly a virtual joint moves 1 m than a joint moves 1 rad
    haste         m/s and rad/s, how fast the object is brought back to a path that it has left
    """

    def __init__(
        self,
        model: Model,
        q: npt.ArrayLike,
        *,
        shared: tuple[str, ...] | None = None,
        turns: str | None = None,
        virtual: bool = True,
        mobility: float = 1.0,
        stiffness: float = 40.0,
        haste: float = 0.5,
        centring: float = 0.2,
    ) -> None:
        if not all(np.isfinite(value) and value > 0 for value in (mobility, stiffness, haste)) or centring < 0:
            raise BadGoal(
                f"mobility {mobility}, stiffness {stiffness}, haste {haste}, centring {centring}: give numbers above 0"
            )
        self.model = model
        self._hands = tuple(hand_of(model, arm) for arm in ARMS)
        between = tuple(group for group in ("torso",) if model.robot.groups.get(group)) if shared is None else shared
        variables = variables_of(model, (*ARMS, *between), free_base=False)
        self._virtual = 2 if virtual and model.floating else 0
        self._place, self._lower, self._upper = variables.place, variables.lower, variables.upper
        self._moves = np.zeros((model.nv, self._virtual + len(variables.place)))
        moved = np.flatnonzero(variables.variable >= 0)
        self._moves[moved, self._virtual + variables.variable[moved]] = variables.ratio[moved]
        self._fastest = np.full(self._moves.shape[1], np.inf)
        self._fastest[self._virtual :] = [model.robot.joint(name).velocity for name in self.names]
        self._mobility = np.ones(self._moves.shape[1])
        self._mobility[: self._virtual] = mobility
        self._stiffness, self._haste, self._centring = stiffness, haste, centring
        self._turns = self._asked(turns)
        snapshot = model.at(q)
        self.q = np.array(snapshot.q)
        left, right = (snapshot.placement(hand) for hand in self._hands)
        grip = np.eye(4)
        grip[:3, :3], grip[:3, 3] = snapshot.rotation(0), (left[:3, 3] + right[:3, 3]) / 2
        self._object_to_hands = tuple(np.linalg.inv(hand) @ grip for hand in (left, right))
        outside = [self._name(place) for place in self._outside(self.q)]
        if outside:
            raise BadState(f"{', '.join(outside)} out of range in the configuration that holds the object")

    @property
    def object_to_world(self) -> Array:
        """Where the object is; when it was taken, that was between the hands, in the axes of the robot's root."""
        return self._carried(self.model.at(self.q))[1]

    @property
    def names(self) -> tuple[str, ...]:
        """The joints that move, without the virtual ones."""
        return tuple(self._name(place) for place in self._place)

    def put_base(self, base_to_world: npt.ArrayLike) -> None:
        """The base is brought somewhere else, by walking; the joints stay, and the object goes with it."""
        at = np.asarray(base_to_world, np.float64)
        self.q[:3] = at[:3, 3]
        self.q[3:7] = quaternion_of_matrix(at[:3, :3])

    def step(self, object_to_world: npt.ArrayLike, velocity: npt.ArrayLike | None, period: float) -> Held:
        """One period on the way to where the object is to be at its end, with its velocity (linear, angular)."""
        target = np.asarray(object_to_world, np.float64)
        rate = np.zeros(6) if velocity is None else np.asarray(velocity, np.float64)
        if target.shape != (4, 4) or rate.shape != (6,) or not (np.isfinite(target).all() and np.isfinite(rate).all()):
            raise BadGoal("the object's goal must be a 4 × 4 transform and, if it moves, six finite numbers")
        snapshot = self.model.at(self.q)
        moves = self._columns(snapshot)
        J_left, J_right = (self._jacobian(snapshot, each) @ moves for each in range(2))
        gain = min(self._stiffness, 0.5 / period)
        left, right = self._carried(snapshot)
        back = gain * (_gap(target, right) - period * rate)
        back *= min(1.0, self._haste / max(float(np.linalg.norm(back)), 1e-9))
        targets = (
            (J_right - J_left, gain * _gap(left, right)),
            (J_right[:3], (rate + back)[:3]),
            (J_right[self._turns], (rate + back)[self._turns]),
        )
        z_dot, stopped = self._within_range(targets, period)
        self.q = self.model.integrate(self.q, moves @ z_dot, period)
        self._close()
        return self._seen(target, stopped)

    def _close(self) -> None:
        """Take back what the hands parted because a period is not infinitely short: one step of Newton's."""
        snapshot = self.model.at(self.q)
        moves = self._columns(snapshot)
        J_left, J_right = (self._jacobian(snapshot, each) @ moves for each in range(2))
        parted = _gap(*self._carried(snapshot))
        self.q = self.model.integrate(self.q, moves @ (pseudo_inverse(J_right - J_left, DAMPING) @ parted), 1.0)
        self.q[self._place] = np.clip(self.q[self._place], self._lower, self._upper)

    def _within_range(self, targets: tuple[Target, Target, Target], period: float) -> tuple[Array, tuple[str, ...]]:
        """The velocities of all variables, within range and speed of each.

        A joint that would go too far is stopped and the others do without it. What cannot be had so is slowed down,
        all joints alike, towards closure alone: the hands never part to keep to the path.
        """
        at = self.q[self._place]
        lowest, highest = -self._fastest, self._fastest.copy()
        approach = min(APPROACH, 1.0 / period)
        lowest[self._virtual :] = np.maximum(approach * (self._lower - at), lowest[self._virtual :])
        highest[self._virtual :] = np.minimum(approach * (self._upper - at), highest[self._virtual :])
        middle = np.zeros(len(lowest))
        middle[self._virtual :] = self._centring * np.nan_to_num((self._lower + self._upper) / 2 - at)
        free, fixed = np.ones(len(lowest), bool), np.zeros(len(lowest))
        closed = _prioritised(targets[:1], fixed, free, self._mobility, fixed)
        best, most, stopped = closed, -1.0, free
        for _ in range(len(lowest)):
            z_dot = _prioritised(targets, fixed, free, self._mobility, middle)
            share = _share(closed, z_dot, lowest, highest)
            if _missed(targets[0], z_dot) < PARTING:
                done = share * (1.0 - _missed(targets[1], z_dot) / max(_missed(targets[1], closed), 1e-9))
                if done > most + 1e-6:
                    best, most, stopped = closed + share * (z_dot - closed), done, free.copy()
            if share == 1.0:
                break
            over = np.where(free, np.maximum(lowest - z_dot, z_dot - highest), -np.inf)
            worst = int(np.argmax(over))
            free[worst], fixed[worst] = False, min(max(z_dot[worst], lowest[worst]), highest[worst])
        names = (self._name(self._place[each]) for each in np.flatnonzero(~stopped[self._virtual :]))
        return best, tuple(names)

    def _seen(self, target: Array, stopped: tuple[str, ...]) -> Held:
        snapshot = self.model.at(self.q)
        left, right = self._carried(snapshot)
        path = _gap(target, right)
        path[[row for row in range(3, 6) if row not in self._turns]] = 0.0
        return Held(self.q.copy(), snapshot.com_in_world.copy(), right, _size(_gap(left, right)), _size(path), stopped)

    def _columns(self, snapshot: Snapshot) -> Array:
        """How v answers to the variables; the base's velocity is in its own axes."""
        if self._virtual:
            self._moves[:3, :2] = snapshot.rotation(0).T[:, :2]
        return self._moves

    def _carried(self, snapshot: Snapshot) -> tuple[Array, Array]:
        """The object as the left hand carries it, and as the right one does."""
        left, right = (
            snapshot.placement(hand) @ held for hand, held in zip(self._hands, self._object_to_hands, strict=True)
        )
        return left, right

    def _jacobian(self, snapshot: Snapshot, hand: int) -> Array:
        """Of the object's origin and axes as a hand carries it: ṗ = ṗ_hand + ω × r."""
        J = np.array(snapshot.jacobian(self._hands[hand]))
        x, y, z = snapshot.rotation(self._hands[hand]) @ self._object_to_hands[hand][:3, 3]
        J[:3] -= np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]) @ J[3:]
        return J

    def _asked(self, turns: str | None) -> npt.NDArray[np.int64]:
        freedom = len(self._mobility) - 6
        if turns is None:
            whole = all(len(self.model.robot.groups[arm]) >= 6 for arm in ARMS)
            turns = DIRECTIONS if whole else "z"
        if not set(turns) <= set(DIRECTIONS) or len(set(turns)) < len(turns):
            raise BadGoal(f"turns are '{turns}'; they must be some of x, y and z")
        if freedom < 3 + len(turns):
            raise BadGoal(
                f"'{self.model.robot.name}' holds an object, leaving {freedom} of {len(self._mobility)} joints free; "
                f"{3 + len(turns)} are needed to move it: tell fewer turns, or share more joints"
            )
        return np.array([3 + DIRECTIONS.index(axis) for axis in sorted(turns)], np.int64)

    def _outside(self, q: Array) -> npt.NDArray[np.int64]:
        at = q[self._place]
        return self._place[(at < self._lower - 1e-9) | (at > self._upper + 1e-9)]

    def _name(self, place: int) -> str:
        return self.model.joint_names[int(place) - (self.model.nq - len(self.model.joint_names))]


def _prioritised(
    targets: tuple[Target, ...],
    fixed: Array,
    free: npt.NDArray[np.bool_],
    mobility: Array,
    rest: Array,
) -> Array:
    """z = z₁ + (J₂ N₁)♯ (w₂ − J₂ z₁) + …, each target in the null space of those before it; `rest` last of all."""
    scale = np.sqrt(mobility)
    z, N = np.where(free, 0.0, fixed) / scale, np.diag(free.astype(float))
    for J, wanted in targets:
        JN = J * scale @ N
        inverse = pseudo_inverse(JN, DAMPING)
        z = z + inverse @ (wanted - J @ (scale * z))
        N = N - inverse @ JN
    answer: Array = scale * (z + N @ (rest / scale - z))
    return answer


def _missed(target: Target, z_dot: Array) -> float:
    """How far from a target the velocities are."""
    J, wanted = target
    return float(np.linalg.norm(wanted - J @ z_dot))


def _share(start: Array, end: Array, lowest: Array, highest: Array) -> float:
    """How far one can go from start to end between bounds: 0 to 1."""
    way = end - start
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(way > 0, (highest - start) / way, np.where(way < 0, (lowest - start) / way, np.inf))
    return float(min(max(float(room.min()), 0.0), 1.0))


def _gap(to: Array, at: Array) -> Array:
    """Position and rotation vector, in world, from one pose to another."""
    return np.array([*(to[:3, 3] - at[:3, 3]), *rotation_gap(to[:3, :3], at)])


def _size(gap: Array) -> GoalError:
    return GoalError(float(np.linalg.norm(gap[:3])), float(np.linalg.norm(gap[3:])))
