"""BVH files of motion capture: a skeleton, then one line of channel values for each frame; read and written.

    HIERARCHY
    ROOT Hips
    {
        OFFSET 0 0 0
        CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
        JOINT Spine { OFFSET 0 10 0   CHANNELS 3 Zrotation Yrotation Xrotation   End Site { OFFSET 0 5 0 } }
    }
    MOTION
    Frames: 1
    Frame Time: 0.0083333
    0 0 0 0 0 0 0 0 0

An error in a file names its line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import NoReturn

import numpy as np

from wholebody.errors import BadMotionFile, closest
from wholebody.files import text_of
from wholebody.motion.capture.skeleton import CHANNELS, Node, Skeleton
from wholebody.motion.trajectory import Array


@dataclass(frozen=True, eq=False)
class Bvh:
    """What a file says: a skeleton, seconds from frame to frame, and frames × channels values, angles in degrees."""

    skeleton: Skeleton
    frame_time: float
    values: Array

    @classmethod
    def read(cls, path: str | Path) -> Bvh:
        """Read a file; BadMotionFile, with the line, if it is none."""
        lines = _lines(path)
        motion = next((i for i, line in enumerate(lines) if line.strip().upper() == "MOTION"), len(lines))
        if motion < len(lines) and not "".join(lines[:motion]).strip():
            _refuse(path, motion + 1, "there is no skeleton: HIERARCHY, ROOT and a name must stand before MOTION")
        skeleton = _Hierarchy(path, lines[:motion]).read()
        if motion == len(lines):
            _refuse(path, len(lines), "the file ends without the line MOTION and its frames")
        rows = [(i + 1, line) for i, line in enumerate(lines[motion + 1 :], motion + 1) if line.strip()]
        count, frame_time = _header(path, rows[:2], len(lines))
        return cls(skeleton, frame_time, _values(path, rows, count, skeleton))

    def write(self, path: str | Path) -> None:
        """Write a file, which reads back as exactly the same numbers."""
        lines = ["HIERARCHY", *_written(self.skeleton, 0, 0), "MOTION"]
        lines += [f"Frames: {len(self.values)}", f"Frame Time: {self.frame_time!r}"]
        lines += [" ".join(map(repr, row)) for row in self.values.tolist()]
        Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


class _Hierarchy:
    """The skeleton, word by word; each word knows its line."""

    def __init__(self, path: str | Path, lines: Sequence[str]) -> None:
        self._path = path
        parted = (line.replace("{", " { ").replace("}", " } ").split() for line in lines)
        self._words = [(number, word) for number, words in enumerate(parted, 1) for word in words]
        self._at = 0
        self._last = len(lines)
        self._nodes: list[Node] = []

    def read(self) -> Skeleton:
        """The whole skeleton."""
        if self._peek().upper() != "HIERARCHY":
            said = f"begins with {self._peek()[:20]!r}" if self._words else "is empty"
            self._refuse(f"this is no BVH file: it {said}, not with HIERARCHY")
        self._next()
        if self._peek().upper() != "ROOT":
            self._refuse(f"there is no skeleton: ROOT and a name must follow HIERARCHY, not '{self._peek()}'")
        self._next()
        self._node(-1)
        if self._peek().upper() == "ROOT":
            self._refuse("a second ROOT: one file holds one skeleton; write each body into a file of its own")
        if self._peek():
            self._refuse(f"'{self._peek()}' follows the end of the skeleton; are there too many braces '}}'?")
        return Skeleton(tuple(self._nodes))

    def _node(self, parent: int) -> None:
        """A joint from its name to its closing brace, with all below it."""
        name = self._name()
        if any(node.name == name and not node.is_end for node in self._nodes):
            self._refuse(f"a second joint is called '{name}'", back=1)
        self._expect("{", f"'{name}'")
        self._expect("OFFSET", f"'{name}'")
        offset = self._offset(name)
        if self._peek().upper() != "CHANNELS":
            self._refuse(f"joint '{name}' has no CHANNELS after its OFFSET; write CHANNELS 0 if it never moves")
        self._next()
        index = len(self._nodes)
        self._nodes.append(Node(name, parent, offset, self._channels(name)))
        while (word := self._next(f"a brace '}}' to close joint '{name}'")) != "}":
            if word.upper() == "JOINT":
                self._node(index)
            elif word.upper() == "END" and self._peek().upper() == "SITE":
                self._next()
                self._end(index, name)
            else:
                self._refuse(f"'{word}' in joint '{name}'; there may be JOINT, End Site or '}}'", back=1)

    def _end(self, parent: int, limb: str) -> None:
        self._name()  # some files give ends a name
        self._expect("{", f"the end of '{limb}'")
        self._expect("OFFSET", f"the end of '{limb}'")
        offset = self._offset(f"the end of {limb}")
        self._expect("}", f"the end of '{limb}'")
        count = sum(node.is_end and node.parent == parent for node in self._nodes)
        self._nodes.append(Node(f"{limb}_end" + (f"_{count + 1}" if count else ""), parent, offset, is_end=True))

    def _channels(self, name: str) -> tuple[str, ...]:
        word = self._next()
        if not word.isdigit():
            self._refuse(f"CHANNELS of joint '{name}' needs a number first, not '{word}'", back=1)
        known = {channel.upper(): channel for channel in CHANNELS}
        found: list[str] = []
        for _ in range(int(word)):
            channel = self._peek()
            if channel in ("", "{", "}") or channel.upper() in ("JOINT", "END"):
                self._refuse(f"joint '{name}' has {len(found)} of its {word} channels; one is missing")
            if channel.upper() not in known:
                self._refuse(f"joint '{name}' has a channel '{channel}'{closest(channel, CHANNELS)}")
            if known[channel.upper()] in found:
                self._refuse(f"joint '{name}' has the channel {channel} twice")
            found.append(known[channel.upper()])
            self._next()
        if self._peek().upper() in known:
            self._refuse(f"joint '{name}' has more channels than the {word} it says: {self._peek()}")
        return tuple(found)

    def _offset(self, name: str) -> tuple[float, float, float]:
        numbers = []
        for _ in range(3):
            word = self._next()
            try:
                numbers.append(float(word))
            except ValueError:
                numbers.append(float("nan"))
            if not isfinite(numbers[-1]):
                self._refuse(f"OFFSET of {name} needs three numbers; '{word}' is none", back=1)
        return numbers[0], numbers[1], numbers[2]

    def _name(self) -> str:
        """The rest of the line; names may have spaces in them."""
        words, line = [], self._words[self._at - 1][0]
        while self._at < len(self._words) and self._words[self._at][0] == line and self._peek() not in "{}":
            words.append(self._next())
        if not words and self._words[self._at - 1][1].upper() in ("ROOT", "JOINT"):
            self._refuse("a joint without a name", back=1)
        return " ".join(words)

    def _expect(self, word: str, where: str) -> None:
        if self._peek().upper() != word:
            self._refuse(f"{where} needs {word} here, not '{self._peek() or 'the end of the skeleton'}'")
        self._next()

    def _peek(self) -> str:
        return self._words[self._at][1] if self._at < len(self._words) else ""

    def _next(self, missing: str = "more") -> str:
        if self._at >= len(self._words):
            self._refuse(f"the skeleton ends too early: it needs {missing}")
        self._at += 1
        return self._words[self._at - 1][1]

    def _refuse(self, what: str, back: int = 0) -> NoReturn:
        at = self._at - back
        _refuse(self._path, self._words[at][0] if at < len(self._words) else self._last, what)


def _refuse(path: str | Path, line: int, what: str) -> NoReturn:
    raise BadMotionFile(f"{path}, line {max(line, 1)}: {what}")


def _lines(path: str | Path) -> list[str]:
    lines = text_of(path, BadMotionFile).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _header(path: str | Path, rows: Sequence[tuple[int, str]], last: int) -> tuple[int, float]:
    """How many frames there are, and the seconds between them."""
    found = []
    for place, (key, form) in enumerate((("FRAMES", "Frames: 100"), ("FRAME TIME", "Frame Time: 0.01"))):
        line, text = rows[place] if place < len(rows) else (last, "")
        word, colon, value = text.partition(":")
        if " ".join(word.upper().split()) != key or not colon:
            _refuse(path, line, f"after MOTION there must be a line such as '{form}', not '{text.strip()[:40]}'")
        try:
            found.append((line, float(value)))
        except ValueError:
            _refuse(path, line, f"'{value.strip()}' is no number; write a line such as '{form}'")
    (frames_line, count), (time_line, seconds) = found
    if not (isfinite(count) and count == int(count) and count > 0):
        _refuse(path, frames_line, f"there are {count:g} frames; a motion has one or more")
    if not (isfinite(seconds) and seconds > 0):
        _refuse(path, time_line, f"the time from frame to frame is {seconds:g} s; it must be above 0")
    return int(count), seconds


def _values(path: str | Path, rows: Sequence[tuple[int, str]], count: int, skeleton: Skeleton) -> Array:
    """The frames, one row each after the header's two, with as many finite numbers as there are channels."""
    said, rows = rows[0][0], rows[2:]
    words = [line.split() for _, line in rows]
    for (line, _), row in zip(rows, words, strict=True):
        if len(row) != skeleton.channels:
            _refuse(path, line, f"a frame of {len(row)} numbers, and the skeleton has {skeleton.channels} channels")
    if len(rows) != count:
        line = rows[-1][0] if rows else said
        _refuse(path, line, f"line {said} says that there are {count} frames, and there are {len(rows)}")
    try:
        values = np.array([float(word) for word in chain.from_iterable(words)]).reshape(count, skeleton.channels)
    except ValueError:
        values = np.array([[_number(word) for word in row] for row in words])
    for row, column in np.argwhere(~np.isfinite(values))[:1]:
        named = [f"{channel} of '{node.name}'" for node in skeleton.nodes for channel in node.channels]
        _refuse(path, rows[row][0], f"'{words[row][column]}' is no number, as {named[column]} in frame {row + 1}")
    return values


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        return float("nan")


def _written(skeleton: Skeleton, index: int, depth: int) -> list[str]:
    """The lines of a node and of all below it."""
    node, tab = skeleton.nodes[index], "\t" * depth
    head = "End Site" if node.is_end else f"{'ROOT' if node.parent < 0 else 'JOINT'} {node.name}"
    lines = [tab + head, tab + "{", tab + "\tOFFSET " + " ".join(map(repr, node.offset))]
    if not node.is_end:
        lines.append(tab + "\t" + " ".join(["CHANNELS", str(len(node.channels)), *node.channels]))
    for below, other in enumerate(skeleton.nodes):
        if other.parent == index:
            lines += _written(skeleton, below, depth + 1)
    return [*lines, tab + "}"]
