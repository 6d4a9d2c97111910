"""Whole-body control beside TSID and PlaCo: the same robots and tasks, each in an environment of its own.

`wholebody bench wbc_peers` makes those environments at its first run, from the Python package index, in a folder of the
user's cache (WHOLEBODY_PEERS names another); after that `wholebody bench wbc` shows them too. What cannot be installed
is left out with a note.

dreamer    bolted, all joints driven: both hands' poses, and the posture below
valkyrie   on two feet: centre of mass, both hands' poses, the posture

Ours is WBOSC (`…_ours`: strict levels, no inequalities) and QuadraticController (`…_ours_qp`: strict levels with
unilateral contacts, friction, centres of pressure, and limits of joints and motors). Theirs are weighted QPs, with
friction cones and effort limits: a lower task pulls a little at a higher one. `…_off` is by how much the accelerations
of the hands differ from what was asked, in per cent of it, in the worst of all states. All are held on one core, and
solve the same states round by round in turns, each in a process that stays: a round lasts about a millisecond, and the
clock of a shared machine changes more slowly.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np

from benchmarks.report import Progress, Report, Section, Timing, no_garbage_collection
from wholebody import robots
from wholebody.constraints import FlatContact
from wholebody.control import WBOSC, Problem
from wholebody.control.quadratic import QuadraticController
from wholebody.model import Model
from wholebody.robots.formats.urdf import write_urdf
from wholebody.robots.robot import Robot
from wholebody.tasks import CartesianPositionTask, CenterOfMassTask, JointPositionTask, Orientation3DTask

HERE = Path(__file__).parent
PACKAGES = {
    "tsid": ("tsid==1.7.1", "pin==3.4.0", "cmeel-urdfdom==4.0.1", "cmeel-tinyxml2==10.0.0"),
    "placo": ("placo==0.10.2",),
}
"""TSID's newer versions crash beside the Pinocchio they ask for."""
INSTALL_SECONDS = 600
STATES = 10
STIFFNESS = 100.0
WEIGHTS = {"com": 1.0, "hands": 1.0, "posture": 1e-4}
SOLE = {"valkyrie": ("Foot", (0.045, 0.0, -0.088), 0.27, 0.16)}
HANDS = {"valkyrie": ("rightPalm", "leftPalm"), "dreamer": ("right_wrist_yaw_link", "left_wrist_yaw_link")}
FRICTION = 0.7
FASTER = {
    ("dreamer_ours", "dreamer_placo"): 1.3,
    ("dreamer_ours", "dreamer_tsid"): 1.3,
    ("valkyrie_ours", "valkyrie_placo"): 3.0,
    ("valkyrie_ours", "valkyrie_tsid"): 3.5,
    ("valkyrie_ours_qp", "valkyrie_placo"): 1.7,
    ("valkyrie_ours_qp", "valkyrie_tsid"): 2.1,
}
"""How many times faster ours is to be, by medians of turns."""

Results = dict[str, Timing | float]
Array = np.ndarray


def run(quick: bool, progress: Progress) -> Report:
    """Make the environments if need be, and measure: a minute, the first time some more."""
    report = Report()
    for index, name in enumerate(PACKAGES):
        if not python_of(name).exists():
            progress(f"making an environment for {name}", 0.1 * index)
            trouble = make(name)
            if trouble:
                report.notes.append(f"{name} could not be installed: {trouble}")
    report.sections, notes = measured(50 if quick else 200, progress)
    report.notes += notes
    limit(report)
    return report


def limit(report: Report) -> None:
    """The budgets beside those that are there."""
    for (ours, peer), times_faster in FASTER.items():
        if ours in report.results and peer in report.results:
            report.limit_ratio(ours, peer, round(1 / times_faster, 4))


def measured(rounds: int, progress: Progress) -> tuple[list[Section], list[str]]:
    """Sections and notes: ours, and of the others those that are there."""
    sections, notes = [], []
    there = [name for name in PACKAGES if python_of(name).exists()]
    for index, robot in enumerate(HANDS):
        progress(f"{robot}, ours and {' and '.join(there) or 'no others'}", 0.2 + 0.4 * index)
        case = Case.of(robot)
        found = ours(case)
        with ExitStack() as stack:
            stack.enter_context(one_core())
            solvers = ours_timed(case)
            for name in there:
                try:
                    peer = stack.enter_context(Peer(name, case))
                except PeerFailed as error:
                    notes.append(f"{name} could not solve the problem of {robot}: {error}")
                    continue
                solvers[f"{robot}_{name}"] = peer.round
                found[f"{robot}_{name}_off"] = round(case.off(np.array(peer.told["accelerations"])), 3)
                versions = ", ".join(f"{each} {number}" for each, number in peer.told["versions"].items())
                notes.append(f"{robot}_{name}: {versions}")
            found |= in_turns(solvers, rounds)
        sections.append(Section(f"beside others: {robot}", found))
    if there:
        notes.append(
            "TSID and PlaCo solve weighted QPs with friction cones and effort limits; WBOSC has no inequalities"
        )
    else:
        notes.append("`wholebody bench wbc_peers` measures TSID and PlaCo too, in environments that it makes")
    return sections, notes


def in_turns(solvers: dict[str, Callable[[], list[float]]], rounds: int) -> Results:
    """Microseconds of all solvers, round by round."""
    samples: dict[str, list[float]] = {name: [] for name in solvers}
    with no_garbage_collection():
        for _ in range(rounds):
            for name, solve in solvers.items():
                samples[name] += solve()
    return {name: Timing.of(each) for name, each in samples.items()}


@contextmanager
def one_core() -> Iterator[None]:
    """Stay on one core, with all processes that are started meanwhile."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


# --- environments ----------------------------------------------------------------------------------


class PeerFailed(Exception):
    """A peer that ended with an error; its last words."""


def folder() -> Path:
    """Where the environments are."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("WHOLEBODY_PEERS") or Path(cache) / "wholebody" / "peers")


def python_of(name: str) -> Path:
    """The interpreter of a peer's environment, be it there or not."""
    return folder() / f"environment-{name}" / "bin" / "python"


def make(name: str) -> str:
    """Make the environment of a peer; why it could not be made, if so."""
    environment = folder() / f"environment-{name}"
    unfinished = environment.with_name(f"{environment.name}-unfinished")
    commands = (
        [sys.executable, "-m", "venv", "--clear", str(unfinished)],
        [str(unfinished / "bin" / "python"), "-m", "pip", "install", "--quiet", *PACKAGES[name]],
    )
    for command in commands:
        try:
            said = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return f"it took more than {INSTALL_SECONDS} s"
        if said.returncode:
            return (said.stderr.strip().splitlines() or ["no reason given"])[-1]
    unfinished.rename(environment)
    return ""


class Peer:
    """A process of a peer, in its own environment, that solves a case round by round."""

    def __init__(self, name: str, case: Case) -> None:
        self._scratch = tempfile.TemporaryDirectory()
        folder = Path(self._scratch.name)
        (folder / "robot.urdf").write_text(write_urdf(case.model.robot), encoding="utf-8")
        problem = case.as_data() | {"urdf": str(folder / "robot.urdf")}
        (folder / "problem.json").write_text(json.dumps(problem), encoding="utf-8")
        with (folder / "errors").open("wb") as errors:
            self._process = subprocess.Popen(
                [str(python_of(name)), str(HERE / f"wbc_{name}.py"), str(folder / "problem.json")],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
                cwd=folder,
            )
        try:
            self.told = self._answer()
        except PeerFailed:
            self.__exit__()
            raise

    def round(self) -> list[float]:
        """Solve all states once; the microseconds of each."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return list(self._answer()["us"])

    def _answer(self) -> dict:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("{"):
                return dict(json.loads(line))
        code = self._process.wait()
        said = (Path(self._scratch.name) / "errors").read_text(encoding="utf-8", errors="replace")
        raise PeerFailed((said.strip().splitlines() or [f"exit code {code}"])[-1])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._scratch.cleanup()


# --- the problems ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A robot, its states, and what it should do."""

    model: Model
    states: tuple[tuple[Array, Array], ...]

    @classmethod
    def of(cls, name: str) -> Case:
        """Near its posture: hands and arms move, what stands stays."""
        model = Model(plain(robots.load(name)))
        rng = np.random.default_rng(0)
        standing = ("Hip", "Knee", "Ankle", "torso")
        free = np.array([not any(word in joint for word in standing) for joint in model.joint_names])
        states = []
        for _ in range(STATES):
            move, v = np.zeros(model.nv), np.zeros(model.nv)
            move[-len(free) :], v[-len(free) :] = (free * scale * rng.normal(size=len(free)) for scale in (0.05, 0.1))
            states.append((model.integrate(model.posture("stand"), move, 1.0), v))
        return cls(model, tuple(states))

    @property
    def hands(self) -> tuple[str, ...]:
        return HANDS[self.model.robot.name]

    def problem(self) -> Problem:
        """What it should do, as ours."""
        now = self.model.at(self.model.posture("stand"))
        frames = {hand: self.model.frame(hand) for hand in self.hands}
        places = [CartesianPositionTask(f"{hand} place", hand, now.position(at) + 0.02) for hand, at in frames.items()]
        turns = [Orientation3DTask(f"{hand} turn", hand, now.rotation(at)) for hand, at in frames.items()]
        posture = JointPositionTask("posture", self.model.robot.posture("stand"))
        if not self.model.floating:
            return Problem([[*places, *turns], posture])
        feet = [FlatContact(f"{side} foot", f"{side}Foot") for side in ("right", "left")]
        return Problem([CenterOfMassTask("com", now.com_in_world), [*places, *turns], posture], feet)

    def as_data(self) -> dict:
        """The same as plain data."""
        now, robot = self.model.at(self.model.posture("stand")), self.model.robot
        hands = [(hand, self.model.frame(hand)) for hand in self.hands]
        data = {
            "floating": self.model.floating,
            "joints": list(self.model.joint_names),
            "q": [q.tolist() for q, _ in self.states],
            "v": [v.tolist() for _, v in self.states],
            "posture": list(robot.posture("stand")),
            "efforts": [joint.effort for joint in robot.moving],
            "stiffness": STIFFNESS,
            "weights": WEIGHTS,
            "friction": FRICTION,
            "hands": [
                {"frame": hand, "position": (now.position(at) + 0.02).tolist(), "rotation": now.rotation(at).tolist()}
                for hand, at in hands
            ],
            "feet": [],
        }
        if self.model.floating:
            end, (x, y, z), length, width = SOLE[robot.name]
            corners = [[x + i * length / 2, y + j * width / 2, z] for i in (-1, 1) for j in (-1, 1)]
            data["feet"] = [{"frame": f"{side}{end}", "corners": corners} for side in ("right", "left")]
            data["com"] = now.com_in_world.tolist()
        return data

    def off(self, accelerations: Array) -> float:
        """Per cent by which the accelerations of the hands differ from what was asked, at worst."""
        problem, worst = self.problem(), 0.0
        for (q, v), acceleration in zip(self.states, accelerations, strict=True):
            now = self.model.at(q, v)
            rows = [task.rows(now) for task in problem.tasks if task.name.endswith((" place", " turn"))]
            wanted = np.concatenate([each.desired - each.bias for each in rows])
            got = np.concatenate([each.jacobian @ acceleration for each in rows])
            worst = max(worst, 100 * float(np.linalg.norm(got - wanted) / np.linalg.norm(wanted)))
        return worst


def plain(robot: Robot) -> Robot:
    """What all of them can do: every joint driven, none coupled, and no rotors, which URDF cannot say."""
    joints = tuple(replace(joint, rotor_inertia=0.0, actuated=True, mimic=None) for joint in robot.joints)
    return replace(robot, joints=joints, couplings=())


def controllers(case: Case) -> dict[str, Callable]:
    """WBOSC, and where there are inequalities to keep the controller that does."""
    found: dict[str, Callable] = {"ours": WBOSC(case.model).solve}
    return found | ({"ours_qp": QuadraticController(case.model).solve} if case.model.floating else {})


def ours(case: Case) -> Results:
    """How well ours solve it."""
    name, problem = case.model.robot.name, case.problem()
    found: Results = {f"{name}_tasks": len(list(problem.tasks))}
    for label, solve in controllers(case).items():
        got = [solve(case.model.at(q, v), problem).acceleration.copy() for q, v in case.states]
        found[f"{name}_{label}_off"] = round(case.off(np.array(got)), 3)
    return found


def ours_timed(case: Case) -> dict[str, Callable[[], list[float]]]:
    """Rounds of ours, by name."""
    name, problem = case.model.robot.name, case.problem()

    def rounds_of(solve: Callable) -> Callable[[], list[float]]:
        solve(case.model.at(*case.states[0]), problem)

        def one_round() -> list[float]:
            micros = []
            for q, v in case.states:
                start = time.perf_counter_ns()
                solve(case.model.at(q, v), problem)
                micros.append((time.perf_counter_ns() - start) * 1e-3)
            return micros

        return one_round

    return {f"{name}_{label}": rounds_of(solve) for label, solve in controllers(case).items()}
