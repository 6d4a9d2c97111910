"""Trajectory files, key-frame files, their pictures, and poses taught by hand."""

from functools import cache

import numpy as np
import pytest

from wholebody import robots
from wholebody.channels import Channel
from wholebody.errors import BadMotion, BadMotionFile, LimitsExceeded, UnknownName, WrongRecord
from wholebody.motion import JointTable, KeyFrame, KeyFrames, Limits, Teacher, plot, quintic


@cache
def hubo():
    return robots.load("hubo2plus")


def crouch():
    """Two seconds from standing straight to crouching, as a trajectory."""
    robot = hubo()
    return quintic([robot.posture("home"), robot.posture("stand")], [0.0, 2.0])


@pytest.fixture
def file(tmp_path):
    """Write a text into a file."""

    def write(text, name="motion.traj"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


class Collides:
    """A checker for which a joint beyond a place is a collision."""

    def __init__(self, joint, beyond):
        self.joint, self.beyond = hubo().index[joint], beyond

    def check(self, q):
        return [("right_hand", "torso")] if q[self.joint] > self.beyond else []


# --- trajectory files -----------------------------------------------------------------------------


def test_a_table_reads_back_as_the_same_numbers(tmp_path):
    table = JointTable.of(crouch(), hubo().joint_names, 0.005)
    table.write(tmp_path / "crouch.traj")
    again = JointTable.read(tmp_path / "crouch.traj", hubo())
    assert again.names == table.names
    assert again.period == table.period
    assert (again.positions == table.positions).all()
    assert len(table.positions) == 401


def test_columns_may_stand_in_any_order_and_be_parted_by_commas(file):
    path = file("# right knee first\n# period: 0.01\nRKN, LHY\n0.1, 0.2  # a remark\n\n0.3,\t0.4\n")
    table = JointTable.read(path, hubo())
    assert table.names == ("RKN", "LHY")
    assert table.period == 0.01
    whole = table.arranged(hubo(), rest="stand")
    assert whole.names == hubo().joint_names
    assert whole.positions[:, hubo().index["RKN"]].tolist() == [0.1, 0.3]
    assert whole.positions[1, hubo().index["LKN"]] == hubo().posture("stand")[hubo().index["LKN"]]


def test_a_column_of_times_says_the_period(file):
    table = JointTable.read(file("time LHY\n1.00 0.0\n1.02 0.1\n1.04 0.2\n"))
    assert table.period == pytest.approx(0.02)
    assert table.names == ("LHY",)
    assert table.duration == pytest.approx(0.04)


def test_a_table_may_say_its_robot_and_a_remark_on_robots_is_none(file):
    assert JointTable.read(file("# robot: hubo2plus\n# period 0.01\nLHY\n0\n")).robot == "hubo2plus"
    assert JointTable.read(file("# robot stands up\n# period 0.01\nLHY\n0\n")).robot == ""


def test_a_file_without_header_takes_names_and_period_from_outside(file):
    table = JointTable.read(file("0.0 0.1\n0.2 0.3\n"), hubo(), names=("LHY", "LHR"), period=0.005)
    assert table.positions.tolist() == [[0.0, 0.1], [0.2, 0.3]]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("LHY LHR\n0 0\n", "does not say its period"),
        ("# period 0.01\n0 0\n", "no header"),
        ("# period 0.01\nLHY LHR\n", "no rows"),
        ("# period 0.01\nLHY LHX\n0 0\n", "column 'LHX' is no moving joint of hubo2plus; closest: 'LH"),
        ("# period 0.01\nLHY LHR\n0 0\n0 0 0\n", r"row 2 \(line 4\) has 3 numbers, for 2 columns"),
        ("# period 0.01\nLHY LHR\n0 0\n0 nan\n", r"row 2 \(line 4\), joint LHR: 'nan' is no number"),
        ("# period 0.01\nLHY LHR\n0 zero\n", r"row 1 \(line 3\), joint LHR: 'zero'"),
        ("# period 0.01\nLHY LHY\n0 0\n", "joint LHY has two columns"),
        ("# period -1\nLHY\n0\n", "positive number of seconds, not -1"),
        ("# period soon\nLHY\n0\n", "'soon' is no number of seconds"),
        ("time LHY\n0 0\n0.1 0\n0.1 0\n", "row 3: time 0.1 comes after 0.1; times increase"),
        ("time LHY\n0 0\n0.1 0\n0.3 0\n", "equal distances of time"),
        ("", "no header"),
    ],
)
def test_a_file_that_cannot_be_meant_is_refused_with_its_name_and_place(file, text, says):
    path = file(text)
    with pytest.raises(BadMotionFile, match=says) as raised:
        JointTable.read(path, hubo())
    assert str(path) in str(raised.value)


def test_a_file_that_is_not_there_is_an_error_of_ours(tmp_path):
    with pytest.raises(BadMotionFile, match="cannot be read"):
        JointTable.read(tmp_path / "none.traj")
    with pytest.raises(BadMotionFile, match="cannot be read"):
        KeyFrames.read(tmp_path / "none.yaml", hubo())


def test_joints_without_a_column_are_named(file):
    table = JointTable.read(file("# period 0.01\nRHY\n0\n"), hubo())
    with pytest.raises(BadMotionFile, match=r"no column for RHR, RHP, .*rest='home'"):
        table.arranged(hubo())
    with pytest.raises(UnknownName, match="no moving joint of trikey 'RHY'"):
        table.arranged(robots.load("trikey"))


def test_resampling_keeps_the_motion():
    table = JointTable.of(crouch(), hubo().joint_names, 0.005)
    other = table.resampled(0.003)
    assert np.abs(other.positions - crouch().sample(other.times).position).max() < 1e-6
    assert np.allclose(other.positions[[0, -1]], table.positions[[0, -1]])
    assert np.abs(other.resampled(0.005).positions[:400] - table.positions[:400]).max() < 1e-6


def test_a_motion_within_limits_passes_and_the_same_too_fast_is_refused_joint_by_joint():
    slow = JointTable.of(crouch(), hubo().joint_names, 0.005)
    limits = Limits.of(hubo(), acceleration=20.0)
    slow.check(limits)
    fast = JointTable(slow.names, 0.0002, slow.positions, "fast.traj")
    with pytest.raises(LimitsExceeded, match=r"fast\.traj goes where the robot cannot") as raised:
        fast.check(limits)
    worst = {(each.joint, each.quantity): each for each in raised.value.violations}
    knee = worst["RKN", "velocity"]
    expected = np.abs(np.diff(fast.positions[:, hubo().index["RKN"]])).max() / 0.0002
    assert knee.value == pytest.approx(expected)
    assert knee.limit == hubo().joint("RKN").velocity
    assert knee.where.startswith("row 20")  # the middle of 401
    assert ("RKN", "acceleration") in worst
    assert ("RHY", "velocity") not in worst  # it does not move


@pytest.mark.parametrize(("place", "value", "limit"), [(3, 3.0, "upper"), (7, -0.5, "lower")])
def test_one_position_beyond_its_limit_is_found_with_row_joint_value_and_limit(place, value, limit):
    positions = JointTable.of(crouch(), hubo().joint_names, 0.1).positions.copy()
    positions[place, hubo().index["LKN"]] = value
    table = JointTable(hubo().joint_names, 0.1, positions)
    (found,) = table.violations(Limits.make(hubo().joint_names, lower=_of("lower"), upper=_of("upper")))
    assert (found.where, found.joint, found.quantity) == (f"row {place + 1}", "LKN", "position")
    assert (found.value, found.limit) == (value, getattr(hubo().joint("LKN"), limit))


def _of(what):
    return [getattr(joint, what) for joint in hubo().moving]


def test_a_motion_that_begins_with_a_jolt_exceeds_its_acceleration():
    limits = Limits.make(("a",), acceleration=10.0)
    ramp = JointTable(("a",), 0.01, np.arange(10)[:, None] * 0.01)
    places = [each.where for each in ramp.violations(limits)]
    assert places in (["row 2"], ["row 10"])  # 1/s at once, and 0 at once
    JointTable(("a",), 0.01, np.arange(10)[:, None] * 0.001).check(limits)


def test_collisions_are_found_row_by_row():
    table = JointTable.of(crouch(), hubo().joint_names, 0.1)
    knee = table.positions[:, hubo().index["RKN"]]
    found = table.violations(Limits.of(hubo()), Collides("RKN", 0.5))
    assert [each.where for each in found] == [f"row {row + 1}" for row in np.flatnonzero(knee > 0.5)]
    assert "collides: right_hand with torso" in str(found[0])


def test_limits_of_other_joints_are_no_limits(file):
    table = JointTable(("LHZ",), 0.01, [[0.0]])
    with pytest.raises(BadMotionFile, match="no limits are known of the column 'LHZ'; closest"):
        table.check(Limits.of(hubo()))


# --- key frames -----------------------------------------------------------------------------------

STEP = """\
robot: hubo2plus
frames:
  - name: ready
    posture: home
    contacts: [left_sole, right_sole]
  - name: crouch
    posture: stand
    duration: 2.0
    contacts: [left_sole]
  - name: lift
    posture: {RHP: -0.8, RKN: 1.2}
    duration: 1.5
    contacts: [left_sole]
    stop: true
  - posture: stand
    duration: 1
    contacts: [left_sole, right_sole]
"""


def test_key_frames_are_read_with_postures_by_name_and_by_joint(file):
    frames = KeyFrames.read(file(STEP), hubo())
    assert frames.times.tolist() == [0.0, 2.0, 3.5, 4.5]
    lift = frames.frames[2]
    expected = hubo().posture("stand")
    expected[[hubo().index["RHP"], hubo().index["RKN"]]] = -0.8, 1.2
    assert lift.position.tolist() == expected.tolist()  # the rest as in the frame before
    assert lift.contacts == ("left_sole",)
    assert frames.frames[0].contacts == frames.frames[-1].contacts == ("left_sole", "right_sole")


def test_key_frames_read_back_as_the_same(file, tmp_path):
    frames = KeyFrames.read(file(STEP), hubo())
    frames.write(tmp_path / "again.yaml")
    again = KeyFrames.read(tmp_path / "again.yaml", hubo())
    for a, b in zip(frames.frames, again.frames, strict=True):
        assert (a.name, a.duration, a.contacts, a.stop) == (b.name, b.duration, b.contacts, b.stop)
        assert (a.position == b.position).all()


def test_the_motion_goes_through_all_frames_and_stands_still_where_it_is_told_to(file):
    frames = KeyFrames.read(file(STEP), hubo())
    trajectory = frames.trajectory()
    now = trajectory.sample(frames.times)
    assert np.allclose(now.position, [frame.position for frame in frames.frames])
    still = np.abs(now.velocity).max(axis=1) < 1e-9
    assert still.tolist() == [True, False, True, True]
    assert np.abs(now.acceleration[[0, 2, 3]]).max() < 1e-8


def test_a_hasty_frame_swings_beyond_limits_unless_the_file_asks_for_a_monotone_spline(file):
    hasty = STEP.replace("duration: 1.5", "duration: 0.4").replace("RKN: 1.2", "RKN: 2.5")
    limits = Limits.make(hubo().joint_names, lower=_of("lower"), upper=_of("upper"))
    with pytest.raises(LimitsExceeded, match="between frame 1 'ready' and frame 2 'crouch': joint RKN has position"):
        KeyFrames.read(file(hasty), hubo()).check(limits)
    KeyFrames.read(file(hasty.replace("frames:", "spline: monotone\nframes:")), hubo()).check(limits)


def test_the_motion_may_start_where_the_robot_is():
    robot = hubo()
    frames = KeyFrames(robot, (KeyFrame(robot.posture("stand"), 2.0), KeyFrame(robot.posture("home"), 1.0)))
    trajectory = frames.trajectory(start=robot.posture("home"))
    assert trajectory.duration == 3.0
    assert np.allclose(trajectory.at(0.0).position, robot.posture("home"))
    assert np.allclose(trajectory.at(2.0).position, robot.posture("stand"))
    with pytest.raises(BadMotion, match="one frame"):
        KeyFrames(robot, frames.frames[:1]).trajectory()
    with pytest.raises(BadMotion, match="first frame needs a duration"):
        KeyFrames(robot, (KeyFrame(robot.posture("home"), 0.0),)).trajectory(start=robot.posture("stand"))


def test_key_frames_within_limits_pass_and_each_violation_names_its_frame(file):
    KeyFrames.read(file(STEP), hubo()).check(Limits.of(hubo(), acceleration=30.0))
    beyond = KeyFrames.read(file(STEP.replace("RKN: 1.2", "RKN: 3.2")), hubo())
    with pytest.raises(LimitsExceeded, match=r"frame 3 'lift': joint RKN has position 3.2, its limit is 2.6"):
        beyond.check()
    hasty = KeyFrames.read(file(STEP.replace("duration: 1.5", "duration: 0.05")), hubo())
    with pytest.raises(LimitsExceeded, match=r"between frame 2 'crouch' and frame 3 'lift': joint RKN has velocity"):
        hasty.check()


def test_key_frames_that_collide_name_frame_and_pair(file):
    frames = KeyFrames.read(file(STEP), hubo())
    with pytest.raises(LimitsExceeded, match="frame 3 'lift': collides: right_hand with torso"):
        frames.check(checker=Collides("RKN", 1.0))
    frames.check(checker=Collides("RKN", 2.0))


def test_a_hand_in_the_chest_is_found_by_our_own_collision_checker():
    from wholebody.kinematics import collision

    robot = hubo()
    inside = robot.posture("stand")
    inside[[robot.index["RSR"], robot.index["RSY"], robot.index["REB"]]] = 0.1, 1.5, -2.3
    frames = (KeyFrame(robot.posture("stand"), 0.0), KeyFrame(inside, 2.0, "hug"))
    checker = collision.Collisions(robot)
    with pytest.raises(LimitsExceeded, match=r"frame 2 'hug': collides: Body_Torso with Body_RW"):
        KeyFrames(robot, frames).check(checker=checker)
    KeyFrames(robot, (frames[0], KeyFrame(robot.posture("home"), 2.0))).check(checker=checker)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("RHP", "RHQ", "frame 3 'lift': hubo2plus has no moving joint 'RHQ'; closest: 'RHY'"),
        ("posture: home", "posture: hom", "frame 1 'ready': hubo2plus has no posture 'hom'; closest: 'home'"),
        ("duration: 2.0", "duration: 0", "frame 2 'crouch' comes 0.0 s after the one before; times increase"),
        ("duration: 2.0", "duration: -1", "comes -1.0 s after"),
        ("duration: 2.0", "duration: long", "'long' is no number of seconds"),
        ("    duration: 2.0\n", "", "frame 2 'crouch' has no duration"),
        ("    posture: stand\n    duration: 2.0", "    duration: 2.0", "frame 2 'crouch' has no posture"),
        ("RHP: -0.8", "RHP: .nan", "joint RHP is 'nan'"),
        ("RHP: -0.8", "RHP: low", "joint RHP is 'low'"),
        (
            "contacts: [left_sole]",
            "contacts: [left_soul]",
            "'left_soul' is no surface or link of hubo2plus; closest: 'lef",
        ),
        ("contacts: [left_sole]", "contacts: left_sole", "contacts are a list"),
        ("stop: true", "stop: often", "stop is true or false"),
        ("    stop:", "    halt:", "entry 'halt', which means nothing here"),
        ("robot: hubo2plus", "robot: atlas", "made for atlas"),
        ("frames:", "spline: wavy\nframes:", "no spline 'wavy'; there are: quartic, monotone"),
        ("frames:", "frame:", "no list of 'frames'"),
        ("frames:", "frames: [", "cannot be read"),
    ],
)
def test_bad_key_frames_are_refused_with_file_frame_and_value(file, old, new, says):
    assert old in STEP
    path = file(STEP.replace(old, new, 1))
    with pytest.raises(BadMotionFile, match=says) as raised:
        KeyFrames.read(path, hubo())
    assert str(path) in str(raised.value)


# --- pictures -------------------------------------------------------------------------------------


def test_a_trajectory_is_drawn_with_its_limits(tmp_path, file):
    frames = KeyFrames.read(file(STEP), hubo())
    plot(frames.trajectory(), Limits.of(hubo()), tmp_path / "drawn.png", title="a step")
    assert (tmp_path / "drawn.png").read_bytes().startswith(b"\x89PNG")


def test_chosen_joints_of_a_table_are_drawn(tmp_path):
    table = JointTable.of(crouch(), hubo().joint_names, 0.01)
    plot(table, Limits.of(hubo()), tmp_path / "drawn.png", joints=["RKN", "LKN"])
    assert (tmp_path / "drawn.png").read_bytes().startswith(b"\x89PNG")


def test_a_single_frame_of_a_single_joint_is_drawn(tmp_path):
    plot(JointTable(("RKN",), 0.01, [[0.0]]), Limits.of(hubo()), tmp_path / "drawn.png")
    assert (tmp_path / "drawn.png").read_bytes().startswith(b"\x89PNG")


def test_a_picture_of_a_joint_that_is_not_there_is_refused(tmp_path, file):
    frames = KeyFrames.read(file(STEP), hubo())
    with pytest.raises(UnknownName, match="no joint 'RKM'; closest: 'RKN'"):
        plot(frames.trajectory(), Limits.of(hubo()), tmp_path / "none.png", joints=["RKM"])
    assert not (tmp_path / "none.png").exists()


# --- teaching -------------------------------------------------------------------------------------


def test_poses_taken_from_a_state_channel_become_a_motion_and_a_file(tmp_path):
    robot = hubo()
    teacher = Teacher(robot)
    with Channel("hubo.state", robot.state_dtype()) as channel, channel.writer() as writer, channel.reader() as reader:
        for posture in ("home", "stand", "home"):
            writer.message["position"] = robot.posture(posture)
            writer.put()
            reader.latest()
            teacher.take(reader.message, name=posture)
    trajectory = teacher.key_frames().trajectory()
    frames = teacher.key_frames()
    assert np.allclose(trajectory.sample(frames.times).position, [f.position for f in frames.frames])
    frames.check(Limits.of(robot, speed=0.4))  # slowly
    teacher.write(tmp_path / "taught.yaml")
    again = KeyFrames.read(tmp_path / "taught.yaml", robot)
    assert [frame.name for frame in again.frames] == ["home", "stand", "home"]
    assert (again.frames[1].position == robot.posture("stand")).all()


def test_a_taken_pose_is_kept_when_the_message_changes_and_may_be_dropped():
    robot = hubo()
    teacher, state = Teacher(robot), np.zeros(1, robot.state_dtype())[0]
    teacher.take(state, duration=1.0)
    state.position[:] = 1.0
    assert not teacher.frames[0].position.any()
    teacher.take(state, duration=1.0)
    teacher.drop()
    assert len(teacher.frames) == 1
    assert teacher.frames[0].name == "pose 1"


def test_what_cannot_be_taught_is_refused():
    robot, other = hubo(), robots.load("teo")
    teacher = Teacher(robot)
    with pytest.raises(BadMotion, match="nothing was taught"):
        teacher.key_frames()
    with pytest.raises(BadMotion, match="no frame to forget"):
        teacher.drop()
    with pytest.raises(WrongRecord, match="no state of hubo2plus"):
        teacher.take(np.zeros((), other.state_dtype())[()])
    broken = np.zeros((), robot.state_dtype())[()]
    broken.position[3] = np.nan
    with pytest.raises(BadMotionFile, match="joint RKN is nan"):
        teacher.take(broken)
    assert teacher.frames == []
    with pytest.raises(BadMotion, match="share of the velocity limits"):
        Teacher(robot, speed=2.0)
