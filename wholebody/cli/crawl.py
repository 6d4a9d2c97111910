"""wholebody crawl: a virtual robot rolls over, gets on wrists and knees, and crawls about; film and report.

With --from it imitates a captured person instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from wholebody import robots
from wholebody.behaviors.crawling import Crawling, SupportDisplay
from wholebody.behaviors.crawling_goals import CrawlingClient
from wholebody.behaviors.imitation import Imitating, ImitatingBlindly
from wholebody.cli import options
from wholebody.cli.captured import fitting, opened, progress_shown
from wholebody.estimation.support_view import SupportPublisher
from wholebody.locomotion.crawling.gait import changes_of, crawls_by_feel, rough_gait_of
from wholebody.locomotion.crawling.odometry import heading
from wholebody.messages import Reference, State
from wholebody.model import Model
from wholebody.motion.capture.capture import Capture
from wholebody.motion.capture.gait import CapturedGait
from wholebody.motion.capture.imitation import Imitation
from wholebody.motion.capture.retarget import imitate
from wholebody.operator.recordings.crawl_setup import (
    NODDING,
    Controller,
    Eye,
    Lying,
    base_of,
    known_ground,
    played,
    posture_and_base,
)
from wholebody.operator.recordings.script import Process, follow
from wholebody.processes.registry import CRAWL, DAEMON, process_of
from wholebody.robots.robot import Robot
from wholebody.simulation import SensorModel, Simulation
from wholebody.simulation.cameras import View
from wholebody.simulation.film import Recording

FALLEN = 0.2  # m that the pelvis is lower than at the start
LONGEST = 150.0  # s of one order
TELL = 2.0  # s between two lines
ENOUGH = 0.8  # of the way that an imitation was to lead
CYCLES = 5
BLINDLY = "It has no posture of its own on wrists and knees, so it feels nothing: it plays the table."
Act = Callable[[], None]
"""What a robot is told to do."""
LEVEL = "flat"
NEAR = View(elevation=-20.0, distance=1.15)
"""Of the film: the robot is low."""
console = Console(highlight=False, soft_wrap=True)


class Crawl:
    """A run in a simulation: what is true of the robot, told now and then, and a report of it."""

    def __init__(self, robot: Robot, simulation: Simulation, recording: Recording | None) -> None:
        self.robot, self.simulation, self.fell = robot, simulation, False
        self.effort, self.inside, self.trouble = 0.0, math.nan, ""
        self.lines: list[str] = []
        self.notes: list[str] = []
        self._recording = recording
        self._limits = np.array([joint.effort for joint in robot.moving])
        self._state, self._reference = simulation.new_state(), simulation.new_reference()
        self.begin(float(simulation.base_to_world[2, 3]))

    def begin(self, height: float, way: float | None = None) -> None:
        """From here on it goes and turns, and falls if its root gets much lower than this, m.

        way: about the vertical, rad, where forward is; where the robot heads, unless told.
        """
        self._height, self._begin = height, self.simulation.com_in_world[:2].copy()
        self._yaw = self._began = heading(self.simulation.base_to_world[:3, :3])
        self._way = self._yaw if way is None else way

    def follow(self, name: str, controller: Controller, progress: Callable[[], float] = lambda: 0.0) -> None:
        """One order, until it is done, the robot falls, or it takes too long; in a terminal, a bar shows progress."""
        simulation, began, told = self.simulation, self.simulation.time, self.simulation.time
        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
            task = bar.add_task(name, total=1.0)
            while not self.fell and simulation.time - began < LONGEST:
                simulation.read(self._state)
                if not controller(self._state, self._reference):
                    break
                simulation.write(self._reference)
                simulation.advance()
                self._look()
                if simulation.time - told >= TELL:
                    told = simulation.time
                    bar.update(task, completed=progress())
                    console.print(f"{simulation.time:6.1f} s  {name:<14} {self.where()}")
        self.lines.append(f"| {name} | {simulation.time - began:.1f} | {self.where()} |")

    def where(self) -> str:
        """Where the robot is, seen from where it began, in words."""
        forward, left = self.gone
        return (
            f"{forward:z.2f} m ahead, {left:z.2f} m to the left, turned {math.degrees(self._yaw - self._began):z.0f}°"
        ) + ("" if self.simulation.base_to_world[2, 3] >= self._height - FALLEN else ", fallen")

    @property
    def gone(self) -> tuple[float, float]:
        """How far its centre of mass has come since it began, m: forward, and to the left."""
        x, y = self.simulation.com_in_world[:2] - self._begin
        c, s = math.cos(self._way), math.sin(self._way)
        return float(c * x + s * y), float(c * y - s * x)

    def text(self) -> str:
        """The report."""
        verdict = "It fell." if self.fell else "It did not fall."
        felt = "" if math.isnan(self.inside) else f" As it felt, it was balanced {self.inside:.0%} of the time."
        return "\n".join(
            [
                f"# {self.robot.title or self.robot.name} crawls", "",
                f"{verdict} {self.robot.mass:.0f} kg; hardest joint: {self.effort:.0%} of its effort limit.{felt}", "",
                "| done | seconds | then |", "|---|---|---|", *self.lines, "", *self.notes,
            ]
        )  # fmt: skip

    def _look(self) -> None:
        base = self.simulation.base_to_world
        self._yaw += math.remainder(heading(base[:3, :3]) - self._yaw, math.tau)
        self.fell = self.fell or bool(base[2, 3] < self._height - FALLEN)
        self.effort = max(self.effort, float(np.max(np.abs(self.simulation.truth.effort) / self._limits)))
        if self._recording is not None:
            self._recording.look(self.simulation)


def crawl(
    robot: options.Which = "",
    distance: Annotated[float, options.Distance] = 1.0,
    turn: options.Turn = 45.0,
    back: Annotated[float, typer.Option(min=0.0, help="How far backward then, m.")] = 0.5,
    lying: Annotated[
        Lying, typer.Option(help="How it lies first, or stands; from its belly it rolls onto its back.")
    ] = Lying.back,
    scene: options.Scene = LEVEL,
    camera: options.Camera = True,
    source: Annotated[Path | None, typer.Option("--from", help="Motion capture (.bvh) to imitate instead.")] = None,
    cycles: Annotated[int, options.Cycles] = CYCLES,
    unit: options.Unit = None,
    up: options.Up = None,
    handed: options.Handed = None,
    part: options.Part = None,
    name: options.Name = "",
    order: options.Orders = None,
    noise: options.Noise = True,
    seed: options.Seed = 0,
    out: Annotated[Path, options.Out] = Path("out/crawl"),
    film: options.Film = True,
) -> None:
    """See a virtual robot roll over, get on wrists and knees, crawl forward, turn, crawl back; or as a person did.

    The robot needs arms, legs and a posture 'crawl'. Its camera maps the ground, or with --no-camera it knows it; on
    level ground the camera watches where that ends. Orders are stand, walk, turn and stop, with a number (m, degrees).
    --name of a robot that runs lets that one crawl, and otherwise names this one: `wholebody motion support NAME`.

    \b
      wholebody crawl                                    Atlas
      wholebody crawl --scene blocks:height=0.03,seed=2  on all limbs, forward only
      wholebody crawl --from person.bvh --cycles 3       as a person did
      wholebody crawl --name robot --order stand         the one of `wholebody start`
    """
    if name and not (robot and process_of(DAEMON, name) is None):
        follow(name, order or ["stand"], Process(CrawlingClient, CRAWL), console)
        return
    loaded = robots.load(robot or "atlas")
    imitation = None if source is None else imitated(opened(source, unit, up, handed, part), Model(loaded))
    gait = None if scene == LEVEL else rough_gait_of(Model(loaded))
    crawling = Crawling(loaded, gait) if imitation is None else None
    out.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        sensors = SensorModel.realistic() if noise else None
        simulation = stack.enter_context(Simulation(loaded, scene, seed=seed, sensors=sensors))
        simulation.view = NEAR
        run = Crawl(loaded, simulation, stack.enter_context(Recording(out / "crawl.mp4", 60.0)) if film else None)
        if imitation is not None:
            crawl_as(run, imitation, cycles)
        if crawling is not None:
            get_on_limbs(run, crawling, lying if scene == LEVEL else Lying.no)
            sees = seeing(crawling, simulation, scene, camera, seed)
            todo = {f"forward {distance:g} m": lambda: crawling.crawl(distance=distance)}
            if scene == LEVEL:
                todo[f"turn {turn:g}°"] = lambda: crawling.turn(math.radians(turn))
                todo[f"backward {back:g} m"] = lambda: crawling.crawl(distance=-back)
            crawl_about(run, crawling, todo, sees, out, name)
    (out / "report.md").write_text(run.text(), encoding="utf-8")
    console.print(run.text())
    console.print(f"written: {', '.join(str(path) for path in sorted(out.iterdir()))}")
    if run.fell or run.trouble:
        raise typer.Exit(1)


def imitated(capture: Capture, model: Model) -> Imitation:
    """What the robot is to do; what of it fits, and what does not, is printed before it is tried."""
    with progress_shown() as shown:
        imitation = imitate(CapturedGait.of(capture), model, progress=shown)
    console.print(fitting(imitation))
    return imitation


def crawl_as(run: Crawl, imitation: Imitation, cycles: int) -> None:
    """Crawl so many cycles of an imitation; the report says what was planned, what fits, and how much was crawled."""
    simulation = run.simulation
    feels = crawls_by_feel(imitation.model)
    imitating = Imitating(imitation, cycles) if feels else ImitatingBlindly(imitation, cycles, simulation.period)
    simulation.reset(imitating.start[7:], base=base_of(imitation.model, imitating.start))
    run.begin(float(simulation.base_to_world[2, 3]), way=0.0)
    run.follow(f"{cycles} cycles", imitating.cycle, lambda: imitating.progress)
    planned, (forward, left) = cycles * imitation.stride, run.gone
    run.trouble = imitating.trouble
    if forward < ENOUGH * planned:
        run.trouble = run.trouble or f"it came less than {ENOUGH:.0%} of what was planned"
    run.notes += [
        f"Planned: {planned:.2f} m. Crawled: {forward:.2f} m, {forward / planned:.0%} of the plan, and "
        f"{abs(left):.2f} m aside; a cycle took {imitating.slow_down:.2f} times as long as the person's"
        + (f"; {run.trouble}." if run.trouble else "."),
        changes_of(imitation) if feels else BLINDLY,
        "", "```", fitting(imitation), "```", "",
    ]  # fmt: skip


def get_on_limbs(run: Crawl, crawling: Crawling, lying: Lying) -> None:
    """Put the robot where it lies or stands, and play what gets it on wrists and knees."""
    begin, height = posture_and_base(crawling, lying), float(crawling.crawler.q[2])
    run.simulation.reset(begin.joints, base=begin.base)
    run.begin(min(float(run.simulation.base_to_world[2, 3]), height))
    for name in begin.motions:
        run.follow(name.replace("_", " "), played(run.robot, name))
    run.begin(height)
    crawling.crawler.begin_anew(run.simulation.time)


def crawl_about(run: Crawl, crawling: Crawling, todo: dict[str, Act], sees: Eye | None, out: Path, name: str) -> None:
    """Rest, then do one thing after the other, until there is trouble; what bore, and the centre of mass, is drawn."""
    with SupportPublisher(name or run.robot.name) as publisher:
        shown = SupportDisplay(crawling.crawler, publisher)
        for name, act in {"rest": lambda: None, **todo}.items():
            if not crawling.stopped:
                run.follow(name, obeying(crawling, act, shown, sees), lambda: crawling.progress)
        shown.draw(out / "support.png")
        run.inside = shown.inside / max(shown.looks, 1)
    run.trouble = crawling.stopped
    run.notes += [f"It stopped by itself: {run.trouble}."] if run.trouble else []


def seeing(crawling: Crawling, simulation: Simulation, scene: str, camera: bool, seed: int) -> Eye | None:
    """Crawl over the ground of a scene by the robot's camera, or as it is known; level ground is watched, if it can."""
    level = scene == LEVEL
    if camera and (not level or simulation.robot.sensors_of("camera")):
        return Eye(crawling.crawler, simulation, seed, watches=level)
    if not level:
        crawling.crawler.crawl_over(known_ground(scene))
    return None


def obeying(crawling: Crawling, act: Act, shown: SupportDisplay, sees: Eye | None = None) -> Controller:
    """A controller that tells it one goal first, and is done when the robot rests again, a while later at least."""
    least = 1.0 if sees is None else NODDING
    began: list[float] = []

    def controller(state: State, reference: Reference) -> bool:
        if not began:
            began.append(state.time)
            act()
        crawling.cycle(state, reference)
        if sees is not None:
            sees.look(state, reference)
        shown.look(state)
        if crawling.trouble or (crawling.objection and crawling.standing):
            console.print(crawling.stopped)
            return False
        return not crawling.standing or state.time - began[0] < least

    return controller
