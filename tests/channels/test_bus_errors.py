"""Memory that is pulled away under a call is a SIGBUS: ours is mended, any other goes where it went before."""

import os
import signal
import subprocess
import sys

import pytest

without_sanitizer = pytest.mark.skipif("WHOLEBODY_SANITIZED" in os.environ, reason="a sanitizer has its own handler")

CHANNEL = """
import faulthandler, mmap, os, sys, threading, warnings
from wholebody.channels import Channel
warnings.simplefilter("ignore")

def pull_away():
    channel = Channel("test.bus", ("u1", (100_000,)))
    writer, reader = channel.writer(), channel.reader()
    writer.put()
    assert reader.latest()
    os.truncate(channel.path, 0)
    return writer, reader

def mend(writer, reader):
    writer.put()
    assert reader.latest() and reader.sequence == writer.sequence == 1
    print("mended", flush=True)

def other():
    with open(sys.argv[1], "w+b") as file:
        file.truncate(8192)
        mapped = mmap.mmap(file.fileno(), 8192)
        file.truncate(0)
    return mapped[5000]
"""


def run(source, tmp_path):
    command = [sys.executable, "-c", CHANNEL + source, str(tmp_path / "file")]
    return subprocess.run(command, capture_output=True, text=True, timeout=50)


@pytest.mark.parametrize("handler", ["", "faulthandler.enable()\n"])
def test_a_bus_error_of_a_channel_is_mended_and_nobody_else_hears_of_it(handler, tmp_path):
    done = run(f"{handler}mend(*pull_away())", tmp_path)
    assert (done.returncode, done.stdout) == (0, "mended\n"), done.stderr
    assert "Bus error" not in done.stderr


def test_a_handler_that_came_later_and_passes_on_what_it_got_costs_no_life(tmp_path):
    done = run("pulled = pull_away()\nfaulthandler.enable()\nmend(*pulled)", tmp_path)
    assert (done.returncode, done.stdout) == (0, "mended\n"), done.stderr


@without_sanitizer
def test_a_handler_that_was_taken_out_is_put_in_again(tmp_path):
    source = "faulthandler.enable()\nChannel('test.first', 'i8')\nfaulthandler.disable()\nmend(*pull_away())"
    assert run(source, tmp_path).stdout == "mended\n"


@without_sanitizer
@pytest.mark.parametrize("handler", ["", "faulthandler.enable()\n"])
def test_any_other_bus_error_goes_to_the_handler_that_was_there_before(handler, tmp_path):
    done = run(f"{handler}mend(*pull_away())\nother()", tmp_path)
    assert (done.returncode, done.stdout) == (-signal.SIGBUS, "mended\n")
    assert ("Fatal Python error: Bus error" in done.stderr) == bool(handler)


@without_sanitizer
def test_a_bus_error_that_is_sent_ends_a_process_as_ever(tmp_path):
    done = run("mend(*pull_away())\nos.kill(os.getpid(), 7)", tmp_path)
    assert (done.returncode, done.stdout) == (-signal.SIGBUS, "mended\n")


def test_a_reader_that_waits_in_another_thread_is_mended_too(tmp_path):
    source = """
writer, reader = pull_away()
heard = threading.Thread(target=lambda: print(reader.wait(20.0), flush=True))
heard.start()
while heard.is_alive():
    writer.put()
    heard.join(0.01)
"""
    assert run(source, tmp_path).stdout == "True\n"


def test_the_child_of_a_fork_is_mended_too(tmp_path):
    source = """
writer, reader = pull_away()
child = os.fork()
if child == 0:
    own = Channel("test.own", "i8").writer()
    os.truncate(own.ring.path, 0)
    own.put()
    os._exit(0 if own.sequence == 1 else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert run(source, tmp_path).stdout == "0\n"
