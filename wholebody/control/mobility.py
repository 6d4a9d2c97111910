"""The kernels of mobility: how easily rows are moved by what constraints and motors leave, to measure others with.

Rows of one task and one unit are measured together, by the longest of them: the hand's in its best direction, say. A
joint is measured by itself. Of all rows of a level, the least mobile counts. What constraints hold altogether does not.
"""

from __future__ import annotations

import math

from wholebody.control.chain import Chain
from wholebody.control.memory import Memory
from wholebody.control.table import Sizes, task_line
from wholebody.model.compiled import inlined
from wholebody.model.layout import Integers
from wholebody.tasks import kinds

TURNING = 3
"""Rows of a task from here on are of another unit: they turn, those before them move."""


@inlined
def measure_mobility(table: Integers, sizes: Sizes, memory: Memory, chain: Chain, held: float) -> None:
    """Which rows are measured together, and their mobility: what is left of the longest, if more than a share of it."""
    end = memory.first_of_level[sizes.levels]
    for index in range(sizes.tasks - 1, -1, -1):
        line = task_line(table, index)
        first = memory.first_of_task[index]
        if first < 0:
            continue
        alone = line.kind == kinds.JOINT_POSITION or line.kind == kinds.JOINT_LIMITS
        begun = first
        for c in range(first, end):
            turns = line.kind != kinds.CUSTOM and memory.source[c] >= TURNING
            if alone or (turns and memory.source[begun] < TURNING):
                begun = c
            memory.block[c], memory.mobile[c] = begun, 0.0
            if chain.left[c] > held * chain.size[c]:
                memory.mobile[begun] = max(memory.mobile[begun], chain.left[c])
        end = first
    for c in range(end, memory.first_of_level[sizes.levels]):
        memory.mobile[c] = memory.mobile[memory.block[c]]


@inlined
def level_mobility(memory: Memory, first: int, end: int) -> float:
    """The smallest mobility of the rows of a level; 0 if there are none."""
    smallest = math.inf
    for c in range(first, end):
        if memory.mobile[c] > 0.0:
            smallest = min(smallest, memory.mobile[c])
    return smallest if smallest < math.inf else 0.0
