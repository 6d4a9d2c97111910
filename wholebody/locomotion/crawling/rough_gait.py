"""rough_gait_of: how a robot crawls over ground that is not level.

Slowly: the centre of mass is well inside of what bears before a limb lifts, and all but rests while it swings; short
steps, lifted high, so that limbs find places beside edges and clear them; knees swing outward, so that hips roll less.
"""

from __future__ import annotations

from wholebody.locomotion.crawling.gait import CrawlGait, crawl_gait_of
from wholebody.model.model import Model
from wholebody.motion.captured_gait import CRAWLING
from wholebody.motion.imitating_limbs import limbs_of

TIMES = {"swing": 1.2, "hand_swing": 0.9, "briefest": 0.3, "brisk": 0.9}
"""s, and a share of them."""
SIZES = {
    "lift": 0.09, "outward": 0.265, "margin": 0.13, "lean": 0.093, "careful_lean": 0.16, "sway": 0.08,
    "careful_sway": 0.08, "forward": 0.8, "backward": 0.95, "toes": 0.055, "climb": 0.36,
}  # fmt: skip
"""In lengths of a thigh."""


def rough_gait_of(model: Model, **changes: float) -> CrawlGait:
    """A gait for rough ground that suits a robot's size."""
    knee = next(limb for limb in limbs_of(model, CRAWLING) if limb.part.endswith("knee"))
    sizes = {name: share * knee.length for name, share in SIZES.items()}
    return crawl_gait_of(model, **(TIMES | sizes | changes))
