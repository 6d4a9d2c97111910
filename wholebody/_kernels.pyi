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
class Updater: ...
class Wbosc: ...

# estimation
def estimation_attitude(attitude: _Numbers, /) -> Attitude:
    """A filter's handle."""

def estimation_update_attitude(attitude: Attitude, dt: float, /) -> int:
    """Take the reading that is there; flags of what was wrong with it."""

def estimation_support(
    x: _Numbers, P: _Numbers, legs: _Numbers, settings: _Numbers, motion: _Numbers, memory: _Numbers, /
) -> SupportFilter:
    """The handle of a filter on feet."""

def estimation_update_support(support: SupportFilter, dt: float, /) -> None:
    """Go on by dt with the motion and the legs that are there."""

def estimation_contacts(
    settings: _Numbers, edges: _Numbers, contact: _Numbers, firm: _Numbers, probability: _Numbers, since: _Numbers, /
) -> ContactDetector:
    """The handle of a contact detector."""

def estimation_detect_contacts(contacts: ContactDetector, wrench: _Numbers, dt: float, /) -> None:
    """Take the wrenches at the soles, feet x 6."""

def estimation_frozen(
    settings: _Numbers, last: _Numbers, since: _Numbers, starts: _Numbers, wanted: _Numbers, frozen: _Flags, /
) -> FrozenSensors:
    """The handle of a watch for frozen sensors."""

def estimation_first_frozen(
    watch: FrozenSensors,
    motion: _Numbers,
    wrenches: _Numbers,
    position: _Numbers,
    reference: _Numbers,
    borne: float,
    dt: float,
    /,
) -> int:
    """The first one, or -1."""

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
) -> BalanceEstimator:
    """A handle."""

def estimation_sense(
    balance: BalanceEstimator,
    tree: Tree,
    snapshot: Snapshot,
    support: SupportFilter,
    contacts: ContactDetector,
    frozen: FrozenSensors,
    /,
) -> int:
    """Read the first state."""

def estimation_show(
    balance: BalanceEstimator,
    tree: Tree,
    snapshot: Snapshot,
    support: SupportFilter,
    contacts: ContactDetector,
    frozen: FrozenSensors,
    /,
) -> None:
    """Fill in the first balance."""

def estimation_cycle(
    balance: BalanceEstimator,
    tree: Tree,
    snapshot: Snapshot,
    support: SupportFilter,
    contacts: ContactDetector,
    frozen: FrozenSensors,
    dt: float,
    /,
) -> int:
    """Take the state that is there."""

def estimation_believe(
    P: _Numbers, error: _Numbers, row: _Numbers, difference: float, variance: float, gate: float, /
) -> float:
    """The normalised innovation squared."""

def estimation_see_up(
    P: _Numbers, error: _Numbers, orientation: _Numbers, up: _Numbers, scale: float, variance: float, /
) -> float:
    """The normalised innovation squared."""

def estimation_turn_attitude(attitude: _Numbers, dt: float, F: _Numbers, /) -> None:
    """Turn by the gyro; F is what that does to the error."""

def estimation_apply_error(x: _Numbers, error: _Numbers, /) -> None:
    """The state moved."""

def estimation_move_body(x: _Numbers, motion: _Numbers, gravity: float, dt: float, F: _Numbers, /) -> None:
    """The body moved; F is what that does to the error."""

def estimation_sole_turn(x: _Numbers, foot: int, E: _Numbers, rows: _Numbers, value: _Numbers, /) -> None:
    """How a sole lies on its ground, and the derivative."""

def estimation_ankle_velocity(
    x: _Numbers, gyro: _Numbers, p: _Numbers, p_dot: _Numbers, rows: _Numbers, value: _Numbers, /
) -> None:
    """Of an ankle that stands, and the derivative."""

# kinematics
def kinematics_arctangent(y: float, x: float, /) -> float:
    """The closed form's atan2."""

def kinematics_closed_form(chain: _Numbers, /) -> ClosedForm:
    """The handle of a chain."""

def kinematics_forward(chain: ClosedForm, joints: _Numbers, poses: _Numbers, /) -> None:
    """Where the tip is."""

def kinematics_solve(chain: ClosedForm, pose: npt.ArrayLike, swivel: float, limits: bool, table: _Numbers, /) -> int:
    """How many branches, -1 if it is no pose."""

def kinematics_solve_many(chain: ClosedForm, poses: _Numbers, table: _Numbers, counts: _Integers, /) -> int:
    """-1, or the row that is no pose."""

def kinematics_nearest(
    chain: ClosedForm, goal: npt.ArrayLike, near: _Numbers, swivel: float, radian: float, answer: _Numbers, /
) -> int:
    """0, -1 if it is no pose, -2 if near is not finite."""

def kinematics_inverse(tree: Tree, problem: object, settings: object, /) -> InverseKinematics:
    """The handle of a solver; it borrows the problem's arrays."""

def kinematics_inverse_solve(
    solver: InverseKinematics, q: _Numbers, gaps: _Numbers, history: _Numbers, /
) -> tuple[int, int, int, int]:
    """Ending, iterations, restarts, rows of history."""

def kinematics_rotation_gap(to: _Numbers, at: _Numbers, /) -> tuple[float, float, float]:
    """The rotation vector of R* R^T, R* in nine numbers, R in a 4 x 4 placement."""

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
) -> Boxes:
    """The handle of a robot's shapes."""

def kinematics_place_boxes(boxes: Boxes, placements: _Numbers, within: float, /) -> int:
    """Bounds, gaps, and how many pairs are near."""

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
def model_tree(integers: _Integers, numbers: _Numbers, /) -> Tree:
    """The handle of a robot's tree."""

def model_snapshot(tree: Tree, storage: _Numbers, /) -> Snapshot:
    """The handle of a snapshot's memory."""

def model_evaluate(tree: Tree, snapshot: Snapshot, q: npt.ArrayLike, v: npt.ArrayLike, /) -> int:
    """Compute everything; 0 if all is well."""

def model_evaluate_plainly(tree: Tree, snapshot: Snapshot, q: npt.ArrayLike, v: npt.ArrayLike, /) -> int:
    """The same as model_evaluate, for any processor."""

def model_variant() -> str:
    """Which variant model_evaluate runs, 'avx' or 'plain'."""

def model_jacobian(tree: Tree, snapshot: Snapshot, frame: int, /) -> None:
    """One more frame's Jacobian."""

def model_integrate(tree: Tree, q: _Numbers, v: _Numbers, dt: float, result: _Numbers, /) -> None: ...
def model_difference(tree: Tree, q0: _Numbers, q1: _Numbers, result: _Numbers, /) -> None: ...
def model_updater(tree: Tree, nap: float, /) -> Updater:
    """The handle of a thread, which has not begun."""

def model_updater_begin(updater: Updater, /) -> None:
    """Start its thread."""

def model_updater_end(updater: Updater, /) -> None:
    """Join its thread."""

def model_updater_ask(updater: Updater, snapshot: Snapshot, /) -> bool:
    """Whether it was free."""

def model_updater_take(updater: Updater, /) -> int:
    """The verdict on the snapshot that was asked for, or -1 if it is not done."""

def model_convex_hull(points: _Numbers, grid: float, chain: _Numbers, /) -> int:
    """How many corners there are at the beginning of the chain."""

def model_signed_distance(corners: _Numbers, x: float, y: float, /) -> float:
    """How far inside a convex polygon a point is."""

# tasks
def tasks_task(integers: _Integers, numbers: _Numbers, /) -> Task:
    """What describes a task, and its parameters."""

def tasks_rows(task: Task, tree: Tree, snapshot: Snapshot, jacobian: _Numbers, values: _Numbers, /) -> int:
    """The transposed Jacobian, nv x rows, and 5 x rows: error, velocity, bias, activation, and which row of the
    task each is."""

# constraints
def constraints_constraint(integers: _Integers, numbers: _Numbers, /) -> Constraint:
    """What describes a constraint, and its parameters."""

def constraints_release(constraint: Constraint, /) -> None:
    """Forget where a contact is held; the next cycle notes where it is by then."""

def constraints_rows(
    constraint: Constraint, tree: Tree, snapshot: Snapshot, jacobian: _Numbers, bias: _Numbers, /
) -> None:
    """The transposed Jacobian, nv x rows, and the bias."""

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
) -> Problem:
    """Tuples of handles, lines of each."""

def control_changes(problem: Problem, seen: _Numbers, motion_jump: float, force_jump: float, /) -> int:
    """See transitions.h; `seen` has all numbers of all tasks and constraints."""

def control_wbosc(problem: Problem, settings: _Numbers, dsyevd: object, /) -> Wbosc:
    """Settings as WboscSettings has them."""

def control_wbosc_solve(wbosc: Wbosc, snapshot: Snapshot, output: _Numbers, /) -> int:
    """One cycle; a Verdict."""

# motion
def motion_advance(numbers: _Numbers, goal: _Numbers, period: float, /) -> int:
    """One period of a profile; the first joint whose goal is none, or -1."""

def motion_evaluate(times: _Numbers, coefficients: _Numbers, powers: int, asked: _Numbers, result: _Numbers, /) -> None:
    """Piecewise polynomials and two derivatives."""

# locomotion: structs of doubles are those of locomotion.h.
class ZmpPath: ...
class FootSwing: ...
class Anchoring: ...
class Servos: ...
class Legs: ...

def locomotion_path(
    times: _Numbers, curves: _Numbers, coefficients: _Numbers, omega: float, start: _Numbers, /
) -> ZmpPath:
    """The handle of a path of the zero moment point."""

def locomotion_path_at(path: ZmpPath, time: float, result: _Numbers, /) -> None:
    """Zmp, dcm, com and its velocity."""

def locomotion_swing(
    end: float, state: _Numbers, goal: _Numbers, rise: _Numbers, derivatives: _Numbers, /
) -> FootSwing:
    """The handle of a foot's swing."""

def locomotion_swing_at(swing: FootSwing, since: float, time: float, /) -> float:
    """The height; fills in the derivatives."""

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
) -> tuple[bool, bool]:
    """Whether the zmp was kept inside, and whether the robot falls."""

def locomotion_lean_trunk(
    trunk: _Numbers, push: _Numbers, upright: float, most: float, period: float, rotation: _Numbers, /
) -> None:
    """Lean on, and turn the rotation so."""

def locomotion_rotation(vector: _Numbers, result: _Numbers, /) -> None:
    """Its matrix."""

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
) -> Anchoring:
    """A handle."""

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
) -> None:
    """Move the balance to the feet."""

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
) -> tuple[bool, int, float]:
    """Whether a foot is early, support and left share as found."""

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
) -> Servos:
    """A handle."""

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
    left: ClosedForm,
    right: ClosedForm,
    left_columns: _Integers,
    right_columns: _Integers,
    joints: _Numbers,
    tasks: tuple[Task, Task, Task, Task],
    /,
) -> Legs:
    """The handle of two legs in closed form."""

def locomotion_aim_legs(legs: Legs, com: _Numbers, rotation: _Numbers, left: _Numbers, right: _Numbers, /) -> None:
    """Set the goals of the tasks."""

def locomotion_put_legs(legs: Legs, tree: Tree, snapshot: Snapshot, rounds: int, /) -> float:
    """To the goals; how far a sole stays away, or -1."""

# control/quadratic
class Quadratic: ...
class Shapes: ...

def quadratic_problem(
    problem: Problem, given: tuple[_Numbers | _Integers, ...], memory: tuple[_Numbers | _Integers, ...], /
) -> Quadratic:
    """The handle of a problem."""

def quadratic_solve(quadratic: Quadratic, snapshot: Snapshot, output: _Numbers, report: _Numbers, /) -> int:
    """One cycle; a verdict."""

def quadratic_blend(quadratic: Quadratic, /) -> int:
    """Solve once more, asked for what was and what the law gives; a verdict."""

def quadratic_write(quadratic: Quadratic, snapshot: Snapshot, output: _Numbers, report: _Numbers, /) -> None:
    """The command, after a fallback."""

def quadratic_evaluate(quadratic: Quadratic, /) -> bool:
    """Go where the losses say; list the limits that are violated there, with their gradients, and say if any are."""

def quadratic_constraints(quadratic: Quadratic, first: _Integers, /) -> None:
    """The first row of each constraint in the newest cycle, -1 if it was off."""

def quadratic_shapes(arrays: tuple[_Numbers | _Integers, ...], /) -> Shapes:
    """At, axis, radius, box, frame, then what is written: rotation, centre, half, velocity, spin."""

def quadratic_near(
    shapes: Shapes, snapshot: Snapshot, pairs: _Integers, reach: _Numbers, near: _Integers, room: _Numbers, /
) -> int:
    """Place all shapes; how many pairs are near. reach is clearance, braking, sudden acceleration, period."""

def quadratic_capsule_distance(shapes: Shapes, one: int, other: int, /) -> float:
    """Of the capsules of two shapes, as they were placed last."""

def quadratic_velocity_range(
    position: float, velocity: float, lower: float, upper: float, fastest: float, braking: float, period: float, /
) -> tuple[float, float]:
    """Least and greatest after a period."""

def quadratic_closing_range(distance: float, rate: float, least: float, braking: float, period: float, /) -> float:
    """The least rate after a period."""

# drivers/unitree
def unitree_pack(message: _Bytes, wire: _Bytes, /) -> None:
    """A LowCmd or LowState, its check sum put in, on the wire."""

def unitree_unpack(message: _Bytes, wire: _Bytes, /) -> bool:
    """The same from the wire; whether its check sum is right."""

def unitree_choose(
    position: _Numbers,
    velocity: _Numbers,
    effort: _Numbers,
    stiffness: _Numbers,
    damping: _Numbers,
    mode: _Bytes,
    mask: _Flags,
    own: _Numbers,
    chosen: _Numbers,
    /,
) -> None:
    """What joints of the mask are told, joints x 5, by mode; own: stiffness, damping, effort of those at a position."""

def unitree_command(chosen: _Numbers, on: _Flags, joints: _Integers, motors: _Integers, command: _Bytes, /) -> None:
    """What was chosen, in a LowCmd."""

def unitree_measure(
    state: _Bytes,
    joints: _Integers,
    motors: _Integers,
    share: float,
    position: _Numbers,
    velocity: _Numbers,
    acceleration: _Numbers,
    effort: _Numbers,
    temperature: _Numbers,
    load: _Numbers,
    /,
) -> int:
    """The joints of a LowState; load takes a share of the newest effort. How many motors have faults."""

def unitree_imu(
    state: _Bytes, orientation: _Numbers, angular_velocity: _Numbers, linear_acceleration: _Numbers, /
) -> bool:
    """What the IMU of a LowState says; False if its quaternion is none."""
