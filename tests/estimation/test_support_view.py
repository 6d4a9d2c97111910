"""Support polygon, limbs and centre of mass from above: right, live on a channel, and drawn."""

from __future__ import annotations

import math
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from wholebody import robots
from wholebody.channels import Channel
from wholebody.cli.captured import support
from wholebody.errors import BadState, ChannelNotFound
from wholebody.estimation.support_view import (
    SupportMessage,
    SupportPublisher,
    SupportWatch,
    draw,
    text,
    view_channel,
    view_of,
)
from wholebody.locomotion.crawling.gait import on_ground
from wholebody.model import Model
from wholebody.model.support import Contacts

LIMBS = ("left_palm", "right_palm", "left_knee", "right_knee")
MODEL = Model(robots.load("atlas"))
Q = on_ground(MODEL)
THREE = (True, True, False, True)


def turned(q, yaw, x, y):
    moved = q.copy()
    moved[:3] = Rotation.from_euler("z", yaw).apply(q[:3]) + np.array([x, y, 0.0])
    moved[3:7] = (Rotation.from_euler("z", yaw) * Rotation.from_quat(q[3:7])).as_quat()
    return moved


def test_what_is_seen_does_not_depend_on_where_the_robot_is_or_faces():
    watch = SupportWatch(MODEL, LIMBS)
    here, there = watch.look(Q, 0.0, THREE, 1.0), watch.look(turned(Q, 2.0, 3.0, -1.0), 2.0, THREE, 1.0)
    assert there.limbs == pytest.approx(here.limbs, abs=1e-9)
    assert there.com == pytest.approx(here.com, abs=1e-9)
    assert there.margin == pytest.approx(here.margin, abs=1e-9)
    assert here.limbs[0, 1] > 0 > here.limbs[1, 1]  # left is to the left
    assert here.limbs[0, 0] > here.limbs[2, 0]  # hands are ahead of knees


def test_the_margin_is_that_of_what_bears():
    watch, at = SupportWatch(MODEL, LIMBS), MODEL.at(Q)
    for bearing in ((True,) * 4, THREE):
        names = [name for name, bears in zip(LIMBS, bearing, strict=True) if bears]
        assert watch.look(Q, 0.0, bearing, 0.0).margin == pytest.approx(Contacts(MODEL, names).margin(at))
    assert watch.look(Q, 0.0, (False,) * 4, 0.0).margin == -math.inf


def test_too_many_limbs_or_none_are_refused():
    for limbs in ((), LIMBS * 3):
        with pytest.raises(BadState, match="limbs to watch"):
            SupportWatch(MODEL, limbs)


def test_a_view_comes_through_a_channel_as_it_was():
    name = f"view-{time.monotonic_ns()}"
    view = SupportWatch(MODEL, LIMBS).look(Q, 0.0, THREE, 4.5)
    with SupportPublisher(name) as publisher:
        publisher.put(view)
        with Channel(view_channel(name), kind=SupportMessage) as channel, channel.reader() as reader:
            assert reader.latest()
            again = view_of(reader.message)
    assert (again.time, again.names, again.bearing) == (view.time, view.names, view.bearing)
    for what in ("limbs", "corners", "com", "margin"):
        assert getattr(again, what) == pytest.approx(getattr(view, what))


def test_text_has_every_limb_and_the_centre_of_mass_where_they_are():
    view = SupportWatch(MODEL, LIMBS).look(Q, 0.0, THREE, 0.0)
    lines = text(view).splitlines()
    rows = {
        what: [(r, c) for r, line in enumerate(lines[:-1]) for c, x in enumerate(line) if x == what] for what in "Ox+"
    }
    assert (len(rows["O"]), len(rows["x"]), len(rows["+"])) == (3, 1, 1)
    hands, knee = rows["O"][:2], rows["x"][0]
    assert max(hand[0] for hand in hands) < rows["+"][0][0] < knee[0]  # forward is up
    assert knee[1] < rows["+"][0][1]  # left is left
    assert "bears: left_palm, right_palm, right_knee" in lines[-1]


def test_the_picture_is_red_where_the_robot_tips(tmp_path):
    from matplotlib.image import imread

    watch, reds = SupportWatch(MODEL, LIMBS), []
    for bearing in ((True,) * 4, (True, False, True, False)):
        draw([watch.look(Q, 0.0, bearing, 0.0)], tmp_path / "view.png")
        colours = np.asarray(imread(tmp_path / "view.png"))[..., :3]
        reds.append(int((colours[..., 0] > colours[..., 1] + 0.1).sum()))
    assert reds[0] < reds[1] / 10


@pytest.mark.slow
def test_a_reader_in_another_process_draws_what_is_live(tmp_path):
    name = f"live-{time.monotonic_ns()}"
    call = f"support({name!r}, 1.0, Path({str(tmp_path / 'a.png')!r}), 0.2)"
    program = f"from pathlib import Path\nfrom wholebody.cli.captured import support\n{call}"
    watch = SupportWatch(MODEL, LIMBS)
    with (
        SupportPublisher(name) as publisher,
        subprocess.Popen([sys.executable, "-c", program], text=True, stdout=subprocess.PIPE) as reader,
    ):
        while reader.poll() is None:
            publisher.put(watch.look(Q, 0.0, THREE, time.monotonic()))
            time.sleep(0.02)
        shown = reader.stdout.read()
    assert shown.count("margin") >= 2
    assert (tmp_path / "a.png").stat().st_size > 1000


def test_a_robot_that_shows_nothing_is_named():
    with pytest.raises(ChannelNotFound, match="nobody-here"):
        support("nobody-here", 0.0, None, 0.5)
