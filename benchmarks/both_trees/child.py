"""A process of one tree: records what it computes from given inputs, or times its work in turns with another.

python child.py record FILE GROUP…            inputs are made here; both go into FILE
python child.py replay INPUTS FILE GROUP…     inputs come from a file that was recorded
python child.py serve CORE                    on that core, for each line: `prepare NAME`, or `batch`, which answers
                                              microseconds of CPU that a call of it took
python child.py import MODULE                 seconds of CPU that the import takes
python child.py memory INPUTS                 MB of a process that walks on recorded states, at most
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
import time
import warnings

import numpy as np

ANSWERS = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # whatever else is printed goes to stderr


def agree(target: str, groups: list[str], inputs_from: str | None) -> None:
    """Compute groups and save them: `in/NAME` and `out/NAME`; a group that fails leaves `failed/GROUP`."""
    from agreement import GROUPS, Inputs

    recorded = None
    if inputs_from is not None:
        with np.load(inputs_from) as file:
            recorded = {name.removeprefix("in/"): file[name] for name in file.files if name.startswith("in/")}
    inputs, outputs = Inputs(recorded), {}
    for name in groups:
        begin = time.perf_counter()
        try:
            outputs |= {f"out/{key}": value for key, value in GROUPS[name](inputs).items()}
        except Exception as error:
            if inputs_from is None:
                raise
            outputs[f"failed/{name}"] = np.array(f"{type(error).__name__}: {error}")
        print(f"{name}: {time.perf_counter() - begin:.1f} s", file=sys.stderr, flush=True)
    np.savez(target, **outputs, **{f"in/{name}": value for name, value in inputs.kept.items()})


def serve(core: int) -> None:
    """Do as told, line by line, until the input ends."""
    os.sched_setaffinity(0, {core})
    gc.disable()
    batch = None
    answer("ready")
    for line in sys.stdin:
        order, _, name = line.strip().partition(" ")
        if order == "prepare":
            batch = importlib.import_module("gate" if name.startswith("gate") else "work").WORK[name]()
            gc.collect()
            batch()
            answer("ready")
        else:
            assert batch is not None
            answer(f"{batch():.6f}")


def walk_on(recorded: str) -> None:
    """A walking controller on recorded states, with nothing else in its process."""
    from wholebody import robots
    from wholebody.behaviors import Walking

    robot = robots.load("hubo2plus")
    walking = Walking(robot)
    state, reference = (np.zeros(1, kind)[0] for kind in (robot.state_dtype(), robot.reference_dtype()))
    walking.stand(1.0)
    with np.load(recorded) as file:
        states, told = file["in/walk.states"], int(file["in/walk.told"][0])
    for index, seen in enumerate(states):
        for field in states.dtype.names:
            state[field] = seen[field]
        walking.cycle(state, reference)
        if index + 1 == told:
            walking.walk(velocity=(0.3, 0.0, 0.0))


def answer(text: str) -> None:
    """One line to whoever started us."""
    print(text, file=ANSWERS, flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    what, *rest = sys.argv[1:]
    if what == "record":
        agree(rest[0], rest[1:], None)
    elif what == "replay":
        agree(rest[1], rest[2:], rest[0])
    elif what == "serve":
        serve(int(rest[0]))
    elif what == "import":
        begin = time.process_time()
        importlib.import_module(rest[0])
        answer(str(time.process_time() - begin))
    elif what == "memory":
        walk_on(rest[0])
        with open("/proc/self/status", encoding="utf-8") as file:  # getrusage remembers who started us
            most = next(line for line in file if line.startswith("VmHWM"))
        answer(str(int(most.split()[1]) / 1024))
    else:
        raise SystemExit(f"no '{what}' here")
