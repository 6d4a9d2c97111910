"""A cycle of a controller in C, C++, Python and Octave, on the channels of a robot of 38 joints.

put and latest of a state (2.8 kB) are timed in C and in C++, in turns, in one process. A cycle in Python and in Octave
looks at the newest state and commands one joint; Octave is asked in turns with Python, with two fields of the state and
with all of them.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from benchmarks.processes import private_channels
from benchmarks.report import Progress, Report, Section, Timing, no_garbage_collection, timed
from wholebody import messages
from wholebody.channels import Channel, Layout
from wholebody.channels.languages import c_library, octave_package
from wholebody.channels.languages.c_header import c_header
from wholebody.drivers import connect
from wholebody.messages import Tick

JOINTS = tuple(f"joint_{number}" for number in range(38))
CALLS, FEW = 200, 20
"""Calls in a batch: few where one takes long, or most batches would be interrupted by others of the machine."""
C_LIMIT, OCTAVE_LIMIT = 1.2, 10.0
IN_C = """
#include <string.h>
#include "state.h"
static wb_reader *reader; static wb_writer *writer; static state message;
int open_it(const char *path)
{
    wb_ring *ring;
    int status = wb_open(&ring, path, &state_layout, 64, 16);
    return status || wb_reader_open(&reader, ring) || wb_writer_open(&writer, ring);
}
double time_it(int count)
{
    int64_t begun = wb_now();
    for (int i = 0; i < count; i++) {
        message.time = i;
        if (wb_put(writer, &message) < 0 || wb_latest(reader, &message) != 1)
            return -1.0;
    }
    return (double)(wb_now() - begun) / count;
}
"""
IN_CPP = """
#include <wholebody/channel.hpp>
#include "state.h"
static wholebody::Reader<state> *reader; static wholebody::Writer<state> *writer;
extern "C" int open_it(const char *name)
{
    wholebody::Channel<state> channel(name);
    reader = new wholebody::Reader<state>(channel.reader());
    writer = new wholebody::Writer<state>(channel.writer());
    return 0;
}
extern "C" double time_it(int count)
{
    auto begun = wb_now();
    for (int i = 0; i < count; i++) {
        writer->message.time = i;
        writer->put();
        if (!reader->latest())
            return -1.0;
    }
    return static_cast<double>(wb_now() - begun) / count;
}
"""
IN_OCTAVE = """
addpath ('{package}');
robot = wholebody.connect ('robot', 'octave');
joint = robot.joint ('joint_7');
while true
  count = str2double (input ('', 's'));
  if isnan (count) break, end
  tic ();
  for i = 1:count state = robot.latest ({{'time', 'position'}}); robot.put (joint, state.position(joint)); end
  some = toc ();
  tic ();
  for i = 1:count state = robot.latest (); robot.put (joint, state.position(joint)); end
  printf ('%.9g %.9g\\n', some / count, toc () / count); fflush (stdout);
end
"""


def run(quick: bool, progress: Progress) -> Report:
    """Time C and C++ in turns, then Python and Octave in turns: about 10 s."""
    report, rounds = Report(), 50 if quick else 400
    with private_channels(), ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        compiled = {"C": build(folder, "gcc", IN_C, "c"), "C++": build(folder, "g++", IN_CPP, "cpp")}
        report.sections.append(Section("put and latest of 2.8 kB", in_turns(compiled, rounds, progress)))
        report.limit_ratio("put_latest C++", "put_latest C", C_LIMIT)
        if shutil.which("mkoctfile") and shutil.which("octave"):
            report.sections.append(
                Section("a cycle: look at the state, command a joint", cycles(folder, rounds, progress))
            )
            report.limit_ratio("cycle Octave", "cycle Python", OCTAVE_LIMIT)
        else:
            report.notes.append("Octave is left out; it needs: apt install octave liboctave-dev")
    return report


def build(folder: Path, compiler: str, source: str, ending: str) -> ctypes.CDLL:
    """Compile the loop of a language, which opens a channel of its own."""
    (folder / "state.h").write_text(c_header("robot.state", Layout.of(messages.state(JOINTS)), "state"))
    file, made = folder / f"loop.{ending}", folder / f"loop.{ending}.so"
    file.write_text(source)
    library = c_library.build()
    flags = [*library.compile_flags, f"-I{folder}"]
    command = [compiler, "-O2", "-shared", "-fPIC", *flags, str(file), *library.link_flags, "-o", str(made)]
    subprocess.run(command, check=True)
    loaded = ctypes.CDLL(str(made))
    loaded.time_it.restype = ctypes.c_double
    with Channel(f"bench.{ending}", messages.state(JOINTS)) as channel:
        if loaded.open_it(str(channel.path if ending == "c" else channel.name).encode()):
            raise RuntimeError(f"the loop in {ending} does not open its channel")
    return loaded


def in_turns(compiled: dict[str, ctypes.CDLL], rounds: int, progress: Progress) -> dict[str, Timing | float]:
    """Microseconds of a put and a look at what was put."""
    samples: dict[str, list[float]] = {language: [] for language in compiled}
    for turn in range(rounds):
        progress("put and latest in C and C++", 0.4 * turn / rounds)
        for language, loaded in compiled.items():
            samples[language].append(loaded.time_it(CALLS) * 1e-3)
    return {f"put_latest {language}": Timing.of(each) for language, each in samples.items()}


def cycles(folder: Path, rounds: int, progress: Progress) -> dict[str, Timing | float]:
    """Microseconds of a cycle in Python and in Octave."""
    octave_package.build(octave_package.copy(folder / "octave"))
    samples: dict[str, list[float]] = {"cycle Python": [], "cycle Octave": [], "cycle Octave, all fields": []}
    with ExitStack() as stack:
        robot_channels(stack)
        script = IN_OCTAVE.format(package=folder / "octave")
        words = ["octave", "--no-gui", "--no-window-system", "--quiet", "--no-init-file", "--eval", script]
        pipe = subprocess.PIPE
        octave = stack.enter_context(
            subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
        )
        stack.callback(octave.kill)
        cycle = python_cycle(stack)
        with no_garbage_collection():
            for turn in range(rounds):
                progress("cycles in Python and Octave", 0.4 + 0.6 * turn / rounds)
                samples["cycle Python"].append(timed(cycle, FEW))
                some, whole = ask(octave)
                samples["cycle Octave"].append(some)
                samples["cycle Octave, all fields"].append(whole)
    return {name: Timing.of(each) for name, each in samples.items()}


def ask(octave: subprocess.Popen[str]) -> list[float]:
    """Have Octave time a batch of cycles: µs with two fields of the state, and with all."""
    assert octave.stdin is not None
    assert octave.stdout is not None
    octave.stdin.write(f"{FEW}\n")
    octave.stdin.flush()
    return [float(each) * 1e6 for each in octave.stdout.readline().split()]


def robot_channels(stack: ExitStack) -> None:
    """What a controller connects to, without a daemon behind it."""
    state = messages.state(JOINTS, imus=["pelvis"], force_torques=["right_foot", "left_foot"])
    for name, dtype in (
        ("state", state),
        ("commanded", messages.reference(JOINTS)),
        ("tick", Tick.of(messages.tick())),
    ):
        channel = stack.enter_context(Channel(f"robot.{name}", dtype))
        stack.enter_context(writer := channel.writer())
        if "period" in writer.message.dtype.names:
            writer.message["period"] = 0.005
        writer.put()


def python_cycle(stack: ExitStack) -> Callable[[], None]:
    """The same cycle by `connect`."""
    with Channel("robot.state") as channel, channel.writer() as writer:
        threading.Timer(0.2, writer.put).start()  # who connects waits for a new state
        robot = stack.enter_context(connect("python"))
    state = robot.state.copy()
    joint = robot.index["joint_7"]

    def cycle() -> None:
        robot.read(state)
        robot.move({"joint_7": float(np.asarray(state.position)[joint])})

    return cycle
