"""The kernel of tasks on a quantity of the whole body, of which some components count: centre of mass, momentum."""

from __future__ import annotations

from wholebody.model.compiled import inlined
from wholebody.model.layout import Array
from wholebody.tasks.kinds import Columns


@inlined
def fill_selected(
    jacobian: Array, value: Array, velocity: Array, bias: Array, mask: int, goal: Array, out: Columns, first: int
) -> int:
    """A row for each component whose bit is set; how many there were."""
    at = first
    for k in range(len(goal)):
        if mask & (1 << k):
            for j in range(jacobian.shape[1]):
                out.J[j, at] = jacobian[k, j]
            out.error[at], out.velocity[at] = goal[k] - value[k], velocity[k]
            out.bias[at], out.source[at] = bias[k], k
            at += 1
    return at - first
