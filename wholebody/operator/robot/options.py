"""What `wholebody rcp` and `wholebody page` have in common: the robot, its map, its users, and how to encrypt."""

from __future__ import annotations

import os
import secrets
import ssl
import time
from pathlib import Path

from wholebody import messages, robots, security
from wholebody.behaviors.arms import palms
from wholebody.channels import Channel
from wholebody.channels.owned import Opened
from wholebody.drivers import Names
from wholebody.errors import BadConfiguration, CommandsTaken, TooManyWriters, UnknownName
from wholebody.operator.map import Block, Map, read_map
from wholebody.operator.rcp.users import ROLES, User, entry, read_users
from wholebody.operator.rcp.users import Role as UserRole
from wholebody.operator.robot.companions import Companions
from wholebody.operator.robot.diagnostics import footless
from wholebody.processes.registry import ARMS, CAMERA, WALK, plan_of


def map_of(name: str, file: Path | None) -> Map:
    """The map of a file, or of the scene that a simulated robot is in."""
    if file is not None:
        return read_map(file)
    plan = plan_of(name)
    if plan is None or plan.scene == "flat":
        return Map()
    from wholebody.simulation.scenes import footprints

    found = footprints(plan.scene)
    return Map([Block(*each) for each in found if not each.stand], [Block(*each) for each in found if each.stand])


def begin_controllers(companions: Companions, robot: str, wanted: bool) -> None:
    """Controllers of legs and arms beside us, as far as it has any, unless they run already or none is wanted."""
    model = robots.load(robot)
    for role, able in ((WALK, not footless(model)), (ARMS, bool(palms(model)))):
        if wanted and able:
            companions.add(role, robot=robot)


def _has_objects(scene: str) -> bool:
    from wholebody.simulation.scenes import has_objects

    return has_objects(scene)


def begin_camera(companions: Companions, name: str, wanted: bool, pictures: bool = True) -> None:
    """The camera of a simulated robot, drawn beside us; real ones have their own.

    If nobody wants pictures it is there to find objects, and only where there are any.
    """
    plan = plan_of(name)
    simulated = plan is not None and plan.behind == "simulator"
    if plan is not None and wanted and simulated and (pictures or _has_objects(plan.scene)):
        companions.add(CAMERA, robot=plan.robot, scene=plan.scene)


def users_of(file: Path | None) -> list[User]:
    """The users of a file, or none."""
    return read_users(file) if file is not None else []


def encryption(certificate: Path | None, key: Path | None, host: str = "127.0.0.1") -> ssl.SSLContext | None:
    """TLS with a certificate; without one, beyond this machine, with that of the robot's keys, if there is one."""
    if certificate is not None:
        return security.server_context(certificate, key)
    if key is not None:
        raise BadConfiguration("a key without a certificate encrypts nothing; give --certificate too")
    ours = security.keys()
    if ours.certificate is None or ours.key is None or security.is_loopback(host):
        return None
    return security.server_context(ours.certificate, ours.key)


def new_user(name: str, role: str) -> tuple[str, str]:
    """A line for the file of users, and the secret that goes with it."""
    if role not in ROLES:
        raise UnknownName("role", role, ROLES)
    secret = secrets.token_urlsafe(12)
    return entry(User.new(name, UserRole(ROLES[role]), secret)), secret


class CommandPlace(Opened):
    """Holds the place until it is closed; CommandsTaken if somebody else does."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._robot = Names(name).robot
        self._name = f"{self._robot}.commands"
        try:
            self._announcement = self._writer(self._name, messages.event(), writers=1)
        except TooManyWriters:
            self.close()
            raise CommandsTaken(
                f"people talk to '{self._robot}' elsewhere already: {self._elsewhere()}; use that, or end it first"
            ) from None

    def announce(self, where: str) -> None:
        """Say where people can talk to the robot."""
        message = self._announcement.message
        message.time, message.source, message.name = time.monotonic(), "commands", "open"
        message.text = f"{where}, process {os.getpid()}"
        self._announcement.put()

    def _elsewhere(self) -> str:
        with Channel(self._name, kind=messages.Event) as channel, channel.reader() as reader:
            processes = channel.writer_processes()
            if reader.latest():
                return reader.message.text
            return ", ".join(f"process {each}" for each in processes)
