"""ControlIt!, Table 2 and Fig. 14–15: Dreamer's hands follow trajectories by efforts at 1 kHz, and how well they do.

    python -m experiments.controlit_dreamer

prints the statistics beside the document's, and writes `results/controlit_dreamer.png`. The document's product
disassembly is not in its text: here both hands go round ellipses, with their orientation kept and the posture below.
Errors are the true ones, from the simulator; the document's are those that its controller saw.

nominal     the model is the robot
disturbed   7 ms of latency, masses 5 % off, and dry friction of 2 % of each motor's greatest effort
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from wholebody import robots
from wholebody.constraints import Coactuation
from wholebody.control import WBOSC, Problem, Servo
from wholebody.model import Model
from wholebody.robots.robot import Robot
from wholebody.simulation import SensorModel, Simulation
from wholebody.tasks import CartesianPositionTask, JointPositionTask, Orientation3DTask

RESULTS = Path(__file__).parent / "results"
SIDES = ("right", "left")
TABLE_2 = {"right hand": (27.9, 3.72), "left hand": (19.1, 4.86)}  # mm, degrees
LABELS = ("position error, mm", "orientation error, °", "errors", "cycle, µs (95 % of them)")
MIRRORED = {"right": np.array([1.0, -1.0, 1.0]), "left": np.ones(3)}
COUPLING = Coactuation("torso", "torso_lower_pitch", ["torso_upper_pitch"])

Array = np.ndarray


@dataclass(frozen=True)
class Gains:
    """Stiffness of hands and posture, and damping; without one, tasks are critically damped."""

    position: float
    orientation: float
    posture: float
    damping: float | None = None


GAINS = {
    "critical": Gains(400.0, 400.0, 100.0),
    "table E.2": Gains(64.0, 60.0, 60.0, 3.0),
}


def dreamer(mass: float = 1.0, friction: float = 0.0) -> Robot:
    """Dreamer with all its masses times a factor, and dry friction as a share of its motors' greatest effort.

    The wrist's shapes touch at 14° of its 59°, which the robot's do not: that is no collision here.
    """
    robot = robots.load("dreamer")
    wrists = {frozenset({f"{side}_wrist_yaw_link", f"{side}_wrist_rotator_link"}) for side in SIDES}
    links = tuple(
        replace(link, mass=mass * link.mass, inertia=tuple(mass * each for each in link.inertia))
        for link in robot.links
    )
    joints = tuple(
        replace(joint, friction=friction * joint.effort) if joint.kind != "fixed" and joint.actuated else joint
        for joint in robot.joints
    )
    return replace(robot, links=links, joints=joints, may_touch=robot.may_touch | wrists)


class Ellipses:
    """Both hands go round ellipses, turned as they were at the start; the posture is kept as far as that permits."""

    PERIOD = 4.0  # s, once round
    SIZE = np.array([0.03, 0.02, 0.03])  # m
    RAMP = 1.0  # s, until they are as large as that

    def __init__(self, model: Model, gains: Gains) -> None:
        self.model, self.gains = model, gains
        self.problem: Problem | None = None
        self.start: dict[str, Array] = {}
        self.tasks: dict[str, CartesianPositionTask] = {}

    def __call__(self, time, snapshot):
        if self.problem is None:
            self.problem = self._build(snapshot)
        position, velocity, acceleration = self.path(time)
        for side, mirrored in MIRRORED.items():
            task = self.tasks[side]
            task.goal[:] = self.start[side] + position * mirrored
            task.goal_velocity[:] = velocity * mirrored
            task.goal_acceleration[:] = acceleration * mirrored
        return self.problem

    def path(self, time: float) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration: a growing ellipse, s(t) e(t)."""
        w, x = 2 * np.pi / self.PERIOD, min(time / self.RAMP, 1.0)
        s = x**3 * (10 - 15 * x + 6 * x**2)
        ds = 30 * x**2 * (1 - x) ** 2 / self.RAMP
        dds = 60 * x * (1 - x) * (1 - 2 * x) / self.RAMP**2
        c, d = np.cos(w * time), np.sin(w * time)
        e, de, dde = (np.array(each) * self.SIZE for each in ((1 + c, d, 1 + d), (-d, c, c), (-c, -d, -d)))
        return s * e, ds * e + s * w * de, dds * e + 2 * ds * w * de + s * w**2 * dde

    def _build(self, snapshot):
        hands, gains = [], self.gains
        for side in SIDES:
            frame = self.model.frame(f"{side}_palm")
            self.start[side] = snapshot.position(frame).copy()
            self.tasks[side] = CartesianPositionTask(
                f"{side}_hand", f"{side}_palm", self.start[side], stiffness=gains.position, damping=gains.damping
            )
            hands += [
                self.tasks[side],
                Orientation3DTask(
                    f"{side}_turn",
                    f"{side}_palm",
                    snapshot.rotation(frame),
                    stiffness=gains.orientation,
                    damping=gains.damping,
                ),
            ]
        posture = JointPositionTask("posture", snapshot.q, stiffness=gains.posture, damping=gains.damping)
        return Problem([hands, posture], [COUPLING])


@dataclass
class Hands:
    """How far the hands truly are from their goals, every 10 ms; to be published to."""

    simulation: Simulation
    settled: float  # s, what is before does not count
    millimetres: dict[str, list[float]] = field(default_factory=lambda: {side: [] for side in SIDES})
    degrees: dict[str, list[float]] = field(default_factory=lambda: {side: [] for side in SIDES})
    efforts: list[Array] = field(default_factory=list)
    staleness: list[float] = field(default_factory=list)  # s, of the model, in every cycle

    def __call__(self, servo: Servo) -> None:
        self.staleness.append(servo.staleness)
        if servo.counters.cycles % 10 or servo.time - servo.begun < self.settled:
            return
        self.efforts.append(np.array(servo.command.effort))
        robot = self.simulation.robot
        for side in SIDES:
            palm = robot.surface(f"{side}_palm")
            palm_to_world = self.simulation.link_to_world(palm.link) @ palm.at.matrix
            goal = servo.problem.task(f"{side}_hand").goal
            self.millimetres[side].append(1e3 * float(np.linalg.norm(goal - palm_to_world[:3, 3])))
            turned = matrix_of(servo.problem.task(f"{side}_turn").goal).T @ palm_to_world[:3, :3]
            self.degrees[side].append(float(np.degrees(np.arccos(np.clip((np.trace(turned) - 1) / 2, -1, 1)))))


def matrix_of(quaternion: Array) -> Array:
    """The rotation matrix of a quaternion x y z w."""
    x, y, z, w = quaternion
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * K + 2 * K @ K


@dataclass(frozen=True)
class Run:
    """What one run gave."""

    servo: Servo
    hands: Hands


def run(
    gains: Gains,
    *,
    disturbed: bool,
    seconds: float = 10.0,
    settled: float = 2.0,
    mass: float = 1.05,
    model_every: int = 1,
    model_beside: bool = False,
    max_staleness: float = 0.05,
) -> Run:
    """Drive Dreamer for some seconds; disturbed, its masses are times a factor that the model does not know."""
    robot = dreamer(mass, friction=0.02) if disturbed else dreamer()
    sensors = SensorModel(encoder_delay=7) if disturbed else SensorModel()
    model = Model(dreamer())
    with Simulation(robot, control_period=0.001, sensors=sensors) as simulation:
        hands = Hands(simulation, settled)
        servo = Servo(
            simulation,
            simulation,
            WBOSC(model),
            Ellipses(model, gains),
            publish=[hands],
            model_every=model_every,
            model_beside=model_beside,
            max_staleness=max_staleness,
        )
        servo.run(seconds)
    return Run(servo, hands)


def main() -> None:
    runs = {
        (how, name): run(gains, disturbed=how == "disturbed")
        for name, gains in GAINS.items()
        for how in ("nominal", "disturbed")
    }
    print(f"{'':<24}{'right hand':>22}{'left hand':>26}")
    for (how, name), each in runs.items():
        cells = [
            f"{np.mean(mm):8.3f} ± {np.std(mm):5.3f} mm  {np.mean(deg):6.3f} ± {np.std(deg):5.3f}°"
            for mm, deg in ((each.hands.millimetres[side], each.hands.degrees[side]) for side in SIDES)
        ]
        print(f"{how + ', ' + name:<24}" + "  ".join(cells))
    print(f"{'the document':<24}" + "  ".join(f"{mm:8.1f} mm {deg:16.2f}°" for mm, deg in TABLE_2.values()))
    print("\nstaleness of the model, nominal: worst and mean, ms; error of the right hand, mean and worst, mm")
    for every, beside in [(n, False) for n in (1, 2, 5, 10, 20, 50)] + [(n, True) for n in (2, 5, 10, 20, 50)]:
        each = run(GAINS["critical"], disturbed=False, seconds=5.0, model_every=every, model_beside=beside)
        ages, errors = 1e3 * np.array(each.hands.staleness), each.hands.millimetres["right"]
        figures = f"{1e3 * each.servo.worst_staleness:8.1f}{ages.mean():8.2f}{np.mean(errors):10.4f}{max(errors):10.4f}"
        print(f"{'beside, at least' if beside else 'in the loop,':<17}every {every:>3}{figures}")
    print("\nthe loop, in real time on this machine")
    print(runs["nominal", "critical"].servo.timing)
    draw(runs)


def draw(runs: dict[tuple[str, str], Run]) -> None:
    """Errors over time (Fig. 14) and their histograms, with that of the loop's computing time (Fig. 15)."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(len(runs), 4, figsize=(14, 2.6 * len(runs)), squeeze=False, layout="constrained")
    for row, ((how, name), each) in zip(axes, runs.items(), strict=True):
        for side in SIDES:
            for column, values in enumerate((each.hands.millimetres[side], each.hands.degrees[side])):
                row[column].plot(2.0 + 0.01 * np.arange(len(values)), values, label=f"{side} hand")
                row[2].hist(values, 40, alpha=0.5, label=f"{side}, {'mm' if column == 0 else 'degrees'}")
        total = each.servo.timing.microseconds.sum(axis=1)
        row[3].hist(total[total < np.percentile(total, 95)], 50, color="0.4")
        for axis, label in zip(row, LABELS, strict=True):
            axis.set_xlabel("time, s" if "error," in label else label)
            axis.set_ylabel(label if "error," in label else "count")
        row[0].set_title(f"{how}, {name}", loc="left")
        row[0].legend(fontsize=7)
        row[2].legend(fontsize=7)
    RESULTS.mkdir(exist_ok=True)
    figure.savefig(RESULTS / "controlit_dreamer.png", dpi=90)


if __name__ == "__main__":
    main()
