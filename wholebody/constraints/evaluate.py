"""The kernel that fills the rows of all constraints that are enabled."""

from __future__ import annotations

from wholebody.constraints import constraint as kinds
from wholebody.constraints.coactuation import fill_coactuation
from wholebody.constraints.constraint import ConstraintColumns
from wholebody.constraints.contacts import fill_contact
from wholebody.constraints.omni_wheel import fill_omni_wheel
from wholebody.model.compiled import inlined
from wholebody.model.layout import Array, Integers, Tree, Values


@inlined
def fill_constraint(
    fixed: Tree,
    now: Values,
    floating: bool,
    kind: int,
    frame: int,
    joints: Integers,
    numbers: Array,
    out: ConstraintColumns,
    first: int,
) -> int:
    """Fill the rows of one constraint from column `first` on; how many there were. Those of users fill their own."""
    if kind == kinds.COACTUATION:
        return fill_coactuation(joints, numbers, out, first)
    if kind == kinds.OMNI_WHEEL:
        return fill_omni_wheel(fixed, now, floating, frame, numbers, out, first)
    if kind == kinds.FIXED_BASE:
        for k in range(6):
            out.J[k, first + k] = 1.0
            out.bias[first + k] = 0.0
        return 6
    return fill_contact(fixed, now, floating, kind, frame, numbers, out, first)
