"""Atlas is told through channels, by another process than its controller's, to kneel down and crawl; real daemon."""

from __future__ import annotations

import subprocess
import sys

import pytest
from walking_rig import NAME, Rig

from wholebody.behaviors.crawling_goals import CONTROLLER, CrawlingClient
from wholebody.behaviors.walking_goals import Bearing
from wholebody.channels import Channel
from wholebody.errors import BadParameter, GoalNotDone
from wholebody.estimation.support_view import SupportMessage, view_channel, view_of
from wholebody.locomotion.crawling.odometry import heading
from wholebody.parameters.remote import Remote
from wholebody.processes.registry import CRAWL

LONG = 600.0
"""s of waiting: other objects may run on this machine."""


class CrawlRig(Rig):
    """Atlas stands in its world; a crawling controller is connected."""

    def __init__(self):
        super().__init__("atlas")

    def begin_controller(self):
        self.controller = self.begin(CRAWL)
        self.client = self.enter_context(CrawlingClient(NAME, timeout=90))
        self.world.client = CrawlingClient(NAME, timeout=90)  # for which time waits; the world closes it

    @property
    def there(self):
        """Where the base is in truth: x, y, z, and its heading."""
        base = self.world.base_to_world
        return (*base[:3, 3], heading(base[:3, :3]))


@pytest.mark.slow
def test_it_kneels_down_and_crawls_as_other_processes_tell_it_and_changes_its_gait_meanwhile():
    with CrawlRig() as rig:
        client = rig.client
        with pytest.raises(GoalNotDone, match="not on wrists and knees"):
            client.wait(client.walk(distance=0.3), LONG)
        client.wait(client.stand(1.5), LONG)
        assert client.doing.bearing == Bearing.BOTH
        x, _, z, _ = rig.there
        assert z == pytest.approx(0.556, abs=0.04)

        client.wait(client.walk(velocity=(0.1, 0.0, 0.0), lasts=5.0), LONG)
        forward = rig.there[0] - x
        assert forward > 0.15
        assert client.doing.place.x == pytest.approx(forward, abs=0.1)

        with Channel(view_channel(NAME), kind=SupportMessage) as channel, channel.reader() as reader:
            assert reader.latest(), "what bears is shown"
            view = view_of(reader.message)
        assert view.margin > 0
        assert sum(view.bearing) >= 3, "of four stiff limbs one may hardly bear"

        gait = Remote(CONTROLLER, NAME)
        assert gait.set("gait.turn", 0.3) == pytest.approx(0.3)
        with pytest.raises(BadParameter, match="pitch"):
            gait.set("gait.pitch", 0.5)
        yaw = rig.there[3]
        order = client.walk(velocity=(0.0, 0.0, 0.2), lasts=10.0)
        client.wait_until(lambda doing: doing.place.yaw > yaw + 0.15, LONG)
        client.wait(client.stop(), LONG)
        assert [report.stage.name for report in client.reports(order)][-1] == "PREEMPTED"
        assert rig.there[3] > yaw + 0.1
        assert rig.there[2] == pytest.approx(0.556, abs=0.04)
        with pytest.raises(GoalNotDone, match="one of them"):
            client.wait(client.go(0.2, 0.0, 0.3), LONG)
        with pytest.raises(GoalNotDone, match="knows no 'step_in_place'"):
            client.wait(client.walk(steps_in_place=2), LONG)

        told = [
            sys.executable,
            "-m",
            "wholebody.cli",
            "crawl",
            "--name",
            NAME,
            "--order",
            "walk 0.05",
            "--order",
            "stop",
        ]
        said = subprocess.run(told, capture_output=True, text=True, timeout=LONG)
        assert said.returncode == 0, said.stderr
        assert [line.split(":")[0].split("s  ")[1] for line in said.stdout.splitlines()] == ["walk 0.05", "stop"]
