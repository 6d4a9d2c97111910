"""The standard messages of ROS 2 that a robot speaks, as dataclasses; Jazzy's, which are Humble's too."""

from __future__ import annotations

from dataclasses import dataclass, field

from wholebody.ros.message import (
    Bool,
    Byte,
    Bytes,
    Float32,
    Float64,
    Float64s,
    Float64x9,
    Float64x12,
    Float64x36,
    Int32,
    Message,
    Text,
    Texts,
    Uint8,
    Uint32,
)

ZEROS_9, ZEROS_12, ZEROS_36 = (0.0,) * 9, (0.0,) * 12, (0.0,) * 36


@dataclass
class Time(Message, ros="builtin_interfaces/msg/Time"):
    """An instant; `Time.of(12.3)` is one of so many seconds."""

    sec: Int32 = 0
    nanosec: Uint32 = 0

    @classmethod
    def of(cls, seconds: float) -> Time:
        """Seconds, to the nanosecond."""
        whole, rest = divmod(round(seconds * 1e9), 1_000_000_000)
        return cls(whole, rest)

    @property
    def seconds(self) -> float:
        """As one number."""
        return self.sec + 1e-9 * self.nanosec


@dataclass
class Duration(Message, ros="builtin_interfaces/msg/Duration"):
    """A time span."""

    sec: Int32 = 0
    nanosec: Uint32 = 0

    @classmethod
    def of(cls, seconds: float) -> Duration:
        """Seconds, to the nanosecond."""
        whole, rest = divmod(round(seconds * 1e9), 1_000_000_000)
        return cls(whole, rest)

    @property
    def seconds(self) -> float:
        """As one number."""
        return self.sec + 1e-9 * self.nanosec


@dataclass
class Header(Message, ros="std_msgs/msg/Header"):
    """When, and in which frame."""

    stamp: Time = field(default_factory=Time)
    frame_id: Text = ""


@dataclass
class String(Message, ros="std_msgs/msg/String"):
    """A text."""

    data: Text = ""


@dataclass
class Float64Message(Message, ros="std_msgs/msg/Float64"):
    """A number."""

    data: Float64 = 0.0


@dataclass
class MultiArrayDimension(Message, ros="std_msgs/msg/MultiArrayDimension"):
    """One dimension of an array."""

    label: Text = ""
    size: Uint32 = 0
    stride: Uint32 = 0


@dataclass
class MultiArrayLayout(Message, ros="std_msgs/msg/MultiArrayLayout"):
    """The dimensions of an array."""

    dim: list[MultiArrayDimension] = field(default_factory=list)
    data_offset: Uint32 = 0


@dataclass
class Float64MultiArray(Message, ros="std_msgs/msg/Float64MultiArray"):
    """An array of numbers."""

    layout: MultiArrayLayout = field(default_factory=MultiArrayLayout)
    data: Float64s = ()


@dataclass
class ColorRGBA(Message, ros="std_msgs/msg/ColorRGBA"):
    """A colour, each part from 0 to 1."""

    r: Float32 = 0.0
    g: Float32 = 0.0
    b: Float32 = 0.0
    a: Float32 = 1.0


@dataclass
class Vector3(Message, ros="geometry_msgs/msg/Vector3"):
    """A vector."""

    x: Float64 = 0.0
    y: Float64 = 0.0
    z: Float64 = 0.0


@dataclass
class Point(Message, ros="geometry_msgs/msg/Point"):
    """A point."""

    x: Float64 = 0.0
    y: Float64 = 0.0
    z: Float64 = 0.0


@dataclass
class Quaternion(Message, ros="geometry_msgs/msg/Quaternion"):
    """A rotation, the scalar last."""

    x: Float64 = 0.0
    y: Float64 = 0.0
    z: Float64 = 0.0
    w: Float64 = 1.0


@dataclass
class Pose(Message, ros="geometry_msgs/msg/Pose"):
    """A place and an orientation."""

    position: Point = field(default_factory=Point)
    orientation: Quaternion = field(default_factory=Quaternion)


@dataclass
class PoseStamped(Message, ros="geometry_msgs/msg/PoseStamped"):
    """A pose at a time, in a frame."""

    header: Header = field(default_factory=Header)
    pose: Pose = field(default_factory=Pose)


@dataclass
class Twist(Message, ros="geometry_msgs/msg/Twist"):
    """A linear and an angular velocity."""

    linear: Vector3 = field(default_factory=Vector3)
    angular: Vector3 = field(default_factory=Vector3)


@dataclass
class Transform(Message, ros="geometry_msgs/msg/Transform"):
    """From one frame to another."""

    translation: Vector3 = field(default_factory=Vector3)
    rotation: Quaternion = field(default_factory=Quaternion)


@dataclass
class TransformStamped(Message, ros="geometry_msgs/msg/TransformStamped"):
    """Where a child frame is in that of the header."""

    header: Header = field(default_factory=Header)
    child_frame_id: Text = ""
    transform: Transform = field(default_factory=Transform)


@dataclass
class Wrench(Message, ros="geometry_msgs/msg/Wrench"):
    """A force and a torque."""

    force: Vector3 = field(default_factory=Vector3)
    torque: Vector3 = field(default_factory=Vector3)


@dataclass
class WrenchStamped(Message, ros="geometry_msgs/msg/WrenchStamped"):
    """A wrench at a time, in a frame."""

    header: Header = field(default_factory=Header)
    wrench: Wrench = field(default_factory=Wrench)


@dataclass
class PoseWithCovariance(Message, ros="geometry_msgs/msg/PoseWithCovariance"):
    """A pose and how sure it is."""

    pose: Pose = field(default_factory=Pose)
    covariance: Float64x36 = ZEROS_36


@dataclass
class TwistWithCovariance(Message, ros="geometry_msgs/msg/TwistWithCovariance"):
    """A velocity and how sure it is."""

    twist: Twist = field(default_factory=Twist)
    covariance: Float64x36 = ZEROS_36


@dataclass
class TFMessage(Message, ros="tf2_msgs/msg/TFMessage"):
    """Where frames are in each other."""

    transforms: list[TransformStamped] = field(default_factory=list)


@dataclass
class Clock(Message, ros="rosgraph_msgs/msg/Clock"):
    """The simulated time."""

    clock: Time = field(default_factory=Time)


@dataclass
class JointState(Message, ros="sensor_msgs/msg/JointState"):
    """Positions, velocities and efforts of joints."""

    header: Header = field(default_factory=Header)
    name: Texts = ()
    position: Float64s = ()
    velocity: Float64s = ()
    effort: Float64s = ()


@dataclass
class Imu(Message, ros="sensor_msgs/msg/Imu"):
    """What an IMU measures; a covariance that begins with −1 says that a part is not measured."""

    header: Header = field(default_factory=Header)
    orientation: Quaternion = field(default_factory=Quaternion)
    orientation_covariance: Float64x9 = ZEROS_9
    angular_velocity: Vector3 = field(default_factory=Vector3)
    angular_velocity_covariance: Float64x9 = ZEROS_9
    linear_acceleration: Vector3 = field(default_factory=Vector3)
    linear_acceleration_covariance: Float64x9 = ZEROS_9


@dataclass
class Image(Message, ros="sensor_msgs/msg/Image"):
    """A picture, row by row."""

    header: Header = field(default_factory=Header)
    height: Uint32 = 0
    width: Uint32 = 0
    encoding: Text = ""
    is_bigendian: Uint8 = 0
    step: Uint32 = 0
    data: Bytes = b""


@dataclass
class CompressedImage(Message, ros="sensor_msgs/msg/CompressedImage"):
    """A picture as a JPEG or PNG file."""

    header: Header = field(default_factory=Header)
    format: Text = ""
    data: Bytes = b""


@dataclass
class RegionOfInterest(Message, ros="sensor_msgs/msg/RegionOfInterest"):
    """A part of a picture; all zero: the whole."""

    x_offset: Uint32 = 0
    y_offset: Uint32 = 0
    height: Uint32 = 0
    width: Uint32 = 0
    do_rectify: Bool = False


@dataclass
class CameraInfo(Message, ros="sensor_msgs/msg/CameraInfo"):
    """How a camera projects."""

    header: Header = field(default_factory=Header)
    height: Uint32 = 0
    width: Uint32 = 0
    distortion_model: Text = "plumb_bob"
    d: Float64s = (0.0,) * 5
    k: Float64x9 = ZEROS_9
    r: Float64x9 = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    p: Float64x12 = ZEROS_12
    binning_x: Uint32 = 0
    binning_y: Uint32 = 0
    roi: RegionOfInterest = field(default_factory=RegionOfInterest)


@dataclass
class Odometry(Message, ros="nav_msgs/msg/Odometry"):
    """Where a body is, and its velocity in its own axes."""

    header: Header = field(default_factory=Header)
    child_frame_id: Text = ""
    pose: PoseWithCovariance = field(default_factory=PoseWithCovariance)
    twist: TwistWithCovariance = field(default_factory=TwistWithCovariance)


@dataclass
class KeyValue(Message, ros="diagnostic_msgs/msg/KeyValue"):
    """A value and what it is."""

    key: Text = ""
    value: Text = ""


@dataclass
class DiagnosticStatus(Message, ros="diagnostic_msgs/msg/DiagnosticStatus"):
    """How a part does: 0 well, 1 a warning, 2 an error, 3 nothing is heard of it."""

    level: Byte = 0
    name: Text = ""
    message: Text = ""
    hardware_id: Text = ""
    values: list[KeyValue] = field(default_factory=list)


@dataclass
class DiagnosticArray(Message, ros="diagnostic_msgs/msg/DiagnosticArray"):
    """How all parts do."""

    header: Header = field(default_factory=Header)
    status: list[DiagnosticStatus] = field(default_factory=list)


@dataclass
class UVCoordinate(Message, ros="visualization_msgs/msg/UVCoordinate"):
    """A place in a texture."""

    u: Float32 = 0.0
    v: Float32 = 0.0


@dataclass
class MeshFile(Message, ros="visualization_msgs/msg/MeshFile"):
    """A mesh within a message."""

    filename: Text = ""
    data: Bytes = b""


@dataclass
class Marker(Message, ros="visualization_msgs/msg/Marker"):
    """Something to be drawn: arrow 0, cube 1, sphere 2, line strip 4, text 9; action 0 adds, 3 deletes all."""

    header: Header = field(default_factory=Header)
    ns: Text = ""
    id: Int32 = 0
    type: Int32 = 0
    action: Int32 = 0
    pose: Pose = field(default_factory=Pose)
    scale: Vector3 = field(default_factory=Vector3)
    color: ColorRGBA = field(default_factory=ColorRGBA)
    lifetime: Duration = field(default_factory=Duration)
    frame_locked: Bool = False
    points: list[Point] = field(default_factory=list)
    colors: list[ColorRGBA] = field(default_factory=list)
    texture_resource: Text = ""
    texture: CompressedImage = field(default_factory=CompressedImage)
    uv_coordinates: list[UVCoordinate] = field(default_factory=list)
    text: Text = ""
    mesh_resource: Text = ""
    mesh_file: MeshFile = field(default_factory=MeshFile)
    mesh_use_embedded_materials: Bool = False


@dataclass
class MarkerArray(Message, ros="visualization_msgs/msg/MarkerArray"):
    """Many markers."""

    markers: list[Marker] = field(default_factory=list)


@dataclass
class JointTrajectoryPoint(Message, ros="trajectory_msgs/msg/JointTrajectoryPoint"):
    """Where joints are to be at a time."""

    positions: Float64s = ()
    velocities: Float64s = ()
    accelerations: Float64s = ()
    effort: Float64s = ()
    time_from_start: Duration = field(default_factory=Duration)


@dataclass
class JointTrajectory(Message, ros="trajectory_msgs/msg/JointTrajectory"):
    """A way for joints."""

    header: Header = field(default_factory=Header)
    joint_names: Texts = ()
    points: list[JointTrajectoryPoint] = field(default_factory=list)


@dataclass
class MultiDOFJointTrajectoryPoint(Message, ros="trajectory_msgs/msg/MultiDOFJointTrajectoryPoint"):
    """Where joints of several degrees of freedom are to be at a time."""

    transforms: list[Transform] = field(default_factory=list)
    velocities: list[Twist] = field(default_factory=list)
    accelerations: list[Twist] = field(default_factory=list)
    time_from_start: Duration = field(default_factory=Duration)


@dataclass
class MultiDOFJointTrajectory(Message, ros="trajectory_msgs/msg/MultiDOFJointTrajectory"):
    """A way for joints of several degrees of freedom."""

    header: Header = field(default_factory=Header)
    joint_names: Texts = ()
    points: list[MultiDOFJointTrajectoryPoint] = field(default_factory=list)
