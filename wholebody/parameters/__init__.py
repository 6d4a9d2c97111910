"""What can change while running: parameters with units and bounds, their bindings, events and services."""

from wholebody.parameters.packed import Packed
from wholebody.parameters.parameter import Bounds, Meaning, OneForEachRow, Size, Unit
from wholebody.parameters.reflection import Parameters

__all__ = ["Bounds", "Meaning", "OneForEachRow", "Packed", "Parameters", "Size", "Unit"]
