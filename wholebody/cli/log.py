"""wholebody log, replay, plot: record channels into an MCAP file, play them again, draw them."""

from __future__ import annotations

import contextlib
import fnmatch
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.live import Live
from rich.progress import Progress

from wholebody.channels import Channel
from wholebody.channels.recording.playback import Recording
from wholebody.channels.recording.recorder import Recorder
from wholebody.cli import options
from wholebody.configuration.building import build
from wholebody.configuration.reading import Configuration
from wholebody.configuration.settings import Settings
from wholebody.configuration.wiring import loop_of
from wholebody.control.servo import Servo
from wholebody.errors import BadRecording, UnknownName
from wholebody.messages import Reference
from wholebody.operator.recordings.curves import curve, draw
from wholebody.operator.ros.log_messages import StandardLog
from wholebody.parameters.documents import Document
from wholebody.parameters.events import Events
from wholebody.parameters.records import ABOUT, AboutPart, Applied
from wholebody.parameters.remote import told_in
from wholebody.parameters.server import Repeat
from wholebody.realtime import until_told

if TYPE_CHECKING:
    from wholebody.control.servo import Servo


SHOW_EVERY = 0.5


def log(
    file: Annotated[Path, typer.Argument(help="The file to write, such as run.mcap.")],
    channels: options.Channels = None,
    seconds: options.Seconds = 0.0,
    standard_rate: Annotated[
        float, typer.Option(min=0.0, max=1000.0, help="Standard messages of each robot a second; 0: none.")
    ] = 50.0,
) -> None:
    """Record every message of channels, from a process of its own: nobody who writes them notices.

    It ends with Ctrl-C, or after --seconds. Beside the exact records it has standard messages of ROS 2 (joint states,
    transforms, URDF, sensors, markers), by which Foxglove and the tools of rosbag2 show the moving robot. If the disk
    is full it says so, and the file stays readable.
    """
    console, goes_on = Console(stderr=True, highlight=False, soft_wrap=True), until_told()
    begun = shown = time.monotonic()
    beside = StandardLog(channels or ["*"], standard_rate)
    with Recorder(file, channels or ["*"], beside) as recorder, Live(console=console, auto_refresh=False) as live:
        while goes_on() and not recorder.full and not (seconds and time.monotonic() - begun > seconds):
            recorder.record()
            if time.monotonic() - shown > SHOW_EVERY:
                shown = time.monotonic()
                live.update(in_words(recorder, shown - begun), refresh=True)
    console.print(f"{file}: {in_words(recorder, time.monotonic() - begun)}")
    if recorder.full:
        console.print(f"warning: the disk is full, so the log ends here; {file} has everything up to now")
        raise typer.Exit(1)


def in_words(recorder: Recorder, seconds: float) -> str:
    """How it is getting on."""
    size = recorder.file.stat().st_size / 1e6
    lost = f", {recorder.lost} lost" if recorder.lost else ""
    return f"{recorder.count} messages of {len(recorder.counts)} channels in {seconds:.0f} s, {size:.1f} MB{lost}"


console = Console(highlight=False, soft_wrap=True)


def replay(
    file: Annotated[Path, typer.Argument(help="A file of `wholebody log`.")],
    channels: options.Channels = None,
    prefix: Annotated[str, typer.Option(help="Put before the names of channels: 'again.robot.state'.")] = "",
    speed: Annotated[float, typer.Option(min=0.0, help="Times real time; 0: as fast as it goes.")] = 1.0,
    repeat: Annotated[
        bool, typer.Option("--repeat", help="Run the controller again in simulation, with what came in, and compare.")
    ] = False,
) -> None:
    """Put the messages of a log on channels again, at the pace at which they came.

    With --repeat: build the same controller and simulation, give them the same inputs in the same cycles, and compare
    the commands bit by bit; exit code 1 if one differs.
    """
    recording = Recording(file)
    if not recording.whole:
        console.print(f"{file} ends in the middle; it is read up to there")
    if repeat:
        compared, differ = run_again(recording)
        console.print(f"{compared} commands compared, {differ} differ")
        raise typer.Exit(1 if differ or not compared else 0)
    names = [name for pattern in channels or ["*"] for name in matching(recording, pattern)]
    put = put_again(recording, names, prefix, speed)
    console.print(f"{put} messages put on {len(names)} channels")


def matching(recording: Recording, pattern: str) -> list[str]:
    """The channels of a recording whose names match a pattern."""
    found = fnmatch.filter(recording.layouts, pattern)
    if not found:
        raise UnknownName("channel in the recording", pattern, recording.layouts)
    return found


def put_again(recording: Recording, channels: list[str], prefix: str, speed: float) -> int:
    """Put messages on channels, each when it is its turn; how many."""
    count, total = 0, sum(recording.counts.get(name, 0) for name in channels)
    writers: dict[str, Any] = {}
    begun, first = time.monotonic(), None
    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task(recording.file.name, total=total)
        for each in recording.messages(channels):
            first = each.stamp if first is None else first
            if speed > 0:
                time.sleep(max(0.0, begun + (each.stamp - first) / speed - time.monotonic()))
            if each.channel not in writers:
                name = f"{prefix}.{each.channel}" if prefix else each.channel
                writers[each.channel] = Channel(name, recording.layouts[each.channel]).writer()
            writer = writers[each.channel]
            writer.message.setfield(each.record, each.record.dtype, 0)
            writer.put()
            count += 1
            progress.advance(bar)
    for writer in writers.values():
        writer.close()
    return count


def run_again(recording: Recording) -> tuple[int, int]:
    """Repeat the run of the controller in a log; how many commands were compared, and how many differ."""

    first = _controller(recording)
    told = told_in(recording.table(f"{first}{ABOUT}", AboutPart)[1])
    if told is None:
        raise BadRecording(f"{recording.file} lacks a part of what '{first}' tells of itself; log it from its start")
    _, applied = recording.table(f"{first}.applied", Applied) if f"{first}.applied" in recording.layouts else (None, [])
    _, commands = recording.table(f"{first}.command", Reference)
    if not len(commands):
        raise BadRecording(f"{recording.file} has no commands of '{first}'")
    comparison = Comparison(commands)
    with (
        again(told, applied, recording.file) as servo,
        Progress(console=Console(stderr=True), transient=True) as progress,
    ):
        bar = progress.add_task("repeating", total=commands[-1].time)
        servo.publish = (comparison.look, *servo.publish)
        _go(servo, commands[-1].time, lambda now: progress.update(bar, completed=now))
    return comparison.compared, comparison.differ


def _go(servo: Servo, end: float, show: Any) -> None:
    servo.start()
    while servo.time < end - 0.5 * servo.clock.period:
        servo.cycle()
        if servo.counters.cycles % 500 == 0:
            show(servo.time)


def _controller(recording: Recording) -> str:
    """The robot and controller that a log is of."""
    found = [name.removesuffix(ABOUT) for name in recording.layouts if name.endswith(ABOUT)]
    if len(found) != 1:
        raise BadRecording(f"{recording.file} is the log of {len(found)} controllers ({', '.join(found)}), not of one")
    return found[0]


class Comparison:
    """Commands of a log beside those of a run, by their time, bit by bit."""

    def __init__(self, commands: Any) -> None:
        self._logged = {each.time: each.tobytes() for each in commands}
        self.compared = self.differ = 0

    def look(self, servo: Servo) -> None:
        """Compare the command that was just written."""
        logged = self._logged.get(servo.time)
        if logged is not None:
            self.compared += 1
            self.differ += logged != servo.reference.raw.tobytes()


@contextlib.contextmanager
def again(told: dict[str, Any], applied: Any, file: Path) -> Iterator[Servo]:
    """The loop that a log tells of, in simulated time, with nothing open to the outside."""
    from wholebody.simulation import Simulation

    settings = Settings.model_validate(told["configuration"])
    if settings.interface.type != "simulation":
        raise BadRecording(
            f"{file} is the log of a robot by '{settings.interface.type}'; only simulations can be repeated"
        )
    if settings.model_beside:
        raise BadRecording(
            f"{file} is the log of a run with model_beside, which takes models when they are ready; log one without"
        )
    built = build(Configuration(settings, Document(file)))
    options = {key: value for key, value in settings.interface.options.items() if key != "real_time"}
    options["step"] = min(options.get("step", 0.001), built.period)
    with Simulation(built.robot, options.pop("scene", "flat"), control_period=built.period, **options) as simulation:
        servo = loop_of(built, simulation, simulation)
        Events(built.parameters, built.events)
        repeat = Repeat(built.parameters, [each["path"] for each in told["parameters"]], applied)
        servo.inputs = (lambda servo: repeat.apply(servo.counters.cycles),)
        yield servo


def plot(
    file: Annotated[Path, typer.Argument(help="A file of `wholebody log`.")],
    paths: Annotated[list[str] | None, typer.Argument(help="CHANNEL, CHANNEL.FIELD or CHANNEL.FIELD[INDEX].")] = None,
    out: Annotated[Path, options.Out] = Path("plot.png"),
) -> None:
    """Draw fields of the messages in a log over time; without a path, list what there is.

    Curves are labelled with the names of joints, sensors or axes, and panels with the unit, where it is known.

    \b
      wholebody plot run.mcap dreamer.right_hand.error robot.reach.joint_state.position[3] --out run.png
    """
    console = Console(highlight=False, soft_wrap=True)
    recording = Recording(file)
    if not paths:
        for name, dtype in sorted(recording.layouts.items()):
            console.print(f"{name}: {recording.counts.get(name, 0)} messages; {', '.join(dtype.names or ('value',))}")
        return
    curves = [curve(recording, path) for path in paths]
    draw(curves, out)
    console.print(f"{out}: {sum(len(each.times) for each in curves)} points in {len(curves)} curves")
