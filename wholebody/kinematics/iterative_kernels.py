"""The whole iteration in one kernel: down the error by damped least squares, restarts, then home in the null space."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from wholebody.kinematics.iterative_rows import (
    Problem,
    fill_rows,
    keep_within,
    look,
    measure,
    move,
    reached,
    reached_one,
)
from wholebody.kinematics.iterative_steps import boxed_step, foretold, keep_local, transposed_step
from wholebody.model.compiled import compiled
from wholebody.model.layout import Array, Integers, Tree, Values, tree, values

CONVERGED, STALLED, OUT_OF_ITERATIONS = 0, 1, 2
"""How an iteration can end."""

DAMPING_FLOOR, DAMPING_CEILING = 1e-10, 1e8
TIGHT = 1e-6
"""The share by which the error must fall for the last descent to go on; those before a restart give up earlier."""

WEAKEST = 1e-3
"""The least strength of damping, as a factor on the regularisation."""

CORRECTIONS = 4
"""Steps that bring the goals back after one towards home, before it is given up."""


class Settings(NamedTuple):
    """How to iterate."""

    regularisation: float
    locality: float
    stall: float
    patience: int
    iterations: int
    transpose: bool
    homing: int


class Work(NamedTuple):
    """Memory of one solve."""

    q: Array  # the best configuration of this descent
    gap: Array  # goals × 6, there
    error: Array  # m, there
    J: Array  # variables × m, there
    trial_gap: Array
    trial_error: Array
    A: Array  # m × m
    y: Array  # m
    step: Array
    wish: Array
    lower: Array
    upper: Array
    stopped: Integers
    velocity: Array
    history: Array  # iterates × (nq + 1): q and Σ weight · gap² of each; as many as fit


@compiled
def solve(
    problem: Problem, settings: Settings, storage: Array, q: Array, gaps: Array, seeds: Array, history: Array
) -> tuple[int, int, int, int]:
    """From q to the best configuration, in place: how it ended, iterations, restarts, and iterates in the history."""
    fixed, now = tree(problem.integers, problem.numbers), values(problem.integers, storage)
    work = _memory(problem, history)
    keep_within(problem, q)
    now.v[:] = 0.0
    ending, cost, count, used, written = STALLED, math.inf, 0, 0, 0
    for attempt in range(len(seeds) + 2):
        last = len(seeds) == 0 or attempt > len(seeds)
        work.q[:] = q
        if 0 < attempt <= len(seeds):
            used = attempt
            _restart(problem, gaps, seeds[attempt - 1], attempt, work)
        stall = TIGHT if last else settings.stall
        how, there, more, written = _descend(problem, settings, fixed, now, storage, work, stall, written)
        count += more
        if how == CONVERGED or there <= cost:
            ending, cost = how, there
            q[:] = work.q
            gaps[:] = work.gap
        if last or ending == CONVERGED:
            break
    work.q[:] = q
    if settings.homing > 0:
        more, written = _go_home(problem, settings, fixed, now, storage, work, cost, written)
        count += more
    q[:] = work.q
    gaps[:] = work.gap
    return ending, count, used, written


@compiled
def _memory(problem: Problem, history: Array) -> Work:
    n, m, goals = len(problem.place), len(problem.scale), len(problem.frame)
    nv = len(problem.variable)
    return Work(
        q=np.empty(problem.integers[3]),
        gap=np.zeros((goals, 6)),
        error=np.empty(m),
        J=np.empty((n, m)),
        trial_gap=np.zeros((goals, 6)),
        trial_error=np.empty(m),
        A=np.empty((m, m)),
        y=np.empty(m),
        step=np.zeros(n),
        wish=np.zeros(n),
        lower=np.empty(n),
        upper=np.empty(n),
        stopped=np.zeros(n, np.int64),
        velocity=np.empty(nv),
        history=history,
    )


@compiled
def _descend(
    problem: Problem,
    settings: Settings,
    fixed: Tree,
    now: Values,
    storage: Array,
    work: Work,
    stall: float,
    written: int,
) -> tuple[int, float, int, int]:
    """Go down the error from work.q, never up: the ending, the error there, iterations, iterates in the history.

    Steps are those of Eq. 4.10 with a damping λ that goes to zero with the squared error, so that the last steps are
    Newton's, and grows after each step that would raise the error. It stalls when the root of the error falls by less
    than the share `stall` for as many iterations in a row as there is patience, or when no step lowers it any more.
    """
    now.q[:] = work.q
    look(problem, fixed, now, storage)
    cost = measure(problem, now, work.gap, work.error)
    work.q[:] = now.q
    written = _record(work, cost, written)
    strength, tired, count = 1.0, 0, 0
    work.wish[:] = 0.0
    while True:
        if reached(problem, work.gap):
            return CONVERGED, cost, count, written
        if tired >= settings.patience:
            return STALLED, cost, count, written
        fill_rows(problem, fixed, now, work.J)
        _room(problem, work)
        while True:
            if count >= settings.iterations:
                return OUT_OF_ITERATIONS, cost, count, written
            count += 1
            damping = settings.regularisation * strength * min(cost, 1.0) + DAMPING_FLOOR
            if settings.transpose:
                transposed_step(work.J, work.error, problem.mobility, 0.0, work.lower, work.upper, work.y, work.step)
                for z in range(len(work.step)):
                    work.step[z] /= max(strength, 1.0)
            else:
                boxed_step(
                    work.J, work.error, problem.mobility, work.wish, damping, work.lower, work.upper, work.stopped,
                    work.A, work.y, work.step,
                )  # fmt: skip
            moved = keep_local(work.step, settings.locality)
            promised = cost - foretold(work.J, work.error, work.step, work.y)
            there = _try(problem, fixed, now, storage, work)
            if there < cost:
                break
            strength *= 4.0
            if strength > DAMPING_CEILING or moved < 1e-12:
                return STALLED, cost, count, written
        tired = tired + 1 if math.sqrt(there) > (1.0 - stall) * math.sqrt(cost) else 0
        kept = (cost - there) / promised if promised > 0.0 else 0.0
        if kept > 0.75:
            strength = max(0.2 * strength, WEAKEST)
        elif kept < 0.25:
            strength *= 2.0
        cost = _accept(now, work, there)
        written = _record(work, cost, written)


@compiled
def _room(problem: Problem, work: Work) -> None:
    """How far each variable may still go."""
    for z in range(len(problem.place)):
        place = problem.place[z]
        work.lower[z] = problem.lower[z] - work.q[place] if place >= 0 else -math.inf
        work.upper[z] = problem.upper[z] - work.q[place] if place >= 0 else math.inf


@compiled
def _try(problem: Problem, fixed: Tree, now: Values, storage: Array, work: Work) -> float:
    """Look at work.q ⊕ step: the error there."""
    move(problem, work.q, work.step, work.velocity, now.q)
    look(problem, fixed, now, storage)
    return measure(problem, now, work.trial_gap, work.trial_error)


@compiled
def _accept(now: Values, work: Work, cost: float) -> float:
    work.q[:] = now.q
    work.gap[:] = work.trial_gap
    work.error[:] = work.trial_error
    return cost


@compiled
def _record(work: Work, cost: float, written: int) -> int:
    if written < len(work.history):
        nq = len(work.q)
        work.history[written, :nq] = work.q
        work.history[written, nq] = cost
        return written + 1
    return written


@compiled
def _restart(problem: Problem, gaps: Array, seed: Array, number: int, work: Work) -> None:
    """Start anew from the best so far, in work.q, at random in the variables that move a goal not reached yet.

    Every fourth time all variables are thrown. work.J is of the end of the last descent: good enough to tell which
    variables move which goal.
    """
    for z in range(len(problem.place)):
        place = problem.place[z]
        if place < 0:
            continue
        throw = number % 4 == 0
        for k in range(len(problem.scale)):
            if work.J[z, k] != 0.0 and not reached_one(problem, gaps, problem.row[k, 0]):
                throw = True
        if throw:
            work.q[place] = seed[z]
    keep_within(problem, work.q)


@compiled
def _go_home(
    problem: Problem,
    settings: Settings,
    fixed: Tree,
    now: Values,
    storage: Array,
    work: Work,
    cost: float,
    written: int,
) -> tuple[int, int]:
    """Nearer to the home posture in what the goals leave free; they stay within tolerance, or where they were.

    Each step is the wish for home seen through the undamped projector, then corrections that bring the goals back.
    """
    allowed = cost
    tiny = (
        1e-4 * min(np.min(problem.tolerance[:, 0]), np.min(problem.tolerance[:, 1])) ** 2 * np.min(problem.scale) ** 2
    )
    allowed = max(allowed, tiny)
    before = np.empty_like(work.q)
    away, share, count = _away(problem, work.q), 1.0, 0
    for _ in range(settings.homing):
        before[:] = work.q
        now.q[:] = work.q
        look(problem, fixed, now, storage)
        cost = measure(problem, now, work.gap, work.error)
        for z in range(len(problem.place)):
            place = problem.place[z]
            work.wish[z] = share * (problem.home[z] - work.q[place]) if place >= 0 else 0.0
        keep_local(work.wish, share * settings.locality)
        for correction in range(CORRECTIONS + 1):
            if correction > 0:
                work.wish[:] = 0.0
                if cost <= allowed:
                    break
            fill_rows(problem, fixed, now, work.J)
            _room(problem, work)
            boxed_step(
                work.J, work.error, problem.mobility, work.wish, DAMPING_FLOOR, work.lower, work.upper, work.stopped,
                work.A, work.y, work.step,
            )  # fmt: skip
            keep_local(work.step, settings.locality)
            count += 1
            cost = _accept(now, work, _try(problem, fixed, now, storage, work))
        nearer = _away(problem, work.q)
        if cost <= allowed and nearer < away:
            done = away - nearer < 1e-6 * away
            away, share = nearer, min(1.0, 2.0 * share)
            written = _record(work, cost, written)
            if done or away < 1e-16:
                break
        else:
            work.q[:] = before
            share *= 0.5
            if share < 1e-3:
                break
    now.q[:] = work.q
    look(problem, fixed, now, storage)
    measure(problem, now, work.gap, work.error)
    return count, written


@compiled
def _away(problem: Problem, q: Array) -> float:
    """How far from home: Σ W (q* − q)²."""
    total = 0.0
    for z in range(len(problem.place)):
        if problem.place[z] >= 0:
            distance = problem.home[z] - q[problem.place[z]]
            total += distance * distance / problem.mobility[z]
    return total
