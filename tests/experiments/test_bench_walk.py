"""The benchmark of walking counts slow periods too, and says so if the robot fell."""

import pytest

from benchmarks import walk
from wholebody import plugins


def test_the_share_of_real_time_is_of_all_periods_also_the_slow_ones():
    told = walk.Walked([100.0] * 5, [1000.0, 1000.0, 1000.0, 1000.0, 21_000.0], 0.01, None, [4.0], [500.0])
    assert told.share_of_real_time == pytest.approx(1.0)


def test_a_fall_is_said(monkeypatch):
    monkeypatch.setattr(walk, "parts", dict)
    falls = {"none": 3.21}
    monkeypatch.setattr(
        walk, "walk", lambda name, _: walk.Walked([1.0], [900.0, 1500.0], 0.002, falls.get(name), [4.0], [400.0])
    )
    report = walk.run(quick=True, progress=lambda what, done: None)
    assert [note for note in report.notes if "fell" in note] == [
        "the robot fell after 3.2 s with 'none': its times end there"
    ]
    assert {f"cycle with '{name}'" for name in plugins.names("stabilizers")} <= set(report.results)
    assert report.results["share_of_real_time"] == pytest.approx(0.24)
    assert report.budgets[-1].name == "period / mujoco_alone"
    assert report.budgets[-1].value == pytest.approx(3.0)
    assert "0.20 s of processor time" in report.notes[-1]
