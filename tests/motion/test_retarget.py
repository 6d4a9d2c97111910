"""A captured crawl on robots: what they do with it, what they cannot do, and whether Atlas gets anywhere by it."""

from dataclasses import replace

import numpy as np
import pytest
from capture_examples import crawling, person, real_person, standing
from typer.testing import CliRunner

from wholebody import robots
from wholebody.cli import application
from wholebody.errors import CannotImitate
from wholebody.kinematics.inverse import InverseKinematics
from wholebody.model import Contacts, Model
from wholebody.motion import KeyFrames
from wholebody.motion.capture.capture import Capture
from wholebody.motion.capture.crawling_posture import on_wrists_and_knees
from wholebody.motion.capture.gait import CapturedGait
from wholebody.motion.capture.limbs import limbs_of, scale_of
from wholebody.motion.capture.retarget import imitate, imitate_clip
from wholebody.motion.static_poses import efforts_at_rest
from wholebody.robots import geometry
from wholebody.tasks import CenterOfMassTask

MARGIN = 0.03


@pytest.fixture(scope="module")
def model():
    return Model(robots.load("atlas"))


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return crawling(tmp_path_factory.mktemp("crawl") / "crawl.bvh", cycles=2)


@pytest.fixture(scope="module")
def gait(file):
    return CapturedGait.of(Capture.read(file))


@pytest.fixture(scope="module")
def imitation(gait, model):
    return imitate(gait, model, margin=MARGIN, period=0.02)


@pytest.fixture(scope="module")
def surging(tmp_path_factory, model):
    """One whose trunk surges, imitated with CoM rows and without."""
    gait = CapturedGait.of(Capture.read(crawling(tmp_path_factory.mktemp("surge") / "a.bvh", cycles=2, surge=0.15)))
    return [imitate(gait, model, margin=MARGIN, likeness=0.5, period=0.04, with_com=each) for each in (True, False)]


def lower_and_upper(model):
    return (np.array([getattr(joint, end) for joint in model.robot.moving]) for end in ("lower", "upper"))


# --- limbs --------------------------------------------------------------------------------------------


def test_limbs_of_atlas_are_palms_and_knees_and_their_lengths_are_known(model, gait):
    limbs = limbs_of(model, gait.limbs)
    assert [limb.frame for limb in limbs] == ["left_palm", "right_palm", "left_knee", "right_knee"]
    assert limbs[2].behind == "l_foot"
    assert limbs[2].length == pytest.approx(0.377, abs=0.01), "from the last hip joint to the knee"
    assert scale_of(limbs[2], gait.capture) == pytest.approx(limbs[2].length / 0.4)


@pytest.mark.parametrize("name", ["hubo2plus", "hrp2", "valkyrie", "teo", "hoap3"])
def test_every_humanoid_has_limbs_to_crawl_on(name, gait):
    limbs = limbs_of(Model(robots.load(name)), gait.limbs)
    for limb in limbs:
        assert 0.05 < limb.length < 1.2
    assert limbs[0].length == pytest.approx(limbs[1].length, rel=0.01)
    assert limbs[2].length == pytest.approx(limbs[3].length, rel=0.01)
    assert all(len(limb.points) > 4 for limb in limbs), "without a posture of their own, whole hands and shins count"


@pytest.mark.parametrize(("name", "said"), [("trikey", "no left_arm, left_leg"), ("dreamer", "bolted down")])
def test_robots_without_the_limbs_are_refused(gait, name, said):
    with pytest.raises(CannotImitate, match=said):
        imitate(gait, Model(robots.load(name)))


@pytest.mark.slow(but="valkyrie")
@pytest.mark.parametrize("name", ["hubo2plus", "valkyrie", "hrp2", "minihubo"])
def test_a_robot_without_a_posture_on_wrists_and_knees_gets_one(name, gait):
    model = Model(robots.load(name))
    limbs = limbs_of(model, gait.limbs)
    q = on_wrists_and_knees(model, limbs)
    at, (lower, upper) = model.at(q), lower_and_upper(model)
    assert ((q[7:] >= lower) & (q[7:] <= upper)).all()
    for limb in limbs:
        frame = model.frame(limb.frame)
        height = at.position(frame)[2] + (np.array(limb.points) @ at.rotation(frame)[2]).min()
        assert abs(height) < 0.03, f"{limb.part} is on the ground"
    base = np.eye(4)
    base[:3, 3], base[:3, :3] = at.position(0), at.rotation(0)
    assert geometry.extent(model.robot, q[7:], base)[0][2] > -0.03, "nothing else is in it"
    knees, hands = (
        np.mean([at.position(model.frame(limb.frame))[0] for limb in some]) for some in (limbs[2:], limbs[:2])
    )
    assert knees < at.com_in_world[0] < hands


@pytest.mark.slow(but="valkyrie-0.2-effort limit")
@pytest.mark.parametrize(
    ("name", "stride", "misfits"),
    [("hubo2plus", 0.17, ""), ("hrp2", 0.12, ""), ("valkyrie", 0.2, "effort limit"), ("teo", 0.05, "")],
)
def test_what_is_said_to_fit_is_within_limits_and_what_does_not_fit_is_named(name, stride, misfits, gait):
    model = Model(robots.load(name))
    quality = imitate(gait, model, stride=stride, likeness=0.5, period=0.04).quality
    fits = quality.speed[1] <= 1 and quality.effort[1] <= 1 and quality.slide < 5e-3 and quality.penetration < 5e-3
    assert fits == (not misfits), quality.verdict
    if fits:
        assert quality.verdict == "fits"
        assert quality.lowest > -0.01
        assert quality.margin > 0
    else:
        assert quality.verdict.startswith("does not fit: ")
        assert misfits in quality.verdict
    assert quality.slow_down <= 5.0
    assert quality.verdict in quality.table()


def test_the_worst_misfit_comes_first(imitation):
    worse = replace(imitation.quality, speed=("l_leg_kny", 2.0), slide=0.05, inside=0.9)
    assert worse.misfits == (
        "limbs that bear slide by 50 mm",
        "l_leg_kny would need 200% of its speed limit",
        "it would tip over 10% of the time",
    )


# --- a cycle --------------------------------------------------------------------------------------------


def test_limbs_that_bear_neither_slide_nor_sink_and_reach_where_they_should(imitation):
    quality = imitation.quality
    assert quality.slide < 1e-3
    assert quality.penetration < 3e-3
    assert quality.lowest > -5e-3
    assert not quality.unreachable
    assert max(gap.worst for gap in quality.gaps) < 5e-3


def test_the_centre_of_mass_is_inside_by_the_margin_whenever_limbs_are_in_the_air(imitation, model):
    for row, q in enumerate(imitation.q):
        contacts = imitation.contacts(row)
        assert len(contacts) >= 3
        assert Contacts(model, contacts).margin(model.at(q)) > MARGIN - 2e-3


@pytest.mark.slow
def test_without_com_rows_a_person_of_other_masses_would_make_atlas_tip_over(surging):
    arms = surging
    assert arms[0].duration == pytest.approx(arms[1].duration, rel=1e-9), "the same timing"
    assert arms[0].stride == arms[1].stride
    assert arms[0].quality.margin > MARGIN - 2e-3
    assert arms[0].quality.verdict == "fits"
    assert arms[1].quality.margin < 0
    assert "it would tip over" in arms[1].quality.verdict


def test_commands_make_up_for_what_joints_give_way(imitation, model):
    efforts = efforts_at_rest(model, [limb.frame for limb in imitation.limbs], imitation.q, imitation.bearing)
    stiffness = np.array([model.robot.gains[name].stiffness for name in model.joint_names])
    loaded = (imitation.commands - imitation.joints) * stiffness
    middle = np.flatnonzero(imitation.bearing.all(axis=1))[20]
    np.testing.assert_allclose(loaded[middle], efforts[middle], atol=25.0)  # smoothed where loads are handed over
    assert np.abs(efforts[middle]).max() > 25.0


def test_loads_at_rest_hold_the_robot(model):
    q = model.posture("stand")
    (efforts,) = efforts_at_rest(model, ["left_sole", "right_sole"], q[None], np.array([[True, True]]))
    hanging = efforts_at_rest(model, ["left_sole"], q[None], np.array([[False]]))[0]
    np.testing.assert_allclose(hanging, model.at(q).g[6:])
    legs = [model.column(f"{side}_leg_kny") - 6 for side in "lr"]
    assert efforts[legs[0]] == pytest.approx(efforts[legs[1]], rel=1e-2), "both legs alike"
    arms = [model.column(f"{side}_arm_elx") - 6 for side in "lr"]
    np.testing.assert_allclose(efforts[arms], hanging[arms], atol=1e-9)


def test_joints_stay_within_their_limits_and_move_smoothly(imitation, model):
    lower, upper = lower_and_upper(model)
    joints = imitation.q[:, 7:]
    assert (joints >= lower - 1e-9).all()
    assert (joints <= upper + 1e-9).all()
    speed = np.diff(joints, axis=0) / imitation.period
    assert np.abs(speed).max() < 6.0
    assert np.abs(np.diff(speed, axis=0)).max() / imitation.period < 150.0
    assert imitation.quality.speed[1] < 0.6


def test_a_cycle_ends_as_it_began_a_stride_farther(imitation):
    np.testing.assert_allclose(imitation.q[-1, 7:], imitation.q[0, 7:], atol=1e-9)
    assert imitation.q[-1, 0] - imitation.q[0, 0] == pytest.approx(imitation.stride, abs=2e-3)
    table = imitation.table(cycles=3)
    assert len(table.positions) == 3 * (len(imitation.q) - 1) + 1
    np.testing.assert_array_equal(table.positions[0], table.positions[-1])


def test_the_cycle_is_slower_than_the_person_s_and_says_so(imitation, gait):
    assert imitation.slow_down == pytest.approx(imitation.duration / gait.period, rel=1e-6)
    assert 1.0 <= imitation.slow_down <= 5.0
    assert f"{imitation.slow_down:.2f} ×" in imitation.quality.table()


def test_key_frames_have_the_contacts_of_each_phase_and_can_be_played(imitation, tmp_path, model):
    imitation.key_frames().write(tmp_path / "crawl.yaml")
    frames = KeyFrames.read(tmp_path / "crawl.yaml", model.robot)
    assert not frames.violations(period=0.05)
    assert all(len(frame.contacts) >= 3 for frame in frames.frames)
    flying = {
        frozenset(("left_palm", "right_palm", "left_knee", "right_knee")) - set(f.contacts) for f in frames.frames
    }
    assert len(flying) == 5, "each limb in the air at some time, and all on the ground"
    rows = np.arange(len(imitation.q)) * imitation.period
    apart = frames.trajectory().sample(rows).position - imitation.q[:, 7:]
    assert np.abs(apart).max() < 0.05


def test_progress_goes_from_nothing_to_all(gait, model):
    seen = []
    imitate(gait, model, period=0.2, stride=0.2, likeness=0.5, progress=seen.append)
    assert seen == sorted(seen)
    assert 0.0 < seen[0] < 0.1
    assert seen[-1] == 1.0


def test_a_stride_that_no_limb_can_reach_is_refused_with_how_far_it_is(gait, model):
    with pytest.raises(CannotImitate, match=r"atlas cannot reach: at .* m from where it should be"):
        imitate(gait, model, stride=0.9)


def test_a_stride_that_takes_too_long_is_made_shorter(tmp_path, model):
    gait = CapturedGait.of(Capture.read(crawling(tmp_path / "a.bvh", stride=0.6, period=1.4, swing=0.3)))
    with pytest.raises(CannotImitate, match=r"at most 5 times\. Tell a shorter stride"):
        imitate(gait, model, stride=0.6, likeness=0.5)
    shorter = imitate(gait, model, likeness=0.5, period=0.1)
    assert 0.2 < shorter.stride < 0.6
    assert shorter.slow_down <= 5.0


def test_a_walk_is_refused_and_what_can_be_done_is_said(model):
    path = real_person("cmu_07_01_walk.bvh")
    with pytest.raises(CannotImitate, match=r"1 of left_ankle, right_ankle bear .* --whole"):
        imitate(CapturedGait.of(Capture.read(path)), model)


def test_the_com_jacobian_about_a_support_is_the_change_of_the_centre_of_mass(model):
    """Eq. 4.12: one damped step towards a near goal moves the centre of mass there, the support staying."""
    q = model.posture("crawl")
    at = model.at(q)
    com, support = at.com_in_world.copy(), at.placement(model.frame("left_palm")).copy()
    for change in (0.002, -0.002):
        goal = com + np.array([change, change / 2, 0.0])
        found = InverseKinematics(model, [CenterOfMassTask("com", goal, axes="xy")], fixed="left_palm").solve(q)
        after = model.at(found.q)
        np.testing.assert_allclose(after.com_in_world[:2], goal[:2], atol=1e-4)
        np.testing.assert_allclose(after.placement(model.frame("left_palm")), support, atol=1e-9)
        assert found.iterations <= 3, "a Jacobian with a wrong sign or weight would take more, or never arrive"


# --- a whole motion ---------------------------------------------------------------------------------------


def test_a_whole_motion_is_imitated_frame_by_frame_and_judged(file, model):
    capture = Capture.read(file)
    seen = []
    whole = imitate_clip(capture, model, progress=seen.append)
    assert len(whole.q) == len(capture.positions) == len(seen)
    assert whole.duration == pytest.approx(capture.duration)
    assert whole.quality.slide < 5e-3
    lower, upper = lower_and_upper(model)
    assert ((whole.q[:, 7:] >= lower - 1e-9) & (whole.q[:, 7:] <= upper + 1e-9)).all()
    forward = whole.q[-1, 0] - whole.q[0, 0]
    scale = np.mean([scale_of(limb, capture) for limb in whole.limbs[2:]])
    person_s = np.ptp(capture.part("pelvis")[:, 0])
    assert forward == pytest.approx(scale * person_s, rel=0.15)


# --- commands ----------------------------------------------------------------------------------------------


def wholebody(*words):
    return CliRunner().invoke(application(["motion"]), ["motion", *map(str, words)])


def test_the_capture_command_shows_the_skeleton_and_its_gait(file, tmp_path):
    run = wholebody("capture", file, "-o", tmp_path / "strip.png")
    assert run.exit_code == 0, run.output
    assert "right-handed" in run.output
    assert "left_wrist" in run.output
    assert "gait: 0.30 m in 4.0" in run.output
    assert (tmp_path / "strip.png").read_bytes().startswith(b"\x89PNG")


def test_the_capture_command_says_if_there_is_no_gait(tmp_path):
    run = wholebody("capture", standing(tmp_path / "a.bvh", person(), frames=90))
    assert run.exit_code == 0, run.output
    assert "gait: none" in run.output


@pytest.mark.slow
def test_the_imitate_command_writes_key_frames_and_pictures(file, tmp_path):
    run = wholebody("imitate", file, "--stride", 0.2, "-o", tmp_path / "c.yaml", "--strip", tmp_path / "c.png")
    assert run.exit_code == 0, run.output
    assert "support margin" in run.output
    assert (tmp_path / "c.png").stat().st_size > 10_000
    assert KeyFrames.read(tmp_path / "c.yaml", robots.load("atlas")).frames


def test_a_wrong_option_is_told_before_anything_is_done(file, tmp_path):
    run = wholebody("imitate", file, "-o", tmp_path / "nowhere" / "c.yaml")
    assert "there is no folder" in str(run.exception)
    run = wholebody("capture", file, "--part", "left_knee")
    assert "left_knee=Joint07" in str(run.exception)


def test_captures_of_a_real_person_can_be_imitated(model):
    path = real_person("cmu_111_03_crawling.bvh")
    done = imitate(CapturedGait.of(Capture.read(path)), model, likeness=0.5, period=0.1)
    assert done.stride > 0.3
    assert done.quality.margin > MARGIN - 5e-3
    assert not done.quality.unreachable
