"""What we want, one file each: tasks with an error, a Jacobian, goals and gains; your own is one class more."""

from wholebody.tasks.cartesian_position import CartesianPositionTask
from wholebody.tasks.center_of_mass import CenterOfMassTask
from wholebody.tasks.center_of_pressure import CenterOfPressureTask
from wholebody.tasks.contact_force import ContactForceTask
from wholebody.tasks.external_force import ExternalForceTask
from wholebody.tasks.internal_force import InternalForceTask
from wholebody.tasks.joint_limits import JointLimitTask
from wholebody.tasks.joint_position import JointPositionTask
from wholebody.tasks.momentum import MomentumTask
from wholebody.tasks.orientation_2d import Orientation2DTask
from wholebody.tasks.orientation_3d import Orientation3DTask
from wholebody.tasks.pose import PoseTask
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
