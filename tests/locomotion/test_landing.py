"""A foot lands gently, the zero moment point allows for the legs, and a long step on soft ankles hits less hard."""

from dataclasses import replace

import numpy as np
import pytest

from experiments import stabilizer_impact as impact
from wholebody import robots
from wholebody.locomotion.balance.stabilizers import as_planned
from wholebody.locomotion.walking.footsteps import Place, to_place
from wholebody.locomotion.walking.gait import gait_of, swing_share
from wholebody.locomotion.walking.pattern import Pattern
from wholebody.locomotion.walking.swing import Swing
from wholebody.locomotion.walking.walker import Walker

HERE, THERE = Place(0.0, 0.1, 0.0), Place(0.4, 0.1, 0.0)


def heights(gently, times):
    swing = Swing(HERE, THERE, 0.0, 0.5, 0.04, gently=gently)
    return np.array([swing.at(float(time)).height for time in times])


def test_a_foot_that_lands_gently_is_slow_near_the_ground_and_nowhere_jumps():
    times = np.arange(-50, 5051) * 1e-4
    speed = {}
    for gently in (0.0, 0.15):
        height = heights(gently, times)
        velocity = np.gradient(height, 1e-4)
        assert abs(height[-1]) < 1e-12
        assert height.max() == pytest.approx(0.04)
        assert height.min() > -1e-12
        assert np.abs(np.gradient(velocity, 1e-4)[2:-2]).max() < 12.0, "m/s²: no jump in velocity"
        near = (times > 0.25) & (height < 0.9 * 0.15 * 0.04) & (height > 0.1 * 0.15 * 0.04)
        speed[gently] = np.abs(velocity[near]).max()
    assert speed[0.15] < 0.4 * speed[0.0]


def true_zmp(walker, pattern, times):
    """Where the ground must push for the robot to move so, from the rate of its momentum, and where it shall."""
    dt, mass, rows, wanted = float(times[1] - times[0]), walker.model.total_mass, [], []
    for time in times:
        target = pattern.at(float(time))
        command = as_planned(target)
        walker.legs.balance(command.com, command.rotation, command.soles, rounds=4)
        pelvis = command.com - walker.legs.seen_from_pelvis().com_in_world
        rows.append(np.concatenate([pelvis, (0.0, 0.0, 0.0, 1.0), walker.legs.joints]))
        wanted.append(target.zmp)
    q = np.array(rows)
    v = np.delete(np.gradient(q, dt, axis=0), 6, axis=1)
    momenta = np.array([walker.model.at(*row).momentum_matrix @ row[1] for row in zip(q, v, strict=True)])
    com = np.array([walker.model.at(row).com_in_world for row in q])
    rate = np.gradient(momenta, dt, axis=0)
    force = rate[:, :3] + (0.0, 0.0, 9.81 * mass)
    moment = rate[:, 3:] + np.cross(com, force)
    return np.stack([-moment[:, 1], moment[:, 0]], axis=1) / force[:, 2:], np.array(wanted)


def test_with_the_legs_allowed_for_the_ground_pushes_where_it_shall():
    walker = Walker(robots.load("hubo2plus"), stabilizer="none")
    gait = gait_of(walker.model)
    errors = []
    for share in (0.0, swing_share(walker.model)):
        pattern = Pattern(replace(gait, swing_share=share), walker.pattern.feet)
        pattern.follow(to_place(pattern.feet, Place(3 * gait.limits.length, 0.0, 0.0), gait.limits), 0.0)
        times = np.arange(0.0, gait.begin + 3 * gait.step_time, 0.004)
        found, wanted = true_zmp(walker, pattern, times)
        errors.append(np.sqrt(np.mean((found - wanted)[5:-5, 0] ** 2)))
    assert errors[1] < 0.55 * errors[0]


@pytest.mark.slow
def test_a_long_step_on_soft_ankles_lands_with_less_force_and_less_torque_about_the_ankle_than_the_standard_one():
    standard, ours = (impact.land(impact.ARMS[arm], seed=2) for arm in ("standard", "gentle"))
    assert not standard.fell
    assert not ours.fell
    assert standard.peak > 1.6, "or there is nothing to soften"
    assert ours.excess <= 0.4 * standard.excess
    assert ours.deviation <= 0.7 * standard.deviation


def test_the_picture_is_drawn_and_the_table_compares_with_the_standard(monkeypatch, tmp_path):
    monkeypatch.setattr(impact, "RESULTS", tmp_path)
    time = np.linspace(-0.6, 0.36, 97)
    force = np.stack([np.full(97, 400.0), np.where(time > 0.0, 600.0, 0.0)], axis=1)
    hard = impact.Landing(time, force, np.sin(20 * time), 0 * time, 0 * time, 0.48, 400.0, False)
    soft = replace(hard, force=0.8 * force, torque=0.5 * hard.torque)
    lines = impact.table_of({"standard": [hard], "gentle": [soft]})
    assert "| 40% |" in lines[-1]
    assert "| 50% |" in lines[-1]
    impact.draw({"standard": [hard], "gentle": [soft]})
    assert (tmp_path / "stabilizer_impact.png").exists()
