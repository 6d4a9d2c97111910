"""The benchmark command: its JSON, its tables, its errors, and that it cleans up. Nothing here judges a time."""

import functools
import importlib
import json
import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from wholebody.cli import bench
from wholebody.errors import UnknownBenchmark, WholebodyError

COMMAND = [str(Path(sys.executable).with_name("wholebody")), "bench"]
MANY = range(1, 5)
PROMISED = {
    *(f"{call}_{size}" for call in ("put", "latest") for size in (64, 1024, 4096)),
    *("next_1024", "latest_nothing_new", "copy_1024"),
    *(f"round_trip_{name}" for name in ("blocking", "spinning", "pipe", "unix_datagram")),
    *(f"{call}_1024_{w}w_{r}r" for call in ("put", "latest") for w in MANY for r in MANY),
    *("latest_in_vain", "messages_checked", "messages_torn"),
    *(["round_trip_iceoryx2"] if find_spec("iceoryx2") else []),
    *(["round_trip_zenoh", "paced_put_1024", "bridge_put_1024", "bridge_age"] if find_spec("zenoh") else []),
}
LIMITS = {
    "put_1024 / copy_1024": 2.0,
    "latest_1024 / copy_1024": 1.6,
    "round_trip_blocking / round_trip_pipe": 1.0,
    "round_trip_spinning / round_trip_pipe": 1 / 20,
    "messages_torn": 0,
} | ({"bridge_age / round_trip_zenoh": 6.0, "bridge_put_1024 / paced_put_1024": 1.25} if find_spec("zenoh") else {})


@functools.cache
def quick(name: str) -> subprocess.CompletedProcess[str]:
    """What `wholebody bench NAME --json --quick` prints, run once."""
    done = subprocess.run([*COMMAND, name, "--json", "--quick"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(params=["messages", pytest.param("channels", marks=pytest.mark.slow)])
def measured(request):
    """A report with every kind of result, and the one of the channels, which needs 17 s of a processor."""
    return json.loads(quick(request.param).stdout)


@pytest.fixture
def channels():
    return json.loads(quick("channels").stdout)


@pytest.fixture
def report(monkeypatch):
    """The module in which benchmarks find their report."""
    monkeypatch.syspath_prepend(bench.SOURCE_TREE)
    return importlib.import_module("benchmarks.report")


def test_the_json_is_one_object_of_the_fixed_form(measured):
    assert measured.keys() - {"notes"} == {"machine", "results", "budgets"}
    assert measured["machine"].keys() >= {"cpu", "cores", "memory_gib", "kernel", "python", "wholebody"}
    for result in measured["results"].values():
        assert isinstance(result, int | float) or result.keys() == {"min", "median", "p99", "unit"}
    for budget in measured["budgets"]:
        assert budget.keys() == {"name", "value", "limit", "unit", "met"}


def test_the_machine_has_no_name(measured):
    assert os.uname().nodename not in json.dumps(measured["machine"])


@pytest.mark.slow
def test_progress_is_told_on_stderr():
    assert "channels: round trips between two processes" in quick("channels").stderr


@pytest.mark.slow
def test_every_promised_result_is_there(channels):
    assert channels["results"].keys() >= PROMISED


def test_the_minimum_is_below_the_median_and_that_below_p99(measured):
    timings = [result for result in measured["results"].values() if isinstance(result, dict)]
    assert all(0 < each["min"] <= each["median"] <= each["p99"] and each["unit"] == "us" for each in timings)


@pytest.mark.slow
def test_every_budget_has_its_limit_and_says_whether_it_is_met(channels):
    assert {budget["name"]: budget["limit"] for budget in channels["budgets"]} == LIMITS
    for budget in channels["budgets"]:
        assert budget["met"] == (budget["value"] <= budget["limit"])


@pytest.mark.slow
def test_messages_are_checked_and_none_is_torn(channels):
    assert channels["results"]["messages_checked"] > 0
    assert channels["results"]["messages_torn"] == 0


def test_a_budget_is_met_up_to_its_limit(report):
    assert report.Budget("a / b", 2.0, 2.0, "ratio").met
    assert not report.Budget("a / b", 2.1, 2.0, "ratio").met


def test_a_ratio_in_a_report_has_its_yardstick_there(measured):
    ratios = [budget for budget in measured["budgets"] if budget["unit"] == "ratio"]
    assert ratios
    for budget in ratios:
        ours, _, yardstick = budget["name"].partition(" / ")
        expected = measured["results"][ours]["median"] / measured["results"][yardstick]["median"]
        assert budget["value"] == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("unit", ["us", "µs", "ms", "s", "s/s", "MB", "% of a core", ""])
def test_no_budget_is_a_time_or_depends_on_the_machine_otherwise(report, unit):
    with pytest.raises(ValueError, match="from machine to machine"):
        report.Budget("a / b", 1.0, 2.0, unit)


def test_a_ratio_says_to_what(report):
    with pytest.raises(ValueError, match="does not say to what"):
        report.Budget("a", 1.0, 2.0, "ratio")


def test_a_ratio_needs_both_figures_in_the_report(report):
    found = report.Report([report.Section("some", {"a": report.Timing(1.0, 2.0, 3.0)})])
    with pytest.raises(KeyError, match="b"):
        found.limit_ratio("a", "b", 1.0)
    found.sections.append(report.Section("more", {"b": report.Timing(1.0, 4.0, 5.0)}))
    found.limit_ratio("a", "b", 1.0)
    assert found.budgets == [report.Budget("a / b", 0.5, 1.0, "ratio")]


def test_the_tables_show_every_result_and_every_budget(report, capsys):
    results = {"some_call": report.Timing(1.25, 2.5, 1234.5), "some_count": 12345}
    budgets = [report.Budget("kept", 0.5, 1.0, "share"), report.Budget("broken", 3.0, 2.0, "count")]
    found = report.Report([report.Section("some section", results)], budgets, ["something is left out"])
    bench.show_report("name", found, bench.machine())
    lines = capsys.readouterr().out.splitlines()
    shown = {words[0]: words[1:] for words in map(str.split, lines) if words}
    assert "some section" in lines
    assert shown["some_call"] == ["1.2", "2.5", "1,234.5"]
    assert shown["some_count"] == ["12,345"]
    assert shown["kept"] == ["0.5", "≤", "1", "met"]
    assert shown["broken"] == ["3", "≤", "2", "not", "met"]
    assert "note: something is left out" in lines


def test_without_a_name_every_benchmark_is_listed_with_what_it_measures(capsys):
    bench.bench()
    listed = " ".join(capsys.readouterr().out.split())
    assert "channels How fast messages pass" in listed
    assert "report" not in listed, "a module without a run function is no benchmark"


def test_an_unknown_benchmark_names_the_closest():
    with pytest.raises(UnknownBenchmark, match="no benchmark 'chanels'; closest: 'channels'"):
        bench.bench("chanels")


def test_a_benchmark_unlike_any_names_all_there_are():
    with pytest.raises(UnknownBenchmark, match="no benchmark 'xyz'; there are: 'channels'"):
        bench.load("xyz", {"channels": ""})


def test_an_installation_without_the_source_tree_says_where_the_benchmarks_are(tmp_path):
    with pytest.raises(WholebodyError, match="part of the source tree"):
        bench.programs(tmp_path, "benchmarks", "run")


def children(process: int) -> list[int]:
    """Process ids of the living children."""
    try:
        return [int(each) for each in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []


def channel_folder(process: int) -> Path | None:
    """The channel folder that a process was started with."""
    try:
        variables = Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    except OSError:
        return None
    return next((Path(os.fsdecode(v.partition(b"=")[2])) for v in variables if v[:19] == b"WHOLEBODY_CHANNELS="), None)


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for(condition, seconds=20.0):
    """Whether the condition comes true."""
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


@pytest.mark.slow(but="SIGKILL")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda number: number.name)
def test_a_benchmark_that_is_stopped_takes_its_processes_along_and_clears_up(number, tmp_path, monkeypatch):
    monkeypatch.setenv("WHOLEBODY_CHANNELS", str(tmp_path))
    with (
        open(tmp_path / "stderr", "w") as stderr,
        subprocess.Popen([*COMMAND, "channels"], stdout=stderr, stderr=stderr, process_group=0) as run,
    ):
        assert wait_for(lambda: len(children(run.pid)) >= 8), (tmp_path / "stderr").read_text()
        helpers = children(run.pid)
        folder = next(filter(None, map(channel_folder, helpers)))
        assert folder.name.startswith("wholebody-bench-")
        run.send_signal(number)
        run.wait()
        assert wait_for(lambda: not any(map(is_running, helpers)))
    if number == signal.SIGKILL:
        subprocess.run(["rm", "-rf", *folder.parent.glob(f"{folder.name}*")], check=True)  # nobody was left to do it
    assert list(folder.parent.glob(f"{folder.name}*")) == []
