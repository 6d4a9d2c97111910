"""Laws of drivers: what ours keep, checked on anybody's; each with the figure seen and, if broken, a remedy."""

from wholebody.drivers.laws.check import check
from wholebody.drivers.laws.moving import REACH
from wholebody.drivers.laws.verdict import Verdict

__all__ = ["REACH", "Verdict", "check"]
