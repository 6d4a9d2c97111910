"""An operator who fetches an antenna, over RCP: search, say which it is, choose an arm, have it carried and put down.

wholebody start --scene antenna
wholebody rcp &
python examples/antenna_operator.py
"""

from __future__ import annotations

import sys
import time

from wholebody.behaviors.state_machine import Published, State, StateMachine, Watch
from wholebody.errors import Refused
from wholebody.operator.rcp.client import Client

PATIENCE = 600.0  # s of real time: a simulated robot may be slow


class Operator:
    """Says lines, hears what becomes of them, and decides what a person who sees the video would."""

    def __init__(self, robot: Client, quiet: bool = False) -> None:
        self.robot, self.quiet = robot, quiet
        self.commands, self.decisions, self.turns = 0, 0, 0
        self.event, self.reason = "", ""
        self.path: list[str] = []
        self.mission = StateMachine(
            "antenna",
            [
                State("search", self.turn_and_look, {"seen": "approach", "nothing": "search", "refused": "failed"}),
                State("approach", self.say_which_it_is, {"done": "grasp", "refused": "search"}),
                State("grasp", self.choose_an_arm, {"done": "carry", "refused": "approach"}),
                State("carry", self.go_to_the_goal, {"done": "place", "refused": "failed"}),
                State("place", self.put_it_down, {"done": "done", "refused": "failed"}),
                State("done"),
                State("failed"),
            ],
        )

    def play(self, *watch: Watch) -> str:
        """Fetch it; done or failed."""
        self.robot.connect("operator")
        self.robot.take_control()
        self.robot.ask("NOTIFY [event, warning]")
        self.wait_for_legs()
        end = self.mission.run(lambda events, timeout: self.event, [self.note, *watch])
        self.robot.give_control_back()
        return end

    def note(self, _, change):
        self.path.append(change.after)

    def wait_for_legs(self):
        """A walking controller takes some seconds to start."""
        until = time.monotonic() + 120.0
        while self.event != "done" and time.monotonic() < until:
            time.sleep(1.0)
            self.order("MOVE TURNING LEFT 1 DEGREES")
            self.commands = 0  # whoever takes control when it is ready does not say this

    # What is done in each state.

    def turn_and_look(self):
        self.order("MOVE TURNING LEFT 40 DEGREES")
        self.turns += 1
        if self.event == "done":
            found = [radius for _, radius in self.seen()]
            self.event = "seen" if any(radius < 0.03 for radius in found) else "nothing"
        if self.turns > 9:
            self.event = "refused"

    def say_which_it_is(self):
        self.order("GOTO OBJECT(antenna)", self.thinnest)

    def choose_an_arm(self):
        self.order("GRAB OBJECT(antenna)", lambda arms: arms[0])

    def go_to_the_goal(self):
        self.order("GOTO OBJECT(goal_stand)")

    def put_it_down(self):
        self.order("DROP OBJECT(antenna)")

    # How.

    def order(self, line, choose=None):
        """Give an order, decide what it asks, and note how it ended."""
        self.commands += 1
        self.tell(f"> {line}")
        try:
            self.reason = self.robot.do(line, PATIENCE, choose and (lambda ways: self.decide(ways, choose)))
            self.event = "done" if self.reason == "COMPLETED" else "refused"
            self.tell(self.reason)
        except Refused as error:
            self.event, self.reason = "refused", str(error)
            self.tell(f"refused: {error}")
        while self.robot.heard:
            self.tell(f"  {self.robot.heard.popleft()}")

    def decide(self, ways, choose):
        self.decisions += 1
        chosen = choose(ways)
        self.tell(f"  among {', '.join(ways)}: {chosen}")
        return chosen

    def seen(self) -> list[tuple[str, float]]:
        """Each object that was seen, and its radius: to a person, what it looks like."""
        readings = self.robot.ask("QUERY SENSOR []").partition("[")[2].rstrip("]").split(", ")
        objects = [each.removeprefix("seen.").split("=") for each in readings if each.startswith("seen.")]
        return [(name, float(numbers.split()[3])) for name, numbers in objects]

    def thinnest(self, ways):
        """The antenna is a mast; what else there is of its colour is not."""
        thickness = dict(self.seen())
        return min(ways, key=lambda each: thickness.get(each, 1.0))

    def robot_time(self) -> float:
        """Seconds of the robot's own clock."""
        return float(self.robot.ask("QUERY SENSOR [time]").partition("=")[2].rstrip("]"))

    def tell(self, text):
        if not self.quiet:
            print(text, flush=True)


if __name__ == "__main__":
    host, _, port = (sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:7878").partition(":")
    with Client(host, int(port or 7878)) as client, Published("antenna") as published:
        operator = Operator(client)
        end = operator.play(published)  # the operator page of a robot on this machine draws the mission
        print(f"{end}: {operator.commands} commands, {operator.decisions} decisions. {operator.reason}")
        sys.exit(0 if end == "done" else 1)
