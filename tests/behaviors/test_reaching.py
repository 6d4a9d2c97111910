"""Arms: hands come to points by our kinematics, close on objects, and lift them in MuJoCo."""

from dataclasses import replace

import numpy as np
import pytest
from reaching_rig import ReachingRig

from wholebody import robots
from wholebody.behaviors import Walking
from wholebody.behaviors.arms import NEAR_ENOUGH
from wholebody.behaviors.reaching import Reaching
from wholebody.errors import BadRobot, OutOfReach
from wholebody.robots.geometry import placements
from wholebody.simulation import SensorModel, Simulation

ROBOT = robots.load("hubo2plus")
STANDING = ROBOT.posture("stand")
LIFT = np.array([0.0, 0.0, 0.08])


@pytest.fixture(scope="module")
def arms():
    return Reaching(ROBOT).arms


def palm_of(side, positions):
    """By plain geometry, which shares nothing with the solver."""
    surface = ROBOT.surface(f"{side}_palm")
    return placements(ROBOT, positions)[surface.link] @ surface.at.matrix


def with_arm(arm, row):
    positions = STANDING.copy()
    positions[[ROBOT.index[name] for name in arm.joints]] = row
    return positions


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_palm_goes_straight_to_where_it_is_told_and_faces_what_it_shall_grasp(arms, side):
    arm = arms[side]
    point = np.array([*arm.sweet_spot, 0.06])
    rows = arm.way(STANDING, arm.palm_at(arm.carrying))
    rows = arm.way(with_arm(arm, rows[-1]), arm.palm_at(point, standoff=0.1))
    before = with_arm(arm, rows[-1])
    palms = np.array([palm_of(side, with_arm(arm, row)) for row in arm.way(before, arm.palm_at(point, standoff=0.03))])
    begin, end = palms[0, :3, 3], palms[-1, :3, 3]
    along = (end - begin) / np.linalg.norm(end - begin)
    aside = (palms[:, :3, 3] - begin) - np.outer((palms[:, :3, 3] - begin) @ along, along)
    assert np.linalg.norm(aside, axis=1).max() < 0.003
    to_point = point - end
    assert np.linalg.norm(to_point) == pytest.approx(0.03, abs=NEAR_ENOUGH)
    facing = -palms[-1, :3, 2]  # z of a surface points from what is touched into the link
    assert facing @ to_point / np.linalg.norm(to_point) > 0.95
    assert facing[1] * arm.outward < -0.9, "from outside inwards"


def test_what_is_told_of_a_reach_is_true(arms):
    near = arms["right"].reach(STANDING, (*arms["right"].sweet_spot, 0.06))
    assert near.possible
    assert near.margin > 0
    for point in ((0.9, -0.2, 0.1), (0.3, -0.2, 0.9)):
        far = arms["right"].reach(STANDING, point)
        assert not far.possible
        with pytest.raises(OutOfReach, match=r"short|collide"):
            arms["right"].way(STANDING, arms["right"].palm_at(point))
    with pytest.raises(BadRobot, match="has no hand"):
        Reaching(robots.load("hoap3"))


@pytest.mark.parametrize("side", ["left", "right"])
def test_an_arm_that_would_turn_over_does_not_go_steadily_and_one_that_went_comes_back_as_it_was(arms, side):
    arm = arms[side]
    carrying = arm.moved(STANDING, arm.palm_at(arm.carrying))
    with pytest.raises(OutOfReach, match="turn over"):
        arm.way(carrying, arm.palm_at(arm.carrying + np.array([0.0, 0.0, 0.25])), steadily=True)
    up = arm.moved(carrying, arm.palm_at(arm.carrying + np.array([0.1, 0.0, 0.2])))
    assert arm.palm(up)[2, 3] > arm.palm(carrying)[2, 3] + 0.15
    assert arm.moved(up, arm.palm_at(arm.carrying)) == pytest.approx(carrying, abs=0.02)


def test_manipulability_is_how_much_room_a_hand_has_by_finite_differences(arms):
    arm = arms["left"]
    point = (*arm.sweet_spot, 0.06)
    told, row = arm.reach(STANDING, point), arm.way(STANDING, arm.palm_at(point))[-1]
    at, columns = palm_of("left", with_arm(arm, row))[:3, 3], []
    for joint in range(len(row)):
        moved = row.copy()
        moved[joint] += 1e-6
        columns.append((palm_of("left", with_arm(arm, moved))[:3, 3] - at) / 1e-6)
    J = np.column_stack(columns)
    assert np.sqrt(np.linalg.det(J @ J.T)) == pytest.approx(told.manipulability, rel=0.05)


class Before(ReachingRig):
    """A robot that stands before a stand with the antenna, so far aside of where its right hand would want it."""

    def __init__(self, aside=0.0, seed=0):
        super().__init__(ROBOT, "antenna", "right", "sweet_spot", aside, seed)

    @property
    def item(self):
        return self.world.object_poses[self.world.objects.index("antenna"), :3]

    @property
    def in_base(self):
        base = self.world.base_to_world
        return base[:3, :3].T @ (self.item - base[:3, 3])

    def grasps_and_lifts(self, point):
        self.does("carry")
        self.does("open")
        self.does("reach", point, standoff=0.1)
        self.does("reach", point, standoff=0.03)
        self.does("close")
        self.does("reach", point + LIFT, standoff=0.03)
        self.goes_on(0.8)


def test_a_hand_that_closes_on_a_thing_lifts_it_and_lets_it_go():
    robot = Before()
    height = robot.item[2]
    robot.grasps_and_lifts(robot.in_base)
    assert robot.world.held == {"right": "antenna"}
    assert robot.item[2] == pytest.approx(height + 0.08, abs=0.015)
    assert robot.reaching.load("right") == pytest.approx(0.3 * 9.81, abs=0.5), "the wrist feels its weight"
    robot.does("reach", robot.in_base - [0, 0, 0.08], standoff=0.03)
    robot.does("open")
    robot.does("reach", robot.in_base, standoff=0.1)
    robot.goes_on(0.5)
    assert robot.world.held == {}
    assert robot.item[2] == pytest.approx(height, abs=0.005), "it stands where it was put"
    robot.does("rest")
    robot.goes_on(0.1)
    assert not robot.reaching.moves
    assert not robot.reference.mask.any(), "what it does not move is not its own"


@pytest.mark.slow
def test_a_hand_that_closes_beside_a_thing_comes_up_empty():
    robot = Before()
    height = robot.item[2]
    robot.grasps_and_lifts(robot.in_base - [0.0, 0.1, 0.0])
    assert robot.world.held == {}
    assert robot.item[2] == pytest.approx(height, abs=0.002)
    assert robot.reaching.load("right") < 1.0


def test_a_palm_without_fingers_reaches_and_closing_it_is_refused():
    robot = robots.load("hubo2plus")
    bare = replace(robot, groups={name: names for name, names in robot.groups.items() if not name.endswith("_hand")})
    reaching = Reaching(bare)
    with Simulation(bare, physics=False) as world:
        state, reference = world.new_state(), world.new_reference()
        world.read(state)
        reaching.cycle(state, reference)
        goal = (*reaching.arms["right"].sweet_spot, 0.06)
        reaching.reach("right", goal)
        while reaching.busy("right"):
            world.read(state)
            reaching.cycle(state, reference)
            world.write(reference)
            world.advance()
        palm = reaching.arms["right"].palm(np.array(state.position))
    assert palm[:3, 3] == pytest.approx(goal, abs=0.01)
    with pytest.raises(BadRobot, match="no fingers"):
        reaching.close("right")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::wholebody.errors.RobotWarning")
@pytest.mark.parametrize("side", ["left", "right"])
def test_a_hand_of_a_robot_known_by_its_file_alone_comes_to_a_point_while_it_stands(side):
    robot = robots.load("icub")
    walking, reaching = Walking(robot), Reaching(robot)
    arm = reaching.arms[side]
    columns = np.array([robot.index[name] for name in arm.joints])
    goal = np.array([*arm.sweet_spot, 0.06])
    with Simulation(robot, sensors=SensorModel.realistic(), seed=3) as world:
        state, reference, arms = world.new_state(), world.new_reference(), world.new_reference()
        walking.stand()
        while world.time < 12.0:
            world.read(state)
            if world.time >= 3.0 and not reaching.moves:
                reaching.reach(side, goal)
            if reaching.moves:
                walking.leave(columns)
            walking.cycle(state, reference)
            reaching.cycle(state, arms)
            reference.position[arms.mask] = arms.position[arms.mask]
            world.write(reference)
            world.advance()
        assert world.base_to_world[2, 2] > 0.99
        assert np.linalg.norm(arm.palm(np.array(state.position))[:3, 3] - goal) < 0.01
