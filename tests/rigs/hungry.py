"""A behaviour that needs more and more memory."""

from dataclasses import dataclass

from wholebody.behaviors import Goal


@dataclass(frozen=True)
class Eat(Goal):
    """Eat memory until there is none."""

    def run(self, robot):
        eaten = []
        while True:
            eaten.append(b"x" * (1 << 20))
            yield 0.0
