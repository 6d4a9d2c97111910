"""One mechanism, one place: who begins processes, who catches signals, and that nobody reads command lines."""

import ast
from pathlib import Path

import wholebody

SOURCES = sorted(Path(wholebody.__file__).parent.rglob("*.py"))


def users(*names):
    """The modules that use one of these attributes, such as signal.signal."""
    found = set()
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and f"{ast.unparse(node.value)}.{node.attr}" in names:
                found.add("/".join(path.parts[-2:]))
    return found


def test_processes_are_begun_in_one_place():
    assert users("subprocess.Popen", "os.fork", "os.spawnv", "multiprocessing.Process") == {"processes/lifecycle.py"}


def test_signals_are_caught_in_one_place():
    assert users("signal.signal", "signal.sigaction", "signal.default_int_handler") == {"wholebody/realtime.py"}


def test_nobody_reads_how_another_process_was_begun():
    assert [path for path in SOURCES if "/cmdline" in path.read_text(encoding="utf-8")] == []
