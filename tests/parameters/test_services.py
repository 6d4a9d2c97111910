"""Services and topics of a running loop: what other processes ask of it, set, wait for and hear."""

import contextlib
import gc
import json
import subprocess
import sys
import threading
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from robot_processes import wait_for, wholebody

from wholebody.channels import Channel
from wholebody.configuration.building import build
from wholebody.configuration.reading import read
from wholebody.configuration.wiring import loop_of, wired
from wholebody.control.introspection import steering
from wholebody.errors import BadParameter, NoController, UnknownName
from wholebody.messages import labels
from wholebody.parameters.bindings import Sending
from wholebody.parameters.records import value_record
from wholebody.parameters.remote import Remote, running
from wholebody.parameters.server import ParameterServer
from wholebody.simulation import Simulation

REPOSITORY = Path(__file__).resolve().parents[2]


class Running:
    """A loop in a thread of this process; simulated time goes on as fast as it can."""

    def __init__(self, name="dreamer_reach", robot="robot"):
        self.built = build(read(name))
        self.stack = contextlib.ExitStack()
        self.simulation = self.stack.enter_context(Simulation(self.built.robot, control_period=0.001))
        self.loop = self.stack.enter_context(wired(self.built, self.simulation, self.simulation, robot))
        self.servo, self.over, self.failed = self.loop.servo, threading.Event(), None
        self.servo.start()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        try:
            while not self.over.is_set():
                self.servo.cycle()
        except BaseException as error:
            self.failed = error

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()
        self.stack.close()
        assert self.failed is None


@pytest.fixture
def controller():
    with Running() as controller:
        yield controller


@pytest.fixture
def remote(controller):
    return Remote()


def test_everything_that_the_loop_has_is_listed_with_unit_bounds_and_meaning(controller, remote):
    told = {each.path: each for each in remote.list()}
    assert set(told) == set(controller.built.parameters.paths)
    for slot in controller.built.parameters:
        assert told[slot.about.path] == slot.about
    assert "tasks.right_hand.goal" in told
    assert told["servo.patience"].unit == "s"


def test_values_are_got_one_by_one_and_all_at_once(controller, remote):
    hand = controller.built.compound.problem.task("right_hand")
    assert remote.get("tasks.right_hand.goal") == pytest.approx(hand.goal)
    assert remote.get("tasks.right_hand.state") == "enabled"
    assert remote.get("tasks.posture.priority") == 1
    values = remote.values()
    assert values["tasks.right_hand.goal"] == pytest.approx(hand.goal)
    assert len(values["joints.position"]) == 16
    assert values["servo.cycles"] > 0


def test_a_goal_that_is_set_is_reached_and_the_event_waited_for(controller, remote):
    goal = remote.get("tasks.right_hand.goal") + np.array([0.05, 0.0, 0.05])
    remote.forget()
    assert remote.set("tasks.right_hand.goal", goal) == pytest.approx(goal)
    happened = remote.wait_for("right_hand_arrived", timeout=40.0)
    assert happened.name == "right_hand_arrived"
    assert happened.values[0] < 0.005
    assert remote.get("tasks.right_hand.error_norm") < 0.05
    assert remote.wait_for("right_hand_arrived", timeout=0.2) is None, "it fired once"
    remote.rearm("right_hand_arrived")
    assert remote.wait_for("right_hand_arrived", timeout=10.0) is not None
    with pytest.raises(UnknownName, match="closest: 'right_hand_arrived'"):
        remote.wait_for("right_hand_arived", 0.1)


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("tasks.right_hand.stiffness", -1.0, "outside 0"),
        ("tasks.right_hand.goal", [1.0, 2.0], "3 numbers"),
        ("tasks.right_hand.goal", 0.4, "tasks.right_hand.goal must have 3 numbers, not one: 0.4"),
        ("tasks.right_hand.goal", [1.0, 2.0, np.nan], "finite"),
        ("tasks.right_hand.state", "asleep", "one of disabled, enabled, sensing"),
        ("tasks.right_hand.error", [0.0, 0.0, 0.0], "not set"),
        ("tasks.posture.priority", 1.5, "whole"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(controller, remote, path, value, says):
    before = controller.built.parameters.get(path)
    with pytest.raises(BadParameter, match=says):
        remote.set(path, value)
    if remote.about(path).writable:
        assert controller.built.parameters.get(path) == pytest.approx(before) or before == remote.get(path)


def test_priorities_and_states_change_while_it_runs(controller, remote):
    remote.set_priority("posture", 3)
    assert remote.controller_configuration()["compound_task"][0]["name"] == "posture"
    assert controller.built.compound.problem.levels[0][0].name == "posture"
    remote.disable("right_hand")
    remote.sense("left_hand")
    states = {each["name"]: each["operational_state"] for each in remote.controller_configuration()["compound_task"]}
    assert (states["right_hand"], states["left_hand"]) == ("disabled", "sensing")
    assert np.isnan(remote.get("tasks.right_hand.error_norm")), "a disabled task has no error"
    remote.enable("right_hand")
    remote.set_priority("posture", 1)
    assert remote.controller_configuration()["compound_task"][-1]["name"] == "posture"
    assert controller.servo.counters.faults == 0
    with pytest.raises(UnknownName, match="closest: 'posture'"):
        remote.enable("postur")


def test_a_new_order_of_priorities_is_made_ready_when_no_command_waits_for_it_and_counts_in_the_next_cycle():
    built, done = build(read("dreamer_reach")), []
    with Simulation(built.robot, control_period=0.001) as simulation:
        servo = loop_of(built, simulation, simulation)
        servo.start()
        servo.cycle()
        written, prepared, solved = simulation.write, built.controller.prepare, built.controller.solve
        simulation.write = lambda reference: (done.append("write"), written(reference))
        built.compound.prepare_with(lambda problem: (done.append("prepare"), prepared(problem)))
        built.controller.solve = lambda now, problem: (done.append(problem.levels), solved(now, problem))[1]
        before = built.compound.problem.levels
        servo.inputs = (lambda servo: built.parameters.set("tasks.posture.priority", 9),)
        servo.cycle()
        servo.inputs = ()
        servo.cycle()
    assert done == [before, "write", "prepare", built.compound.problem.levels, "write"]
    assert [task.name for task in built.compound.problem.levels[0]] == ["posture"]


def test_the_eight_services_of_the_paper(controller, remote):
    model = controller.built.model
    assert list(remote.real_joint_indices()) == list(model.joint_names)
    assert len(remote.actuable_joint_indices()) == 15
    assert "torso_upper_pitch" not in remote.actuable_joint_indices()
    assert list(remote.command_joint_indices()) == list(controller.built.robot.joint_names)
    assert remote.task_parameters()["tasks.left_hand.stiffness"].tolist() == [64.0] * 3
    assert remote.constraint_parameters()["constraints.torso.ratios"].tolist() == [1.0]
    assert remote.controller_parameters()["servo_frequency"] == 1000
    assert remote.controller_parameters()["servo.patience"] == 0.1
    assert remote.controller_configuration()["constraint_set"] == [{"name": "torso", "operational_state": "enabled"}]
    jacobian = remote.constraint_jacobians()["torso"]
    assert jacobian.shape == (1, model.nv)
    assert jacobian == pytest.approx(controller.built.compound.constraints[0].jacobian(controller.servo.snapshot))


def test_the_nine_topics_of_the_paper_are_told(controller, remote):
    readers = {name: Channel(f"robot.reach.{name}").reader() for name in steering.TOPICS}
    assert len(readers) == 9
    remote.set("tasks.right_hand.stiffness", 65.0)
    for name in (
        "command",
        "joint_state",
        "gravity",
        "model_latency",
        "compute_latency",
        "servo_frequency",
        "round_trip",
    ):
        assert readers[name].wait(20.0), name
    assert labels(readers["command"].message.dtype) == controller.built.robot.joint_names
    assert readers["joint_state"].message["position"] == pytest.approx(controller.built.robot.posture("stand"), abs=0.1)
    while np.isnan(readers["compute_latency"].message["values"][0]):  # in the first cycle there is none before
        assert readers["compute_latency"].wait(20.0)
    assert readers["compute_latency"].message["values"][0] > 0
    assert np.abs(readers["gravity"].message["values"]).max() > 1.0


def test_a_refused_input_and_a_command_beyond_its_limit_are_told(controller, remote):
    errors, warnings = (Channel(f"robot.reach.{name}").reader() for name in ("errors", "warnings"))
    with Channel("dreamer.right_hand.goal", value_record(3)).writer() as writer:
        writer.message["values"] = np.nan
        writer.put()
    assert errors.wait(20.0)
    assert b"must be finite" in errors.message["text"]
    remote.set("tasks.posture.stiffness", 1e6)
    remote.set("tasks.posture.goal", controller.built.robot.posture("stand") + 0.3)
    assert warnings.wait(30.0)
    assert b"beyond its limit" in warnings.message["text"]


def test_markers_show_goals_and_where_things_are(controller, remote):
    reader = Channel("robot.reach.markers").reader()
    remote.set("tasks.left_hand.goal", [0.3, 0.3, 0.9])
    reader.latest()
    assert reader.wait(20.0)
    markers = {bytes(each["task"]).decode(): each for each in reader.message["markers"]}
    assert set(markers) == {"right_hand", "left_hand", "right_palm_up", "left_palm_up"}
    assert markers["left_hand"]["goal_position"].tolist() == [0.3, 0.3, 0.9]
    right = markers["right_hand"]
    assert right["position"] == pytest.approx(right["goal_position"], abs=0.05)
    assert np.linalg.norm(markers["right_palm_up"]["direction"]) == pytest.approx(1.0)


def test_values_are_saved_to_a_file_that_a_configuration_can_include(controller, remote, tmp_path):
    remote.set("tasks.right_hand.stiffness", 81.0)
    remote.save(tmp_path / "tuned.yaml")
    (tmp_path / "again.yaml").write_text("include: [dreamer_reach.yaml, tuned.yaml]\n")
    again = build(read(tmp_path / "again.yaml"))
    assert again.parameters.get("tasks.right_hand.stiffness").tolist() == [81.0] * 3


def test_the_commands_get_set_list_and_say_how_it_does(controller):
    assert wholebody("set", "tasks.right_hand.goal", 0.2, -0.25, 0.8).stdout.split() == ["0.2", "-0.25", "0.8"]
    assert controller.built.compound.problem.task("right_hand").goal.tolist() == [0.2, -0.25, 0.8]
    assert json.loads(wholebody("get", "tasks.right_hand.goal", "--json").stdout) == [0.2, -0.25, 0.8]
    wrong = wholebody("set", "tasks.right_hand.stiffness", -3, check=False)
    assert wrong.returncode == 1
    assert "outside 0 … 1e+06" in wrong.stderr
    listed = json.loads(wholebody("params", "right_hand", "--json").stdout)
    assert listed["tasks.right_hand.goal"]["value"] == [0.2, -0.25, 0.8]
    status = json.loads(wholebody("status", "--json").stdout)
    assert status["running"] is False, "no daemon"
    assert status["whole_body"][0]["name"] == "reach"
    assert status["whole_body"][0]["answers"]


def test_a_second_controller_of_the_same_name_is_refused_and_one_of_another_is_not(controller):
    with pytest.raises(NoController, match="runs on 'robot' already"):
        Running()
    with Running("dreamer_posture"):
        assert sorted(running()) == [("robot", "posture"), ("robot", "reach")]
        with pytest.raises(NoController, match="several controllers run"):
            Remote()
        assert Remote("posture").get("tasks.posture.state") == "enabled"


def test_who_asks_a_controller_that_has_ended_is_told():
    with pytest.raises(NoController, match="no controller runs"):
        Remote()
    with Running() as first:
        remote = Remote()
        assert remote.get("tasks.posture.priority") == 1
        first.over.set()
        first.thread.join()
        with pytest.raises(NoController, match="stands still"):
            remote.get("tasks.posture.priority", timeout=0.3)
    with pytest.raises(NoController, match="has ended"):
        remote.get("tasks.posture.priority")
    with Running():  # another life of it
        assert remote.get("tasks.posture.priority") == 1


@pytest.mark.slow
def test_a_gripper_closes_by_its_topic_and_is_held_until_then():
    with Running("dreamer_grasp") as grasp:
        fingers = [grasp.built.robot.index[name] for name in ("right_pointer_finger_mcp", "l_gripper_l_finger")]
        remote = Remote()
        remote.wait_for("at_rest", 10.0)
        assert np.abs(grasp.simulation.truth.position[fingers]).max() < 0.05
        with Sending("dreamer.right_gripper", 1) as right, Sending("dreamer.left_gripper", 1) as left:
            right.put([1.0])
            left.put([2.0])
            begun = remote.get("servo.time")
            wait_for(lambda: remote.get("servo.time") > begun + 1.0, 40)
        right_finger, left_finger = grasp.simulation.truth.position[fingers]
        assert right_finger > 0.5
        assert abs(left_finger) < 0.05, "what cannot be is refused"
        assert remote.get("grippers.right.closed") == 1.0
        assert remote.get("grippers.left.closed") == 0.0


@pytest.mark.slow
def test_the_example_streams_a_goal_along_a_spline_and_closes_the_hand():
    with Running("dreamer_grasp") as grasp:
        remote = Remote()
        start = remote.get("tasks.right_hand.goal")
        subprocess.run([sys.executable, "-m", "examples.goal_stream"], check=True, cwd=REPOSITORY, timeout=50)
        assert remote.get("tasks.right_hand.goal") - start == pytest.approx([0.05, 0.0, 0.08])
        assert remote.get("grippers.right.closed") == 1.0
        assert grasp.loop.steering.bindings.inputs[0].taken > 50


def test_who_comes_while_a_controller_starts_waits_until_it_has_told_what_there_is(monkeypatch):
    tell = ParameterServer._tell

    def slowly(commands, everything):
        begun.set()
        time.sleep(0.5)
        tell(commands, everything)

    begun, made = threading.Event(), []
    monkeypatch.setattr(ParameterServer, "_tell", slowly)
    starting = threading.Thread(target=lambda: made.append(Running()))
    starting.start()
    assert begun.wait(20.0)
    assert "tasks.right_hand.goal" in [each.path for each in Remote().list()]
    starting.join()
    with made[0]:
        assert Remote().get("tasks.posture.priority") == 1


def test_a_bound_goal_counts_in_the_very_next_cycle():
    still = Running()
    with still.stack, Sending("dreamer.right_hand.goal", 3) as goal:
        still.servo.cycle()
        before = np.array(still.servo.command.error("right_hand"))
        goal.put(still.built.compound.problem.task("right_hand").goal + np.array([0.01, 0.0, 0.0]))
        still.servo.cycle()
        assert still.servo.command.error("right_hand") - before == pytest.approx([0.01, 0.0, 0.0], abs=1e-4)


@pytest.mark.slow
def test_thousands_of_cycles_with_bindings_events_topics_and_markers_grow_nothing():
    still = Running()
    with still.stack, Sending("dreamer.right_hand.goal", 3) as goal:
        place = np.array(still.built.compound.problem.task("right_hand").goal)

        def cycles(count):
            for _ in range(count):
                goal.put(place)
                still.servo.cycle()

        cycles(300)
        gc.collect()
        tracemalloc.start()
        cycles(200)
        start, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        cycles(2000)
        end, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert end - start < 5000, "bytes more than before"
    assert peak - start < 50_000, "bytes in use at any time"
