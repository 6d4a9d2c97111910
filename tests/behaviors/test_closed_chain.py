"""Two arms and what they hold: the hands stay on it, it goes where it is told, the virtual joints carry the rest."""

import math

import numpy as np
import pytest

from wholebody import robots
from wholebody.behaviors.arms import ARMS, hand_of, holding_posture
from wholebody.behaviors.closed_chain import ClosedChain
from wholebody.errors import BadGoal
from wholebody.model.model import Model

EVERY = [name for name in robots.names() if set(ARMS) <= set(robots.load(name).groups)]
PERIOD = 0.005


def chain_of(name, **options):
    model = Model(robots.load(name))
    return ClosedChain(model, holding_posture(model), **options)


def sinusoid(start, time, sizes, seconds=4.0):
    """A pose and its velocity on a closed path about the start."""
    w = math.tau / seconds
    goal, velocity = start.copy(), np.zeros(6)
    for axis, (size, times) in enumerate(zip(sizes, (1, 1, 2), strict=True)):
        goal[axis, 3] += size * math.sin(times * w * time)
        velocity[axis] = size * times * w * math.cos(times * w * time)
    return goal, velocity


def arm_length(chain):
    model = chain.model
    snapshot = model.at(chain.q)
    shoulder = snapshot.position(model.frame(model.robot.joint(model.robot.groups["left_arm"][0]).child))
    return float(np.linalg.norm(snapshot.position(hand_of(model, "left_arm")) - shoulder))


def closed(held):
    return held.closure.position < 1e-3 and math.degrees(held.closure.rotation) < 0.1


def hands_apart(chain):
    """The left hand as the right one sees it, by the model alone."""
    snapshot = chain.model.at(chain.q)
    left, right = (snapshot.placement(hand_of(chain.model, arm)) for arm in ARMS)
    return np.linalg.inv(right) @ left


@pytest.mark.slow(but="atlas_v5")
@pytest.mark.parametrize("name", EVERY)
def test_hands_stay_on_the_object_along_a_sinusoid_within_a_millimetre_and_a_tenth_of_a_degree(name):
    chain = chain_of(name)
    start, before = chain.object_to_world, hands_apart(chain)
    size = 0.15 * arm_length(chain)
    for k in range(1, 801):
        held = chain.step(*sinusoid(start, k * PERIOD, (size, size / 2, size / 4)), PERIOD)
        now = hands_apart(chain)
        assert np.linalg.norm(now[:3, 3] - before[:3, 3]) < 1e-3
        assert math.degrees(math.acos(min(1.0, (np.trace(now[:3, :3] @ before[:3, :3].T) - 1) / 2))) < 0.1
        assert held.path.position < 1e-3, (name, k, held)
    joints = chain.q[len(chain.q) - len(chain.model.joint_names) :]
    limits = np.array([(joint.lower, joint.upper) for joint in chain.model.robot.moving])
    assert np.clip(joints, limits[:, 0], limits[:, 1]) == pytest.approx(joints, abs=1e-6)


@pytest.mark.slow
def test_what_the_arms_cannot_reach_is_reached_by_the_virtual_joints():
    far = 1.0
    reached = {}
    for virtual in (True, False):
        chain = chain_of("hubo2plus", virtual=virtual)
        start, com = chain.object_to_world, None
        for k in range(1, 1201):
            goal, velocity = start.copy(), np.zeros(6)
            velocity[0] = 0.2 if k * PERIOD < far / 0.2 else 0.0
            goal[0, 3] += min(0.2 * k * PERIOD, far)
            held = chain.step(goal, velocity, PERIOD)
            com = held.com_in_world if com is None else com
            assert closed(held)
        reached[virtual] = held
        assert (held.path.position < 1e-3) == virtual
    assert reached[True].com_in_world[0] - com[0] > 0.8
    assert reached[False].com_in_world[0] - com[0] < 0.2


def test_the_hands_do_not_part_when_the_object_is_pulled_faster_than_the_joints_can_go():
    chain = chain_of("hubo2plus", virtual=False)
    goal = chain.object_to_world
    goal[:3, 3] += (0.3, 0.2, 0.3)
    before = chain.q.copy()
    fastest = np.array([chain.model.robot.joint(name).velocity for name in chain.names])
    index = [chain.model.column(name) + 1 for name in chain.names]
    for _ in range(400):
        held = chain.step(goal, None, PERIOD)
        assert closed(held)
        assert (np.abs(chain.q[index] - before[index]) <= fastest * PERIOD * 1.05).all()
        before = chain.q.copy()


def test_common_joints_drop_out_of_closure():
    """Eq. 6.4: what moves both arms alike does not move one hand against the other."""
    chain = chain_of("hubo2plus")
    snapshot = chain.model.at(chain.q)
    apart = chain._jacobian(snapshot, 1) - chain._jacobian(snapshot, 0)
    common = [*range(6), chain.model.column(chain.model.robot.groups["torso"][0])]
    assert np.abs(apart[:, common]).max() < 1e-12
    moved = chain.model.column(chain.model.robot.groups["left_arm"][0])
    assert np.abs(apart[:, moved]).max() > 0.1


def test_jacobian_of_the_object_agrees_with_finite_differences():
    chain = chain_of("hrp2")
    model, rng = chain.model, np.random.default_rng(3)
    for hand in range(2):
        v = rng.normal(size=model.nv)
        J = chain._jacobian(model.at(chain.q), hand)
        ahead, back = (chain._carried(model.at(model.integrate(chain.q, v, e)))[hand] for e in (1e-6, -1e-6))
        assert (ahead[:3, 3] - back[:3, 3]) / 2e-6 == pytest.approx(J[:3] @ v, abs=1e-6)


def test_what_cannot_be_held_is_refused_before_anything_moves():
    with pytest.raises(BadGoal, match="no joints 'left_arm'"):
        chain_of("trikey")
    with pytest.raises(BadGoal, match="turns are 'q'"):
        chain_of("hubo2plus", turns="q")
    with pytest.raises(BadGoal, match="tell fewer turns"):
        chain_of("minihubo", turns="xyz")
    with pytest.raises(BadGoal, match="six finite numbers"):
        chain_of("hubo2plus").step(np.full((4, 4), np.nan), None, PERIOD)
