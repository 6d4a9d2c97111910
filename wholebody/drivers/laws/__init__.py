"""Laws of drivers: what ours keep, checked on anybody's; each with the figure seen and, if broken, a remedy."""

from wholebody.drivers.laws.check import check
from wholebody.drivers.laws.loop import Verdict
from wholebody.drivers.laws.moving import REACH

__all__ = ["REACH", "Verdict", "check"]
