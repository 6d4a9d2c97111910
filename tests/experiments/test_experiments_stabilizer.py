"""Stabilizer, Chapter 3, repeated: the RR manipulator and HOAP-3's step obey their laws, and the pictures are drawn."""

from dataclasses import replace

import numpy as np
import pytest

from experiments import stabilizer_leg as leg
from experiments import stabilizer_rr as rr
from experiments import stabilizer_step as hoap
from wholebody import robots
from wholebody.model import Model
from wholebody.model.double_pendulum import DoublePendulum
from wholebody.motion import cubic

DT = 1e-3


@pytest.fixture(scope="module")
def followed():
    return rr.follow(rr.reference(), rr.posture(rr.START), DT)


@pytest.fixture(scope="module")
def model():
    return Model(robots.load("hoap3"))


@pytest.fixture(scope="module")
def step(model):
    return hoap.follow(hoap.plan(model), dt=0.004)


# --- the RR manipulator ----------------------------------------------------------------------------


def test_posture_puts_the_tip_where_it_is_asked_for():
    for x in (rr.START, rr.END):
        assert np.abs(rr.LEG.placement(rr.posture(x))[:3, 3] - x).max() < 1e-12


def test_reference_accelerates_continuously_where_a_plain_cubic_jumps():
    times = np.arange(-5, 1006) * DT
    smooth, plain = rr.reference(), cubic([rr.START, rr.END], [0.0, 1.0])
    jump = [np.abs(np.diff(each.sample(times).acceleration, axis=0)).max() for each in (smooth, plain)]
    assert jump[0] < 0.01
    assert jump[1] > 0.5


def test_tip_follows_and_arrives(followed):
    assert followed.error.max() < 1e-4
    assert np.abs(followed.tip[-1] - rr.END).max() < 1e-4
    assert np.abs(followed.v[-1]).max() < 1e-3


def test_contributions_sum_to_the_acceleration(followed):
    total = followed.by_joints + followed.by_velocities
    assert np.abs(total - followed.reference.acceleration).max() < 0.02
    # Of the tip's own path, apart from any Jacobian; the reference bends at its two virtual points.
    seen = np.diff(followed.tip, n=2, axis=0) / DT**2
    assert np.abs(total[1:-1] - seen).max() < 0.02
    # The control: neither contribution is the acceleration by itself.
    assert np.abs(followed.by_joints[1:-1] - seen).max() > 0.3


def test_joint_accelerations_contribute_most_most_of_the_time(followed):
    assert followed.led_by_joints > 0.8


def test_an_error_dies_as_the_gains_say():
    off = rr.follow(rr.reference(), rr.posture(np.add(rr.START, (0.01, 0.0, 0.0))), DT)
    wanted = [rr.left_of(0.01, time) for time in off.time]
    assert abs(off.error[0] - 0.01) < 1e-12
    assert np.abs(off.error - wanted).max() < 1e-4


# --- HOAP-3's step ---------------------------------------------------------------------------------


def test_step_is_as_long_and_as_high_as_told(step):
    moved = step.foot - step.foot[0]
    assert np.abs(moved[-1] - (0.10, 0.0, 0.0)).max() < 1e-4
    assert abs(moved[:, 2].max() - 0.05) < 1e-4
    assert moved[:, 2].min() > -1e-4
    assert step.foot_error.max() < 1e-4
    assert step.com_error.max() < 1e-4


def test_support_foot_stays(step):
    assert step.slip.max() < 1e-4


def test_no_joint_goes_beyond_its_limits(model, step):
    assert max(use.angle_share for use in hoap.uses(model, step)) < 1.0
    assert max(use.torque_share for use in hoap.uses(model, step)) < 1.0


def test_every_share_counts_from_the_middle_of_the_range():
    use = hoap.Use("any", -0.5, 0.2, -1.0, 3.0, 2.0, 0.0, 4.0)
    assert use.angle_share == pytest.approx(0.75)
    assert use.torque_share == pytest.approx(0.5)
    assert replace(use, highest=3.1).angle_share > 1.0


def test_zmp_stays_in_the_sole_and_leaves_it_when_hurried(model, step):
    assert step.zmp_margin.min() > 0.02
    hurried = hoap.follow(hoap.plan(model, duration=0.5), dt=0.002)
    assert hurried.zmp_margin.min() < 0.0


def test_ground_gives_the_change_of_momentum(model, step):
    for i in range(0, len(step.time), 50):
        now = model.at(step.q[i], step.v[i])
        rate = now.momentum_matrix @ step.v_dot[i] + now.momentum_bias
        force = rate[:3] - model.total_mass * model.gravity
        arm = now.com_in_world - now.position(model.frame(hoap.SUPPORT))
        moment = rate[3:] + np.cross(arm, force)
        assert np.abs(step.wrench[i] - np.concatenate([force, moment])).max() < 1e-6
        about_zmp = moment - np.cross(np.append(step.zmp[i], 0.0), force)
        assert np.abs(about_zmp[:2]).max() < 1e-6


def test_motors_do_all_the_work(model):
    """The foot that stands does none, so energy grows by ∫ τᵀ q̇ dt; integration errs by O(dt), taken out by halving."""
    missing = []
    for dt in (0.008, 0.004):
        done = hoap.follow(hoap.plan(model), dt)
        half = len(done.time) // 2
        begin, middle = (model.at(done.q[i], done.v[i]) for i in (0, half))
        gained = middle.kinetic_energy + middle.potential_energy - begin.kinetic_energy - begin.potential_energy
        power = np.einsum("ij,ij->i", done.torque, done.v[:, 6:])[: half + 1]
        missing.append(np.trapezoid(power, dx=dt) - gained)
        assert gained > 0.1
    assert abs(2 * missing[1] - missing[0]) < 1e-5


def test_swinging_leg_does_not_feel_what_holds_the_robot(model, step):
    legs = {leg: list(model.robot.group(leg)) for leg in ("left_leg", "right_leg")}
    assert np.abs(step.torque - step.hung)[:, legs["left_leg"]].max() < 1e-9
    assert np.abs(step.torque - step.hung)[:, legs["right_leg"]].max() > 1.0


# --- the leg as a double pendulum ------------------------------------------------------------------


def test_legs_own_torque_is_that_of_a_robot_without_rotors(model, step):
    bare = Model(replace(model.robot, joints=tuple(replace(j, rotor_inertia=0.0) for j in model.robot.joints)))
    full = leg.leg_as_pendulum(model, step).full
    columns = [model.robot.index[name] for name in ("L_LFE", "L_KN")]
    for i in range(0, len(step.time), 50):
        torque, _, _ = hoap.efforts(bare.at(step.q[i], step.v[i]), step.v_dot[i], bare.frame(hoap.SUPPORT))
        assert np.abs(torque[columns] - full[i]).max() < 1e-9


def test_leg_made_of_two_points_is_its_pendulum(model, step):
    """The laws of the comparison itself: with point masses, no roll and a hip at rest nothing is left to differ."""
    pendulum = DoublePendulum.of_limb(model, step.q[0], "L_LFE", "L_KN")
    judge = Model(pendulum.chain.robot(pendulum.upper_mass, pendulum.lower_mass))
    columns = [model.column(name) for name in ("L_LFE", "L_KN")]
    masses = leg.leg_as_pendulum(model, step).masses
    for i in range(0, len(step.time), 50):
        at = judge.at(step.q[i, [1 + c for c in columns]], step.v[i, columns])
        assert np.abs(at.M @ step.v_dot[i, columns] + at.h - masses[i]).max() < 1e-9


def test_pendulum_tells_the_leg_roughly(model, step):
    torques = leg.leg_as_pendulum(model, step)
    for by_pendulum in (torques.links, torques.masses):
        for joint in range(2):
            assert np.corrcoef(by_pendulum[:, joint], torques.full[:, joint])[0, 1] > 0.95
        error = np.sqrt(np.mean((by_pendulum - torques.full) ** 2, axis=0))
        assert error[0] < 0.25 * np.abs(torques.full[:, 0]).max()


def test_pendulum_misses_gravity_by_the_thighs_mass_the_centres_ahead_and_the_lean_alone(model, step):
    """Put right, all three leave nothing; without any one of them, something is left."""
    hip, knee = (1 + model.column(name) for name in ("L_LFE", "L_KN"))
    pendulum = DoublePendulum.of_limb(model, step.q[0], "L_LFE", "L_KN")
    thigh, lower = model.robot.link("L_LFE"), ("L_KN", "L_AFE", "L_AAA")
    left = {"nothing": [], "thigh": [], "ahead": [], "lean": []}
    for q in step.q[::50]:
        at = model.at(q)
        shin = at.placement(model.frame("L_KN"))
        parts = [model.robot.link(name).mass * (at.placement(model.frame(name)) @ (*model.robot.link(name).com, 1.0))
                 for name in lower]  # fmt: skip
        along, ahead, _, _ = np.linalg.inv(shin) @ sum(parts) / pendulum.lower_mass
        first, second = q[hip], q[hip] + q[knee]
        for wrong, errors in left.items():
            d1 = pendulum.upper if wrong == "thigh" else -thigh.com[0]
            a1, a2 = (0.0, 0.0) if wrong == "ahead" else (thigh.com[1], ahead)
            lean = 1.0 if wrong == "lean" else np.cos(q[1 + model.column("L_LAA")])
            below = pendulum.lower_mass * (-along * np.sin(second) - a2 * np.cos(second))
            above = pendulum.lower_mass * pendulum.upper * np.sin(first)
            above += thigh.mass * (d1 * np.sin(first) - a1 * np.cos(first))
            errors.append(9.81 * lean * np.array([above + below, below]) - at.g[[hip - 1, knee - 1]])
    assert np.abs(left.pop("nothing")).max() < 1e-4
    for errors in left.values():
        assert np.abs(errors).max() > 0.01


# --- pictures --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_pictures_are_drawn(model, step, followed, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(rr, "RESULTS", tmp_path)
    monkeypatch.setattr(hoap, "RESULTS", tmp_path)
    monkeypatch.setattr(leg, "RESULTS", tmp_path)
    rr.draw(followed)
    hoap.draw_references(model, hoap.plan(model), step)
    hoap.draw_joints(model, step, "angles")
    leg.draw(step, leg.leg_as_pendulum(model, step))
    drawn = {path.name for path in tmp_path.glob("*.png")}
    assert drawn == {f"stabilizer_{each}.png" for each in ("rr", "step_references", "step_angles", "leg")}
