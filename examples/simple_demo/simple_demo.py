"""Read the left elbow and the left foot, and move two joints: Hubo-Ach's simple demo.

wholebody start --filter "smooth 20"
python examples/simple_demo/simple_demo.py
"""

from wholebody.drivers import connect
from wholebody.messages import labels

with connect("simple") as robot:
    left_foot = labels(robot.state.dtype, "force_torques").index("left_foot")
    print("Joint =", robot.position("LEB"))
    print("Mx =", robot.state.force_torque[left_foot].torque[0])
    robot.move({"LEB": -0.2, "RSP": 0.1})
