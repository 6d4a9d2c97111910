"""The memory of the controller with inequalities: what its kernels write, carved from flat arrays."""

from __future__ import annotations

from typing import NamedTuple

from wholebody.control import memory as rows_memory
from wholebody.control.memory import after_memory, integers_of_memory, memory_of
from wholebody.control.quadratic_chain import Chain, chain_at, chain_size
from wholebody.control.quadratic_fading import Fading, fading_of, fading_size
from wholebody.control.table import Sizes, sizes_of
from wholebody.model.compiled import compiled
from wholebody.model.cut import cut
from wholebody.model.layout import Array, Integers

PERIOD, TASK_TOLERANCE, HARD_TOLERANCE, BRAKING, CLEARANCE, CLOSING, STRICT, SETTINGS = range(8)
"""Where the settings stand; after them, of each joint: lower, upper, velocity and effort limits."""

HELD, FREE, PUSHED, LEVELS, WIDTH, PRESSED, ROWS, ROTATED, TURNED, PAIRS, FIRST = range(11)
ACTIVE, LISTED, SOLVED, LAST, STRICTLY, STATE = range(11, 17)
"""Where the sizes of a cycle stand.

Rows of constraints; directions that nothing pushes; rank of what contacts push; levels; columns of the chain of u; rows
of tasks on forces; rows of limits; reflections of either chain; pairs of links; the first column of tasks; limits that
hold as equations; limits whose gradient is known; how often the least losses were sought; the
end of all losses; levels that come strictly one after the other, the last of them with all that follow.
"""

MOTION, REST, FORCE, LOOSE = 0, 1, 2, 3
"""Kinds of levels: of tasks on motion, of the rest of u, of forces, and of forces that no motor feels."""

LEVEL = 6
"""Integers of each level: kind, first column, columns, first coordinate, rank, first of its losses."""


Memory = tuple[Integers, Integers, Integers, Array, Integers]
"""What kernels open: integers of the model, the table, sizes beyond it, numbers, and integers."""


class Work(NamedTuple):
    """Everything a solve writes."""

    K: Array  # nv × held: Jcᵀ
    contact: Array  # contact rows × held: what contacts can bear, on λ
    f: Array  # nv: M v̇ + h
    losses: Array  # nv + held: what each level loses by the limits, in coordinates of its own
    value: Array  # of each row of limits
    begun: Array  # the same without any losses
    lower: Array
    upper: Array
    scale: Array
    pairs: Array  # collision rows × nv
    gaps: Array  # collision rows: distance, then rate, then J̇ v
    gradient: Array  # nv + held
    gradients: Array  # limits × (nv + held), on the losses, of the rows that are known
    spare: Array  # nv + held
    zeta: Array  # held
    state: Integers
    levels: Integers
    listed: Integers  # the rows that are known
    known: Integers  # of each row, 1 if its gradient is


class Active(NamedTuple):
    """The limits that hold as equations, and what each of them costs each level."""

    M: Array  # rows × (nv + held): their gradients, rotated so that each row speaks to one level and those above
    Q: Array  # rows × rows: that rotation
    excess: Array  # of each rotated row: what the losses must make up for
    weight: Array  # of each row, what makes its gradient one of length 1
    price: Array  # rows × orders: how hard each row presses on slack, then on each level
    before: Array  # the same where a step begins
    slack: Array  # what is left of each row that cannot be met
    measure: Array  # nv + held: how great a loss counts as one, which matters between levels that lose together
    gram: Array  # memory: rows × rows
    share: Array  # memory: rows
    row: Integers  # which limits these are
    side: Integers  # 1 at a lower bound, −1 at an upper one
    begin: Integers  # of each level, the first rotated row that speaks to it
    losses: Array  # from here on as in Work
    value: Array
    begun: Array
    lower: Array
    upper: Array
    gradients: Array
    spare: Array
    state: Integers
    levels: Integers
    listed: Integers
    known: Integers


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
    most = 2 * sizes.levels + 3
    i = integers_of_memory(sizes)
    return Work(
        K=cut(numbers, at, (n, held)),
        contact=cut(numbers, contact, (extent.contact_rows, held)),
        f=cut(numbers, f, (n,)),
        losses=cut(numbers, f + n, (both,)),
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
        zeta=cut(numbers, gradients + rows * both, (held,)),
        state=cut(integers, i, (STATE,)),
        levels=cut(integers, i + STATE, (most * LEVEL,)),
        listed=cut(integers, i + STATE + most * LEVEL, (rows,)),
        known=cut(integers, i + STATE + most * LEVEL + rows, (rows,)),
    )


work_of = compiled(carve_work)


@compiled
def active_begins(n: int, joints: int, sizes: Sizes, extent: Extent) -> tuple[int, int]:
    """Where the memory of the active limits stands, of numbers and of integers."""
    rows, both = joints + sizes.driven + extent.contact_rows + extent.pairs, n + sizes.held
    ours = n * sizes.held + extent.contact_rows * sizes.held + n + 5 * rows + extent.pairs * (n + 3) + (3 + rows) * both
    integers = integers_of_memory(sizes) + STATE + (2 * sizes.levels + 3) * LEVEL + 2 * rows
    return after_memory(n, sizes) + ours + sizes.held, integers


@compiled
def active_size(n: int, sizes: Sizes) -> tuple[int, int]:
    """How many numbers and integers the active limits take; of them there is at most one more than coordinates."""
    both, orders = n + sizes.held, 2 * sizes.levels + 4
    most = both + 1
    return most * (both + 2 * most + 2 * orders + 4) + both, 2 * most + orders


def carve_active(
    n: int, joints: int, sizes: Sizes, extent: Extent, numbers: Array, integers: Integers, work: Work
) -> Active:
    """Carve the memory of the active limits."""
    both, orders = n + sizes.held, 2 * sizes.levels + 4
    most = both + 1
    at, i = active_begins(n, joints, sizes, extent)
    Q = at + most * both
    price = Q + 2 * most * most
    excess = price + 2 * most * orders
    return Active(
        M=cut(numbers, at, (most, both)),
        Q=cut(numbers, Q, (most, most)),
        gram=cut(numbers, Q + most * most, (most, most)),
        price=cut(numbers, price, (most, orders)),
        before=cut(numbers, price + most * orders, (most, orders)),
        excess=cut(numbers, excess, (most,)),
        weight=cut(numbers, excess + most, (most,)),
        slack=cut(numbers, excess + 2 * most, (most,)),
        share=cut(numbers, excess + 3 * most, (most,)),
        measure=cut(numbers, excess + 4 * most, (both,)),
        row=cut(integers, i, (most,)),
        side=cut(integers, i + most, (most,)),
        begin=cut(integers, i + 2 * most, (orders,)),
        losses=work.losses,
        value=work.value,
        begun=work.begun,
        lower=work.lower,
        upper=work.upper,
        gradients=work.gradients,
        spare=work.spare,
        state=work.state,
        levels=work.levels,
        listed=work.listed,
        known=work.known,
    )


active_of = compiled(carve_active)


@compiled
def chains_begin(n: int, joints: int, sizes: Sizes, extent: Extent) -> int:
    """Where the two chains stand in the memory."""
    return active_begins(n, joints, sizes, extent)[0] + active_size(n, sizes)[0]


def size_of_work(n: int, joints: int, sizes: Sizes, extent: Extent) -> tuple[int, int]:
    """How many numbers and integers a solve needs."""
    width = sizes.held + sizes.passive + sizes.asked
    columns = sizes.passive + sizes.pressed + sizes.driven
    chains = chain_size(n, width) + chain_size(sizes.held, columns)
    numbers = chains_begin(n, joints, sizes, extent) + chains + fading_size(n, sizes) + n * width
    integers = active_begins(n, joints, sizes, extent)[1] + active_size(n, sizes)[1]
    return numbers, integers + width + columns


@compiled
def motion_chain(n: int, joints: int, sizes: Sizes, extent: Extent, numbers: Array, integers: Integers) -> Chain:
    """The chain of u."""
    width, columns = sizes.held + sizes.passive + sizes.asked, sizes.passive + sizes.pressed + sizes.driven
    at = chains_begin(n, joints, sizes, extent)
    return chain_at(numbers, at, integers, len(integers) - width - columns, n, width)


@compiled
def force_chain(n: int, joints: int, sizes: Sizes, extent: Extent, numbers: Array, integers: Integers) -> Chain:
    """The chain of λ."""
    width, columns = sizes.held + sizes.passive + sizes.asked, sizes.passive + sizes.pressed + sizes.driven
    at = chains_begin(n, joints, sizes, extent) + chain_size(n, width)
    return chain_at(numbers, at, integers, len(integers) - columns, sizes.held, columns)


def constraint_rows(sizes: Sizes, integers: Integers) -> Integers:
    """Of each constraint, its first row in the newest cycle, −1 if it was off: `first_of_constraint` of the memory."""
    return cut(integers, integers_of_memory(sizes) - sizes.tasks - sizes.constraints, (sizes.constraints,))


@compiled
def fading_begins(n: int, joints: int, sizes: Sizes, extent: Extent) -> int:
    """Where the memory of a way from one law to another stands."""
    width, columns = sizes.held + sizes.passive + sizes.asked, sizes.passive + sizes.pressed + sizes.driven
    return chains_begin(n, joints, sizes, extent) + chain_size(n, width) + chain_size(sizes.held, columns)


class All(NamedTuple):
    """All memory of a solve."""

    n: int
    joints: int
    sizes: Sizes
    memory: rows_memory.Memory
    work: Work
    active: Active
    motion: Chain
    force: Chain
    fading: Fading
    passive: Integers
    driven: Integers


@compiled
def open_all(integers: Integers, table: Integers, sizes_beyond: Integers, numbers: Array, counts: Integers) -> All:
    """Carve everything."""
    sizes = sizes_of(table)
    n = integers[2]
    joints = n - 6 if integers[5] == 1 else n
    extent = Extent(sizes_beyond[0], sizes_beyond[1])
    work = work_of(n, joints, sizes, extent, numbers, counts)
    return All(
        n=n,
        joints=joints,
        sizes=sizes,
        memory=memory_of(n, sizes, numbers, counts),
        work=work,
        active=active_of(n, joints, sizes, extent, numbers, counts, work),
        motion=motion_chain(n, joints, sizes, extent, numbers, counts),
        force=force_chain(n, joints, sizes, extent, numbers, counts),
        fading=fading_of(n, sizes, numbers, fading_begins(n, joints, sizes, extent)),
        passive=cut(table, sizes.passive_at, (sizes.passive,)),
        driven=cut(table, sizes.driven_at, (sizes.driven,)),
    )
