"""tools/system-packages: waits while another apt works, says for whom, and gives up nothing meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "system-packages"
HELD = "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 4711 (apt-get)"
# Each `apt-get install` fails until the file `busy` has no line left; then it says what it was asked to install.
APT = f"""#!/bin/sh
[ "$1" = install ] || exit 0
if [ -s busy ]; then sed -i 1d busy; echo "{HELD}"; exit 100; fi
echo "$@" >installed; exit $FAILS
"""


def system_packages(folder: Path, busy: int, fails: int = 0) -> subprocess.CompletedProcess[str]:
    """Ask for a command that nobody has, with an apt-get that is held up so many times."""
    (folder / "busy").write_text("held\n" * busy)
    for name, text in {"apt-get": APT, "id": "#!/bin/sh\necho 0\n", "sleep": "#!/bin/sh\n"}.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "FAILS": str(fails)}
    command = [TOOL, sys.executable, "a-browser"]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=50)


def test_it_waits_for_another_apt_and_says_so_once(tmp_path):
    run = system_packages(tmp_path, busy=3)
    assert run.returncode == 0, run.stderr
    assert "a-browser" in (tmp_path / "installed").read_text()
    assert run.stdout.count("for another apt: /var/lib/dpkg/lock-frontend. It is held by process 4711") == 1
    assert "going on without" not in run.stderr


def test_an_apt_that_fails_for_another_reason_is_not_repeated(tmp_path):
    run = system_packages(tmp_path, busy=0, fails=1)
    assert run.returncode == 0, "what can be left out is left out"
    assert "going on without" in run.stderr
    assert "waiting" not in run.stdout
