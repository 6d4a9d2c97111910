"""What nodes of ROS 2 ask each other: actions, parameters, services, and which node has which topics."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

from wholebody.ros.message import (
    Bool,
    Bools,
    Float64,
    Float64s,
    Int8,
    Int32,
    Int64,
    Int64s,
    Message,
    RawBytes,
    Text,
    Texts,
    Uint8,
    Uint8x16,
    Uint16,
    Uint64,
)
from wholebody.ros.standard import (
    Duration,
    Header,
    JointTrajectory,
    JointTrajectoryPoint,
    MultiDOFJointTrajectory,
    MultiDOFJointTrajectoryPoint,
    Time,
)

Request = TypeVar("Request", bound=Message)
Response = TypeVar("Response", bound=Message)


@dataclass(frozen=True)
class ServiceType(Generic[Request, Response]):
    """A type of service: its name, what is asked, what is answered."""

    ros: str
    request: type[Request]
    response: type[Response]


# --- which node has which topics ---------------------------------------------------------------------


@dataclass
class Gid(Message, ros="rmw_dds_common/msg/Gid"):
    """The number of a participant, a reader or a writer; since Iron."""

    data: Uint8x16 = bytes(16)


@dataclass
class NodeEntitiesInfo(Message, ros="rmw_dds_common/msg/NodeEntitiesInfo"):
    """A node, with its readers and writers."""

    node_namespace: Text = "/"
    node_name: Text = ""
    reader_gid_seq: list[Gid] = field(default_factory=list)
    writer_gid_seq: list[Gid] = field(default_factory=list)


@dataclass
class ParticipantEntitiesInfo(Message, ros="rmw_dds_common/msg/ParticipantEntitiesInfo"):
    """The nodes of a participant."""

    gid: Gid = field(default_factory=Gid)
    node_entities_info_seq: list[NodeEntitiesInfo] = field(default_factory=list)


# --- actions -----------------------------------------------------------------------------------------


@dataclass
class UUID(Message, ros="unique_identifier_msgs/msg/UUID"):
    """The number of a goal."""

    uuid: Uint8x16 = bytes(16)


@dataclass
class GoalInfo(Message, ros="action_msgs/msg/GoalInfo"):
    """Which goal, and when it was accepted."""

    goal_id: UUID = field(default_factory=UUID)
    stamp: Time = field(default_factory=Time)


@dataclass
class GoalStatus(Message, ros="action_msgs/msg/GoalStatus"):
    """How far a goal has come."""

    goal_info: GoalInfo = field(default_factory=GoalInfo)
    status: Int8 = 0


@dataclass
class GoalStatusArray(Message, ros="action_msgs/msg/GoalStatusArray"):
    """How far all goals have come."""

    status_list: list[GoalStatus] = field(default_factory=list)


@dataclass
class CancelGoalRequest(Message, ros="action_msgs/srv/CancelGoal_Request"):
    """Which goals to give up: one, those accepted until a stamp, or all (both zero)."""

    goal_info: GoalInfo = field(default_factory=GoalInfo)


@dataclass
class CancelGoalResponse(Message, ros="action_msgs/srv/CancelGoal_Response"):
    """Whether they are given up: 0; 1 rejected, 2 unknown, 3 ended before."""

    return_code: Int8 = 0
    goals_canceling: list[GoalInfo] = field(default_factory=list)


CANCEL_GOAL = ServiceType("action_msgs/srv/CancelGoal", CancelGoalRequest, CancelGoalResponse)


@dataclass
class JointTolerance(Message, ros="control_msgs/msg/JointTolerance"):
    """How far a joint may be off; 0: as the server has it, negative: as far as it likes."""

    name: Text = ""
    position: Float64 = 0.0
    velocity: Float64 = 0.0
    acceleration: Float64 = 0.0


@dataclass
class JointComponentTolerance(Message, ros="control_msgs/msg/JointComponentTolerance"):
    """The same of a joint of several degrees of freedom."""

    joint_name: Text = ""
    component: Uint16 = 0
    position: Float64 = 0.0
    velocity: Float64 = 0.0
    acceleration: Float64 = 0.0


_ACTION = "control_msgs/action/FollowJointTrajectory"


@dataclass
class FollowJointTrajectoryGoal(Message, ros=f"{_ACTION}_Goal"):
    """A trajectory to be followed, and how exactly."""

    trajectory: JointTrajectory = field(default_factory=JointTrajectory)
    multi_dof_trajectory: MultiDOFJointTrajectory = field(default_factory=MultiDOFJointTrajectory)
    path_tolerance: list[JointTolerance] = field(default_factory=list)
    component_path_tolerance: list[JointComponentTolerance] = field(default_factory=list)
    goal_tolerance: list[JointTolerance] = field(default_factory=list)
    component_goal_tolerance: list[JointComponentTolerance] = field(default_factory=list)
    goal_time_tolerance: Duration = field(default_factory=Duration)


@dataclass
class FollowJointTrajectoryResult(Message, ros=f"{_ACTION}_Result"):
    """How it ended."""

    error_code: Int32 = 0
    error_string: Text = ""


@dataclass
class FollowJointTrajectoryFeedback(Message, ros=f"{_ACTION}_Feedback"):
    """Where joints are to be, where they are, and the difference."""

    header: Header = field(default_factory=Header)
    joint_names: Texts = ()
    desired: JointTrajectoryPoint = field(default_factory=JointTrajectoryPoint)
    actual: JointTrajectoryPoint = field(default_factory=JointTrajectoryPoint)
    error: JointTrajectoryPoint = field(default_factory=JointTrajectoryPoint)
    multi_dof_joint_names: Texts = ()
    multi_dof_desired: MultiDOFJointTrajectoryPoint = field(default_factory=MultiDOFJointTrajectoryPoint)
    multi_dof_actual: MultiDOFJointTrajectoryPoint = field(default_factory=MultiDOFJointTrajectoryPoint)
    multi_dof_error: MultiDOFJointTrajectoryPoint = field(default_factory=MultiDOFJointTrajectoryPoint)


@dataclass
class SendGoalRequest(Message, ros=f"{_ACTION}_SendGoal_Request"):
    """A goal and its number."""

    goal_id: UUID = field(default_factory=UUID)
    goal: FollowJointTrajectoryGoal = field(default_factory=FollowJointTrajectoryGoal)


@dataclass
class SendGoalResponse(Message, ros=f"{_ACTION}_SendGoal_Response"):
    """Whether it is taken."""

    accepted: Bool = False
    stamp: Time = field(default_factory=Time)


@dataclass
class GetResultRequest(Message, ros=f"{_ACTION}_GetResult_Request"):
    """Which goal's result is asked for."""

    goal_id: UUID = field(default_factory=UUID)


@dataclass
class GetResultResponse(Message, ros=f"{_ACTION}_GetResult_Response"):
    """How a goal ended."""

    status: Int8 = 0
    result: FollowJointTrajectoryResult = field(default_factory=FollowJointTrajectoryResult)


@dataclass
class FeedbackMessage(Message, ros=f"{_ACTION}_FeedbackMessage"):
    """How a goal is getting on."""

    goal_id: UUID = field(default_factory=UUID)
    feedback: FollowJointTrajectoryFeedback = field(default_factory=FollowJointTrajectoryFeedback)


SEND_GOAL = ServiceType(f"{_ACTION}_SendGoal", SendGoalRequest, SendGoalResponse)
GET_RESULT = ServiceType(f"{_ACTION}_GetResult", GetResultRequest, GetResultResponse)


# --- parameters --------------------------------------------------------------------------------------


@dataclass
class ParameterValue(Message, ros="rcl_interfaces/msg/ParameterValue"):
    """A value: `type` says which of the fields counts."""

    type: Uint8 = 0
    bool_value: Bool = False
    integer_value: Int64 = 0
    double_value: Float64 = 0.0
    string_value: Text = ""
    byte_array_value: RawBytes = b""
    bool_array_value: Bools = ()
    integer_array_value: Int64s = ()
    double_array_value: Float64s = ()
    string_array_value: Texts = ()


@dataclass
class Parameter(Message, ros="rcl_interfaces/msg/Parameter"):
    """A name and a value."""

    name: Text = ""
    value: ParameterValue = field(default_factory=ParameterValue)


@dataclass
class FloatingPointRange(Message, ros="rcl_interfaces/msg/FloatingPointRange"):
    """From where to where."""

    from_value: Float64 = 0.0
    to_value: Float64 = 0.0
    step: Float64 = 0.0


@dataclass
class IntegerRange(Message, ros="rcl_interfaces/msg/IntegerRange"):
    """From where to where."""

    from_value: Int64 = 0
    to_value: Int64 = 0
    step: Uint64 = 0


@dataclass
class ParameterDescriptor(Message, ros="rcl_interfaces/msg/ParameterDescriptor"):
    """What a parameter is."""

    name: Text = ""
    type: Uint8 = 0
    description: Text = ""
    additional_constraints: Text = ""
    read_only: Bool = False
    dynamic_typing: Bool = False
    floating_point_range: list[FloatingPointRange] = field(default_factory=list)
    integer_range: list[IntegerRange] = field(default_factory=list)


@dataclass
class SetParametersResult(Message, ros="rcl_interfaces/msg/SetParametersResult"):
    """Whether a value was taken, and why not."""

    successful: Bool = False
    reason: Text = ""


@dataclass
class ListParametersResult(Message, ros="rcl_interfaces/msg/ListParametersResult"):
    """Names, and what stands before the last dot of them."""

    names: Texts = ()
    prefixes: Texts = ()


@dataclass
class NamesRequest(Message):
    """The names that something is asked about."""

    names: Texts = ()


@dataclass
class GetParametersRequest(NamesRequest, ros="rcl_interfaces/srv/GetParameters_Request"):
    """Which values."""


@dataclass
class GetParametersResponse(Message, ros="rcl_interfaces/srv/GetParameters_Response"):
    """Those values."""

    values: list[ParameterValue] = field(default_factory=list)


@dataclass
class GetParameterTypesRequest(NamesRequest, ros="rcl_interfaces/srv/GetParameterTypes_Request"):
    """Which types."""


@dataclass
class GetParameterTypesResponse(Message, ros="rcl_interfaces/srv/GetParameterTypes_Response"):
    """Those types."""

    types: RawBytes = b""


@dataclass
class DescribeParametersRequest(NamesRequest, ros="rcl_interfaces/srv/DescribeParameters_Request"):
    """Which descriptions."""


@dataclass
class DescribeParametersResponse(Message, ros="rcl_interfaces/srv/DescribeParameters_Response"):
    """Those descriptions."""

    descriptors: list[ParameterDescriptor] = field(default_factory=list)


@dataclass
class ListParametersRequest(Message, ros="rcl_interfaces/srv/ListParameters_Request"):
    """Which names, by what they begin with, and how deep (0: however deep)."""

    prefixes: Texts = ()
    depth: Uint64 = 0


@dataclass
class ListParametersResponse(Message, ros="rcl_interfaces/srv/ListParameters_Response"):
    """Those names."""

    result: ListParametersResult = field(default_factory=ListParametersResult)


@dataclass
class SetParametersRequest(Message, ros="rcl_interfaces/srv/SetParameters_Request"):
    """New values, each on its own."""

    parameters: list[Parameter] = field(default_factory=list)


@dataclass
class SetParametersResponse(Message, ros="rcl_interfaces/srv/SetParameters_Response"):
    """What became of each."""

    results: list[SetParametersResult] = field(default_factory=list)


@dataclass
class SetParametersAtomicallyRequest(Message, ros="rcl_interfaces/srv/SetParametersAtomically_Request"):
    """New values, all or none."""

    parameters: list[Parameter] = field(default_factory=list)


@dataclass
class SetParametersAtomicallyResponse(Message, ros="rcl_interfaces/srv/SetParametersAtomically_Response"):
    """What became of them."""

    result: SetParametersResult = field(default_factory=SetParametersResult)


_RCL = "rcl_interfaces/srv"
GET_PARAMETERS = ServiceType(f"{_RCL}/GetParameters", GetParametersRequest, GetParametersResponse)
GET_PARAMETER_TYPES = ServiceType(f"{_RCL}/GetParameterTypes", GetParameterTypesRequest, GetParameterTypesResponse)
DESCRIBE_PARAMETERS = ServiceType(f"{_RCL}/DescribeParameters", DescribeParametersRequest, DescribeParametersResponse)
LIST_PARAMETERS = ServiceType(f"{_RCL}/ListParameters", ListParametersRequest, ListParametersResponse)
SET_PARAMETERS = ServiceType(f"{_RCL}/SetParameters", SetParametersRequest, SetParametersResponse)
SET_PARAMETERS_ATOMICALLY = ServiceType(
    f"{_RCL}/SetParametersAtomically", SetParametersAtomicallyRequest, SetParametersAtomicallyResponse
)


# --- services of everyday ----------------------------------------------------------------------------


@dataclass
class TriggerRequest(Message, ros="std_srvs/srv/Trigger_Request"):
    """Nothing; ROS gives it one byte, because DDS knows no empty message."""

    structure_needs_at_least_one_member: Uint8 = 0


@dataclass
class TriggerResponse(Message, ros="std_srvs/srv/Trigger_Response"):
    """Whether it was done, and what there is to say."""

    success: Bool = False
    message: Text = ""


TRIGGER = ServiceType("std_srvs/srv/Trigger", TriggerRequest, TriggerResponse)
