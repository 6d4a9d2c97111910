"""Tuning: what of a controller can be changed while it runs: tolerances, and which limits hold for which joints.

    tune(parameters, "controller", WBOSC(model))

controller.task_tolerance                  and other numbers, by name, that kernels read in every cycle
controller.contact_damping                 1/s, and contact_stiffness, 1/s²: of the feedback on constraints
controller.max_effort                      N·m, of each joint; never above what the robot's description permits
controller.enforce_effort_limits           1 for each joint whose commands are cut, 0 for one that is only warned of;
          .enforce_position_limits         likewise (Table B.1 of ControlIt!)
          .enforce_velocity_limits
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from wholebody.control.contact_limits import PARAMETERS
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.parameters.parameter import Bounds, Parameter, checked
from wholebody.parameters.reflection import About, Parameters, Slot

TOLERANCE = Parameter("tolerance", "1", Bounds(1e-15, 0.999), None)
SWITCH = Parameter("switch", "1", Bounds(0, 1), -1, whole=True)
EFFORT = Parameter("effort", "N·m", Bounds(0, np.inf), -1)
POSITION_ROWS, VELOCITY_ROW, EFFORT_ROW = (0, 1), 2, 3
ROWS = {"effort": EFFORT_ROW, "position": POSITION_ROWS[0], "velocity": VELOCITY_ROW}


@dataclass(frozen=True)
class Settings:
    """What the kernels of a controller read in every cycle.

    enforced    lower, upper, velocity and effort limits of each joint, 4 × joints; ±∞ where they do not hold
    own         the same limits as they are, whether they hold or not: commands beyond them are warned of
    tolerances  by name, each where it stands
    flags       whether limits of effort, position and velocity hold at all, if kernels ask
    contact_gains  damping and stiffness of the feedback on constraints
    """

    enforced: Array
    own: Array
    tolerances: dict[str, Array]
    flags: Array
    contact_gains: Array


@runtime_checkable
class Tunable(Protocol):
    """A controller that says where its settings are."""

    model: Model

    @property
    def settings(self) -> Settings:
        """Where they are."""


def tune(parameters: Parameters, path: str, controller: Any) -> None:
    """Add what can be changed of a controller, and of the one inside it, if it is one around another."""
    parameters.add_attributes(path, controller)
    inside = getattr(controller, "controller", None)
    if inside is not None:
        tune(parameters, path, inside)
    if isinstance(controller, Tunable):
        _tune(parameters, path, controller)


def _tune(parameters: Parameters, path: str, controller: Tunable) -> None:
    settings = controller.settings
    for name, place in settings.tolerances.items():
        parameters.add_slot(_slot(f"{path}.{name}", replace(TOLERANCE, name=name), place, "below which it is singular"))
    for index, (name, parameter) in enumerate(PARAMETERS.items()):
        place = settings.contact_gains[index : index + 1]
        parameters.add_slot(_slot(f"{path}.{name}", parameter, place, "of the feedback on constraints"))
    switches = {name: _are_enforced(settings, index, row) for index, (name, row) in enumerate(ROWS.items())}

    def apply() -> None:
        """Let those limits hold that are switched on."""
        enforced, own = settings.enforced, settings.own
        enforced[EFFORT_ROW] = np.where(switches["effort"], own[EFFORT_ROW], np.inf)
        enforced[VELOCITY_ROW] = np.where(switches["velocity"], own[VELOCITY_ROW], np.inf)
        for row, free in zip(POSITION_ROWS, (-np.inf, np.inf), strict=True):
            enforced[row] = np.where(switches["position"], own[row], free)
        settings.flags[:] = 1.0

    apply()
    for name, switch in switches.items():
        meaning = f"1 for each joint whose {name} is cut at its limit, 0 where there is a warning alone"
        parameters.add_slot(_slot(f"{path}.enforce_{name}_limits", SWITCH, switch, meaning, apply))
    strongest = settings.own[EFFORT_ROW].copy()

    def weaken() -> None:
        np.minimum(settings.own[EFFORT_ROW], strongest, out=settings.own[EFFORT_ROW])
        apply()

    meaning = "the most that each joint is commanded; never above what the robot can"
    parameters.add_slot(_slot(f"{path}.max_effort", EFFORT, settings.own[EFFORT_ROW], meaning, weaken))


def _are_enforced(settings: Settings, index: int, row: int) -> Array:
    """1 for each joint whose limits of a row hold."""
    if len(settings.flags) and not settings.flags[index]:
        return np.zeros(len(settings.own[row]))
    hold: Array = np.where(np.isfinite(settings.enforced[row]) | ~np.isfinite(settings.own[row]), 1.0, 0.0)
    return hold


def _slot(path: str, parameter: Parameter, array: Array, meaning: str, after: Callable[[], None] | None = None) -> Slot:
    vector = parameter.size is not None
    kind = "vector" if vector else "number"
    bounds = parameter.bounds
    saved = bool(np.isfinite(array).all())  # a file has no number for what has no limit
    about = About(path, kind, parameter.unit, len(array), bounds.lower, bounds.upper, meaning, saved=saved)

    def assign(value: Any) -> None:
        array[:] = checked(path, parameter, value, len(array))
        if after is not None:
            after()

    return Slot(about, array, assign)
