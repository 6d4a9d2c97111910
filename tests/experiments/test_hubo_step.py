"""The step experiments of Hubo-Ach §3.5 keep their laws; a few of them, to be quick."""

import math

import pytest

from experiments import hubo_step
from wholebody.drivers.joint_drives import SLOPE, WHOLE
from wholebody.messages import Filter


@pytest.mark.slow
@pytest.mark.parametrize(("response", "hertz"), [(WHOLE, 7.29), (SLOPE, 10.66)])
def test_the_bandwidth_is_the_documents_within_two_percent(response, hertz):
    assert hubo_step.bandwidth(response) == pytest.approx(hertz, rel=0.02)


def test_passed_through_the_command_is_the_reference_and_the_joint_lags_by_a_period_at_least():
    step = hubo_step.step()
    assert (step.command == hubo_step.SIZE).all()
    assert step.read[0] == 0
    assert step.error == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("response", [WHOLE, SLOPE])
def test_without_the_boards_limit_the_rise_is_the_models(response):
    step = hubo_step.step(response=response, acceleration=math.inf)
    assert step.rise == pytest.approx(hubo_step.expected_rise(Filter.PASS, 0.0, response), rel=0.01)


def test_the_boards_limit_of_acceleration_is_kept_and_slows_the_step():
    free, limited = hubo_step.step(acceleration=math.inf), hubo_step.step()
    assert limited.acceleration == pytest.approx(480, rel=0.01)
    assert free.acceleration > 1900
    assert limited.rise > 1.1 * free.rise


def test_the_longer_the_filter_the_slower_and_the_gentler():
    steps = [hubo_step.step(Filter.SMOOTH, length, seconds=0.035 * length) for length in (20, 40, 80)]
    assert [step.rise for step in steps] == sorted(step.rise for step in steps)
    assert [step.acceleration for step in steps] == sorted((step.acceleration for step in steps), reverse=True)
    for step in steps:
        assert step.rise == pytest.approx(hubo_step.expected_rise(step.mode, step.value), rel=0.01)
        assert step.command[0] == pytest.approx(hubo_step.SIZE / step.value)


@pytest.mark.parametrize(("mode", "value"), [(Filter.COMPLIANT, 0.9), (Filter.FEEDBACK, 20)])
def test_feeding_back_slows_the_joint_as_the_formula_says(mode, value):
    step = hubo_step.step(mode, value, seconds=6.0)
    assert step.rise == pytest.approx(hubo_step.expected_rise(mode, value), rel=0.03)
    assert step.error == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize("moment", [2.0, 10.0])
@pytest.mark.parametrize(("mode", "value"), [(Filter.PASS, 0.0), (Filter.COMPLIANT, 0.75), (Filter.FEEDBACK, 10)])
def test_the_error_at_rest_grows_with_the_moment_and_the_softness(mode, value, moment):
    step = hubo_step.step(mode, value, moment=moment, seconds=4.0)
    assert step.error == pytest.approx(hubo_step.expected_error(step), rel=0.01)


@pytest.mark.slow
def test_tables_and_picture_are_made(tmp_path):
    lines = []
    results = hubo_step.run(lengths=(1, 20), moments=(0.0, 5.0))
    hubo_step.show(results, lines.append)
    hubo_step.draw(results, tmp_path / "steps.png")
    assert any("7.29" in line for line in lines)
    assert (tmp_path / "steps.png").stat().st_size > 20_000
