"""Three ways from footsteps to a centre of mass press where they shall, each as far as it can."""

import pytest

from experiments import stabilizer_patterns


@pytest.fixture(scope="module")
def found():
    return stabilizer_patterns.patterns(stabilizer_patterns.gait_of_a_pendulum())


def test_on_one_foot_all_three_press_under_the_foot_that_bears(found):
    assert set(found) == {"Pattern", "PreviewControl", "ContinuousSteps"}
    for pressed in found.values():
        assert pressed.off[0] < 0.002


def test_from_foot_to_foot_only_steps_at_constant_velocity_let_the_pressure_jump(found):
    for name in ("Pattern", "PreviewControl"):
        assert found[name].off[1] < 0.003
        assert found[name].jump < 0.01
    assert found["ContinuousSteps"].off[1] > 0.03
    assert found["ContinuousSteps"].jump > 0.05


def test_the_table_is_written(found, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(stabilizer_patterns, "RESULTS", tmp_path)
    monkeypatch.setattr(stabilizer_patterns, "patterns", lambda _: found)
    stabilizer_patterns.main()
    assert "| `ContinuousSteps` | 0.0 |" in capsys.readouterr().out
    assert (tmp_path / "stabilizer_patterns.md").exists()
