"""Motion capture files: what they say, what is wrong with them, and whose axes and units they are in."""

import math

import numpy as np
import pytest
from capture_examples import PERSON, person, real_person, standing
from scipy.spatial.transform import Rotation

from wholebody.errors import BadMotion, BadMotionFile, CannotImitate, UnknownName
from wholebody.motion.capture.bvh import Bvh
from wholebody.motion.capture.capture import UNITS, Capture
from wholebody.motion.capture.skeleton import CHANNELS, Node, Skeleton, find_parts

SMALL = """HIERARCHY
ROOT Hips
{
\tOFFSET 0 1 0
\tCHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
\tJOINT Spine
\t{
\t\tOFFSET 0 10 0.5
\t\tCHANNELS 3 Yrotation Zrotation Xrotation
\t\tEnd Site
\t\t{
\t\t\tOFFSET 0 5 0
\t\t}
\t}
}
MOTION
Frames: 2
Frame Time: 0.01
1 2 3 10 20 30 40 50 60
4 5 6 11 21 31 41 51 61
"""


@pytest.fixture
def file(tmp_path):
    def write(content, name="motion.bvh"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def random_skeleton(rng, joints=12):
    """Any tree, with any channels in any order."""
    nodes = [Node("root", -1, (0.0, 0.0, 0.0), ("Xposition", "Zposition", "Yposition", "Yrotation", "Xrotation"))]
    for number in range(1, joints):
        parent = int(rng.choice([i for i, node in enumerate(nodes) if not node.is_end]))
        channels = tuple(rng.permutation(CHANNELS[3:])[: rng.integers(0, 4)].tolist())
        nodes.append(Node(f"joint {number}", parent, tuple(rng.normal(size=3).tolist()), channels))
    nodes.append(Node("end", joints - 1, (0.0, 1.0, 0.0), (), True))
    return Skeleton(tuple(nodes))


def placed_slowly(skeleton, values):
    """Where nodes are, by 4 × 4 transforms, one channel after the other."""
    places, first = {}, 0
    for index, node in enumerate(skeleton.nodes):
        transform = np.eye(4)
        transform[:3, 3] = node.offset
        for channel in node.channels:
            value, step = values[first], np.eye(4)
            first += 1
            axis = "XYZ".index(channel[0])
            if channel.endswith("position"):
                step[axis, 3] = value
            else:
                i, j = (axis + 1) % 3, (axis + 2) % 3
                c, s = math.cos(math.radians(value)), math.sin(math.radians(value))
                step[i, i], step[i, j], step[j, i], step[j, j] = c, -s, s, c
            transform = transform @ step
        places[index] = transform if node.parent < 0 else places[node.parent] @ transform
    return places


# --- what files say ---------------------------------------------------------------------------------


def test_a_file_says_its_skeleton_its_rate_and_its_frames(file):
    bvh = Bvh.read(file(SMALL))
    hips, spine, end = bvh.skeleton.nodes
    assert (hips.name, spine.name, spine.parent, spine.offset) == ("Hips", "Spine", 0, (0.0, 10.0, 0.5))
    assert spine.channels == ("Yrotation", "Zrotation", "Xrotation")
    assert end.is_end
    assert end.offset == (0.0, 5.0, 0.0)
    assert bvh.frame_time == 0.01
    np.testing.assert_array_equal(bvh.values[1], [4, 5, 6, 11, 21, 31, 41, 51, 61])


@pytest.mark.parametrize(
    "changed",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r"),
        lambda text: text.replace("\t", "    "),
        lambda text: text.replace("\n\t\t{", " {").replace("\n{", " {"),
        lambda text: text.replace(" ", "  ").replace("Frame  Time", "Frame Time"),
        lambda text: text.replace("Frames: 2", "Frames:\t2").replace("Time: ", "Time:"),
        lambda text: text + "\n\n",
        lambda text: text.upper().replace("HIPS", "Hips").replace("SPINE", "Spine"),
        lambda text: "\ufeff" + text,
    ],
)
def test_files_are_the_same_however_they_are_laid_out(file, changed):
    plain, other = Bvh.read(file(SMALL)), Bvh.read(file(changed(SMALL), "other.bvh"))
    assert plain.skeleton == other.skeleton
    np.testing.assert_array_equal(plain.values, other.values)


def test_what_is_written_reads_back_as_the_same_numbers(tmp_path):
    rng = np.random.default_rng(0)
    skeleton = random_skeleton(rng)
    Bvh(skeleton, 1 / 120, rng.normal(0.0, 90.0, (7, skeleton.channels))).write(tmp_path / "a.bvh")
    first = Bvh.read(tmp_path / "a.bvh")
    first.write(tmp_path / "b.bvh")
    again = Bvh.read(tmp_path / "b.bvh")
    assert sorted(node.name for node in first.skeleton.nodes if not node.is_end) == sorted(skeleton.names[:-1])
    assert first.skeleton == again.skeleton
    np.testing.assert_array_equal(first.values, again.values)
    assert (tmp_path / "a.bvh").read_text() == (tmp_path / "b.bvh").read_text()


# --- what is wrong with files -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("6 Xposition Yposition", "6 Xposition", 6, "missing"),
        ("3 Yrotation Zrotation Xrotation", "2 Yrotation Zrotation Xrotation", 9, "more channels"),
        ("3 Yrotation Zrotation", "3 Yrotation Yrotation", 9, "twice"),
        ("3 Yrotation", "3 Yrotatoin", 9, "closest: 'Yrotation'"),
        ("3 Yrotation", "three Yrotation", 9, "number"),
        ("\t\tCHANNELS 3 Yrotation Zrotation Xrotation\n", "", 9, "no CHANNELS"),
        ("OFFSET 0 10 0.5", "OFFSET 0 10", 9, "three numbers"),
        ("OFFSET 0 10 0.5", "OFFSET 0 nan 0.5", 8, "three numbers"),
        ("JOINT Spine", "JOINT", 6, "without a name"),
        ("JOINT Spine", "JOINT Hips", 6, "second joint"),
        ("\t}\n}\n", "\t}\n", 14, "close joint 'Hips'"),
        ("\t}\n}\n", "\t}\n}\n}\n", 16, "too many braces"),
        ("\t}\n}\n", "\t}\n}\nROOT Other\n{\n}\n", 16, "second ROOT"),
        ("ROOT Hips", "", 3, "no skeleton"),
        ("End Site", "End Size", 10, "End Site"),
        ("MOTION", "MOTOIN", 16, "MOTOIN"),
        ("Frames: 2", "Frames: 3", 20, "line 17 says that there are 3 frames, and there are 2"),
        ("Frames: 2", "Frames: 0", 17, "one or more"),
        ("Frames: 2", "Frames: two", 17, "no number"),
        ("Frames: 2\n", "", 17, "Frames: 100"),
        ("Frame Time: 0.01", "Frame Time: 0", 18, "above 0"),
        ("Frame Time: 0.01", "Frame Time: -0.01", 18, "above 0"),
        ("Frame Time: 0.01", "Frame Time: nan", 18, "above 0"),
        ("4 5 6 11", "4 5 11", 20, "8 numbers"),
        ("4 5 6 11", "4 5 6 6 11", 20, "10 numbers"),
        ("4 5 6 11", "4 5 nan 11", 20, "Zposition of 'Hips' in frame 2"),
        ("4 5 6 11 21", "4 5 6 11 abc", 20, "Yrotation of 'Hips'"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(file, old, new, line, said):
    assert old in SMALL
    with pytest.raises(BadMotionFile, match=rf"motion\.bvh, line {line}:") as error:
        Bvh.read(file(SMALL.replace(old, new, 1)))
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "empty"),
        (b"\n\n", "empty"),
        (bytes(range(256)) * 9, "UTF-8"),
        (b"\x00\x01\x02" * 99, "HIERARCHY"),
        (SMALL.replace("Spine", "Columna Ósea").encode("latin-1"), "line 6"),
        (b"PK\x03\x04 zip", "no BVH file"),
        (SMALL[: SMALL.index("MOTION")].encode(), "without the line MOTION"),
        (SMALL[SMALL.index("MOTION") :].encode(), "no skeleton"),
    ],
)
def test_what_is_no_capture_is_refused(file, content, said):
    with pytest.raises(BadMotionFile) as error:
        Bvh.read(file(content))
    assert said in str(error.value)
    assert "line" in str(error.value)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(BadMotionFile, match="cannot be read"):
        Bvh.read(tmp_path / "none.bvh")


# --- where the joints are ---------------------------------------------------------------------------


def test_all_frames_at_once_are_where_one_channel_after_the_other_leads():
    rng = np.random.default_rng(3)
    for _ in range(10):
        skeleton = random_skeleton(rng)
        values = rng.uniform(-180.0, 180.0, (4, skeleton.channels))
        placed = skeleton.forward(values)
        for frame, row in enumerate(values):
            for index, transform in placed_slowly(skeleton, row).items():
                np.testing.assert_allclose(placed.positions[frame, index], transform[:3, 3], atol=1e-9)
                np.testing.assert_allclose(placed.rotations[frame, index], transform[:3, :3], atol=1e-12)


@pytest.mark.parametrize("order", ["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"])
def test_rotations_are_those_of_scipy_in_the_order_of_the_channels(order):
    node = Node("root", -1, (0.0, 0.0, 0.0), tuple(f"{axis}rotation" for axis in order))
    values = np.random.default_rng(4).uniform(-180, 180, (20, 3))
    expected = Rotation.from_euler(order, values, degrees=True).as_matrix()
    np.testing.assert_allclose(Skeleton((node,)).forward(values).rotations[:, 0], expected, atol=1e-12)


def test_position_channels_that_repeat_the_offset_replace_it():
    nodes = (Node("a", -1, (0.0, 0.0, 0.0)), Node("b", 0, (0.0, 10.0, 0.0), ("Xposition", "Yposition", "Zposition")))
    near, away = np.array([[0.1, 10.2, 0.0]]), np.array([[0.1, 0.2, 0.0]])
    np.testing.assert_allclose(Skeleton(nodes).forward(near).positions[0, 1], near[0])
    np.testing.assert_allclose(Skeleton(nodes).forward(away).positions[0, 1], [0.1, 10.2, 0.0])


def test_frames_of_another_length_are_refused():
    with pytest.raises(BadMotion, match="channels"):
        person().forward(np.zeros((2, 5)))


# --- axes, units and parts --------------------------------------------------------------------------

Z_UP = [[0, 0, 1], [1, 0, 0], [0, 1, 0]]  # x forward, y left, z up
LEFT_HANDED = [[1, 0, 0], [0, 1, 0], [0, 0, -1]]  # the document's: right-handed, with one axis turned about


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("axes", [np.eye(3), Z_UP, LEFT_HANDED], ids=["y up", "z up", "left-handed"])
def test_axes_hand_and_unit_are_read_off_the_skeleton(tmp_path, unit, axes):
    skeleton = person(axes=axes, unit=UNITS[unit])
    capture = Capture.read(standing(tmp_path / "a.bvh", skeleton))
    assert capture.axes.unit == unit
    assert capture.axes.handed == ("left" if np.linalg.det(axes) < 0 else "right")
    ours = {name: np.array(offset) for name, _, offset in PERSON}
    toe = capture.rest[capture.parts["left_toe"]] - capture.rest[capture.parts["left_ankle"]]
    left, up, ahead = ours["LeftToeBase"]
    np.testing.assert_allclose(toe, [ahead, left, up], atol=1e-9)
    apart = capture.rest[capture.parts["left_hip"]] - capture.rest[capture.parts["right_hip"]]
    np.testing.assert_allclose(apart, [0.0, 0.2, 0.0], atol=1e-9)
    np.testing.assert_allclose(np.linalg.det(capture.rotations), 1.0, atol=1e-9)
    assert capture.length("left_hip", "left_knee", "left_ankle") == pytest.approx(0.82)


def test_the_same_motion_in_left_handed_axes_is_the_same_motion(tmp_path):
    right = Capture.read(standing(tmp_path / "r.bvh", person()))
    mirror = np.array(LEFT_HANDED, float)
    bvh = Bvh.read(tmp_path / "r.bvh")
    # turned about z alone, an angle keeps its sign seen along that axis and is written as it is when z is mirrored
    signs = {"Xposition": 1, "Yposition": 1, "Zposition": -1, "Zrotation": 1, "Yrotation": -1, "Xrotation": -1}
    flips = [signs[channel] for node in bvh.skeleton.nodes for channel in node.channels]
    Bvh(person(axes=mirror), bvh.frame_time, bvh.values * flips).write(tmp_path / "l.bvh")
    left = Capture.read(tmp_path / "l.bvh")
    assert (right.axes.handed, left.axes.handed) == ("right", "left")
    np.testing.assert_allclose(left.positions, right.positions, atol=1e-9)
    np.testing.assert_allclose(left.rotations, right.rotations, atol=1e-9)


def test_what_is_told_counts_more_than_what_is_detected(tmp_path):
    path = standing(tmp_path / "a.bvh", person())
    assert Capture.read(path, unit=0.5).axes.metres == 0.5
    assert Capture.read(path, unit="inch").axes.metres == 0.0254
    assert Capture.read(path, handed="left").axes.handed == "left"
    np.testing.assert_array_equal(Capture.read(path, up="z").axes.matrix[2], [0, 0, 1])
    np.testing.assert_array_equal(Capture.read(path, up="-y").axes.matrix[2], [0, -1, 0])
    for wrong in ({"unit": "elephant"}, {"handed": "both"}, {"up": "w"}, {"parts": {"left_nee": "LeftLeg"}}):
        with pytest.raises(UnknownName):
            Capture.read(path, **wrong)
    with pytest.raises(BadMotion, match="unit"):
        Capture.read(path, unit=-1.0)


def test_an_inserted_first_frame_at_rest_is_cut(tmp_path):
    path = standing(tmp_path / "a.bvh", person(), frames=6)
    bvh = Bvh.read(path)
    values = np.vstack([np.where(np.arange(bvh.skeleton.channels) < 3, bvh.values[0], 0.0), bvh.values])
    Bvh(bvh.skeleton, bvh.frame_time, values).write(tmp_path / "b.bvh")
    np.testing.assert_array_equal(Capture.read(tmp_path / "b.bvh").positions, Capture.read(path).positions)


SIDED = {"UpLeg": "thigh", "Leg": "shin", "Foot": "foot", "ToeBase": "toe", "Arm": "upper_arm", "ForeArm": "forearm"}
ANATOMIC = {"UpLeg": "Hip", "Leg": "Knee", "Foot": "Ankle", "ToeBase": "Toe", "Arm": "Shoulder", "ForeArm": "Elbow"}
BIPED = {"UpLeg": "Thigh", "Leg": "Calf", "ToeBase": "Toe0", "Arm": "UpperArm", "ForeArm": "Forearm"}


def blender(name):
    for side, letter in (("Left", ".L"), ("Right", ".R")):
        if name.startswith(side):
            return SIDED.get(name[len(side) :], name[len(side) :].lower()) + letter
    return {"Hips": "hips", "Spine1": "chest"}[name]


def anatomic(name):
    for side in ("Left", "Right"):
        if name.startswith(side):
            return side + {**ANATOMIC, "Hand": "Wrist"}[name[len(side) :]]
    return {"Hips": "Hips", "Spine1": "Chest"}[name]


def biped(name):
    for side in ("Left", "Right"):
        if name.startswith(side):
            return f"Bip01 {side[0]} {BIPED.get(name[len(side) :], name[len(side) :])}"
    return {"Hips": "Bip01 Pelvis", "Spine1": "Bip01 Spine1"}[name]


@pytest.mark.parametrize("rename", [str, lambda name: f"mixamorig:{name}", blender, anatomic, biped])
def test_parts_are_found_by_the_names_that_programs_give_them(tmp_path, rename):
    plain = Capture.read(standing(tmp_path / "a.bvh", person()))
    other = Capture.read(standing(tmp_path / "b.bvh", person(rename)))
    assert dict(other.parts) == dict(plain.parts)


def test_parts_of_unknown_names_can_be_told():
    skeleton = person(lambda name: f"joint {[each for each, *_ in PERSON].index(name)}")
    with pytest.raises(CannotImitate, match=r"pelvis.*parts="):
        find_parts(skeleton)
    known = find_parts(person())
    told = {part: skeleton.names[node] for part, node in known.items()}
    assert find_parts(skeleton, told) == known


def test_a_skeleton_without_limbs_is_refused_with_what_is_missing(tmp_path):
    path = standing(tmp_path / "a.bvh", person(without=("LeftArm", "RightLeg")))
    with pytest.raises(CannotImitate) as error:
        Capture.read(path)
    for part in ("left_shoulder", "left_elbow", "left_wrist", "right_knee", "right_ankle"):
        assert part in str(error.value)
    assert "right_wrist" not in str(error.value)


def test_toes_and_chest_may_be_missing(tmp_path):
    toes = ("LeftToeBase", "RightToeBase")
    capture = Capture.read(standing(tmp_path / "a.bvh", person(without=toes)))
    assert "left_toe" not in capture.parts
    assert capture.axes.handed == "right"


@pytest.mark.parametrize(("name", "frames", "low"), [("cmu_111_03_crawling", 1525, 0.3), ("cmu_07_01_walk", 317, 0.8)])
def test_captures_of_real_people_are_read(name, frames, low):
    path = real_person(f"{name}.bvh")
    capture = Capture.read(path)
    assert len(capture.positions) == frames - 1, "the first frame is one at rest"
    assert capture.axes.unit == "CMU unit"
    assert capture.axes.handed == "right"
    pelvis = capture.part("pelvis")[:, 2]
    assert pelvis.min() < low + 0.15
    assert 0.7 < pelvis.max() < 1.1
