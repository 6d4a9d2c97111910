"""Kernels of walking refuse arrays of another size or type by name, and agree with formulas written in numpy."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from wholebody import _kernels
from wholebody.locomotion.balance.region_stabilizer import share_of
from wholebody.locomotion.balance.stabilizers import turned
from wholebody.locomotion.balance.support_area import nearest_inside
from wholebody.locomotion.walking.footsteps import Place, SoleRoom, border
from wholebody.locomotion.walking.pattern import dcm_shift
from wholebody.locomotion.walking.pendulum import ZmpPath
from wholebody.locomotion.walking.swing import Swing

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: _kernels.locomotion_nearest_inside(SQUARE, np.zeros(3), np.zeros(2)), "point"),
        (lambda: _kernels.locomotion_nearest_inside(np.zeros((0, 2)), np.zeros(2), np.zeros(2)), "corners"),
        (lambda: _kernels.locomotion_nearest_inside(SQUARE[:, ::-1], np.zeros(2), np.zeros(2)), "corners"),
        (lambda: _kernels.locomotion_share_of_area(SQUARE.astype(np.float32), np.zeros(2)), "corners"),
        (lambda: _kernels.locomotion_rotation(np.zeros(4), np.zeros(9)), "vector"),
        (lambda: _kernels.locomotion_swing(1.0, np.zeros(9), np.zeros(3), np.zeros(3), np.zeros(18)), "rise"),
        (lambda: _kernels.locomotion_path(np.zeros(2), np.zeros(12), np.zeros(8), 3.0, np.zeros(2)), "curves"),
        (lambda: _kernels.locomotion_path(np.zeros(0), np.zeros(0), np.zeros(0), 3.0, np.zeros(2)), "times"),
    ],
)
def test_an_array_that_does_not_fit_is_refused_by_name(call, name):
    with pytest.raises(ValueError, match=f"^{name} "):
        call()


def test_a_handle_of_another_kind_is_refused():
    path = _kernels.locomotion_path(np.arange(2.0), np.zeros(24), np.zeros(8), 3.0, np.zeros(2))
    with pytest.raises(ValueError, match="PyCapsule"):
        _kernels.locomotion_swing_at(path, 0.0, 0.0)


def test_places_and_corners_may_be_whole_numbers():
    swing = Swing(Place(0, 0, 0), Place(1, 0, 0), 0, 1, 0.1)
    assert swing.at(0.5).place.x == pytest.approx(0.5)
    assert nearest_inside(SQUARE.astype(int), np.array([2, 0])).tolist() == [1.0, 0.0]
    assert share_of(SQUARE.astype(int), np.array([1, 0])) == pytest.approx(1.0)


def test_a_time_that_is_no_number_gives_no_number():
    path = ZmpPath([0.0, 1.0], np.zeros((2, 2)), 3.0, np.ones(2))
    assert np.isnan(path.at(math.nan).com).all()


@pytest.mark.parametrize("vector", [(0.0, 0.0, 0.0), (1e-13, 0.0, 0.0), (1e-5, -2e-5, 0.0), (0.3, -0.2, 2.0)])
def test_a_rotation_vector_turns_as_scipy_says(vector):
    assert turned(np.array(vector)) == pytest.approx(Rotation.from_rotvec(vector).as_matrix(), abs=1e-15)


def test_capture_by_a_step_is_the_integral_over_the_swing():
    omega, share, left, double_support = 3.5, 0.1, 0.4, 0.1
    s = np.linspace(0.0, 1.0, 20001)
    way = np.trapezoid(omega * left * np.exp(-omega * left * s) * s**3 * (10 - 15 * s + 6 * s * s), s)
    way += math.exp(-omega * left)
    weight = (1 - math.exp(-omega * double_support)) / (omega * double_support)
    expected = weight - share * math.exp(omega * left) * way
    assert dcm_shift(omega, share, left, double_support, 0.0) == pytest.approx(expected, rel=1e-7)


def test_the_border_of_a_polygon_is_its_greatest_y_and_nowhere_beside_it():
    corners = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 3.0]])
    assert border(corners, np.array([-0.1, 0.0, 1.0, 2.0, 2.1])).tolist() == [-math.inf, 3.0, 2.0, 1.0, -math.inf]


def test_feet_of_equal_squares_side_by_side_are_their_width_apart():
    outline = ((-0.1, -0.05), (0.1, -0.05), (0.1, 0.05), (-0.1, 0.05))
    room = SoleRoom(outline, outline, gap=0.01)
    assert room.aside(True, 0.0, 0.0) == pytest.approx(0.11)
    assert room.aside(False, 0.3, 0.0) == -math.inf
