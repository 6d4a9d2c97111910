"""Cameras, pictures, films, and the command that shows them."""

import struct
import threading
import zlib

import numpy as np
import pytest
from typer.testing import CliRunner

from wholebody import robots
from wholebody.cli import application
from wholebody.errors import BadSimulation
from wholebody.simulation import Simulation
from wholebody.simulation.cameras import View
from wholebody.simulation.film import Recording, portrait, side_by_side, write_png


def read_png(path):
    """Width, height and the pixels of a PNG as we write it."""
    data, chunks, position = path.read_bytes(), {}, 8
    while position < len(data):
        length, kind = struct.unpack(">I4s", data[position : position + 8])
        body = data[position + 8 : position + 8 + length]
        (check,) = struct.unpack(">I", data[position + 8 + length : position + 12 + length])
        assert check == zlib.crc32(kind + body)
        chunks[kind] = body
        position += 12 + length
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    lines = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, 1 + 3 * width)
    assert (lines[:, 0] == 2).all()
    return np.cumsum(lines[:, 1:], axis=0, dtype=np.uint8).reshape(height, width, 3)


@pytest.fixture
def simulation():
    with Simulation(robots.load("hubo2plus"), "table:height=1.0,ahead=0.5") as made:
        yield made


def test_a_camera_sees_colours_and_depth_of_its_size(simulation):
    colours, depth = simulation.image("tracking", 160, 120), simulation.depth("tracking", 160, 120)
    assert colours.shape == (120, 160, 3)
    assert depth.shape == (120, 160)
    assert colours.std() > 10, "it is no empty picture"


def test_depth_is_the_distance_in_metres():
    """Looking down from twice as far, the floor is farther by as much as the camera."""
    with Simulation(robots.load("trikey")) as simulation:
        corners = []
        for distance in (2.0, 4.0):
            simulation.view = View(azimuth=0.0, elevation=-90.0, distance=distance)
            corners.append(float(simulation.depth("tracking", 64, 64)[2, 2]))
        size = simulation._cameras._size
    assert corners[1] - corners[0] == pytest.approx(2.0 * size, rel=1e-3)


def test_the_head_camera_sees_the_table_and_not_without_it(simulation):
    pictures = [simulation.image("head_camera", 80, 60)]
    with Simulation(robots.load("hubo2plus")) as empty:
        pictures.append(empty.image("head_camera", 80, 60))
    assert np.abs(pictures[0].astype(int) - pictures[1]).mean() > 1.0


def test_the_picture_changes_when_the_robot_moves(simulation):
    before = simulation.image()
    reference = simulation.new_reference()
    reference.position[simulation.robot.index["LSR"]] += 1.0
    simulation.write(reference)
    for _ in range(60):
        simulation.advance()
    assert np.abs(before.astype(int) - simulation.image()).max() > 50


def test_a_load_that_is_attached_is_seen(simulation):
    before = simulation.image()
    simulation.attach(3.0, "Body_Torso", at=(0.25, 0.0, 0.1))
    simulation.advance()
    assert np.abs(before.astype(int) - simulation.image()).max() > 50


def test_another_thread_may_not_use_the_cameras(simulation):
    simulation.image()
    caught = []

    def look():
        try:
            simulation.image()
        except BadSimulation as error:
            caught.append(str(error))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert "belongs to the thread" in caught[0]


def test_a_png_holds_the_picture(tmp_path):
    image = np.random.default_rng(0).integers(0, 256, (7, 5, 3), np.uint8)
    write_png(tmp_path / "a.png", image)
    assert np.abs(read_png(tmp_path / "a.png").astype(int) - image).max() <= 3


def test_pictures_side_by_side():
    picture = np.zeros((4, 3, 3), np.uint8)
    assert side_by_side([picture] * 3).shape == (4, 9, 3)
    assert side_by_side([picture] * 3, columns=2).shape == (8, 6, 3)
    with pytest.raises(BadSimulation):
        side_by_side([])


def test_a_portrait_shows_the_robot_in_both_postures():
    image = portrait(robots.load("minihubo"), width=80, height=100)
    assert image.shape == (100, 160, 3)
    assert np.abs(image[:, :80].astype(int) - image[:, 80:]).max() > 30, "home and stand differ"


@pytest.mark.parametrize("name", ["run.gif", "nowhere/run.png"])
def test_what_cannot_be_recorded_is_refused(tmp_path, name):
    with pytest.raises(BadSimulation):
        Recording(tmp_path / name, 1.0)


def wholebody_sim(*arguments):
    return CliRunner().invoke(application(["sim"]), ["sim", *arguments])


def test_the_command_stands_a_robot_up_and_writes_a_filmstrip(tmp_path):
    path = tmp_path / "strip.png"
    result = wholebody_sim("hoap3", "--seconds", "0.5", "--out", str(path))
    assert result.exit_code == 0, result.output
    assert "stands after 0.5 s" in result.output
    assert "× real time" in result.output
    assert read_png(path).shape == (300, 6 * 240, 3)


def test_the_command_writes_a_film(tmp_path):
    path = tmp_path / "run.mp4"
    pytest.importorskip("imageio_ffmpeg")
    result = wholebody_sim("hoap3", "--seconds", "0.2", "--out", str(path))
    assert result.exit_code == 0, result.output
    assert path.read_bytes()[4:8] == b"ftyp"


def test_the_command_says_when_a_pushed_robot_falls():
    result = wholebody_sim("hoap3", "--seconds", "2", "--push", "WAIST 60 0 0 0.2 0.1")
    assert "fell after 2 s" in result.output


def test_the_command_without_physics():
    result = wholebody_sim("hubo2plus", "--no-physics", "--seconds", "0.2")
    assert "no collision after 0.2 s" in result.output


@pytest.mark.parametrize("text", ["WAIST 1 2", "", "WAIST a b c d e"])
def test_the_command_refuses_a_push_that_is_none(text):
    result = wholebody_sim("hoap3", "--push", text)
    assert isinstance(result.exception, BadSimulation)
    assert "LINK FX FY FZ DURATION START" in str(result.exception)
