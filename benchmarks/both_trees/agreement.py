"""What a tree computes from inputs that are the same for all: group by group, as named arrays.

A group is a function of `Inputs`. The old tree makes the inputs and they are kept; the new tree is given those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from problems import (
    CHAINS,
    LIMBS,
    Swaying,
    common_problem,
    dreamer_problem,
    limb_positions,
    model_of,
    near_states,
    random_states,
    valkyrie_problem,
)
from program import level_objectives, limb_solver, limits_broken, plain

from wholebody import robots
from wholebody.behaviors import Walking
from wholebody.behaviors.crawling import Crawling
from wholebody.constraints import FixedBase, FlatContact, LineContact, OmniWheelContact, PointContact
from wholebody.control import WBOSC, QuadraticController
from wholebody.estimation import AnkleSpring, AttitudeFilter, BalanceEstimator, ParticleAttitude, SupportFilter
from wholebody.kinematics import ClosedForm, Collisions
from wholebody.locomotion import Walker, gait_of
from wholebody.model import Contacts, Model
from wholebody.motion import OnlineProfile
from wholebody.tasks import (
    CartesianPositionTask,
    CenterOfMassTask,
    ExternalForceTask,
    JointLimitTask,
    JointPositionTask,
    MomentumTask,
    Orientation2DTask,
    Orientation3DTask,
    PoseTask,
)

Array = np.ndarray
Outputs = dict[str, Array]
STATES = 8
ROBOTS = ("trikey", "dreamer", "minihubo", "hoap3", "atlas", "valkyrie", "hubo2plus")


class Inputs:
    """Arrays by name: made once, in the old tree, and the same ever after."""

    def __init__(self, recorded: dict[str, Array] | None = None) -> None:
        self.recorded = recorded
        self.kept: dict[str, Array] = {}

    def given(self, name: str, make: Callable[[], Array]) -> Array:
        """The recorded array of that name; where nothing is recorded, a new one, which is kept."""
        value = np.asarray(make()) if self.recorded is None else self.recorded[name]
        self.kept[name] = value
        return value.copy()

    def states(self, name: str, model: Model, make: Callable[..., tuple[Array, Array]], count: int) -> Iterable:
        """Pairs of q and v."""
        made = make(model, count) if self.recorded is None else (None, None)
        return zip(self.given(f"{name}.q", lambda: made[0]), self.given(f"{name}.v", lambda: made[1]), strict=True)


def stacked(rows: list[dict[str, Array]], prefix: str) -> Outputs:
    """One array for each name, over all states; where sizes differ from state to state, one behind the other."""
    found = {}
    for name in rows[0]:
        parts = [np.asarray(row[name], float).ravel() for row in rows]
        found[f"{prefix}.{name}"] = np.concatenate(parts)
    return found


# --- model -----------------------------------------------------------------------------------------

SNAPSHOT = (
    *("M", "h", "g", "gravity_compensation", "com_in_world", "com_velocity", "com_jacobian", "com_bias"),
    *("momentum", "momentum_matrix", "momentum_bias", "kinetic_energy", "potential_energy", "placements"),
)


def snapshot(inputs: Inputs) -> Outputs:
    """All that a snapshot says, of every robot; integration and difference; static margins."""
    found: Outputs = {}
    for name in [*robots.names(), "dreamer22", "atlas_bolted"]:
        model = model_of(name)
        contacts = Contacts(model, [surface.name for surface in model.robot.surfaces])
        rows = []
        for q, v in inputs.states(f"snapshot.{name}", model, random_states, STATES):
            now = model.at(q, v)
            frames = range(len(model.frames))
            moved = model.integrate(q, v, 0.1)
            row = {each: np.array(getattr(now, each)) for each in SNAPSHOT}
            row |= {
                "velocity": np.array([now.velocity(frame) for frame in frames]),
                "bias": np.array([now.bias(frame) for frame in frames]),
                "jacobian": np.array([now.jacobian(frame) for frame in frames]),
                "integrate": moved,
                "difference": model.difference(q, moved),
                "margin": np.nan_to_num(np.array([contacts.margin(now)]), posinf=1e9, neginf=-1e9),
            }
            rows.append(row)
        found |= stacked(rows, f"snapshot.{name}")
    return found


# --- tasks and WBOSC -------------------------------------------------------------------------------


def tasks(inputs: Inputs) -> Outputs:
    """Rows of every kind of task and constraint, by their Python methods."""
    model = model_of("valkyrie")
    some = [joint.name for joint in model.robot.moving][5:9]
    turned = (0.1, -0.2, 0.3, np.sqrt(1 - 0.14))
    wanted = [
        CartesianPositionTask("cartesian", "right_palm", (0.3, -0.2, 1.0)),
        CenterOfMassTask("com", (0.01, 0.0, 1.0)),
        Orientation2DTask("orientation_2d", "left_palm", (0, 0, 1), (0.0, 0.6, 0.8)),
        Orientation3DTask("orientation_3d", "left_palm", model.at(model.posture("stand")).rotation(3)),
        PoseTask("pose", "right_palm", (0.3, -0.2, 1.0), turned),
        PoseTask("pose_relative", "right_palm", (0.3, -0.2, 0.1), turned, (0.01, 0.02, 0.03), "torso"),
        JointPositionTask("posture", model.robot.posture("stand")),
        JointPositionTask("some_joints", [0.1, 0.2, 0.3, 0.4], some),
        JointLimitTask("joint_limits", some, np.full(4, -0.3), np.full(4, 0.3)),
        MomentumTask("momentum"),
        ExternalForceTask("external_force", "left_palm", (1.0, 2.0, 3.0), (0.1, 0.0, 0.0)),
    ]
    held = [
        FlatContact("flat", "left_sole"),
        LineContact("line", "left_sole", axis=(0.0, 1.0, 0.0), point=(0.1, 0.0, 0.0)),
        PointContact("point", "left_palm"),
        FixedBase("base"),
    ]
    found: Outputs = {}
    states = list(inputs.states("tasks.valkyrie", model, near_states, STATES))
    for each in [*wanted, *held]:
        rows = []
        for q, v in states:
            now = each.rows(model.at(q, v))
            row = {"jacobian": now.jacobian, "bias": now.bias}
            if hasattr(now, "desired"):
                row |= {"desired": now.desired, "force": np.zeros(0) if now.force is None else now.force}
            rows.append(row)
        found |= stacked(rows, f"tasks.{each.name}")
    return found | wheels(inputs)


def wheels(inputs: Inputs) -> Outputs:
    """Rows of the omni-wheels of a robot that has them."""
    model = model_of("trikey")
    inner = {joint.parent for joint in model.robot.joints}
    ends = [link.name for link in model.robot.links if link.name not in inner][:3]
    contacts = [OmniWheelContact(f"wheel_{each}", each, 0.1) for each in ends]
    found: Outputs = {}
    for each in contacts:
        rows = []
        for q, v in inputs.states(f"wheels.{each.name}", model, near_states, STATES):
            now = each.rows(model.at(q, v))
            rows.append({"jacobian": now.jacobian, "bias": now.bias})
        found |= stacked(rows, f"tasks.{each.name}")
    return found


def wbosc(inputs: Inputs) -> Outputs:
    """Commands of WBOSC: Dreamer's tables, Valkyrie's fifteen tasks, one problem on robots of all sizes."""
    cases = {
        f"{name}_{levels}_{kind}": (model_of(name), dreamer_problem(model_of(name), levels, kind))
        for name in ("dreamer", "dreamer22")
        for levels in (2, 3, 5)
        for kind in ("2d", "3d")
    }
    cases["valkyrie_15"] = model_of("valkyrie"), valkyrie_problem(model_of("valkyrie"))
    cases |= {f"common_{name}": (model_of(name), common_problem(model_of(name))) for name in ROBOTS}
    found: Outputs = {}
    for name, (model, problem) in cases.items():
        controller = WBOSC(model)
        controller.prepare(problem)
        rows = []
        for q, v in inputs.states(f"wbosc.{name}", model, near_states, STATES):
            told = controller.solve(model.at(q, v), problem)
            rows.append(
                {
                    each: np.array(getattr(told, each))
                    for each in ("effort", "position", "velocity", "acceleration", "contact_forces", "errors")
                }
            )
        found |= stacked(rows, f"wbosc.{name}")
    return found


# --- kinematics ------------------------------------------------------------------------------------


def closed_form(inputs: Inputs) -> Outputs:
    """All branches, the nearest, one beyond limits and reach, and many at once, of every chain."""
    found: Outputs = {}
    for name, (robot, base, tip) in CHAINS.items():
        solver = ClosedForm.of(robots.load(robot), base, tip)
        lower, upper = solver.chain.lower, solver.chain.upper

        def some(lower: Array = lower, upper: Array = upper) -> Array:
            return np.random.default_rng(0).uniform(lower, upper, (60, len(lower)))

        joints = inputs.given(f"closed_form.{name}.joints", some)
        poses = solver.forward(joints)
        far = poses.copy()
        far[:, :3, 3] *= 1.5
        many = solver.solve_many(poses)
        found |= {
            f"closed_form.{name}.forward": poses,
            f"closed_form.{name}.all": np.concatenate([solver.solve(pose).joints.ravel() for pose in poses]),
            f"closed_form.{name}.nearest": np.array(
                [solver.nearest(pose, near).joints for pose, near in zip(poses, joints + 0.01, strict=True)]
            ),
            f"closed_form.{name}.beyond": np.array([_miss(solver, pose) for pose in far]),
            f"closed_form.{name}.many": np.nan_to_num(np.asarray(many.joints, float), nan=1e9),
        }
    return found


def _miss(solver: ClosedForm, pose: Array) -> float:
    """How far the nearest pose within reach is from one beyond it: what `nearest` makes as small as it can, m."""
    found = solver.nearest(pose)
    return float(np.hypot(found.distance, solver.radian * found.turn))


def iterative(inputs: Inputs) -> Outputs:
    """Solutions of goals near the start, in a few kinds of problem, with the number of iterations."""
    bolted, atlas = model_of("atlas_bolted"), model_of("atlas")
    four = [("point", name) for name in LIMBS]
    mixed = [("pose", "left_sole"), ("orientation", "left_palm"), ("com", "")]
    solvers = {
        "four": (bolted, 4, limb_solver(bolted, four, position_tolerance=1e-3)),
        "exact": (bolted, 4, limb_solver(bolted, four, position_tolerance=1e-8, home="stand")),
        "weighed": (atlas, 4, limb_solver(atlas, four, mass_weighting=True)),
        "on_a_foot": (atlas, 3, limb_solver(atlas, mixed, "right_sole")),
        "transpose": (bolted, 2, limb_solver(bolted, four[2:], method="transpose", max_iterations=20)),
    }
    found: Outputs = {}
    for name, (model, count, solve) in solvers.items():
        rows = []
        starts, moves = (
            inputs.given(f"iterative.{name}.{what}", lambda at=at, model=model: _steps(model, 30)[at])  # type: ignore[misc]
            for at, what in enumerate(("start", "move"))
        )
        for q, move in zip(starts, moves, strict=True):
            now = model.at(model.integrate(q, move, 1.0))
            if name == "on_a_foot":
                targets = [now.placement(model.frame("left_sole")), now.rotation(model.frame("left_palm"))]
                targets.append(now.com_in_world)
            else:
                targets = list(limb_positions(now)[-count:])
            solution = solve(q, targets)
            rows.append({"q": solution.q, "converged": solution.converged, "iterations": solution.iterations})
        found |= stacked(rows, f"iterative.{name}")
    return found


def _steps(model: Model, count: int) -> tuple[Array, Array]:
    """Starts near standing, and moves of the joints to goals near them."""
    rng = np.random.default_rng(3)
    q, _ = near_states(model, count, seed=2)
    moves = rng.uniform(-0.3, 0.3, (count, model.nv))
    moves[:, : model.nv - len(model.joint_names)] = 0.0
    return q, moves


def collision(inputs: Inputs) -> Outputs:
    """Which pairs touch and how deep, and the least distance, of random postures."""
    found: Outputs = {}
    for name in ROBOTS:
        collisions = Collisions(robots.load(name))
        rows = []
        for q, _ in inputs.states(f"collision.{name}", collisions.model, random_states, 5):
            now = collisions.model.at(q)
            touches = sorted(collisions.check(now), key=lambda touch: touch[:2])
            rows.append(
                {
                    "count": np.array([len(touches)]),
                    "depths": np.array([touch.distance for touch in touches]),
                    "least": np.array([collisions.distance(now).distance]),
                }
            )
        found |= stacked(rows, f"collision.{name}")
    return found


# --- estimation, locomotion, motion ----------------------------------------------------------------


def filters(inputs: Inputs) -> Outputs:
    """Attitude and support filters on noise; profiles."""
    noise = inputs.given("filters.noise", lambda: np.random.default_rng(0).normal(size=(400, 6)))
    attitude, particles, support = AttitudeFilter(), ParticleAttitude(), SupportFilter(2, AnkleSpring())
    support.legs.contact[:] = support.legs.firm[:] = 1.0
    support.legs.p[:] = (0.0, 0.0, -0.6)
    rows = []
    for reading in noise:
        gyro, accelerometer = 0.005 * reading[:3], reading[3:] + np.array([0.0, 0.0, 9.81])
        attitude.update(gyro, accelerometer, 0.005)
        particles.update(gyro, accelerometer, 0.005)
        support.update(gyro, accelerometer, 0.005)
        rows.append(
            {
                "attitude": np.array(attitude.orientation),
                "attitude_bias": np.array(attitude.gyro_bias),
                "particles": np.array(particles.orientation),
                "support": np.array(support.orientation),
                "support_bias": np.array(support.gyro_bias),
                "support_velocity": np.array(support.velocity),
                "flexion": np.array(support.flexion),
                "covariance": np.array(support.covariance),
            }
        )
    return stacked(rows, "filters")


def profiles(inputs: Inputs) -> Outputs:
    """On-line profiles of many joints with goals that change."""
    rng = np.random.default_rng(0)
    limits = inputs.given("profiles.limits", lambda: rng.uniform(1.0, 5.0, (2, 38)))
    goals = inputs.given("profiles.goals", lambda: rng.uniform(-1.5, 1.5, (5, 38)))
    profile = OnlineProfile(limits[0], 4 * limits[1], 0.005)
    return {"profiles.position": np.array([profile.step(goal).copy() for goal in np.repeat(goals, 100, axis=0)])}


def recorded_walk(seconds: float = 4.0) -> tuple[Array, Array]:
    """States of a walk of Hubo2+ with noisy sensors, and in which cycle it was told to walk."""
    from wholebody.simulation import SensorModel, Simulation

    robot = robots.load("hubo2plus")
    walking, states, told = hubo_walking(), [], -1
    with Simulation(robot, sensors=SensorModel.realistic(), control_period=0.005) as simulation:
        state, reference = simulation.new_state(), simulation.new_reference()
        walking.stand(1.0)
        while simulation.time < seconds:
            simulation.read(state)
            states.append(state.copy())
            walking.cycle(state, reference)
            simulation.write(reference)
            simulation.advance()
            if told < 0 and walking.standing and simulation.time > 1.5:
                walking.walk(velocity=WALK)
                told = len(states)
    return np.array(states), np.array([told])


def recorded_crawl(seconds: float = 3.0) -> Array:
    """States of Atlas that crawls forward with noisy sensors."""
    from wholebody.robots.robot import Placement
    from wholebody.simulation import SensorModel, Simulation

    robot = robots.load("atlas")
    crawling, states = Crawling(robot), []
    model, q = crawling.crawler.model, crawling.crawler.q
    with Simulation(robot, sensors=SensorModel.realistic()) as simulation:
        simulation.reset(q[7:], base=Placement.of(model.at(q).placement(model.frame(robot.root))))
        state, reference = simulation.new_state(), simulation.new_reference()
        crawling.crawl(velocity=CRAWL)
        while simulation.time < seconds:
            simulation.read(state)
            states.append(state.copy())
            crawling.cycle(state, reference)
            simulation.write(reference)
            simulation.advance()
    return np.array(states)


def recorded_standing(name: str, count: int = 300) -> Array:
    """States of a robot that stands, with noisy sensors."""
    from wholebody.simulation import SensorModel, Simulation

    states = []
    with Simulation(robots.load(name), sensors=SensorModel.realistic()) as simulation:
        for _ in range(count):
            simulation.advance()
            states.append(simulation.new_state().copy())
            simulation.read(states[-1])
    return np.array(states)


def states_of(name: str, recorded: Array) -> Array:
    """Recorded states with all that the type of a robot's states says beside its fields."""
    states = np.zeros(len(recorded), robots.load(name).state_dtype())
    for field in recorded.dtype.names or ():
        states[field] = recorded[field]
    return states


def estimation(inputs: Inputs) -> Outputs:
    """Balance from recorded states: Hubo2+ while it walks, two others standing."""
    walk = recorded_walk() if inputs.recorded is None else (None, None)
    states = {"hubo2plus": inputs.given("walk.states", lambda: walk[0])}
    inputs.given("walk.told", lambda: walk[1])
    for name in ("minihubo", "hoap3"):
        states[name] = inputs.given(f"estimation.{name}", lambda name=name: recorded_standing(name))  # type: ignore[misc]
    found: Outputs = {}
    for name, each in states.items():
        estimator = BalanceEstimator(Model(robots.load(name)))
        rows = []
        for state in states_of(name, each):
            balance = estimator.update(state)
            rows.append({field: np.array(getattr(balance, field)) for field in balance._fields})
        found |= stacked(rows, f"estimation.{name}")
    return found


def walking(inputs: Inputs) -> Outputs:
    """Joint positions that the walker commands on recorded states of a walk."""
    walk = recorded_walk() if inputs.recorded is None else (None, None)
    states = states_of("hubo2plus", inputs.given("walk.states", lambda: walk[0]))
    told = int(inputs.given("walk.told", lambda: walk[1])[0])
    made, rows = hubo_walking(), []
    made.stand(1.0)
    reference = np.zeros(1, robots.load("hubo2plus").reference_dtype())[0]
    for index, state in enumerate(states):
        made.cycle(state, reference)
        rows.append({"position": reference["position"].copy()})
        if index + 1 == told:
            made.walk(velocity=WALK)
    return stacked(rows, "walking")


def crawling(inputs: Inputs) -> Outputs:
    """Joint positions and efforts that the crawler commands on recorded states."""
    states = states_of("atlas", inputs.given("crawl.states", recorded_crawl))
    made, rows = Crawling(robots.load("atlas")), []
    made.crawl(velocity=CRAWL)
    reference = np.zeros(1, made.crawler.model.robot.reference_dtype())[0]
    for state in states:
        made.cycle(state, reference)
        rows.append({"position": reference["position"].copy(), "effort": reference["effort"].copy()})
    return stacked(rows, "crawling")


def hubo_walking() -> Walking:
    """Hubo2+ as it walks in the benchmarks."""
    robot = robots.load("hubo2plus")
    return Walking(robot, gait_of(Walker(robot).model, 0.6))


WALK, CRAWL = (0.2 / 0.6, 0.0, 0.0), (0.1, 0.0, 0.0)


# --- QP --------------------------------------------------------------------------------------------


def qp(inputs: Inputs) -> Outputs:
    """Of each cycle with limits: how far each level is from what it asks, its size, and how far limits are broken."""
    found: Outputs = {}
    for name, (robot, sway) in SWAYS.items():
        model = model_of(robot)
        made = swayed(model, sway) if inputs.recorded is None else (None, None)
        pairs = [inputs.given(f"qp.{name}.{what}", lambda at=at, made=made: made[at]) for at, what in enumerate("qv")]
        controller = QuadraticController(model, period=PERIOD, **plain(QuadraticController))
        swaying, objectives, sizes, broken = Swaying(model, sway), [], [], []
        for index, (q, v) in enumerate(zip(*pairs, strict=True)):
            swaying.move(index * STEP * PERIOD)
            now = model.at(q, v)
            told = controller.solve(now, swaying.problem)
            missing, size = level_objectives(now, swaying.problem, told.acceleration)
            objectives.append(missing)
            sizes.append(size)
            worst = limits_broken(model, now, swaying.problem, told, PERIOD)
            broken.append(np.inf if told.fault is not None else worst)
        found |= {
            f"qp.{name}.objective": np.array(objectives),
            f"qp.{name}.size": np.array(sizes),
            f"qp.{name}.broken": np.array(broken),
        }
    return found


SWAYS = {
    "hubo2plus": ("hubo2plus", 0.03),
    "valkyrie": ("valkyrie", 0.03),
    "hubo2plus_far": ("hubo2plus", 0.05),
    "valkyrie_far": ("valkyrie", 0.05),
}
"""How far the centre of mass is asked to sway, m; `far` is further than soles and legs permit."""
PERIOD, STEP = 0.001, 5
"""s; and every how many cycles one is recorded."""


def swayed(model: Model, sway: float, count: int = 200) -> tuple[Array, Array]:
    """States along a motion that the controller commands itself."""
    controller, swaying = QuadraticController(model, period=PERIOD, **plain(QuadraticController)), Swaying(model, sway)
    q, v = model.posture("stand"), np.zeros(model.nv)
    states = []
    for index in range(count * STEP):
        if index % STEP == 0:
            states.append((q.copy(), v.copy()))
        swaying.move(index * PERIOD)
        v = v + PERIOD * controller.solve(model.at(q, v), swaying.problem).acceleration
        q = model.integrate(q, v, PERIOD)
    return np.array([q for q, _ in states]), np.array([v for _, v in states])


def _all(*groups: Callable[[Inputs], Outputs]) -> dict[str, Callable[[Inputs], Outputs]]:
    return {group.__name__: group for group in groups}


GROUPS = _all(
    snapshot, tasks, wbosc, closed_form, iterative, collision, filters, profiles, estimation, walking, crawling, qp
)
