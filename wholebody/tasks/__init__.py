"""What we want, one file each: tasks with an error, a Jacobian, goals and gains; your own is one class more."""

from wholebody.tasks.centroidal import CenterOfMassTask, MomentumTask
from wholebody.tasks.forces import CenterOfPressureTask, ContactForceTask, ExternalForceTask, InternalForceTask
from wholebody.tasks.frames import CartesianPositionTask, Orientation2DTask, Orientation3DTask, PoseTask
from wholebody.tasks.joints import JointLimitTask, JointPositionTask
from wholebody.tasks.sliding_mode import SlidingMode
from wholebody.tasks.task import ForceRows, Task, TaskRows

__all__ = [
    "CartesianPositionTask",
    "CenterOfMassTask",
    "CenterOfPressureTask",
    "ContactForceTask",
    "ExternalForceTask",
    "ForceRows",
    "InternalForceTask",
    "JointLimitTask",
    "JointPositionTask",
    "MomentumTask",
    "Orientation2DTask",
    "Orientation3DTask",
    "PoseTask",
    "SlidingMode",
    "Task",
    "TaskRows",
]
