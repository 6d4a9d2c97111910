"""connect: a controller's side of the daemon, the same for every robot.

with connect("wave") as robot:
    start = robot.position("RSP")
    while robot.wait() and robot.now < 10:
        robot.move({"RSP": start + 0.3 * math.sin(robot.now)})
"""

from __future__ import annotations

import contextlib
import math
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping

from wholebody import messages
from wholebody.channels import Channel, Reader, directory
from wholebody.channels.owned import Opened
from wholebody.drivers.interface import check_period
from wholebody.drivers.names import Names
from wholebody.errors import (
    BadPeriod,
    ChannelError,
    HardwareError,
    NoRobot,
    UnknownJointWarning,
    UnknownName,
    WholebodyError,
    WrongRecord,
    closest,
)
from wholebody.messages import READY, Mode, Reference, Silence, State, Tick
from wholebody.messages.bounds import DECLARED_PERIOD, LEASE_PERIOD
from wholebody.realtime import has_ended
from wholebody.robots.robot import Robot

SLICE = 1.0
"""s without a state after which it looks whether the daemon lives."""


def daemon(
    robot: Robot, period: float, name: str, *, controller: str = "wbc", lease: bool = False, hold: bool = True
) -> Connection:
    """The robot that a daemon runs (wholebody start), moved as one of its controllers.

    controller  what the daemon calls us
    lease       keep all others from the joints that we move
    hold        if we fall silent: hold our joints; no: stop the robot
    """
    silence = Silence.HOLD if hold else Silence.STOP
    link = connect(controller, name, period=10 * period, silence=silence, lease=lease)
    try:
        if link.joints != robot.joint_names:
            raise WrongRecord(f"the robot that runs as '{Names(name).robot}' has other joints than {robot.name}")
        check_period(f"the daemon of '{Names(name).robot}'", link.period, period)
    except WholebodyError:
        link.close()
        raise
    return link


class Connection(Opened):
    """The newest state of the robot, and one's own references to it: a RobotInterface and a Clock, too.

    `connect("wave")` connects to the robot of a name (by default the one there is), as a controller of a name of one's
    own. One that declares its period (s) says what is to become of its joints if it falls silent; without one they
    hold its last word for ever. A lease keeps all others from the joints that it moves; it needs a period. `filtered`
    sends references through a filter process (wholebody filter), without which nothing moves.
    """

    watchdog = "the daemon goes on: it holds the joints of a loop that falls silent, or stops the robot (`hold`)"

    def __init__(
        self,
        controller: str,
        robot: str = "",
        *,
        period: float = 0.0,
        silence: Silence = Silence.HOLD,
        lease: bool = False,
        filtered: bool = False,
        timeout: float = 5.0,
    ) -> None:
        if lease and period == 0:
            raise BadPeriod("a lease needs a declared period (period=…): a controller that dies must lose it")
        if period != 0 and (complaint := (LEASE_PERIOD if lease else DECLARED_PERIOD).complaint(period)):
            raise BadPeriod(f"{complaint}, or 0 to declare none")
        super().__init__()
        self._names = names = Names(robot)
        states, reader = _running(names, timeout)
        self._states, self._reader = self._opened.enter_context(states), self._opened.enter_context(reader)
        self._ring, self._daemon = self._reader.ring, self._reader.process
        self.joints = messages.labels(self._reader.message.dtype)
        self.index: Mapping[str, int] = {name: number for number, name in enumerate(self.joints)}
        channel = names.unfiltered(controller) if filtered else names.reference(controller)
        self._references = self._writer(channel, messages.reference(self.joints))
        self.reference = self._references.message
        self.reference.period, self.reference.silence, self.reference.lease = period, silence, lease
        self.reference.mode[:] = Mode.POSITION
        self._warned: set[str] = set()
        self._moved: set[str] = set()
        self._beat, self.missed = 0, 0
        self.period = self._period(timeout)

    @property
    def state(self) -> State:
        """The newest state taken."""
        return self._reader.message

    # What a controller of one's own needs.

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for a state that is new, and take the newest; NoRobot if the daemon ends meanwhile.

        With a timeout (s): False if none comes in time, whether the daemon lives or not.
        """
        if timeout is not None:
            return self._reader.wait(timeout) and self._is_of_the_same()
        while not self._reader.wait(SLICE):
            if not self.alive:
                raise NoRobot(f"the robot '{self._names.robot}' has gone; start it again: wholebody start")
        return self._is_of_the_same()

    def _is_of_the_same(self) -> bool:
        """True; NoRobot if the state is of a daemon that has made its channels anew after ours was stopped."""
        if self._reader.ring is not self._ring:
            if not _lives(self._daemon):
                raise NoRobot(
                    f"the robot '{self._names.robot}' was stopped, and another runs under its name; connect again"
                )
            self._ring = self._reader.ring
        elif self._reader.process != self._daemon and not _lives(self._daemon):
            self._daemon = self._reader.process  # one that was started again, with the same channels
        return True

    @property
    def now(self) -> float:
        """Time of the state, in the loop's seconds: real, or simulated."""
        return self.state.time

    def position(self, joint: str) -> float:
        """Where a joint is."""
        return float(self.state.position[self._joint(joint)])

    def move(self, positions: Mapping[str, float]) -> None:
        """Command these joints, and no others. One that this robot lacks is left out, with one warning.

        HardwareError, before anything moves, if one that was not moved before is off: nothing would come of it.
        """
        if not positions.keys() <= self._moved:
            self._must_be_ready(positions)
        mask, position = self.reference.mask, self.reference.position
        mask[:] = False
        for name, value in positions.items():
            number = self.index.get(name)
            if number is None:
                self._warn(name)
                continue
            position[number], mask[number] = value, True
        self.put()

    def put(self) -> None:
        """Send `reference` as it is."""
        self.reference.time = self.state.time
        self._references.put()

    # The same as a robot and a clock.

    def read(self, state: State) -> None:
        """Fill in the newest state."""
        self._reader.latest()
        state.copy_from(self.state)

    def write(self, reference: Reference) -> None:
        """Send a reference; period, silence and lease stay those of the connection."""
        for field in ("position", "velocity", "effort", "stiffness", "damping", "mode", "mask"):
            setattr(self.reference, field, getattr(reference, field))
        self.put()

    def stop(self) -> None:
        """Ask every joint of one's own to stay where it is."""
        with contextlib.suppress(Exception):
            self._reader.latest()
            self.reference.position[:], self.reference.mode[:] = self.state.position, Mode.POSITION
            self.put()

    def tick(self) -> float:
        """Wait for the next cycle of the daemon, however long it takes; return its time."""
        self.wait()
        beat = self.state.tick
        self.missed += max(0, beat - self._beat - 1) if self._beat else 0
        self._beat = beat
        return self.now

    @property
    def alive(self) -> bool:
        """Whether a daemon runs the robot: the one it was, or another one with the same channels."""
        return bool(self._states.writer_processes())

    def close(self) -> None:
        """Give up a lease, and go; the joints hold the last word, unless a period was declared."""
        with contextlib.suppress(Exception):
            if self.reference.lease:
                self.reference.lease = False
                self.put()
        super().close()

    def _joint(self, name: str) -> int:
        if name not in self.index:
            raise UnknownName("joint", name, self.joints)
        return self.index[name]

    def _must_be_ready(self, names: Iterable[str]) -> None:
        mine = [name for name in names if name in self.index]
        off = [name for name in mine if int(self.state.status[self.index[name]]) & READY != READY]
        if off:
            option = f" --name {self._names.robot}" if self._names.robot != Names().robot else ""
            raise HardwareError(
                f"{', '.join(off)}: off or not homed, so nothing moves; first: wholebody console{option} -c homeAll"
            )
        self._moved |= set(names)

    def _warn(self, name: str) -> None:
        if name not in self._warned:
            self._warned.add(name)
            warnings.warn(
                f"this robot has no joint '{name}', so references to it are left out{closest(name, self.joints)}",
                UnknownJointWarning,
                stacklevel=3,
            )

    def _period(self, timeout: float) -> float:
        with Channel(self._names.tick, kind=Tick) as channel, channel.reader() as reader:
            if not (reader.latest() or reader.wait(timeout)):
                raise NoRobot(f"the robot '{self._names.robot}' does not move on; see `wholebody status`")
            return reader.message.period


def _lives(process: int) -> bool:
    """Whether a process lives whose number came from a message, and so may be any."""
    try:
        return not has_ended(process)
    except (OSError, OverflowError):
        return False


def _running(names: Names, timeout: float) -> tuple[Channel[State], Reader[State]]:
    """The channel of states of a daemon that lives, and a reader that has one."""
    until = time.monotonic() + timeout
    while True:
        with contextlib.suppress(ChannelError):
            if directory.writers(names.tick):
                states = Channel(names.state, kind=State)
                reader = states.reader(grace=math.inf)  # it is judged by whether a daemon lives
                reader.latest()
                if reader.wait(max(0.0, until - time.monotonic())):
                    return states, reader
        if time.monotonic() >= until:
            raise NoRobot(
                f"no robot called '{names.robot}' is running; start one, for instance: wholebody start hubo2plus"
            )
        time.sleep(0.02)


connect = Connection
"""What most programs call it by."""


LOOP_SLICE = 0.2
"""s of waiting for a state after which a loop looks around."""
SILENCE_AT_END = 5.0
"""s without a state after which a controller that was told to end does so, although its daemon lives."""


class StateLoop:
    """A controller's loop: at each new state of the robot, whether to go on.

    NoRobot if the daemon has ended. One that lives and gives no state for SILENCE_AT_END ends a controller that was
    told to; no sooner, or a short silence would end it in the middle of a step.
    """

    def __init__(self, connection: Connection, goes_on: Callable[[], bool]) -> None:
        self._connection, self._goes_on = connection, goes_on

    def __iter__(self) -> Iterator[bool]:
        """Wait for each state."""
        heard = time.monotonic()
        while True:
            if self._connection.wait(LOOP_SLICE):
                heard = time.monotonic()
                yield self._goes_on()
            elif not self._connection.alive:
                if not self._goes_on():
                    return
                raise NoRobot("the robot has gone; start it again: wholebody start")
            elif not self._goes_on() and time.monotonic() - heard > SILENCE_AT_END:
                return
