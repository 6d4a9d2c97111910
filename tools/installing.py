"""tools/installing.py [EXTRA…]: install what wholebody and these extras need, as requirements.lock has it.

Run by the Python of the environment; without extras it installs wholebody too. pip is given exact versions with their
hashes and looks for nothing else. One line shows how far it is; a log gets a line now and then.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]
SAY_EVERY = 5.0
"""s from one line in a log to the next."""
KEPT = 30
"""Lines of pip that are shown if it fails."""


def name_of(requirement: str) -> str:
    """The normalised name of what a requirement asks for."""
    name = re.match(r"[A-Za-z0-9._-]+", requirement.strip())
    assert name, requirement
    return re.sub(r"[-_.]+", "-", name[0]).lower()


def locked(root: Path, extras: Iterable[str]) -> dict[str, str]:
    """The entries of requirements.lock, by name, that wholebody with these extras needs, directly or not.

    Who needs an entry stands in its comment, `# via`, so nothing is asked of the network.
    """
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *(each for extra in extras for each in project["optional-dependencies"][extra])]
    entries = re.split(r"\n(?=[a-z0-9])", (root / "requirements.lock").read_text(encoding="utf-8"))[1:]
    text = {name_of(entry): entry for entry in entries}
    needed_by = {
        name: {name_of(each) for each in re.findall(r"# +(?:via )?([a-z0-9].*)", entry) if each != "via"}
        for name, entry in text.items()
    }
    found = {name_of(each) for each in wanted}
    while more := {name for name, users in needed_by.items() if users & found} - found:
        found |= more
    return {name: entry for name, entry in text.items() if name in found}


def missing(entries: dict[str, str]) -> dict[str, str]:
    """Those of the entries that belong on this machine and are not installed in the locked version."""
    from pip._vendor.packaging.markers import Marker  # every environment of ours has pip

    have = {name_of(each.name): each.version for each in metadata.distributions()}
    lacking = {}
    for name, entry in entries.items():
        version, _, marker = entry.partition("\n")[0].rstrip("\\ ").partition("==")[2].partition(";")
        if have.get(name) != version.strip() and (not marker or Marker(marker.strip()).evaluate()):
            lacking[name] = entry
    return lacking


class Progress:
    """One line that is written over in a terminal; in a log, a line every few seconds."""

    def __init__(self) -> None:
        self._terminal = sys.stdout.isatty()
        self._said = time.monotonic()

    def say(self, text: str) -> None:
        """Show how far it is."""
        if self._terminal:
            print(f"\r\033[K  {text[:100]}", end="", flush=True)
        elif time.monotonic() - self._said > SAY_EVERY:
            print(f"  {text}", flush=True)
            self._said = time.monotonic()

    def end(self) -> None:
        """Leave the line to others."""
        if self._terminal:
            print("\r\033[K", end="", flush=True)


class Watched:
    """How far pip is, by the lines that it prints and by what it has put into the environment."""

    def __init__(self, wanted: Iterable[str]) -> None:
        self._wanted, self._began = set(wanted), time.monotonic()
        self._site = Path(str(metadata.distribution("pip").locate_file("")))
        self._fetched: set[str] = set()
        self._unpacks = False
        self._last = ""
        self.lines: list[str] = []

    def take(self, line: str) -> None:
        """Take a line of pip's."""
        self.lines.append(line)
        if what := re.match(r"(?:Collecting|Processing) (\S+)", line):
            self._last = re.split(r"==|-\d", what[1].rpartition("/")[2])[0]
            self._fetched.add(name_of(self._last))
        elif what := re.match(r"\s+Downloading \S+ (\(.*\))", line):
            self._last += f" {what[1]}"
        self._unpacks = self._unpacks or line.startswith("Installing collected")

    def __str__(self) -> str:
        """Count what is done."""
        seconds = f"{time.monotonic() - self._began:.0f} s"
        if not self._unpacks:
            return f"fetching {len(self._fetched)} of {len(self._wanted)}, {seconds}: {self._last}"
        there = {name_of(each.name.partition("-")[0]) for each in self._site.glob("[!~]*.dist-info")}
        return f"unpacked {len(there & self._wanted)} of {len(self._wanted)}, {seconds}"


def install(entries: dict[str, str]) -> None:
    """Have pip install these and nothing else; RuntimeError with pip's last lines if it cannot."""
    progress, watched, over = Progress(), Watched(entries), threading.Event()

    def show() -> None:
        while not over.wait(0.3):
            progress.say(str(watched))

    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
        file.write("\n".join(entries.values()))
        file.flush()
        options = ["--require-hashes", "--no-deps", "--no-compile", "--progress-bar", "off", "-r", file.name]
        thread = threading.Thread(target=show, daemon=True)
        with subprocess.Popen(
            [*PIP, "install", *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as pip:
            assert pip.stdout
            thread.start()
            for line in pip.stdout:
                watched.take(line.rstrip())
    over.set()
    thread.join()
    progress.end()
    if pip.returncode:
        raise RuntimeError("\n".join(watched.lines[-KEPT:]))


def main(extras: list[str]) -> int:
    """Install, and say what was done in how many seconds."""
    root, began = Path(__file__).resolve().parents[1], time.monotonic()
    entries = missing(locked(root, [*extras, "build"]))
    try:
        if entries:
            print(f"installing {len(entries)} packages ({', '.join(['core', *extras])})", flush=True)
            install(entries)
        if not extras:
            print("installing wholebody, which compiles its C", flush=True)
            own = ["install", "-q", "--no-deps", "--no-build-isolation", "--no-compile", "-e", str(root)]
            subprocess.run([*PIP, *own], check=True)
    except (RuntimeError, subprocess.CalledProcessError) as error:
        print(f"wholebody: pip could not install all of it\n{error}", file=sys.stderr)
        return 1
    print(f"installed in {time.monotonic() - began:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
