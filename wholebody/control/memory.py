"""The memory of a solve: what its kernels write, carved from one flat array."""

from __future__ import annotations

from typing import NamedTuple

from wholebody.control.chain import BLOCK, Chain
from wholebody.control.table import Sizes
from wholebody.model.compiled import inlined
from wholebody.model.cut import cut
from wholebody.model.layout import Array, Integers


class Memory(NamedTuple):
    """What stands apart from the three chains."""

    L: Array  # nv × nv, M = Lᵀ L
    h: Array  # nv, then whitened
    efforts: Array  # nv: f = M v̇ + h
    error: Array  # of each row of the wide matrix
    velocity: Array
    bias: Array
    force: Array  # of each row that exerts one
    spring: Array  # kp e + ki ∫e dt of each row
    asked: Array  # that, and what the goal's velocity and acceleration ask for
    pull: Array  # kp times the limit of the error
    activation: Array  # how much a row counts
    mobile: Array  # the mobility of the rows that a row is measured with; 0 if constraints hold them altogether
    source: Integers
    block: Integers  # the first of the rows that a row is measured with
    B: Array  # 6 × 6
    held_bias: Array  # of each row of constraints
    target: Array  # of each row on forces
    free: Array  # passive × passive: what contacts cannot push
    first_of_level: Integers
    first_of_constraint: Integers  # −1 for one that is off
    first_of_task: Integers  # −1 for one without rows on motion


class Output(NamedTuple):
    """What a solve hands back."""

    effort: Array  # of each joint
    position: Array
    velocity: Array
    unlimited_effort: Array
    unlimited_position: Array
    unlimited_velocity: Array
    acceleration: Array  # nv
    contact: Array  # λ: of each row of constraints that are enabled
    error: Array


def carve_output(joints: int, nv: int, held: int, shown: int, output: Array) -> Output:
    """Carve the output from a flat array."""
    a = 6 * joints
    return Output(
        effort=cut(output, 0, (joints,)),
        position=cut(output, joints, (joints,)),
        velocity=cut(output, 2 * joints, (joints,)),
        unlimited_effort=cut(output, 3 * joints, (joints,)),
        unlimited_position=cut(output, 4 * joints, (joints,)),
        unlimited_velocity=cut(output, 5 * joints, (joints,)),
        acceleration=cut(output, a, (nv,)),
        contact=cut(output, a + nv, (held,)),
        error=cut(output, a + nv + held, (shown,)),
    )


def output_size(joints: int, nv: int, sizes: Sizes) -> int:
    """How many numbers the output takes."""
    return 6 * joints + nv + sizes.held + sizes.shown


carve = inlined(carve_output)


@inlined
def memory_of(n: int, sizes: Sizes, numbers: Array, integers: Integers) -> Memory:
    """Carve what stands apart from the chains."""
    width = sizes.held + sizes.passive + sizes.asked
    a = n * n
    b = a + 2 * n + 9 * width
    c = b + 36 + sizes.held + sizes.pressed
    return Memory(
        L=cut(numbers, 0, (n, n)),
        h=cut(numbers, a, (n,)),
        efforts=cut(numbers, a + n, (n,)),
        error=cut(numbers, a + 2 * n, (width,)),
        velocity=cut(numbers, a + 2 * n + width, (width,)),
        bias=cut(numbers, a + 2 * n + 2 * width, (width,)),
        force=cut(numbers, a + 2 * n + 3 * width, (width,)),
        spring=cut(numbers, a + 2 * n + 4 * width, (width,)),
        asked=cut(numbers, a + 2 * n + 5 * width, (width,)),
        pull=cut(numbers, a + 2 * n + 6 * width, (width,)),
        activation=cut(numbers, a + 2 * n + 7 * width, (width,)),
        mobile=cut(numbers, a + 2 * n + 8 * width, (width,)),
        source=cut(integers, 0, (width,)),
        block=cut(integers, width, (width,)),
        B=cut(numbers, b, (6, 6)),
        held_bias=cut(numbers, b + 36, (sizes.held,)),
        target=cut(numbers, b + 36 + sizes.held, (sizes.pressed,)),
        free=cut(numbers, c, (sizes.passive, sizes.passive)),
        first_of_level=cut(integers, 2 * width, (sizes.levels + 1,)),
        first_of_constraint=cut(integers, 2 * width + sizes.levels + 1, (sizes.constraints,)),
        first_of_task=cut(integers, 2 * width + sizes.levels + 1 + sizes.constraints, (sizes.tasks,)),
    )


@inlined
def after_memory(n: int, sizes: Sizes) -> int:
    """Where the chains begin."""
    width = sizes.held + sizes.passive + sizes.asked
    return n * n + 2 * n + 9 * width + 36 + sizes.held + sizes.pressed + sizes.passive * sizes.passive


@inlined
def integers_of_memory(sizes: Sizes) -> int:
    """How many integers stand apart from the chains."""
    width = sizes.held + sizes.passive + sizes.asked
    return 2 * width + sizes.levels + 1 + sizes.constraints + sizes.tasks


@inlined
def chain_size(n: int, width: int) -> int:
    """How many numbers a chain takes; each column reflects at most twice."""
    width = (width + BLOCK - 1) // BLOCK * BLOCK
    most = 2 * width + 1
    return n * width + 4 * width + n + most * n + 2 * most + n * n + 1


@inlined
def chain_at(numbers: Array, at: int, n: int, width: int) -> Chain:
    """Carve a chain, its columns padded to a multiple of BLOCK; whoever fills them fills the padding with zeros."""
    width = (width + BLOCK - 1) // BLOCK * BLOCK
    most = 2 * width + 1
    b = at + n * width
    c = b + 4 * width + n
    d = c + most * n
    return Chain(
        A=cut(numbers, at, (n, width)),
        wanted=cut(numbers, b, (width,)),
        size=cut(numbers, b + width, (width,)),
        left=cut(numbers, b + 3 * width, (width,)),
        y=cut(numbers, b + 4 * width, (n,)),
        reflections=cut(numbers, c, (most, n)),
        strength=cut(numbers, d, (most,)),
        w=cut(numbers, b + 2 * width, (width,)),
        R=cut(numbers, d + 2 * most, (n, n)),
        begun=cut(numbers, d + most, (most,)),
        lost=cut(numbers, d + 2 * most + n * n, (1,)),
    )


class Saved(NamedTuple):
    """What a chain has of its tasks before any of them is solved, to begin from again; and the mean of what came."""

    A: Array  # n × columns of tasks
    wanted: Array
    y: Array  # n
    mean: Array  # n


@inlined
def saved_size(n: int, width: int) -> int:
    """How many numbers that takes, if all columns are of tasks."""
    return n * width + width + 2 * n


@inlined
def saved_at(numbers: Array, at: int, n: int, width: int, first: int) -> Saved:
    """Carve that, for the columns from `first` on."""
    tasks = width - first
    a = at + n * tasks
    return Saved(
        A=cut(numbers, at, (n, tasks)),
        wanted=cut(numbers, a, (tasks,)),
        y=cut(numbers, a + tasks, (n,)),
        mean=cut(numbers, a + tasks + n, (n,)),
    )


def size_of_memory(n: int, sizes: Sizes) -> tuple[int, int]:
    """How many numbers and integers a solve needs: chains, the rows of constraints by themselves, and of who senses."""
    width = sizes.held + sizes.passive + sizes.asked
    chains = (
        chain_size(n, width),
        chain_size(sizes.passive, sizes.held),
        chain_size(sizes.held, sizes.passive + sizes.pressed + sizes.driven),
    )
    numbers = after_memory(n, sizes) + n * sizes.held + n * width + saved_size(n, width) + sum(chains)
    return numbers, integers_of_memory(sizes)
