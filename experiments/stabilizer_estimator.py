"""Stabilizer, Chapter 4, repeated: roll and pitch of Hubo2+ against the truth, by six estimators, Fig. 4.3–4.14.

    python -m experiments.stabilizer_estimator            about three minutes

prints the tables and writes `results/stabilizer_estimator_*.png`. Each run is simulated with flexible ankles (K = 753
N·m/rad, C = 18 N·m·s/rad); its accelerometer then gets noise of 0.1, 1 and 10 m/s², and the filters are told so. The
gyro has noise of 0.005 rad/s at each reading (200 Hz) and a bias of (0.01, −0.01, 0.005) rad/s; encoders 2e-5 rad,
their velocities are differences; forces 1 N, torques 0.05 N·m. All is one period late. The filters' own noises were
chosen on the walk of 5 cm, by sines; the one of 7 cm, slower and with feet lifted less, and the walks of 0.2 m, which
are balanced, were not looked at.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from experiments.estimator_runs import PERIOD, Array, Run, on_the_crane, pushed, standing, step, walk
from experiments.estimators_compared import (
    COUNTED,
    ESTIMATORS,
    NOISES,
    angles,
    coverage_of,
    errors_of,
    estimate,
    flexion_of,
    follow,
    full,
    plain,
    sensors,
    surprise_of,
)
from experiments.stabilizer_step import RESULTS, pyplot

RUNS: dict[str, Callable[[], Run]] = {
    "stands": standing,
    "steps in place": step,
    "walks, 5 cm": lambda: step(stride=0.05),
    "walks, 7 cm": lambda: step(period=1.0, sway=0.065, lift=0.025, stride=0.07),
    "0.2 m in 0.8 s": lambda: walk(0.8),
    "0.2 m in 0.6 s": lambda: walk(0.6),
    "0.8 s, pushed": lambda: walk(0.8, push=6.0),
    "is pushed": pushed,
    "on the crane": on_the_crane,
}

WALKS = ("0.2 m in 0.8 s", "0.2 m in 0.6 s", "0.8 s, pushed")


def main() -> None:
    """Print the tables and draw the pictures."""
    runs = {name: make() for name, make in RUNS.items()}
    print("RMS error of roll / pitch in degrees; noise of the accelerometer in m/s², as the filter is told")
    print(f"{'':16s}{'noise':>6s}" + "".join(f"{name:>17s}" for name in ESTIMATORS) + f"{'full / plain':>14s}")
    for name, run in runs.items():
        for noise in NOISES:
            found = {each: errors_of(estimate(how, run, noise), run) for each, how in ESTIMATORS.items()}
            cells = "".join(f"{f'{e.roll:.2f} / {e.pitch:.2f}':>17s}" for e in found.values())
            print(f"{name:16s}{noise:6g}{cells}{found['full EKF'].both / found['plain EKF'].both:14.2f}", flush=True)
    walking = runs["walks, 5 cm"]
    print_fair_plain(walking)
    print_flexion(runs)
    print_balance(walking)
    print_surprise(runs)
    print_coverage(runs)
    draw_walking(walking)
    draw_crane_and_flexion(runs["on the crane"], walking)


def print_fair_plain(run: Run) -> None:
    """The plain filter at its best, which no one knows beforehand, and the full one with a wrong spring."""
    print("\nWalking with noise of 1 m/s², what else the filters may be told: RMS of roll / pitch in degrees")
    for told in (0.1, 0.3, 1.0, 3.0, 10.0, 30.0):
        found = errors_of(estimate(plain, run, 1.0, told), run)
        print(f"plain EKF, told {told:5g} m/s²      {found.roll:6.2f} / {found.pitch:.2f}")
    for share in (0.7, 0.85, 1.0, 1.15, 1.3):
        states = run.measured(sensors(1.0), 0)
        found = errors_of(angles(full(run, states, 1.0, 753.0 * share)), run)
        print(f"full EKF, told {share:4g} of K         {found.roll:6.2f} / {found.pitch:.2f}")


def print_flexion(runs: dict[str, Run]) -> None:
    """Fig. 4.14."""
    print("\nFig. 4.14: flexion of the ankles, roll / pitch in degrees     RMS error       peak          share")
    for name in ("steps in place", "walks, 5 cm", "walks, 7 cm", *WALKS, "is pushed"):
        for noise in NOISES:
            each = flexion_of(runs[name], noise)
            (a, b), (c, d) = each.error, each.peak
            print(f"{name:16s}{noise:6g} m/s²{a:37.3f} / {b:.3f}{c:8.2f} / {d:.2f}{a / c:10.1%} / {b / d:.1%}")


def print_balance(run: Run) -> None:
    """Centre of mass and capture point from the same sensors; place is odometry, so what counts is where it ends."""
    estimators = follow(run, run.measured(sensors(1.0), 0), 1.0)
    rows = [np.concatenate(each.balance[4:7]) for each in estimators]
    com, velocity, capture = np.split(np.array(rows), 3, axis=1)
    true = run.com[1:]
    true_velocity = np.gradient(true, PERIOD, axis=0)
    true_lead = true_velocity[:, :2] * np.sqrt(true[:, 2:] / 9.81)

    def rms(off: Array) -> Array:
        return np.asarray(1e3 * np.sqrt(np.mean(off[COUNTED:] ** 2, axis=0)))

    x, y, z = 1e3 * (com - true)[-1]
    print(
        f"\nWalking {true[-1, 0] - true[0, 0]:.2f} m in {PERIOD * len(true):g} s, x / y: centre of mass ends ", end=""
    )
    print(f"{x:.0f} / {y:.0f} mm off, {z:.0f} mm in height;", end="")
    print(" its velocity errs by {:.0f} / {:.0f} mm/s RMS,".format(*rms(velocity - true_velocity)[:2]), end="")
    print(" the capture point's lead by {:.1f} / {:.1f} mm".format(*rms((capture - com)[:, :2] - true_lead)))


def print_surprise(runs: dict[str, Run]) -> None:
    """Whether the full filter's noise is right: below 1 it is less sure than it may be, above 1 surer."""
    print("\nNormalised innovation squared of the full filter per measured number, noise of 0.1, 1 and 10 m/s²")
    for name, run in runs.items():
        print(f"{name:16s}" + "".join(f"{surprise_of(run, noise):8.2f}" for noise in NOISES), flush=True)


def print_coverage(runs: dict[str, Run]) -> None:
    """Whether its deviations of roll and pitch are true: 95 % of errors or more are to be below two of them."""
    print("\nFull filter: errors of roll and pitch, squared by their variances, and how many are below two deviations")
    for name, run in runs.items():
        found = [coverage_of(run, noise) for noise in NOISES]
        print(f"{name:16s}" + "".join(f"{each.errors:8.2f}{each.below:7.1%}" for each in found), flush=True)
    walk = runs["walks, 7 cm"]
    for share in (0.85, 1.15):
        each = coverage_of(walk, 1.0, stiffness=753.0 * share)
        print(f"walks, 7 cm, told {share:g} of K: {each.errors:.2f}, {each.below:.1%}")


def draw_walking(run: Run) -> None:
    """Fig. 4.3–4.8 and 4.11–4.12."""
    plt = pyplot()
    RESULTS.mkdir(exist_ok=True)
    figure, grid = plt.subplots(3, 2, figsize=(14, 10), sharex=True, layout="constrained")
    time, true = PERIOD * np.arange(1, len(run.states)), angles(run.attitude)
    for row, noise in zip(grid, NOISES, strict=True):
        found = {name: estimate(ESTIMATORS[name], run, noise) for name in ("gyro alone", "plain EKF", "full EKF")}
        for column, axes in enumerate(row):
            for (name, each), colour in zip(found.items(), ("0.75", "C1", "C0"), strict=True):
                axes.plot(time, each[:, column], colour, label=name)
            axes.plot(time, true[:, column], "k", linewidth=0.8, label="truth")
            axes.set_ylim(1.6 * true[:, column].min() - 1, 1.6 * true[:, column].max() + 1)
            axes.set(title=f"{('roll', 'pitch')[column]}, accelerometer noise {noise:g} m/s²", ylabel="[°]")
            axes.grid(alpha=0.3)
            axes.margins(x=0)
    grid[0, 0].legend(fontsize=9, ncols=4, loc="lower left")
    for axes in grid[-1]:
        axes.set_xlabel("time [s]")
    figure.suptitle("Hubo2+ walks on flexible ankles, as in Fig. 4.3–4.8")
    figure.savefig(RESULTS / "stabilizer_estimator_walking.png", dpi=90)
    plt.close(figure)


def draw_crane_and_flexion(crane: Run, walking: Run) -> None:
    """Fig. 4.9–4.10 and 4.14."""
    plt = pyplot()
    figure, grid = plt.subplots(2, 2, figsize=(14, 8), sharex=True, layout="constrained")
    time = PERIOD * np.arange(1, len(crane.states))
    found = {name: estimate(ESTIMATORS[name], crane, 1.0) for name in ("gyro alone", "plain EKF", "full EKF")}
    states = walking.measured(sensors(1.0), 0)
    flexion = np.degrees([each.filter.flexion.copy() for each in follow(walking, states, 1.0)])
    for column, (above, below) in enumerate(grid.T):
        for (name, each), colour in zip(found.items(), ("0.75", "C1", "C0"), strict=True):
            above.plot(time, each[:, column], colour, label=name)
        above.plot(time, angles(crane.attitude)[:, column], "k", linewidth=0.8, label="truth")
        above.set(title=f"{('roll', 'pitch')[column]} on the crane, pushed; noise 1 m/s²", ylabel="[°]")
        below.plot(time, flexion[:, 0, column], "C0", label="estimated")
        below.plot(time, np.degrees(walking.flexion[1:, 0, column]), "k", linewidth=0.8, label="truth")
        below.set(title=f"flexion of the right ankle, {('roll', 'pitch')[column]}, walking", xlabel="time [s]")
        for axes in (above, below):
            axes.grid(alpha=0.3)
            axes.legend(fontsize=9, ncols=4)
            axes.margins(x=0)
    figure.suptitle("Hubo2+ on the crane, as in Fig. 4.9–4.10, and its ankles, as in Fig. 4.14")
    figure.savefig(RESULTS / "stabilizer_estimator_crane_flexion.png", dpi=90)
    plt.close(figure)


if __name__ == "__main__":
    main()
