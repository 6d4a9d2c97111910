"""CrawlingClient: tells a robot that runs where to crawl, from any process, and hears what becomes of it.

with CrawlingClient("robot") as robot:
    robot.wait(robot.stand())                        # on wrists and knees
    robot.wait(robot.walk(distance=0.5))
    robot.walk(velocity=(0.05, 0, 0.05), lasts=5.0)
    robot.stop()
"""

from __future__ import annotations

from typing import ClassVar

from wholebody.behaviors.crawling_goals import CONTROLLER
from wholebody.behaviors.walking_client import WalkingClient
from wholebody.channels.directory import Machine


class CrawlingClient(WalkingClient):
    """What can be told is what a walking robot can be told, but for footsteps and steps in place."""

    does: ClassVar[str] = "crawling"

    def __init__(
        self, robot: str = "", controller: str = CONTROLLER, timeout: float = 10.0, connect: str | Machine = ""
    ) -> None:
        super().__init__(robot, controller, timeout, connect)
