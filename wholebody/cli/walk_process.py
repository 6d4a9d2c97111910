"""The process of a walking controller: it connects to a robot that runs, does a list of things, and says what is done.

python -m wholebody.cli.walk_process NAME ROBOT STABILIZER "stand" "walk 2" "turn 90" "wait 6"
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence

from wholebody import robots
from wholebody.behaviors import Walking
from wholebody.channels import Channel, Writer
from wholebody.errors import BadFootsteps, WholebodyError
from wholebody.hardware import Names
from wholebody.hardware.connection import Connection, connect
from wholebody.messages import event

CONTROLLER = "walk"


def events_channel(name: str) -> str:
    """Where the controller says what it has done."""
    return f"{Names(name).robot}.walk.events"


def orders(walking: Walking) -> dict[str, Callable[[float], None]]:
    """What it can be told, with one number each."""
    return {
        "stand": lambda seconds: walking.stand(seconds or 2.0),
        "walk": lambda metres: walking.walk(distance=metres),
        "aside": lambda metres: walking.go(leftward=metres),
        "turn": lambda degrees: walking.turn(math.radians(degrees)),
        "step": lambda count: walking.walk(steps_in_place=int(count)),
        "wait": lambda seconds: None,
    }


class Script:
    """One order after the other; each is done when the robot stands again, a wait when its time is over."""

    def __init__(self, walking: Walking, lines: Sequence[str], say: Callable[[str, float], None]) -> None:
        self._walking, self._say = walking, say
        known = orders(walking)
        self._todo = [_read(line, known) for line in lines]
        self._until = -math.inf
        self.now = ""

    def go_on(self, time: float) -> bool:
        """Take the next order if the last one is done; False when all are."""
        if not self._walking.standing or time < self._until:
            return True
        if self.now:
            self._say(self.now, time)
            self.now = ""
        if not self._todo:
            return False
        word, number = self._todo.pop(0)
        self.now = f"{word} {number:g}" if number else word
        orders(self._walking)[word](number)
        self._until = time + (number if word == "wait" else 0.5)
        return True


def _read(line: str, known: dict[str, Callable[[float], None]]) -> tuple[str, float]:
    word, *numbers = line.split() or [""]
    try:
        if word in known and len(numbers) <= 1:
            return word, float(numbers[0]) if numbers else 0.0
    except ValueError:
        pass
    raise BadFootsteps(f"'{line}' is no order; say one of {', '.join(known)} and a number, such as 'walk 2'")


def run(name: str, robot: str, stabilizer: str, lines: Sequence[str]) -> None:
    """Connect, and do what the lines say."""
    walking = Walking(robots.load(robot), stabilizer=stabilizer)
    with Channel(events_channel(name), event()) as channel, channel.writer() as writer:
        with connect(CONTROLLER, name, period=0.02) as connection:
            script = Script(walking, ["stand", *lines], lambda what, time: tell(writer, what, time))
            tell(writer, "ready", connection.now)
            follow(connection, walking, script)
        tell(writer, "end", connection.now, walking.trouble)


def follow(connection: Connection, walking: Walking, script: Script) -> None:
    """The loop: newest state, one cycle, one reference."""
    while script.go_on(connection.tick()) or not walking.standing:
        walking.cycle(connection.state, connection.reference)
        connection.put()
        if walking.trouble and walking.standing:
            return


def tell(writer: Writer, what: str, time: float, text: str = "") -> None:
    """Put one event."""
    message = writer.message
    message["time"], message["source"], message["name"], message["text"] = time, b"walk", what.encode(), text.encode()
    writer.put()


if __name__ == "__main__":
    try:
        run(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
    except WholebodyError as error:
        print(f"walk: {error}", file=sys.stderr, flush=True)
        sys.exit(1)
