"""The grammar in docs/rcp.md is the one that the parser goes by: what one takes the other does, and no more."""

import random
import re
from pathlib import Path

import pytest
from hypothesis import given
from test_rcp_grammar import commands, refusal

from wholebody.operator.rcp.grammar import VERBS

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "rcp.md"
SPECIAL = {
    "0 to 9": "[0-9]",
    "a letter or digit of any script": r"[^\W_]",
    "printable characters, none of them a space": r"\S+",
    "printable characters, at least one of them not a space": r"\S.*",
}
TOKEN = re.compile(r'"([^"]*)"|\? ([^?]*) \?|(\w+)|([\[\]{}()|,])|\s+')
MARKS = {"[": "(?:", "]": ")?", "{": "(?:", "}": ")*", "(": "(?:", ")": ")", "|": "|", ",": ""}


def rules():
    """Each rule of the document and what is on its right side."""
    text = re.search(r"```ebnf\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)[1]
    return dict(re.findall(r"^(\w+)\s*= (.*?) ;$", text, re.DOTALL | re.MULTILINE))


def expression(name, known):
    """A rule as a regular expression: none of them is about itself."""
    found = "".join(
        re.escape(literal) if literal else SPECIAL[special] if special else expression(rule, known) if rule else mark
        for literal, special, rule, mark in (
            (token[1], token[2], token[3], MARKS.get(token[4], "")) for token in TOKEN.finditer(known[name])
        )
    )
    return f"(?:{found})"


@pytest.fixture(scope="module")
def line():
    return re.compile(expression("line", rules()), re.IGNORECASE)


def test_every_rule_is_used_and_every_verb_is_in_it():
    known = rules()
    used = {token[3] for right in known.values() for token in TOKEN.finditer(right) if token[3]}
    assert set(known) - used == {"line"}
    verbs = known["line"] + known["command"]
    assert all(f'"{verb}"' in verbs for verb in VERBS)


@given(commands)
def test_what_we_write_is_in_the_grammar(command):
    grammar = re.compile(expression("line", rules()), re.IGNORECASE)
    assert grammar.fullmatch(str(command))


def test_lines_of_words_in_disorder_are_in_the_grammar_if_and_only_if_they_are_commands(line):
    chance = random.Random(2)
    words = [
        *VERBS,
        *("STRATEGY", "FOR", "BEGIN", "PARAM", "SENSOR", "OBJECT(a)", "object( a-b )", "OBJECT (a)", "[a, b]"),
    ]
    words += ["[]", "[a,,b]", "[a", "1", "-0.5", ".5", "1.", "+1e-3", "1_0", "0x1", "nan", "é", "a:b/c", "a=b", "", " "]
    taken = 0
    for _ in range(30_000):
        said = " ".join([chance.choice(VERBS), *chance.choices(words, k=chance.randint(0, 5))])
        why = refusal(said)
        if why is None or not re.search("0 to 1|finite", why):
            assert (why is None) == bool(line.fullmatch(said)), (said, why)
            taken += why is None
    assert taken > 500


@pytest.mark.parametrize(
    "said",
    [
        "move walking Forward +3.0 steps",
        "  DIRECT   GRAB OBJECT( antenna.2 )  ",
        "QUERY SENSOR",
        "QUERY SENSOR [ imu.roll ,imu.pitch ]",
        "SELECT STRATEGY FOR 3[left]",
        "SET name two words",
        "USE STRATEGY FOR 12 left_arm",
        "OK",
    ],
)
def test_these_are_commands_by_both(line, said):
    assert refusal(said) is None
    assert line.fullmatch(said)
