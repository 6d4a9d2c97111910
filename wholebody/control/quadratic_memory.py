"""The memory of the controller with inequalities: what its kernels write, carved from flat arrays."""

from __future__ import annotations

from typing import NamedTuple

from wholebody.control import quadratic_chain
from wholebody.control.memory import Memory, after_memory, memory_of
from wholebody.control.quadratic_chain import Chain, chain_at
from wholebody.control.table import Sizes, sizes_of
from wholebody.model.compiled import compiled
from wholebody.model.cut import cut
from wholebody.model.layout import Array, Integers

PERIOD, TASK_TOLERANCE, HARD_TOLERANCE, BRAKING, CLEARANCE, CLOSING, STRICT, SETTINGS = range(8)
"""Where the settings stand; after them, of each joint: lower, upper, velocity and effort limits."""

HELD, FREE, PUSHED, LEVELS, WIDTH, PRESSED, ROWS, ROTATED, TURNED, PAIRS, FIRST, STATE = range(12)
"""Where the sizes of a cycle stand.

Rows of constraints; directions that nothing pushes; rank of what contacts push; levels; columns of the chain of u; rows
of tasks on forces; rows of limits; reflections of either chain; pairs of links; the first column of tasks.
"""

MOTION, REST, FORCE = 0, 1, 2
"""Kinds of levels: of tasks on motion, of the rest of u, and of forces."""

LEVEL = 5
"""Integers of each level: kind, first column, columns, first coordinate, rank."""


class Work(NamedTuple):
    """Everything a solve writes."""

    K: Array  # nv × held: Jcᵀ
    contact: Array  # contact rows × held: what contacts can bear, on λ
    f: Array  # nv: M v̇ + h
    base: Array  # rotated coordinates that steps begin from
    value: Array  # of each row of limits
    begun: Array  # the same where steps begin
    lower: Array
    upper: Array
    scale: Array
    pairs: Array  # collision rows × nv
    gaps: Array  # collision rows: distance, then rate, then J̇ v
    gradient: Array  # nv + held
    gradients: Array  # limits × (nv + held), of the rows that are known
    spare: Array  # nv + held
    zeta: Array  # held
    loss: Array  # of each level
    state: Integers
    levels: Integers
    kept: Integers  # rows that the next program shall have
    listed: Integers  # of each row, 1 if it is among these
    known: Integers  # of each row, 1 if its gradient is known


class Extent(NamedTuple):
    """Sizes that a problem fixes beyond those of its table."""

    contact_rows: int
    pairs: int


def carve_work(n: int, joints: int, sizes: Sizes, extent: Extent, numbers: Array, integers: Integers) -> Work:
    """Carve the memory, after that of the rows."""
    held, rows = sizes.held, joints + sizes.driven + extent.contact_rows + extent.pairs
    at = after_memory(n, sizes)
    both = n + held
    contact = at + n * held
    f = contact + extent.contact_rows * held
    value = f + n + both
    pairs = value + 5 * rows
    gradient = pairs + extent.pairs * (n + 3)
    gradients = gradient + 2 * both
    zeta = gradients + rows * both
    most = 2 * sizes.levels + 2
    i = sizes.held + sizes.passive + sizes.asked + sizes.levels + 1 + sizes.constraints + sizes.tasks
    return Work(
        K=cut(numbers, at, (n, held)),
        contact=cut(numbers, contact, (extent.contact_rows, held)),
        f=cut(numbers, f, (n,)),
        base=cut(numbers, f + n, (both,)),
        value=cut(numbers, value, (rows,)),
        begun=cut(numbers, value + rows, (rows,)),
        lower=cut(numbers, value + 2 * rows, (rows,)),
        upper=cut(numbers, value + 3 * rows, (rows,)),
        scale=cut(numbers, value + 4 * rows, (rows,)),
        pairs=cut(numbers, pairs, (extent.pairs, n)),
        gaps=cut(numbers, pairs + extent.pairs * n, (3, extent.pairs)),
        gradient=cut(numbers, gradient, (both,)),
        spare=cut(numbers, gradient + both, (both,)),
        gradients=cut(numbers, gradients, (rows, both)),
        zeta=cut(numbers, zeta, (held,)),
        loss=cut(numbers, zeta + held, (most,)),
        state=cut(integers, i, (STATE,)),
        levels=cut(integers, i + STATE, (most * LEVEL,)),
        kept=cut(integers, i + STATE + most * LEVEL, (rows,)),
        listed=cut(integers, i + STATE + most * LEVEL + rows, (rows,)),
        known=cut(integers, i + STATE + most * LEVEL + 2 * rows, (rows,)),
    )


work_of = compiled(carve_work)


def chains_begin(n: int, joints: int, sizes: Sizes, extent: Extent) -> int:
    """Where the two chains stand in the memory."""
    rows, both = joints + sizes.driven + extent.contact_rows + extent.pairs, n + sizes.held
    ours = n * sizes.held + extent.contact_rows * sizes.held + n + 5 * rows + extent.pairs * (n + 3) + (3 + rows) * both
    return int(after_memory(n, sizes)) + ours + sizes.held + 2 * sizes.levels + 2


chains_at = compiled(chains_begin)


def size_of_work(n: int, joints: int, sizes: Sizes, extent: Extent) -> tuple[int, int]:
    """How many numbers and integers a solve needs."""
    width = sizes.held + sizes.passive + sizes.asked
    columns = sizes.passive + sizes.pressed + sizes.driven
    chains = quadratic_chain.chain_size(n, width) + quadratic_chain.chain_size(sizes.held, columns)
    rows = joints + sizes.driven + extent.contact_rows + extent.pairs
    integers = width + sizes.levels + 1 + sizes.constraints + sizes.tasks
    integers += STATE + (2 * sizes.levels + 2) * LEVEL + 3 * rows
    numbers = chains_begin(n, joints, sizes, extent) + chains + n * width
    return numbers, integers + width + columns


@compiled
def motion_chain(n: int, joints: int, sizes: Sizes, extent: Extent, numbers: Array, integers: Integers) -> Chain:
    """The chain of u."""
    width, columns = sizes.held + sizes.passive + sizes.asked, sizes.passive + sizes.pressed + sizes.driven
    at = chains_at(n, joints, sizes, extent)
    return chain_at(numbers, at, integers, len(integers) - width - columns, n, width)


@compiled
def force_chain(n: int, joints: int, sizes: Sizes, extent: Extent, numbers: Array, integers: Integers) -> Chain:
    """The chain of λ."""
    width, columns = sizes.held + sizes.passive + sizes.asked, sizes.passive + sizes.pressed + sizes.driven
    at = chains_at(n, joints, sizes, extent) + n * width + 2 * width + 2 * n + 2 * n * n
    return chain_at(numbers, at, integers, len(integers) - columns, sizes.held, columns)


def carve_coordinates(n: int, joints: int, sizes: Sizes, extent: Extent, numbers: Array) -> tuple[Array, Array]:
    """The rotated coordinates of u and of λ, as the two chains have them."""
    width, columns = sizes.held + sizes.passive + sizes.asked, sizes.passive + sizes.pressed + sizes.driven
    u = chains_begin(n, joints, sizes, extent)
    force = u + quadratic_chain.chain_size(n, width)
    u, force = u + (n + 2) * width, force + (sizes.held + 2) * columns
    return cut(numbers, u, (n,)), cut(numbers, force, (sizes.held,))


class All(NamedTuple):
    """All memory of a solve."""

    n: int
    joints: int
    sizes: Sizes
    memory: Memory
    work: Work
    motion: Chain
    force: Chain
    passive: Integers
    driven: Integers


@compiled
def open_all(integers: Integers, table: Integers, sizes_beyond: Integers, numbers: Array, counts: Integers) -> All:
    """Carve everything."""
    sizes = sizes_of(table)
    n = integers[2]
    joints = n - 6 if integers[5] == 1 else n
    extent = Extent(sizes_beyond[0], sizes_beyond[1])
    return All(
        n=n,
        joints=joints,
        sizes=sizes,
        memory=memory_of(n, sizes, numbers, counts),
        work=work_of(n, joints, sizes, extent, numbers, counts),
        motion=motion_chain(n, joints, sizes, extent, numbers, counts),
        force=force_chain(n, joints, sizes, extent, numbers, counts),
        passive=cut(table, sizes.passive_at, (sizes.passive,)),
        driven=cut(table, sizes.driven_at, (sizes.driven,)),
    )
