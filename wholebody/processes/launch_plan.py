"""LaunchPlan: which robot is to run and what is behind it; its processes get it as one option, --plan."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Any

from wholebody.daemon.timing import Contract, OnMiss
from wholebody.drivers.names import Names
from wholebody.errors import BadMessage, UnknownName
from wholebody.messages import Filter

TIERS = {"virtual": "hubo2plus", "mini": "minihubo", "full": "hubo2plus"}
"""The tiers, and the robot of each if nobody says otherwise."""
FILTERS = {filter.name.lower(): filter for filter in Filter}


@dataclass(frozen=True)
class LaunchPlan:
    """A robot to run."""

    name: str
    robot: str
    tier: str
    period: float = 0.005
    physics: bool = True
    scene: str = "flat"  # what stands around a simulated robot
    fast: bool = False  # than real time, if nobody needs real time
    loopback: bool = False
    can: tuple[str, ...] = ()  # buses of a real robot; none: simulated boards
    device: str = ""  # servo bus of a real robot; none: simulated servos
    filter: str = ""  # for all joints, as one types it: smooth 20
    misses_allowed: int = Contract.misses_allowed
    on_miss: str = str(Contract.on_miss)

    @classmethod
    def make(cls, name: str, robot: str, tier: str, physics: bool | None = None, **more: Any) -> LaunchPlan:
        """Check the tier, and choose its robot unless one is given; only the virtual tier has physics by itself."""
        if tier not in TIERS:
            raise UnknownName("tier", tier, TIERS)
        physics = tier == "virtual" if physics is None else physics
        return cls(name, robot or TIERS[tier], tier, physics=physics, **more)

    @property
    def contract(self) -> Contract:
        """What the loop promises."""
        if self.on_miss not in list(OnMiss):
            raise UnknownName("thing to do on a miss", self.on_miss, list(OnMiss))
        return Contract(self.period, self.misses_allowed, OnMiss(self.on_miss))

    @property
    def behind(self) -> str:
        """What stands behind the daemon: a key of the table of robots."""
        if self.loopback:
            return "loopback"
        hardware = {"virtual": False, "mini": bool(self.device), "full": bool(self.can)}[self.tier]
        return self.tier if hardware or self.tier == "virtual" else f"simulated {self.tier}"

    def text(self) -> str:
        """The plan as one argument of a process; what is as usual is left out."""
        usual = {each.name: each.default for each in fields(self)}
        return json.dumps({key: value for key, value in asdict(self).items() if value != usual[key]})

    @classmethod
    def parse(cls, text: str) -> LaunchPlan:
        """Read what text() wrote."""
        given: dict[str, Any] = json.loads(text)
        return cls(**(given | {"can": tuple(given.get("can", ()))}))


def boards_channel(name: str) -> str:
    """Where simulated boards say how they can be reached."""
    return f"{Names(name).robot}.boards"


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
