"""What can change while running: fields that carry their unit and bounds, and lie where kernels can read them."""

from wholebody.parameters.annotations import Bounds, OneForEachRow, Size, Unit
from wholebody.parameters.packed import Packed

__all__ = ["Bounds", "OneForEachRow", "Packed", "Size", "Unit"]
