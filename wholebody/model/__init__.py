"""What physics says: Model and its Snapshots of M, h, g, Jacobians and frames; support polygons."""

from wholebody.model.model import Model
from wholebody.model.snapshot import Snapshot
from wholebody.model.support import Contacts, Point, SupportPolygon
from wholebody.model.warmup import warmup

__all__ = ["Contacts", "Model", "Point", "Snapshot", "SupportPolygon", "warmup"]
