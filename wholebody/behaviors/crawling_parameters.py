"""What of a crawling robot can be tuned while it crawls: its gait, as parameters by path."""

from __future__ import annotations

from wholebody.behaviors.crawling import Crawling
from wholebody.parameters.reflection import Parameters


def crawling_parameters(crawling: Crawling) -> Parameters:
    """gait.forward, gait.swing, gait.pace, gait.lift …; what is set counts from the next step on."""
    parameters = Parameters()
    parameters.add_record("gait", lambda: crawling.gait, crawling.adopt)
    return parameters
