"""What physics says: Model and its Snapshots of M, h, g, Jacobians and frames; support polygons; planar models."""

from wholebody.model.double_pendulum import DoublePendulum, InvertedDoublePendulum
from wholebody.model.model import Model
from wholebody.model.relative import Relative
from wholebody.model.snapshot import Snapshot
from wholebody.model.support import Contacts, Point, SupportPolygon
from wholebody.model.two_link import TwoLink

__all__ = [
    "Contacts",
    "DoublePendulum",
    "InvertedDoublePendulum",
    "Model",
    "Point",
    "Relative",
    "Snapshot",
    "SupportPolygon",
    "TwoLink",
]
