"""Contacts come back to where they were switched on: on internal models, or where that is asked for."""

import numpy as np
import pytest
from quadratic_examples import model_of
from scipy.spatial.transform import Rotation

from wholebody.constraints import FlatContact, LineContact, PointContact
from wholebody.control import WBOSC, Problem, Transitions
from wholebody.control.impedance import Impedance
from wholebody.control.quadratic import QuadraticController
from wholebody.errors import BadProblem
from wholebody.tasks import CartesianPositionTask, CenterOfMassTask, JointPositionTask, Orientation3DTask

SIDES = ("left", "right")
PERIOD = 0.005
SHIFT, SWING, STEPS = 0.5, 0.6, 6
LOST = 0.01
"""m, from which on nobody need look further."""

CONTROLLERS = {"wbosc": WBOSC, "quadratic": QuadraticController}


def smooth(x):
    return x**3 * (10 - 15 * x + 6 * x**2)


class Stepping:
    """Steps in place: the weight goes over a foot, the other one 3 cm up and down."""

    def __init__(self, model):
        self.model = model
        start = model.at(model.posture("stand"))
        self.frames = [model.frame(f"{side}_sole") for side in SIDES]
        self.soles = [start.position(frame).copy() for frame in self.frames]
        self.com_at = start.com_in_world.copy()
        self.com = CenterOfMassTask("com", self.com_at, stiffness=100.0)
        self.contacts = [FlatContact(f"{side}_foot", f"{side}_sole") for side in SIDES]
        self.feet = [
            CartesianPositionTask(f"{side}_swing", f"{side}_sole", at, stiffness=900.0, state="disabled")
            for side, at in zip(SIDES, self.soles, strict=True)
        ]
        self.turns = [
            Orientation3DTask(f"{side}_turn", f"{side}_sole", start.rotation(frame), stiffness=900.0, state="disabled")
            for side, frame in zip(SIDES, self.frames, strict=True)
        ]
        levels = [[self.com, *self.feet, *self.turns], JointPositionTask("posture", model.robot.posture("stand"))]
        self.problem = Problem(levels, self.contacts)

    def move(self, time):
        step, within = divmod(time, SHIFT + SWING)
        support, before = int(step) % 2, self.com_at[1] if step == 0 else 0.8 * self.soles[1 - int(step) % 2][1]
        swing, way = 1 - support, smooth(min(1.0, within / SHIFT))
        self.com.goal[1] = before + way * (0.8 * self.soles[support][1] - before)
        up = within >= SHIFT and step < STEPS
        for side in (0, 1):
            lifted = up and side == swing
            self.contacts[side].state = "disabled" if lifted else "enabled"
            self.feet[side].state = self.turns[side].state = "enabled" if lifted else "disabled"
        height, later = (self.height(within - SHIFT + ahead) for ahead in (0.0, 1e-4))
        self.feet[swing].goal[2] = self.soles[swing][2] + height
        self.feet[swing].goal_velocity[2] = (later - height) / 1e-4

    @staticmethod
    def height(time):
        x = min(1.0, max(0.0, time / (0.7 * SWING)))  # then it waits, to land at rest
        return 0.03 * smooth(min(1.0, 2 * min(x, 1 - x)))


def drift_of_an_internal_model(controller):
    """How far the soles come from where they touched down while they bear, at most, in m."""
    model = controller.model
    stepping, q, v = Stepping(model), model.posture("stand"), np.zeros(model.nv)
    place, worst = [None, None], 0.0
    for cycle in range(round(STEPS * (SHIFT + SWING) / PERIOD)):
        stepping.move(cycle * PERIOD)
        snapshot = model.at(q, v)
        for side, frame in enumerate(stepping.frames):
            if stepping.contacts[side].state == "disabled":
                place[side] = None
                continue
            here = snapshot.position(frame).copy()
            place[side] = here if place[side] is None else place[side]
            worst = max(worst, float(np.linalg.norm(here - place[side])))
        if worst > LOST:
            break
        command = controller.solve(snapshot, stepping.problem)
        assert command.fault is None
        v = v + PERIOD * command.acceleration
        q = model.integrate(q, v, PERIOD)
    return worst


@pytest.mark.slow(but="quadratic")
@pytest.mark.parametrize("kind", CONTROLLERS)
def test_soles_of_an_internal_model_stay_within_half_a_millimetre_and_drift_without_feedback(kind):
    model = model_of("hubo2plus")
    made = CONTROLLERS[kind]
    kept = drift_of_an_internal_model(made(model, period=PERIOD, contact_feedback="position"))
    drifted = drift_of_an_internal_model(made(model, period=PERIOD, contact_feedback="none"))
    assert kept < 0.0005
    assert drifted > 0.002


CONTACTS = {
    "flat": lambda: FlatContact("foot", "left_sole"),
    "point": lambda: PointContact("foot", "left_sole", (0.05, 0.02, 0.0)),
    "line": lambda: LineContact("foot", "left_sole", (0.0, 1.0, 0.0), (0.05, 0.0, 0.0)),
}


def on_one_contact(kind):
    model = model_of("hubo2plus")
    contact = CONTACTS[kind]()
    return model, contact, Problem([JointPositionTask("posture", model.robot.posture("stand"))], [contact])


def displaced(model, contact, far, speed):
    """A state a little way from standing, the way in the rows of a contact, and its velocity in them."""
    rng = np.random.default_rng(2)
    way, v = rng.normal(size=(2, model.nv))
    start = model.posture("stand")
    way *= far
    middle = model.at(model.integrate(start, way, 0.5))
    now = model.at(model.integrate(start, way, 1.0), speed * v)
    return now, contact.jacobian(middle) @ way, contact.jacobian(now) @ now.v


@pytest.mark.parametrize("contact_kind", CONTACTS)
@pytest.mark.parametrize("kind", CONTROLLERS)
def test_a_contact_is_accelerated_back_to_its_place_by_both_gains(kind, contact_kind):
    """J v̇ + J̇ v = −kd J v − kp e; e agrees with the way in the rows of the contact to second order."""
    model, contact, problem = on_one_contact(contact_kind)
    unlimited = {} if kind == "wbosc" else {"limit_contacts": False, "acceleration_limit": np.inf}
    gains = {"contact_damping": 30.0, "contact_stiffness": 900.0}
    controller = CONTROLLERS[kind](model, contact_feedback="position", **gains, **unlimited)
    controller.solve(model.at(model.posture("stand")), problem)  # it is switched on here
    now, e, rate = displaced(model, contact, 1e-4, 1e-3)
    command = controller.solve(now, problem)
    assert command.fault is None
    rows = contact.rows(now)
    achieved = rows.jacobian @ command.acceleration + rows.bias
    np.testing.assert_allclose(achieved, -30.0 * rate - 900.0 * e, atol=1e-3 * np.abs(900.0 * e).max())


@pytest.mark.parametrize("kind", CONTROLLERS)
def test_a_contact_that_is_switched_on_again_is_held_where_it_is_then(kind):
    model, contact, problem = on_one_contact("flat")
    unlimited = {} if kind == "wbosc" else {"limit_contacts": False, "acceleration_limit": np.inf}
    controller = CONTROLLERS[kind](model, contact_feedback="position", **unlimited)
    other = Problem([JointPositionTask("still", model.robot.posture("stand"))], [])
    now, e, _ = displaced(model, contact, 1e-3, 0.0)

    def asked():
        return np.abs(contact.jacobian(now) @ controller.solve(now, problem).acceleration).max()

    def stand():
        controller.solve(model.at(model.posture("stand")), problem)

    stand()
    assert asked() == pytest.approx(400.0 * np.abs(e).max(), rel=0.01), "it is held where it was"
    contact.state = "disabled"
    controller.solve(now, problem)
    contact.state = "enabled"
    assert asked() < 1e-9, "it was off"
    controller.release_contacts(problem)
    stand()
    assert asked() > 1e-3
    controller.solve(now, other)
    assert asked() < 1e-9, "the problem between did not hold it"


def test_feedback_is_damping_on_measured_states_and_position_inside_an_internal_model():
    model = model_of("hubo2plus")
    for made, measured in ((WBOSC, [0.0, 0.0]), (QuadraticController, [10.0, 0.0])):
        controller = made(model)
        np.testing.assert_array_equal(controller.settings.contact_gains, measured)
        Impedance(controller)  # what is measured leaks in
        np.testing.assert_array_equal(controller.settings.contact_gains, measured)
        Impedance(Transitions(controller), leak=0.0)
        np.testing.assert_array_equal(controller.settings.contact_gains, [40.0, 400.0])
        told = made(model, contact_feedback="damping", contact_damping=5.0)
        Impedance(told, leak=0.0)
        np.testing.assert_array_equal(told.settings.contact_gains, [5.0, 0.0])


@pytest.mark.parametrize(
    "wrong",
    [
        {"contact_feedback": "some"},
        {"contact_feedback": "none", "contact_damping": 1.0},
        {"contact_feedback": "damping", "contact_stiffness": 1.0},
        {"contact_feedback": "position", "contact_stiffness": 1e9},
        {"contact_feedback": "position", "contact_stiffness": np.nan},
        {"contact_feedback": "damping", "contact_damping": -1.0},
        {"contact_feedback": "damping", "contact_damping": 2000.0},
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", CONTROLLERS)
def test_feedback_that_means_nothing_is_refused(kind, wrong):
    with pytest.raises(BadProblem, match="contact_"):
        CONTROLLERS[kind](model_of("hubo2plus"), **wrong)


class Following:
    """Joints that follow positions exactly, on a base that the left foot holds."""

    def __init__(self, model):
        self.model, self.frame = model, model.frame("left_sole")
        self.q, self.v = model.posture("stand"), np.zeros(model.nv)
        self.foot = np.array(model.at(self.q).placement(self.frame))

    def follow(self, position, velocity):
        self.q[7:], self.v[6:] = position, velocity
        now = self.model.at(self.q)
        at = (
            self.foot
            @ np.linalg.inv(now.placement(self.frame))
            @ now.placement(self.model.frame(self.model.robot.root))
        )
        self.q[:3], self.q[3:7] = at[:3, 3], Rotation.from_matrix(at[:3, :3]).as_quat()
        J = self.model.at(self.q).jacobian(self.frame)
        self.v[:6] = -np.linalg.solve(J[:, :6], J[:, 6:] @ self.v[6:])


@pytest.mark.slow
def test_an_impedance_keeps_its_soles_apart_as_they_are():
    """Swaying with both feet down; the control arm has no feedback."""

    def apart(**feedback):
        model = model_of("hubo2plus")
        stepping, robot = Stepping(model), Following(model)
        impedance = Impedance(WBOSC(model, period=PERIOD, **feedback), leak=0.0, window=10.0, offset=False)
        for cycle in range(1600):
            stepping.com.goal[:2] = stepping.com_at[:2] + 0.05 * np.array([np.sin(0.03 * cycle), np.sin(0.02 * cycle)])
            command = impedance.solve(model.at(robot.q, robot.v), stepping.problem)
            robot.follow(command.position, command.velocity)
        soles = [model.at(robot.q).position(frame) for frame in stepping.frames]
        return abs(np.linalg.norm(soles[0] - soles[1]) - np.linalg.norm(stepping.soles[0] - stepping.soles[1]))

    assert apart() < 0.00002
    assert apart(contact_feedback="none") > 0.0001
