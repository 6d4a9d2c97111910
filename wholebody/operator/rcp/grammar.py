"""parse: a line of RCP to a command, as the grammar in docs/rcp.md has it; what is wrong with one is said in words."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection
from functools import lru_cache

from wholebody.errors import BadCommand, closest
from wholebody.operator.rcp.commands import (
    Acknowledge,
    Cancel,
    Command,
    Connect,
    Control,
    Direct,
    Disconnect,
    Do,
    Drive,
    Goto,
    Handle,
    Help,
    Move,
    Notify,
    Position,
    QueryParameter,
    QueryPosition,
    QuerySensor,
    Resume,
    SelectStrategy,
    SetParameter,
    Stop,
    UseStrategy,
)

LONGEST = 512
"""Bytes of a line."""

DIRECT = "DIRECT"
LONGEST_VERB = 16
"""Letters of what may be a verb with a slip in it."""

_OBJECT = re.compile(r"OBJECT\(\s*([\w.-]+)\s*\)", re.IGNORECASE)
_LIST = re.compile(r"\[([^\[\]]*)\]")
_WORD = re.compile(r"[\w.:/-]+")
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")


def parse(line: str, verbs: Callable[[], Collection[str]] = tuple) -> Command:
    """The command that a line stands for, without its newline; BadCommand says what is wrong.

    verbs  of the behaviours that run, which are commands, too
    """
    if len(line.encode(errors="replace")) > LONGEST:
        raise BadCommand(f"a line has {LONGEST} bytes at most")
    if not line.isprintable():
        raise BadCommand("a line is printable text")
    verb, _, rest = line.strip().partition(" ")
    if verb.upper() == DIRECT:
        return _direct(rest.strip(), verbs)
    parser = _PARSERS.get(verb.upper())
    if parser is None and verb.lower() in verbs():
        return Do(verb.lower(), tuple(rest.split()))
    if parser is None:
        if not verb:
            raise BadCommand("an empty line; HELP lists the commands")
        raise BadCommand(f"no command '{verb[:32]}'{_meant(verb.upper())}; HELP lists them")
    return parser(rest.strip())


@lru_cache(256)
def _meant(verb: str) -> str:
    """Which verbs are near; to look for them takes longer than to do most commands, so nobody has it done for noise."""
    return closest(verb, _PARSERS) if len(verb) <= LONGEST_VERB else ""


def _direct(rest: str, verbs: Callable[[], Collection[str]] = tuple) -> Command:
    command = parse(rest, verbs)
    if isinstance(command, Direct):
        raise BadCommand("DIRECT goes before any other command, once")
    return Direct(command)


def _connect(rest: str) -> Command:
    words = rest.split()
    if len(words) not in (1, 3):
        raise BadCommand("CONNECT <profile>, or CONNECT <profile> <user> <secret>")
    return Connect(*words)


def _control(rest: str) -> Command:
    match rest.upper():
        case "BEGIN":
            return Control(True)
        case "END":
            return Control(False)
    raise BadCommand("CONTROL BEGIN or CONTROL END")


def _move(rest: str) -> Command:
    words = rest.split()
    if len(words) != 4:
        raise BadCommand("MOVE <movement> <direction> <count> <unit>, as in MOVE WALKING FORWARD 3 STEPS")
    movement, direction, count, unit = words
    if not all(_WORD.fullmatch(word) for word in (movement, direction, unit)):
        raise BadCommand("movement, direction and unit are words")
    return Move(movement.upper(), direction.upper(), _number(count, "count"), unit.upper())


def _drive(rest: str) -> Command:
    words = rest.split()
    if len(words) != 3:
        raise BadCommand("DRIVE <forward m/s> <leftward m/s> <turn rad/s>, as in DRIVE 0.2 0 0.1")
    return Drive(*(_number(word, name) for word, name in zip(words, ("forward", "leftward", "turn"), strict=True)))


def _goto(rest: str) -> Command:
    if found := _OBJECT.fullmatch(rest):
        return Handle("GOTO", found[1])
    words = rest.split()
    if len(words) != 2:
        raise BadCommand("GOTO <x> <y>, or GOTO OBJECT(<id>)")
    return Goto(_number(words[0], "x"), _number(words[1], "y"))


def _handle(verb: str) -> Callable[[str], Command]:
    def parser(rest: str) -> Command:
        found = _OBJECT.fullmatch(rest)
        if not found:
            raise BadCommand(f"{verb} OBJECT(<id>)")
        return Handle(verb, found[1])

    return parser


def _use(rest: str) -> Command:
    words = rest.split()
    if [word.upper() for word in words[:2]] != ["STRATEGY", "FOR"]:
        return _handle("USE")(rest)
    if len(words) != 4:
        raise BadCommand("USE STRATEGY FOR <command id> <strategy>")
    return UseStrategy(_id(words[2]), _word(words[3], "a strategy"))


def _select(rest: str) -> Command:
    found = re.fullmatch(r"STRATEGY\s+FOR\s+(\S+)\s*(\[.*\])", rest, re.IGNORECASE)
    if not found:
        raise BadCommand("SELECT STRATEGY FOR <command id> [<strategy>, …]")
    strategies = _words(found[2])
    if not strategies:
        raise BadCommand("there is no strategy to select")
    return SelectStrategy(_id(found[1]), strategies)


def _query(rest: str) -> Command:
    what, _, which = rest.partition(" ")
    match what.upper():
        case "PARAM":
            return QueryParameter(_word(which.strip(), "a parameter"))
        case "SENSOR":
            return QuerySensor(_words(which.strip() or "[]"))
        case "POSITION" if not which.strip():
            return QueryPosition()
    raise BadCommand("QUERY PARAM <name>, QUERY SENSOR [<label>, …] or QUERY POSITION")


def _set(rest: str) -> Command:
    name, _, value = rest.partition(" ")
    if not value.strip():
        raise BadCommand("SET <parameter> <value>")
    return SetParameter(_word(name, "a parameter"), value.strip())


def _position(rest: str) -> Command:
    words = rest.split()
    if len(words) != 3:
        raise BadCommand("POSITION <x> <y> <confidence>")
    x, y, confidence = (_number(word, what) for word, what in zip(words, ("x", "y", "confidence"), strict=True))
    if not 0 <= confidence <= 1:
        raise BadCommand(f"confidence is 0 to 1, not {words[2]}")
    return Position(x, y, confidence)


def _alone(command: Command) -> Callable[[str], Command]:
    def parser(rest: str) -> Command:
        if rest:
            raise BadCommand(f"{command} stands alone")
        return command

    return parser


def _number(text: str, what: str) -> float:
    if not _NUMBER.fullmatch(text):
        raise BadCommand(f"{what} is a number, not '{text[:32]}'")
    value = float(text)
    if not math.isfinite(value):
        raise BadCommand(f"{what} is a finite number, not {text[:32]}")
    return value


def _id(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise BadCommand(f"a command id is a whole number, not '{text[:32]}'")
    return int(text)


def _word(text: str, what: str) -> str:
    if not _WORD.fullmatch(text):
        raise BadCommand(f"{what} is one word, not '{text[:32]}'")
    return text


def _words(text: str) -> tuple[str, ...]:
    found = _LIST.fullmatch(text)
    if not found:
        raise BadCommand("a list is [<word>, <word>, …]")
    inside = found[1].strip()
    return tuple(_word(each.strip(), "each of a list") for each in inside.split(",")) if inside else ()


_PARSERS: dict[str, Callable[[str], Command]] = {
    "CONNECT": _connect,
    "DISCONNECT": _alone(Disconnect()),
    "CONTROL": _control,
    "MOVE": _move,
    "STOP": _alone(Stop()),
    DIRECT: _direct,
    "QUERY": _query,
    "SET": _set,
    "POSITION": _position,
    "GOTO": _goto,
    "DRIVE": _drive,
    "GRAB": _handle("GRAB"),
    "DROP": _handle("DROP"),
    "USE": _use,
    "SELECT": _select,
    "CANCEL": lambda rest: Cancel(_id(rest)),
    "NOTIFY": lambda rest: Notify(_words(rest)),
    "RESUME": _alone(Resume()),
    "HELP": lambda rest: Help(_word(rest, "a verb") if rest else ""),
    "OK": lambda rest: Acknowledge(True, rest),
    "KO": lambda rest: Acknowledge(False, rest),
}

VERBS = tuple(_PARSERS)
