"""Who may read and write channels, and so move a robot: the kernel says so, by the rights of their folder."""

import json
import os
import stat

import pytest
from hostile import OTHER_USER
from other_user import another_user, as_another_user
from robot_processes import end_all, wait_for

from wholebody.channels import Channel, access, directory
from wholebody.channels.faults import fault
from wholebody.drivers import connect
from wholebody.errors import ChannelRenewed, NotPermitted, UnknownName
from wholebody.processes import lifecycle, registry
from wholebody.processes.launch_plan import LaunchPlan

TRIES = 1000
WRITE = """
path, arrived, tries = os.environ["WHOLEBODY_CHANNELS"] + "/test.owned", 0, int(sys.argv[1])
def attempt(do):
    global arrived
    try:
        do()
        arrived += 1
    except (OSError, errors.NotPermitted):
        pass
for count in range(tries // 8):
    attempt(lambda: Channel("test.owned").writer().put())
    attempt(lambda: Channel("test.owned", "i8").writer().put())
    attempt(lambda: Channel(f"test.{count}", "i8").writer().put())
    attempt(lambda: open(path, "r+b").write(b"x"))
    attempt(lambda: os.truncate(path, 0))
    attempt(lambda: os.unlink(path))
    attempt(lambda: os.rename(path, path + ".old"))
    attempt(lambda: os.link("/proc/self/exe", path + ".new") if count % 2 else os.mkdir(path + ".new"))
try:
    reader = Channel("test.owned").reader()
    read = reader.latest() and int(reader.message)
except errors.ChannelError as error:
    read = str(error)
print(json.dumps([arrived, read]))
"""


@pytest.fixture
def owned(channels_folder, monkeypatch):
    """A folder of channels as the product makes it, on a path that everybody may walk."""
    channels_folder.chmod(0o755)
    monkeypatch.setenv("WHOLEBODY_CHANNELS", str(channels_folder / "channels"))
    return channels_folder / "channels"


@pytest.fixture
def robot(owned):
    """A robot of nothing but numbers, as root starts it."""
    Channel("test.first", "i8").close()  # which makes the folder
    plan, log = LaunchPlan("robot", "hubo2plus", "loopback"), lifecycle.log_file("robot")
    child = lifecycle.spawn(registry.DAEMON, stays=True, log=log, plan=plan)
    assert set(lifecycle.until_first_state(plan, [child], log)) <= {"the daemon", "the first state"}
    yield
    end_all()
    child.process.wait(20)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_folder_of_channels_is_its_owners_alone(owned):
    with Channel("test.owned", "i8") as channel:
        assert (mode(owned), mode(channel.path)) == (0o700, 0o600)


@pytest.mark.parametrize(("folder", "file"), [(0o770, 0o660), (0o755, 0o644), (0o775, 0o664), (0o711, 0o600)])
def test_a_channel_has_the_rights_of_its_folder(folder, file, channels_folder):
    channels_folder.chmod(folder)
    assert mode(Channel("test.rights", "i8").path) == file


def test_a_folder_in_which_anyone_may_write_is_refused(channels_folder):
    with Channel("test.before", "i8"):
        channels_folder.chmod(0o1777)
    for name in ("test.before", "test.new"):
        with pytest.raises(NotPermitted, match=r"anyone .* may write .* move the robot: chmod o-w"):
            Channel(name, "i8")
    access.grant()
    assert mode(channels_folder) == 0o1775
    assert Channel("test.before", "i8").newest == 0


@pytest.mark.slow(but="False")
@pytest.mark.parametrize("readable", [False, True])
def test_none_of_a_thousand_writes_of_another_user_arrives(readable, owned):
    access.grant(readable=readable)
    with Channel("test.owned", "i8") as channel, channel.writer() as writer:
        writer.message[...] = 7
        writer.put()
        arrived, read = json.loads(as_another_user(WRITE, TRIES))
        assert arrived == 0
        assert read == 7 if readable else "not permitted to open" in read
        assert "wholebody start --group" in read if not readable else True
        assert (channel.newest, channel.ring.gone, directory.names()) == (1, False, ["test.owned"])


def test_another_user_cannot_move_a_robot_that_root_started(robot):
    with connect("ours") as ours:
        position, goal = ours.position("RSP"), ours.position("RSP") - 0.01
        said = as_another_user(
            """
            dtype = robots.load("hubo2plus").reference_dtype()
            try:
                with Channel("robot.theirs.reference", dtype) as channel, channel.writer() as writer:
                    joint = dtype.metadata["joints"].index("RSP")
                    writer.message.position[joint], writer.message.mask[joint] = float(sys.argv[1]), True
                    for _ in range(1000):
                        writer.put()
                        time.sleep(0.0005)
                print("1000 references are put")
            except errors.NotPermitted as error:
                print(error)
            """,
            goal,
        )
        for _ in range(20):
            ours.wait(5.0)
        assert ours.position("RSP") == position
    assert "not permitted" in said
    assert "robot.theirs.reference" not in directory.names()


def test_members_of_the_robots_group_may_write_and_remove_nothing_of_others(owned):
    access.grant(group="games")
    group = owned.stat().st_gid
    assert mode(owned) == 0o3770
    with Channel("test.owned", "i8") as channel, channel.reader() as reader:
        assert (mode(channel.path), channel.path.stat().st_gid) == (0o660, group)
        as_another_user(
            """
with Channel("test.owned") as channel, channel.writer() as writer:
    writer.message[...] = 5
    writer.put()
Channel("test.theirs", "i8").writer().put()
try:
    os.unlink(channel.path)
except PermissionError:
    pass
            """,
            groups=(group,),
        )
        assert reader.latest()
        assert reader.message == 5
    theirs = owned / "test.theirs"
    assert (mode(theirs), theirs.stat().st_uid, theirs.stat().st_gid) == (0o660, OTHER_USER, group)
    assert Channel("test.theirs").newest == 1


def test_a_reader_that_may_not_write_hears_of_each_message_and_cannot_write(owned):
    access.grant(readable=True)
    source = """
        channel = Channel("test.owned")
        reader = channel.reader()
        try:
            channel.writer()
        except errors.NotPermitted as error:
            print(error, flush=True)
        while reader.wait(20.0, mode="next"):
            print(int(reader.message), flush=True)
        """
    with Channel("test.owned", "i8", depth=64) as channel, channel.writer() as writer, another_user(source) as process:
        assert "not permitted to write" in process.stdout.readline()
        for count in range(20):
            writer.message[...] = count
            writer.put()
            assert int(process.stdout.readline()) == count


def test_locks_of_who_may_only_read_keep_no_owner_out(owned):
    access.grant(readable=True)
    source = """
        file = os.open(os.environ["WHOLEBODY_CHANNELS"] + "/test.owned", os.O_RDONLY)
        for place in range(2):
            lock = struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, (1 << 48) + place, 1, 0)
            fcntl.fcntl(file, fcntl.F_OFD_SETLK, lock)
        print("locked", flush=True)
        time.sleep(60)
        """
    with Channel("test.owned", "i8", writers=2, keep=True) as channel, another_user(source) as process:
        assert process.stdout.readline() == "locked\n"
        assert channel.writer_processes() == []
        with channel.writer() as writer, Channel("test.owned") as anew, anew.reader() as reader:
            writer.put()
            assert reader.latest()


def test_who_may_not_look_into_the_folder_is_told_so_instead_of_that_nothing_runs(robot):
    said = as_another_user(
        """
for look in (directory.names, lambda: directory.writers("robot.tick")):
    try:
        print(look())
    except errors.NotPermitted as error:
        print(error)
        """
    )
    assert [line.startswith("not permitted to open") for line in said.splitlines()] == [True, True]


# Letting others in.


def test_what_was_granted_stays_until_something_else_is(owned):
    with_group = access.grant(group="games")
    assert str(with_group) == "user root and group games may move it, nobody else may read it"
    assert access.grant() == with_group
    assert str(access.grant(readable=True)) == "user root may move it, everybody may read it"


def test_channels_that_are_there_get_the_rights_too(owned):
    with Channel("test.owned", "i8") as channel:
        access.grant(group="games", readable=True)
        assert (mode(channel.path), channel.path.stat().st_gid) == (0o664, owned.stat().st_gid)


def test_nothing_but_channels_of_ones_own_gets_the_rights(owned, tmp_path):
    with Channel("test.owned", "i8"):
        pass
    secret = tmp_path / "secret"
    secret.touch(0o600)
    (owned / "test.link").symlink_to(secret)
    os.mkfifo(owned / "test.pipe", 0o600)
    os.link(owned / "test.owned", owned / "test.twice")
    access.grant(group="games")
    assert [mode(each) for each in (secret, owned / "test.pipe", owned / "test.twice")] == [0o600] * 3


def test_an_unknown_group_is_refused(owned):
    with pytest.raises(UnknownName, match=r"no group 'game'.*closest: 'games'"):
        access.grant(group="game")


def test_a_robot_is_not_started_in_a_folder_of_somebody_else(owned):
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    owned.mkdir()
    os.chown(owned, OTHER_USER, OTHER_USER)
    with pytest.raises(NotPermitted, match="belongs to user nobody, who could move the robot"):
        access.grant()


def test_a_writer_in_the_group_that_is_pulled_away_comes_back(owned):
    access.grant(group="games")
    with Channel("test.owned", "i8") as channel, channel.writer() as writer:
        as_another_user(
            "os.truncate(os.environ['WHOLEBODY_CHANNELS'] + '/test.owned', 0)", groups=(owned.stat().st_gid,)
        )
        with pytest.warns(ChannelRenewed):
            wait_for(lambda: writer.put() or channel.newest == writer.sequence)


def test_an_error_tells_whose_the_channel_is():
    assert "user 0 and group 0 (mode 755)" in str(fault(-13, "/usr/no.channel"))
