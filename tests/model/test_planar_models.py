"""The analytic planar models: derivatives, energy, both ways of dynamics, and the same robot in Model as the judge."""

import numpy as np
import pinocchio as pin
import pytest
from model_examples import chain

from wholebody import robots
from wholebody.errors import BadRobot, BadState
from wholebody.model import Model
from wholebody.model.double_pendulum import ABSOLUTE, DoublePendulum, InvertedDoublePendulum
from wholebody.model.two_link import TwoLink

RR = TwoLink(0.11, 0.35, 0.27)
HANGING = DoublePendulum(0.35, 0.27, 2.1, 1.3)
STANDING = InvertedDoublePendulum(0.35, 0.27, 2.1, 1.3)
SEEDS = range(8)


def state(seed):
    """Angles, velocities and accelerations anywhere."""
    rng = np.random.default_rng(seed)
    return rng.uniform(-np.pi, np.pi, 2), rng.normal(size=2) * 3, rng.normal(size=2) * 10


def slope(function, at, step=1e-6):
    """∂f/∂x by central differences, the derivative along the last axis."""
    columns = [(function(at + step * e) - function(at - step * e)) / (2 * step) for e in np.eye(len(at))]
    return np.stack(columns, axis=-1)


def spin(R, derivatives):
    """ω of each column: of the skew-symmetric Ṙ Rᵀ."""
    skew = np.einsum("ijk,lj->ilk", derivatives, R)
    return np.array([skew[2, 1], skew[0, 2], skew[1, 0]])


def jacobian_by_differences(placement, q):
    T, dT = placement(q), slope(placement, q)
    return np.vstack([dT[:3, 3], spin(T[:3, :3], dT[:3, :3])])


# --- the RR chain ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_jacobian_is_the_derivative_of_the_placement(seed):
    q, _, _ = state(seed)
    assert np.abs(RR.jacobian(q) - jacobian_by_differences(RR.placement, q)).max() < 1e-8


@pytest.mark.parametrize("seed", SEEDS)
def test_hessian_is_the_derivative_of_the_jacobian_and_symmetric(seed):
    q, _, _ = state(seed)
    H = RR.hessian(q)
    assert np.abs(H - slope(RR.jacobian, q)).max() < 1e-8
    assert np.array_equal(H, H.transpose(0, 2, 1))


@pytest.mark.parametrize("seed", SEEDS)
def test_jacobian_rate_is_the_change_of_the_jacobian_in_time(seed):
    q, v, _ = state(seed)
    h = 1e-6
    by_differences = (RR.jacobian(q + h * v) - RR.jacobian(q - h * v)) / (2 * h)
    assert np.abs(RR.jacobian_rate(q, v) - by_differences).max() < 1e-7


@pytest.mark.parametrize("seed", SEEDS)
def test_acceleration_is_what_the_jacobian_and_the_hessian_contribute(seed):
    q, v, a = state(seed)
    path = lambda t: RR.placement(q + v * t + a * t * t / 2)[:3, 3]  # noqa: E731
    h = 1e-4
    by_differences = (path(h) - 2 * path(0) + path(-h)) / h**2
    by_formula = RR.jacobian(q) @ a + np.einsum("ijk,j,k->i", RR.hessian(q), v, v)
    assert np.abs(by_formula[:3] - by_differences).max() < 1e-5


@pytest.mark.parametrize("seed", SEEDS)
def test_chain_is_the_one_that_the_model_knows(seed):
    q, v, _ = state(seed)
    model = Model(RR.robot())
    at, tip = model.at(q, v), model.frame("tip")
    assert np.abs(at.placement(tip) - RR.placement(q)).max() < 1e-12
    assert np.abs(at.jacobian(tip) - RR.jacobian(q)).max() < 1e-12
    assert np.abs(at.bias(tip) - RR.jacobian_rate(q, v) @ v).max() < 1e-11


@pytest.mark.parametrize("seed", SEEDS)
def test_reversed_placement_undoes_the_chain_with_angles_counted_the_other_way(seed):
    q, _, _ = state(seed)
    assert np.abs(RR.reversed_placement(q) @ RR.placement(-q) - np.eye(4)).max() < 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_reversed_jacobian_is_the_derivative_of_the_reversed_placement_and_the_general_formula(seed):
    q, _, _ = state(seed)
    J = RR.reversed_jacobian(q)
    assert np.abs(J - jacobian_by_differences(RR.reversed_placement, q)).max() < 1e-8
    model = Model(RR.robot())
    general = -model.at(-q).relative(model.frame("base"), model.frame("tip")).jacobian  # θ → −θ turns the columns' sign
    assert np.abs(J - general).max() < 1e-12


def spatial_chain(q):
    """Tip in base, and its Jacobian there, of a snake with oblique joints: nothing of it is planar."""
    model = spatial_chain.model
    at, tip = model.at(q), model.frame("link6")
    base = at.placement(model.frame("link0"))
    assert np.abs(base - np.eye(4)).max() < 1e-15
    return at.placement(tip).copy(), at.jacobian(tip)[:, 6:].copy()


spatial_chain.model = Model(chain(6))


def whole(joints):
    return np.concatenate([(0, 0, 0, 0, 0, 0, 1.0), joints])


@pytest.mark.parametrize("seed", SEEDS)
def test_reversed_jacobian_holds_in_space(seed):
    joints = np.random.default_rng(seed).uniform(-1.5, 1.5, 6)
    seen_from_tip = lambda q: np.linalg.inv(spatial_chain(whole(q))[0])  # noqa: E731
    by_differences = jacobian_by_differences(seen_from_tip, joints)
    T, J = spatial_chain(whole(joints))
    model = spatial_chain.model
    seen = model.at(whole(joints)).relative(model.frame("link0"), model.frame("link6"))
    assert np.abs(seen.jacobian[:, 6:] - by_differences).max() < 1e-7
    # The control: without Rᵀ before the angular rows, as printed, a chain in space is wrong by far.
    R, p = T[:3, :3], T[:3, 3]
    printed = -np.vstack([R.T @ J[:3] + np.cross(R.T @ p, J[3:].T).T, J[3:]])
    assert np.abs(printed - by_differences).max() > 0.1


# --- the double pendulums --------------------------------------------------------------------------

PENDULUMS = pytest.mark.parametrize("pendulum", [HANGING, STANDING], ids=["hanging", "inverted"])


@PENDULUMS
@pytest.mark.parametrize("seed", SEEDS)
def test_mass_matrix_is_that_of_two_points_symmetric_and_positive_definite(pendulum, seed):
    q, _, _ = state(seed)
    M = pendulum.mass_matrix(q)
    assert (M == M.T).all()
    assert (np.linalg.eigvalsh(M) > 0).all()
    J = slope(pendulum.positions, q)  # 2 × 3 × 2
    of_points = sum(m * Ji.T @ Ji for m, Ji in zip((pendulum.upper_mass, pendulum.lower_mass), J, strict=True))
    assert np.abs(M - of_points).max() < 1e-8


@PENDULUMS
@pytest.mark.parametrize("seed", SEEDS)
def test_gravity_effort_is_the_slope_of_the_potential(pendulum, seed):
    q, _, _ = state(seed)
    by_differences = slope(lambda x: np.array(pendulum.potential_energy(x)), q)
    assert np.abs(pendulum.gravity_effort(q) - by_differences).max() < 1e-7


@PENDULUMS
@pytest.mark.parametrize("seed", SEEDS)
def test_coriolis_does_no_work(pendulum, seed):
    q, v, _ = state(seed)
    M_dot = slope(pendulum.mass_matrix, q) @ v
    skew = M_dot - 2 * pendulum.coriolis(q, v)
    assert np.abs(skew + skew.T).max() < 1e-8
    # And it is the one that Lagrange's equations have: C v = Ṁ v − ∂T/∂q.
    by_lagrange = M_dot @ v - slope(lambda x: np.array(pendulum.kinetic_energy(x, v)), q)
    assert np.abs(pendulum.coriolis(q, v) @ v - by_lagrange).max() < 1e-6


@PENDULUMS
@pytest.mark.parametrize("seed", SEEDS)
def test_forward_dynamics_undoes_inverse_dynamics(pendulum, seed):
    q, v, a = state(seed)
    assert np.abs(pendulum.forward_dynamics(q, v, pendulum.inverse_dynamics(q, v, a)) - a).max() < 1e-9


@PENDULUMS
@pytest.mark.parametrize("seed", SEEDS)
def test_pendulums_jacobian_is_the_derivative_of_the_second_mass(pendulum, seed):
    q, _, _ = state(seed)
    J = pendulum.jacobian(q)
    assert np.abs(J[:3] - slope(pendulum.positions, q)[1]).max() < 1e-8
    pitch = q.sum() if pendulum is HANGING else q[1]
    along = -np.sin(pitch), -np.cos(pitch)
    link = np.diff(pendulum.positions(q), axis=0)[0, [0, 2]] * (1 if pendulum is HANGING else -1)
    assert np.abs(link / pendulum.lower - along).max() < 1e-12  # the angle is the pitch of the second link
    assert np.abs(J[4] - ([1, 1] if pendulum is HANGING else [0, 1])).max() == 0


def swung(pendulum, q, v, duration, dt):
    """Let go: by Runge and Kutta's fourth-order rule, to the end."""

    def rate(x):
        return np.concatenate([x[2:], pendulum.forward_dynamics(x[:2], x[2:])])

    x = np.concatenate([q, v])
    for _ in range(round(duration / dt)):
        k1 = rate(x)
        k2 = rate(x + dt / 2 * k1)
        k3 = rate(x + dt / 2 * k2)
        x = x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + rate(x + dt * k3))
    return x[:2], x[2:]


@PENDULUMS
def test_energy_is_kept_while_nothing_drives_the_joints(pendulum):
    q, v = np.array([1.0, 0.7]), np.array([0.5, -2.0])
    before = pendulum.energy(q, v)
    q1, v1 = swung(pendulum, q, v, 1.3, 1e-3)
    assert abs(pendulum.potential_energy(q1) - pendulum.potential_energy(q)) > 1.0  # it has gone somewhere
    assert abs(pendulum.energy(q1, v1) - before) < 1e-6 * HANGING.energy([np.pi, 0], [0, 0])


def test_hanging_pendulum_swings_back_and_inverted_one_falls():
    for pendulum, grows in ((HANGING, False), (STANDING, True)):
        q, _ = swung(pendulum, np.array([0.01, 0.01]), np.zeros(2), 1.0, 1e-3)
        assert bool(abs(q[0]) > 0.05) is grows


@pytest.mark.parametrize("seed", SEEDS)
def test_hanging_pendulum_is_the_robot_that_the_model_knows(seed):
    q, v, a = state(seed)
    model = Model(HANGING.chain.robot(HANGING.upper_mass, HANGING.lower_mass))
    at = model.at(q, v)
    assert np.abs(at.M - HANGING.mass_matrix(q)).max() < 1e-9
    assert np.abs(at.g - HANGING.gravity_effort(q)).max() < 1e-9
    assert np.abs(at.h - HANGING.inverse_dynamics(q, v, (0, 0))).max() < 1e-9
    assert np.abs(at.jacobian(model.frame("tip")) - HANGING.jacobian(q)).max() < 1e-9
    assert abs(at.kinetic_energy - HANGING.kinetic_energy(q, v)) < 1e-9
    assert abs(at.potential_energy - HANGING.potential_energy(q)) < 1e-9
    by_pinocchio = pin.rnea(model.pinocchio, model.pinocchio.createData(), model.to_pinocchio(q), v, a)
    assert np.abs(by_pinocchio - HANGING.inverse_dynamics(q, v, a)).max() < 1e-9


@pytest.mark.parametrize("seed", SEEDS)
def test_inverted_pendulum_is_the_hanging_one_with_gravity_flipped(seed):
    relative, v, a = state(seed)
    flipped = DoublePendulum(0.35, 0.27, 2.1, 1.3, gravity=-9.81)
    tau = STANDING.inverse_dynamics(ABSOLUTE @ relative, ABSOLUTE @ v, ABSOLUTE @ a)
    assert np.abs(ABSOLUTE.T @ tau - flipped.inverse_dynamics(relative, v, a)).max() < 1e-9
    mirrored = -flipped.positions(relative)  # standing on the ceiling, seen with the world upside down
    assert np.abs(STANDING.positions(ABSOLUTE @ relative) - mirrored).max() < 1e-12


@PENDULUMS
@pytest.mark.parametrize("seed", SEEDS)
def test_a_short_second_link_leaves_one_pendulum_of_both_masses(pendulum, seed):
    (first, _), v, a = state(seed)
    short = type(pendulum)(0.35, 1e-9, 2.1, 1.3)
    sign = 1 if pendulum is HANGING else -1
    one = 3.4 * 0.35**2 * a[0] + sign * 3.4 * 9.81 * 0.35 * np.sin(first)
    assert np.abs(short.inverse_dynamics((first, 0.4), v, a) - (one, 0.0)).max() < 1e-6


@PENDULUMS
@pytest.mark.parametrize("seed", SEEDS)
def test_a_light_second_mass_leaves_one_pendulum_of_the_first(pendulum, seed):
    (first, _), v, a = state(seed)
    light = type(pendulum)(0.35, 0.27, 2.1, 1e-9)
    sign = 1 if pendulum is HANGING else -1
    one = 2.1 * 0.35**2 * a[0] + sign * 2.1 * 9.81 * 0.35 * np.sin(first)
    assert np.abs(light.inverse_dynamics((first, 0.4), v, a) - (one, 0.0)).max() < 1e-6


def test_hanging_pendulum_swings_in_the_two_modes_of_textbooks():
    equal = DoublePendulum(1.0, 1.0, 1.0, 1.0)
    h = 1e-6
    K = slope(equal.gravity_effort, np.zeros(2), h)
    squares = np.sort(np.linalg.eigvals(np.linalg.solve(equal.mass_matrix((0, 0)), K)).real)
    assert np.abs(squares - 9.81 * np.array([2 - np.sqrt(2), 2 + np.sqrt(2)])).max() < 1e-6


# --- a limb as a pendulum --------------------------------------------------------------------------


def test_limb_of_two_point_masses_is_its_own_pendulum():
    model = Model(TwoLink(0.11, 0.35, 0.27).robot(2.1, 1.3))
    found = DoublePendulum.of_limb(model, (0.3, -1.0), "upper", "lower")
    assert np.abs(np.subtract([found.upper, found.lower], [0.35, 0.27])).max() < 1e-12
    assert (found.upper_mass, found.lower_mass) == (2.1, 1.3)


def test_limb_has_all_the_mass_below_its_first_joint():
    model = Model(robots.load("hoap3"))
    leg = DoublePendulum.of_limb(model, model.posture("stand"), "L_LFE", "L_KN")
    parts = [model.robot.link(f"L_{each}").mass for each in ("LFE", "KN", "AFE", "AAA")]
    assert leg.upper_mass == pytest.approx(parts[0])
    assert leg.lower_mass == pytest.approx(sum(parts[1:]))
    assert leg.upper == pytest.approx(0.105)  # Table D.3
    assert 0.05 < leg.lower < 0.105 + 0.040


# --- what is refused -------------------------------------------------------------------------------


def test_what_is_no_pendulum_is_refused():
    with pytest.raises(BadRobot, match="'lower'"):
        TwoLink(0.0, 0.3, 0.0)
    with pytest.raises(BadRobot, match="'offset'"):
        TwoLink(-0.1, 0.3, 0.3)
    with pytest.raises(BadRobot, match="'lower_mass'"):
        DoublePendulum(0.3, 0.3, 1.0, 0.0)
    with pytest.raises(BadRobot, match="gravity"):
        InvertedDoublePendulum(0.3, 0.3, 1.0, 1.0, gravity=np.nan)
    with pytest.raises(BadState, match="two numbers"):
        RR.jacobian((1.0, 2.0, 3.0))
    model = Model(robots.load("hoap3"))
    with pytest.raises(BadRobot, match="does not hang"):
        DoublePendulum.of_limb(model, model.neutral(), "L_LFE", "R_KN")
