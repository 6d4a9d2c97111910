"""Arms and trunk move the zero moment point as the formulas say, share the work with the legs, and keep to limits."""

import numpy as np
import pytest

from experiments.stabilizer_one_foot import pressed
from wholebody import robots
from wholebody.locomotion.balance.momentum_sharing import STAR, Arms, Sharing, turning
from wholebody.locomotion.balance.stabilizers import as_planned, turned
from wholebody.locomotion.walking.gait import SOLES
from wholebody.locomotion.walking.legs import Legs
from wholebody.locomotion.walking.pendulum import GRAVITY
from wholebody.locomotion.walking.walker import Walker
from wholebody.messages import Mode
from wholebody.model import Model
from wholebody.simulation import Simulation

LONG = 0.5  # s, of a swing


@pytest.fixture(scope="module", params=["hubo2plus", "hoap3"])
def model(request):
    return Model(robots.load(request.param), watch=SOLES)


def momenta(model, world, joints):
    """Of the true motion: centre of mass, momentum of all of the robot (linear, angular), and of some joints alone."""
    truth, v = world.truth, np.zeros(model.nv)
    v[:3], v[3:6] = truth.base.linear_velocity, truth.base.angular_velocity
    v[6:] = truth.velocity
    momentum = model.at(np.concatenate((world.base_pose, truth.position))).momentum_matrix
    columns = [6 + joint for joint in joints]
    return np.concatenate((world.com_in_world, momentum @ v, momentum[:, columns] @ v[columns]))


def moved(model, joints, told):
    """Each period while a robot does what is told of a share: momenta, velocities of joints, turning, and the ZMP."""
    walker = Walker(model.robot, stabilizer="none")
    rows = []
    with Simulation(model.robot, posture=walker.stance()) as world:
        reference = world.new_reference()
        reference.mode[:], reference.mask[:] = Mode.POSITION, True
        while world.time < 0.5 + LONG:
            s = min(max((world.time - 0.3) / LONG, 0.0), 1.0)
            target = walker.pattern.at(0.0)
            command = as_planned(target)
            command.feed_forward = True
            reference.position[:] = told(walker, command, target, s**3 * (10.0 - 15.0 * s + 6.0 * s * s))
            world.write(reference)
            world.advance()
            speeds = world.truth.velocity[joints], STAR @ world.truth.base.angular_velocity
            rows.append(np.concatenate((momenta(model, world, joints), *speeds, pressed(world, np.eye(4)))))
    com, all_of_it, theirs, speed, turn, zmp = np.split(
        np.array(rows)[40:], np.cumsum([3, 6, 6, len(joints), 2]), axis=1
    )
    return com, all_of_it, theirs, speed, turn, zmp, world.period


def smooth(values):
    """Without what the ground's forces have in quick noise: the mean of seven periods."""
    return np.apply_along_axis(lambda each: np.convolve(each, np.ones(7) / 7.0, "valid"), 0, values)


def slope(predicted, measured):
    return float(np.polyfit(predicted, measured, 1)[0]), float(np.corrcoef(predicted, measured)[0, 1])


@pytest.mark.parametrize(("axis", "way"), [(0, 0.25), (0, -0.25), (1, 0.25)], ids=["back", "ahead", "aside"])
def test_arms_that_swing_have_the_momentum_of_their_columns_and_momentum_moves_the_zero_moment_point(model, axis, way):
    """Soft legs sway as arms swing, and the ground feels that too: so all of the robot's momentum is counted."""
    sharing = Sharing(model)
    offsets = np.zeros(len(model.robot.moving))
    sizes = np.abs(sharing.linear[axis])
    chosen = [joint for joint, size in zip(sharing.joints, sizes, strict=True) if size > 0.5 * sizes.max()]
    offsets[chosen if axis == 0 else chosen[:1]] = way  # aside one arm only, away from the body

    def told(walker, command, target, share):
        return walker.joints(command, target, walker.period) + share * offsets

    com, momentum, theirs, speed, _, zmp, period = moved(model, sharing.joints, told)
    size, alike = slope(model.total_mass * speed @ sharing.linear[axis], theirs[:, axis])
    assert size == pytest.approx(1.0, abs=0.05)
    assert alike > 0.999

    rates = np.gradient(smooth(np.hstack((momentum[:, :3], momentum[:, 3:] @ STAR.T))), period, axis=0)
    com, weight = smooth(com), model.total_mass * GRAVITY
    predicted = com[:, axis] - (com[:, 2] * rates[:, axis] + rates[:, 3 + axis]) / (weight + rates[:, 2])
    size, alike = slope(predicted[3:-3], smooth(zmp)[3:-3, axis])
    assert np.ptp(predicted) > 0.002
    assert size == pytest.approx(1.0, abs=0.05)
    assert alike > 0.99


@pytest.mark.parametrize("axis", [0, 1], ids=["ahead", "aside"])
def test_a_trunk_that_turns_has_the_angular_momentum_of_its_inertia(model, axis):
    sharing = Sharing(model)

    def told(walker, command, target, share):
        command.rotation = turned(0.1 * share * STAR[axis])
        return walker.joints(command, target, walker.period)

    _, momentum, _, _, turn, _, _ = moved(model, sharing.joints, told)
    size, alike = slope(sharing.inertia[axis, axis] * turn[:, axis], momentum[:, 3:] @ STAR[axis])
    assert size == pytest.approx(1.0, abs=0.12), "the inertia is that of another posture, with straighter knees"
    assert alike > 0.99


@pytest.mark.parametrize("axis", [0, 1], ids=["ahead", "aside"])
def test_the_inertia_of_the_trunk_is_that_of_legs_that_turn_it_about_the_centre_of_mass(model, axis):
    legs, half = Legs(model), 1e-3
    seen = legs.seen_from_pelvis()
    com, soles = seen.com_in_world.copy(), tuple(np.array(seen.placement(model.frame(sole))) for sole in SOLES)
    about = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])[axis]
    ends = []
    for angle in (-half, half):
        rotation = turned(angle * about)
        for _ in range(6):
            now = legs.balance(com, rotation, soles)
        ends.append(np.concatenate((com - rotation @ now.com_in_world, legs.joints)))
    rates = (ends[1] - ends[0]) / (2.0 * half)
    momentum = seen.momentum_matrix @ np.concatenate((rates[:3], about, rates[3:]))
    assert momentum[:3] == pytest.approx(0.0, abs=1e-4), "the centre of mass stays"
    assert turning(model)[:, axis] == pytest.approx([momentum[4], -momentum[3]], abs=1e-4)


def test_arms_get_the_share_of_the_least_effort_for_what_is_wanted(model):
    """Least Σ (u / u_easy)² under a + A θ̈ = c̈ and B θ̈ + I φ̈ = L̇, found otherwise: least norm of u / u_easy."""
    sharing, random = Sharing(model), np.random.default_rng(3)
    easy = np.concatenate((sharing._legs, sharing._trunk, 0.3 * sharing._arms))
    for _ in range(5):
        wanted = random.normal(size=4)
        rows = np.block(
            [
                [np.eye(2), np.zeros((2, 2)), sharing.linear],
                [np.zeros((2, 2)), sharing.inertia, sharing.angular],
            ]
        )
        least = easy * np.linalg.lstsq(rows * easy, wanted, rcond=None)[0]
        assert sharing.arms(wanted[:2], wanted[2:], 0.3) == pytest.approx(least[4:])
    assert sharing.arms(np.array([1.0, 0.0]), np.zeros(2), 0.35) @ sharing.linear[0] > 0.1


def test_arms_stay_within_their_limits_and_off_the_body_however_they_are_pushed(model):
    arms, random = Arms(model, Sharing(model).joints), np.random.default_rng(1)
    stand, joints = model.robot.posture("stand"), model.robot.moving
    highest = np.zeros(len(arms.joints))
    for _ in range(300):
        push = random.normal(0.0, 200.0, len(arms.joints))
        for _ in range(random.integers(1, 40)):
            offsets = arms.swing(push, 0.005)
            assert (arms.angle >= arms.lower - 1e-9).all()
            assert (arms.angle <= arms.upper + 1e-9).all()
            highest = np.maximum(highest, np.abs(arms.speed))
            for joint in arms.joints:
                assert joints[joint].lower - 1e-9 <= stand[joint] + offsets[joint] <= joints[joint].upper + 1e-9
    assert (highest <= [joints[joint].velocity for joint in arms.joints]).all()
    assert (arms.lower * arms.upper == 0.0).sum() == 2, "both arms aside, outwards only"
    for _ in range(1000):
        arms.swing(np.zeros(len(arms.joints)), 0.005)
    assert np.abs(arms.angle).max() < 1e-3, "left alone they hang again"
