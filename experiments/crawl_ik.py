"""Crawl, Chapter 4.2: how inverse kinematics behaves with regularisation, weighting and a home posture, on Atlas.

    python -m experiments.crawl_ik

prints the tables beside the document's figures, and writes `results/crawl_ik.png`. The document's poses are not in its
text, so the 13 poses are ours: one cycle of crawling from the `crawl` posture, hands 20 cm forward and thighs 0.3 rad
(a knee can only be on the sphere about its hip). Positions are of palms and knees, in the pelvis; its Atlas was lighter
(82 kg; ours 148 kg) and had other limits.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from wholebody import robots
from wholebody.kinematics.iterative import InverseKinematics
from wholebody.kinematics.iterative_goals import PointGoal
from wholebody.kinematics.iterative_rates import pseudo_inverse
from wholebody.kinematics.iterative_variables import moved_mass
from wholebody.model import Model

LIMBS = ("left_knee", "right_knee", "left_palm", "right_palm")
RESULTS = Path(__file__).parent / "results"
TABLE_4_4 = {
    1: (0.2626, 0.3222),
    5: (0.0623, 0.0791),
    10: (0.0371, 0.0476),
    50: (0.0191, 0.0250),
    100: (0.0154, 0.0206),
}
TABLE_4_7 = {1: (0.0648, 0.0836), 10: (0.0091, 0.0111), 50: (0.0048, 0.0062), 100: (0.0037, 0.0052)}

Array = np.ndarray


@dataclass(frozen=True)
class Atlas:
    """The robot, and what the tables need of it at a posture."""

    model: Model

    @property
    def stance(self) -> Array:
        """The four-point stance."""
        return self.model.posture("crawl")[7:]

    @property
    def crucified(self) -> Array:
        """Arms stretched out sideways, legs straight: far from the stance, and singular."""
        return self.model.neutral()[7:]

    @property
    def inverse_mass(self) -> Array:
        """W⁻¹ of mean 1."""
        mobility = 1 / moved_mass(self.model)[6:]
        return mobility / mobility.mean()

    def look(self, joints: Array) -> tuple[Array, Array]:
        """Positions of the limbs, 4 × 3, and their Jacobian, 12 × 28."""
        at = self.model.at(self.whole(joints))
        frames = [self.model.frame(limb) for limb in LIMBS]
        return np.array([at.position(f) for f in frames]), np.vstack([at.jacobian(f)[:3, 6:] for f in frames])

    def com(self, joints: Array) -> tuple[Array, Array]:
        """The centre of mass and its Jacobian."""
        at = self.model.at(self.whole(joints))
        return at.com_in_world.copy(), at.com_jacobian[:, 6:].copy()

    def whole(self, joints: Array) -> Array:
        """The configuration with the pelvis at the origin."""
        return np.concatenate([self.model.neutral()[:7], joints])

    def poses(self) -> list[Array]:
        """The 13 poses: the stance; then each limb lifts, lands ahead, and all push back a quarter of its step."""
        stance, _ = self.look(self.stance)
        poses, ahead = [stance], np.zeros(4)  # how far along its step each limb is
        thighs = [self.model.column(joint) - 6 for joint in ("l_leg_hpy", "r_leg_hpy")]
        for limb in (2, 1, 3, 0):
            for lift, forward, back in ((1.0, 0.5, 0.0), (0.0, 0.5, 0.0), (0.0, 0.0, 0.25)):
                ahead[limb] += forward
                ahead -= back
                joints = self.stance
                joints[thighs] -= 0.3 * ahead[:2] + 0.1 * lift * (limb == np.arange(2))
                pose, _ = self.look(joints)
                pose[2:] = stance[2:]
                pose[2:, 0] += 0.20 * ahead[2:]
                pose[2:, 2] += 0.08 * lift * (limb == np.arange(2, 4))
                poses.append(pose)
        return poses


def jacobian_accuracy(atlas: Atlas, rates: tuple[int, ...], of_com: bool) -> dict[int, tuple[float, float]]:
    """Algorithm 3: x ← x + J Δq along the whole cycle, one second per pose: mean and final error at each loop rate."""
    solver = goal_solver(atlas)
    q, knots = atlas.whole(atlas.stance), []
    for pose in atlas.poses():
        q = solver.solve(q, list(pose)).q
        knots.append(q[7:])
    look = atlas.com if of_com else atlas.look
    result = {}
    for rate in rates:
        x, errors = look(knots[0])[0].ravel(), []
        before = knots[0]
        for sample in range(1, (len(knots) - 1) * rate + 1):
            index, share = divmod(sample / rate, 1.0)
            a, b = knots[int(index)], knots[min(int(index) + 1, len(knots) - 1)]
            joints = a + (b - a) * 0.5 * (1 - np.cos(np.pi * share))
            x = x + look(before)[1] @ (joints - before)
            errors.append(np.linalg.norm((x - look(joints)[0].ravel()).reshape(-1, 3), axis=1).mean())
            before = joints
        result[rate] = (float(np.mean(errors)), float(np.mean(errors[-20:])))
    return result


def one_shot(atlas: Atlas, start: Array, regularisation: float, home: bool, mass: bool) -> tuple[float, float]:
    """Eq. 4.9 once, from a start to the stance: mean error of the limbs, and the largest joint step asked for."""
    there, _ = atlas.look(atlas.stance)
    here, J = atlas.look(start)
    inverse = pseudo_inverse(J, max(regularisation, 1e-15), atlas.inverse_mass if mass else None)
    step = inverse @ (there - here).ravel()
    if home:
        undamped = pseudo_inverse(J, 0.0, atlas.inverse_mass if mass else None)
        wish = atlas.stance - start
        step += wish - undamped @ (J @ wish)
    reached, _ = atlas.look(start + step)
    return float(np.linalg.norm(reached - there, axis=1).mean()), float(np.abs(step).max())


def goal_solver(
    atlas: Atlas, home: bool = False, mass: bool = False, regularisation: float = 1e-3
) -> InverseKinematics:
    """Ours, for the four limbs."""
    return InverseKinematics(
        atlas.model, [PointGoal(limb, np.zeros(3)) for limb in LIMBS], regularisation=regularisation,
        home="crawl" if home else None, mass_weighting=mass, restarts=0,
    )  # fmt: skip


def travelled(atlas: Atlas, home: bool, mass: bool, regularisation: float) -> tuple[float, float]:
    """The way of the centre of mass (m) and the mean way of the joints (rad) over one cycle, pose to pose."""
    solver = goal_solver(atlas, home, mass, regularisation)
    q = solver.solve(atlas.whole(atlas.stance), list(atlas.poses()[0])).q
    way, turned = 0.0, 0.0
    for pose in atlas.poses():
        after = solver.solve(q, list(pose)).q
        way += float(np.linalg.norm(atlas.com(after[7:])[0] - atlas.com(q[7:])[0]))
        turned += float(np.abs(after - q)[7:].mean())
        q = after
    return way, turned


def algorithm_2(atlas: Atlas, start: Array, pose: Array, as_printed: bool) -> Array:
    """Algorithm 2 with Table 4.5: as printed, with signed maxima and guard, or with absolute values."""
    size = (lambda values: values.max()) if as_printed else (lambda values: np.abs(values).max())
    joints, before, calm = start, np.inf, 0
    for _ in range(100):
        here, J = atlas.look(joints)
        error = (pose - here).ravel()
        step = pseudo_inverse(J, 1e-3, atlas.inverse_mass) @ error
        joints = joints + step * min(1.0, 0.4 / max(size(step), 1e-12))
        change = size(error) - before
        calm = calm + 1 if (change if as_printed else abs(change)) < 1e-3 else 0
        before = size(error)
        if before < 0.01 or calm >= 3:
            break
    return joints


def thirteen_poses(atlas: Atlas) -> dict[str, Array]:
    """The error of each limb at each pose, 13 × 4, in metres, by three ways; each starts where its last pose ended."""
    solver = goal_solver(atlas, home=True, mass=True)
    ways = {
        "Algorithm 2 as printed": lambda joints, pose: algorithm_2(atlas, joints, pose, True),
        "Algorithm 2 corrected": lambda joints, pose: algorithm_2(atlas, joints, pose, False),
        "wholebody": lambda joints, pose: solver.solve(atlas.whole(joints), list(pose)).q[7:],
    }
    errors = {}
    for name, way in ways.items():
        joints, rows = atlas.crucified, []
        for pose in atlas.poses():
            joints = way(joints, pose)
            rows.append(np.linalg.norm(atlas.look(joints)[0] - pose, axis=1))
        errors[name] = np.array(rows)
    return errors


def main() -> None:
    """Print all tables and draw the plot."""
    atlas = Atlas(Model(robots.load("atlas")))
    for title, of_com, theirs in (("Table 4.4, limbs", False, TABLE_4_4), ("Table 4.7, CoM", True, TABLE_4_7)):
        print(f"\n{title}: x ← x + J Δq over the cycle\n rate/Hz  mean/m   final/m   document: mean, final or max")
        for rate, (mean, final) in jacobian_accuracy(atlas, tuple(theirs), of_com).items():
            print(f"{rate:8d} {mean:8.4f} {final:8.4f}   {theirs[rate][0]:.4f} {theirs[rate][1]:.4f}")

    print(
        "\nFig. 4.14–4.17: one step of Eq. 4.9 to the stance\n"
        "     C⁻¹  start      home  mass  error/m  largest step/rad"
    )
    levels = (0.0, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
    shots = {}
    near = atlas.stance + np.random.default_rng(0).uniform(-0.2, 0.2, 28)
    for (name, start), home, mass, level in product(
        (("crucified", atlas.crucified), ("near", near)), (False, True), (False, True), levels
    ):
        shots[name, home, mass, level] = error, step = one_shot(atlas, start, level, home, mass)
        print(f"{level:8.0e}  {name:10s} {home!s:5s} {mass!s:5s} {error:8.4f} {step:10.3g}")

    print("\nFig. 4.18–4.19: one cycle\n     C⁻¹  home  mass  CoM/m  joints/rad")
    for home, mass, level in product((False, True), (False, True), (1e-3, 5e-3, 1e-2)):
        way, turned = travelled(atlas, home, mass, level)
        print(f"{level:8.0e}  {home!s:5s} {mass!s:5s} {way:6.3f} {turned:8.3f}")

    errors = thirteen_poses(atlas)
    print("\nFig. 4.20: the 13 poses, error in mm (document: about 70)\n" + 26 * " " + "  ".join(LIMBS) + "  worst")
    for name, table in errors.items():
        means = "".join(f"{1e3 * value:11.3f}" for value in table.mean(axis=0))
        print(f"{name:24s}{means} {1e3 * table.max():8.3f}")
    draw(shots, levels, errors)


def draw(shots: dict[tuple[str, bool, bool, float], tuple[float, float]], levels: tuple[float, ...],
         errors: dict[str, Array]) -> None:  # fmt: skip
    """Fig. 4.14–4.17 and 4.20 in one picture."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(15, 4.5))
    shown = [level for level in levels if level > 0]
    for name, home, mass in product(("crucified", "near"), (False, True), (False, True)):
        label = f"{name}{', home' if home else ''}{', mass' if mass else ''}"
        left.loglog(shown, [shots[name, home, mass, level][0] for level in shown], label=label)
        middle.loglog(shown, [shots[name, home, mass, level][1] for level in shown], label=label)
    left.set(title="Fig. 4.14, 4.17: error after one step", xlabel="C⁻¹", ylabel="m")
    middle.set(title="Fig. 4.15, 4.16: largest joint step", xlabel="C⁻¹", ylabel="rad")
    left.legend(fontsize=7)
    for index, (name, table) in enumerate(errors.items()):
        right.bar(np.arange(4) + 0.27 * index, 1e3 * table.mean(axis=0), 0.25, label=name)
    right.axhline(70, color="k", linestyle=":", label="document")
    right.set(title="Fig. 4.20: the 13 poses", ylabel="mm", yscale="log", xticks=np.arange(4) + 0.27)
    right.set_xticklabels(LIMBS, fontsize=8)
    right.legend(fontsize=7)
    RESULTS.mkdir(exist_ok=True)
    figure.tight_layout()
    figure.savefig(RESULTS / "crawl_ik.png", dpi=110)


if __name__ == "__main__":
    main()
