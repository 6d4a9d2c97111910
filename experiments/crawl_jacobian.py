"""Crawl, Tables 4.4 and 4.7, Fig. 4.13 and 4.24: how far x ← x + J Δq drifts at each loop rate, limbs and CoM.

    python -m experiments.crawl_jacobian

prints the tables beside the document's figures, and writes `results/crawl_jacobian.png`. Algorithm 3 over our cycle of
13 poses, one second for each, without a simulator: its errors have no floor of sensing and timing, and fall with the
rate all the way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.crawl_atlas import RESULTS, Array, Atlas

# By loop rate in Hz: mean error, final error, task error rate, joint error rate.
TABLE_4_4 = {
    1: (0.2626, 0.3222, 0.1878, 0.1780),
    5: (0.0623, 0.0791, 0.0451, 0.0350),
    10: (0.0371, 0.0476, 0.0261, 0.0172),
    50: (0.0191, 0.0250, 0.0126, 0.0043),
    100: (0.0154, 0.0206, 0.0101, 0.0021),
}
# Mean error, greatest error, error rate.
TABLE_4_7 = {
    1: (0.0648, 0.0836, 0.1298),
    10: (0.0091, 0.0111, 0.0171),
    50: (0.0048, 0.0062, 0.0090),
    100: (0.0037, 0.0052, 0.0075),
}


@dataclass(frozen=True)
class Drift:
    """The error along the cycle, one row for each sample, and what moved meanwhile; means over the limbs."""

    times: Array
    errors: Array
    travelled: float  # m, of a limb or the centre of mass
    turned: float  # rad: Σ |Δq|

    @property
    def mean(self) -> float:
        """Over time, m."""
        return float(self.errors.mean())

    @property
    def final(self) -> float:
        """Over the last 20 samples, m."""
        return float(self.errors[-20:].mean())

    @property
    def greatest(self) -> float:
        """m."""
        return float(self.errors.max())


def cycle(atlas: Atlas) -> list[Array]:
    """The joints at each of the 13 poses."""
    solver = atlas.solver()
    q, knots = atlas.whole(atlas.stance), []
    for pose in atlas.poses():
        q = atlas.reached(solver, q, pose)
        knots.append(q[7:])
    return knots


def drift(atlas: Atlas, knots: list[Array], rate: int, of_com: bool) -> Drift:
    """Algorithm 3 along the whole cycle, one second from pose to pose."""
    look = atlas.com if of_com else atlas.look
    before = knots[0]
    place, J = look(before)
    x, errors, travelled, turned = place.copy(), [], 0.0, 0.0
    for sample in range(1, (len(knots) - 1) * rate + 1):
        index, share = divmod(sample / rate, 1.0)
        a, b = knots[int(index)], knots[min(int(index) + 1, len(knots) - 1)]
        joints = a + (b - a) * 0.5 * (1 - np.cos(np.pi * share))
        x = x + (J @ (joints - before)).reshape(-1, 3)
        there, J = look(joints)
        errors.append(np.linalg.norm(x - there, axis=1).mean())
        travelled += float(np.linalg.norm(there - place, axis=1).mean())
        turned += float(np.linalg.norm(joints - before))
        before, place = joints, there
    return Drift(np.arange(1, len(errors) + 1) / rate, np.array(errors), travelled, turned)


def main() -> None:
    """Print both tables and draw the plot."""
    atlas = Atlas.make()
    knots = cycle(atlas)
    print(atlas.what)
    limbs = {rate: drift(atlas, knots, rate, False) for rate in TABLE_4_4}
    com = {rate: drift(atlas, knots, rate, True) for rate in TABLE_4_7}
    print("\nTable 4.4, limbs        ours                                   document")
    print(" rate/Hz   mean/m  final/m  per m  m per rad      mean/m  final/m  per m  m per rad")
    for rate, (mean, final, task, joint) in TABLE_4_4.items():
        d = limbs[rate]
        ours = f"{d.mean:9.4f} {d.final:8.4f} {d.final / d.travelled:6.4f} {d.final / d.turned:10.4f}"
        print(f"{rate:8d} {ours} {mean:11.4f} {final:8.4f} {task:6.4f} {joint:10.4f}")
    print("\nTable 4.7, CoM          ours                        document")
    print(" rate/Hz   mean/m    max/m  per m      mean/m    max/m  per m")
    for rate, (mean, greatest, error_rate) in TABLE_4_7.items():
        d = com[rate]
        ours = f"{d.mean:9.4f} {d.greatest:8.4f} {d.final / d.travelled:6.4f}"
        print(f"{rate:8d} {ours} {mean:11.4f} {greatest:8.4f} {error_rate:6.4f}")
    draw(limbs, com)


def draw(limbs: dict[int, Drift], com: dict[int, Drift]) -> None:
    """Error against loop rate, and along the cycle at the least and the greatest."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(10, 7), layout="constrained")
    rows = (
        (axes[0], limbs, TABLE_4_4, "Table 4.4: limbs", "Fig. 4.13"),
        (axes[1], com, TABLE_4_7, "Table 4.7: CoM", "Fig. 4.24"),
    )
    for (left, right), ours, theirs, table, curves in rows:
        left.loglog(list(ours), [1e3 * each.mean for each in ours.values()], "o-", label="ours")
        left.loglog(list(theirs), [1e3 * row[0] for row in theirs.values()], "s:", color="k", label="document")
        left.set(title=f"{table}, mean error", xlabel="loop rate [Hz]", ylabel="mm")
        for rate in (min(ours), max(ours)):
            right.semilogy(ours[rate].times, 1e3 * ours[rate].errors, label=f"{rate} Hz")
        right.set(title=f"{curves}: error along the cycle", xlabel="time [s]", ylabel="mm", ylim=(1e-2, None))
        for each in (left, right):
            each.legend()
            each.grid(alpha=0.3)
    RESULTS.mkdir(exist_ok=True)
    figure.savefig(RESULTS / "crawl_jacobian.png", dpi=110)


if __name__ == "__main__":
    main()
