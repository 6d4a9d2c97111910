"""What the antenna experiment counts as fetched is true in the world; and the slow line is slow."""

import socket
import time

from experiments.antenna import GOAL, NAME, ROBOT, SCENE, Hall
from experiments.slow_line import slowed
from wholebody import robots


def test_an_antenna_is_fetched_if_it_stands_on_the_goal_and_not_otherwise():
    world = Hall(robots.load(ROBOT), NAME, [], scene=SCENE)
    try:
        assert world.wrong() == "the antenna is not on the stand"
        poses, antenna = world.object_poses, world.objects.index("antenna")
        poses[antenna, :3] = GOAL.x, GOAL.y, 0.86
        world.put_objects(poses)
        assert world.wrong() == ""
        poses[antenna, 3:] = 0.7071068, 0.0, 0.0, 0.7071068
        world.put_objects(poses)
        assert world.wrong() == "the antenna does not stand"
    finally:
        world.close()


def test_a_slow_line_is_as_late_as_it_says_and_loses_no_byte():
    with (
        socket.create_server(("127.0.0.1", 0)) as far,
        slowed(far.getsockname()[1], 100_000.0, 0.05, 0.2) as line,
        socket.create_connection(("127.0.0.1", line.port)) as here,
    ):
        there, _ = far.accept()
        began = time.monotonic()
        here.sendall(b"x" * 10_000)
        here.shutdown(socket.SHUT_WR)
        with there, there.makefile("rb") as heard:
            assert heard.read() == b"x" * 10_000
        assert time.monotonic() - began >= 0.05 + 0.1, "as late, and a tenth of a second for its bytes"
