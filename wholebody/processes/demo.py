"""The processes of the demo: a loopback robot and two controllers, which know each other only by channels.

`wholebody process demo --member robot`, or wave, or nod; `wholebody demo` begins them.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wholebody import messages
from wholebody.channels import Channel
from wholebody.errors import RealtimeWarning, UnknownName
from wholebody.messages import Reference, State
from wholebody.realtime import realtime, sleep_until, until_told

JOINTS = ("RSP", "RSR", "RSY", "REB", "LSP", "LSR", "LSY", "LEB", "WST", "NKY", "NK1", "NK2")
ROBOT_HZ = 200.0


@dataclass(frozen=True)
class Controller:
    """A controller that swings some joints: which, how fast, and at which odd rate it runs."""

    hertz: float
    joints: tuple[str, ...]
    swing_hertz: float

    @property
    def mask(self) -> npt.NDArray[np.bool_]:
        """The joints it speaks for."""
        return np.array([joint in self.joints for joint in JOINTS])

    def position(self, instant: float) -> npt.NDArray[np.float64]:
        """q_i(t) = 0.5 sin(2π f t + i): a reader can tell from the time alone what every joint must be."""
        phase = 2 * np.pi * self.swing_hertz * instant + np.arange(len(JOINTS))
        return np.where(self.mask, 0.5 * np.sin(phase), 0.0)


CONTROLLERS = {
    "wave": Controller(hertz=137.0, joints=JOINTS[:8], swing_hertz=0.5),
    "nod": Controller(hertz=61.7, joints=JOINTS[9:], swing_hertz=0.3),
}


def state_channel(name: str) -> Channel[State]:
    """Open the robot's state."""
    return Channel(f"{name}.state", messages.state(JOINTS))


def reference_channel(name: str, controller: str) -> Channel[Reference]:
    """Open the references of one controller: each has a channel of its own."""
    return Channel(f"{name}.{controller}.reference", messages.reference(JOINTS))


def reference_is_whole(controller: str, message: Reference) -> bool:
    """A reference is torn if some joint is not where the message's own time says."""
    expected = CONTROLLERS[controller].position(message.time)
    return bool(np.array_equal(message.position, expected))


def state_is_whole(message: State) -> bool:
    """A state is torn if its fields come from different cycles: position is the reference, effort counts ticks."""
    return bool(np.array_equal(message.position, message.reference) and np.all(message.effort == message.tick))


def robot(name: str) -> None:
    """Take the newest reference of each controller, merge them joint by joint, publish the state; at 200 Hz."""
    with ExitStack() as stack:
        writer = stack.enter_context(state_channel(name).writer())
        readers = [stack.enter_context(reference_channel(name, each).reader()) for each in CONTROLLERS]
        state = writer.message
        for tick, instant in _beats(ROBOT_HZ):
            for reader in readers:
                if reader.latest():
                    np.copyto(state.reference, reader.message.position, where=reader.message.mask)
            state.time, state.tick = instant, tick
            state.position[:] = state.reference
            state.effort[:] = tick
            writer.put()


def controller(name: str, member: str) -> None:
    """Put a reference at the controller's own rate, whatever the robot and the others do."""
    mine = CONTROLLERS[member]
    with reference_channel(name, member) as channel, channel.writer() as writer:
        writer.message.mask[:] = mine.mask
        for _, instant in _beats(mine.hertz):
            writer.message.time = instant
            writer.message.position[:] = mine.position(instant)
            writer.put()


def _beats(hertz: float) -> Iterator[tuple[int, float]]:
    """Yield tick and instant at a fixed rate, until SIGTERM or SIGINT."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RealtimeWarning)
        realtime(20)
    goes_on, instant, tick = until_told(), time.monotonic(), 0
    while goes_on():
        instant, tick = instant + 1 / hertz, tick + 1
        sleep_until(instant)
        yield tick, instant


def demo(member: str, name: str = "demo") -> None:
    """Be the robot, or one of the controllers."""
    if member == "robot":
        robot(name)
    elif member in CONTROLLERS:
        controller(name, member)
    else:
        raise UnknownName("member", member, ("robot", *CONTROLLERS))
