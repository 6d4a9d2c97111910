"""What all C of ours keeps: short functions, few arguments, an opening comment, and a place in pyproject.toml."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(path.relative_to(ROOT) for path in (ROOT / "wholebody").rglob("*.[ch]"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTENSIONS = PROJECT["tool"]["setuptools"]["ext-modules"]
MOST_LINES, MOST_ARGUMENTS = 80, 8


class Function(NamedTuple):
    """A function's definition: its name, how many lines and arguments it has."""

    name: str
    lines: int
    arguments: int


def without_comments(source: str) -> str:
    """C without comments, strings and characters, line by line as it was."""
    hidden = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
    return hidden.sub(lambda found: "\n" * found[0].count("\n"), source)


def arguments_of(signature: str) -> int:
    """How many arguments the last parentheses of a signature list."""
    depth, commas, inside = 0, 0, ""
    for character in reversed(signature[: signature.rindex(")") + 1]):
        depth += {")": 1, "(": -1, "]": 1, "[": -1}.get(character, 0)
        if depth == 0:
            break
        commas += character == "," and depth == 1
        inside = character + inside
    return 0 if inside.rstrip(")").strip() in ("", "void") else commas + 1


def functions(source: str) -> list[Function]:
    """Every function that is defined: in one line, or with the braces of its body alone at the beginning of a line."""
    found = []
    lines = without_comments(source).split("\n")
    for at, line in enumerate(lines):
        if whole := re.match(r"\w.*?(\w+)\(.*\)(?=\s*\{.*\}$)", line):
            found.append(Function(whole[1], 1, arguments_of(whole[0])))
        if line.rstrip() != "{":
            continue
        first = at
        while first > 0 and lines[first - 1].strip() and lines[first - 1].rstrip()[-1] not in ";}":
            first -= 1
        signature = " ".join(lines[first:at])
        name = re.search(r"(\w+)\s*\(", signature)
        assert name, f"the body in line {at + 1} has no signature above it"
        last = next(k for k in range(at, len(lines)) if lines[k].rstrip() == "}")
        found.append(Function(name[1], last - first + 1, arguments_of(signature)))
    return found


@pytest.mark.parametrize("path", FILES, ids=str)
def test_functions_are_short_and_take_few_arguments(path):
    found = functions((ROOT / path).read_text(encoding="utf-8"))
    assert [each for each in found if each.lines > MOST_LINES or each.arguments > MOST_ARGUMENTS] == []


@pytest.mark.parametrize("path", FILES, ids=str)
def test_a_file_begins_with_its_name_and_what_it_is(path):
    first = (ROOT / path).read_text(encoding="utf-8").split("\n", 1)[0]
    assert re.match(rf"/\* {re.escape(path.name)} - \S", first), first


def test_every_source_is_built_and_what_it_includes_is_watched():
    """But for that of Octave, which Octave builds."""
    for suffix, key in ((".c", "sources"), (".h", "depends")):
        listed = [path for extension in EXTENSIONS for path in extension.get(key, [])]
        assert len(listed) == len(set(listed))
        assert set(listed) == {str(path) for path in FILES if path.suffix == suffix and path.parent.name != "octave"}


@pytest.mark.parametrize("extension", EXTENSIONS, ids=lambda extension: extension["name"])
def test_extensions_use_the_stable_interface_of_python(extension):
    assert extension["py-limited-api"]
    assert ["Py_LIMITED_API", "0x030B0000"] in extension["define-macros"]


@pytest.mark.parametrize("extension", EXTENSIONS, ids=lambda extension: extension["name"])
def test_no_compiler_may_round_otherwise_than_the_source_says(extension):
    given = set(extension["extra-compile-args"])
    assert "-std=c11" in given
    assert "-ffp-contract=off" in given
    assert not given & {"-ffast-math", "-Ofast", "-funsafe-math-optimizations", "-fassociative-math", "-march=native"}


# The reader of functions itself.

SAMPLE = """/* sample.c - one, two; (three) { */
typedef struct {
    int a;
} A;

static int twice(int a, int b) { return a + b; }

static int none(void)
{
    return '{';
}

/* Above it, a comment. */
double *many(int a, double (*b)[3],
             void (*c)(int, int), const char *d)
{
    if (a) {
        puts("}");
    }
}
"""


def test_the_reader_finds_functions_with_their_lines_and_arguments():
    assert functions(SAMPLE) == [Function("twice", 1, 2), Function("none", 4, 0), Function("many", 7, 4)]
