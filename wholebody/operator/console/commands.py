"""The commands of the console (Hubo-Ach §4.3): what each one asks of the daemon, and what it says."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rich.table import Table

from wholebody.errors import BadMessage, HardwareError, UnknownName
from wholebody.messages import ALL_JOINTS, Status, Verb
from wholebody.messages.bounds import GOTO_SHARE, STEP_LIMIT
from wholebody.operator.console.motion import goto, home, progress
from wholebody.operator.console.session import Session, finite
from wholebody.operator.monitor.status_view import FAULTS, Picture, words
from wholebody.operator.monitor.tables import joint_table, number, owner_table
from wholebody.parameters.text import SWITCHES
from wholebody.processes.launch_plan import filter_request

LOOK_EVERY = 0.02
"""s"""


@dataclass(frozen=True)
class Command:
    """One command: how it is written, what it does, and the least and most words after its name."""

    usage: str
    help: str
    run: Callable[[Session, list[str]], None]
    least: int
    most: int

    @property
    def name(self) -> str:
        """Its first word."""
        return self.usage.split()[0]


def on_joint(verb: Verb) -> Callable[[Session, list[str]], None]:
    """A command that asks for one object, of the joint named, or of all."""

    def run(session: Session, arguments: list[str]) -> None:
        session.ask(verb, session.joint(arguments[0]) if arguments else ALL_JOINTS)

    return run


def control(session: Session, arguments: list[str]) -> None:
    """Turn joints' controllers on or off."""
    *joint, word = arguments
    if word.lower() not in SWITCHES:
        raise BadMessage(f"'{word}' is neither on (1) nor off (0)")
    session.ask(Verb.CONTROL, session.joint(joint[0]) if joint else ALL_JOINTS, [float(SWITCHES[word.lower()])])


def speed(session: Session, arguments: list[str]) -> None:
    """Show or set how fast goto moves."""
    if arguments:
        share = finite(arguments[0])
        if complaint := GOTO_SHARE.complaint(share):
            raise BadMessage(complaint)
        session.speed = share
    session.say(f"goto moves at {session.speed:g} of the velocity limits")


def status(session: Session, arguments: list[str]) -> None:
    """Ask a joint's board how it is."""
    joint = session.joint(arguments[0])
    if joint == ALL_JOINTS:
        status_all(session, [])
        return
    answer = session.request(Verb.STATUS, joint)
    if not answer.accepted:
        raise HardwareError(f"{session.joints[joint]}: refused: {answer.text}")
    flags = Status(answer.status)
    faults, others = words(flags & FAULTS), words(flags & ~FAULTS)
    session.say(f"{session.joints[joint]}: {', '.join([*(word.upper() for word in faults), *others]) or 'no flags'}")
    if answer.text:
        session.say(f"  {answer.text}")
    get(session, [session.joints[joint]])


def status_all(session: Session, arguments: list[str]) -> None:
    """Show every joint."""
    picture = session.look()
    session.output.print(joint_table(picture.joints))
    _summary(session, picture)


def get(session: Session, arguments: list[str]) -> None:
    """Show what is measured at a joint."""
    joint = session.joint(arguments[0])
    if joint == ALL_JOINTS:
        status_all(session, [])
        return
    view = session.view(joint)
    for label, value, unit in (
        ("command", view.command, "rad"),
        ("reference", view.reference, "rad"),
        ("encoder", view.position, "rad"),
        ("velocity", view.velocity, "rad/s"),
        ("effort", view.effort, "N·m"),
        ("current", view.current, "A"),
        ("temperature", view.temperature, "°C"),
    ):
        session.say(f"  {label:<12}{number(value):>10} {unit if value is not None else ''}".rstrip())


def update(session: Session, arguments: list[str]) -> None:
    """Say how the robot is now."""
    _summary(session, session.look())


def _summary(session: Session, picture: Picture) -> None:
    session.say(
        f"{picture.robot or picture.name}: {picture.condition}, {picture.rate:.0f} Hz, tick {picture.tick}, "
        f"{picture.missed} missed"
    )
    for name, faults in picture.faults:
        session.say(f"{name}: {faults}")


def mode(session: Session, arguments: list[str]) -> None:
    """Show or set how references are followed."""
    if len(arguments) < 2:
        shown = session.look().joints
        wanted = session.joint(arguments[0]) if arguments else ALL_JOINTS
        for index, view in enumerate(shown):
            if wanted in (ALL_JOINTS, index):
                session.say(f"{view.name:<6}{view.filter}")
        return
    session.ask(Verb.FILTER, session.joint(arguments[0]), filter_request(" ".join(arguments[1:])))


def step(session: Session, arguments: list[str]) -> None:
    """Set the most a command may change in one period."""
    usual = arguments[1].lower() == "default"
    limit = 0.0 if usual else finite(arguments[1])
    if not usual and (complaint := STEP_LIMIT.complaint(limit)):
        raise BadMessage(f"{complaint}, or `default`")
    session.ask(Verb.STEP_LIMIT, session.joint(arguments[0]), [limit])


def stop(session: Session, arguments: list[str]) -> None:
    """Stop the robot now."""
    session.requests.stop()
    session.ask(Verb.STOP)


def lease(session: Session, arguments: list[str]) -> None:
    """Show who moves what, or end a lease."""
    if not arguments:
        picture = session.look()
        if any(joint.controller for joint in picture.joints):
            session.output.print(owner_table(picture))
        else:
            session.say("nobody moves any joint")
    elif arguments[0].lower() == "end" and len(arguments) == 2:
        session.ask(Verb.END_LEASE, session.joint(arguments[1]))
    else:
        raise BadMessage("write: lease, or lease end RSP, or lease end all")


def gains(session: Session, arguments: list[str]) -> None:
    """Set the gains of a joint's board."""
    session.ask(Verb.GAINS, session.joint(arguments[0]), [finite(value) for value in arguments[1:]])


def tell(session: Session, verb: str, arguments: list[str]) -> None:
    """Give a running behaviour a goal, and wait until it is done; Ctrl-C cancels it."""
    handle = session.goals.give(verb, *arguments)
    with progress(session, verb) as show:
        try:
            while not (reports := handle.reports()) or not reports[-1].stage.final:
                show(reports[-1].progress if reports else 0.0)
                time.sleep(LOOK_EVERY)
        except KeyboardInterrupt:
            handle.cancel()
            raise
    done = handle.wait()
    session.say(f"{verb}: done after {done.time - reports[0].time:.1f} s")


def quit(session: Session, arguments: list[str]) -> None:
    """Leave the console."""
    session.ended = True


def help(session: Session, arguments: list[str]) -> None:
    """List the commands, or explain one."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    verbs = session.goals.verbs
    if arguments and (word := arguments[0].lower()) in verbs:
        table.add_row(verbs[word].usage.replace("[", "\\["), verbs[word].help)
        for each in verbs[word].arguments:
            table.add_row(f"  {each.path}", each.meaning)
    else:
        for command in [find(arguments[0], verbs)] if arguments else COMMANDS:
            table.add_row(command.usage.replace("[", "\\["), command.help)
    for verb in [] if arguments else verbs.values():
        table.add_row(verb.usage.replace("[", "\\["), verb.help)
    session.output.print(table)


COMMANDS = (
    Command("home J", "find the limit switch of joint J, go to its offset, and set its reference to zero", home, 1, 1),
    Command("homeAll", "home all joints at once; the robot must not stand on the ground", home, 0, 0),
    Command(
        "iniSensors",
        "set the force-torque sensors and the IMU to zero; the robot hangs still",
        on_joint(Verb.INITIALIZE_SENSORS),
        0,
        0,
    ),
    Command("initialize J", "wake joint J's board and load its settings", on_joint(Verb.INITIALIZE), 1, 1),
    Command("initializeAll", "wake the boards of all joints", on_joint(Verb.INITIALIZE), 0, 0),
    Command("reset J", "clear the errors of joint J", on_joint(Verb.RESET), 1, 1),
    Command("resetAll", "clear the errors of all joints", on_joint(Verb.RESET), 0, 0),
    Command("goto J rad …", "move joint J smoothly to a position; several joints at once: J rad J rad", goto, 2, 200),
    Command("speed [share]", "how fast goto moves: share of the joints' velocity limits, 0.2 at first", speed, 0, 1),
    Command("ctrl J on|off", "turn the controller of joint J on (1) or off (0)", control, 2, 2),
    Command("ctrlAll on|off", "turn the controllers of all joints on or off", control, 1, 1),
    Command("status J", "what joint J's board says of it", status, 1, 1),
    Command("statusAll", "every joint in a table", status_all, 0, 0),
    Command("get J", "command, reference, encoder, current, temperature of joint J", get, 1, 1),
    Command("update", "how the robot is now", update, 0, 0),
    Command(
        "mode [J pass|smooth L|compliant Kc|feedback L]",
        "how joint J (or all) follows its reference; alone: show",
        mode,
        0,
        3,
    ),
    Command("step J rad|default", "the most that joint J's command may change in one period", step, 2, 2),
    Command("gains J Kp Ki Kd", "set the gains of joint J's board", gains, 4, 4),
    Command("lease [end J]", "who moves which joint; or end the lease on joint J (or all)", lease, 0, 2),
    Command("stop", "stop the robot: every joint holds, references are refused", stop, 0, 0),
    Command("resume", "go on after a stop", on_joint(Verb.RESUME), 0, 0),
    Command("help [command]", "this list", help, 0, 1),
    Command("quit", "leave the console; the robot goes on", quit, 0, 0),
)

_ALSO = {"exit": "quit", "q": "quit", "?": "help", "h": "help"}


def find(word: str, verbs: Iterable[str] = ()) -> Command:
    """A command by its name, however it is written: homeAll, home-all, HOME_ALL."""
    plain = _plain(_ALSO.get(word.lower(), word))
    for command in COMMANDS:
        if _plain(command.name) == plain:
            return command
    raise UnknownName("command", word, [*(command.name for command in COMMANDS), *verbs])


def execute(session: Session, line: str) -> None:
    """Do what one line says: a command, or a verb of a behaviour; an empty one, or one with #, does nothing."""
    words = line.split("#")[0].split()
    if not words:
        return
    word, arguments = words[0], words[1:]
    try:
        command = find(word, session.goals.verbs)
    except UnknownName:
        if word.lower() not in session.goals.verbs and "." not in word:
            raise
        tell(session, word.lower(), arguments)
        return
    if not command.least <= len(arguments) <= command.most:
        raise BadMessage(f"write: {command.usage} – {command.help}")
    command.run(session, arguments)


def _plain(word: str) -> str:
    return word.lower().replace("-", "").replace("_", "")
