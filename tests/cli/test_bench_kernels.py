"""How old and new tree are compared: differences, levels, yardsticks. Nothing here judges a time."""

import numpy as np
import pytest

from benchmarks import kernels_agreement as agreement
from benchmarks import yardsticks
from benchmarks.both_trees import program


def test_equal_arrays_do_not_differ():
    a = np.random.default_rng(0).normal(size=(3, 4))
    assert agreement.difference(a, a.copy()) == 0.0


def test_a_difference_is_relative_to_the_greatest_number():
    a = np.array([1.0, -200.0])
    assert agreement.difference(a, a + np.array([0.0, 2.0])) == pytest.approx(0.01)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_a_number_never_agrees(bad):
    found = agreement.compared("snapshot", {"out/a": np.ones(2)}, {"out/a": np.array([1.0, bad])})
    assert [each.kept for each in found] == [False]


def test_an_array_that_is_missing_or_has_another_size_never_agrees():
    old = {"out/a": np.ones(2), "out/b": np.ones(2)}
    assert not any(each.kept for each in agreement.compared("snapshot", old, {"out/a": np.ones(3)}))


def test_a_group_that_fails_never_agrees_and_says_why():
    (found,) = agreement.compared("wbosc", {"out/a": np.ones(2)}, {"failed/wbosc": np.array("ValueError: no")})
    assert not found.kept
    assert found.note == "ValueError: no"


@pytest.mark.parametrize(
    ("new", "worse"),
    [([1.0, 2.0], 0.0), ([1.0, 2.5], 0.05), ([0.5, 9.0], 0.0), ([1.5, 0.0], 0.05)],
    ids=["same", "the second loses", "the second loses to the first, which gains", "the first loses"],
)
def test_levels_are_compared_in_their_order(new, worse):
    old, size = np.array([[1.0, 2.0]]), np.array([[10.0, 10.0]])
    assert agreement.level_by_level(old, np.array([new]), size) == pytest.approx(worse)


def test_a_sole_bears_a_force_inside_its_outline_and_none_outside():
    rows = program.sole_rows(np.array([(0.1, 0.05), (-0.1, 0.05), (-0.1, -0.05), (0.1, -0.05)]))

    def wrench(x: float, y: float, sideways: float = 0.0) -> np.ndarray:
        return np.array([sideways, 0.0, 100.0, 100.0 * y, -100.0 * x, 0.0])

    assert (rows @ wrench(0.09, 0.04) >= 0).all()
    assert (rows @ wrench(0.11, 0.0)).min() < 0
    assert (rows @ wrench(0.0, -0.06)).min() < 0
    assert (rows @ wrench(0.0, 0.0, 40.0) >= 0).all()
    assert (rows @ wrench(0.0, 0.0, 50.0)).min() < 0


@pytest.mark.parametrize("yardstick", [yardsticks.matrix_product, yardsticks.round_trip, yardsticks.copy_1024])
def test_a_yardstick_takes_some_time(yardstick):
    assert yardstick() > 0


def test_the_yardstick_multiplies_matrices():
    a, b, c = (np.random.default_rng(seed).normal(size=(24, 24)) for seed in range(3))
    yardsticks.library().matrix_product(*(each.ctypes.data_as(yardsticks.ctypes.c_void_p) for each in (a, b, c)))
    np.testing.assert_allclose(c, a @ b, atol=1e-12)


def test_without_a_compiler_one_line_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(yardsticks.NoCompiler, match="apt install gcc"):
        yardsticks.library.__wrapped__()


def test_a_yardstick_is_taken_in_turns():
    calls = []
    beside = yardsticks.Beside(lambda: calls.append(1) or 2.0, every=3)
    before = len(calls)
    for _ in range(9):
        beside.take()
    assert len(calls) - before == 3
    assert beside.timing.median == 2.0
