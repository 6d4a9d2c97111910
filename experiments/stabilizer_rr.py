"""Stabilizer, 3.6: the RR manipulator follows a via-point cubic by second-order inverse kinematics, Fig. 3.4–3.7.

    python -m experiments.stabilizer_rr

prints the table and writes `results/stabilizer_rr.png`. The document gives neither lengths nor points, so they are
ours: the links of HOAP-3's leg (Table D.3), its foot 10 cm forward and 3 cm up in one second, from rest to rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wholebody.kinematics import ResolvedMotion
from wholebody.model import Model, TwoLink
from wholebody.motion import Sample, Trajectory, via_cubic
from wholebody.tasks import CartesianPositionTask

RESULTS = Path(__file__).parent / "results"
LEG = TwoLink(offset=0.055, upper=0.105, lower=0.105)
START, END = (-0.05, 0.0, -0.240), (0.05, 0.0, -0.210)
STIFFNESS, DAMPING = 100.0, 20.0  # K_P and K_D of Eq. 3.19: errors die as (1 + 10t) e^(−10t)

Array = np.ndarray


@dataclass(frozen=True)
class Followed:
    """What the chain did: one row for each instant; accelerations of the tip in A."""

    reference: Sample
    q: Array
    v: Array
    v_dot: Array
    tip: Array
    by_joints: Array  # J θ̈
    by_velocities: Array  # J̇ θ̇ = θ̇ᵀ H θ̇

    @property
    def time(self) -> Array:
        """Seconds."""
        return self.reference.time

    @property
    def error(self) -> Array:
        """How far the tip is from its reference, in metres."""
        return np.linalg.norm(self.tip - self.reference.position, axis=1)

    @property
    def led_by_joints(self) -> float:
        """The share of time in which the joint accelerations contribute more than the joint velocities."""
        return float(np.mean(norm(self.by_joints) > norm(self.by_velocities)))


def norm(rows: Array) -> Array:
    """The length of each row."""
    return np.linalg.norm(rows, axis=1)


def reference(duration: float = 1.0) -> Trajectory:
    """Eq. 3.16–3.17: three cubics between two points, at rest and without acceleration at both."""
    return via_cubic([START, END], [0.0, duration])


def posture(tip_in_a: Array) -> Array:
    """The angles that put the tip there, with the knee bent as a leg's is (θ₂ > 0)."""
    x, z = tip_in_a[0], tip_in_a[2] + LEG.offset
    a, b, square = LEG.upper, LEG.lower, x * x + z * z
    bend = np.arccos((square - a * a - b * b) / (2 * a * b))
    return np.array([np.arctan2(-x, -z) - np.arctan2(b * np.sin(bend), a + b * np.cos(bend)), bend])


def follow(motion: Trajectory, start: Array, dt: float = 1e-3) -> Followed:
    """Eq. 3.19, integrated: θ̈ = J⁻¹ (ẍ_d + K_D ė + K_P e − J̇ θ̇)."""
    model = Model(LEG.robot())
    tip = CartesianPositionTask("tip", "tip", START, axes="xz", stiffness=STIFFNESS, damping=DAMPING)
    resolved = ResolvedMotion(model, [tip], regularisation=1e-12)
    wanted = motion.sample(np.arange(round(motion.duration / dt) + 1) * dt)
    q, v, rows = np.array(start), np.zeros(2), []
    for x, x_dot, x_ddot in zip(wanted.position, wanted.velocity, wanted.acceleration, strict=True):
        tip.goal, tip.goal_velocity, tip.goal_acceleration = x, x_dot, x_ddot
        v_dot = resolved.accelerations(model.at(q, v))
        parts = LEG.jacobian(q)[:3] @ v_dot, LEG.jacobian_rate(q, v)[:3] @ v
        rows.append((q, v, v_dot, LEG.placement(q)[:3, 3], *parts))
        q, v = q + dt * v + dt * dt / 2 * v_dot, v + dt * v_dot
    return Followed(wanted, *(np.array(column) for column in zip(*rows, strict=True)))


def left_of(error: float, time: float = 1.0) -> float:
    """What Eq. 3.19 leaves of an error at rest after a time: ë + K_D ė + K_P e = 0 with K_D² = 4 K_P."""
    rate = DAMPING / 2
    return error * (1 + rate * time) * np.exp(-rate * time)


def main() -> None:
    """Print the table and draw the plot."""
    motion = reference()
    on_path = follow(motion, posture(motion.at(0.0).position))
    off_path = follow(motion, posture(motion.at(0.0).position + np.array([0.01, 0.0, 0.0])))
    acceleration = norm(on_path.reference.acceleration)
    jump = np.abs(np.diff(on_path.reference.acceleration, axis=0)).max()
    unsaid = "(not in its text)"
    lines = (
        ("Fig. 3.4: acceleration at both ends", "0", f"{acceleration[[0, -1]].max():.1e} m/s²"),
        ("Fig. 3.4: its largest change in 1 ms", "continuous", f"{jump:.4f} m/s²"),
        ("Fig. 3.5: largest joint velocity", unsaid, f"{np.abs(on_path.v).max():.2f} rad/s"),
        ("Fig. 3.5: largest joint acceleration", "smooth", f"{np.abs(on_path.v_dot).max():.2f} rad/s²"),
        ("Fig. 3.6: largest acceleration of the tip", unsaid, f"{acceleration.max():.3f} m/s²"),
        ("Fig. 3.7: largest by joint accelerations", unsaid, f"{norm(on_path.by_joints).max():.3f} m/s²"),
        ("Fig. 3.7: largest by joint velocities", unsaid, f"{norm(on_path.by_velocities).max():.3f} m/s²"),
        ("Fig. 3.7: joint accelerations lead", "most of the time", f"{on_path.led_by_joints:.0%} of the time"),
        ("largest error of the tip", "", f"{1e6 * on_path.error.max():.2f} µm"),
        ("error after 1 s, from 1 cm off", "", f"{1e6 * off_path.error[-1]:.2f} µm"),
        ("    what K_P and K_D leave of it", "", f"{1e6 * left_of(0.01):.2f} µm"),
    )
    print(f"{'the RR manipulator':44s}{'document':26s}ours")
    for what, theirs, ours in lines:
        print(f"{what:44s}{theirs:26s}{ours}")
    draw(on_path)


def draw(done: Followed) -> None:
    """Fig. 3.4–3.7 in one picture."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, grid = plt.subplots(2, 3, figsize=(15, 7.5), sharex=True, layout="constrained")
    (position, acceleration, angle), (rate, total, parts) = grid
    for axis, name in ((0, "x"), (2, "z")):
        position.plot(done.time, done.reference.position[:, axis], label=f"{name} reference")
        position.plot(done.time, done.tip[:, axis], "k:", label="tip" if axis == 0 else None)
        acceleration.plot(done.time, done.reference.acceleration[:, axis], label=f"{name}")
    position.set(title="Fig. 3.4: reference trajectory (in A)", ylabel="position [m]")
    acceleration.set(title="Fig. 3.4: its acceleration (three cubics)", ylabel="acceleration [m/s²]")
    for joint, (name, colour) in enumerate((("θ₁", "C0"), ("θ₂", "C1"))):
        angle.plot(done.time, done.q[:, joint], colour, label=name)
        rate.plot(done.time, done.v[:, joint], colour, label=f"velocity of {name} [rad/s]")
        rate.plot(done.time, done.v_dot[:, joint], colour, linestyle="--", label=f"acceleration of {name} [rad/s²]")
    angle.set(title="Fig. 3.5: joint trajectories", ylabel="angle [rad]")
    rate.set(title="Fig. 3.5: joint velocities and accelerations", ylabel="[rad/s], [rad/s²]")
    total.plot(done.time, norm(done.by_joints + done.by_velocities), label="‖J θ̈ + J̇ θ̇‖")
    total.plot(done.time, norm(done.reference.acceleration), "k:", label="‖reference‖")
    total.set(title="Fig. 3.6: norm of the tip's acceleration", ylabel="acceleration [m/s²]")
    parts.plot(done.time, norm(done.by_joints), label="joint accelerations, ‖J θ̈‖")
    parts.plot(done.time, norm(done.by_velocities), label="joint velocities, ‖θ̇ᵀ H θ̇‖")
    parts.set(title="Fig. 3.7: the two contributions", ylabel="acceleration [m/s²]")
    for axes in grid.flat:
        axes.grid(alpha=0.3)
        axes.margins(x=0)
        low, high = axes.get_ylim()
        axes.set_ylim(low, high + 0.28 * (high - low))  # room for the legend
        axes.legend(fontsize=8, loc="upper left", ncols=2)
    for axes in grid[1]:
        axes.set_xlabel("time [s]")
    RESULTS.mkdir(exist_ok=True)
    figure.savefig(RESULTS / "stabilizer_rr.png", dpi=100)
    plt.close(figure)


if __name__ == "__main__":
    main()
