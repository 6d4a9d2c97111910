"""The Debian package: what is in it, and what bash completes."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import typer

from wholebody import cli
from wholebody.cli import completion

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script():
    return completion.script(typer.main.get_command(cli.application([])))


def completed(script, tmp_path, typed):
    """What bash offers for the last word of what is typed."""
    file = tmp_path / "completion"
    file.write_text(script)
    words = " ".join(f"'{each}'" for each in typed.split(" "))
    number = len(typed.split(" ")) - 1
    ask = f"source {file}; COMP_WORDS=({words}); COMP_CWORD={number}; _wholebody; echo ${{COMPREPLY[*]}}"
    run = subprocess.run(["bash", "-c", ask], capture_output=True, text=True)
    assert run.stderr == ""
    return run.stdout.split()


@pytest.mark.slow
def test_bash_completes_commands_their_parts_and_their_options(script, tmp_path):
    assert completed(script, tmp_path, "wholebody cha") == ["channels"]
    assert set(cli.names()) <= set(completed(script, tmp_path, "wholebody "))
    assert completed(script, tmp_path, "wholebody channels he") == ["header"]
    assert completed(script, tmp_path, "wholebody channels header --a") == ["--as"]
    assert completed(script, tmp_path, "wholebody start hubo2plus --dri") == ["--driver"]
    assert completed(script, tmp_path, "wholebody start hubo2plus x") == []


@pytest.mark.skipif(not shutil.which("dpkg-deb"), reason="only Debian has dpkg-deb")
def test_the_package_has_wheel_service_and_completion_and_scripts_that_a_shell_can_read(tmp_path):
    wheel = tmp_path / "wholebody-1.2.3-cp311-abi3-linux_x86_64.whl"
    for file in (wheel, tmp_path / "requirements", tmp_path / "completion"):
        file.write_text(file.name)
    command = [ROOT / "tools" / "deb", wheel, tmp_path / "requirements", tmp_path / "completion", tmp_path]
    made = Path(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip())
    assert made == tmp_path / "wholebody_1.2.3_amd64.deb"
    there = tmp_path / "there"
    subprocess.run(["dpkg-deb", "--raw-extract", made, there], check=True)
    assert (there / "usr/share/wholebody" / wheel.name).read_text() == wheel.name
    assert (there / "usr/share/wholebody/requirements.txt").read_text() == "requirements"
    assert (there / "usr/share/bash-completion/completions/wholebody").read_text() == "completion"
    assert "ExecStart=/usr/bin/wholebody start %i" in (there / "usr/lib/systemd/system/wholebody@.service").read_text()
    for name in ("DEBIAN/postinst", "DEBIAN/prerm", "usr/bin/wholebody"):
        assert os.access(there / name, os.X_OK)
        subprocess.run(["sh", "-n", there / name], check=True)
    owner = subprocess.run(["dpkg-deb", "--contents", made], capture_output=True, text=True, check=True).stdout
    assert all(" root/root " in line for line in owner.splitlines())
