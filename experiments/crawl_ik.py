"""Crawl, Fig. 4.14–4.20: how inverse kinematics behaves with regularisation, weighting and a home posture, on Atlas.

    python -m experiments.crawl_ik

prints the tables beside what the document says, and writes `results/crawl_ik.png`. Its figures are not in its text:
only what it says of them stands here. For the poses see `crawl_atlas`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from experiments.crawl_atlas import LIMBS, RESULTS, Array, Atlas
from wholebody.kinematics.inverse_rates import pseudo_inverse

LEVELS = (0.0, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)  # of C⁻¹
CYCLE_LEVELS = (1e-3, 5e-3, 1e-2)
WAYS = tuple(product((False, True), (False, True)))  # home, mass
DOCUMENT_MM = 70.0  # Fig. 4.20: "on the order of 7 cm"; its axis goes from 20 to 110 mm


@dataclass(frozen=True)
class Shot:
    """What one step of Eq. 4.9 asks for and gets: errors of the limbs in m, joint steps in rad."""

    errors: Array
    steps: Array


@dataclass(frozen=True)
class Travelled:
    """One cycle, pose to pose: the way of the centre of mass in m, and of each joint in rad."""

    com: float
    joints: Array


def label(home: bool, mass: bool) -> str:
    """The condition in words."""
    return ", ".join(word for word, there in (("home", home), ("mass", mass)) if there) or "plain"


def one_shot(atlas: Atlas, start: Array, regularisation: float, home: bool, mass: bool) -> Shot:
    """Eq. 4.9 once, from a start to the stance."""
    there, _ = atlas.look(atlas.stance)
    here, J = atlas.look(start)
    inverse = pseudo_inverse(J, max(regularisation, 1e-15), atlas.inverse_mass if mass else None)
    step = inverse @ (there - here).ravel()
    if home:
        undamped = pseudo_inverse(J, 0.0, atlas.inverse_mass if mass else None)
        wish = atlas.stance - start
        step += wish - undamped @ (J @ wish)
    reached, _ = atlas.look(start + step)
    return Shot(np.linalg.norm(reached - there, axis=1), np.abs(step))


def travelled(atlas: Atlas, home: bool, mass: bool, regularisation: float) -> Travelled:
    """One cycle by our solver; with the home posture, from where it stands at the first pose."""
    solver = atlas.solver(home, mass, regularisation)
    q = atlas.reached(solver, atlas.whole(atlas.stance), atlas.poses()[0])
    way, turned = 0.0, np.zeros(len(q) - 7)
    for pose in atlas.poses():
        after = atlas.reached(solver, q, pose)
        way += float(np.linalg.norm(atlas.com(after[7:])[0] - atlas.com(q[7:])[0]))
        turned += np.abs(after - q)[7:]
        q = after
    return Travelled(way, turned)


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
    solver = atlas.solver(home=True, mass=True)
    ways = {
        "Algorithm 2 as printed": lambda joints, pose: algorithm_2(atlas, joints, pose, True),
        "Algorithm 2 corrected": lambda joints, pose: algorithm_2(atlas, joints, pose, False),
        "wholebody": lambda joints, pose: atlas.reached(solver, atlas.whole(joints), pose)[7:],
    }
    errors = {}
    for name, way in ways.items():
        joints, rows = atlas.crucified, []
        for pose in atlas.poses():
            joints = way(joints, pose)
            rows.append(np.linalg.norm(atlas.look(joints)[0] - pose, axis=1))
        errors[name] = np.array(rows)
    return errors


def starts(atlas: Atlas) -> dict[str, Array]:
    """The two starts of the document: arms and legs stretched out, and near to the stance."""
    near = atlas.stance + np.random.default_rng(0).uniform(-0.2, 0.2, len(atlas.stance))
    return {"crucified": atlas.crucified, "near": near}


def main() -> None:
    """Print all tables and draw the plot."""
    atlas = Atlas.make()
    print(atlas.what)
    shots = {
        (name, home, mass, level): one_shot(atlas, start, level, home, mass)
        for (name, start), (home, mass), level in product(starts(atlas).items(), WAYS, LEVELS)
    }
    print(
        "\nFig. 4.14–4.17: one step of Eq. 4.9 to the stance\n"
        "Document: unstable without regularisation; least error at 1e-3, beyond it grows; a home posture hardly\n"
        "changes the steps; home and mass together lower the error\n"
        "start      way             C⁻¹   error/m  (least … most)     step/rad   (most)"
    )
    for (name, home, mass, level), shot in shots.items():
        error = f"{shot.errors.mean():9.4f}  ({shot.errors.min():.4f} … {shot.errors.max():.4f})"
        print(
            f"{name:10s} {label(home, mass):11s} {level:8.0e} {error} {shot.steps.mean():9.3f} {shot.steps.max():9.3g}"
        )

    ways = {
        (home, mass, level): travelled(atlas, home, mass, level) for (home, mass), level in product(WAYS, CYCLE_LEVELS)
    }
    print(
        "\nFig. 4.18–4.19: one cycle\n"
        "Document: the CoM moves markedly less with mass weighting; the joints hardly differ\n"
        "way             C⁻¹   CoM/m   joints/rad  (least … most)"
    )
    for (home, mass, level), way in ways.items():
        joints = f"{way.joints.mean():9.3f}  ({way.joints.min():.3f} … {way.joints.max():.3f})"
        print(f"{label(home, mass):11s} {level:8.0e} {way.com:7.3f} {joints}")

    errors = thirteen_poses(atlas)
    print("\nFig. 4.20: the 13 poses, mean error ± deviation in mm. Document: about 70\n" + 22 * " " + "".join(
        f"{limb:>18s}" for limb in LIMBS) + "   worst")  # fmt: skip
    for name, table in errors.items():
        means = "".join(f"{1e3 * m:10.3f} ±{1e3 * s:6.2f}" for m, s in zip(table.mean(0), table.std(0), strict=True))
        print(f"{name:24s}{means} {1e3 * table.max():8.3f}")
    draw(shots, ways, errors)


def draw(
    shots: dict[tuple[str, bool, bool, float], Shot],
    ways: dict[tuple[bool, bool, float], Travelled],
    errors: dict[str, Array],
) -> None:
    """All figures in one picture."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 3, figsize=(15, 8.5), layout="constrained")
    shown = [level for level in LEVELS if level > 0]
    for name, line in (("crucified", "-"), ("near", "--")):
        for (home, mass), colour in zip(WAYS, ("C0", "C1", "C2", "C3"), strict=True):
            these = [shots[name, home, mass, level] for level in shown]
            how = {"color": colour, "linestyle": line, "label": f"{name}: {label(home, mass)}"}
            axes[0, 0].loglog(shown, [shot.errors.mean() for shot in these], **how)
            axes[0, 1].loglog(shown, [shot.steps.max() for shot in these], **how)
    axes[0, 0].axvline(1e-3, color="k", linestyle=":", linewidth=1, label="document: least error")
    axes[0, 0].set(title="Fig. 4.14, 4.17: error after one step", xlabel="C⁻¹", ylabel="mean of the limbs [m]")
    axes[0, 1].set(title="Fig. 4.15, 4.16: joint step asked for", xlabel="C⁻¹", ylabel="largest [rad]")
    axes[0, 2].axis("off")
    axes[0, 2].legend(*axes[0, 0].get_legend_handles_labels(), loc="center", title="start: way")
    places = np.arange(len(WAYS))
    for index, level in enumerate(CYCLE_LEVELS):
        these = [ways[home, mass, level] for home, mass in WAYS]
        mean = np.array([way.joints.mean() for way in these])
        ends = [mean - [way.joints.min() for way in these], np.array([way.joints.max() for way in these]) - mean]
        where = places + 0.27 * (index - 1)
        axes[1, 0].bar(where, [way.com for way in these], 0.25, label=f"C⁻¹ = {level:g}")
        axes[1, 1].bar(where, mean, 0.25, yerr=ends, capsize=2)
    for each, title, unit in (
        (axes[1, 0], "Fig. 4.18: way of the CoM in a cycle", "m"),
        (axes[1, 1], "Fig. 4.19: way of the joints (least to most)", "rad"),
    ):
        each.set(title=title, ylabel=unit, xticks=places, xticklabels=[label(*way) for way in WAYS])
    axes[1, 0].legend(ncols=3, loc="upper center")
    axes[1, 0].set_ylim(0.0, 1.2 * max(way.com for way in ways.values()))
    for index, (name, table) in enumerate(errors.items()):
        means = np.maximum(1e3 * table.mean(axis=0), 2e-4)  # so that a bar is seen
        axes[1, 2].bar(np.arange(4) + 0.27 * (index - 1), means, 0.25, label=name)
    axes[1, 2].axhline(DOCUMENT_MM, color="k", linestyle=":", label="document")
    axes[1, 2].axhline(1.0, color="C2", linestyle=":", linewidth=1, label="1 mm")
    axes[1, 2].set(title="Fig. 4.20: the 13 poses, mean error", ylabel="mm", yscale="log", ylim=(1e-4, 3e4))
    axes[1, 2].set_xticks(np.arange(4), [limb.replace("_", "\n") for limb in LIMBS])
    axes[1, 2].legend(fontsize=8, ncols=2, loc="upper center")
    for each in axes.flat:
        each.grid(alpha=0.3)
    RESULTS.mkdir(exist_ok=True)
    figure.savefig(RESULTS / "crawl_ik.png", dpi=110)


if __name__ == "__main__":
    main()
