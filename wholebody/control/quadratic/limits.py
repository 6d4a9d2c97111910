"""How fast a joint or a distance may be after the next period, so that it can always still stop; rows.c has the law."""

from wholebody._kernels import quadratic_closing_range as closing_range
from wholebody._kernels import quadratic_velocity_range as velocity_range

__all__ = ["closing_range", "velocity_range"]
