"""warmup: compile every kernel of walking before it is needed, so that nothing compiles in a loop."""

from __future__ import annotations

import numpy as np

from wholebody import robots
from wholebody.locomotion.balance.stabilizers import NAMES
from wholebody.locomotion.footsteps import in_place
from wholebody.locomotion.walker import Walker
from wholebody.model.compiled import kernels_of
from wholebody.model.warmup import Progress, telling


def warmup(progress: Progress | None = None) -> None:
    """Walk some cycles with every stabilizer, blindly, from a state of nothing but a standing robot."""
    say = progress or (lambda _what, _done: None)
    robot = robots.load("hoap3")
    with telling(say, kernels_of("wholebody.locomotion")):
        for name in NAMES:
            walker = Walker(robot, stabilizer=name)
            state, reference = np.zeros(1, robot.state_dtype())[0], np.zeros(1, robot.reference_dtype())[0]
            state["position"], state["imu"]["linear_acceleration"][0] = walker.stance(), (0.0, 0.0, 9.81)
            state["imu"]["measured"] = 0xFF
            state["force_torque"]["force"][:] = (0.0, 0.0, robot.mass * 9.81 / 2)
            walker.pattern.follow(in_place(walker.pattern.feet, 2, walker.gait.limits), 0.0)
            for number in range(4):
                state["time"] = number * walker.gait.begin / 2
                walker.cycle(state, reference)
