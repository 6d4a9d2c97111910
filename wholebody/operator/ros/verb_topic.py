"""VerbTopic: what running behaviours can be told, as lines of text on a topic: go 1 turn=30deg, as in the console."""

from __future__ import annotations

from dataclasses import dataclass

from wholebody.behaviors.behavior import GoalHandle, Goals
from wholebody.errors import WholebodyError
from wholebody.operator.ros.action import Link
from wholebody.ros.standard import String
from wholebody.services import Report

TOPIC, REPORT = "command", "command_report"


@dataclass
class _UnderWay:
    """A line that was said, and how much of what became of it was told."""

    line: str
    goal: GoalHandle
    told: int = 0


class VerbTopic:
    """Lines come on `command`; what becomes of each is told on `command_report`: LINE: STAGE, and why."""

    def __init__(self, link: Link, robot: str) -> None:
        self._goals, self._under_way = Goals(robot), list[_UnderWay]()
        self._report = link.publisher(REPORT, String)
        link.subscription(TOPIC, String, self._take)

    def step(self) -> None:
        """Tell what became of what was said."""
        for each in list(self._under_way):
            try:
                reports = each.goal.reports()
            except WholebodyError as error:
                self._tell(each.line, "failed", str(error))
                self._under_way.remove(each)
                continue
            for report in reports[each.told :]:
                self._tell(each.line, report.stage.name.lower(), report.text)
            each.told = len(reports)
            if reports and _is_over(reports[-1]):
                self._under_way.remove(each)

    def close(self) -> None:
        """Let go of the behaviours; what was said goes on."""
        self._goals.close()

    def _take(self, said: String) -> None:
        try:
            self._under_way.append(_UnderWay(said.data, self._goals.say(said.data)))
        except WholebodyError as error:
            self._tell(said.data, "rejected", str(error))

    def _tell(self, line: str, stage: str, why: str) -> None:
        self._report.put(String(f"{line}: {stage}{f': {why}' if why else ''}"))


def _is_over(report: Report) -> bool:
    return report.stage.final
