"""Configurations, orders of joints, options of the model, bad input, and who owns a snapshot's memory."""

import sys
import threading
from collections import deque

import model_examples as examples
import numpy as np
import pinocchio as pin
import pytest

from wholebody.errors import BadRobot, BadState, UnknownFrame, UnknownName
from wholebody.model import Model, Snapshot
from wholebody.robots import Link, Robot

SHOWN = property, type(vars(Snapshot)["M"])
QUANTITIES = [name for name, value in vars(Snapshot).items() if isinstance(value, SHOWN) and name != "storage"]


@pytest.fixture
def zoo():
    return examples.model("zoo")


@pytest.fixture
def bolted():
    return examples.model("zoo_bolted")


# --- configurations ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["zoo", "zoo_bolted", "body", "trikey"])
@pytest.mark.parametrize("size", [1e-9, 1e-5, 1e-3, 0.1, 1.0, 3.0])
def test_integrate_and_difference_agree_with_pinocchio_and_undo_each_other(name, size):
    model, rng = examples.model(name), np.random.default_rng(0)
    for _ in range(10):
        q, v = model.random(rng), rng.normal(size=model.nv)
        v *= size / np.linalg.norm(v)
        moved = model.integrate(q, v, 1.0)
        theirs = pin.integrate(model.pinocchio, model.to_pinocchio(q), model.mimic_matrix @ v)
        assert model.to_pinocchio(moved) == pytest.approx(theirs, abs=1e-12)
        assert model.integrate(q, v / 0.01, 0.01) == pytest.approx(moved, abs=1e-12)
        back = model.difference(q, moved)
        assert back == pytest.approx(v, abs=1e-12 * max(1.0, size))
        there = pin.difference(model.pinocchio, model.to_pinocchio(q), theirs)
        assert model.mimic_matrix @ back == pytest.approx(there, abs=1e-7)


def test_the_difference_takes_the_shorter_way_round(zoo):
    q = zoo.random(0)
    twin = q.copy()
    twin[3:7] *= -1  # the same rotation
    assert np.abs(zoo.difference(q, twin)).max() < 1e-12
    v = np.zeros(zoo.nv)
    v[5] = 2 * np.pi - 0.1
    assert zoo.difference(q, zoo.integrate(q, v, 1.0))[3:6] == pytest.approx([0, 0, -0.1])
    v[5] = np.pi - 1e-9
    assert np.linalg.norm(zoo.difference(q, zoo.integrate(q, v, 1.0))) == pytest.approx(np.pi)


@pytest.mark.parametrize("name", examples.NAMES)
def test_random_and_neutral_are_within_limits(name):
    model = examples.model(name)
    for q in (model.neutral(), model.random(1), model.random(2)):
        joints = q[-len(model.joint_names) :] if model.joint_names else []
        for joint, position in zip(model.robot.moving, joints, strict=True):
            assert joint.lower <= position <= joint.upper
        if model.floating:
            assert np.linalg.norm(q[3:7]) == pytest.approx(1.0)
    assert np.array_equal(model.random(3), model.random(3))
    assert not np.array_equal(model.random(3), model.random(4))


def test_a_posture_has_its_base_at_the_origin():
    model = examples.model("hubo2plus")
    name = next(iter(model.robot.postures))
    q = model.posture(name)
    assert np.array_equal(q[:7], [0, 0, 0, 0, 0, 0, 1])
    assert np.array_equal(q[7:], model.robot.posture(name))


# --- orders ----------------------------------------------------------------------------------------


def test_real_actuated_and_virtual_joints_stand_where_they_should(zoo):
    assert zoo.joint_names == ("shoulder", "slide", "elbow", "hip", "knee", "neck", "wheel")
    assert list(zoo.virtual_joints) == [0, 1, 2, 3, 4, 5]
    assert list(zoo.real_joints) == [6, 7, 8, 9, 10, 11, 12]
    assert list(zoo.actuated_joints) == [6, 7, 8, 9, 11, 12]
    assert zoo.actuated_names == ("shoulder", "slide", "elbow", "hip", "neck", "wheel")
    v = np.arange(13.0)
    assert list(zoo.selection @ v) == [6, 7, 8, 9, 11, 12]
    assert zoo.column("knee") == 10
    assert (zoo.nq, zoo.nv) == (14, 13)


def test_a_bolted_robot_has_no_virtual_joints(bolted):
    assert list(bolted.virtual_joints) == []
    assert list(bolted.real_joints) == list(range(7))
    assert (bolted.nq, bolted.nv) == (7, 7)


def test_a_transmission_is_a_row_that_its_motion_satisfies(zoo):
    v = np.zeros(zoo.nv)
    v[zoo.column("hip")], v[zoo.column("knee")] = 1.0, 0.5
    assert zoo.transmission.shape == (1, zoo.nv)
    assert zoo.transmission @ v == pytest.approx([0.0])
    v[zoo.column("knee")] = 1.0
    assert zoo.transmission @ v == pytest.approx([0.5])


def test_the_mass_is_that_of_all_links(zoo):
    assert zoo.total_mass == pytest.approx(sum(link.mass for link in zoo.robot.links))
    assert zoo.at(zoo.neutral()).M[0, 0] == pytest.approx(zoo.total_mass)


# --- options ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("groups", [["limbs", "legs"], [["shoulder", "slide", "elbow"], ["hip", "knee"]]], ids=str)
def test_joint_groups_are_decoupled_in_the_mass_matrix_alone(zoo, groups):
    model = Model(zoo.robot, coupled_joint_groups=groups)
    q, v = model.random(0), np.ones(model.nv)
    whole, parts = zoo.at(q, v), model.at(q, v)
    limbs = [model.column(name) for name in ("shoulder", "slide", "elbow")]
    legs = [model.column(name) for name in ("hip", "knee")]
    rest = [i for i in range(model.nv) if i not in (*limbs, *legs)]
    for group in (limbs, legs, rest):
        others = [i for i in range(model.nv) if i not in group]
        assert np.array_equal(parts.M[np.ix_(group, group)], whole.M[np.ix_(group, group)])
        assert np.abs(whole.M[np.ix_(group, others)]).max() > 0.1
        assert not parts.M[np.ix_(group, others)].any()
    assert np.linalg.eigvalsh(parts.M).min() > 0
    for quantity in ("h", "g", "momentum", "kinetic_energy"):
        assert np.array_equal(getattr(parts, quantity), getattr(whole, quantity))


def test_masked_joints_are_not_gravity_compensated(zoo):
    model = Model(zoo.robot, gravity_compensation_mask=["elbow", "hip"])
    snapshot = model.at(model.random(0))
    masked = [model.column("elbow"), model.column("hip")]
    others = [i for i in range(model.nv) if i not in masked]
    assert np.abs(snapshot.g[masked]).min() > 1e-3
    assert not snapshot.gravity_compensation[masked].any()
    assert np.array_equal(snapshot.gravity_compensation[others], snapshot.g[others])
    everything = zoo.at(zoo.random(0))
    assert np.array_equal(everything.gravity_compensation, everything.g)


def test_watched_frames_have_the_same_jacobians_as_others(zoo):
    watching = Model(zoo.robot, watch=["tip", "camera", "a"])
    q = zoo.random(0)
    for name in ("tip", "camera", "a", "sole", "h"):
        frame = zoo.frame(name)
        assert np.array_equal(watching.at(q).jacobian(frame), zoo.at(q).jacobian(frame))
    assert zoo.watched == (zoo.surface("sole"), zoo.surface("palm"))


def test_jacobians_can_be_stacked(zoo):
    frames = [zoo.frame("tip"), zoo.frame("sole")]
    snapshot = zoo.at(zoo.random(0))
    mine = np.empty((12, zoo.nv))
    assert snapshot.stacked_jacobian(frames, into=mine) is mine
    assert np.array_equal(mine[:6], snapshot.jacobian(frames[0]))
    assert np.array_equal(mine[6:], snapshot.jacobian(frames[1]))


def test_a_frame_may_be_given_by_name_and_is_found_by_kind(zoo):
    snapshot = zoo.at(zoo.random(0), np.ones(zoo.nv))
    for quantity in examples.OF_FRAMES:
        by_name, by_index = (getattr(snapshot, quantity)(each) for each in ("tip", zoo.frame("tip")))
        assert np.array_equal(by_name, by_index)
    assert zoo.frame("i") != zoo.sensor("i"), "a link and a sensor are both called i"
    assert zoo.frames[zoo.sensor("i")] == "i"
    assert zoo.frames[zoo.surface("palm")] == "palm"
    assert zoo.frame("camera") == zoo.sensor("camera")


# --- bad input -------------------------------------------------------------------------------------


def changed(q, index, value):
    q = q.copy()
    q[index] = value
    return q


@pytest.mark.parametrize(
    ("q", "v", "text"),
    [
        (lambda q: q[:-1], None, r"q has shape \(13,\), but zoo needs \(14,\): base position, quaternion and 7 joints"),
        (lambda q: 0.0, None, r"q has shape \(\)"),
        (lambda q: q[:, None], None, r"q has shape \(14, 1\)"),
        (lambda q: "ready", None, "q is no vector of numbers"),
        (lambda q: q, [0.0] * 14, r"v has shape \(14,\), but zoo needs \(13,\): base velocity and 7 joints"),
        (lambda q: changed(q, 8, np.nan), None, r"q\[8\], of joint 'slide', is nan"),
        (lambda q: changed(q, 1, np.inf), None, r"q\[1\], of the base, is inf"),
        (lambda q: q, [0.0] * 12 + [np.nan], r"v\[12\], of joint 'wheel', is nan"),
        (lambda q: changed(q, slice(3, 7), [0, 0, 0, 0.9]), None, r"quaternion .* has length 0\.9; divide it by that"),
        (lambda q: changed(q, slice(3, 7), 0), None, r"quaternion .* has length 0"),
    ],
)
def test_a_state_that_cannot_be_is_refused_with_what_is_wrong(zoo, q, v, text):
    with pytest.raises(BadState, match=text):
        zoo.at(q(zoo.neutral()), v)
    assert zoo.at(zoo.neutral()).M[0, 0] == pytest.approx(zoo.total_mass), "and the model is none the worse"


def test_a_quaternion_that_is_nearly_of_unit_length_is_normalised(zoo):
    q = zoo.neutral()
    q[3:7] = (0.0, 0.0, 0.7074, 0.7071)
    snapshot = zoo.at(q)
    assert np.linalg.norm(snapshot.q[3:7]) == pytest.approx(1.0, abs=1e-15)
    R = snapshot.rotation(zoo.frame("a"))
    assert np.abs(R @ R.T - np.eye(3)).max() < 1e-15
    assert q[5] == 0.7074, "the caller's own is left alone"


@pytest.mark.parametrize("ask", [Model.frame, Model.surface, Model.sensor, Model.column, Model.posture])
def test_an_unknown_name_is_refused(zoo, ask):
    with pytest.raises(UnknownName, match=r"no .* 'nose'"):
        ask(zoo, "nose")


def test_an_unknown_frame_shows_the_closest():
    with pytest.raises(UnknownName, match="no frame 'left_solle'; closest: 'left_sole'"):
        examples.model("hubo2plus").frame("left_solle")


@pytest.mark.parametrize("quantity", examples.OF_FRAMES)
@pytest.mark.parametrize("frame", [99, -1000])
def test_an_index_that_is_no_frame_is_refused(zoo, quantity, frame):
    with pytest.raises(UnknownFrame, match=f"no frame {frame}; zoo has 18"):
        getattr(zoo.at(zoo.neutral()), quantity)(frame)


def test_impossible_models_are_refused(zoo):
    with pytest.raises(BadRobot, match="no mass, or no joint"):
        Model(Robot("ghost", (Link("ghost"),), ()))
    with pytest.raises(BadRobot, match="'hip' is in two of the coupled joint groups"):
        Model(zoo.robot, coupled_joint_groups=["legs", ["hip"]])
    with pytest.raises(UnknownName, match="'ellbow'; closest: 'elbow'"):
        Model(zoo.robot, gravity_compensation_mask=["ellbow"])
    for gravity in ((0, 0), (0, 0, np.nan)):
        with pytest.raises(BadState, match="gravity must be three numbers"):
            Model(zoo.robot, gravity)


# --- memory and threads ----------------------------------------------------------------------------


def everything(snapshot):
    values = {name: np.array(getattr(snapshot, name)) for name in QUANTITIES}
    for quantity in examples.OF_FRAMES:
        for frame in range(len(snapshot.model.frames)):
            values[quantity, frame] = np.array(getattr(snapshot, quantity)(frame))
    return values


def same(one, other):
    return one.keys() == other.keys() and all(np.array_equal(one[key], other[key]) for key in one)


def test_a_kept_snapshot_never_changes(zoo):
    kept = [zoo.at(zoo.random(i), np.ones(zoo.nv)) for i in range(10)]
    copies = [everything(each) for each in kept]
    for i in range(50):
        zoo.at(zoo.random(i), np.zeros(zoo.nv)).jacobian(3)
    assert all(same(everything(each), copy) for each, copy in zip(kept, copies, strict=True))


@pytest.mark.parametrize(
    "part",
    [
        lambda snapshot: snapshot.storage,
        lambda snapshot: snapshot.M,
        lambda snapshot: snapshot.M[2:4, 3:],
        lambda snapshot: snapshot.q,
        lambda snapshot: snapshot.position(3),
        lambda snapshot: snapshot.rotation(3).T,
        lambda snapshot: snapshot.jacobian(4)[:3],
        lambda snapshot: snapshot.com_jacobian.ravel()[5:],
    ],
)
def test_a_kept_array_never_changes_even_without_its_snapshot(zoo, part):
    array = part(zoo.at(zoo.random(1), np.ones(zoo.nv)))
    copy = array.copy()
    for i in range(20):
        zoo.at(zoo.random(i), np.zeros(zoo.nv))
    assert np.array_equal(array, copy)


@pytest.mark.parametrize("elsewhere", [0, 1, 10])
@pytest.mark.parametrize("lasting", [0, 1, 2])
def test_a_loop_uses_the_same_memory_again(zoo, elsewhere, lasting):
    """No buffer is made in a loop that keeps its last snapshots, whatever else is kept."""

    def address(snapshot):
        return snapshot.storage.__array_interface__["data"][0]

    q = zoo.random(0)
    kept = [zoo.at(q) for _ in range(elsewhere)]
    last = deque((zoo.at(q) for _ in range(10)), maxlen=lasting)
    addresses = set()
    for _ in range(100):
        snapshot = zoo.at(q)
        addresses.add(address(snapshot))
        last.append(snapshot)
        del snapshot
    assert len(addresses) == lasting + 1
    assert addresses.isdisjoint(address(each) for each in kept)


def test_every_array_is_read_only(zoo):
    snapshot = zoo.at(zoo.neutral())
    arrays = [getattr(snapshot, name) for name in QUANTITIES]
    arrays += [getattr(snapshot, quantity)(0) for quantity in examples.OF_FRAMES]
    arrays += [zoo.selection, zoo.transmission, zoo.gravity, zoo.real_joints, zoo.integers, zoo.numbers]
    assert not any(each.flags.writeable for each in arrays if isinstance(each, np.ndarray))
    with pytest.raises(ValueError, match="read-only"):
        snapshot.M[0, 0] = 1.0


def test_threads_do_not_write_into_each_others_snapshots(zoo):
    expected = {seed: everything(zoo.at(zoo.random(seed))) for seed in range(4)}
    wrong = []

    def work(seed):
        q = zoo.random(seed)
        for _ in range(300):
            snapshot = zoo.at(q)
            if not np.array_equal(snapshot.M, expected[seed]["M"]) or not np.array_equal(snapshot.q, q):
                wrong.append(seed)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    finally:
        sys.setswitchinterval(interval)
    assert wrong == []


def test_any_kind_of_input_gives_the_same_snapshot(zoo):
    q, v = zoo.random(0), np.ones(zoo.nv)
    read_only = q.copy()
    read_only.flags.writeable = False
    expected = zoo.at(q, v).M.copy()
    for odd in (list(q), tuple(q), read_only, np.repeat(q, 2)[::2], np.asfortranarray(q), zoo.at(q).q):
        assert np.array_equal(zoo.at(odd, v).M, expected)
        zoo.difference(odd, zoo.integrate(odd, v, 1))
    assert np.allclose(zoo.at(q.astype(np.float32), v.astype(int)).M, expected, atol=1e-3 * abs(expected).max())
