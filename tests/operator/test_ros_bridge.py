"""The bridge to ROS 2 beside a daemon, in lock step: what it tells, trajectories within limits and beyond, velocity."""

import io
import math
import threading
import time
from dataclasses import dataclass

import numpy as np
import pytest
from daemon_rig import PERIOD, Rig
from PIL import Image as Picture
from ros_peer import ACTION, DOMAIN, Peer, TrajectoryClient, trajectory

from wholebody import robots
from wholebody.channels import Channel
from wholebody.errors import BadTrajectory, RoleTaken
from wholebody.model import Model
from wholebody.motion.limits import Limits
from wholebody.operator.ros.bridge import RosBridge, RosOptions
from wholebody.operator.ros.standard_messages import StandardMessages
from wholebody.operator.ros.trajectory import joint_motion
from wholebody.parameters.verbs import described
from wholebody.perception.camera_frames import camera_channel, frame_record
from wholebody.ros.dds import LATCHED, SENSORS
from wholebody.ros.interfaces import (
    UUID,
    CancelGoalRequest,
    FeedbackMessage,
    GoalInfo,
    GoalStatusArray,
    JointTolerance,
)
from wholebody.ros.standard import (
    CameraInfo,
    Clock,
    CompressedImage,
    DiagnosticArray,
    Duration,
    Header,
    Image,
    Imu,
    JointState,
    JointTrajectory,
    JointTrajectoryPoint,
    Odometry,
    String,
    TFMessage,
    Time,
    Twist,
    Vector3,
    WrenchStamped,
)
from wholebody.rotations import matrix_of_quaternion
from wholebody.services import GoalServer, Stage

ROBOT = robots.load("hubo2plus")
SUCCEEDED, CANCELED, ABORTED = 4, 5, 6


class World:
    """A daemon, its bridge, and a node of somebody else, all in step."""

    def __init__(self):
        self.rig = Rig()
        self.said = []
        self.rig.go(30)  # until the daemon has reported
        self.bridge = self.during(
            lambda: RosBridge(RosOptions("robot", "hubo2plus", domain=str(DOMAIN)), self.said.append)
        )
        self.peer = Peer(self.beat)
        self.rig.go(60)

    def during(self, do):
        """Do something while the daemon goes on."""
        over = threading.Event()

        def beat():
            while not over.wait(0.002):
                self.rig.go()

        thread = threading.Thread(target=beat)
        thread.start()
        try:
            return do()
        finally:
            over.set()
            thread.join()

    def beat(self):
        self.rig.go()
        self.bridge.once()

    def close(self):
        self.peer.close()
        self.bridge.close()
        self.rig.__exit__()

    def refused(self):
        self.rig.go(30)
        self.rig.reports.latest()
        return int(self.rig.reports.message["refused"].sum())


@pytest.fixture
def world():
    world = World()
    yield world
    world.close()


def test_joints_transforms_and_sensors_are_told(world):
    peer = world.peer
    joints, told = peer.listen("/joint_states", JointState), peer.listen("/joint_commands", JointState)
    moving, fixed = peer.listen("/tf", TFMessage), peer.listen("/tf_static", TFMessage, LATCHED)
    description = peer.listen("/robot_description", String, LATCHED)
    health = peer.listen("/diagnostics", DiagnosticArray)
    imus = [peer.listen(f"/imu/{each.name}", Imu, SENSORS) for each in ROBOT.sensors_of("imu")]
    wrenches = [
        peer.listen(f"/wrench/{each.name}", WrenchStamped, SENSORS) for each in ROBOT.sensors_of("force_torque")
    ]
    peer.wait_for(lambda: all([joints, told, moving, fixed, description, health, *imus, *wrenches]))
    assert joints[0].name == list(ROBOT.joint_names)
    assert len(joints[0].position) == len(told[0].position) == len(ROBOT.joint_names)
    assert abs(joints[0].header.stamp.seconds - time.time()) < 100
    children = {each.child_frame_id for each in moving[0].transforms} | {
        each.child_frame_id for each in fixed[0].transforms
    }
    assert {link.name for link in ROBOT.links} - children <= {ROBOT.root}
    assert description[0].data.startswith("<robot name=")
    assert [each.name for each in health[0].status] == ["robot: loop", "robot: joints", "robot: controllers"]
    assert imus[0][0].header.frame_id == ROBOT.sensors_of("imu")[0].name


def test_transforms_and_odometry_agree_with_the_model():
    messages, model = StandardMessages(ROBOT), Model(ROBOT)
    from wholebody.messages import new

    state, rng = new(ROBOT.state_dtype()), np.random.default_rng(1)
    state.position[:] = rng.uniform(-0.5, 0.5, len(state.position))
    state.base.known, state.base.position[:] = True, (1.0, 2.0, 0.8)
    state.base.orientation[:] = (0.1, 0.2, 0.3, math.sqrt(1 - 0.14))
    state.base.linear_velocity[:], state.base.angular_velocity[:] = (0.1, 0.2, 0.3), (0.4, 0.5, 0.6)
    found = {"odom": np.eye(4)}
    every = [*messages.transforms(state, Time()).transforms, *messages.fixed_transforms(Time()).transforms]
    while pending := [each for each in every if each.child_frame_id not in found]:
        for each in [one for one in pending if one.header.frame_id in found]:
            turn, shift = each.transform.rotation, each.transform.translation
            at = np.eye(4)
            at[:3, :3] = matrix_of_quaternion((turn.x, turn.y, turn.z, turn.w))
            at[:3, 3] = shift.x, shift.y, shift.z
            found[each.child_frame_id] = found[each.header.frame_id] @ at
    q = np.concatenate([state.base.position, state.base.orientation, state.position])
    snapshot = model.at(q)
    for link in ROBOT.links:
        np.testing.assert_allclose(found[link.name], snapshot.placement(model.frame(link.name)), atol=1e-12)
    twist = messages.odometry(state, Time()).twist.twist
    own = matrix_of_quaternion(state.base.orientation).T @ state.base.linear_velocity
    np.testing.assert_allclose((twist.linear.x, twist.linear.y, twist.linear.z), own)
    state.base.known = False
    assert messages.odometry(state, Time()) is None
    assert ROBOT.root not in {each.child_frame_id for each in messages.transforms(state, Time()).transforms}


def test_a_trajectory_within_limits_is_followed_and_nothing_of_it_refused(world):
    client = TrajectoryClient(world.peer)
    feedback = world.peer.listen(f"{ACTION}/feedback", FeedbackMessage)
    status = world.peer.listen(f"{ACTION}/status", GoalStatusArray, LATCHED)
    goal = client.begin(["RSP", "LSP"], [(0.3, [-0.4, 0.3]), (0.6, [-0.2, 0.1])])
    assert client.end(goal) == (SUCCEEDED, 0, "")
    state = world.bridge._connection.state
    np.testing.assert_allclose(state.reference[[ROBOT.index["RSP"], ROBOT.index["LSP"]]], [-0.2, 0.1], atol=1e-9)
    assert world.refused() == 0
    assert bytes(feedback[0].goal_id.uuid) == goal
    assert list(feedback[0].feedback.joint_names) == ["RSP", "LSP"]
    assert [each.status for each in status[-1].status_list] == [SUCCEEDED]


def test_a_trajectory_at_the_very_limit_of_speed_is_not_refused_by_the_gate(world):
    limit = ROBOT.joint("RSP").velocity
    client = TrajectoryClient(world.peer)
    goal = client.begin(["RSP"], [(0.1, [-0.1 * limit]), (0.2, [0.0])])
    assert client.end(goal)[0] == SUCCEEDED
    assert world.refused() == 0


@pytest.mark.parametrize(
    ("joints", "points", "code", "text"),
    [
        (["RSP"], [(0.01, [-1.3])], -1, r"0.005 s: joint RSP has velocity -130, its limit is -1\d.*more time"),
        (["RSP"], [(1.0, [9.3])], -1, "1.000 s: joint RSP has position 9.3, its limit is"),
        (["RSP"], [(1.0, [math.nan])], -1, "point 1: positions of joint RSP is nan"),
        (["RSP"], [(1.0, [0.1, 0.2])], -1, "point 1 has 2 positions for 1 joints"),
        (["RSP"], [(1.0, [0.1]), (0.5, [0.2])], -1, "point 2 comes at 0.5 s, after one at 1 s"),
        (["RSP"], [], -1, "it has 0 points"),
        (["RSQ"], [(1.0, [0.1])], -2, "no joint 'RSQ'; closest: .*'RSP'"),
        (["RSP", "RSP"], [(1.0, [0.1, 0.1])], -2, "joint RSP is named twice"),
        ([], [(1.0, [])], -2, "names no joint"),
    ],
)
def test_what_no_joint_can_do_is_refused_with_joint_instant_and_limit(joints, points, code, text):
    limits = Limits.of(ROBOT)
    start = dict.fromkeys(ROBOT.joint_names, (0.0, 0.0))
    with pytest.raises(BadTrajectory, match=text) as refused:
        joint_motion(trajectory(joints, points), ROBOT.joint_names, start, limits, PERIOD)
    assert refused.value.code == code


def test_a_refused_goal_ends_as_invalid_with_its_reason_and_nothing_moves(world):
    client = TrajectoryClient(world.peer)
    before = world.bridge._connection.state.reference.copy()
    status, code, text = client.end(client.begin(["RSP"], [(0.01, [-1.3])]))
    assert (status, code) == (ABORTED, -1)
    assert "RSP" in text
    for _ in range(10):
        world.beat()
    assert (world.bridge._connection.state.reference == before).all()


def test_points_with_velocities_and_accelerations_are_met_as_told():
    def motion(**more):
        rows = [
            JointTrajectoryPoint(positions=[x], time_from_start=Duration.of(t), **{k: [v[i]] for k, v in more.items()})
            for i, (t, x) in enumerate([(0.0, 0.0), (0.4, 0.2), (0.9, -0.1)])
        ]
        told = JointTrajectory(joint_names=["RSP"], points=rows)
        start = {"RSP": (0.0, 0.0)}
        return joint_motion(told, ROBOT.joint_names, start, Limits.of(ROBOT), PERIOD)

    cubic, quintic = (
        motion(velocities=(0.0, 0.3, 0.0)),
        motion(velocities=(0.0, 0.3, 0.0), accelerations=(0.0, 1.0, 0.0)),
    )
    for each in (cubic, quintic):
        assert each.at(0.4).position[0] == pytest.approx(0.2)
        assert each.at(0.4).velocity[0] == pytest.approx(0.3)
        assert each.at(0.9).velocity[0] == pytest.approx(0.0, abs=1e-12)
    assert quintic.at(0.4 - 1e-9).acceleration[0] == pytest.approx(1.0, abs=1e-5)


def test_tolerances_end_a_goal_as_in_ros2_control(world):
    client = TrajectoryClient(world.peer)
    tight = [JointTolerance("RSP", 1e-9)]
    status, code, text = client.end(client.begin(["RSP"], [(1.0, [-0.5])], path_tolerance=tight))
    assert (status, code) == (ABORTED, -4)
    assert "RSP" in text
    assert "path tolerance" in text
    # the loopback's joint is one period late, and so never within a tolerance of the past's command while it moves
    late = client.begin(["RSP"], [(0.2, [-0.1])], goal_tolerance=[JointTolerance("RSP", 1e-3)])
    assert client.end(late) == (SUCCEEDED, 0, "")
    wrong = [JointTolerance("LSP", 1.0)]
    assert client.end(client.begin(["RSP"], [(1.0, [-0.5])], path_tolerance=wrong))[1] == -1


def test_a_goal_is_cancelled_and_preempted(world):
    client = TrajectoryClient(world.peer)
    first = client.begin(["RSP"], [(3.0, [-1.0])])
    for _ in range(40):
        world.beat()
    answer = world.peer.call(client.cancel, CancelGoalRequest(GoalInfo(UUID(first))))
    assert answer.return_code == 0
    assert client.end(first)[0] == CANCELED
    held = world.bridge._connection.state.reference.copy()
    assert -1.0 < held[ROBOT.index["RSP"]] < -0.01
    second = client.begin(["RSP"], [(3.0, [-1.0])])
    third = client.begin(["RSP"], [(0.5, [0.0])])
    status, _, text = client.end(second)
    assert status == ABORTED
    assert "another trajectory" in text
    assert client.end(third)[0] == SUCCEEDED
    assert world.refused() == 0
    assert world.peer.call(client.cancel, CancelGoalRequest(GoalInfo(UUID(third)))).return_code == 3
    assert world.peer.call(client.cancel, CancelGoalRequest(GoalInfo(UUID(bytes(range(16)))))).return_code == 2


def test_a_trajectory_from_the_topic_moves_and_a_wrong_one_is_among_the_diagnostics(world):
    topic = "/joint_trajectory_controller/joint_trajectory"
    told, health = world.peer.publisher(topic, JointTrajectory), world.peer.listen("/diagnostics", DiagnosticArray)
    world.peer.wait_for(lambda: told.readers)
    told.put(trajectory(["RSP"], [(0.1, [-0.2])]))
    at = ROBOT.index["RSP"]
    world.peer.wait_for(lambda: abs(world.bridge._connection.state.reference[at] + 0.2) < 1e-9)
    told.put(trajectory(["nobody"], [(0.1, [-0.2])]))
    world.peer.wait_for(lambda: world.said)
    until = time.monotonic() + 1.1
    world.peer.wait_for(lambda: time.monotonic() > until)
    old = trajectory(["RSP"], [(0.1, [-0.2])])
    old.header = Header(Time.of(time.time() - 30.0))
    told.put(old)
    world.peer.wait_for(lambda: len(world.said) > 1)
    assert "no joint 'nobody'" in world.said[0]
    assert "in the past" in world.said[1]
    world.peer.wait_for(lambda: any(each.level == 1 for one in health for each in one.status))


def test_a_stream_of_trajectories_is_followed_and_a_flood_of_wrong_ones_said_once(world):
    topic, at = "/joint_trajectory_controller/joint_trajectory", ROBOT.index["RSP"]
    told = world.peer.publisher(topic, JointTrajectory)
    world.peer.wait_for(lambda: told.readers)
    for number in range(40):
        told.put(trajectory(["RSP"], [(0.05, [-0.01 * number])]))
        world.beat()
    world.peer.wait_for(lambda: abs(world.bridge._connection.state.reference[at] + 0.39) < 1e-9)
    assert world.said == []
    for number in range(100):
        told.put(trajectory(["RSP"], [(0.001, [1.0 + number])]))
        world.beat()
    world.peer.wait_for(lambda: world.said)
    assert len(world.said) <= 3


def test_a_stamp_ahead_is_waited_for_and_one_behind_leaves_points_out():
    limits, start = Limits.of(ROBOT), {"RSP": (-0.05, 0.0)}
    told = trajectory(["RSP"], [(0.1, [-0.1]), (0.5, [-0.3])])
    motion = joint_motion(told, ROBOT.joint_names, start, limits, PERIOD, late=0.2)
    assert motion.duration == pytest.approx(0.3)
    assert motion.at(0.0).position[0] == pytest.approx(-0.05)
    with pytest.raises(BadTrajectory, match="in the past") as refused:
        joint_motion(told, ROBOT.joint_names, start, limits, PERIOD, late=0.6)
    assert refused.value.code == -3


def test_a_velocity_without_a_walking_controller_is_answered_with_the_remedy(world):
    told = world.peer.publisher("/cmd_vel", Twist)
    world.peer.wait_for(lambda: told.readers)
    told.put(Twist(Vector3(0.1)))
    world.peer.wait_for(lambda: world.said)
    assert "wholebody walk" in world.said[0]


def test_a_velocity_that_is_no_number_is_left_out(world):
    told = world.peer.publisher("/cmd_vel", Twist)
    world.peer.wait_for(lambda: told.readers)
    told.put(Twist(Vector3(math.nan)))
    world.peer.wait_for(lambda: world.said)
    assert "give finite numbers" in world.said[0]


def test_a_real_robot_has_no_simulated_clock(world):
    clock, odometry = world.peer.listen("/clock", Clock, SENSORS), world.peer.listen("/odom", Odometry)
    joints = world.peer.listen("/joint_states", JointState)
    world.peer.wait_for(lambda: len(joints) > 20)
    assert not clock
    assert not odometry  # nobody knows where the base of a loopback is


def test_what_the_camera_sees_is_told_with_how_it_projects_and_where_it_stands(world):
    with Channel(camera_channel("robot"), frame_record(), depth=4) as channel, channel.writer() as camera:
        packed = io.BytesIO()
        Picture.new("RGB", (64, 48), (255, 0, 0)).save(packed, "jpeg")
        data, message = packed.getvalue(), camera.message
        message.size, message.field_of_view = len(data), math.pi / 2
        message.jpeg[: len(data)] = np.frombuffer(data, np.uint8)
        message.camera[:] = np.eye(4)
        message.camera[:3, 3] = 1.0, 2.0, 3.0
        peer = world.peer
        image, info = (
            peer.listen("/camera/image", Image, SENSORS),
            peer.listen("/camera/camera_info", CameraInfo, SENSORS),
        )
        compressed, moving = (
            peer.listen("/camera/image/compressed", CompressedImage, SENSORS),
            peer.listen("/tf", TFMessage),
        )

        def stands():
            camera.put()
            every = [each for one in moving for each in one.transforms if each.child_frame_id == "camera_optical"]
            return image and info and compressed and every

        at = peer.wait_for(stands)[-1].transform
        assert (image[0].width, image[0].height, image[0].encoding) == (64, 48, "rgb8")
        assert image[0].data[0] > 250
        assert bytes(compressed[0].data) == data
        np.testing.assert_allclose(info[0].k, (24, 0, 32, 0, 24, 24, 0, 0, 1), atol=1e-12)
        turn = matrix_of_quaternion((at.rotation.x, at.rotation.y, at.rotation.z, at.rotation.w))
        np.testing.assert_allclose(turn @ (0, 0, 1), (1, 0, 0), atol=1e-12)  # it looks along x
        assert (at.translation.x, at.translation.y, at.translation.z) == (1, 2, 3)


@dataclass(frozen=True)
class Nod:
    """Nod so often."""

    times: int = 1


def test_running_behaviours_are_told_by_lines_of_text_and_say_what_becomes_of_them(world):
    with GoalServer("robot.gestures", (Nod,), about=described((Nod,))) as server:
        report, told = world.peer.listen("/command_report", String), world.peer.publisher("/command", String)
        world.peer.wait_for(lambda: told.readers)
        told.put(String("nod times=2"))
        asked = world.peer.wait_for(lambda: server.take_goal(0.0))
        assert asked.request.times == 2
        server.accept(asked, 0.0)
        server.finish(Stage.SUCCEEDED, 1.0)
        world.peer.wait_for(lambda: len(report) > 1)
        assert [each.data for each in report] == ["nod times=2: accepted", "nod times=2: succeeded"]
        told.put(String("jump"))
        world.peer.wait_for(lambda: len(report) > 2)
        assert report[2].data.startswith("jump: rejected: no verb 'jump'")


def test_a_robot_has_one_bridge(world):
    again = RosOptions("robot", "hubo2plus", domain=str(DOMAIN))
    with pytest.raises(RoleTaken, match="a process 'ros' of 'robot' runs already"):
        world.during(lambda: RosBridge(again))
