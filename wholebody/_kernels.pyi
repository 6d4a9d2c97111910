"""The loops in C of all packages. Arrays are C-contiguous; anything else is a ValueError that names the argument."""

import numpy as np
import numpy.typing as npt

_Numbers = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]
_Flags = npt.NDArray[np.bool_]
_Bytes = npt.NDArray[np.uint8]

# Handles: capsules that only the functions here can open.
class Attitude: ...
class BalanceEstimator: ...
class Boxes: ...
class ClosedForm: ...
class Constraint: ...
class ContactDetector: ...
class FrozenSensors: ...
class InverseKinematics: ...
class Problem: ...
class Snapshot: ...
class SupportFilter: ...
class Task: ...
class Tree: ...
class Wbosc: ...

# estimation
def estimation_attitude(attitude: _Numbers, /) -> Attitude: ...
def estimation_update_attitude(attitude: Attitude, dt: float, /) -> int: ...
def estimation_support(
    x: _Numbers, P: _Numbers, legs: _Numbers, settings: _Numbers, motion: _Numbers, memory: _Numbers, /
) -> SupportFilter: ...
def estimation_update_support(support: SupportFilter, dt: float, /) -> None: ...
def estimation_contacts(
    settings: _Numbers, edges: _Numbers, contact: _Numbers, firm: _Numbers, probability: _Numbers, since: _Numbers, /
) -> ContactDetector: ...
def estimation_detect_contacts(contacts: ContactDetector, wrench: _Numbers, dt: float, /) -> None: ...
def estimation_frozen(
    settings: _Numbers, last: _Numbers, since: _Numbers, starts: _Numbers, wanted: _Numbers, frozen: _Flags, /
) -> FrozenSensors: ...
def estimation_first_frozen(
    watch: FrozenSensors,
    motion: _Numbers,
    wrenches: _Numbers,
    position: _Numbers,
    reference: _Numbers,
    borne: float,
    dt: float,
    /,
) -> int: ...
def estimation_balance(
    state: _Bytes,
    layout: _Integers,
    joints: _Integers,
    places: _Integers,
    geometry: _Numbers,
    odometry: _Numbers,
    memory: _Numbers,
    balance: _Numbers,
    contact: _Flags,
    imu: int,
    /,
) -> BalanceEstimator: ...
def estimation_sense(
    balance: BalanceEstimator,
    tree: Tree,
    snapshot: Snapshot,
    support: SupportFilter,
    contacts: ContactDetector,
    frozen: FrozenSensors,
    /,
) -> int: ...
def estimation_show(
    balance: BalanceEstimator,
    tree: Tree,
    snapshot: Snapshot,
    support: SupportFilter,
    contacts: ContactDetector,
    frozen: FrozenSensors,
    /,
) -> None: ...
def estimation_cycle(
    balance: BalanceEstimator,
    tree: Tree,
    snapshot: Snapshot,
    support: SupportFilter,
    contacts: ContactDetector,
    frozen: FrozenSensors,
    dt: float,
    /,
) -> int: ...
def estimation_believe(
    P: _Numbers, error: _Numbers, row: _Numbers, difference: float, variance: float, gate: float, /
) -> float: ...
def estimation_see_up(
    P: _Numbers, error: _Numbers, orientation: _Numbers, up: _Numbers, scale: float, variance: float, /
) -> float: ...
def estimation_turn_attitude(attitude: _Numbers, dt: float, F: _Numbers, /) -> None: ...
def estimation_apply_error(x: _Numbers, error: _Numbers, /) -> None: ...
def estimation_move_body(x: _Numbers, motion: _Numbers, gravity: float, dt: float, F: _Numbers, /) -> None: ...
def estimation_sole_turn(x: _Numbers, foot: int, E: _Numbers, rows: _Numbers, value: _Numbers, /) -> None: ...
def estimation_ankle_velocity(
    x: _Numbers, gyro: _Numbers, p: _Numbers, p_dot: _Numbers, rows: _Numbers, value: _Numbers, /
) -> None: ...

# kinematics
def kinematics_arctangent(y: float, x: float, /) -> float: ...
def kinematics_closed_form(chain: _Numbers, /) -> ClosedForm: ...
def kinematics_forward(chain: ClosedForm, joints: _Numbers, poses: _Numbers, /) -> None: ...
def kinematics_solve(
    chain: ClosedForm, pose: npt.ArrayLike, swivel: float, limits: bool, table: _Numbers, /
) -> int: ...
def kinematics_solve_many(chain: ClosedForm, poses: _Numbers, table: _Numbers, counts: _Integers, /) -> int: ...
def kinematics_nearest(
    chain: ClosedForm, goal: npt.ArrayLike, near: _Numbers, swivel: float, radian: float, answer: _Numbers, /
) -> int: ...
def kinematics_follow(chain: ClosedForm, goals: _Numbers, near: _Numbers, answers: _Numbers, /) -> int: ...
def kinematics_inverse(tree: Tree, problem: object, settings: object, /) -> InverseKinematics: ...
def kinematics_inverse_solve(
    solver: InverseKinematics, targets: _Numbers, q: _Numbers, gaps: _Numbers, history: _Numbers, /
) -> tuple[int, int, int, int]: ...
def kinematics_rotation_gap(to: _Numbers, at: _Numbers, /) -> tuple[float, float, float]: ...
def kinematics_boxes(
    links: _Integers,
    at: _Numbers,
    half: _Numbers,
    low: _Numbers,
    high: _Numbers,
    pairs: _Integers,
    gap: _Numbers,
    near: _Integers,
    /,
) -> Boxes: ...
def kinematics_place_boxes(boxes: Boxes, placements: _Numbers, within: float, /) -> int: ...
def kinematics_boxed_step(
    J: _Numbers,
    error: _Numbers,
    mobility: _Numbers,
    wish: _Numbers,
    damping: float,
    lower: _Numbers,
    upper: _Numbers,
    stopped: _Integers,
    A: _Numbers,
    y: _Numbers,
    step: _Numbers,
    /,
) -> None: ...

# model
def model_tree(integers: _Integers, numbers: _Numbers, /) -> Tree: ...
def model_snapshot(tree: Tree, storage: _Numbers, /) -> Snapshot: ...
def model_evaluate(tree: Tree, snapshot: Snapshot, /) -> int: ...
def model_jacobian(tree: Tree, snapshot: Snapshot, frame: int, /) -> None: ...
def model_integrate(tree: Tree, q: _Numbers, v: _Numbers, dt: float, result: _Numbers, /) -> None: ...
def model_difference(tree: Tree, q0: _Numbers, q1: _Numbers, result: _Numbers, /) -> None: ...
def model_convex_hull(points: _Numbers, grid: float, chain: _Numbers, /) -> int: ...
def model_signed_distance(corners: _Numbers, x: float, y: float, /) -> float: ...

# tasks
def tasks_task(integers: _Integers, numbers: _Numbers, /) -> Task: ...
def tasks_rows(task: Task, tree: Tree, snapshot: Snapshot, jacobian: _Numbers, values: _Numbers, /) -> int: ...

# constraints
def constraints_constraint(integers: _Integers, numbers: _Numbers, /) -> Constraint: ...
def constraints_release(constraint: Constraint, /) -> None: ...
def constraints_rows(
    constraint: Constraint, tree: Tree, snapshot: Snapshot, jacobian: _Numbers, bias: _Numbers, /
) -> None: ...

# control
def control_problem(
    tree: Tree,
    tasks: tuple[Task, ...],
    constraints: tuple[Constraint, ...],
    lines: _Integers,
    passive: _Integers,
    driven: _Integers,
    own: _Numbers,
    /,
) -> Problem: ...
def control_changes(problem: Problem, seen: _Numbers, motion_jump: float, force_jump: float, /) -> int: ...
def control_wbosc(problem: Problem, settings: _Numbers, dsyevd: object, /) -> Wbosc: ...
def control_wbosc_solve(wbosc: Wbosc, snapshot: Snapshot, output: _Numbers, /) -> int: ...

# motion
def motion_advance(numbers: _Numbers, goal: _Numbers, period: float, /) -> int: ...
def motion_evaluate(
    times: _Numbers, coefficients: _Numbers, powers: int, asked: _Numbers, result: _Numbers, /
) -> None: ...
def motion_turn(
    start: _Numbers,
    phi: _Numbers,
    betas: _Numbers,
    rates: _Numbers,
    second_rates: _Numbers,
    quaternion: _Numbers,
    angular_velocity: _Numbers,
    angular_acceleration: _Numbers,
    /,
) -> None: ...

# locomotion: structs of doubles are those of locomotion.h.
class ZmpPath: ...
class FootSwing: ...
class Anchoring: ...
class Servos: ...
class Legs: ...

def locomotion_path(
    times: _Numbers, curves: _Numbers, coefficients: _Numbers, omega: float, start: _Numbers, /
) -> ZmpPath: ...
def locomotion_path_at(path: ZmpPath, time: float, result: _Numbers, /) -> None: ...
def locomotion_swing(
    end: float, state: _Numbers, goal: _Numbers, rise: _Numbers, derivatives: _Numbers, /
) -> FootSwing: ...
def locomotion_swing_at(swing: FootSwing, since: float, time: float, /) -> float: ...
def locomotion_place_outline(outline: _Numbers, x: float, y: float, yaw: float, corners: _Numbers, /) -> None: ...
def locomotion_nearest_inside(corners: _Numbers, point: _Numbers, result: _Numbers, /) -> None: ...
def locomotion_share_of_area(corners: _Numbers, point: _Numbers, /) -> float: ...
def locomotion_feed_back_dcm(
    feedback: _Numbers,
    area: _Numbers,
    zmp: _Numbers,
    dcm: _Numbers,
    pull: _Numbers,
    com: _Numbers,
    com_velocity: _Numbers,
    gains: _Numbers,
    omega: float,
    period: float,
    /,
) -> tuple[bool, bool]: ...
def locomotion_lean_trunk(
    trunk: _Numbers, push: _Numbers, upright: float, most: float, period: float, rotation: _Numbers, /
) -> None: ...
def locomotion_rotation(vector: _Numbers, result: _Numbers, /) -> None: ...
def locomotion_anchoring(
    wrench: _Numbers,
    contact: npt.NDArray[np.bool_],
    com_velocity: _Numbers,
    base: _Numbers,
    com: _Numbers,
    capture_point: _Numbers,
    cop: _Numbers,
    soles: _Numbers,
    orientation: _Numbers,
    share: _Numbers,
    moved_vectors: _Numbers,
    moved_soles: _Numbers,
    moved_orientation: _Numbers,
    /,
) -> Anchoring: ...
def locomotion_anchor(
    anchoring: Anchoring,
    left_x: float,
    left_y: float,
    left_yaw: float,
    left_height: float,
    right_x: float,
    right_y: float,
    right_yaw: float,
    right_height: float,
    /,
) -> None: ...
def locomotion_find_ground(
    contact: _Numbers,
    gains: _Numbers,
    wrench: _Numbers,
    left_height: float,
    right_height: float,
    rise: float,
    phase_left: float,
    period: float,
    support: int,
    left_share: float,
    /,
) -> tuple[bool, int, float]: ...
def locomotion_turn_feet(
    compliance: _Numbers,
    gains: _Numbers,
    left: _Numbers,
    right: _Numbers,
    zmp: _Numbers,
    wrench: _Numbers,
    cop: _Numbers,
    seen: _Numbers,
    left_share: float,
    period: float,
    uneven: bool,
    /,
) -> None: ...
def locomotion_turn_sole(sole: _Numbers, lean: _Numbers, result: _Numbers, /) -> None: ...
def locomotion_servos(
    tree: Tree,
    soles: _Integers,
    compliance: _Numbers,
    lag: _Numbers,
    softness: _Numbers,
    from_spring: _Numbers,
    mass: float,
    /,
) -> Servos: ...
def locomotion_lead_servos(
    servos: Servos,
    tree: Tree,
    snapshot: Snapshot,
    joints: _Numbers,
    velocities: _Numbers,
    acceleration: _Numbers,
    rotation: _Numbers,
    left: _Numbers,
    right: _Numbers,
    zmp: _Numbers,
    left_share: float,
    told: _Numbers,
    /,
) -> None: ...
def locomotion_legs(
    left: ClosedForm, right: ClosedForm, left_columns: _Integers, right_columns: _Integers, joints: _Numbers, /
) -> Legs: ...
def locomotion_put_legs(
    legs: Legs,
    tree: Tree,
    snapshot: Snapshot,
    com: _Numbers,
    rotation: _Numbers,
    left: _Numbers,
    right: _Numbers,
    rounds: int,
    /,
) -> float: ...

# control/quadratic
class Quadratic: ...
class Shapes: ...

def quadratic_problem(
    problem: Problem, given: tuple[_Numbers | _Integers, ...], memory: tuple[_Numbers | _Integers, ...], /
) -> Quadratic: ...
def quadratic_solve(quadratic: Quadratic, snapshot: Snapshot, output: _Numbers, report: _Numbers, /) -> int: ...
def quadratic_blend(quadratic: Quadratic, /) -> int: ...
def quadratic_write(quadratic: Quadratic, snapshot: Snapshot, output: _Numbers, report: _Numbers, /) -> None: ...
def quadratic_evaluate(quadratic: Quadratic, /) -> bool: ...
def quadratic_constraints(quadratic: Quadratic, first: _Integers, /) -> None: ...
def quadratic_shapes(arrays: tuple[_Numbers | _Integers, ...], /) -> Shapes: ...
def quadratic_near(
    shapes: Shapes, snapshot: Snapshot, pairs: _Integers, reach: _Numbers, near: _Integers, room: _Numbers, /
) -> int: ...
def quadratic_capsule_distance(shapes: Shapes, one: int, other: int, /) -> float: ...
def quadratic_velocity_range(
    position: float, velocity: float, lower: float, upper: float, fastest: float, braking: float, period: float, /
) -> tuple[float, float]: ...
def quadratic_closing_range(distance: float, rate: float, least: float, braking: float, period: float, /) -> float: ...
