"""Hubo-Ach, §3.5: a step of 0.4 rad on the right shoulder pitch in all four reference modes, and under load.

    python -m experiments.hubo_step

prints tables with what a formula expects beside, and writes `results/hubo_step.png`. The filters are the daemon's, in
its order (filter with the position of the last cycle, write, read), every 0.005 s; the joint is the identified model
with the boards' limit of acceleration (wholebody.drivers.joint_drives). Between the two there is no bus. The document's
figures are not in its text: of numbers it gives the two bandwidths only, and of the rest what grows with what.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wholebody import robots
from wholebody.daemon.filters import Filters
from wholebody.drivers.joint_drives import ACCELERATION, SLOPE, WHOLE, Drives, Response
from wholebody.messages import Filter

RESULTS = Path(__file__).parent / "results"
PERIOD = 0.005
FINE = 5  # samples of the joint in a period
SIZE = 0.4
JOINT = "RSP"
LENGTHS = (1, *range(20, 401, 20))
MOMENTS = (0.0, 2.0, 5.0, 10.0)
DOCUMENT = {"Eq. 3.2": (WHOLE, 7.29), "Eq. 3.3": (SLOPE, 10.66)}

Array = np.ndarray


@dataclass(frozen=True)
class Step:
    """What Table 3.4 records, by cycle, and the joint itself five times as finely."""

    mode: Filter
    value: float
    moment: float  # N·m
    time: Array
    command: Array  # θc
    read: Array  # θa, as the daemon reads it
    fine_time: Array
    joint: Array

    @property
    def rise(self) -> float:
        """Seconds from 10 to 90 % of the step."""
        return rise(self.fine_time, self.joint)

    @property
    def error(self) -> float:
        """Where it ends, less the reference: rad."""
        return float(self.joint[-1] - SIZE)

    @property
    def acceleration(self) -> float:
        """The greatest that the joint had, rad/s²."""
        return float(np.abs(np.diff(self.joint, 2)).max() * (FINE / PERIOD) ** 2)


def rise(time: Array, path: Array) -> float:
    """Seconds from 10 to 90 % of the step."""
    return crossing(time, path, 0.9 * SIZE) - crossing(time, path, 0.1 * SIZE)


def crossing(time: Array, path: Array, value: float) -> float:
    """When a path first crosses a value."""
    after = int(np.argmax(path >= value))
    share = (value - path[after - 1]) / (path[after] - path[after - 1])
    return float(time[after - 1] + share * (time[after] - time[after - 1]))


def step(
    mode: Filter = Filter.PASS,
    value: float | None = None,
    *,
    seconds: float = 0.5,
    moment: float = 0.0,
    response: Response = SLOPE,
    acceleration: float = ACCELERATION,
) -> Step:
    """Step the joint, as the daemon would; a moment is there from the beginning, and the joint has given way to it."""
    hubo = robots.load("hubo2plus")
    joint, n = hubo.index[JOINT], len(hubo.moving)
    drives, filters, powered = Drives(hubo, response, acceleration), Filters(n), np.ones(n, bool)
    filters.set(joint, mode, value)
    drives.load[joint] = moment
    drives.position[joint] = softness(mode, filters.value[joint]) * moment / drives.stiffness[joint]
    reference, command, measured = np.zeros(n), np.zeros(n), drives.position.copy()
    reference[joint] = SIZE
    commands, reads, fine = [], [], []
    for _ in range(round(seconds / PERIOD)):
        out = np.zeros(n)
        filters.apply(reference, command, measured, out)
        command, measured = out, drives.position.copy()
        commands.append(command[joint])
        reads.append(measured[joint])
        for _ in range(FINE):
            fine.append(drives.position[joint])
            drives.advance(PERIOD / FINE, command, powered)
    time = np.arange(len(commands)) * PERIOD
    fine_time = np.arange(len(fine)) * PERIOD / FINE
    return Step(
        mode, float(filters.value[joint]), moment, time, *map(np.array, (commands, reads)), fine_time, np.array(fine)
    )


def softness(mode: Filter, value: float) -> float:
    """How much further a load moves the joint than it does in pass-through: 1 / (1 − Kc), or L."""
    return {Filter.COMPLIANT: lambda: 1 / (1 - value), Filter.FEEDBACK: lambda: value}.get(mode, lambda: 1.0)()


def expected_rise(mode: Filter, value: float, response: Response = SLOPE) -> float:
    """What a formula says of the rise, without the limit of acceleration.

    SMOOTH: the filter's T ln 9 / ln(L / (L − 1)) and the joint's rise, at right angles. COMPLIANT and FEEDBACK close a
    loop about the joint, with a share K of a position that is 1.5 T old on average (T since it was read, T/2 while the
    command is held): the same joint with ω² (1 − K) and c + 1.5 T K ω², in closed form.
    """
    if mode is Filter.SMOOTH and value > 1:
        return math.hypot(
            PERIOD * math.log(9) / math.log(value / (value - 1)), expected_rise(Filter.PASS, 0.0, response)
        )
    share = 1 - 1 / softness(mode, value)
    damping = response.damping + 1.5 * PERIOD * share * response.square
    soft = Response(response.square * (1 - share), damping)
    slowest = soft.damping / soft.square + 1 / soft.damping
    time = np.linspace(0, 12 * slowest, 20001)
    offset, _ = soft.after(time, np.array(-SIZE), np.array(0.0))
    return rise(time, SIZE + offset)


def bandwidth(response: Response) -> float:
    """The frequency (Hz) at which the simulated joint follows a small sine with −3 dB, found by halving."""
    low, high = 1.0, 40.0
    for _ in range(14):
        middle = (low + high) / 2
        low, high = (middle, high) if _gain(response, middle) > 10**-0.15 else (low, middle)
    return low


def _gain(response: Response, hertz: float) -> float:
    hubo = robots.load("hubo2plus")
    joint, n = hubo.index[JOINT], len(hubo.moving)
    drives, target, powered = Drives(hubo, response), np.zeros(n), np.ones(n, bool)
    tick, path = 1 / (hertz * 200), []
    settled = math.ceil(0.4 * hertz) * 200
    for number in range(settled + 200):
        target[joint] = 0.005 * math.sin(2 * math.pi * number / 200)
        drives.advance(tick, target, powered)
        path.append(drives.position[joint])
    return float(np.ptp(path[settled:]) / 0.01)


@dataclass(frozen=True)
class Results:
    """Everything that is printed and drawn."""

    bandwidths: dict[str, float]
    modes: list[Step]
    lengths: list[Step]
    loads: list[Step]


def run(lengths: tuple[int, ...] = LENGTHS, moments: tuple[float, ...] = MOMENTS) -> Results:
    """Do all of §3.5."""
    modes = [
        step(response=WHOLE, acceleration=math.inf),
        step(acceleration=math.inf),
        step(),
        step(Filter.SMOOTH, 40, seconds=2.0),
        step(Filter.COMPLIANT, 0.5),
        step(Filter.COMPLIANT, 0.9, seconds=3.0),
        step(Filter.FEEDBACK, 40, seconds=12.0),
    ]
    smooth = [step(Filter.SMOOTH, length, seconds=max(0.5, 0.035 * length)) for length in lengths]
    kinds: list[tuple[Filter, float]] = [(Filter.PASS, 0.0), *((Filter.COMPLIANT, k) for k in (0.5, 0.75, 0.9))]
    kinds += [(Filter.FEEDBACK, 5), (Filter.FEEDBACK, 10)]
    loads = [
        step(mode, value, moment=moment, seconds=max(0.5, 0.3 * softness(mode, value)))
        for mode, value in kinds
        for moment in moments
    ]
    return Results({name: bandwidth(response) for name, (response, _) in DOCUMENT.items()}, modes, smooth, loads)


def show(results: Results, write: Callable[[str], None] = print) -> None:
    """Print the tables."""
    write("Fig. 3.16–3.17: bandwidth/Hz  simulated  document  difference")
    for name, found in results.bandwidths.items():
        theirs = DOCUMENT[name][1]
        write(f"{name:>28s} {found:10.3f} {theirs:9.2f} {100 * (found / theirs - 1):9.2f} %")
    write("\nStep 0 → 0.4 rad on RSP      rise/s  formula  end error/rad  greatest acceleration/(rad/s²)")
    names = ["pass, Eq. 3.2", "pass, Eq. 3.3", "pass, Eq. 3.3 and limit"]
    for number, each in enumerate(results.modes):
        name = names[number] if number < 3 else f"{each.mode.name.lower()} {each.value:g}"
        expected = expected_rise(each.mode, each.value, WHOLE if number == 0 else SLOPE)
        write(f"{name:>26s} {each.rise:9.4f} {expected:8.4f} {each.error:12.2e} {each.acceleration:14.0f}")
    write("\nFig. 3.21: the longer, the slower and the gentler")
    write("   L    rise/s  formula  first step/rad  0.4/L  greatest acceleration")
    for each in results.lengths:
        expected = expected_rise(each.mode, each.value)
        write(
            f"{each.value:4.0f} {each.rise:9.4f} {expected:8.4f} {each.command[0]:12.5f} {SIZE / each.value:9.5f} "
            f"{each.acceleration:9.1f}"
        )
    write("\nFig. 3.24: error at rest/mrad against the moment: simulated (formula: softness · τ / k)")
    write(" " * 16 + "".join(f"{moment:>12g} N·m" for moment in sorted({each.moment for each in results.loads})))
    rows: dict[str, list[Step]] = {}
    for each in results.loads:
        rows.setdefault(f"{each.mode.name.lower()} {each.value:g}", []).append(each)
    for name, row in rows.items():
        write(f"{name:>16s}" + "".join(f"{1e3 * s.error:8.2f} ({1e3 * expected_error(s):5.1f})" for s in row))


def expected_error(each: Step) -> float:
    """softness · τ / k."""
    return softness(each.mode, each.value) * each.moment / robots.load("hubo2plus").gains[JOINT].stiffness


def draw(results: Results, path: Path = RESULTS / "hubo_step.png") -> None:
    """Fig. 3.16, 3.17, 3.20, 3.21, 3.23 and 3.24 in one picture."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 3, figsize=(15, 8))
    whole, slope, limited, smooth, _, _, feedback = results.modes
    first = axes[0, 0]
    _plot(first, limited, "Fig. 3.16–3.17: pass-through")
    first.plot(whole.fine_time, whole.joint, "--", label="G, Eq. 3.2")
    first.plot(slope.fine_time, slope.joint, ":", label="G*, Eq. 3.3")
    first.set_xlim(0, 0.2)
    _plot(axes[0, 1], smooth, "Fig. 3.20: smoothed, L = 40")
    for each in results.lengths:
        axes[0, 2].plot(each.fine_time, each.joint, linewidth=0.8, color=plt.cm.viridis(each.value / 400))
    axes[0, 2].set(title=f"Fig. 3.21: θa for L = 1, {LENGTHS[1]} … {LENGTHS[-1]}", xlim=(0, 6))
    _plot(axes[1, 0], feedback, "Fig. 3.23: feedback, L = 40")
    for each in results.loads:
        if (each.mode, each.value) == (Filter.FEEDBACK, 10):
            axes[1, 1].plot(each.time, each.read, label=f"θa, {each.moment:g} N·m")
    axes[1, 1].set(title="Fig. 3.24: feedback, L = 10, under load")
    rows = sorted({(each.mode, each.value) for each in results.loads})
    for mode, value in rows:
        line = [each for each in results.loads if (each.mode, each.value) == (mode, value)]
        style = "o--" if mode is Filter.FEEDBACK else "o-"
        errors = [1e3 * each.error for each in line]
        axes[1, 2].plot([each.moment for each in line], errors, style, label=f"{mode.name.lower()} {value:g}")
    axes[1, 2].set(title="Error at rest against the moment", xlabel="N·m", ylabel="mrad")
    for axis in axes.flat[:5]:
        axis.axhline(SIZE, color="k", linewidth=0.6, linestyle="--")
        axis.set(xlabel="s", ylabel="rad")
    for axis in (first, axes[0, 1], *axes[1]):
        axis.legend(fontsize=8)
    path.parent.mkdir(exist_ok=True)
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    plt.close(figure)


def _plot(axis, each: Step, title: str) -> None:
    axis.step(each.time, each.command, where="post", linewidth=1, label="θc")
    axis.plot(each.time, each.read, label="θa")
    axis.set_title(title)


def main() -> None:
    """Run, print and draw."""
    results = run()
    show(results)
    draw(results)


if __name__ == "__main__":
    main()
