"""Move Dreamer's right hand along a cubic spline at 100 Hz, then close its fingers (ControlIt!, Fig. F.1).

wholebody run dreamer_grasp            in another terminal; then: python -m examples.goal_stream
"""

import time

import numpy as np

from wholebody.motion import cubic
from wholebody.parameters.bindings import Sending
from wholebody.parameters.remote import Remote

waypoints = Remote().get("tasks.right_hand.goal") + np.array([[0, 0, 0], [0.03, 0.02, 0.05], [0.05, 0, 0.08]])
path = cubic(waypoints, [0.0, 2.5, 5.0])

with Sending("dreamer.right_hand.goal", 3) as goal, Sending("dreamer.right_gripper", 1) as gripper:
    begun = time.monotonic()
    while (elapsed := time.monotonic() - begun) < 5.0:
        goal.put(path.at(elapsed).position)
        time.sleep(0.01)
    goal.put(path.at(5.0).position)
    gripper.put([1.0])
