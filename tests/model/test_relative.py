"""Hessians of frames, and frames as seen from any other, against finite differences and against each other."""

import model_examples as examples
import numpy as np
import pinocchio as pin
import pytest

from wholebody.errors import UnknownFrame

STEP = 1e-6
BESIDE_ZERO = 1e-3


def state(name, seed=0):
    """A state in which everything moves, near the origin of the world."""
    model, rng = examples.model(name), np.random.default_rng(seed)
    return model, model.random(rng), rng.normal(size=model.nv)


def some_frames(model):
    """Frames spread over the robot, the last one among them."""
    count = len(model.frames)
    return sorted({round(share * (count - 1)) for share in (0.0, 0.3, 0.6, 1.0)})


def around(model, q, direction):
    return model.at(model.integrate(q, direction, -STEP)), model.at(model.integrate(q, direction, STEP))


def apart(ours, theirs):
    """The largest difference, relative to the largest value."""
    return np.abs(ours - theirs).max() / max(np.abs(theirs).max(), BESIDE_ZERO)


@pytest.mark.parametrize("name", examples.NAMES)
def test_the_hessian_is_the_derivative_of_the_jacobian(name):
    model, q, v = state(name)
    frames, now = some_frames(model), model.at(q, v)
    differences = {frame: np.empty((6, model.nv, model.nv)) for frame in frames}
    for column, direction in enumerate(np.eye(model.nv)):
        before, after = around(model, q, direction)
        for frame in frames:
            differences[frame][:, :, column] = (after.jacobian(frame) - before.jacobian(frame)) / (2 * STEP)
    for frame in frames:
        hessian = now.hessian(frame)
        assert apart(hessian, differences[frame]) < 1e-7
        assert apart(hessian @ v @ v, now.bias(frame)) < 1e-9, "J̇ v"


@pytest.mark.parametrize("name", examples.NAMES)
def test_what_one_frame_sees_of_another_moves_as_told(name):
    """Velocity and Jacobian are the derivative of the placement, the bias that of the velocity at constant v."""
    model, q, v = state(name, 1)
    now, (before, after) = model.at(q, v), around(model, q, v)
    moving = [model.at(each.q, v) for each in (before, after)]
    for frame in some_frames(model):
        for root in some_frames(model):
            seen, first, last = now.relative(frame, root), before.relative(frame, root), after.relative(frame, root)
            assert apart(np.linalg.inv(now.placement(root)) @ now.placement(frame), seen.placement) < 1e-12
            assert apart(seen.jacobian @ v, seen.velocity) < 1e-9
            turned = pin.log3(last.placement[:3, :3] @ first.placement[:3, :3].T)
            moved = np.concatenate([last.placement[:3, 3] - first.placement[:3, 3], turned]) / (2 * STEP)
            assert seen.velocity == pytest.approx(moved, abs=2e-7, rel=1e-6)
            rate = (moving[1].relative(frame, root).velocity - moving[0].relative(frame, root).velocity) / (2 * STEP)
            assert seen.bias == pytest.approx(rate, abs=2e-6, rel=1e-6)


@pytest.mark.parametrize("name", examples.NAMES)
def test_a_chain_reversed_twice_is_the_chain(name):
    """From the tip, the base moves by −Rᵀ (u + p × ω) and turns by −Rᵀ ω; joints that are not between have no say."""
    model, q, v = state(name, 2)
    now, frames = model.at(q, v), some_frames(model)
    tip, base = frames[-1], frames[0]
    forth, back = now.relative(tip, base), now.relative(base, tip)
    assert forth.placement @ back.placement == pytest.approx(np.eye(4), abs=1e-12)
    R, p, J = back.placement[:3, :3], back.placement[:3, 3], back.jacobian
    again = -np.vstack([R.T @ (J[:3] + np.cross(p, J[3:].T).T), R.T @ J[3:]])
    assert apart(again, forth.jacobian) < 1e-12
    if model.floating:
        assert np.abs(forth.jacobian[:, :6]).max() < 1e-12, "where the robot is in the world can not be seen from it"


def test_a_leg_that_stands_sees_the_same_base_as_the_world_does():
    """With the sole at rest, the base moves in the world by what the sole sees of it."""
    model, q, v = state("hubo2plus")
    now = model.at(q, v)
    sole, base = model.frame("left_sole"), model.frame(model.robot.root)
    J = now.jacobian(sole)
    v = v.copy()
    v[:6] = -np.linalg.solve(J[:, :6], J[:, 6:] @ v[6:])
    now = model.at(q, v)
    R, seen = now.rotation(sole), now.relative(base, sole)
    assert np.concatenate([R @ seen.velocity[:3], R @ seen.velocity[3:]]) == pytest.approx(now.velocity(base), abs=1e-9)
    alone = seen.jacobian @ np.concatenate([np.zeros(6), v[6:]])
    assert alone == pytest.approx(seen.velocity, abs=1e-9), "the joints alone say it"


def test_a_frame_that_is_none_is_refused():
    model, q, _ = state("hubo2plus")
    now = model.at(q)
    with pytest.raises(UnknownFrame, match="no frame 9999"):
        now.hessian(9999)
    with pytest.raises(UnknownFrame, match="no frame 9999"):
        now.relative(0, 9999)
