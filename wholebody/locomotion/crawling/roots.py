"""Roots: with respect to which limbs the centre of mass is known (Crawl, §5.4).

Encoders say where the centre of mass is seen from a limb, and the plan where the limb is. Limbs that slip or give way
disagree, and each root weighs them otherwise: by what they are planned to bear (desired contacts), by what they are
felt to bear (sensed), by both, or one limb alone.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from wholebody.model.layout import Array

Root = Callable[[Array, Array], Array]
"""Weights of the limbs, from how far each may bear (0 to 1) and from what it is felt to bear, N."""

LEAST = 1e-3
"""N, so that some limb counts."""


def desired(load: Array, bears: Array) -> Array:
    """All limbs that are planned to bear, alike."""
    return load


def sensed(load: Array, bears: Array) -> Array:
    """All limbs, by what they bear."""
    return np.maximum(bears, LEAST)


def mixed(load: Array, bears: Array) -> Array:
    """Limbs that are planned to bear, by what they bear."""
    return np.asarray(load * np.maximum(bears, LEAST))


def first(load: Array, bears: Array) -> Array:
    """The first limb that is planned to bear: one changes to another as they lift."""
    return np.asarray(np.eye(len(load))[int(np.argmax(load >= load.max()))])


def heaviest(load: Array, bears: Array) -> Array:
    """The limb that bears most."""
    return np.asarray(np.eye(len(load))[int(np.argmax(bears))])


ROOTS: dict[str, Root] = {each.__name__: each for each in (desired, sensed, mixed, first, heaviest)}
