"""Wheels for both processors, under the sanitizers, in an empty environment, and on a disk that cannot be written.

All of it is slow, and needs a network for what is not in pip's cache; what cannot be had is a skip that says why.
"""

from __future__ import annotations

import os
import pickle
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import installing
import pytest
from kernel_calls import recorded

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
LAWS = ("tests/model/test_model.py", "tests/model/test_model_support.py", "tests/tasks", "tests/constraints")
SOME_LAWS = "closed_form or wbosc or attitude or profile or jacobian or rotation or mass or constraint or task"
MAKE = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MAKELEVEL")}

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]


def run(*command: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    """Run in the checkout; its output is kept."""
    return subprocess.run(  # type: ignore[call-overload,no-any-return]
        [str(each) for each in command], **{"cwd": ROOT, "capture_output": True, "text": True, "env": MAKE, **options}
    )


def test_kernels_pass_their_tests_under_the_sanitizers():
    done = run("tools/sanitize", BIN, "--dist", "no")
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert re.search(r"[1-9]\d{3} passed", done.stdout), "thousands of tests"


# 64-bit ARM.


@pytest.fixture(scope="module")
def arm() -> list[str]:
    """The command of a Python for 64-bit ARM, with our wheel."""
    run("tools/system-packages", sys.executable, "qemu-aarch64:qemu-user")
    if not shutil.which("qemu-aarch64"):
        pytest.skip("there is no qemu-aarch64, and apt may not install qemu-user")
    built = run("tools/wheel", BIN, "aarch64")
    if "please install" in built.stderr or "no npm" in built.stderr:
        pytest.skip(built.stderr.strip())
    assert built.returncode == 0, built.stderr
    assert re.search(r"cp311-abi3-manylinux_2_\d+_aarch64\.whl", built.stdout)
    ready = run("tools/aarch64", BIN)
    if ready.returncode:
        pytest.skip(f"no Python for 64-bit ARM can be had: {ready.stderr.strip().splitlines()[-1]}")
    return ready.stdout.split()


def test_laws_hold_on_arm(arm):
    """The tests of the checkout, with the wheel's kernels."""
    options = ["-o", "pythonpath=tools tests/rigs", "-o", "timeout=900", "-p", "no:cacheprovider", "-p", "no:xdist"]
    chosen = ["-m", "not slow", "-k", SOME_LAWS]
    environment = {**MAKE, "MUJOCO_GL": "disable", "PYTHONDONTWRITEBYTECODE": "1"}
    done = run(*arm, "-P", "-m", "pytest", "-q", *options, *chosen, *LAWS, env=environment)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


def test_one_source_gives_the_same_bits_on_both_processors(arm, tmp_path):
    """Recorded calls, repeated there. Only an eigensolver of LAPACK and functions such as sin are other people's."""
    (tmp_path / "calls").write_bytes(pickle.dumps(recorded()))
    environment = {**MAKE, "PYTHONPATH": str(ROOT / "tests" / "rigs")}
    done = run(*arm, "-P", "-B", ROOT / "tests/rigs/same_bits.py", tmp_path / "calls", env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    print(done.stdout)
    found = dict(line.rsplit(" ", 1) for line in done.stdout.splitlines())
    assert int(found["calls"]) > 500
    assert float(found["greatest relative difference"]) < 1e-9
    assert int(found["calls that differ"]) == 0, done.stdout


# A wheel in an empty environment.


@pytest.fixture(scope="module")
def installed() -> Iterator[Path]:
    """The folder of an environment with nothing but our wheel and what it needs, as the lock has it."""
    if not (ROOT / "wholebody/operator/page/static/page.js").exists():
        pytest.skip("there is no page to put into a wheel: npm is missing, and apt may not install it")
    built = run("tools/wheel", BIN, os.uname().machine)
    assert built.returncode == 0, built.stderr
    wheel = built.stdout.split()[-1]
    assert re.search(r"cp311-abi3-manylinux_2_\d+_\w+\.whl$", wheel)
    folder = Path(tempfile.mkdtemp(prefix="wholebody-empty-"))  # not pytest's, which other users may not enter
    folder.chmod(0o755)
    try:
        run(sys.executable, "-m", "venv", folder / "venv").check_returncode()
        (folder / "lock").write_text("\n".join(installing.locked(ROOT, []).values()))
        no_compiler = {**MAKE, "PATH": str(folder / "venv/bin")}
        pip = [folder / "venv/bin/python", "-m", "pip", "-q", "--disable-pip-version-check", "install", "--no-compile"]
        for what in (["--require-hashes", "--no-deps", "-r", folder / "lock"], [ROOT / wheel]):
            done = run(*pip, "--only-binary", ":all:", *what, cwd=folder, env=no_compiler)
            assert done.returncode == 0, done.stderr[-3000:]
        yield folder
    finally:
        shutil.rmtree(folder)


def environment_of(folder: Path) -> dict[str, str]:
    """Nothing of the checkout, no compiler, and a home of its own."""
    (folder / "home").mkdir(exist_ok=True)
    kept = {key: MAKE[key] for key in ("LANG", "TERM") if key in MAKE}
    own = {"HOME": f"{folder}/home", "WHOLEBODY_CHANNELS": os.environ["WHOLEBODY_CHANNELS"], "MUJOCO_GL": "egl"}
    return {**kept, **own, "PATH": str(folder / "venv/bin"), "PYTHONDONTWRITEBYTECODE": "1"}


@pytest.fixture
def unchanged(installed: Path):
    """The environment, in which nothing is written meanwhile."""
    stamp = installed / "stamp"
    stamp.touch()
    yield installed
    written = run("find", installed / "venv", "-newer", stamp, "-type", "f").stdout.splitlines()
    assert written == []


def twelve_lines() -> str:
    return re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[0]


def test_the_twelve_lines_of_the_readme_run_from_the_wheel(unchanged):
    code = twelve_lines() + "\nimport wholebody._kernels as k; print(k.__file__)"
    done = run(unchanged / "venv/bin/python", "-c", code, cwd=unchanged, env=environment_of(unchanged))
    assert done.returncode == 0, done.stderr
    angle, file = done.stdout.split()
    assert float(angle) < -0.8
    assert file.startswith(str(unchanged))


def test_a_user_who_may_write_nothing_there_can_use_it(unchanged):
    """With Debian's Python where that of the environment belongs to root alone."""
    environment, site = environment_of(unchanged), next((unchanged / "venv/lib").glob("python3*/site-packages"))
    python, user = unchanged / "venv/bin/python", []
    run("chmod", "-R", "a-w", unchanged / "venv").check_returncode()
    try:
        if os.getuid() == 0:
            user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
            os.chown(unchanged / "home", 65534, 65534)
            os.chown(environment["WHOLEBODY_CHANNELS"], 65534, 65534)
            if run(*user, python, "-c", "", cwd="/").returncode:
                python = Path(f"/usr/bin/{site.parent.name}")
            if run(*user, python, "-c", "", cwd="/").returncode:
                pytest.skip(f"no {site.parent.name} that another user may run")
        code = f"import site; site.addsitedir({str(site)!r})\n" + twelve_lines()
        code += f"import os; assert not os.access({str(site)!r}, os.W_OK)"
        done = run(*user, python, "-c", code, cwd="/", env={**environment, "PATH": "/usr/bin"})
        assert done.returncode == 0, done.stderr
        assert float(done.stdout) < -0.8
    finally:
        run("chmod", "-R", "u+w", unchanged / "venv")


def test_a_walk_from_the_wheel(unchanged):
    done = run(unchanged / "venv/bin/wholebody", *WALK, cwd=unchanged, env=environment_of(unchanged))
    assert done.returncode == 0, done.stdout + done.stderr


WALK = ("walk", "--fast", "--distance", "0.3", "--turn", "0", "--push-force", "0", "--no-film")


def test_the_page_from_the_wheel(unchanged):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment, program = environment_of(unchanged), str(unchanged / "venv/bin/wholebody")
    started = run(program, "start", "hubo2plus", "--driver", "loopback", cwd=unchanged, env=environment)
    assert started.returncode == 0, started.stderr
    command = [program, "page", "--no-open", "--no-walk", "--port", str(port)]
    page = subprocess.Popen(command, cwd=unchanged, env=environment, start_new_session=True)
    try:
        html = fetched(f"http://127.0.0.1:{port}/")
        script = re.search(rb'[\w/.]*page\.js[^"\']*', html)
        assert script, html
        assert len(fetched(f"http://127.0.0.1:{port}/{script[0].decode().lstrip('/')}")) > 10_000
    finally:
        os.killpg(page.pid, signal.SIGTERM)
        page.wait(30)
        run(program, "stop", cwd=unchanged, env=environment).check_returncode()


def fetched(address: str, seconds: float = 60.0) -> bytes:
    """What a server answers with 200, once it is there."""
    end = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(address, timeout=10) as answer:
                assert answer.status == 200
                return bytes(answer.read())
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


# No compiler.


def without_compiler(folder: Path) -> dict[str, str]:
    """A PATH with what a shell needs, and no gcc, apt-get or sudo."""
    tools = folder / "bin"
    tools.mkdir()
    hidden = re.compile(r"(.*-)?(gcc|cc|c\+\+|g\+\+|clang|c99|c89|tcc)(-[\d.]+)?|apt-get|sudo")
    for each in [*Path("/usr/bin").iterdir(), *Path("/bin").iterdir()]:
        if not hidden.fullmatch(each.name) and not (tools / each.name).exists():
            (tools / each.name).symlink_to(each)
    return {**MAKE, "PATH": str(tools)}


def test_make_says_in_one_line_what_to_install(tmp_path):
    done = run("tools/system-packages", sys.executable, env=without_compiler(tmp_path))
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert re.search(r"please install these system packages.*: gcc\b", done.stderr)
