"""The simulated world keeps the laws of mechanics, and does what its reference says."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wholebody import robots
from wholebody.messages import Mode, Status
from wholebody.model import Model
from wholebody.robots import Placement
from wholebody.simulation import SCENES, SensorModel, Simulation

GRAVITY = 9.81


def run(simulation, seconds):
    for _ in range(round(seconds / simulation.period)):
        simulation.advance()


def state_of(simulation):
    state = simulation.new_state()
    simulation.read(state)
    return state


def limp(simulation):
    reference = simulation.new_reference()
    reference.mode[:] = Mode.EFFORT
    return reference


@pytest.fixture
def falling():
    simulation = Simulation(robots.load("hubo2plus"))
    simulation.reset("stand", base=Placement((0.0, 0.0, 5.0), (0.1, -0.2, 0.5)))
    return simulation


def test_a_robot_in_the_air_falls_with_the_acceleration_of_gravity(falling):
    start = falling.com_in_world
    run(falling, 0.5)
    steps = 500  # v = g h n and x = g h² n (n + 1) / 2 for the integrator's n steps of h
    assert falling.com_in_world - start == pytest.approx([0, 0, -GRAVITY * 1e-6 * steps * (steps + 1) / 2], abs=1e-6)


def test_an_imu_in_free_fall_feels_nothing(falling):
    falling.write(limp(falling))
    run(falling, 0.05)
    assert state_of(falling)["imu"][0]["linear_acceleration"] == pytest.approx([0, 0, 0], abs=0.05)


@pytest.mark.parametrize("name", ["hubo2plus", "hoap3", "dreamer", "valkyrie"])
def test_an_imu_at_rest_reads_gravity_upwards(name):
    simulation = Simulation(robots.load(name))
    run(simulation, 4.0)
    imu, sensor = state_of(simulation)["imu"][0], simulation.robot.sensors_of("imu")[0]
    axes = simulation.link_to_world(sensor.link)[:3, :3] @ sensor.at.rotation
    assert axes @ imu.linear_acceleration == pytest.approx([0, 0, GRAVITY], abs=0.02)
    assert imu.angular_velocity == pytest.approx([0, 0, 0], abs=5e-3)
    x, y, z, w = imu.orientation
    assert [1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)] == pytest.approx(axes[:, 0], abs=1e-9)


def test_base_velocity_is_in_the_axes_of_the_base(falling):
    run(falling, 0.1)
    base = state_of(falling)["base"]
    axes = falling.base_to_world[:3, :3]
    falling.advance()
    moved = falling.truth.base.position - base["position"]
    assert axes @ base["linear_velocity"] == pytest.approx(moved / falling.period, abs=0.05)
    assert base["known"]


def test_a_push_changes_momentum_by_force_times_duration(falling):
    def momentum(force):
        falling.reset("stand", base=Placement((0.0, 0.0, 5.0)))
        falling.push("Body_Torso", force, 0.0123, start=0.0207)
        run(falling, 0.1)
        before = falling.com_in_world
        falling.advance()
        return falling.robot.mass * (falling.com_in_world - before) / falling.period

    gained = momentum((300.0, -100.0, 50.0)) - momentum((1e-9, 0.0, 0.0))
    assert gained == pytest.approx(np.array([300.0, -100.0, 50.0]) * 0.012, rel=1e-3), "rounded to steps of 1 ms"


def test_a_push_beside_the_centre_of_mass_turns_the_robot(falling):
    def spin(point):
        falling.reset("stand", base=Placement((0.0, 0.0, 5.0)))
        falling.push("Body_Torso", (100.0, 0.0, 0.0), 0.05, point=point)
        run(falling, 0.1)
        return state_of(falling)["base"]["angular_velocity"][2]

    left, right = spin((0.0, 0.2, 0.1)), spin((0.0, -0.2, 0.1))
    assert left < -0.1
    assert right > 0.1


def test_a_push_that_never_comes_changes_nothing():
    """The physics takes another path through its steps when there are pushes; it is the same physics."""
    plain, waiting = Simulation(robots.load("hoap3")), Simulation(robots.load("hoap3"))
    waiting.push("WAIST", (1.0, 0.0, 0.0), 0.1, start=1000.0)
    for simulation in (plain, waiting):
        run(simulation, 0.2)
    assert plain.truth.tobytes() == waiting.truth.tobytes()


def test_the_hand_feels_the_load_it_carries_and_the_feet_too():
    simulation = Simulation(robots.load("hubo2plus"))
    run(simulation, 1.0)
    names = [sensor.name for sensor in simulation.robot.sensors_of("force_torque")]
    hand = names.index("right_hand")
    before = state_of(simulation)["force_torque"]["force"]
    simulation.attach(2.0, "Body_RWP", at=(0.0, 0.0, -0.1))
    run(simulation, 3.0)
    after = state_of(simulation)["force_torque"]["force"]
    assert np.linalg.norm(before[hand]) < 0.5
    assert np.linalg.norm(after[hand]) == pytest.approx(2.0 * GRAVITY, rel=0.02)
    weight = (simulation.robot.mass + 2.0) * GRAVITY
    feet = [names.index("right_foot"), names.index("left_foot")]
    assert after[feet, 2].sum() == pytest.approx(weight, rel=0.01)
    simulation.drop_loads()
    run(simulation, 2.0)
    assert np.linalg.norm(state_of(simulation)["force_torque"]["force"][hand]) < 0.5


def test_a_load_can_come_later():
    simulation = Simulation(robots.load("hoap3"))
    simulation.attach(0.5, "WAIST", start=0.1)
    run(simulation, 0.05)
    assert simulation.com_in_world.shape == (3,)
    weight = sum(touch.force_in_world[2] for touch in simulation.touches)
    run(simulation, 1.0)
    more = sum(touch.force_in_world[2] for touch in simulation.touches)
    assert more - weight == pytest.approx(0.5 * GRAVITY, rel=0.2)


def test_effort_mode_with_gravity_compensation_holds_an_arm_and_without_it_sinks():
    robot = robots.load("dreamer")
    model, arm = Model(robot), list(robot.group("right_arm"))
    raised = robot.posture("stand")
    raised[robot.index["right_shoulder_extensor"]] = 1.0

    def sag(compensate):
        simulation = Simulation(robot, posture=raised)
        reference, state = simulation.new_reference(), simulation.new_state()
        reference.mode[arm] = Mode.EFFORT
        start = state_of(simulation)["position"].copy()
        for _ in range(200):
            simulation.read(state)
            if compensate:
                reference.effort[:] = model.at(state.position, state.velocity).g
            simulation.write(reference)
            simulation.advance()
        return abs(state_of(simulation)["position"] - start)[arm].max()

    assert sag(compensate=True) < 0.02
    assert sag(compensate=False) > 0.1


def test_velocity_mode_turns_a_joint_at_its_velocity():
    simulation = Simulation(robots.load("hoap3"))
    joint = simulation.robot.index["R_SFE"]
    reference = simulation.new_reference()
    reference.mode[joint], reference.velocity[joint] = Mode.VELOCITY, 0.8
    simulation.write(reference)
    run(simulation, 0.5)
    assert state_of(simulation)["velocity"][joint] == pytest.approx(0.8, rel=0.1)


def test_impedance_mode_is_a_spring_of_the_stiffness_asked_for():
    simulation = Simulation(robots.load("dreamer"))
    joint = simulation.robot.index["torso_lower_pitch"]
    reference = simulation.new_reference()
    held = reference.position.copy()

    def torque(stiffness):
        simulation.reset()
        reference.position[:] = held
        reference.position[joint] += 0.02
        reference.mode[joint] = Mode.IMPEDANCE
        reference.stiffness[joint], reference.damping[joint] = stiffness, 50.0
        simulation.write(reference)
        run(simulation, 0.3)
        state = state_of(simulation)
        spring = stiffness * (reference.position - state.position) - 50.0 * state.velocity
        return state.effort[joint], spring[joint]

    for stiffness in (500.0, 3000.0):
        effort, spring = torque(stiffness)
        assert effort == pytest.approx(spring, abs=0.05 * abs(spring) + 0.5)


def test_no_joint_exerts_more_than_its_limit_and_the_state_says_so():
    simulation = Simulation(robots.load("hubo2plus"))
    joint = simulation.robot.index["RSP"]
    limit = simulation.robot.joint("RSP").effort
    reference = simulation.new_reference()
    reference.mode[joint], reference.effort[joint] = Mode.EFFORT, 10 * limit
    simulation.write(reference)
    simulation.advance()
    state = state_of(simulation)
    assert state.effort[joint] == pytest.approx(limit)
    assert Status(int(state.status[joint])) & Status.SATURATED
    assert not Status(int(state.status[joint - 1])) & Status.SATURATED


def test_joints_tied_to_another_follow_it_closely():
    simulation = Simulation(robots.load("dreamer"))
    coupling = simulation.robot.couplings[0]
    master, slave = simulation.robot.index[coupling.master], simulation.robot.index[coupling.slave]
    reference = simulation.new_reference()
    reference.position[master] += 0.2
    simulation.write(reference)
    for _ in range(100):
        simulation.advance()
        q = simulation.truth.position
        assert q[slave] == pytest.approx(coupling.ratio * q[master], abs=2e-3)
    assert q[master] > 0.1


@pytest.mark.parametrize("physics", [True, False], ids=["physics", "kinematic"])
def test_the_same_seed_gives_the_same_run_bit_by_bit(physics):
    def states(seed):
        simulation = Simulation(robots.load("minihubo"), seed=seed, physics=physics, sensors=SensorModel.realistic())
        if physics:
            simulation.push("Hip", (1.0, 0.5, 0.0), 0.1, start=0.2)
        reference, found = simulation.new_reference(), []
        for tick in range(80):
            reference.position[0] += 1e-3 * np.sin(tick)
            simulation.write(reference)
            simulation.advance()
            found.append(state_of(simulation).tobytes())
        return found

    assert states(1) == states(1)
    assert states(1) != states(2)


def test_a_reset_begins_the_same_run_again():
    simulation = Simulation(robots.load("minihubo"), sensors=SensorModel.realistic())
    runs = []
    for _ in range(2):
        simulation.reset()
        run(simulation, 0.2)
        runs.append(state_of(simulation).tobytes())
        simulation.push("Hip", (5.0, 0.0, 0.0), 0.1)
        simulation.attach(0.1, "Hip")
        run(simulation, 0.1)
    assert runs[0] == runs[1]


@pytest.mark.parametrize("scene", [*SCENES, "steps:height=0.05,count=3", "slope:angle=-0.05"])
def test_a_robot_stands_in_every_scene(scene):
    simulation = Simulation(robots.load("hubo2plus"), scene)
    height = simulation.com_in_world[2]
    run(simulation, 1.0)
    assert simulation.com_in_world[2] == pytest.approx(height, abs=0.005)


def test_things_on_the_table_stay_there():
    simulation = Simulation(robots.load("hubo2plus"), "table:height=0.8,ahead=0.6")
    data = simulation._engine.world.data
    before = [data.body(item).xpos.copy() for item in ("box", "can", "ball")]
    run(simulation, 2.0)
    after = [data.body(item).xpos for item in ("box", "can", "ball")]
    assert np.abs(np.subtract(after, before)).max() < 0.01


@pytest.mark.parametrize("scene", SCENES)
def test_a_legged_robot_bolted_by_its_root_hangs_clear_of_the_ground(scene):
    simulation = Simulation(robots.load("hubo2plus", floating=False), scene)
    run(simulation, 0.5)
    assert not [touch for touch in simulation.touches if touch.other == "floor"]
    assert simulation.base_to_world == pytest.approx(np.eye(4)), "its root is the world's origin, as for its model"


def test_a_robot_from_a_file_without_gains_stands_too():
    simulation = Simulation(replace(robots.load("hoap3"), gains={}))
    com = simulation.com_in_world
    run(simulation, 3.0)
    assert np.linalg.norm(simulation.com_in_world - com) < 0.01


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_every_joint_exerts_what_the_formula_of_its_mode_says(seed):
    """τ = kp (q* − q) + kd (q̇* − q̇) + τ*, within the joint's limit; what a mode does not follow is not in it."""
    robot, random = robots.load("hoap3"), np.random.default_rng(seed)
    simulation = Simulation(robot, control_period=0.001)
    reference, n = simulation.new_reference(), len(robot.moving)
    reference.mode[:] = random.integers(0, 4, n)
    reference.position += random.normal(0, 0.01, n)
    for field, size in (("velocity", 0.1), ("effort", 0.3), ("stiffness", 20.0), ("damping", 1.0)):
        reference[field] = abs(random.normal(0, size, n))
    before = state_of(simulation)
    simulation.write(reference)
    simulation.advance()
    own = [robot.gains[name] for name in robot.joint_names]
    kp, kd = np.array([g.stiffness for g in own]), np.array([g.damping for g in own])
    q = reference.position - before["position"]
    v, effort = reference.velocity - before["velocity"], reference.effort
    forces = np.array(
        [
            kp * q - kd * before["velocity"],
            kd * v,
            effort,
            reference.stiffness * q + reference.damping * v + effort,
        ]
    )
    limits = np.array([joint.effort for joint in robot.moving])
    expected = np.clip(forces[reference.mode, np.arange(n)], -limits, limits)
    assert state_of(simulation)["effort"] == pytest.approx(expected, abs=1e-9)
