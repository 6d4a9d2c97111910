"""What of a walking robot can be tuned while it walks: its gait and the gains of its balance, as parameters by path."""

from __future__ import annotations

from typing import Any

from wholebody.behaviors.crawling import Crawling
from wholebody.behaviors.walking import Walking
from wholebody.locomotion.walking.walker import Walker
from wholebody.parameters.reflection import Parameters


def walking_parameters(walking: Walking) -> Parameters:
    """gait.step_time, gait.limits.length, stabilizer.proportional …

    Gains count from the next cycle on, the gait from the next step that can still be planned.
    """
    parameters = Parameters()
    parameters.add_record("gait", lambda: walking.gait, walking.adopt)
    for path, gains in _gains(walking.walker).items():
        _add_in_place(parameters, path, gains)
    return parameters


def _gains(walker: Walker) -> dict[str, Any]:
    """By path; a stabilizer may have none."""
    found = {
        "stabilizer": getattr(walker.stabilizer, "gains", None),
        "swing_levelling": walker.levelling.gains,
        "ground_adaptation": walker.ground.gains,
        "sole_compliance": walker.compliance.gains,
    }
    return {path: gains for path, gains in found.items() if gains is not None}


def _add_in_place(parameters: Parameters, path: str, gains: Any) -> None:
    """Whoever holds these gains sees their change."""
    parameters.add_record(path, lambda: gains, lambda changed: vars(gains).update(vars(changed)))


def crawling_parameters(crawling: Crawling) -> Parameters:
    """gait.forward, gait.swing, gait.pace, gait.lift …; what is set counts from the next step on."""
    parameters = Parameters()
    parameters.add_record("gait", lambda: crawling.gait, crawling.adopt)
    return parameters
