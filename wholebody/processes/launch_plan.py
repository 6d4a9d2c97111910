"""LaunchPlan: which robot is to run and what is behind it; its processes get it as one option, --plan."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Any

from wholebody import robots
from wholebody.daemon.timing import Contract, OnMiss
from wholebody.drivers.catalog import DriverChoice, check_choice, for_robot
from wholebody.errors import BadDriver, BadMessage, UnknownName
from wholebody.messages import Filter

USUAL_ROBOTS = ("hubo2plus", "minihubo")
"""Of these the first whose description names the driver that is asked for, if nobody says which robot."""
COMPANIONS = {
    "simulator": ("simulator", ""),
    "hubo_can": ("boards", "buses"),
    "dynamixel": ("boards", "devices"),
    "unitree": ("boards", "interface"),
    "moteus": ("boards", "buses"),
}
"""Drivers beside which the daemon needs a process: its role, and the option that names a real device instead."""
NOT_IN_A_DAEMON = ("simulation", "daemon")
"""Drivers for `wholebody run` alone: physics in the process of the loop, and the daemon itself."""
UNGUARDED = ("simulator", "loopback")
"""Drivers that move no device: a daemon that hangs does no harm there, and a simulator may keep it waiting for long."""
FILTERS = {filter.name.lower(): filter for filter in Filter}


@dataclass(frozen=True)
class LaunchPlan:
    """A robot to run."""

    name: str
    robot: str
    driver: str = "simulator"  # NAME[:option=value,…]
    period: float = 0.005
    physics: bool = True
    scene: str = "flat"  # what stands around a simulated robot
    self_collision: str = "usual"  # which links of a simulated robot collide with each other
    fast: bool = False  # than real time, if nobody needs real time
    filter: str = ""  # for all joints, as one types it: smooth 20
    gantry: float = 0.0  # s that a simulated G1 hangs after its first command; 0: it stands
    misses_allowed: int = Contract.misses_allowed
    on_miss: str = str(Contract.on_miss)
    behaviors: tuple[str, ...] = ()  # that are begun with it, by name or as FILE.py:Class
    guard: bool = True  # whether a guard watches the daemon of a device

    @classmethod
    def make(
        cls, name: str, robot: str = "", driver: str = "virtual", physics: bool | None = None, **more: Any
    ) -> LaunchPlan:
        """Check the driver, and choose its robot unless one is given; only the simulator has physics by itself."""
        robot = robot or usual_robot(driver)
        choice = for_robot(driver, robots.load(robot))
        if choice.name in NOT_IN_A_DAEMON:
            raise BadDriver(f"driver '{choice.name}' is for wholebody run; behind a daemon take simulator")
        check_choice(str(choice))
        physics = choice.name == "simulator" if physics is None else physics
        return cls(name, robot, str(choice), physics=physics, **more)

    @property
    def contract(self) -> Contract:
        """What the loop promises."""
        if self.on_miss not in list(OnMiss):
            raise UnknownName("thing to do on a miss", self.on_miss, list(OnMiss))
        return Contract(self.period, self.misses_allowed, OnMiss(self.on_miss))

    @property
    def choice(self) -> DriverChoice:
        """The driver and its options."""
        return DriverChoice.parse(self.driver)

    @property
    def companion(self) -> str:
        """The role of the process that the daemon needs beside it; empty if none."""
        role, real = COMPANIONS.get(self.choice.name, ("", ""))
        return "" if self.choice.options.get(real) else role

    @property
    def guarded(self) -> bool:
        """Whether a guard is begun beside the daemon."""
        return self.guard and self.choice.name not in UNGUARDED

    @property
    def behind(self) -> str:
        """What stands behind the daemon: the driver's name, and whether its device is simulated."""
        return f"simulated {self.choice.name}" if self.companion == "boards" else self.choice.name

    @property
    def tier(self) -> str:
        """The robot's own name for this driver; empty if it has none."""
        driver, tiers = self.choice.name, robots.load(self.robot).drivers
        return next((tier for tier, text in tiers.items() if DriverChoice.parse(text).name == driver), "")

    def text(self) -> str:
        """The plan as one argument of a process; what is as usual is left out."""
        usual = {each.name: each.default for each in fields(self)}
        return json.dumps({key: value for key, value in asdict(self).items() if value != usual[key]})

    @classmethod
    def parse(cls, text: str) -> LaunchPlan:
        """Read what text() wrote."""
        given: dict[str, Any] = json.loads(text)
        return cls(**given | {"behaviors": tuple(given.get("behaviors", ()))})


def usual_robot(driver: str) -> str:
    """The robot that a driver, or a tier, is for."""
    name = DriverChoice.parse(driver).name
    for each in USUAL_ROBOTS:
        drivers = robots.load(each).drivers
        if name in (*drivers, *(DriverChoice.parse(text).name for text in drivers.values())):
            return each
    return USUAL_ROBOTS[0]


def filter_request(words: str) -> tuple[Filter, float]:
    """Read a filter as one types it: pass; smooth 20; compliant 0.5; feedback 20."""
    kind, *more = words.lower().replace(":", " ").split() or [""]
    if kind not in FILTERS:
        raise UnknownName("mode", kind, FILTERS)
    if FILTERS[kind] is Filter.PASS and not more:
        return Filter.PASS, 0.0
    try:
        (value,) = (float(word) for word in more)
    except ValueError:
        takes = {Filter.PASS: "no number", Filter.COMPLIANT: "a gain Kc below 1"}.get(FILTERS[kind], "a length L ≥ 1")
        raise BadMessage(f"mode {kind} takes {takes}, not '{' '.join(more)}'") from None
    if FILTERS[kind] is Filter.PASS:
        raise BadMessage(f"mode pass takes no number, not '{more[0]}'")
    return FILTERS[kind], value
