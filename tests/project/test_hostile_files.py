"""Files that are broken or meant to harm: each is read, or refused by an error of ours, at once."""

import itertools
import random
import warnings
from pathlib import Path

import numpy as np
import pytest
from capture_examples import person, standing
from mutations import mutilated

from wholebody import robots
from wholebody.channels import Channel, directory
from wholebody.channels.layout import LARGEST
from wholebody.channels.recording.playback import Recording
from wholebody.channels.recording.recorder import Recorder
from wholebody.configuration.reading import find, read
from wholebody.drivers.hubo_can.wiring import Wiring
from wholebody.errors import BadConfiguration, BadMotionFile, BadRecording, BadRobot, WholebodyError
from wholebody.files import DEEPEST_XML, MOST_BYTES, yaml_of
from wholebody.motion import JointTable, KeyFrames
from wholebody.motion.capture.bvh import Bvh
from wholebody.operator.map import read_map
from wholebody.operator.rcp.users import ROLES, User, entry, read_users
from wholebody.robots.formats import meshes
from wholebody.robots.formats.mjcf_writer import write_mjcf
from wholebody.robots.formats.urdf import write_urdf

ROOT = Path(__file__).resolve().parents[2]
HUBO, TRIKEY = robots.load("hubo2plus"), robots.load("trikey")
MAP = "walls:\n  - {name: north, x: 0, y: 3, length: 6, width: 0.1}\nobjects:\n  - {x: 1, y: 2, length: 1, width: 1}\n"
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join(9 * [f'*{before}'])}]\n" for before, name in zip("abcdefg", "bcdefgh", strict=True)
)


def recording(path):
    """Fifty records of a channel."""
    layout = np.dtype([("time", "<f8"), ("values", "<f8", (3,)), ("text", "S8")])
    name = f"hostile.{path.parent.name}"
    try:
        with Channel(name, layout) as channel, channel.writer() as writer, Recorder(path, [name]) as recorder:
            recorder.record(0.0)
            for number in range(50):
                writer.message["values"][:] = number
                writer.put()
            recorder.record(0.0)
    finally:
        directory.remove(name, force=True)


def play(path):
    """Read all of a recording."""
    for each in Recording(path).messages():
        assert each.record.dtype.itemsize <= LARGEST


def box(path):
    """A box of twelve triangles, each corner as often as it has faces."""
    low_high = np.array(list(itertools.product((-0.1, 0.1), repeat=3)))
    faces = np.array([(a, b, c) for a, b, c in itertools.combinations(range(8), 3)][:12])
    if path.name == "binary.stl":
        record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
        table = np.zeros(len(faces), record)
        table["corners"] = low_high[faces]
        path.write_bytes(bytes(80) + len(faces).to_bytes(4, "little") + table.tobytes())
    elif path.suffix == ".stl":
        corners = "\n".join(f"vertex {x} {y} {z}" for face in faces for x, y, z in low_high[face])
        path.write_text(f"solid box\nfacet normal 0 0 1\nouter loop\n{corners}\nendloop\nendfacet\nendsolid")
    else:
        points = [f"v {x} {y} {z}" for x, y, z in low_high]
        path.write_text("\n".join([*points, *(f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces)]))


DAE = """<COLLADA><asset><unit meter="0.01"/><up_axis>Y_UP</up_axis></asset><library_geometries>
<geometry id="box"><mesh><source id="at"><float_array>0 0 0 10 0 0 0 10 0 0 0 10</float_array></source>
<vertices><input semantic="POSITION"
source="#at"/></vertices></mesh></geometry></library_geometries><library_visual_scenes><visual_scene><node>
<translate>1 2 3</translate><rotate>0 0 1 90</rotate><instance_geometry url="#box"/></node></visual_scene>
</library_visual_scenes></COLLADA>"""


def a_robot_of(path):
    """Read a mesh: its points, and a robot that has its shape."""
    meshes.points(path)
    urdf = path.with_name("robot.urdf")
    urdf.write_text(
        '<robot name="r"><link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"'
        ' iyz="0"/></inertial>'
        f'<collision><geometry><mesh filename="{path.name}"/></geometry></collision></link></robot>'
    )
    robots.load(urdf)


KINDS = {
    "binary.stl": (box, a_robot_of),
    "text.stl": (box, a_robot_of),
    "box.obj": (box, a_robot_of),
    "box.dae": (lambda path: path.write_text(DAE), a_robot_of),
    "configuration.yaml": (lambda path: path.write_bytes(find("dreamer_reach").read_bytes()), read),
    "robot.yaml": (
        lambda path: path.write_bytes((ROOT / "wholebody/robots/descriptions/trikey.yaml").read_bytes()),
        robots.load,
    ),
    "robot.urdf": (lambda path: path.write_text(write_urdf(TRIKEY)), robots.load),
    "robot.xml": (lambda path: path.write_text(write_mjcf(TRIKEY)), robots.load),
    "frames.yaml": (
        lambda path: path.write_bytes((ROOT / "examples/wave.yaml").read_bytes()),
        lambda path: KeyFrames.read(path, HUBO),
    ),
    "motion.txt": (
        lambda path: path.write_text("# period 0.005\nRSP LSP\n" + "0.1 -0.2\n" * 20),
        lambda path: JointTable.read(path, HUBO),
    ),
    "person.bvh": (lambda path: standing(path, person(), frames=3), Bvh.read),
    "run.mcap": (recording, play),
    "wiring.yaml": (
        lambda path: path.write_bytes((ROOT / "wholebody/drivers/hubo_can/hubo2plus.yaml").read_bytes()),
        Wiring.read,
    ),
    "map.yaml": (lambda path: path.write_text(MAP), read_map),
    "users.yaml": (
        lambda path: path.write_text(f"users:\n{entry(User.new('ada', next(iter(ROLES.values())), 'shibboleth'))}\n"),
        read_users,
    ),
}


def survives(kind, folder, cases, seed):
    """Read so many mutilated files; how many were refused."""
    make, read_it = KINDS[kind]
    path = folder / kind
    make(path)
    right, refused = path.read_bytes(), 0
    read_it(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(cases):
            data = mutilated(right, random.Random(f"{kind} {seed} {number}"))
            path.write_bytes(data)
            try:
                read_it(path)
            except WholebodyError:
                refused += 1
            except BaseException:
                (folder / "culprit").write_bytes(data)
                print(f"case {number} of {kind}; the file is {folder / 'culprit'}")
                raise
    return refused


@pytest.mark.parametrize("kind", KINDS)
def test_a_broken_file_is_read_or_refused_in_our_words(kind, tmp_path):
    assert survives(kind, tmp_path, 60, seed=1) > 5


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_ten_thousand_broken_files_are_read_or_refused_in_our_words(kind, tmp_path):
    assert survives(kind, tmp_path, 10_000, seed=2) > 1000


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BOMB, "5.45e\\+07 values once its aliases are written out"),
        ("[" * 1_000_000, "nested more than 50 deep"),
        ("- " * 100_000, "nested more than 50 deep"),
        ("a: &a [*a]", "contains itself"),
        ("a: !!bool perhaps", "none of its kind"),
        ("a: !!python/object:os.system x", "could not determine a constructor"),
        ("a: \xff".encode("latin-1"), "line 1: byte 0xff"),
    ],
)
def test_yaml_that_would_blow_up_is_refused_at_once(text, said, tmp_path):
    path = tmp_path / "hostile.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(BadConfiguration, match=said):
        yaml_of(path, BadConfiguration)
    with pytest.raises(BadConfiguration):
        read(path)
    with pytest.raises(BadRobot, match=said):
        robots.load(path)


def test_a_position_beyond_every_float_is_refused(tmp_path):
    path = tmp_path / "far.yaml"
    path.write_text("frames:\n  - {name: a, posture: {REB: -" + "9" * 400 + "}}\n")
    with pytest.raises(BadMotionFile, match="no number to go to"):
        KeyFrames.read(path, HUBO)


def test_aliases_that_stay_small_are_read(tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text("a: &a [1, 2]\nb: {c: *a, d: *a}\n")
    assert yaml_of(path, BadConfiguration) == {"a": [1, 2], "b": {"c": [1, 2], "d": [1, 2]}}


@pytest.mark.parametrize("suffix", ["urdf", "xml"])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('<!DOCTYPE r [<!ENTITY a "x"><!ENTITY b "&a;&a;">]><robot>&b;</robot>', "declares entities"),
        ("<a>" * (DEEPEST_XML + 1) + "</a>" * (DEEPEST_XML + 1), "nested more than 200 deep"),
        ("<robot><link", "is not XML"),
    ],
)
def test_xml_that_would_blow_up_is_refused(suffix, text, said, tmp_path):
    path = tmp_path / f"hostile.{suffix}"
    path.write_text(text)
    with pytest.raises(BadRobot, match=said):
        robots.load(path)


def test_a_file_without_end_is_refused():
    with pytest.raises(BadConfiguration, match=f"more than {MOST_BYTES >> 20} MB"):
        yaml_of("/dev/zero", BadConfiguration)


def test_a_part_of_a_recording_that_is_unpacked_to_gigabytes_is_refused(tmp_path):
    from lz4.frame import compress
    from mcap.records import Chunk
    from mcap.writer import Writer

    path = tmp_path / "bomb.mcap"
    with path.open("wb") as stream:
        writer = Writer(stream, use_chunking=False)
        writer.start()
        packed = compress(bytes(LARGEST + 1_000_000))
        chunk = Chunk("lz4", packed, 0, 0, 0, LARGEST + 1_000_000)
        from mcap.data_stream import RecordBuilder

        builder = RecordBuilder()
        chunk.write(builder)
        stream.write(builder.end())
        writer.finish()
    assert path.stat().st_size < LARGEST / 100
    with pytest.raises(BadRecording, match="unpacked to more than 256 MB"):
        Recording(path)
