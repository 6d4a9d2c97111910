"""SlidingMode: another law than PID, for any task; your own law is a class like it."""

from __future__ import annotations

import numpy as np

from wholebody.errors import BadTask
from wholebody.model.layout import Array
from wholebody.model.snapshot import Snapshot
from wholebody.tasks.task import Task


class SlidingMode:
    """ẍ* = ẍff + slope (ẋ* − ẋ) + reach · sat(s / width), with s = (ẋ* − ẋ) + slope e.

        law = SlidingMode(hand, slope=10.0, reach=20.0, width=0.05)
        law.update(snapshot)                        # in the behavior, in every cycle

    Against any disturbance below `reach`, s comes within `width`, and then e within width / slope; a PD law gives way
    in proportion. The task's own gains are set to zero, and the law is written where it has its feed-forward: so it
    works with all controllers, and anything else that makes an acceleration of an error can be a law in the same way.
    `Transitions` would take a law that moves fast for goals that jump: use it without.

    slope         1/s: how fast the error vanishes once s is zero
    reach         acceleration of the task, in its unit, with which s is brought to zero
    width         of the layer about s = 0 in which the law is linear, in the task's unit a second
    acceleration  ẍff, one number for each row
    """

    def __init__(self, task: Task, *, slope: float, reach: float, width: float) -> None:
        for name, value in {"slope": slope, "reach": reach, "width": width}.items():
            if not 0 < value < np.inf:
                raise BadTask(f"task '{task.name}': a sliding mode needs a {name} above 0, not {value}")
        self.task, self.slope, self.reach, self.width = task, slope, reach, width
        self.acceleration: Array = task.goal_acceleration.copy()
        task.stiffness, task.damping, task.integral_gain = 0.0, 0.0, 0.0

    def update(self, snapshot: Snapshot) -> None:
        """Say what is asked for at this instant."""
        task, at = self.task, self.task.selected(snapshot)
        rate = task.goal_velocity[at] - task.velocity(snapshot)
        s = rate + self.slope * task.error(snapshot)
        pushed = self.reach * np.clip(s / self.width, -1.0, 1.0)
        task.goal_acceleration[at] = self.acceleration[at] + self.slope * rate + pushed
