"""Wave with the right arm for some seconds and take it down again, from wherever it is.

    wholebody start        (or: wholebody start --driver mini, or --driver full)
    python examples/wave.py 6

The same file moves every robot: a joint that it lacks is left out, with one warning (Mini-Hubo has no RWY).
"""

import math
import sys

from wholebody.drivers import connect

RAISED = {"RSP": -0.8, "RSR": -0.6, "REB": -1.4, "RWY": 0.4}
seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 6.0
with connect("wave") as robot:
    start = {joint: robot.position(joint) if joint in robot.index else 0.0 for joint in RAISED}
    begin = robot.now
    while robot.wait() and (t := robot.now - begin) < seconds:
        up = 0.5 - 0.5 * math.cos(math.pi * min(1.0, 2 * t / seconds, 4 * (1 - t / seconds)))
        there = {joint: start[joint] + up * (goal - start[joint]) for joint, goal in RAISED.items()}
        there["RSR"] += 0.25 * up * math.sin(2 * math.pi * t)
        robot.move(there)
    robot.move(start)
