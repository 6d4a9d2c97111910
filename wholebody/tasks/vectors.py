"""How goals are written: as fields of tasks, with their sizes."""

from __future__ import annotations

from typing import Annotated, Any

from wholebody.parameters import Size

Vector3 = Annotated[Any, Size(3)]
"""Given as whatever people type; kept as an array."""

Vector2 = Annotated[Any, Size(2)]
Vector6 = Annotated[Any, Size(6)]
Quaternion = Annotated[Any, Size(4)]
"""x y z w, of any length but zero."""
