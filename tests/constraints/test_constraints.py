"""Every constraint's J̇v against finite differences, what it leaves free, and what it refuses."""

import numpy as np
import pytest
from control_examples import ROBOTS, controller, feet, posture, states, usual, wheels
from model_examples import model

from wholebody.constraints import (
    Coactuation,
    Constraint,
    FixedBase,
    FlatContact,
    LineContact,
    OmniWheelContact,
    PointContact,
)
from wholebody.control import Problem
from wholebody.errors import BadConstraint, BadParameter
from wholebody.tasks import Orientation2DTask

H = 1e-6


def contacts(name):
    end = {"trikey": "wheel1", "zoo": "tip", "dreamer": "right_palm"}.get(name, "left_sole")
    base = [FixedBase("base")] if model(name).floating else []
    return [
        *base,
        FlatContact("flat", end),
        PointContact("point", end, (0.1, 0.2, 0.3)),
        LineContact("line", end, (0.6, 0.0, 0.8), (0.1, 0.2, 0.3)),
        OmniWheelContact("wheel", end, 0.1, (0.0, 0.6, 0.8), (0.0, 0.1, 1.0)),
    ]


@pytest.mark.parametrize("name", ROBOTS)
def test_the_bias_is_the_rate_of_the_velocity_when_nothing_accelerates(name):
    m = model(name)
    for now in states(name):
        for each in contacts(name):
            ahead, back = (m.at(m.integrate(now.q, now.v, dt), now.v) for dt in (H, -H))
            rate = (each.jacobian(ahead) @ now.v - each.jacobian(back) @ now.v) / (2 * H)
            assert rate == pytest.approx(each.bias(now), abs=1e-5, rel=1e-5), each.name
            assert np.linalg.matrix_rank(each.jacobian(now)) == each.count_rows()


def test_a_point_an_edge_and_a_sole_leave_three_one_and_no_rotations():
    now = next(states("valkyrie"))
    frame = model("valkyrie").frame("left_sole")
    J = now.jacobian(frame)
    for each, free in (
        (FlatContact("f", "left_sole"), 0),
        (LineContact("l", "left_sole"), 1),
        (PointContact("p", "left_sole"), 3),
    ):
        held = each.jacobian(now)
        N = np.eye(len(J.T)) - np.linalg.pinv(held) @ held
        assert np.linalg.matrix_rank(J @ N, tol=1e-9) == free
    N = np.eye(len(J.T)) - np.linalg.pinv(LineContact("l", "left_sole").jacobian(now)) @ LineContact(
        "l", "left_sole"
    ).jacobian(now)
    turn = (J @ N)[3:]
    along = now.rotation(frame)[:, 1]
    assert np.abs(np.cross(turn.T, along)).max() < 1e-9  # about the edge alone


def test_three_omni_wheels_leave_trikey_three_degrees_of_freedom():
    for now in states("trikey", 10):
        Jc = np.vstack([each.jacobian(now) for each in wheels()])
        assert Jc.shape == (6, 9)
        assert np.linalg.matrix_rank(Jc) == 6
        # and the way its wheels turn is that of the robot's own page: ω = −(L ω_z − sin a v_x + cos a v_y) / r
        motion = np.linalg.svd(Jc)[2][6:]
        assert np.abs(motion[:, 2:5]).max() < 1e-9  # neither up, nor roll, nor pitch
        for v in motion:
            vx, vy, wz = v[0], v[1], v[5]
            for wheel, a in enumerate((2 * np.pi / 3, -2 * np.pi / 3, 0.0)):
                rolling = -(0.272 * wz - np.sin(a) * vx + np.cos(a) * vy) / 0.098
                assert v[6 + wheel] == pytest.approx(rolling, abs=1e-4)


def test_trikey_turns_its_heading_with_three_motors():
    m = model("trikey")
    now = m.at(m.neutral())
    heading = Orientation2DTask("heading", "base", (1, 0, 0), (np.cos(0.5), np.sin(0.5), 0))
    result = controller("trikey").solve(now, Problem([heading], wheels()))
    assert result.acceleration[5] == pytest.approx(100 * 0.5)
    assert np.ptp(result.effort) < 1.0
    assert np.abs(result.effort).min() > 1.0  # all three alike
    assert np.abs(result.acceleration[[2, 3, 4]]).max() < 1e-9


def test_co_actuation_ties_any_number_of_slaves_to_a_master():
    m = model("valkyrie")
    neck = ["neckYaw", "upperNeckPitch"]
    tied = Coactuation("neck", "lowerNeckPitch", neck, (0.5, -2.0))
    for now in states("valkyrie", 5):
        a = controller("valkyrie").solve(now, Problem([posture("valkyrie")], [*feet(), tied])).acceleration
        master = a[m.column("lowerNeckPitch")]
        assert a[[m.column(each) for each in neck]] == pytest.approx([0.5 * master, -2.0 * master])


def test_co_actuation_of_a_robot_is_its_own_transmission():
    m = model("dreamer")
    (torso,) = Coactuation.of(m)
    assert np.array_equal(torso.jacobian(m.at(m.neutral())), m.transmission)
    result = controller("dreamer").solve(next(states("dreamer")), usual("dreamer"))
    assert result.effort[m.column("torso_upper_pitch")] == 0.0


def test_a_fixed_base_makes_a_floating_robot_a_bolted_one():
    floating, bolted = model("zoo"), model("zoo_bolted")
    q, v = bolted.random(0), np.random.default_rng(0).normal(size=bolted.nv)
    gear = Coactuation("gear", "hip", ["knee"], 0.5)
    v[bolted.column("knee")] = 0.5 * v[bolted.column("hip")]
    one = controller("zoo_bolted").solve(bolted.at(q, v), Problem([posture("zoo_bolted")], [gear]))
    base = np.array([0, 0, 0, 0, 0, 0, 1.0])
    two = controller("zoo").solve(
        floating.at(np.r_[base, q], np.r_[np.zeros(6), v]), Problem([posture("zoo")], [FixedBase("bolts"), gear])
    )
    assert two.effort == pytest.approx(one.effort, rel=1e-9, abs=1e-9)


class Rail(Constraint):
    """A user's own: the base slides along x alone."""

    row_count = 5

    def jacobian(self, snapshot):
        return np.eye(6, snapshot.model.nv)[1:]


def test_a_users_own_constraint_is_one_class():
    m = model("zoo")
    problem = Problem([posture("zoo")], [Rail("rail"), Coactuation("gear", "hip", ["knee"], 0.5)])
    a = controller("zoo").solve(m.at(m.neutral()), problem).acceleration
    assert np.abs(a[1:6]).max() < 1e-9


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: Coactuation("c", "a", ["b"], 0.0), BadConstraint, "ratio of 0"),
        (lambda: Coactuation("c", "a", ["b", "c"], (1.0, 0.0)), BadConstraint, "ratio of 0"),
        (lambda: Coactuation("c", "a", ["a"]), BadConstraint, "other than itself"),
        (lambda: Coactuation("c", "a", []), BadConstraint, "needs slaves"),
        (lambda: Coactuation("c", "a", ["b"], (1.0, 2.0)), BadParameter, "must have 1 numbers"),
        (lambda: OmniWheelContact("w", "a", 0.0), BadConstraint, "radius above 0"),
        (lambda: OmniWheelContact("w", "a", 0.1, (0, 0, 0)), BadConstraint, "the axle"),
        (lambda: LineContact("l", "a", (0, 0, 0)), BadConstraint, "the axis"),
        (lambda: FlatContact("f", "a", state="sensing"), BadParameter, "none of disabled, enabled"),
        (lambda: FixedBase("b").describe(model("dreamer")), BadConstraint, "bolted to the world already"),
    ],
)
def test_what_cannot_hold_is_refused(make, error, says):
    with pytest.raises(error, match=says):
        make()


def test_a_ratio_of_zero_is_refused_while_running_too():
    tied = Coactuation("c", "a", ["b"])
    with pytest.raises(BadConstraint):
        tied.ratios = 0.0
    assert tied.ratios[0] == 1.0
