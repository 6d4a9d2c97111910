"""Controllers in C and C++: built by what `wholebody channels` says, typed by its headers."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from wholebody import messages
from wholebody.channels import Channel, Layout
from wholebody.channels.languages import c_library
from wholebody.channels.languages.c_header import c_header
from wholebody.errors import BadLayout, MissingProgram
from wholebody.services import Client, GoalServer
from wholebody.services.stage import Stage

STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]
DOCS = Path(__file__).parents[2] / "docs" / "channels.md"
ARM = messages.state(("a", "b"))


def needs(program):
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")


def write_header(folder, name, dtype, alias):
    (folder / f"{alias}.h").write_text(c_header(name, Layout.of(dtype), alias))


def build(folder, source, compiler="g++", standard="c++17"):
    """Compile one source the way that the docs say."""
    needs(compiler)
    library, program = c_library.build(), folder / "program"
    flags = [*library.compile_flags, *library.link_flags]
    run = subprocess.run(
        [compiler, f"-std={standard}", *STRICT, f"-I{folder}", source, *flags, "-o", program],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    return program


READ_AND_PUT = """
#include <wholebody/channel.hpp>
#include "arm.h"
double of_the_other_file();
int main()
try {
    wholebody::Channel<arm> states("any.name"), answers("another.name");
    auto state = states.reader();
    auto moved = std::move(state);          // handles can be handed on, not copied
    auto answer = answers.writer();
    static_assert(!std::is_copy_constructible_v<decltype(answer)>);
    if (!moved.wait(std::chrono::seconds(20)))
        return 2;
    answer.message = moved.message;
    answer.message.position[*wholebody::index_of(arm_joints_names, "b")] += of_the_other_file();
    answer.put();
    return moved.info().sequence == states.reader().info().sequence + 1 ? 0 : 3;
} catch (const wholebody::Error &error) {
    std::fputs(error.what(), stderr);
    return 1;
}
"""
OTHER_FILE = """
#include <wholebody/channel.hpp>
#include "arm.h"
double of_the_other_file() { return arm_layout.payload_size == sizeof(arm) ? 0.5 : 0.0; }
"""


@pytest.mark.slow(but="g++-c++17")
@pytest.mark.parametrize("standard", ["c++17", "c++20"])
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_two_sources_share_a_channel_with_python_under_any_name(tmp_path, compiler, standard):
    needs(compiler)
    write_header(tmp_path, "robot.state", ARM, "arm")
    library = c_library.build()
    for name, text in (
        ("one", READ_AND_PUT.replace("<wholebody", "<cstdio>\n#include <wholebody", 1)),
        ("two", OTHER_FILE),
    ):
        (tmp_path / f"{name}.cpp").write_text(text)
        command = [compiler, f"-std={standard}", *STRICT, f"-I{tmp_path}", "-c", f"{name}.cpp", *library.compile_flags]
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert (run.returncode, run.stderr) == (0, "")
    link = [compiler, "-Werror", "one.o", "two.o", *library.link_flags, "-o", "program"]
    assert subprocess.run(link, cwd=tmp_path, capture_output=True, text=True).stderr == ""
    with Channel("any.name", ARM) as states, states.writer() as writer:
        writer.message.position[:] = 1.0, 2.0
        writer.put()
        subprocess.run([tmp_path / "program"], check=True, timeout=30)
    with Channel("another.name") as answers, answers.reader() as reader:
        assert reader.latest()
        assert reader.message["position"].tolist() == [1.0, 2.5]


@pytest.mark.slow(but="gcc")
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_what_is_printed_builds_a_program_in_c(tmp_path, compiler):
    needs(compiler)
    write_header(tmp_path, "robot.state", ARM, "arm")
    source = tmp_path / "mine.c"
    source.write_text('#include "arm.h"\nint main(void) { char path[WB_PATH_MAX]; return wb_path("arm", path); }\n')
    command = [sys.executable, "-c", "from wholebody.cli import main; main()", "channels", "cflags"]
    flags = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    build = [compiler, "-std=c11", *STRICT, "mine.c", *shlex.split(flags), "-o", "mine"]
    assert subprocess.run(build, cwd=tmp_path, capture_output=True, text=True).stderr == ""
    assert subprocess.run([tmp_path / "mine"]).returncode == 0


@pytest.mark.slow
def test_cmake_builds_what_the_docs_say(tmp_path):
    needs("cmake")
    needs("pkg-config")
    snippet = re.search(r"```cmake\n(.*?)```", DOCS.read_text(), re.DOTALL)[1]
    (tmp_path / "CMakeLists.txt").write_text(snippet)
    (tmp_path / "mine.cpp").write_text(READ_AND_PUT.replace("<wholebody", "<cstdio>\n#include <wholebody", 1))
    (tmp_path / "other.cpp").write_text(OTHER_FILE)
    write_header(tmp_path, "robot.state", ARM, "arm")
    found = os.environ | {"PKG_CONFIG_PATH": str(c_library.build().pkg_config)}
    for command in (["cmake", "-B", "build"], ["cmake", "--build", "build"]):
        run = subprocess.run(command, cwd=tmp_path, env=found, capture_output=True, text=True)
        assert run.returncode == 0, run.stdout + run.stderr
    assert (tmp_path / "build" / "mine").exists()


FOLLOW = """
#include <cstdio>
#include <wholebody/channel.hpp>
#include "arm.h"
int main()
try {
    wholebody::Channel<arm> states("robot.state");
    auto state = states.reader();
    for (std::puts("ready"), std::fflush(stdout);;)
        state.wait(std::chrono::milliseconds(10));
} catch (const wholebody::Error &error) {
    std::fprintf(stderr, "%ld %s", static_cast<long>(error.code), error.what());
    return 1;
}
"""


@pytest.mark.slow
def test_an_error_names_the_channel_and_the_remedy(tmp_path):
    (tmp_path / "follow.cpp").write_text(FOLLOW)
    write_header(tmp_path, "robot.state", ARM, "arm")
    program = build(tmp_path, tmp_path / "follow.cpp")
    with Channel("robot.state", messages.state(("a", "b", "c"))):
        run = subprocess.run([program], capture_output=True, text=True, timeout=20)
        assert run.returncode == 1
        assert "channel 'robot.state'" in run.stderr
        assert "another layout" in run.stderr
        assert "wholebody channels header robot.state" in run.stderr
    path = Path(os.environ["WHOLEBODY_CHANNELS"]) / "robot.state"
    path.unlink()
    with Channel("robot.state", ARM):
        follower = subprocess.Popen([program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert follower.stdout.readline() == "ready\n"
        path.unlink()
        assert "-1014 channel 'robot.state'" in follower.communicate(timeout=20)[1], "WB_GONE"
    path.write_bytes(bytes(4096))
    assert "wholebody channels rm robot.state" in subprocess.run([program], capture_output=True, text=True).stderr


@dataclass(frozen=True)
class Lift:
    """Raise a hand to a height."""

    height: float
    hand: str = "right"


CLIENT = """
#include <cstdio>
#include <wholebody/service.hpp>
#include "replies.h"
#include "requests.h"
using namespace std::chrono_literals;
int main(int argc, char **argv)
try {
    wholebody::Client<requests, replies> arm("robot.arm", 500ms);
    auto lift = [&](double height) {
        arm.request.lift.height = height;
        std::snprintf(arm.request.lift.hand, sizeof arm.request.lift.hand, "left");
        return arm.send(requests_kinds_lift);
    };
    auto end = [&](std::uint64_t goal) {
        try {
            std::puts(wholebody::name_of(arm.wait(goal, 20s).stage));
        } catch (const wholebody::GoalNotDone &error) {
            std::puts(error.what());
        }
    };
    end(lift(0.1));                                        // done
    end(lift(9.0));                                        // rejected
    auto first = lift(1.0), second = lift(1.5);            // these go on until something happens
    end(first);
    arm.wait(second, 20s, wholebody::Stage::running);
    end(arm.cancel(second));
    end(second);
    for (int count = 0; argc > 1 && count < 100; count++) {
        auto goal = lift(0.2);                             // the server may be killed and started meanwhile
        while (!arm.report(goal) || !is_final(arm.report(goal)->stage))
            std::this_thread::sleep_for(1ms);
    }
    return argv[0] == nullptr;
} catch (const wholebody::Error &error) {
    std::fprintf(stderr, "%s", error.what());
    return 1;
}
"""


class Arm(GoalServer):
    """Lifts at once up to 0.5 m, for ever between that and 2 m, not at all beyond."""

    def __init__(self):
        super().__init__("robot.arm", (Lift,))
        self.hands = []

    def serve(self):
        asked = self.take_goal(0.0)
        for slot, each in list(self.under_way.items()):
            if each.cancelled:
                self.finish(Stage.SUCCEEDED, 0.0, slot=slot)
        if asked is None:
            return
        if asked.request.height > 2.0:
            return self.reply(asked.number, Stage.REJECTED, text="nobody's hand gets there")
        self.hands.append(asked.request.hand)
        self.accept(asked, 0.0)
        self.run(0.0)
        if asked.request.height < 0.5:
            self.finish(Stage.SUCCEEDED, 0.0)


@pytest.mark.slow
def test_a_goal_from_cpp_is_done_rejected_preempted_or_cancelled(tmp_path):
    (tmp_path / "client.cpp").write_text(CLIENT)
    with Arm() as arm:
        for what in ("requests", "replies"):
            with Channel(f"robot.arm.{what}") as channel:
                (tmp_path / f"{what}.h").write_text(c_header(channel.name, channel.layout, what))
        program = build(tmp_path, tmp_path / "client.cpp")
        running = subprocess.Popen([program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while running.poll() is None:
            arm.serve()
        said, wrong = running.communicate()
    assert running.returncode == 0, wrong
    lines = said.splitlines()
    assert lines[0] == "succeeded"
    assert lines[1] == "rejected: nobody's hand gets there"
    assert lines[2].startswith("preempted: order")
    assert lines[3:] == ["succeeded", "cancelled"]
    assert arm.hands == ["left"] * 3
    run = subprocess.run([program], capture_output=True, text=True, timeout=20)
    assert (run.returncode, run.stderr) == (1, "'robot.arm' does not run; see: wholebody status")


@pytest.mark.slow
def test_requests_from_cpp_are_done_once_each_though_the_server_is_started_again(tmp_path):
    (tmp_path / "client.cpp").write_text(CLIENT)
    hands, ended = [], threading.Event()

    def serve_lives():
        while not ended.is_set():
            with Arm() as arm:
                while len(arm.hands) < 13 and not ended.is_set():
                    arm.serve()
                hands.extend(arm.hands)

    with Arm():
        for what in ("requests", "replies"):
            with Channel(f"robot.arm.{what}") as channel:
                (tmp_path / f"{what}.h").write_text(c_header(channel.name, channel.layout, what))
    program = build(tmp_path, tmp_path / "client.cpp")
    server = threading.Thread(target=serve_lives)
    server.start()
    try:
        Client("robot.arm").close()  # it has begun
        run = subprocess.run([program, "again"], capture_output=True, text=True, timeout=60)
    finally:
        ended.set()
        server.join()
    assert run.returncode == 0, run.stderr
    assert len(hands) == 103


def test_symbols_follow_the_alias_and_no_member_is_a_keyword():
    dtype = np.dtype([("class", "f8"), ("short", "f4")], align=True)
    text = c_header("nao.state", Layout.of(dtype), "robot_state")
    assert "nao_state" not in text
    assert "double class_;" in text
    assert "} robot_state;" in text
    with pytest.raises(BadLayout, match="'1st' is no name in C"):
        c_header("nao.state", Layout.of(dtype), "1st")


def test_without_a_compiler_it_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("CC", "no-such-compiler")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(MissingProgram, match="'no-such-compiler': apt install gcc"):
        c_library.build()
    assert list(tmp_path.rglob("*.pc")) == []
