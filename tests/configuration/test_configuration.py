"""Configurations: what is read, what is refused and where, includes, words for goals, plug-ins, ready ones."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from robot_processes import wholebody

from wholebody import plugins
from wholebody.configuration.building import build
from wholebody.configuration.reading import READY, find, read, ready
from wholebody.configuration.schema import json_schema
from wholebody.configuration.wiring import wired
from wholebody.constraints import Constraint
from wholebody.control import QuadraticController
from wholebody.control.impedance import Impedance
from wholebody.control.transitions import Transitions
from wholebody.errors import BadConfiguration, BadTask, UnknownName
from wholebody.simulation import Simulation
from wholebody.tasks import Task

PLUGIN = Path(__file__).resolve().parents[2] / "examples" / "plugin"

BASE = """\
name: test
robot: dreamer
tasks:
  - name: hand
    type: cartesian_position
    frame: right_palm
    goal: [0.3, -0.2, 0.9]
  - name: posture
    type: joint_position
    goal: stand
constraints:
  - {name: torso, type: coactuation, master: torso_lower_pitch, slaves: [torso_upper_pitch]}
compound_task:
  - {name: hand, priority: 2}
  - {name: posture, priority: 1, operational_state: sense}
constraint_set:
  - {name: torso, operational_state: enable}
"""


@pytest.fixture
def write(tmp_path):
    def write(text, name="test.yaml"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


def refusal(file, whole=False):
    """What a file is refused with."""
    with pytest.raises(BadConfiguration) as caught:
        build(read(file)) if whole else read(file)
    return str(caught.value)


def test_higher_numbers_come_first_and_states_are_as_told(write):
    built = build(read(write(BASE)))
    assert [[each.name for each in level] for level in built.compound.problem.levels] == [["hand"], ["posture"]]
    assert built.compound.problem.task("posture").state == "sensing"
    assert built.compound.problem.task("hand").goal.tolist() == [0.3, -0.2, 0.9]
    assert built.compound.problem.task("posture").goal == pytest.approx(built.robot.posture("stand"))


GOAL = "goal: [0.3, -0.2, 0.9]"
ROBOT = "robot: dreamer"
THREE = ":7: tasks[0] (hand).goal: expected 3 numbers in m"


def more(text):
    """Something said besides, in line 3."""
    return ROBOT, f"{ROBOT}\n{text}"


WRONG = [
    ("type: cartesian_position", "type: cartesian_positon", ":5: tasks[0] (hand).type: no task 'cartesian_positon'"),
    ("type: cartesian_position", "type: cartesian_positon", "closest: 'cartesian_position'"),
    ("frame: right_palm", "fram: right_palm", ":6: tasks[0] (hand).fram: unknown key 'fram'; closest: 'frame'"),
    (GOAL, "goal: [0.3, -0.2]", THREE),
    (GOAL, "goal: 0.4", THREE),
    (GOAL, "goal: [0.3, -0.2, .nan]", THREE),
    (GOAL, "goal: true", THREE),
    (
        GOAL,
        f"{GOAL}\n    stiffness: -4",
        ":8: tasks[0] (hand).stiffness: expected a number, or one for each row in 1/s²",
    ),
    (ROBOT, "robt: dreamer", ":2: robt: unknown key 'robt'; closest: 'robot'"),
    ("priority: 2", "priority: high", ":14: compound_task[0] (hand).priority: input should be a valid integer"),
    ("operational_state: sense", "operational_state: asleep", ":15: compound_task[1] (posture).operational_state"),
    (
        "operational_state: sense",
        "operational_state: asleep",
        "expected 'enabled', 'disabled' or 'sensing', not 'asleep'",
    ),
    ("  - {name: hand, priority: 2}", "  - {name: hnd, priority: 2}", "compound_task: no task 'hnd'; closest: 'hand'"),
    ("  - {name: hand, priority: 2}", "", "'hand' is not used: add it to compound_task"),
    ("name: posture\n", "name: hand\n", "the name 'hand' is there twice"),
    ("name: test", "name: test\nname: again", ":2: 'name' is given twice"),
    (ROBOT, "robot: [dreamer", "this is no YAML"),
    (*more("controller: {type: wbosc, task_tolerace: 1}"), ":3: controller.task_tolerace: unknown key"),
    (*more("controller: wbsc"), ":3: controller: no controller 'wbsc'; closest: 'wbosc'"),
    (*more("interface: simulaton"), "no driver 'simulaton'; closest: 'simulation'"),
    (*more("servo_frequency: 0"), ":3: servo_frequency: input should be greater than 0"),
    (*more("transitions: {gaol: 1}"), "closest: 'goal'"),
]


@pytest.mark.parametrize(("old", "new", "says"), WRONG)
def test_what_is_wrong_is_said_with_file_line_key_and_the_nearest_right_word(write, old, new, says):
    assert old in BASE
    file = write(BASE.replace(old, new, 1))
    said = refusal(file)
    assert says in said
    assert str(file) in said


def bound(*entries):
    return more("bindings:\n" + "\n".join(f"  - {{{each}}}" for each in entries))


TOLD_BY_THE_ROBOT = [
    ("frame: right_palm", "frame: right_plam", ":4: task 'hand': no frame 'right_plam'; closest: 'right_palm'"),
    (ROBOT, "robot: draemer", ":2: no robot 'draemer'; closest: 'dreamer'"),
    ("goal: stand", "goal: stnd", "no posture 'stnd'; closest: 'stand'"),
    ("goal: stand", "goal: [1, 2]", "task 'posture': 2 goals, but dreamer has 16 joints"),
    (GOAL, "goal: stand", ":4: task 'hand': goal must be numbers, or 'here', not 'stand'"),
    (
        *more("parameters: {tasks.hand.gaol: [0, 0, 0]}"),
        ":3: no parameter 'tasks.hand.gaol'; closest: 'tasks.hand.goal'",
    ),
    (*more("parameters: {tasks.hand.stiffness: -1}"), "outside 0"),
    (
        *more("events: [{name: a, expression: tasks.hand.eror_norm < 1}]"),
        ":3: event 'a': in 'tasks.hand.eror_norm < 1'",
    ),
    (*bound("parameter: tasks.hand.gol, direction: input, topic: a"), ":4: no parameter 'tasks.hand.gol'"),
    (*bound("parameter: tasks.hand.goal, direction: input, topic: a, transport_type: smoke"), "no transport 'smoke'"),
    (*bound("parameter: tasks.hand.error, direction: input, topic: a"), "bind it as an output"),
    (
        *bound(*(f"parameter: tasks.{task}.goal, direction: input, topic: a" for task in ("hand", "posture"))),
        ":5: topic 'a' is bound to two types: tasks.hand.goal has 3 numbers in 'm', tasks.posture.goal has 16 in 'rad'",
    ),
    ("operational_state: enable}", "type: flat_contact}", "constraint 'torso' is a coactuation, not a flat_contact"),
    ("slaves: [torso_upper_pitch]", "slaves: [torso_lower_pitch]", "needs slaves"),
    (*more("outside: [fingers]"), "no joint or group 'fingers'"),
]


@pytest.mark.parametrize(("old", "new", "says"), TOLD_BY_THE_ROBOT)
def test_what_only_the_robot_can_tell_is_said_the_same_way(write, old, new, says):
    assert old in BASE
    file = write(BASE.replace(old, new, 1))
    said = refusal(file, whole=True)
    assert says in said
    assert str(file) in said


def test_everything_that_is_wrong_is_said_at_once(write):
    text = BASE.replace("frame: right_palm", "fram: right_palm").replace("priority: 1", "priority: low")
    with pytest.raises(BadConfiguration) as caught:
        read(write(text))
    assert len(caught.value.problems) == 3, "a wrong key, one that is missing, and a wrong type"


@pytest.mark.parametrize(
    "text", ["", "- 1\n- 2\n", "just words", "&a [*a]", "? [1, 2]\n: 3\n", "\0", "robot: !!python/object:os.system {}"]
)
def test_a_file_that_is_something_else_is_refused(write, text):
    refusal(write(text))


def test_a_file_that_is_no_text_or_is_not_there_is_refused(tmp_path):
    (tmp_path / "noise.yaml").write_bytes(b"\xff\xfe\x00robot")
    assert "UTF-8" in refusal(tmp_path / "noise.yaml")
    assert "configurations that are ready: dreamer_grasp, dreamer_posture" in refusal(tmp_path / "nowhere.yaml")


# Includes.


def test_a_file_says_otherwise_than_the_one_it_includes_key_by_key_and_name_by_name(write):
    write(BASE, "base.yaml")
    file = write(
        "include: base.yaml\nservo_frequency: 500\ntasks:\n  - {name: hand, stiffness: 64}\n"
        "compound_task:\n  - {name: hand, priority: 5}\n",
        "more.yaml",
    )
    built = build(read(file))
    hand = built.compound.problem.task("hand")
    assert hand.stiffness.tolist() == [64.0] * 3
    assert hand.frame == "right_palm"
    assert built.compound.priority("hand") == 5
    assert built.settings.servo_frequency == 500


def test_lines_are_those_of_the_file_that_says_it(write):
    write(BASE.replace("frame: right_palm", "fram: right_palm"), "base.yaml")
    file = write("include: base.yaml\ntasks:\n  - {name: hand, stiffness: soft}\n", "more.yaml")
    said = refusal(file)
    assert "base.yaml:6: tasks[0] (hand).fram" in said
    assert "more.yaml:3: tasks[0] (hand).stiffness" in said


def test_files_that_include_each_other_are_refused(write):
    write("include: b.yaml\n", "a.yaml")
    write("include: [c.yaml]\n", "b.yaml")
    said = refusal(write("include: a.yaml\n", "c.yaml"))
    assert "in a circle: c.yaml → a.yaml → b.yaml → c.yaml" in said
    assert "circle" in refusal(write("include: self.yaml\n", "self.yaml"))


def test_a_file_to_include_that_is_not_there_is_refused_where_it_is_named(write):
    assert "test.yaml:2: there is no file" in refusal(write("robot: dreamer\ninclude: nowhere.yaml\n"))


def test_saved_parameters_are_a_file_to_include(write, tmp_path):
    built = build(read(write(BASE)))
    built.parameters.set("tasks.hand.goal", [0.1, 0.2, 0.7])
    built.parameters.save(tmp_path / "tuned.yaml")
    again = build(read(write("include: [test.yaml, tuned.yaml]\n", "both.yaml")))
    assert again.compound.problem.task("hand").goal.tolist() == [0.1, 0.2, 0.7]


# What a configuration can ask for.


def test_goals_that_are_here_are_where_the_robot_is_when_the_loop_begins(write):
    file = write(
        BASE.replace("goal: [0.3, -0.2, 0.9]", "goal: here")
        .replace("  - name: posture", "  - {name: turn, type: orientation_3d, frame: left_palm}\n  - name: posture")
        .replace("compound_task:", "compound_task:\n  - {name: turn, priority: 2}")
    )
    built = build(read(file))
    with Simulation(built.robot, control_period=0.001) as simulation, wired(built, simulation, simulation, "r") as loop:
        loop.servo.start()
        for name in ("hand", "turn"):
            assert built.compound.problem.task(name).error(loop.servo.snapshot) == pytest.approx(0.0, abs=1e-12)
    hand = built.compound.problem.task("hand")
    assert np.linalg.norm(hand.goal) > 0.5


PLUGGED = """\
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from wholebody.parameters import Size, Unit
from wholebody.tasks import Task


@dataclass(eq=False, repr=False)
class HeightTask(Task):
    \"\"\"Hold a frame at a height; where that is, is said by another name than `goal`.\"\"\"

    frame: str
    height: Annotated[float, Unit("m")]
    row_count = 1
    goals: ClassVar = {"height": 0.0}

    def error(self, snapshot):
        return self.height - snapshot.position(snapshot.model.frame(self.frame))[2:]

    def jacobian(self, snapshot):
        return snapshot.jacobian(snapshot.model.frame(self.frame))[2:3]

    def goal_here(self, snapshot):
        return {"height": float(snapshot.position(snapshot.model.frame(self.frame))[2])}


@dataclass(eq=False, repr=False)
class Odd(HeightTask):
    \"\"\"A goal of another size than the error, and nothing said of where it is.\"\"\"

    goal: Annotated[Any, Size(2), Unit("m")] = 0.0
    goals = Task.goals
    goal_here = Task.goal_here
"""


def test_a_goal_that_is_here_works_for_tasks_from_outside_too(write, tmp_path, monkeypatch):
    """One by the rule goal − e, one that says so itself; one that can not is refused with the remedy."""
    (tmp_path / "plugged_tasks.py").write_text(PLUGGED)
    (tmp_path / "plugged-1.0.dist-info").mkdir()
    (tmp_path / "plugged-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: plugged\nVersion: 1.0\n")
    (tmp_path / "plugged-1.0.dist-info" / "entry_points.txt").write_text(
        "[wholebody.tasks]\nlevel = wholebody_level.level:LevelTask\n"
        "height = plugged_tasks:HeightTask\nodd = plugged_tasks:Odd\n"
    )
    for folder in (tmp_path, PLUGIN):
        monkeypatch.syspath_prepend(folder)
    plugins._table.cache_clear()
    try:
        entries = """\
  - {name: level, type: level, frame: right_palm, other: left_palm, goal: here}
  - {name: height, type: height, frame: left_palm}
  - {name: momentum, type: momentum, goal: here}
  - name: posture"""
        used = "\n".join(f"  - {{name: {name}, priority: 2}}" for name in ("level", "height", "momentum"))
        text = BASE.replace("  - name: posture", entries).replace("compound_task:", f"compound_task:\n{used}")
        built = build(read(write(text)))
        rng = np.random.default_rng(0)
        snapshot = built.model.at(built.model.random(rng), rng.normal(size=built.model.nv))
        tasks = [built.compound.problem.task(name) for name in ("level", "height", "momentum")]
        assert min(np.abs(task.error(snapshot)).max() for task in tasks) > 1e-3
        built.compound(0.0, snapshot)
        for task in tasks:
            assert task.error(snapshot) == pytest.approx(0.0, abs=1e-12)
        odd = text.replace("goal: here}", "goal: [0, 0]}", 1).replace("type: level", "type: odd, height: 1.0", 1)
        odd = odd.replace("other: left_palm, goal: [0, 0]", "goal: here")
        with pytest.raises(BadTask, match=r"2 numbers and its error 1.*goal_here\(self, snapshot\)"):
            build(read(write(odd))).compound(0.0, snapshot)
        force = text.replace("type: momentum, goal: here", "type: external_force, frame: left_palm, goal: here")
        assert "expected 3 numbers in N; must be numbers, not 'here'" in refusal(write(force))
    finally:
        plugins._table.cache_clear()


def test_the_controller_its_mode_and_its_limits_are_as_asked(write):
    text = BASE.replace("robot: dreamer", "robot: dreamer\nservo_frequency: 200\nmax_effort_command: 3.0")
    built = build(read(write(f"{text}controller: {{type: quadratic, friction: 0.4}}\nenforce_effort_limits: true\n")))
    assert isinstance(built.controller, QuadraticController)
    assert built.controller.period == pytest.approx(0.005)
    assert built.controller.limits[3].max() == pytest.approx(3.0)
    built = build(read(write(f"{text}mode: position\nimpedance: {{leak: 3.0, stiffness: 200, damping: 9}}\n")))
    assert isinstance(built.controller, Impedance)
    assert built.parameters.get("controller.leak") == 3.0
    switches = [joint % 2 == 0 for joint in range(len(built.model.joint_names))]
    built = build(read(write(f"{text}enforce_velocity_limits: {json.dumps(switches)}\n")))
    assert built.parameters.get("controller.enforce_velocity_limits").tolist() == switches
    with pytest.raises(BadConfiguration, match=r"enforce_velocity_limits must have \d+ numbers, not shape \(2,\)"):
        build(read(write(f"{text}enforce_velocity_limits: [true, false]\n")))
    built = build(read(write(f"{text}transitions: {{goal: 0.5}}\nworld_gravity: [0, 0, -1.6]\n")))
    assert isinstance(built.controller, Transitions)
    assert built.controller.durations.goal == 0.5
    assert built.model.gravity.tolist() == [0, 0, -1.6]


@pytest.mark.parametrize("name", ready())
def test_ready_configurations_hold_their_robot_where_it_is(name):
    built = build(read(name))
    with Simulation(built.robot, control_period=built.period) as simulation:
        height = simulation.com_in_world[2]
        with wired(built, simulation, simulation, "r") as loop:
            loop.servo.run(1.0)
        assert loop.servo.counters.faults == 0
        assert simulation.com_in_world[2] == pytest.approx(height, abs=0.005)
        norms = [
            value for slot in built.parameters if slot.about.path.endswith("error_norm") for value in [slot.value()]
        ]
        assert np.nanmax(norms) < 0.02
        assert all(event.count == 1 for event in loop.steering.events.events)


def test_the_ready_ones_are_those_of_the_paper_and_of_our_robots():
    assert {"dreamer_posture", "dreamer_reach", "valkyrie_stand", "hubo2plus_stand", "trikey_heading"} <= set(ready())
    assert find("dreamer_reach") == READY / "dreamer_reach.yaml"
    levels = build(read("dreamer_reach")).compound.problem.levels
    assert [len(level) for level in levels] == [4, 1]


# Plug-ins and the schema.


@pytest.mark.parametrize("kind", plugins.KINDS)
def test_all_that_is_built_in_can_be_had(kind):
    for name in plugins.names(kind):
        assert callable(plugins.load(kind, name))
    with pytest.raises(UnknownName, match="no "):
        plugins.load(kind, "nothing")


def test_every_task_and_constraint_that_there_is_has_a_name_in_configurations():
    for kind, base in (("tasks", Task), ("constraints", Constraint)):
        loaded = {plugins.load(kind, name) for name in plugins.names(kind)}
        ours = {each for each in base.__subclasses__() if each.__module__.startswith(f"wholebody.{kind}")}
        assert ours <= loaded


def test_the_schema_has_every_kind_with_its_fields_units_and_bounds():
    schema = json_schema()
    json.dumps(schema)
    hand = schema["$defs"]["tasks.cartesian_position"]["properties"]
    assert hand["goal"]["anyOf"][0]["anyOf"][0] == {
        "type": "array",
        "items": {"type": "number"},
        "minItems": 3,
        "maxItems": 3,
    }
    assert "1/s²" in json.dumps(hand["stiffness"], ensure_ascii=False)
    assert {"$ref": "#/$defs/constraints.omni_wheel"} in schema["properties"]["constraints"]["items"]["anyOf"]
    assert set(yaml.safe_load(find("valkyrie_stand").read_text())) <= set(schema["properties"])


@pytest.mark.slow
def test_a_plug_in_that_is_installed_is_a_task_like_ours(tmp_path):
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index"]
    source = tmp_path / "source"
    subprocess.run(["cp", "-r", str(PLUGIN), str(source)], check=True)
    subprocess.run([*install, "--target", str(tmp_path / "site"), str(source)], check=True, capture_output=True)
    path = os.pathsep.join([str(tmp_path / "site"), *filter(None, [os.environ.get("PYTHONPATH")])])
    there = os.environ | {"PYTHONPATH": path}
    ran = wholebody("run", PLUGIN / "level.yaml", "--seconds", "2", "--json", env=there)
    assert json.loads(ran.stdout)["events"] >= 1, "the hand got there"
    assert "no task 'level'" in refusal(PLUGIN / "level.yaml"), "here it is not installed"


@pytest.mark.slow
def test_the_command_says_what_is_wrong_and_writes_the_schema(tmp_path):
    (tmp_path / "bad.yaml").write_text(BASE.replace("frame:", "fram:"))
    bad = wholebody("check", tmp_path / "bad.yaml", check=False)
    assert bad.returncode == 1
    assert "closest: 'frame'" in bad.stdout
    assert "Traceback" not in bad.stderr
    wholebody("check", "--schema", tmp_path / "schema.json")
    assert json.loads((tmp_path / "schema.json").read_text())["title"] == "A controller of wholebody"
