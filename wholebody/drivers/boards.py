"""BoardClient: what anybody may ask of the daemon that runs a robot, and of its joints' boards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wholebody.channels.directory import Machine
from wholebody.drivers.interface import Answer
from wholebody.drivers.names import Names, nothing_runs
from wholebody.drivers.stop_input import put_stop
from wholebody.errors import GoalNotDone, HardwareError, NoRobot, WholebodyError
from wholebody.messages import ALL_JOINTS, State, Verb, labels
from wholebody.services import Client, Stage

Four = tuple[float, float, float, float]


@dataclass(frozen=True)
class BoardRequest:
    """A Verb for one joint, or for ALL_JOINTS, with up to four numbers."""

    verb: int
    joint: int = ALL_JOINTS
    values: Four = (0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class BoardStatus:
    """What a board answers: Status flags, and numbers."""

    status: int
    values: Four


def four(values: Sequence[float]) -> Four:
    """Up to four numbers, and zeros."""
    first, second, third, fourth = (*map(float, values), *[0.0] * 4)[:4]
    return first, second, third, fourth


class BoardClient(Client):
    """Asks the daemon that runs the robot of a name; NoRobot if there is none.

    with BoardClient("robot") as boards:
        answer = boards.request(Verb.HOME, joint=3)
    """

    def __init__(self, robot: str = "", timeout: float = 0.0, connect: str | Machine = "") -> None:
        self.names = Names(robot)
        super().__init__(self.names.boards_service, timeout, answer=BoardStatus, connect=connect)

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints that can be asked for."""
        if not self.alive:
            raise self._gone("")
        with self._machine.reader(self.names.state, State) as state:
            return labels(state.message.dtype)

    def request(self, verb: int, joint: int = ALL_JOINTS, values: Sequence[float] = (), timeout: float = 5.0) -> Answer:
        """Ask, and return the answer, refused or not; HardwareError if none comes in time."""
        if not self.alive:
            raise self._gone("")
        self._asked = verb
        number = self.send(BoardRequest(verb, joint, four(values)), timeout)
        try:
            report = self.wait(number, timeout)
        except GoalNotDone as refused:
            report = self.reports(number)[-1]
            if report.answer is None:
                return Answer(False, refused.reason)
        finally:
            self.give_up(number)
        return Answer(report.stage is Stage.SUCCEEDED, report.text, report.answer.status, report.answer.values)

    def stop(self) -> None:
        """Stop the robot by the emergency channel, which needs nobody to answer."""
        put_stop(self.names.robot, "console", "a console asked for it")

    def _gone(self, what: str) -> WholebodyError:
        return NoRobot(nothing_runs(self.names.robot))

    def _overdue(self, until: Stage, timeout: float) -> WholebodyError:
        daemon = ", ".join(map(str, self._machine.writers(self.names.tick)))
        return HardwareError(
            f"the daemon (process {daemon}) did not answer '{Verb(self._asked).name.lower()}' within {timeout:g} s; "
            f"see: wholebody status --name {self.names.robot}"
        )
