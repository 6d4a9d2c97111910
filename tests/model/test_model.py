"""What the model says about a robot, against Pinocchio and against the laws of mechanics."""

import model_examples as examples
import mujoco
import numpy as np
import pinocchio as pin
import pytest

from wholebody import robots
from wholebody.model import Model
from wholebody.robots import Joint, Link, Placement, Robot
from wholebody.robots.formats.mjcf_writer import write_mjcf

STATES = 100
LAWFUL = ("hubo2plus", "dreamer", "trikey", "zoo", "zoo_bolted", "body")


def states(name, count):
    """Random states, slow and fast, near and far from the origin of the world."""
    model, rng = examples.model(name), np.random.default_rng(0)
    for i in range(count):
        q, v = model.random(rng), rng.normal(size=model.nv) * (0.1, 1.0, 10.0)[i % 3]
        if model.floating and i % 5 == 4:
            q[:3] *= 1000.0
        yield q, v


def read(snapshot, quantity):
    if quantity not in examples.OF_FRAMES:
        return getattr(snapshot, quantity)
    return np.array([getattr(snapshot, quantity)(frame) for frame in range(len(snapshot.model.frames))])


def apart(ours, theirs):
    """The largest difference, relative to the largest value."""
    return np.abs(ours - theirs).max() / max(np.abs(theirs).max(), 1e-3)


@pytest.mark.parametrize("name", examples.NAMES)
def test_every_quantity_agrees_with_pinocchio(name):
    model, oracle = examples.model(name), examples.oracle(name)
    worst = {}
    for q, v in states(name, STATES):
        snapshot = model.at(q, v)
        for quantity, theirs in oracle.at(q, v).items():
            worst[quantity] = max(worst.get(quantity, 0.0), apart(read(snapshot, quantity), theirs))
    assert {quantity: error for quantity, error in worst.items() if not error < 1e-9} == {}
    assert len(worst) == 18


@pytest.mark.parametrize("name", ["zoo", "zoo_bolted", "hubo2plus"])
def test_the_model_handed_to_pinocchio_is_the_same_robot(name):
    """`model.pinocchio`, built joint by joint, against the one that Pinocchio reads from URDF."""
    model, oracle = examples.model(name), examples.oracle(name)
    theirs, data = model.pinocchio, model.pinocchio.createData()
    for q, v in states(name, 10):
        G = model.mimic_matrix
        h = pin.rnea(theirs, data, model.to_pinocchio(q), G @ v, np.zeros(theirs.nv))
        assert apart(G.T @ h, oracle.at(q, v)["h"]) < 1e-9


@pytest.mark.parametrize("name", robots.names())
def test_mujoco_has_the_same_masses(name):
    """M, centre of mass and mass, from the MJCF that we write; in MuJoCo, followers have a velocity of their own."""
    model = examples.model(name)
    theirs = mujoco.MjModel.from_xml_string(write_mjcf(model.robot))
    data, full = mujoco.MjData(theirs), np.zeros((theirs.nv, theirs.nv))
    joints = [theirs.joint(each.name) for each in model.robot.joints if each.kind != "fixed"]
    base = 6 if model.floating else 0
    for q, v in states(name, 20):
        snapshot, positions = model.at(q, v), model.to_pinocchio(q)
        axes = np.zeros((theirs.nv, base + len(joints)))  # our v, mimicking joints included, to theirs
        if model.floating:
            data.qpos[:3], data.qpos[3:7] = q[:3], np.roll(q[3:7], 1)
            axes[:3, :3], axes[3:6, 3:6] = snapshot.rotation(model.frame(model.robot.root)), np.eye(3)
        for i, joint in enumerate(joints):
            data.qpos[joint.qposadr[0]] = positions[i - len(joints)]
            axes[joint.dofadr[0], base + i] = 1.0
        mujoco.mj_forward(theirs, data)
        mujoco.mj_fullM(theirs, data, full)
        com = theirs.body_mass @ data.xipos / theirs.body_mass.sum()
        G = axes @ model.mimic_matrix
        assert apart(G.T @ full @ G, snapshot.M) < 1e-9
        assert apart(com, snapshot.com_in_world) < 1e-9
    assert theirs.body_mass.sum() == pytest.approx(model.total_mass, rel=1e-9)


def test_a_bolted_robot_weighs_what_the_same_robot_weighs_afloat():
    """Its base is part of the centre of mass and the momentum matrix, although it does not move."""
    bolted, afloat = examples.model("zoo_bolted"), examples.model("zoo")
    for q, v in states("zoo_bolted", 10):
        ours = bolted.at(q, v)
        same = afloat.at([0, 0, 0, 0, 0, 0, 1, *q], [0, 0, 0, 0, 0, 0, *v])
        for quantity in ("com_in_world", "com_velocity", "com_bias", "momentum", "momentum_bias"):
            assert apart(getattr(ours, quantity), getattr(same, quantity)) < 1e-12
        assert apart(ours.momentum_matrix, same.momentum_matrix[:, 6:]) < 1e-12
        assert ours.potential_energy == pytest.approx(same.potential_energy)
    assert bolted.total_mass == afloat.total_mass


# --- laws, without Pinocchio ---------------------------------------------------------------------------


def along(model, q, v, step):
    """A little before and a little after, on the way with constant v."""
    return model.integrate(q, v, -step), model.integrate(q, v, step)


def rate(before, after, quantity, step, *frame):
    values = [getattr(each, quantity) for each in (before, after)]
    first, last = (value(*frame) if frame else value for value in values)
    return (np.asarray(last) - first) / (2 * step)


@pytest.mark.parametrize("name", LAWFUL)
def test_jacobians_are_derivatives_of_placements(name):
    model, step = examples.model(name), 1e-6
    (q, _), *_ = states(name, 1)
    snapshot = model.at(q)
    for column, direction in enumerate(np.eye(model.nv)):
        before, after = (model.at(each) for each in along(model, q, direction, step))
        assert rate(before, after, "com_in_world", step) == pytest.approx(snapshot.com_jacobian[:, column], abs=1e-7)
        for frame in range(0, len(model.frames), 5):
            J = snapshot.jacobian(frame)[:, column]
            turned = pin.log3(after.rotation(frame) @ before.rotation(frame).T) / (2 * step)
            assert rate(before, after, "position", step, frame) == pytest.approx(J[:3], abs=1e-7)
            assert turned == pytest.approx(J[3:], abs=1e-7)


@pytest.mark.parametrize("name", LAWFUL)
def test_velocities_are_jacobians_times_v(name):
    model = examples.model(name)
    for q, v in states(name, 3):
        snapshot = model.at(q, v)
        assert apart(snapshot.com_jacobian @ v, snapshot.com_velocity) < 1e-12
        assert apart(snapshot.momentum_matrix @ v, snapshot.momentum) < 1e-12
        assert snapshot.kinetic_energy == pytest.approx(v @ snapshot.M @ v / 2)
        for frame in range(len(model.frames)):
            assert apart(snapshot.jacobian(frame) @ v, snapshot.velocity(frame)) < 1e-12


@pytest.mark.parametrize("name", LAWFUL)
def test_biases_are_rates_of_velocities_at_constant_v(name):
    model, step = examples.model(name), 1e-5
    (q, _), (_, v), *_ = states(name, 2)
    snapshot = model.at(q, v)
    before, after = (model.at(each, v) for each in along(model, q, v, step))
    assert apart(rate(before, after, "com_velocity", step), snapshot.com_bias) < 1e-6
    assert apart(rate(before, after, "momentum", step), snapshot.momentum_bias) < 1e-6
    for frame in range(len(model.frames)):
        assert apart(rate(before, after, "velocity", step, frame), snapshot.bias(frame)) < 1e-6


@pytest.mark.parametrize("name", LAWFUL)
def test_power_is_the_rate_of_energy(name):
    """vᵀ(h − g) = ½ vᵀ Ṁ v, which is to say that Ṁ − 2C is skew; and vᵀ g is the rate of the potential energy."""
    model, step = examples.model(name), 1e-5
    (q, _), (_, v), *_ = states(name, 2)
    snapshot = model.at(q, v)
    before, after = (model.at(each, v) for each in along(model, q, v, step))
    power = v @ (snapshot.h - snapshot.g)
    assert v @ rate(before, after, "M", step) @ v / 2 == pytest.approx(power, rel=1e-6, abs=1e-6)
    assert rate(before, after, "kinetic_energy", step) == pytest.approx(power, rel=1e-6, abs=1e-6)
    assert rate(before, after, "potential_energy", step) == pytest.approx(v @ snapshot.g, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("name", examples.NAMES)
def test_the_mass_matrix_is_symmetric_and_positive(name):
    for q, _ in states(name, 5):
        M = examples.model(name).at(q).M
        assert apart(M, M.T) < 1e-14
        assert np.linalg.eigvalsh(M).min() > 0


@pytest.mark.parametrize("name", examples.NAMES)
def test_at_rest_only_gravity_acts(name):
    model = examples.model(name)
    for q, _ in states(name, 3):
        snapshot = model.at(q)
        assert apart(snapshot.h, snapshot.g) < 1e-12
        assert not snapshot.momentum.any()
        assert not any(snapshot.bias(frame).any() for frame in range(len(model.frames)))


@pytest.mark.parametrize("gravity", [(0, 0, -9.81), (1.0, -2.0, 3.0), (0, 0, 0)], ids=str)
def test_gravity_pulls_the_way_it_points(gravity):
    """g = −m J_comᵀ gravity, and Pinocchio agrees."""
    model, oracle = Model(examples.robot("zoo"), gravity), examples.Oracle(examples.robot("zoo"))
    oracle.pin.gravity.linear = np.array(gravity, dtype=float)
    q, v = model.random(4), np.ones(model.nv)
    snapshot = model.at(q, v)
    assert snapshot.g == pytest.approx(-model.total_mass * snapshot.com_jacobian.T @ gravity, abs=1e-9)
    assert apart(snapshot.h, oracle.at(q, v)["h"]) < 1e-12
    assert snapshot.potential_energy == pytest.approx(-model.total_mass * snapshot.com_in_world @ gravity)


def fall(model, q, v, time, step):
    """Let the robot go, by the classical Runge-Kutta method."""

    def rates(q, v):
        snapshot = model.at(q, v)
        return v, np.linalg.solve(snapshot.M, -snapshot.h)

    for _ in range(round(time / step)):
        v1, a1 = rates(q, v)
        v2, a2 = rates(model.integrate(q, v1, step / 2), v + a1 * step / 2)
        v3, a3 = rates(model.integrate(q, v2, step / 2), v + a2 * step / 2)
        v4, a4 = rates(model.integrate(q, v3, step), v + a3 * step)
        q = model.integrate(q, (v1 + 2 * v2 + 2 * v3 + v4) / 6, step)
        v = v + (a1 + 2 * a2 + 2 * a3 + a4) * step / 6
    return model.at(q, v)


@pytest.mark.parametrize("name", ["zoo", "zoo_bolted", "minihubo"])
def test_a_robot_left_alone_keeps_its_energy(name):
    model = examples.model(name)
    q, v = model.random(2), np.random.default_rng(2).normal(size=model.nv)
    start, end = model.at(q, v), fall(model, q, v, time=0.2, step=1e-3)
    gained = end.kinetic_energy - start.kinetic_energy
    lost = start.potential_energy - end.potential_energy
    assert abs(gained) > 0.1, "it should have fallen"
    assert gained == pytest.approx(lost, rel=1e-4)


def test_a_robot_in_space_keeps_its_momentum():
    """Linear and angular; the rotors of the zoo, whose own momentum is not counted, are taken out."""
    robot = examples.robot("hoap3")
    still = Robot("still", robot.links, tuple(without_rotor(each) for each in robot.joints))
    model = Model(still, gravity=(0, 0, 0))
    q, v = model.random(2), np.random.default_rng(2).normal(size=model.nv)
    start, end = model.at(q, v), fall(model, q, v, time=0.1, step=1e-3)
    assert np.abs(end.v - start.v).max() > 0.1, "it should have tumbled"
    assert end.momentum == pytest.approx(start.momentum, rel=1e-3, abs=1e-4)


def without_rotor(joint):
    return Joint(joint.name, joint.kind, joint.parent, joint.child, joint.at, joint.axis, joint.lower, joint.upper)


def test_a_pendulum_is_the_one_of_the_textbook():
    """M = I + m l² + rotor, g = m g l sin q, the energy ½ M q̇² − m g l cos q."""
    arm = Link("arm", 2.0, (0.0, 0.0, -0.5), (0.1, 0.2, 0.3, 0.0, 0.0, 0.0))
    joint = Joint("pivot", "revolute", "post", "arm", Placement(), (0, 1, 0), -3, 3, rotor_inertia=0.05)
    model = Model(Robot("pendulum", (Link("post"), arm), (joint,), floating=False))
    snapshot = model.at([0.3], [2.0])
    assert snapshot.M[0, 0] == pytest.approx(0.2 + 2.0 * 0.25 + 0.05)
    assert snapshot.g == pytest.approx([2.0 * 9.81 * 0.5 * np.sin(0.3)])
    assert snapshot.h == pytest.approx(snapshot.g)
    assert snapshot.kinetic_energy == pytest.approx(0.5 * 0.75 * 4.0)
    assert snapshot.potential_energy == pytest.approx(-2.0 * 9.81 * 0.5 * np.cos(0.3))


def test_nothing_depends_on_where_the_robot_is():
    """A thousand kilometres away, all but positions is the same to the last digits."""
    model = examples.model("zoo")
    q, v = model.random(5), np.ones(model.nv)
    far = q.copy()
    far[:3] += (1e6, -1e6, 1e6)
    here, there = model.at(q, v), model.at(far, v)
    for quantity in ("M", "h", "momentum", "momentum_matrix", "com_jacobian", "com_velocity"):
        assert apart(getattr(there, quantity), getattr(here, quantity)) < 1e-14
    for frame in range(len(model.frames)):
        assert apart(there.jacobian(frame), here.jacobian(frame)) < 1e-14
        assert apart(there.bias(frame), here.bias(frame)) < 1e-14
