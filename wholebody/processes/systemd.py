"""Unit: a robot as a service of systemd, for the machine or for its user; and rules of udev for its devices."""

from __future__ import annotations

import getpass
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from wholebody.errors import BadConfiguration, HardwareError, NotPermitted
from wholebody.processes.launch_plan import LaunchPlan

RULES = Path("/etc/udev/rules.d/70-wholebody.rules")
SYSTEM = Path("/etc/systemd/system")


@dataclass(frozen=True)
class Unit:
    """A unit by the name of its robot, and what it starts; without a plan, one that is there already."""

    name: str
    system: bool = False
    plan: LaunchPlan | None = None
    group: str = ""
    readable: bool = False
    user: str = ""  # of the machine's units; empty: who asks, also by sudo

    @property
    def service(self) -> str:
        """What systemd calls it."""
        return f"wholebody-{self.name}.service"

    @property
    def path(self) -> Path:
        """Its file."""
        own = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "systemd" / "user"
        return (SYSTEM if self.system else own) / self.service

    @property
    def systemctl(self) -> list[str]:
        """The command that manages it."""
        return ["systemctl"] if self.system else ["systemctl", "--user"]

    def text(self) -> str:
        """What its file says: begun again when it fails, real-time rights, its log in the journal."""
        if self.plan is None:
            raise BadConfiguration(f"nobody says what '{self.name}' starts")
        who = ""
        if self.system:
            who = f"User={self.user or os.environ.get('SUDO_USER') or getpass.getuser()}\n"
            who += f"SupplementaryGroups={self.group}\n" if self.group else ""
        if folder := os.environ.get("WHOLEBODY_CHANNELS"):
            who += f"Environment={_quoted(f'WHOLEBODY_CHANNELS={folder}')}\n"
        return f"""\
# Written by: wholebody service install
[Unit]
Description=The robot '{self.name}': {self.plan.robot}, {self.plan.behind}
After=network.target
StartLimitIntervalSec=60
StartLimitBurst=5

[Service]
ExecStart={" ".join(map(_quoted, start_command(self.plan, self.group, self.readable)))}
{who}KillMode=mixed
TimeoutStopSec=30
Restart=on-failure
RestartSec=1
StandardOutput=journal
StandardError=journal
SyslogIdentifier=wholebody-{self.name}
LimitRTPRIO=99
LimitMEMLOCK=infinity
NoNewPrivileges=yes

[Install]
WantedBy={"multi-user" if self.system else "default"}.target"""

    def commands(self) -> list[tuple[str, str]]:
        """What to type next, and what it does."""
        manage, of = shlex.join(self.systemctl), "" if self.system else " --user"
        told = [
            (f"{manage} enable --now {self.service}", "start it now, and with the machine"),
            (f"journalctl{of} -u {self.service} -f", "what it says"),
            (f"{manage} stop {self.service}", "end it"),
        ]
        return told if self.system else [*told, ("loginctl enable-linger", "let it run while you are not logged in")]


def start_command(plan: LaunchPlan, group: str = "", readable: bool = False) -> list[str]:
    """The command that starts a plan in the foreground."""
    command = [sys.executable, "-m", "wholebody.cli", "start", plan.robot, "--driver", plan.driver]
    command += ["--name", plan.name, "--period", f"{plan.period:g}", "--foreground"]
    command += ["--filter", plan.filter] if plan.filter else []
    command += ["--scene", plan.scene] if plan.scene != "flat" else []
    command += ["--self-collision", plan.self_collision] if plan.self_collision != "usual" else []
    command += ["--misses-allowed", str(plan.misses_allowed), "--on-miss", plan.on_miss]
    command += ["--fast"] if plan.fast else []
    command += [word for each in plan.behaviors for word in ("--behavior", each)]
    command += [] if plan.guard else ["--no-guard"]
    command += ["--group", group] if group else []
    command += ["--readable"] if readable else []
    if plan.physics != (plan.behind == "simulator"):
        command += ["--physics" if plan.physics else "--no-physics"]
    return command


def install(unit: Unit) -> None:
    """Write its file, and have systemd read it, where it runs; nothing is started."""
    write(unit.path, f"{unit.text()}\n")
    _ask(unit, "daemon-reload")


def remove(unit: Unit) -> None:
    """Remove the file of one that does not run."""
    if not unit.path.is_file():
        raise BadConfiguration(f"there is no {unit.path}; see: wholebody service status --name {unit.name}")
    if _ask(unit, "is-active", unit.service) == "active":
        stop = shlex.join([*unit.systemctl, "stop", unit.service])
        raise HardwareError(f"{unit.service} runs, and is left as it is; end it first: {stop}")
    _ask(unit, "disable", unit.service)
    _writing(unit.path, unit.path.unlink)
    _ask(unit, "daemon-reload")


def state(unit: Unit) -> str:
    """How systemd says that it is."""
    if shutil.which("systemctl") is None:
        return "systemd is not installed here"
    return ", ".join(_ask(unit, what, unit.service) or "unknown" for what in ("is-active", "is-enabled"))


def write(path: Path, text: str) -> None:
    """Write a file of the machine or of its user."""

    def do() -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    _writing(path, do)


def udev_rules(group: str = "dialout") -> str:
    """Rules by which CAN interfaces come up when they are plugged in, and a group may use serial lines and gamepads."""
    return f"""\
# Written by: wholebody service udev
# CAN interfaces: 1 Mbit/s, a queue for the frames of a cycle, on again by itself 0.1 s after it was off for errors.
ACTION=="add", SUBSYSTEM=="net", KERNEL=="can[0-9]*", RUN+="/sbin/ip link set %k txqueuelen 100 type can bitrate 1000000 restart-ms 100", RUN+="/sbin/ip link set %k up"
# Serial lines of servos: for the group; adapters by FTDI answer at once instead of every 16 ms.
SUBSYSTEM=="tty", KERNEL=="ttyUSB[0-9]*", GROUP="{group}", MODE="0660"
SUBSYSTEM=="tty", KERNEL=="ttyACM[0-9]*", GROUP="{group}", MODE="0660"
ACTION=="add", SUBSYSTEM=="usb-serial", DRIVER=="ftdi_sio", ATTR{{latency_timer}}="1"
# Gamepads that stop the robot: wholebody stop-button --gamepad /dev/input/js0
SUBSYSTEM=="input", KERNEL=="js[0-9]*", GROUP="{group}", MODE="0640"
"""  # noqa: E501 - a rule is a line


def _ask(unit: Unit, *words: str) -> str:
    """What systemctl answers; nothing where there is none."""
    if shutil.which("systemctl") is None:
        return ""
    return subprocess.run([*unit.systemctl, *words], capture_output=True, text=True, check=False).stdout.strip()


def _writing(path: Path, do: Callable[[], object]) -> None:
    try:
        do()
    except PermissionError:
        raise NotPermitted(f"{path} is not yours to change; run this as root (sudo), or leave out --system") from None
    except OSError as error:
        raise HardwareError(f"{path}: {error.strerror}") from error


def _quoted(word: str) -> str:
    """A word of a command as systemd reads it: $ and % are special there, and quotes are those of a shell."""
    word = word.replace("%", "%%").replace("$", "$$")
    if word and not set(word) & set(" \t\"'\\;"):
        return word
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
