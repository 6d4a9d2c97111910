"""A process that is killed, or stopped and lapped, before any single instruction of a call harms nobody else.

tests/torture/kill_points.c walks through a call of ring.c with ptrace, instruction by instruction, and judges.
"""

import json
import platform
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from torture import programs

CANNOT_STEP = 77

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="stepper.h knows the breakpoints of x86-64 only")


@dataclass(frozen=True)
class Trial:
    points: int  # instructions of the call
    reached: int  # times that somebody was killed or stopped at one of them
    landed: int  # times that its message, or its channel, was there all the same
    broken: int  # laws
    evidence: str


def run(harness: Path, name: str, folder: Path) -> Trial:
    done = subprocess.run([harness, name, folder], capture_output=True, text=True, timeout=55)
    if done.returncode == CANNOT_STEP:
        pytest.skip(done.stderr.strip())
    assert done.stdout, done.stderr
    return Trial(**json.loads(done.stdout), evidence=done.stderr)


@pytest.fixture(scope="module")
def harness(tmp_path_factory):
    return programs.compile_program("kill_points", tmp_path_factory.mktemp("harness") / "kill_points")


def test_a_put_killed_at_any_instruction_is_there_whole_or_not_at_all(harness, channels_folder):
    trial = run(harness, "kill put", channels_folder)
    assert not trial.broken, trial.evidence
    assert trial.reached > 100
    assert 0 < trial.landed < trial.reached


@pytest.mark.slow
def test_a_waiting_reader_wakes_though_the_writer_was_killed_at_any_instruction(harness, channels_folder):
    trial = run(harness, "kill waking", channels_folder)
    assert not trial.broken, trial.evidence
    assert trial.reached > 100
    assert 0 < trial.landed < trial.reached


@pytest.mark.parametrize(("call", "least"), [("open", 1000), ("close", 100)])
def test_a_writer_killed_at_any_instruction_of_coming_or_leaving_loses_no_place(harness, channels_folder, call, least):
    trial = run(harness, f"kill {call}", channels_folder)
    assert not trial.broken, trial.evidence
    assert trial.reached > least


@pytest.mark.parametrize("call", ["latest", "next", "wait"])
def test_a_reader_killed_at_any_instruction_disturbs_nobody(harness, channels_folder, call):
    trial = run(harness, f"kill {call}", channels_folder)
    assert not trial.broken, trial.evidence
    assert trial.reached > 80


def test_a_creator_killed_at_any_instruction_leaves_a_whole_channel_or_nothing(harness, channels_folder):
    trial = run(harness, "kill create", channels_folder)
    assert not trial.broken, trial.evidence
    assert trial.reached > 500
    assert 0 < trial.landed < trial.reached


@pytest.mark.slow
def test_a_put_stopped_at_any_instruction_and_lapped_lands_once_and_changes_nothing(harness, channels_folder):
    trial = run(harness, "stop put", channels_folder)
    assert not trial.broken, trial.evidence
    assert trial.reached > 300
    assert 0 < trial.landed < trial.reached


@pytest.mark.slow
def test_a_writer_stopped_at_any_instruction_of_registering_gets_a_slot_of_its_own(harness, channels_folder):
    trial = run(harness, "stop open", channels_folder)
    assert not trial.broken, trial.evidence
    assert trial.reached > 1000


@pytest.mark.parametrize("call", ["latest", "next"])
def test_a_reader_stopped_at_any_instruction_and_lapped_reads_a_whole_message(harness, channels_folder, call):
    trial = run(harness, f"stop {call}", channels_folder)
    assert not trial.broken, trial.evidence
    assert trial.reached > 160


def test_a_reader_stopped_at_any_instruction_before_it_sleeps_hears_of_the_message(harness, channels_folder):
    trial = run(harness, "stop wait", channels_folder)
    assert not trial.broken, trial.evidence
    assert trial.reached > 80


def test_two_that_create_a_channel_at_once_share_it(harness, channels_folder):
    trial = run(harness, "stop create", channels_folder)
    assert not trial.broken, trial.evidence
    assert trial.reached > 500


@pytest.mark.slow(but="a writer's life is a word in memory instead of a lock-kill put-a place for a writer is lost")
@pytest.mark.parametrize(
    ("mistake", "name", "law"),
    [
        ("a reader looks at the entry only once", "stop latest", "reads a torn message"),
        ("a writer keeps the slot it has published", "kill put", "has changed after it was put"),
        ("a writer publishes its slot, then fills it", "kill put", "leaves more than its message"),
        ("a writer reads the clock before it knows its sequence", "stop put", "a stamp goes back"),
        ("a writer does not say which slot it is about to take", "stop put", "has changed after it was put"),
        ("a new writer takes the slot that the dead one's lease names", "kill put", "has changed after it was put"),
        ("a writer's life is a word in memory instead of a lock", "kill put", "a place for a writer is lost"),
        ("a channel is named before it is filled", "kill create", "cannot be opened"),
    ],
)
def test_a_wrong_ring_is_found_out(mistake, name, law, tmp_path, channels_folder):
    wrong = programs.compile_program("kill_points", tmp_path / "harness", programs.make_mistake(mistake, tmp_path))
    assert law in run(wrong, name, channels_folder).evidence
