"""The package keeps the rule of imports, and the page that shows it is up to date."""

import ast
import re
import tomllib
from itertools import pairwise
from pathlib import Path

import architecture
import import_rule
import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
MODULES = import_rule.modules(REPOSITORY)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.name)
def test_every_import_follows_the_rule(module):
    assert import_rule.violations(module.source, module.name, module.is_package) == []


def test_every_package_on_disk_is_in_the_rule():
    on_disk = {module.name.split(".")[1] for module in MODULES if "." in module.name}
    assert on_disk <= set(import_rule.PACKAGES), "add it to tools/import_rule.py"


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.name)
def test_every_module_says_what_it_is(module):
    docstring = ast.get_docstring(ast.parse(module.source))
    assert docstring, f"{module.path} needs a docstring; docs/architecture.md shows its first line"


def test_every_package_stands_in_the_rule_once():
    assert len(set(import_rule.PACKAGES)) == len(import_rule.PACKAGES)


@pytest.mark.parametrize("package", import_rule.NEVER_LOADED_BY)
def test_what_must_stay_light_loads_nothing_heavy_by_any_way_round(package):
    loaded = import_rule.loaded_with(package, REPOSITORY)
    heavy = import_rule.NEVER_LOADED_BY[package]
    assert [chain for name, chain in loaded.items() if name in heavy] == []


def test_the_page_is_up_to_date():
    written = architecture.PAGE.read_text(encoding="utf-8")
    assert written == architecture.page(REPOSITORY), "docs/architecture.md is out of date; run `make docs`"


def test_the_picture_is_up_to_date():
    written = architecture.PICTURE.read_text(encoding="utf-8")
    assert written == architecture.picture(REPOSITORY), "docs/architecture.svg is out of date; run `make docs`"


def test_every_package_has_a_box_on_its_own_rung_and_none_covers_another():
    boxes = re.findall(r'x="([\d.]+)" y="([\d.]+)" width="118".*?>(\w+)</text>', architecture.PICTURE.read_text())
    assert sorted(name for *_, name in boxes) == sorted(import_rule.PACKAGES)
    heights = {name: float(y) for _, y, name in boxes}
    for lower, upper in pairwise(import_rule.LADDER):
        assert {heights[name] for name in lower} == {heights[lower[0]]}
        assert heights[upper[0]] < heights[lower[0]], "upper rungs are drawn above"
    places = sorted((float(y), float(x)) for x, y, _ in boxes)
    assert all(one[0] != other[0] or other[1] - one[1] >= 118 for one, other in pairwise(places))


def test_where_to_add_what_names_folders_files_and_groups_that_exist():
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    asked = {"robot", "driver", "task", "constraint", "stabilizer", "behaviour and verb", "page panel", "transport"}
    assert asked | {"benchmark", "experiment"} <= {what for what, *_ in architecture.ADDING}
    for what, where, found in architecture.ADDING:
        for path in re.findall(r"`([\w/]+/[\w.]+)`", where + found):
            place = REPOSITORY / path
            assert place.parent.is_dir() if "NAME" in path else place.exists(), (what, path)
        for group in re.findall(r"`(wholebody\.\w+)`", found):
            assert group in project["entry-points"], (what, group)


# The checker itself.


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("wholebody.channels.ring", "from wholebody.control import Problem"),
        ("wholebody.messages", "import wholebody.channels"),
        ("wholebody.errors", "from wholebody import messages"),
        ("wholebody.messages", "from wholebody.realtime import Period"),
        ("wholebody.robots.hubo", "from wholebody.parameters import Unit"),
        ("wholebody.drivers.hubo_can", "import wholebody.model as model"),
        ("wholebody.tasks.com", "from wholebody.kinematics import leg"),
        ("wholebody.kinematics.leg", "from wholebody.motion import profile"),
        ("wholebody.motion.profile", "from wholebody.estimation import attitude"),
        ("wholebody.locomotion.walk", "from wholebody.control.servo import Servo"),
        ("wholebody.behaviors.walk", "from wholebody.cli import main"),
        ("wholebody.behaviors.carry", "from wholebody.operator import rcp"),
        ("wholebody.daemon.cycle", "from wholebody.simulation import Robot"),
        ("wholebody.daemon.cycle", "from wholebody.control import servo"),
        ("wholebody.daemon.cycle", "from wholebody.model import Model"),
        ("wholebody.daemon.cycle", "import pinocchio"),
        ("wholebody.daemon.cycle", "import pinocchio as pin"),
        ("wholebody.daemon.cycle", "def f():\n    import mujoco"),
        ("wholebody.operator.page", "from wholebody.control import Problem"),
        ("wholebody.operator.page", "from wholebody.motion import player"),
        ("wholebody.operator.page", "from wholebody.daemon import cycle"),
        ("wholebody.channels.ring", "from ..control import x"),
        ("wholebody.channels.ring", "from .. import control"),
        ("wholebody.channels.ring", "def f():\n    from wholebody import control"),
        (
            "wholebody.channels.ring",
            "class A:\n    async def f(self):\n        import wholebody.control.servo",
        ),
        ("wholebody.channels.ring", "if TYPE_CHECKING:\n    from wholebody.control import Problem"),
        ("wholebody.channels.ring", "try:\n    pass\nexcept OSError:\n    import wholebody.control"),
        ("wholebody.channels.ring", "import importlib\nimportlib.import_module('wholebody.control')"),
        ("wholebody.control.servo", "import mujoco"),
        ("wholebody.cli.sim", "from mujoco import viewer"),
        ("wholebody.cli.sim", "def f():\n    import mujoco.viewer"),
        ("wholebody", "from wholebody.channels import Channel"),
        ("wholebody", "def f():\n    from . import errors"),
    ],
)
def test_the_checker_catches(name, source):
    assert len(import_rule.violations(source, name, is_package=name == "wholebody")) >= 1


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("wholebody.messages", "from wholebody.errors import WholebodyError"),
        ("wholebody.realtime", "from .errors import WholebodyError"),
        (
            "wholebody.channels.ring",
            "from . import _ring\nfrom .writer import Writer\nfrom wholebody.channels import reader",
        ),
        ("wholebody.channels.ring", "from wholebody import __version__\nimport wholebody\nimport numpy"),
        ("wholebody.motion.capture.retarget", "from wholebody.kinematics import leg"),
        ("wholebody.estimation.contact", "from ..kinematics import leg"),
        ("wholebody.simulation.robot", "import mujoco\nfrom wholebody.drivers import RobotInterface"),
        (
            "wholebody.behaviors.walk",
            "from wholebody.locomotion import walk\nfrom wholebody.control import Problem",
        ),
        (
            "wholebody.daemon.cycle",
            "from wholebody.drivers import RobotInterface, Clock\nimport wholebody.robots",
        ),
        (
            "wholebody.operator.page",
            "from wholebody.kinematics import leg\nfrom wholebody.model import Model",
        ),
        ("wholebody.cli.start", "from wholebody import daemon, operator, behaviors, errors"),
    ],
)
def test_the_checker_lets_pass(name, source):
    assert import_rule.violations(source, name) == []


def test_a_relative_import_counts_from_the_package_in_its_init_file():
    source = "from .control import x"
    assert import_rule.violations(source, "wholebody.channels", is_package=True) == []
    assert import_rule.violations("from ..control import x", "wholebody.channels", is_package=True) != []


def test_a_heavy_package_is_found_behind_other_modules(tmp_path):
    files = {
        "__init__.py": "",
        "daemon/__init__.py": "",
        "daemon/cycle.py": "from wholebody.drivers.hubo_can import Bus",
        "drivers/__init__.py": "",
        "drivers/hubo_can.py": "from ..robots import load",
        "robots/__init__.py": "import pinocchio\ndef f():\n    import mujoco",
    }
    for name, source in files.items():
        path = tmp_path / "wholebody" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    loaded = import_rule.loaded_with("daemon", tmp_path)
    assert loaded["pinocchio"] == "wholebody.daemon.cycle → wholebody.drivers.hubo_can → wholebody.robots → pinocchio"
    assert "mujoco" not in loaded, "inside a function it is loaded only when asked for"


def test_a_module_missing_from_the_page_makes_it_out_of_date(tmp_path):
    package = tmp_path / "wholebody"
    package.mkdir()
    (package / "errors.py").write_text('"""What can go wrong | and why.\n\nMore."""')
    before = architecture.page(tmp_path)
    assert "| **`errors`** | What can go wrong \\| and why. |" in before
    (package / "messages.py").write_text('"""The records."""')
    assert architecture.page(tmp_path) != before
