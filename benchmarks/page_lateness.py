"""How late daemon and whole-body servo are while people look at a robot, and while nobody does, in turns.

Dreamer's posture is held by `wholebody run` through a daemon with loopback joints, both a thousand times a second.
"""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.daemon import on_cpu
from benchmarks.page_clients import browser, lookers
from benchmarks.page_server import MAIN, page, started
from benchmarks.report import Timing
from wholebody.channels import Channel
from wholebody.drivers import Names
from wholebody.errors import ChannelError
from wholebody.parameters.records import ControllerNames

CONFIGURATION, SERVO = "dreamer_posture", "posture"
POLL = 0.02
"""s; a channel keeps some more states than come in that time."""


@dataclass(frozen=True)
class Late:
    """What was seen in one turn: µs that the daemon's cycles began late, µs from a state to the servo's answer."""

    daemon: np.ndarray
    servo: np.ndarray
    cpu: float  # share of a core that the daemon's process took

    @property
    def p99(self) -> tuple[float, float]:
        """Of daemon and servo."""
        return float(np.percentile(self.daemon, 99)), float(np.percentile(self.servo, 99))


def lateness(turns: int, seconds: float) -> dict[str, Timing | float]:
    """With one Chromium and four WebSocket clients, and without; ratios are those of the medians of the turns' p99."""
    alone, beside = list[Late](), list[Late]()
    with started("dreamer", "--driver", "loopback", "--period", "0.001"), _servo(), page() as (_, address, _):
        for _ in range(turns):
            alone.append(_watch(seconds))
            with lookers(address, 4), browser(address):
                time.sleep(1.0)
                beside.append(_watch(seconds))
    daemon, servo = (_median_p99(beside)[which] / _median_p99(alone)[which] for which in (0, 1))
    return {
        "late_alone": Timing.of(np.concatenate([each.daemon for each in alone])),
        "late_with_people": Timing.of(np.concatenate([each.daemon for each in beside])),
        "late_ratio": round(daemon, 3),
        "servo_late_alone": Timing.of(np.concatenate([each.servo for each in alone])),
        "servo_late_with_people": Timing.of(np.concatenate([each.servo for each in beside])),
        "servo_late_ratio": round(servo, 3),
        "daemon_cpu_alone": round(float(np.median([each.cpu for each in alone])), 4),
        "daemon_cpu_with_people": round(float(np.median([each.cpu for each in beside])), 4),
    }


def _median_p99(turns: list[Late]) -> tuple[float, float]:
    daemon, servo = zip(*(each.p99 for each in turns), strict=True)
    return float(np.median(daemon)), float(np.median(servo))


@contextlib.contextmanager
def _servo() -> Iterator[None]:
    """The controller, once it commands."""
    command = [*MAIN, "run", CONFIGURATION, "--driver", "daemon", "--priority", "40"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            until = time.monotonic() + 60.0
            while not _commands():
                if process.poll() is not None or time.monotonic() > until:
                    raise RuntimeError(f"{' '.join(command)} does not run")
                time.sleep(0.2)
            yield
        finally:
            process.terminate()


def _commands() -> bool:
    with contextlib.suppress(ChannelError), Channel(_told()) as channel, channel.reader() as reader:
        return bool(reader.latest())
    return False


def _told() -> str:
    """Where the servo says which state it has answered, right after it has."""
    return ControllerNames(Names().robot, SERVO).topic("joint_state")


def _watch(seconds: float) -> Late:
    late, answers, put = list[float](), list[float](), dict[float, int]()
    with (
        Channel(Names().timing) as timing,
        Channel(Names().state) as states,
        Channel(_told()) as told,
        timing.reader() as cycles,
        states.reader() as measured,
        told.reader() as answered,
    ):
        (daemon,) = states.writer_processes()
        for reader in (cycles, measured, answered):
            reader.latest()
        begin, used = time.monotonic(), on_cpu(daemon)
        while (passed := time.monotonic() - begin) < seconds:
            time.sleep(POLL)
            while cycles.next():
                late.append(float(cycles.message["late"]) * 1e6)
            while measured.next():
                put[float(measured.message["time"])] = measured.stamp_ns
            while answered.next():
                if (since := put.pop(float(answered.message["time"]), None)) is not None:
                    answers.append((answered.stamp_ns - since) * 1e-3)
        return Late(np.array(late), np.array(answers), (on_cpu(daemon) - used) / passed)
