"""Key frames of a planned crawl: from rest through some cycles to rest, with the contacts of each phase.

A frame stands where a limb lifts, where it comes down, and evenly between, so that a motion through the frames is the
planned one to a few milliradians. What is played so feels nothing: it is a gait for files, films and checks.
"""

from __future__ import annotations

import math

import numpy as np

from wholebody import messages
from wholebody.errors import BadGait
from wholebody.locomotion.crawling.crawler import Crawler
from wholebody.locomotion.walking.footsteps import Velocity
from wholebody.motion.keyframes import KeyFrame, KeyFrames
from wholebody.robots.robot import Robot

APART = 0.15
"""s: at most from one frame to the next."""
LONGEST = 60.0
"""s of a gait, after which it does not come to rest any more."""
DIGITS = 4
"""Of joint positions in the file."""


def crawl_frames(robot: Robot, velocity: Velocity, cycles: float) -> KeyFrames:
    """Crawl at a velocity (m/s, m/s, rad/s) for so many cycles, each four steps."""
    if not all(map(math.isfinite, (*velocity, cycles))) or cycles <= 0 or not any(velocity):
        raise BadGait(f"{cycles} cycles at {tuple(velocity)} are no crawl; give a velocity, and a number above zero")
    crawler = Crawler(robot)
    crawler.feedback = False
    state, reference = messages.new(robot.state_dtype()), messages.new(robot.reference_dtype())
    crawler.pattern.velocity = velocity
    frames = [_frame(crawler, 2.0, "rest")]
    time, since, bearing = 0.0, 0.0, crawler.target.bearing
    while time < LONGEST:
        time += crawler.period
        state.time = time
        crawler.cycle(state, reference)
        if crawler.pattern.steps >= 4 * cycles:
            crawler.pattern.velocity = Velocity()
        done = crawler.pattern.steps >= 4 * cycles and crawler.pattern.standing
        if done or crawler.target.bearing != bearing or time - since > APART - crawler.period / 2:
            frames.append(_frame(crawler, time - since, "rest" if done else _phase(crawler, bearing)))
            since, bearing = time, crawler.target.bearing
        if done:
            return KeyFrames(robot, tuple(frames), "the crawl", "monotone")
    raise BadGait(f"at {tuple(velocity)} the robot does not come to rest within {LONGEST:.0f} s; crawl fewer cycles")


def _frame(crawler: Crawler, duration: float, name: str) -> KeyFrame:
    limbs = zip(crawler.limbs, crawler.target.bearing, strict=True)
    contacts = tuple(limb.frame for limb, bears in limbs if bears)
    moving = crawler.model.robot.moving
    lower, upper = (np.array([getattr(joint, end) for joint in moving]) for end in ("lower", "upper"))
    position = np.clip(np.round(crawler.command, DIGITS), lower, upper)
    return KeyFrame(position, round(duration, DIGITS), name, contacts)


def _phase(crawler: Crawler, before: tuple[bool, ...]) -> str:
    """What happens at a frame: which limb lifts, swings or comes down; the centre of mass leans, if none does."""
    for limb, was, bears in zip(crawler.limbs, before, crawler.target.bearing, strict=True):
        if not bears:
            return f"{limb.part} lifts" if was else f"{limb.part} swings"
        if not was:
            return f"{limb.part} comes down"
    return "leans"
