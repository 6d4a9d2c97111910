"""How fast estimates are: attitude from an IMU, the filter on two feet, and all of Hubo2+'s balance in one cycle.

`attitude` is AttitudeFilter.update, `support` SupportFilter.update with both feet on the ground (23 states, 16 rows),
`particles` ParticleAttitude.update with 2000 guesses. `balance_NAME` is BalanceEstimator.update of a whole state: read
sensors, snapshot of the model, contacts, wrenches, filter, odometry, centre of mass, capture point and pressure. Each
call is timed by itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from benchmarks.report import Progress, Report, Section, Timing, no_garbage_collection
from benchmarks.yardsticks import Beside
from wholebody import robots
from wholebody.estimation import AnkleSpring, AttitudeFilter, BalanceEstimator, ParticleAttitude, SupportFilter
from wholebody.model import Model
from wholebody.simulation import SensorModel, Simulation

DT = 0.005
UP = np.array([0.0, 0.0, 9.81])
ROBOTS = ("hubo2plus", "minihubo", "hoap3")


def run(quick: bool, progress: Progress) -> Report:
    """Measure filters alone, then the whole cycle on what simulated sensors said."""
    report, rounds, beside = Report(), 300 if quick else 5000, Beside(every=20)
    with no_garbage_collection():
        progress("filters", 0.0)
        report.sections.append(Section("filters", filters(rounds, beside)))
        balance: dict[str, Timing | float] = {}
        for number, name in enumerate(ROBOTS):
            progress(name, 0.3 + 0.7 * number / len(ROBOTS))
            balance[f"balance_{name}"] = of_balance(name, rounds, beside)
        report.sections.append(Section("one cycle of balance", balance))
        report.sections.append(Section("yardstick", {"matrix_product": beside.timing}))
    report.limit_ratio("attitude", "matrix_product", 2.5)
    report.limit_ratio("balance_hubo2plus", "matrix_product", 15.0)
    return report


def filters(rounds: int, beside: Beside) -> dict[str, Timing | float]:
    """Of one reading of an IMU, and of two standing feet."""
    noise = np.random.default_rng(0).normal(size=(rounds, 6))
    attitude, particles, support = AttitudeFilter(), ParticleAttitude(), SupportFilter(2, AnkleSpring())
    support.legs.contact[:] = support.legs.firm[:] = 1.0
    support.legs.p[:] = (0.0, 0.0, -0.6)

    return {
        "attitude": timed(attitude.update, noise, beside),
        "support": timed(support.update, noise, beside),
        "particles": timed(particles.update, noise[: rounds // 10], beside),
    }


def of_balance(name: str, rounds: int, beside: Beside) -> Timing:
    """Of a robot that stands, state after state as its sensors say."""
    robot = robots.load(name)
    simulation, estimator = Simulation(robot, sensors=SensorModel.realistic()), BalanceEstimator(Model(robot))
    states = []
    for _ in range(200):
        simulation.advance()
        states.append(simulation.new_state())
        simulation.read(states[-1])
    samples = []
    for number in range(rounds):
        state = states[number % len(states)]
        state.time = DT * (number + 1)
        start = time.perf_counter_ns()
        estimator.update(state)
        samples.append((time.perf_counter_ns() - start) * 1e-3)
        beside.take()
    return Timing.of(samples)


def timed(update: Callable[..., None], readings: np.ndarray, beside: Beside) -> Timing:
    """Of a filter, reading after reading."""
    samples = []
    for reading in readings:
        gyro, accelerometer = 0.005 * reading[:3], reading[3:] + UP
        start = time.perf_counter_ns()
        update(gyro, accelerometer, DT)
        samples.append((time.perf_counter_ns() - start) * 1e-3)
        beside.take()
    return Timing.of(samples)
