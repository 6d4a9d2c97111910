"""What must hold, one file each: contacts, wheels, transmissions, a base that is bolted down."""

from wholebody.constraints.closed_loop import ClosedLoop
from wholebody.constraints.coactuation import Coactuation
from wholebody.constraints.constraint import Constraint, ConstraintRows
from wholebody.constraints.contacts import FixedBase, FlatContact, LineContact, OmniWheelContact, PointContact

__all__ = [
    "ClosedLoop",
    "Coactuation",
    "Constraint",
    "ConstraintRows",
    "FixedBase",
    "FlatContact",
    "LineContact",
    "OmniWheelContact",
    "PointContact",
]
