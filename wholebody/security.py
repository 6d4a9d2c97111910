"""Keys, and who may listen where: nothing of ours listens beyond this machine without a token and TLS.

The keys of a robot are three files of one folder, `~/.config/wholebody/keys` or WHOLEBODY_KEYS, which `wholebody keys
make` writes: robot.pem (the certificate), robot.key (its private key) and token (a secret word). A machine that only
connects has robot.pem and token. The variable WHOLEBODY_TOKEN stands for the file token. Neither the token nor the
private key is ever an argument of a process, or a line of a log.
"""

from __future__ import annotations

import hmac
import ipaddress
import os
import secrets
import shlex
import shutil
import socket
import ssl
import stat
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wholebody.errors import BadConfiguration, NotSecured

TOKEN = "WHOLEBODY_TOKEN"
FOLDER = "WHOLEBODY_KEYS"
INSECURE = "WHOLEBODY_INSECURE"
SHORTEST = 16
"""Characters of a token."""
DAYS = 825
"""for which a certificate is good; browsers take none that is good for longer"""


@dataclass(frozen=True)
class Keys:
    """What is in a folder of keys; what is not there is None or empty."""

    certificate: Path | None
    key: Path | None
    token: str = field(repr=False)

    @property
    def can_listen(self) -> bool:
        """Whether others can be let in with them."""
        return bool(self.certificate and self.key and self.token)

    @property
    def can_connect(self) -> bool:
        """Whether one can go to others with them."""
        return bool(self.certificate and self.token)


def folder() -> Path:
    """Where the keys of this user are."""
    return Path(os.environ.get(FOLDER) or Path.home() / ".config" / "wholebody" / "keys")


def keys() -> Keys:
    """The keys there are; BadConfiguration if others could read what is secret."""
    place = folder()
    certificate, key = (_file(place / name) for name in ("robot.pem", "robot.key"))
    if key is not None:
        _check_secret(key)
    return Keys(certificate, key, token())


def token() -> str:
    """The secret word, of WHOLEBODY_TOKEN or of the file; empty if there is none."""
    word = os.environ.get(TOKEN, "")
    source = f"the variable {TOKEN}"
    file = _file(folder() / "token")
    if not word and file is not None:
        _check_secret(file)
        word, source = file.read_text(encoding="utf-8", errors="replace").strip(), str(file)
    if word and (len(word) < SHORTEST or any(each.isspace() for each in word) or not word.isascii()):
        raise BadConfiguration(f"{source} is no token: give {SHORTEST} letters and digits or more, without spaces")
    return word


def same(first: str, second: str) -> bool:
    """Whether two secrets are the same; takes as long if they are not."""
    return hmac.compare_digest(first.encode(), second.encode())


def is_loopback(host: str) -> bool:
    """Whether an address, or all that a name stands for, is of this machine alone."""
    host = host.strip("[]").partition("%")[0]
    if not host:
        return False
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        pass
    try:
        found = {str(each[4][0]) for each in socket.getaddrinfo(host, None)}
    except (OSError, UnicodeError):
        return False
    return bool(found) and all(ipaddress.ip_address(each.partition("%")[0]).is_loopback for each in found)


def check_listening(
    what: str, host: str, *, lacks: Sequence[str], insecure: bool = False, keys_help: bool = True
) -> bool:
    """Whether others can reach it; NotSecured if they can, and it lacks what protects it, and that is not wanted.

    lacks      such as "TLS", "a token"; none if it is protected
    keys_help  whether keys would protect it
    """
    if is_loopback(host):
        return False
    where, without = host or "all addresses", " and without ".join(lacks)
    if lacks and not (insecure or os.environ.get(INSECURE)):
        keys = "make keys (wholebody keys make), or " if keys_help else "its protocol has neither: "
        raise NotSecured(
            f"{what} would listen at {where}, where others reach it, without {without}; {keys}"
            f"say --insecure (or {INSECURE}=1) on a network of your own"
        )
    if lacks:
        say_insecure(f"{what} listens at {where} without {without}")
    return True


def say_insecure(text: str) -> None:
    """Say loudly that something is not protected."""
    text = f"wholebody: INSECURE: {text}: whoever is on the network can listen in, or take part"
    print(text, file=sys.stderr, flush=True)


def server_context(certificate: Path, key: Path | None = None) -> ssl.SSLContext:
    """TLS of a server with a certificate, whose key may be in the same file."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError) as error:
        raise BadConfiguration(f"{certificate} and its key cannot be used: {error}") from error
    return context


def make(names: Sequence[str] = ()) -> Path:
    """Make the keys of a robot that is reached by these names and addresses, as far as there are none; their folder."""
    place = folder()
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not (place / "token").exists():
        write_secret(place / "token", secrets.token_urlsafe(24))
    if not (place / "robot.pem").exists():
        command = openssl(place, names)
        if shutil.which(command[0]) is None:
            raise BadConfiguration(f"openssl is not installed; where it is, run: {shlex.join(command)}")
        made = subprocess.run(command, capture_output=True, text=True, check=False, umask=0o077)
        if made.returncode:
            raise BadConfiguration(f"openssl made no certificate: {made.stderr.strip()}")
    return place


def openssl(place: Path, names: Sequence[str]) -> list[str]:
    """The command that makes a certificate, good for this machine and for these names and addresses of it."""
    every = dict.fromkeys(["localhost", "127.0.0.1", socket.gethostname(), *names])
    stands_for = ",".join(f"{'IP' if _is_address(each) else 'DNS'}:{each}" for each in every)
    return [
        *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
        *("-days", str(DAYS), "-subj", "/CN=wholebody robot"),
        *("-addext", f"subjectAltName={stands_for}", "-addext", "basicConstraints=critical,CA:FALSE"),
        *("-keyout", str(place / "robot.key"), "-out", str(place / "robot.pem")),
    ]


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _file(path: Path) -> Path | None:
    return path if path.is_file() else None


def _check_secret(file: Path) -> None:
    """Refuse a secret that others may read."""
    mode = file.stat().st_mode
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise BadConfiguration(f"{file} is a secret that others may read; run: chmod 600 {shlex.quote(str(file))}")


def write_secret(file: Path, text: str) -> None:
    """Write a file that nobody else can read; a folder that is not there is made."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as opened:
        opened.write(text)
