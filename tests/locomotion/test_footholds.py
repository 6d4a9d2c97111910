"""Heights of the ground from pictures of depth, and places for limbs on it."""

import math

import numpy as np
import pytest

from wholebody import robots
from wholebody.errors import BadGoal
from wholebody.locomotion.crawling.footholds import DriftedGround, LevelGround, RoughGround
from wholebody.locomotion.crawling.gait import crawl_gait_of
from wholebody.locomotion.crawling.pattern import CrawlPattern
from wholebody.locomotion.crawling.step import PHASES, SHARES, bow_of, bump
from wholebody.locomotion.walking.footsteps import Place, Velocity
from wholebody.model.model import Model
from wholebody.perception.camera_model import CameraModel
from wholebody.perception.height_map import HeightMap

STEP = (1.0, 0.0, 0.4, 0.4, 0.05)  # x, y, length, width, height


def with_a_block():
    heights = HeightMap.over((-1.0, 3.0), (-1.0, 1.0))
    heights.put_boxes([STEP])
    return heights


def test_a_map_has_the_heights_of_boxes_and_knows_nothing_beyond_itself():
    heights = with_a_block()
    assert heights.at(1.0, 0.0) == pytest.approx(0.05)
    assert heights.at(0.5, 0.0) == 0.0
    assert math.isnan(heights.at(5.0, 0.0))
    assert heights.roughness(1.0, 0.0, 0.1) == 0.0
    assert heights.roughness(0.8, 0.0, 0.1) == pytest.approx(0.05)
    assert math.isinf(HeightMap.over((0.0, 1.0), (0.0, 1.0)).roughness(0.5, 0.5, 0.1))


@pytest.mark.parametrize("to", [(0.0, 0.0), (2.9, 0.0), (1.3, -0.7), (-3.0, 0.4), (40.0, 9.0)])
def test_a_map_moves_along_and_keeps_what_stays_on_it(to):
    heights, fixed = with_a_block(), with_a_block()
    for _ in range(2):
        heights.keep_inside(*to, 0.6)
        for x, y in np.array(to) + 0.59 * np.array([(1, 1), (1, -1), (-1, 1), (-1, -1)]):
            assert ((heights.cells((x, y)) >= 0) & (heights.cells((x, y)) < heights.heights.shape)).all()
    here = [(x, y) for x in np.arange(-0.99, 3.0, 0.1) for y in np.arange(-0.99, 1.0, 0.1)]
    stayed = [place for place in here if (heights.cells(place) >= 0).all() and np.isfinite(heights.at(*place))]
    assert len(stayed) > (100 if to[0] < 3.0 else -1)
    assert all(heights.at(*place) == fixed.at(*place) for place in stayed)
    beyond = heights.corner[0] + 0.99 * heights.cell * heights.heights.shape[0]
    assert math.isnan(heights.at(beyond, to[1])) == (beyond > 3.0)


def test_on_a_map_that_is_too_small_the_robot_is_in_the_middle():
    heights = HeightMap.over((-1.0, 1.0), (-0.3, 0.3))
    for _ in range(2):
        heights.keep_inside(0.0, 0.1, 5.0)
        assert heights.corner == pytest.approx((-1.0, -0.2), abs=heights.cell + 1e-9)


def rays_in_world(lens, camera_to_world):
    """The ray of each pixel, whose way along the camera's axis is 1."""
    v, u = np.indices((lens.height, lens.width))
    across, down = lens.middle
    rays = np.stack([np.ones(u.shape), (across - u) / lens.focal, (down - v) / lens.focal], axis=-1)
    return rays @ camera_to_world[:3, :3].T


def looking_down(angle, height):
    """A camera over the origin that looks ahead, and down by an angle: 4 × 4, in world."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, 0, s, 0.0], [0, 1, 0, 0.0], [-s, 0, c, height], [0, 0, 0, 1]])


def ray_cast(lens, camera_to_world):
    """Depth of the floor and of the block, pixel by pixel, by intersecting rays with planes."""
    x, y, length, width, top = STEP
    rays = rays_in_world(lens, camera_to_world)
    origin, depth = camera_to_world[:3, 3], np.full(rays.shape[:2], np.inf)
    for height in (0.0, top):
        with np.errstate(divide="ignore"):
            far = (height - origin[2]) / rays[..., 2]
        hit = origin + far[..., None] * rays
        on = (np.abs(hit[..., 0] - x) < length / 2) & (np.abs(hit[..., 1] - y) < width / 2) if height else True
        depth = np.where((far > 0) & on & (far < depth), far, depth)
    return depth.astype(np.float32)


def test_a_camera_that_looks_down_sees_the_heights_that_are_there():
    lens = CameraModel(160, 120, math.radians(60))
    camera = looking_down(0.8, 1.0)
    heights = HeightMap.over((0.0, 2.0), (-0.5, 0.5), cell=0.05)
    heights.see(ray_cast(lens, camera), lens, camera)
    assert heights.at(1.0, 0.0) == pytest.approx(0.05, abs=1e-3)
    assert heights.at(0.6, 0.3) == pytest.approx(0.0, abs=1e-3)
    assert math.isnan(heights.at(0.07, 0.0))  # below the picture


def over_an_edge(lens, camera_to_world, edge, depth_of):
    """Depth of level ground up to an edge, and of the ground below it, of which a ray hits the first."""
    rays = rays_in_world(lens, camera_to_world)
    upper, lower = ((height - camera_to_world[2, 3]) / rays[..., 2] for height in (0.0, -depth_of))
    return np.where(camera_to_world[0, 3] + upper * rays[..., 0] < edge, upper, lower).astype(np.float32)


@pytest.mark.parametrize("depth_of", [0.1, 0.5, 30.0])
def test_in_the_shadow_of_an_edge_the_ground_is_known_to_be_lower_and_elsewhere_not(depth_of):
    lens = CameraModel(160, 120, math.radians(40))
    camera = looking_down(0.8, 1.0)
    picture = over_an_edge(lens, camera, 0.9, depth_of)
    heights = HeightMap.over((0.0, 2.0), (-0.5, 0.5))
    heights.see(picture, lens, camera, 2.0)
    assert [heights.at(x, 0.0) for x in (0.8, 0.88)] == pytest.approx([0.0, 0.0], abs=1e-3)
    shadow = np.array([heights.at(x, 0.0) for x in np.arange(1.01, 1.2, 0.02)])
    assert (shadow < -0.09).all()
    assert math.isnan(heights.at(0.3, 0.0)), "below the picture nothing is known"
    hidden = HeightMap.over((0.0, 2.0), (-0.5, 0.5))
    hidden.see(np.full_like(picture, 0.3), lens, camera, 2.0, own=np.array([[0.2, 0.0, 0.8]]))
    assert not (hidden.heights < 0.0).any(), "nor behind an arm"


def test_the_ground_behind_a_block_is_not_taken_for_a_hole():
    lens = CameraModel(160, 120, math.radians(60))
    camera = looking_down(0.5, 0.4)
    heights = HeightMap.over((0.0, 2.0), (-0.5, 0.5))
    heights.see(ray_cast(lens, camera), lens, camera)
    assert np.isnan(heights.at(1.25, 0.0)), "its shadow"
    assert np.nanmin(heights.heights) > -1e-3


def test_a_limb_is_put_beside_an_edge_and_not_on_it():
    ground, edge = RoughGround(with_a_block()), 0.8
    x, y, z = ground.foothold(np.array([edge + 0.01, 0.0]))
    assert abs(x - edge) > ground.radius
    assert z in (0.0, pytest.approx(0.05))
    assert ground.heights.roughness(x, y, ground.radius) == 0.0
    assert math.hypot(x - edge - 0.01, y) <= 0.12 + ground.heights.cell


def test_in_the_open_a_limb_goes_where_it_wants():
    ground = RoughGround(with_a_block())
    x, y, z = ground.foothold(np.array([0.2, 0.3]))
    assert (x, y) == pytest.approx((0.2, 0.3), abs=ground.heights.cell)
    assert z == 0.0
    assert LevelGround().foothold(np.array([0.2, 0.3])).tolist() == [0.2, 0.3, 0.0]


def test_a_limb_never_goes_to_where_nobody_has_looked_if_something_is_known_nearby():
    heights = with_a_block()
    heights.heights[: heights.heights.shape[0] // 4] = np.nan  # behind x = 0
    x, _, _ = RoughGround(heights).foothold(np.array([-0.02, 0.0]))
    assert x > 0.06 - heights.cell


def test_a_swing_clears_everything_on_its_way():
    model = Model(robots.load("atlas"))
    ground = RoughGround(with_a_block())
    pattern = CrawlPattern(crawl_gait_of(model, climb=0.06), ground=ground)
    pattern.velocity = Velocity(0.08)
    on_the_block = 0
    for k in range(3000):
        target = pattern.at(0.01 * k)
        for limb, (x, y, z) in enumerate(target.places):
            top = ground.heights.at(x, y)
            assert z >= top - 1e-9, (k, limb, x, y, z, top)
            if target.bearing[limb]:
                assert z == pytest.approx(top, abs=1e-9)
                on_the_block += top > 0.04
    assert on_the_block > 100


@pytest.mark.parametrize("limb", range(4))
@pytest.mark.parametrize(("x", "goal"), [(0.6, 0.9), (1.1, 1.4), (0.72, 0.88), (0.6, 1.4), (0.3, 0.6)])
def test_a_swing_is_over_all_on_its_way_and_no_higher_than_needed(limb, x, goal):
    ground, lift = RoughGround(with_a_block()), 0.02
    gait = crawl_gait_of(Model(robots.load("atlas")), lift=lift, outward=0.1)
    start, end = (np.array([each, 0.0, ground.heights.at(each, 0.0)]) for each in (x, goal))
    bow = bow_of(gait, ground, limb, (start, end), yaw=0.0)
    assert bow[:2] == pytest.approx([0.0, {2: 0.1, 3: -0.1}.get(limb, 0.0)]), "knees go outward"
    way = start + SHARES[:, None] * (end - start) + bump(PHASES)[:, None] * bow
    over = way[:, 2] - ground.highest_at(way[:, :2])
    assert (over >= lift * bump(PHASES) - 1e-9).all()
    assert bow[2] == pytest.approx(lift) or (over - lift * bump(PHASES)).min() < 1e-9, "no higher"


def test_a_map_of_no_size_is_refused():
    with pytest.raises(BadGoal, match="cells"):
        HeightMap.over((0.0, 0.0), (0.0, 1.0))


def test_a_knee_is_put_where_its_shin_has_room_behind_it():
    ground, behind_the_block = RoughGround(with_a_block()), np.array([1.28, 0.0])
    backward = np.array([-0.6, 0.0])
    hand, knee = ground.foothold(behind_the_block), ground.foothold(behind_the_block, backward)
    assert hand[:2] == pytest.approx(behind_the_block, abs=ground.heights.cell), "a hand has no shin"
    assert knee[0] > hand[0] + 0.05, "farther off from what is higher behind it"


def test_limbs_of_a_plan_that_drifted_come_down_where_they_would_in_the_world():
    ground, drift = RoughGround(with_a_block()), Place(0.3, -0.2, 0.4)
    wanted, shin = Place(0.81, 0.05, 0.0), np.array([-0.6, 0.0])
    planned = np.array(wanted.seen_from(drift)[:2])
    turned = np.array(Place(*shin, 0.0).seen_from(Place(0.0, 0.0, drift.yaw))[:2])
    there = DriftedGround(ground, lambda: drift).foothold(planned, turned)
    assert np.allclose(drift.beside(*there[:2])[:2], ground.foothold(np.array(wanted[:2]), shin)[:2])
    ends = [np.array(Place(x, 0.0, 0.0).seen_from(drift)[:2]) for x in (0.5, 0.9)]
    assert DriftedGround(ground, lambda: drift).highest_between(*ends) == pytest.approx(0.05)
    assert DriftedGround(ground, lambda: drift).highest_between(ends[0], ends[0]) == 0.0
    assert DriftedGround(ground, lambda: drift).highest_at(np.array(ends)).tolist() == [0.0, STEP[4]]


def test_many_noisy_pictures_say_more_than_one():
    lens, camera, random = (
        CameraModel(160, 120, math.radians(60), scatter=0.1),
        looking_down(0.8, 1.0),
        np.random.default_rng(5),
    )
    depth, errors = ray_cast(lens, camera), []
    heights = HeightMap.over((0.5, 1.5), (-0.4, 0.4), cell=0.05)
    for _ in range(8):
        heights.see(lens.as_measured(depth, 0.0, random), lens, camera)
        errors.append(abs(heights.at(1.0, 0.0) - 0.05))
    one = [HeightMap.over((0.5, 1.5), (-0.4, 0.4), cell=0.05) for _ in range(8)]
    for each in one:
        each.see(lens.as_measured(depth, 0.0, random), lens, camera)
    alone = np.sqrt(np.mean([(each.at(1.0, 0.0) - 0.05) ** 2 for each in one]))
    assert errors[-1] < alone


def test_the_robots_own_hands_are_no_ground():
    lens, camera = CameraModel(160, 120, math.radians(60)), looking_down(0.8, 1.0)
    heights = HeightMap.over((0.0, 2.0), (-0.5, 0.5), cell=0.05)
    heights.see(ray_cast(lens, camera), lens, camera, own=np.array([[1.0, 0.0, 0.1]]))
    assert math.isnan(heights.at(1.0, 0.0))
    assert heights.at(0.6, 0.3) == pytest.approx(0.0, abs=1e-3)


def test_a_cell_in_the_shadow_of_an_edge_is_as_low_as_the_ground_beside_it():
    heights = with_a_block()
    i, j = heights.cells((1.21, 0.0))
    heights.heights[i : i + 2, j - 5 : j + 5] = np.nan
    ground = RoughGround(heights)
    assert np.isfinite(ground.foothold(np.array([1.3, 0.0]))).all()
    assert ground.foothold(np.array([1.28, 0.0]))[0] == pytest.approx(1.28, abs=heights.cell)


def test_noise_below_the_tolerance_does_not_push_limbs_away():
    heights = with_a_block()
    heights.heights += np.random.default_rng(1).normal(0.0, 0.002, heights.heights.shape)
    wanted = np.array([0.3, 0.2])
    x, y, z = RoughGround(heights, tolerance=0.015).foothold(wanted)
    assert (x, y) == pytest.approx(wanted, abs=heights.cell)
    assert z == pytest.approx(0.0, abs=0.003), "the middle of what is below it, not its highest bump"
    edge = RoughGround(heights, tolerance=0.015).foothold(np.array([0.81, 0.0]))
    assert abs(edge[0] - 0.8) > 0.05, "but edges do"
