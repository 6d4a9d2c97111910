"""Snapshot: everything physics says about one state of the robot."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from operator import attrgetter
from sys import getrefcount
from typing import TYPE_CHECKING, Self, overload

import numpy as np

from wholebody import _kernels
from wholebody.errors import UnknownFrame
from wholebody.model import layout
from wholebody.model.layout import HEADER, Array, Integers
from wholebody.model.relative import Relative, relative_motion

if TYPE_CHECKING:
    from wholebody.model.model import Model


class Buffer:
    """The memory of one snapshot; `handle` for the kernels, `shown` to the reader."""

    __slots__ = ("handle", "idle", "shown", "storage")

    def __init__(self, tree: _kernels.Tree, integers: Integers) -> None:
        self.storage = np.full(layout.size(integers), 0.0)
        self.handle = _kernels.model_snapshot(tree, self.storage)
        self.shown = layout.carve_values(integers, layout.read_only(self.storage))
        self.idle = 0


class Pool:
    """Buffers that are used again once no snapshot or array in them is referenced.

    Who holds one is told by Python's own counts of references, to the buffer and by arrays to its memory, so nobody has
    to give anything back. The newest that is free is taken, which is still in the processor's cache: a loop that keeps
    its last snapshot runs on two for ever. What is held for long sinks to the other end, and falls out when there are
    too many.
    """

    KEPT = 4

    def __init__(self, tree: _kernels.Tree, integers: Integers) -> None:
        self._tree, self._integers = tree, integers
        self._buffers: deque[Buffer] = deque(maxlen=self.KEPT)
        self.put: Callable[[Buffer], None] = self._buffers.append  # put a buffer back, held or not
        self.reserve(2)

    def reserve(self, count: int) -> None:
        """Have that many buffers, at most KEPT, so that none has to be made in a loop."""
        while len(self._buffers) < min(count, self.KEPT):
            self.put(self._new())

    def take(self) -> Buffer:
        """A buffer that is not referenced. Until it is put back, no other thread can take it."""
        held: list[Buffer] | None = None
        try:
            while True:
                buffer = self._buffers.pop()
                if getrefcount(buffer) + getrefcount(buffer.storage) <= buffer.idle:
                    break
                held = [buffer, *(held or ())]
        except IndexError:
            buffer = self._new()
        if held is not None:
            self._buffers.extend(held)
        return buffer

    def _new(self) -> Buffer:
        buffer = Buffer(self._tree, self._integers)
        buffer.idle = getrefcount(buffer) + getrefcount(buffer.storage)
        return buffer


class _Value:
    """A value of a snapshot, by its name in `layout.Values`: a read-only array."""

    def __init__(self, name: str, meaning: str) -> None:
        self._of, self.__doc__ = attrgetter(f"_shown.{name}"), meaning

    @overload
    def __get__(self, snapshot: None, owner: type) -> Self: ...
    @overload
    def __get__(self, snapshot: Snapshot, owner: type) -> Array: ...
    def __get__(self, snapshot: Snapshot | None, owner: type) -> Self | Array:
        return self if snapshot is None else self._of(snapshot).view()


class Snapshot:
    """The physics of one state (q, v), computed once and read by all.

    Every array is read-only and stays as it is for as long as you keep the snapshot or the array; `model.at` uses
    memory again only when nobody has it. Vectors are in the axes of the world, linear before angular; v and all that
    belongs to it (M, h, g, the columns of Jacobians) are in the order of the model.
    """

    __slots__ = ("_buffer", "_ready", "_shown", "model")

    def __init__(self, model: Model, buffer: Buffer, ready: frozenset[int]) -> None:
        self.model = model
        self._buffer = buffer
        self._shown = buffer.shown
        self._ready = ready

    @property
    def storage(self) -> Array:
        """All of it in one flat array, for kernels to carve with `layout.values(model.integers, storage)` and read."""
        return self._buffer.storage

    @property
    def handle(self) -> _kernels.Snapshot:
        """The same memory for the kernels in C."""
        return self._buffer.handle

    q = _Value("q", "The configuration: (base position, quaternion x y z w,) joints. The quaternion is of unit length.")
    v = _Value("v", "The velocity: (base linear, angular, in its own axes,) joints.")
    M = _Value("M", "The mass matrix, rotor inertia included: M v̇ + h = Sᵀτ + Jᵀf. Zero between decoupled groups.")
    h = _Value("h", "Coriolis, centrifugal and gravity effort: what holds v̇ = 0.")
    g = _Value("g", "Gravity effort: h at v = 0, of all joints.")
    gravity_compensation = _Value(
        "compensation", "Gravity effort, zero for the joints of the model's gravity compensation mask."
    )
    com_in_world = _Value("com", "The centre of mass.")
    com_velocity = _Value("com_velocity", "The velocity of the centre of mass, in world.")
    com_jacobian = _Value("com_jacobian", "J with com_velocity = J v, 3 × nv.")
    com_bias = _Value("com_bias", "J̇ v of the centre of mass: its acceleration at v̇ = 0.")
    momentum = _Value(
        "momentum", "Linear momentum, and angular momentum about the centre of mass, in world. Rotors spin unseen."
    )
    momentum_matrix = _Value("momentum_matrix", "A with momentum = A v, 6 × nv (centroidal momentum matrix).")
    momentum_bias = _Value("momentum_bias", "Ȧ v: the rate of the momentum at v̇ = 0.")

    @property
    def kinetic_energy(self) -> float:
        """½ vᵀ M v with all groups coupled."""
        return float(self._shown.energy[0])

    @property
    def potential_energy(self) -> float:
        """−m gᵀ c, zero where the centre of mass is at the origin of the world."""
        return float(self._shown.energy[1])

    placements = _Value("placement", "The transforms of all frames, frame_to_world, f × 4 × 4.")

    def placement(self, frame: int) -> Array:
        """The transform frame_to_world, 4 × 4."""
        try:
            return self._shown.placement[frame]  # type: ignore[no-any-return]
        except IndexError:
            return self._shown.placement[self._index(frame)]  # type: ignore[no-any-return]

    def rotation(self, frame: int) -> Array:
        """The rotation from the frame to the world, 3 × 3."""
        return self.placement(frame)[:3, :3]

    def position(self, frame: int) -> Array:
        """The origin of the frame in world."""
        try:
            return self._shown.position[frame]  # type: ignore[no-any-return]
        except IndexError:
            return self._shown.position[self._index(frame)]  # type: ignore[no-any-return]

    def velocity(self, frame: int) -> Array:
        """The velocity of the frame's origin, then its angular velocity, in world: J v."""
        try:
            return self._shown.velocity[frame]  # type: ignore[no-any-return]
        except IndexError:
            return self._shown.velocity[self._index(frame)]  # type: ignore[no-any-return]

    def bias(self, frame: int) -> Array:
        """J̇ v: the rate of `velocity` at v̇ = 0, so that the frame accelerates by J v̇ + J̇ v."""
        try:
            return self._shown.bias[frame]  # type: ignore[no-any-return]
        except IndexError:
            return self._shown.bias[self._index(frame)]  # type: ignore[no-any-return]

    def jacobian(self, frame: int) -> Array:
        """J with velocity = J v, 6 × nv. Frames the model watches have theirs ready; others get it when asked."""
        if frame not in self._ready:
            frame = self._index(frame)
            _kernels.model_jacobian(self.model.tree, self._buffer.handle, frame)
            self._ready |= {frame}
        jacobian: Array = self._shown.jacobian[frame]
        return jacobian

    def stacked_jacobian(self, frames: Sequence[int], into: Array | None = None) -> Array:
        """The Jacobians of several frames, one below the other, 6k × nv; in an array of yours, if you give one."""
        return np.concatenate([self.jacobian(frame) for frame in frames], out=into)

    def hessian(self, frame: int) -> Array:
        """∂J/∂q of the frame's Jacobian, 6 × nv × nv: Hᵢⱼₖ is how Jᵢⱼ changes with q moved along vₖ; H v = J̇.

        A new array each time. q moves as `model.integrate` moves it, so a floating base moves along its own axes.
        """
        nv, bases, shown = self.model.nv, 6 if self.model.floating else 0, self._shown
        chain, columns = self._chain(self._index(frame))
        R, screws = shown.rotation[0].reshape(3, 3), shown.screw[chain]
        w = np.concatenate([np.vstack([np.zeros((3, 3)), R.T])[:bases], screws[:, 3:]])  # of a unit of each column
        v = np.concatenate([np.vstack([R.T, np.zeros((3, 3))])[:bases], screws[:, :3]])
        v += np.cross(w, shown.lever[frame])
        # With a unit of the column above, what is below turns along: ∂(v, w) = (w_above × v, w_above × w). The other
        # way round the axis above stays, and the point moves by v: ∂v_above = w_above × v, the same vector.
        turned = np.concatenate([np.cross(w[:, None], v), np.cross(w[:, None], w)], axis=2)
        above, strictly = np.triu(np.ones((len(w), len(w)))), np.triu(np.ones((len(w), len(w))), 1)
        above[:bases, :bases], strictly[:bases, :bases] = 1.0, 0.0  # the axes of the base turn with it
        hessian = np.zeros((nv, nv, 6))
        np.add.at(hessian, (columns, columns[:, None]), turned * above[:, :, None])
        np.add.at(hessian[:, :, :3], (columns[:, None], columns), turned[:, :, :3] * strictly[:, :, None])
        return np.moveaxis(hessian, 2, 0)

    def _chain(self, frame: int) -> tuple[list[int], Integers]:
        """The bodies that carry a frame, from the root on, and the columns of v of the base and of these."""
        bodies = len(self._shown.screw)
        parent, *_, column, rest = np.split(self.model.integers[HEADER:], np.arange(1, 6) * bodies)
        chain: list[int] = []
        body = int(rest[frame])
        while body > 0:
            chain.insert(0, body)
            body = int(parent[body])
        return chain, np.concatenate([np.arange(6 if self.model.floating else 0), column[chain]])

    def relative(self, frame: int, root: int) -> Relative:
        """A frame as seen from another, in whose axes everything is: any chain from any end.

        `relative(foot, base)` is a leg as it hangs, `relative(base, foot)` the same leg reversed, as it stands.
        """
        return relative_motion(self, self._index(frame), self._index(root))

    def _index(self, frame: int | str) -> int:
        """A frame that was given by name after all, or is none at all."""
        if isinstance(frame, str):
            return self.model.frame(frame)
        count = len(self.model.frames)
        if not 0 <= frame < count:
            raise UnknownFrame(
                f"no frame {frame}; {self.model.robot.name} has {count}, and model.frame(name) finds them"
            )
        return int(frame)
