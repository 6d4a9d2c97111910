"""wholebody read and what is behind it: a picture of the robot, as data, tables, and a live screen."""

import asyncio
import html
import json
import re

import numpy as np
import pytest
from rich.console import Console
from robot_processes import end_all, kill_daemon, wait_for, wholebody

from wholebody import messages
from wholebody.channels import Channel
from wholebody.channels.subscription import Subscription
from wholebody.drivers import connect
from wholebody.errors import NoRobot
from wholebody.messages import Measured, MeasuredMotion, MeasuredWrench, Status
from wholebody.operator.monitor.screen import ORDERS, Screen
from wholebody.operator.monitor.status_view import roll_pitch_yaw, seconds
from wholebody.operator.monitor.tables import joint_table, number, sensor_table
from wholebody.operator.monitor.watcher import Watcher


@pytest.fixture(autouse=True)
def nothing_is_left():
    yield
    end_all()


@pytest.fixture
def state():
    """A state with sensors that measure little, as those of the Hubo boards; its daemon has gone."""
    layout = messages.state(("RSP", "REB"), imus=["imu"], force_torques=["right_foot"])
    with Channel("robot.state", layout) as channel, channel.writer() as writer:
        message = writer.message
        message["measured"] = Measured.POSITION | Measured.VELOCITY
        message["position"] = 0.25, -0.5
        message["reference"] = 0.3, -0.5
        message["current"] = 9.0
        message["status"] = Status.CONTROL_ON | Status.HOMED, Status.JAMMED | Status.DRIVER_ON
        message["imu"]["orientation"] = 0.0, 0.0, 0.0, 1.0
        message["imu"]["measured"] = MeasuredMotion.ROLL_AND_PITCH | MeasuredMotion.ANGULAR_VELOCITY_X
        message["force_torque"]["force"] = 1.0, 2.0, 300.0
        message["force_torque"]["measured"] = MeasuredWrench.TORQUE_X | MeasuredWrench.TORQUE_Y | MeasuredWrench.FORCE_Z
        writer.put()
        yield writer


def printed(table):
    console = Console(width=200)
    with console.capture() as capture:
        console.print(table)
    return capture.get()


def shown(app):
    """The text on a screen, line by line."""
    rows = {}
    for match in re.finditer(
        r'<text class="[^"]*" x="([\d.]+)" y="([\d.]+)"[^>]*>(.*?)</text>', app.export_screenshot()
    ):
        text = html.unescape(match[3]).replace("\xa0", " ")
        rows.setdefault(float(match[2]), []).append((float(match[1]), text))
    lines = []
    for y in sorted(rows):
        line = ""
        for x, text in sorted(rows[y]):
            line = line.ljust(round(x / 12.2)) + text
        lines.append(line)
    return "\n".join(lines)


def watch(steps, size=(190, 50)):
    """Run steps(app, pilot) on the screen."""

    async def run():
        app = Screen(Watcher())
        async with app.run_test(size=size) as pilot:
            await pilot.pause(0.3)
            await steps(app, pilot)

    asyncio.run(run())


async def until(pilot, condition):
    for _ in range(200):
        if condition():
            return
        await pilot.pause(0.05)
    raise AssertionError("it never came")


# What is shown is what is measured.


def test_into_a_pipe_it_prints_once_and_no_codes_of_terminals(state):
    run = wholebody("read")
    assert run.stdout.startswith("robot  not running")
    assert "\x1b" not in run.stdout
    assert "RSP" in run.stdout


def test_what_is_not_measured_is_a_dash_and_no_zero(state):
    picture = Watcher().look()
    foot = next(sensor for sensor in picture.sensors if sensor.name == "right_foot")
    assert foot.axes == {"Fx": None, "Fy": None, "Fz": 300.0, "Mx": 0.0, "My": 0.0, "Mz": None}
    imu = next(sensor for sensor in picture.sensors if sensor.kind == "imu")
    assert [axis for axis, value in imu.axes.items() if value is not None] == ["roll", "pitch", "wx"]
    assert picture.joints[0].position == 0.25
    assert picture.joints[0].current is None, "though the record holds a number"
    assert printed(sensor_table(picture.sensors, "force_torque")).split()[-7:] == [
        "right_foot", "–", "–", "300.00", "0.00", "0.00", "–",
    ]  # fmt: skip
    row = printed(joint_table(picture.joints[:1])).splitlines()[1]
    assert row.split() == ["RSP", "0.3000", "–", "0.2500", "0.000", "–", "–", "–", "–"]


def test_faults_are_named_and_a_joint_that_is_off_says_so(state):
    picture = Watcher().look()
    assert picture.faults == (("REB", "jammed"),)
    assert picture.joints[0].flags == ""
    assert picture.joints[1].flags == "jammed, off, not homed"


def test_a_robot_whose_daemon_has_gone_is_silent(state):
    picture = Watcher().look()
    assert picture.process is None
    assert picture.condition.startswith("not running, silent for ")
    silent = picture.silent
    assert Watcher().look().silent > silent


def test_a_robot_that_never_ran_is_none():
    with pytest.raises(NoRobot, match="wholebody start"):
        Watcher().look()
    run = wholebody("read", "--once", check=False)
    assert run.returncode == 1
    assert "no robot called 'robot'" in run.stderr


def test_a_channel_that_is_made_anew_is_followed():
    subscription = Subscription("some.number")
    assert subscription.take() is None
    for value in (1.0, 2.0):
        with Channel("some.number", np.dtype("f8")) as channel, channel.writer() as writer:
            writer.message[...] = value
            writer.put()
        assert subscription.take() == value
        channel.path.unlink()


def test_the_rate_is_that_of_the_messages():
    subscription = Subscription("some.number")
    with Channel("some.number", np.dtype("f8")) as channel, channel.writer() as writer:
        for count in range(100):
            writer.message[...] = count
            writer.put_stamped(1_000_000_000 + count * 4_000_000)
        subscription.take()
        history = subscription.past(30)
    assert history.messages.tolist() == list(range(70, 100))
    assert history.rate == pytest.approx(250)


@pytest.mark.parametrize(("axis", "angles"), [(0, (0.3, 0.0, 0.0)), (1, (0.0, 0.3, 0.0)), (2, (0.0, 0.0, 0.3))])
def test_a_turn_about_one_axis_is_that_angle(axis, angles):
    quaternion = np.zeros(4)
    quaternion[axis], quaternion[3] = np.sin(0.15), np.cos(0.15)
    assert roll_pitch_yaw(quaternion) == pytest.approx(angles)


def test_numbers_and_times_are_short():
    assert number(-1e-9) == "0.0000"
    assert number(None) == "–"
    assert [seconds(value) for value in (2.34, 75, 7300)] == ["2.3 s", "1 min", "2 h 01 min"]


# A robot that runs.


def test_once_prints_every_joint_and_who_moves_it():
    wholebody("start", "--driver", "loopback")
    with connect("wave") as robot:
        robot.wait()
        robot.move({"RSP": 0.05})
        wait_for(lambda: Watcher().look().joints[16].controller == "wave")
        lines = wholebody("read", "--once").stdout.splitlines()
        told = json.loads(wholebody("read", "--once", "--json").stdout)
    row = next(line for line in lines if line.startswith("RSP")).split()
    assert row[:4] == ["RSP", "0.0500", "0.0500", "0.0500"]
    assert "wave" in row
    assert any(line.startswith("work") for line in lines), "the stages"
    assert told["condition"] == "running"
    assert len(told["joints"]) == 38
    joint = next(each for each in told["joints"] if each["name"] == "RSP")
    assert (joint["controller"], joint["group"], joint["filter"]) == ("wave", "right_arm", "pass")
    assert joint["position"] == pytest.approx(0.05)
    assert joint["effort"] is None, "a loopback robot measures none"
    assert told["controllers"][0]["joints"] == ["RSP"]
    arm = wholebody("read", "--once", "--joints", "right_arm").stdout
    assert "RWP" in arm
    assert "LSP" not in arm


@pytest.mark.slow
def test_the_screen_follows_the_robot_through_a_crash():
    wholebody("start", "--driver", "loopback")

    async def steps(app, pilot):
        await until(pilot, lambda: "hubo2plus  running" in shown(app))
        with connect("wave") as robot:
            robot.wait()
            robot.move({"RSP": 0.06})
            await until(pilot, lambda: re.search(r"RSP +0\.0600 +0\.0600 +0\.0600.* wave ", shown(app)))
        kill_daemon()
        await until(pilot, lambda: re.search(r"not running, silent for \d\.\d s", shown(app)))
        await asyncio.to_thread(wholebody, "start", "--driver", "loopback")
        await until(pilot, lambda: "hubo2plus  running" in shown(app))

    watch(steps)


@pytest.mark.slow
def test_the_screen_waits_for_a_robot_that_is_not_there_yet():
    async def steps(app, pilot):
        assert "no robot called 'robot' is running" in shown(app)
        await asyncio.to_thread(wholebody, "start", "minihubo", "--driver", "loopback")
        await until(pilot, lambda: "minihubo  running" in shown(app))

    watch(steps)


def test_keys_sort_filter_pause_and_quit(state):
    async def steps(app, pilot):
        first = lambda: [line.split()[0] for line in shown(app).splitlines()[2:4]]  # noqa: E731
        assert first() == ["RSP", "REB"]
        await pilot.press("s")
        assert "faults first" in shown(app)
        assert first() == ["REB", "RSP"]
        await pilot.press("f")
        assert "RSP" not in shown(app)
        assert "jammed" in shown(app)
        await pilot.press("f", "space")
        await until(pilot, lambda: "paused" in shown(app))
        state.message["position"] = 0.75
        state.put()
        await pilot.pause(0.4)
        assert "0.7500" not in shown(app)
        await pilot.press("space")
        await until(pilot, lambda: "0.7500" in shown(app))
        await pilot.press("q")
        await until(pilot, lambda: not app.is_running)

    watch(steps)


@pytest.mark.slow
def test_groups_are_shown_one_after_the_other():
    wholebody("start", "minihubo", "--driver", "loopback")

    async def steps(app, pilot):
        await until(pilot, lambda: "RSP" in shown(app))
        await pilot.press("g")
        assert "right_leg" in shown(app)
        assert "RSP" not in shown(app)
        assert "RKN" in shown(app)

    watch(steps)


@pytest.mark.parametrize("width", [80, 100, 200])
def test_no_number_is_cut_off_in_any_terminal(state, width):
    async def steps(app, pilot):
        text = shown(app)
        for value in ("0.2500", "-0.5000", "300.00", "jammed"):
            assert value in text

    watch(steps, (width, 50))


def test_every_order_sorts_joints_of_which_nothing_is_known(state):
    state.message["measured"] = 0
    state.put()
    for key in ORDERS.values():
        assert len(sorted(Watcher().look().joints, key=key)) == 2
