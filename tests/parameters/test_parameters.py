"""Parameters by path: what is known of each, checked setting, saving and loading."""

import dataclasses
from typing import Annotated

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as some

import wholebody.constraints
import wholebody.tasks
from wholebody import robots
from wholebody.constraints import Coactuation, FlatContact
from wholebody.control import WBOSC
from wholebody.control.impedance import Impedance
from wholebody.control.joint_pid import JointPID
from wholebody.control.servo import Servo
from wholebody.control.transitions import Transitions
from wholebody.errors import BadConfiguration, BadParameter, BadTask, UnknownName
from wholebody.model import Model
from wholebody.parameters import Bounds, Packed, Parameters, Unit
from wholebody.parameters.parameter import parameters_of
from wholebody.tasks import CartesianPositionTask, JointPositionTask, Orientation3DTask

KINDS = [
    getattr(package, name)
    for package in (wholebody.tasks, wholebody.constraints)
    for name in package.__all__
    if issubclass(getattr(package, name), Packed)
]
OTHERS = [Servo, Impedance, Transitions, JointPID]


def some_parameters():
    parameters = Parameters()
    tasks = [
        CartesianPositionTask("right_hand", "right_palm", (0.3, -0.2, 1.0)),
        Orientation3DTask("gaze", "head", (0.0, 0.0, 0.0, 1.0)),
        JointPositionTask("posture", np.zeros(5), stiffness=25.0),
    ]
    for task in tasks:
        parameters.add("tasks", task)
    parameters.add("constraints", FlatContact("left_foot", "left_sole"))
    return parameters, *tasks


@pytest.mark.parametrize("kind", [*KINDS, *OTHERS], ids=lambda kind: kind.__name__)
def test_every_parameter_has_a_unit_a_meaning_and_bounds_in_order(kind):
    for each in parameters_of(kind).values():
        assert each.unit
        assert each.meaning, each.name
        assert each.bounds.lower <= each.bounds.upper


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_parameters_lie_in_memory_in_the_order_of_the_fields(kind):
    fields = [each.name for each in dataclasses.fields(kind)]
    order = [fields.index(each.name) for each in kind.parameters()]
    assert order == sorted(order)


def test_paths_are_group_name_and_field_and_tell_all_that_is_known():
    parameters, *_ = some_parameters()
    about = parameters.slot("tasks.right_hand.goal").about
    assert (about.kind, about.unit, about.size) == ("vector", "m", 3)
    assert about.meaning == "where to, in the reference frame"
    assert parameters.slot("tasks.right_hand.stiffness").about.upper == 1e6
    assert parameters.slot("constraints.left_foot.state").about.choices == ("disabled", "enabled")


def test_what_is_set_by_path_is_what_the_kernels_read():
    parameters, hand, *_ = some_parameters()
    parameters.set("tasks.right_hand.goal", [0.4, 0.1, 0.9])
    parameters.set("tasks.right_hand.state", "sensing")
    assert hand.goal.tolist() == [0.4, 0.1, 0.9]
    assert hand.numbers[0] == 2
    assert np.shares_memory(parameters.slot("tasks.right_hand.goal").array, hand.numbers)
    hand.goal[0] = 0.5
    hand.state = "enabled"
    assert parameters.get("tasks.right_hand.goal").tolist() == [0.5, 0.1, 0.9]
    assert parameters.get("tasks.right_hand.state") == "enabled"


def test_a_value_that_is_got_does_not_change_afterwards():
    parameters, hand, *_ = some_parameters()
    value = parameters.get("tasks.right_hand.goal")
    hand.goal[:] = 9.0
    assert value.tolist() == [0.3, -0.2, 1.0]


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("tasks.right_hand.goal", [0.1, 0.2], "3 numbers"),
        ("tasks.right_hand.goal", [0.1, 0.2, np.nan], "finite"),
        ("tasks.right_hand.goal", [np.inf, 0.0, -np.inf], "finite"),
        ("tasks.right_hand.goal", "far away", "must be numbers"),
        ("tasks.right_hand.stiffness", -1.0, "outside 0 … 1e\\+06"),
        ("tasks.right_hand.stiffness", [1.0, 2.0, 3e6], "outside"),
        ("tasks.right_hand.state", "sleeping", "none of disabled, enabled, sensing"),
        ("tasks.right_hand.state", 7, "none of"),
        ("constraints.left_foot.state", "sensing", "none of disabled, enabled"),
    ],
)
def test_a_value_that_cannot_be_is_refused_whole(path, value, says):
    parameters, *_ = some_parameters()
    before = {each.about.path: each.array.copy() for each in parameters}
    with pytest.raises(BadParameter, match=says):
        parameters.set(path, value)
    assert all(np.array_equal(each.array, before[each.about.path]) for each in parameters)


def test_a_quaternion_is_brought_to_unit_length_or_refused():
    parameters, _, gaze, _ = some_parameters()
    parameters.set("tasks.gaze.goal", [0.0, 0.0, 3.0, 4.0])
    assert gaze.goal.tolist() == [0.0, 0.0, 0.6, 0.8]
    with pytest.raises(BadTask, match="length 0"):
        parameters.set("tasks.gaze.goal", np.zeros(4))


def test_an_unknown_path_shows_the_nearest():
    parameters, *_ = some_parameters()
    with pytest.raises(UnknownName, match=r"closest: 'tasks\.right_hand\.goal'"):
        parameters.get("tasks.righthand.goal")


def test_two_of_one_path_are_refused():
    parameters, hand, *_ = some_parameters()
    with pytest.raises(BadParameter, match="two parameters"):
        parameters.add("tasks", hand)


@given(some.lists(some.floats(-1e300, 1e300), min_size=3, max_size=3), some.floats(0, 1e6))
def test_what_is_saved_comes_back_to_the_last_bit(tmp_path_factory, goal, stiffness):
    file = tmp_path_factory.mktemp("saved") / "tuned.yaml"
    parameters, *_ = some_parameters()
    parameters.set("tasks.right_hand.goal", goal)
    parameters.set("tasks.right_hand.stiffness", stiffness)
    parameters.set("tasks.posture.state", "disabled")
    parameters.save(file)
    fresh, *_ = some_parameters()
    fresh.load(file)
    for each in parameters:
        assert np.array_equal(each.array, fresh.slot(each.about.path).array), each.about.path


def test_a_file_with_one_wrong_value_changes_nothing_and_the_error_says_where(tmp_path):
    parameters, *_ = some_parameters()
    before = {each.about.path: each.array.copy() for each in parameters}
    file = tmp_path / "wrong.yaml"
    file.write_text("parameters:\n  tasks.right_hand.goal: [1, 2, 3]\n  tasks.posture.stiffness: -4\n")
    with pytest.raises(BadParameter, match=r"wrong\.yaml:3: 'posture': stiffness = -4 is outside"):
        parameters.load(file)
    assert all(np.array_equal(each.array, before[each.about.path]) for each in parameters)
    file.write_text("tasks: 3\n")
    with pytest.raises(BadParameter, match="no section 'parameters'"):
        parameters.load(file)
    with pytest.raises(BadConfiguration, match="cannot be read"):
        parameters.load(tmp_path / "nowhere.yaml")


def test_controllers_and_the_loop_have_parameters_too():
    model = Model(robots.load("dreamer"))
    controller = Impedance(WBOSC(model), stiffness=200.0, damping=10.0)
    fingers = JointPID(robots.load("dreamer_full"), ["upper_neck_yaw"], 0.0, stiffness=40.0, damping=4.0)
    parameters = Parameters()
    parameters.add_attributes("controller", controller)
    parameters.add_attributes("others", fingers)
    parameters.set("controller.leak", 5)
    parameters.set("others.goal", [0.3])
    assert controller.leak == 5.0
    assert fingers.goal.tolist() == [0.3]
    controller.leak = 6.0
    assert parameters.get("controller.leak") == 6.0
    with pytest.raises(BadParameter, match="outside"):
        parameters.set("controller.leak", -1)


def test_a_whole_number_is_whole():
    class Loop:
        """every  n-th cycle."""

        every: Annotated[int, Unit("1"), Bounds(1, 9)] = 1

    parameters, loop = Parameters(), Loop()
    parameters.add_attributes("loop", loop)
    parameters.set("loop.every", 3.0)
    assert loop.every == 3
    assert isinstance(loop.every, int)
    with pytest.raises(BadParameter, match="whole"):
        parameters.set("loop.every", 2.5)


def test_a_reading_can_be_read_and_not_set():
    parameters = Parameters()
    count = iter(range(10))
    parameters.add_reading("servo.cycles", "1", "how many there were", lambda into: into.fill(next(count)))
    assert [parameters.get("servo.cycles"), parameters.get("servo.cycles")] == [0.0, 1.0]
    with pytest.raises(BadParameter, match="can be read, but not set"):
        parameters.set("servo.cycles", 3)


def test_ratios_keep_their_own_check():
    parameters = Parameters()
    torso = Coactuation("torso", "lower", ["upper"])
    parameters.add("constraints", torso)
    with pytest.raises(ValueError, match="ratio of 0"):
        parameters.set("constraints.torso.ratios", 0.0)
    assert torso.ratios.tolist() == [1.0]


def test_saved_files_are_plain_yaml_that_people_can_read(tmp_path):
    parameters, *_ = some_parameters()
    parameters.save(tmp_path / "tuned.yaml")
    text = (tmp_path / "tuned.yaml").read_text()
    assert "tasks.right_hand.goal: [0.3, -0.2, 1.0]" in text
    assert yaml.safe_load(text)["parameters"]["constraints.left_foot.state"] == "enabled"
    assert "accumulated" not in text
