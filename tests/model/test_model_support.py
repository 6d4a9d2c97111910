"""Support polygons and stability margins, against a slow and independent way to find them."""

import itertools
import math

import model_examples as examples
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from wholebody.errors import BadState, UnknownName
from wholebody.model import Contacts, Model, Point, SupportPolygon
from wholebody.model.support import GRID
from wholebody.robots import Joint, Link, Placement, Robot, Surface

coordinates = st.integers(-8, 8).map(lambda eighth: eighth / 8) | st.floats(-1, 1)
points = st.lists(st.tuples(coordinates, coordinates, coordinates), max_size=12)
unhurried = settings(deadline=None, max_examples=200)


def slow_margin(points, x, y):
    """By brute force: the distance to each segment between two points; inside, the least over all directions.

    The point is inside a convex hull if no direction separates it; the directions that matter are those across a pair
    of points. No hull is ever made.
    """
    plane = [(p[0], p[1]) for p in points]
    if not plane:
        return -math.inf
    outside = min(segment_distance(a, b, x, y) for a in plane for b in plane)
    inside = math.inf
    for (ax, ay), (bx, by) in itertools.permutations(set(plane), 2):
        length = math.hypot(bx - ax, by - ay)
        if length < 1e-9:
            continue
        nx, ny = -(by - ay) / length, (bx - ax) / length  # to the left of a → b
        heights = [nx * (px - ax) + ny * (py - ay) for px, py in plane]
        if min(heights) > -1e-12 and max(heights) > 1e-12:  # an edge of the hull: all is to its left
            inside = min(inside, nx * (x - ax) + ny * (y - ay))
    return inside if 0 <= inside < math.inf else -outside


def segment_distance(a, b, x, y):
    ex, ey = b[0] - a[0], b[1] - a[1]
    square = ex * ex + ey * ey
    t = 0.0 if square == 0 else min(1.0, max(0.0, ((x - a[0]) * ex + (y - a[1]) * ey) / square))
    return math.hypot(x - a[0] - t * ex, y - a[1] - t * ey)


TINY = [(0.0, 0.0, 0.0), (0.125, 0.125, 0.0), (-0.125, 0.0, 0.0), (5.7e-220, 0.0, 0.0), (-6e-186, -0.625, 0.0)]


@unhurried
@given(points, coordinates, coordinates)
@example(TINY, 0.0, 0.0)
def test_the_margin_agrees_with_brute_force(points, x, y):
    polygon = SupportPolygon.of(points)
    assert polygon.margin((x, y, 5.0)) == pytest.approx(slow_margin(points, x, y), abs=1e-7)


@unhurried
@given(points)
@example([(0.0, -0.8721613459812696, 0.0), (0.125, -0.8721613459812696, 0.0), (-0.875, -0.8721613459812696, 0.0)])
def test_the_polygon_is_convex_and_holds_every_point(points):
    polygon = SupportPolygon.of(points)
    corners = polygon.corners
    for x, y in corners:
        assert min(math.hypot(p[0] - x, p[1] - y) for p in points) <= GRID, "a corner is one of the points"
    assert all(polygon.margin(point) >= -1e-7 for point in points)
    assert polygon.area >= 0
    if len(corners) >= 3:
        sides = np.roll(corners, -1, axis=0) - corners
        following = np.roll(sides, -1, axis=0)
        assert (sides[:, 0] * following[:, 1] - sides[:, 1] * following[:, 0] > -1e-15).all(), (
            "it turns left everywhere"
        )


@unhurried
@given(points, st.randoms())
def test_the_order_and_the_heights_of_the_points_do_not_matter(points, random):
    shuffled = [(x, y, random.random()) for x, y, _ in random.sample(points, len(points))]
    assert np.array_equal(SupportPolygon.of(shuffled).corners, SupportPolygon.of(points).corners)


@unhurried
@given(points, coordinates, coordinates, st.floats(-3, 3), st.floats(-1, 1), st.floats(-1, 1))
def test_a_polygon_turned_and_shifted_with_the_point_has_the_same_margin(points, x, y, angle, dx, dy):
    R = np.array([[math.cos(angle), -math.sin(angle), 0], [math.sin(angle), math.cos(angle), 0], [0, 0, 1]])
    moved = np.reshape(points, (-1, 3)) @ R.T + (dx, dy, 0)
    before = SupportPolygon.of(points).margin((x, y, 0))
    assert SupportPolygon.of(moved).margin(R @ (x, y, 0) + (dx, dy, 0)) == pytest.approx(before, abs=1e-7)


SQUARE = [(0, 0, 0), (2, 0, 0), (2, 1, 0), (0, 1, 0)]


@pytest.mark.parametrize(
    ("points", "point", "margin"),
    [
        (SQUARE, (1.0, 0.5, 9), 0.5),
        (SQUARE, (0.1, 0.5, 9), 0.1),
        (SQUARE, (2.0, 0.5, 9), 0.0),
        (SQUARE, (2.3, 0.5, 9), -0.3),
        (SQUARE, (2.3, 1.4, 9), -0.5),
        ([(0, 0, 0), (1, 0, 0), (2, 0, 0)], (1.5, 0, 0), 0.0),
        ([(0, 0, 0), (2, 0, 0)], (1.5, -0.2, 0), -0.2),
        ([(0, 0, 0), (2, 0, 0)], (2.3, 0.4, 0), -0.5),
        ([(1, 1, 1)], (1, 1, 0), 0.0),
        ([(1, 1, 1)], (4, 5, 0), -5.0),
        ([(1, 1, 1)] * 4, (4, 5, 0), -5.0),
        ([], (0, 0, 0), -math.inf),
    ],
)
def test_margins_are_metres_positive_inside_and_defined_for_points_lines_and_nothing(points, point, margin):
    assert SupportPolygon.of(points).margin(point) == pytest.approx(margin, abs=1e-15)


def test_a_polygon_has_an_area():
    assert SupportPolygon.of(SQUARE).area == pytest.approx(2.0)
    assert SupportPolygon.of(SQUARE[:2]).area == 0.0
    assert SupportPolygon.of([]).area == 0.0


@pytest.mark.parametrize("gravity", [(0, 0, -1), (0, 0, 1), (9.81, 0, 0), (1, 2, -3), (0, 0, 0)], ids=str)
def test_what_is_horizontal_is_told_by_gravity(gravity):
    """A square across gravity, seen along it, has its true shape."""
    polygon = SupportPolygon.of([], gravity)
    x, y = polygon.axes
    assert polygon.axes @ polygon.axes.T == pytest.approx(np.eye(2), abs=1e-15)
    assert polygon.axes @ gravity == pytest.approx([0, 0], abs=1e-14)
    if any(gravity):
        assert np.cross(x, y) == pytest.approx(-np.array(gravity) / np.linalg.norm(gravity))
    square = [(0 * x), x, x + y, y, x + 7 * np.cross(x, y)]
    assert SupportPolygon.of(square, gravity).area == pytest.approx(1.0)
    assert SupportPolygon.of(square, gravity).margin(0.3 * x + 0.5 * y) == pytest.approx(0.3)


def test_a_point_that_is_no_number_is_refused():
    with pytest.raises(BadState, match="not a number"):
        SupportPolygon.of([(0, 0, 0), (np.nan, 0, 0)])


# --- of a robot --------------------------------------------------------------------------------------


def biped(lean=0.0):
    """A box on two feet 0.2 m apart; the right one 0.1 m higher, on a slope of 0.3 rad about y."""
    cube = (0.1, 0.1, 0.1, 0.0, 0.0, 0.0)
    links = (Link("body", 10.0, (lean, 0, 0), cube), Link("left", 1e-6, inertia=(1e-9,) * 3 + (0.0,) * 3))
    outline = ((0.1, 0.05), (-0.1, 0.05), (-0.1, -0.05), (0.1, -0.05))
    return Robot(
        "biped",
        links,
        (Joint("leg", "prismatic", "body", "left", Placement((0, 0.1, -1)), (0, 0, 1), -1, 1),),
        surfaces=(
            Surface("left_sole", "left", Placement(), outline),
            Surface("right_sole", "body", Placement((0, -0.1, -0.9), (0, 0.3, 0)), outline),
        ),
    )


def test_a_standing_robot_leans_on_the_hull_of_its_soles():
    model = Model(biped())
    snapshot = model.at(model.neutral())
    polygon = Contacts(model, ["left_sole", "right_sole"]).polygon(snapshot)
    tilted = 0.1 * math.cos(0.3)
    expected = {(0.1, 0.05), (0.1, 0.15), (-0.1, 0.05), (-0.1, 0.15), (tilted, -0.15), (-tilted, -0.15)}
    corners = {(round(x, 9), round(y, 9)) for x, y in polygon.corners}
    assert corners == {(round(x, 9), round(y, 9)) for x, y in expected}


@pytest.mark.parametrize(("lean", "margin"), [(0.0, 0.1), (0.03, 0.07), (0.15, -0.05)])
def test_the_static_margin_is_that_of_the_centre_of_mass(lean, margin):
    model = Model(biped(lean))
    feet = Contacts(model, ["left_sole", Point("body", (0.1, -0.1, -1)), Point("body", (-0.1, -0.1, -1))])
    assert feet.margin(model.at(model.neutral())) == pytest.approx(margin, abs=1e-6)


def test_the_margin_does_not_depend_on_where_the_robot_stands():
    model = Model(biped(0.03))
    feet = Contacts(model, ["left_sole", "right_sole"])
    q = model.neutral()
    here = feet.margin(model.at(q))
    q[:3], q[5], q[6] = (3.0, -2.0, 1.0), math.sin(0.4), math.cos(0.4)
    assert feet.margin(model.at(q)) == pytest.approx(here, abs=1e-12)


def test_a_frame_by_name_is_a_point_of_contact():
    model = Model(biped())
    snapshot = model.at(model.neutral())
    tripod = Contacts(model, ["left", Point("body", (0.3, -0.1, -1)), Point("body", (-0.3, -0.1, -1))])
    assert tripod.points_in_world(snapshot)[0] == pytest.approx([0, 0.1, -1])
    assert len(tripod.polygon(snapshot).corners) == 3


def test_without_contacts_nothing_supports():
    model = Model(biped())
    assert Contacts(model, []).margin(model.at(model.neutral())) == -math.inf


def test_an_unknown_contact_is_refused():
    with pytest.raises(UnknownName, match="no frame 'left_soul'; closest: 'left_sole'"):
        Contacts(Model(biped()), ["left_soul"])


def test_hubo_stands_on_its_soles():
    """Hubo2+ in its standing posture: stable on both soles, not on its palms."""
    model = examples.model("hubo2plus")
    snapshot = model.at(model.posture(next(iter(model.robot.postures))))
    assert Contacts(model, ["left_sole", "right_sole"]).margin(snapshot) > 0.02
    assert Contacts(model, ["left_palm"]).margin(snapshot) < 0
