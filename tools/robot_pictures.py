"""Write docs/robots/NAME.png for every robot: home and stance side by side; `make pictures` runs it."""

import sys
from pathlib import Path

from wholebody import robots
from wholebody.simulation.film import portrait, write_png

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "robots"


def main(names: list[str]) -> None:
    """Draw the robots named, or all."""
    FOLDER.mkdir(exist_ok=True)
    for name in names or robots.names():
        path = FOLDER / f"{name}.png"
        write_png(path, portrait(robots.load(name)))
        print(f"docs/robots/{path.name}  {path.stat().st_size / 1024:.0f} KiB")


if __name__ == "__main__":
    main(sys.argv[1:])
