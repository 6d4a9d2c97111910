"""The map that people and robot share, and which joints turn a robot's head."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wholebody import robots
from wholebody.errors import BadConfiguration
from wholebody.operator.head import Head
from wholebody.operator.map import Block, Map, read_map
from wholebody.robots.geometry import placements

angles = st.floats(-math.pi, math.pi)
near = st.floats(-4, 4)
sides = st.floats(0.1, 3)


def inside(block, x, y, margin=0.0):
    """The same question asked another way: the place in the block's own axes."""
    turn = np.exp(-1j * block.yaw) * complex(x - block.x, y - block.y)
    return abs(turn.real) <= block.length / 2 + margin and abs(turn.imag) <= block.width / 2 + margin


@given(st.builds(Block, st.just("it"), near, near, sides, sides, angles), near, near, angles)
def test_a_line_enters_a_block_where_marching_along_it_does(block, x, y, heading):
    march = np.arange(0.0, 14.0, 0.01)
    found = [inside(block, x + t * math.cos(heading), y + t * math.sin(heading)) for t in march]
    entry = block.entry(x, y, heading)
    if any(found):
        assert max(0.0, entry) <= march[found.index(True)] + 1e-9
        assert max(0.0, entry) >= march[found.index(True)] - 0.01 - 1e-9
    elif math.isfinite(entry):  # it touches less than one step of the march
        t = max(0.0, entry)
        assert inside(block, x + t * math.cos(heading), y + t * math.sin(heading), 1e-6)


@given(st.floats(-1, 4), st.floats(-1.5, 1.5), st.sampled_from([0.0, 0.5, 1.0, -0.5]))
def test_in_a_room_there_is_as_much_space_to_all_sides_as_it_is_wide(x, y, quarters):
    walls = [Block("e", 4.55, 0, 0.1, 4.2), Block("w", -1.55, 0, 0.1, 4.2)]
    walls += [Block("n", 1.5, 2.05, 6, 0.1), Block("s", 1.5, -2.05, 6, 0.1)]
    around = Map(walls).around(x, y, quarters * math.pi)
    expected = [4.5 - x, 2.0 - y, x + 1.5, y + 2.0]
    turned = int(2 * quarters)
    assert list(around.values()) == pytest.approx(expected[turned:] + expected[:turned], abs=1e-9)
    assert around["ahead"] + around["behind"] == pytest.approx(6.0 if turned % 2 == 0 else 4.0)


def test_the_way_ends_a_margin_before_what_stands_at_its_goal():
    wall = Block("wall", 2.0, 0.0, 0.2, 4.0)
    way = Map([wall]).way(0.0, 0.0, 2.0, 0.0, 0.4)
    assert way.distance == pytest.approx(1.5)
    assert way.occupied
    behind = Map([wall]).way(0.0, 0.0, 4.0, 0.0, 0.4)
    assert behind.block is wall
    assert not behind.occupied
    assert Map([wall]).way(0.0, 0.0, 1.0, 0.0, 0.4).block is None


def test_who_stands_too_near_to_a_wall_can_leave_and_comes_no_nearer():
    wall = Block("wall", 0.3, 0.0, 0.2, 4.0)
    assert Map([wall]).way(0.0, 0.0, -2.0, 0.0, 0.4).block is None
    assert Map([wall]).way(0.0, 0.0, 0.3, 0.0, 0.4).distance == 0.0


def test_who_stands_before_a_narrow_stand_does_not_go_past_it_as_if_there_were_nothing_to_either_side():
    stand = Block("stand", 0.45, 0.0, 0.1, 0.1)
    beside = Map([stand]).way(0.051, 0.0, 0.45, 0.12, 0.4)  # something that was seen 12 cm from where it is
    assert beside.block is stand
    assert beside.distance < 0.03
    assert Map([stand]).way(0.051, 0.0, 0.0, 0.5, 0.4).block is None, "it may go aside"


@given(near, near, near, near)
def test_going_on_to_an_occupied_place_again_and_again_never_leads_into_the_margin(x, y, goal_x, goal_y):
    block = Block("it", goal_x, goal_y, 0.4, 0.6, 0.3)
    if block.contains(x, y, 0.4):
        return
    for _ in range(3):
        way = Map([block]).way(x, y, goal_x, goal_y, 0.4)
        heading = math.atan2(goal_y - y, goal_x - x)
        x, y = x + way.distance * math.cos(heading), y + way.distance * math.sin(heading)
    assert not inside(block, x, y, 0.4 - 1e-6)


def test_a_map_file_is_read_and_what_is_wrong_with_it_is_said_with_its_line(tmp_path):
    file = tmp_path / "map.yaml"
    file.write_text("walls:\n  - {name: north, x: 0, y: 3, length: 6, width: 0.1}\n")
    assert read_map(file).ahead(0.0, 0.0, math.pi / 2) == pytest.approx(2.95)
    file.write_text("walls:\n  - {name: north, x: 0, y: 3, lenght: 6, width: 0.1}\n")
    with pytest.raises(BadConfiguration, match=r"map.yaml.*2.*length"):
        read_map(file)


@pytest.mark.parametrize("name", robots.names())
def test_pan_turns_the_camera_to_the_left_and_tilt_turns_it_up(name):
    robot = robots.load(name)
    head = Head(robot)

    def looks(pan, tilt):
        positions = np.zeros(len(robot.joint_names))
        for joint, angle in head.positions(pan, tilt).items():
            positions[robot.index[joint]] = angle
        (camera, *_) = robot.sensors_of("camera")
        return (placements(robot, positions)[camera.link][:3, :3] @ camera.at.rotation)[:, 0]

    if head.pan_range.upper > 0:
        pan = min(0.2, head.pan_range.upper)
        assert np.arctan2(looks(pan, 0)[1], looks(pan, 0)[0]) == pytest.approx(pan, abs=0.03)
    if head.tilt_range.upper > 0:
        tilt = min(0.2, head.tilt_range.upper)
        risen = np.arcsin(looks(0, tilt)[2]) - np.arcsin(looks(0, 0)[2])
        assert risen == pytest.approx(tilt, abs=0.03)


@pytest.mark.parametrize("name", robots.names())
def test_wherever_it_is_told_to_look_no_joint_of_the_neck_leaves_its_limits(name):
    robot = robots.load(name)
    head = Head(robot)
    for pan, tilt in ((9.0, 0.0), (-9.0, 0.0), (0.0, 9.0), (0.0, -9.0)):
        for joint, angle in head.positions(pan, tilt).items():
            assert robot.joint(joint).lower - 1e-6 <= angle <= robot.joint(joint).upper + 1e-6
