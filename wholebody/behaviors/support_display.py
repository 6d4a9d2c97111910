"""SupportDisplay: the support of a crawling robot now and then on a channel, and as a picture at the end."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from wholebody.estimation.support_view import SupportPublisher, SupportView, SupportWatch, draw
from wholebody.locomotion.crawling.crawler import Crawler
from wholebody.locomotion.crawling.odometry import heading
from wholebody.messages import State

EVERY = 10
"""Cycles from one view to the next."""


TRAIL = 120
"""Views of which the picture shows the way of the centre of mass."""


class SupportDisplay:
    """Looks at a crawler as its IMU, encoders and felt loads have it."""

    def __init__(self, crawler: Crawler, publisher: SupportPublisher) -> None:
        self._crawler, self._publisher = crawler, publisher
        self._watch = SupportWatch(crawler.model, [limb.frame for limb in crawler.limbs])
        self._cycle = 0
        self.views: list[SupportView] = []
        self.looks = self.inside = 0

    def look(self, state: State) -> None:
        """After a cycle."""
        self._cycle += 1
        if self._cycle % EVERY:
            return
        q = self._crawler.q.copy()
        q[3:7], q[7:] = state.imu[0].orientation, state.position
        if not np.isfinite(q).all():
            return
        yaw = heading(Rotation.from_quat(q[3:7]).as_matrix())
        view = self._watch.look(q, yaw, self._crawler.loads.touching, state.time)
        self._publisher.put(view)
        self.views = [*self.views[-TRAIL:], view]
        self.looks += 1
        self.inside += view.margin >= 0

    def draw(self, path: Path) -> None:
        """The last view, with the way of the centre of mass; nothing if there was none."""
        if self.views:
            draw(self.views, path)
