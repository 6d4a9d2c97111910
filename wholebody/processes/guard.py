"""The guard as a process, `wholebody process guard`: stops the robot when its daemon hangs or dies.

`wholebody start` begins it beside a daemon that moves devices. It looks at the daemon's beats. When they fail to come
it tells the device itself to hold, by the daemon's own driver, unless the device has a watchdog that does so already;
and it puts a stop, so that a daemon that goes on stays stopped until `resume`. Time in which the guard itself got no
processor is not the daemon's: only beats that the guard has looked for, and not found, count.
"""

from __future__ import annotations

import math
import os
import signal
import time
import warnings
from collections.abc import Callable

from wholebody import messages
from wholebody.channels import directory
from wholebody.channels.owned import Opened
from wholebody.channels.subscription import Subscription
from wholebody.drivers import Names
from wholebody.drivers.catalog import find, open_driver
from wholebody.drivers.stop_input import put_stop
from wholebody.errors import ChannelError, NoRobot, RealtimeWarning, WholebodyError
from wholebody.messages import Event, Tick
from wholebody.processes.launch_plan import LaunchPlan
from wholebody.processes.main import Ready, speaker
from wholebody.realtime import has_ended, realtime, until_told
from wholebody.robots.catalog import load_apart

HANGS_AFTER = 0.5
"""s without a beat after which a daemon hangs; at least PERIODS of its own."""
PERIODS = 5
LOOK_EVERY = 0.025
"""s"""
AGAIN_AFTER = 1.0
"""s after which a device that could not be reached is tried again."""
PRIORITY = 70  # above the daemon's: one that spins keeps no processor from it
ENDED = "ended"
"""The event by which a daemon says that it was told to end, and has stopped the robot itself."""


def guard(plan: LaunchPlan, *, ready: Ready) -> None:
    """Watch the plan's daemon until SIGTERM or SIGINT, or until the robot is safe after the daemon's death."""
    goes_on = until_told()
    with Guard(plan, speaker("guard")) as watching:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RealtimeWarning)
            realtime(PRIORITY)
        ready()
        watching.run(goes_on)


class Guard(Opened):
    """Watches the daemon of a plan; NoRobot if there is none."""

    def __init__(self, plan: LaunchPlan, say: Callable[[str], None]) -> None:
        super().__init__()
        self.plan, self._say, self._begun = plan, say, time.monotonic()
        self._names = Names(plan.name)
        self.watchdog = find(plan.choice.name).watchdog
        self._ticks = Subscription(self._names.tick, Tick)
        self._process = next(iter(self._ticks.writers), 0)
        if not self._process:
            raise NoRobot(f"no daemon of '{plan.name}' runs, which the guard could watch")
        self._events = self._writer(self._names.events, messages.event(), depth=256)
        self._past = Subscription(self._names.events, Event)
        self._beat, self._silent = -1, 0  # the newest beat, and how many looks have found no newer one
        self._hangs, self._safe_at = False, 0.0  # when to make it safe, or to try that again
        self._looks = math.ceil(max(HANGS_AFTER, PERIODS * plan.period) / LOOK_EVERY)

    def run(self, goes_on: Callable[[], bool]) -> None:
        """Watch until told to end, or until the daemon has ended and the robot is safe."""
        while goes_on():
            if has_ended(self._process, within=LOOK_EVERY):
                self._died(goes_on)
                return
            self.look()

    def look(self) -> None:
        """Look once whether the daemon has gone on."""
        tick = self._ticks.take()
        beat = -1 if tick is None else int(tick.number)
        self._silent = self._silent + 1 if beat == self._beat else 0
        self._beat = beat
        if self._hangs and not self._silent:
            self._hangs = False
            self._tell("goes on", "the daemon goes on; the robot stays stopped until `wholebody console -c resume`")
        elif not self._hangs and self._silent >= self._looks:
            self._hangs, self._safe_at = True, 0.0
            text = f"no beat of the daemon (process {self._process}) for {self._looks * LOOK_EVERY:.2g} s"
            self._tell("hangs", f"{text}: it hangs, or waits for its device")
            self._put_stop(text)
        if self._hangs and time.monotonic() > self._safe_at:
            self._safe_at = math.inf if self._make_safe() else time.monotonic() + AGAIN_AFTER

    def _died(self, goes_on: Callable[[], bool]) -> None:
        if self._was_told_to_end():
            return
        self._tell("died", f"the daemon (process {self._process}) has died; start the robot again: wholebody start")
        while not self._make_safe() and goes_on():
            time.sleep(AGAIN_AFTER)

    def _was_told_to_end(self) -> bool:
        self._past.take()
        past = self._past.past(16)
        said = zip(past.stamps, past.messages, strict=True)
        return any(stamp > self._begun and each.source == "daemon" and each.name == ENDED for stamp, each in said)

    def _make_safe(self) -> bool:
        """Have the device hold; False if it cannot be reached."""
        if self.watchdog:
            self._tell("safe", f"the device stops by itself: {self.watchdog}")
            return True
        try:
            self._stop_device()
        except (WholebodyError, OSError) as error:
            return self._cannot(str(error))
        self._tell("safe", "the guard has told the device to hold every joint where it is")
        return True

    def _stop_device(self) -> None:
        """Take the device beside the daemon, which does not use it now, stop it, and let it go."""
        plan = self.plan
        with open_driver(plan.driver, load_apart(plan.robot), plan.period, plan.name) as device:
            device.stop()

    def _cannot(self, why: str) -> bool:
        """Say that the device cannot be reached; a daemon that hangs may keep others out, so it is killed."""
        self._tell("not safe", f"the device cannot be reached: {why}; it is tried again. Use the wired stop")
        if not has_ended(self._process):
            self._tell("killed", f"the daemon (process {self._process}) is killed, because it hangs with the device")
            os.kill(self._process, signal.SIGKILL)
        return False

    def _put_stop(self, text: str) -> None:
        try:
            put_stop(self._names.robot, "guard", text)
        except ChannelError as error:
            self._say(f"no stop can be put: {error}")

    def _tell(self, name: str, text: str) -> None:
        """Write a line into the log, and an event that `wholebody status` shows."""
        self._say(f"{name}: {text}")
        if directory.identity(self._names.events) is None:
            return  # the robot's channels are being removed
        message = self._events.message
        message.time, message.source, message.name, message.text = time.monotonic(), "guard", name, text
        self._events.put()
