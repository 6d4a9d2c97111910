"""The grammar of RCP: what is written is read as the same, and what is no command is refused in words."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wholebody.errors import BadCommand
from wholebody.operator.rcp import commands as rcp
from wholebody.operator.rcp.grammar import LONGEST, VERBS, parse

words = st.from_regex(r"[A-Za-z0-9_.-]{1,12}", fullmatch=True)
names = st.from_regex(r"[a-z][a-z0-9_.]{0,12}", fullmatch=True)
numbers = st.floats(-1e6, 1e6, allow_nan=False)
ids = st.integers(0, 10**17)
lists = st.lists(words, max_size=5).map(tuple)
upper = st.from_regex(r"[A-Z]{1,10}", fullmatch=True)
orders = st.one_of(
    st.builds(rcp.Move, upper, upper, numbers, upper),
    st.just(rcp.Stop()),
    st.builds(rcp.Goto, numbers, numbers),
    st.builds(rcp.Handle, st.sampled_from(["GOTO", "GRAB", "USE", "DROP"]), words),
)
undirected = st.one_of(
    orders,
    st.builds(rcp.Drive, numbers, numbers, numbers),
    st.just(rcp.Resume()),
    st.builds(rcp.Connect, words),
    st.builds(rcp.Connect, words, words, words),
    st.just(rcp.Disconnect()),
    st.builds(rcp.Control, st.booleans()),
    st.builds(rcp.QueryParameter, words),
    st.builds(rcp.SetParameter, names, words),
    st.builds(rcp.QuerySensor, lists),
    st.just(rcp.QueryPosition()),
    st.builds(rcp.Position, numbers, numbers, st.floats(0, 1)),
    st.builds(rcp.SelectStrategy, ids, lists.filter(bool)),
    st.builds(rcp.UseStrategy, ids, words),
    st.builds(rcp.Cancel, ids),
    st.builds(rcp.Notify, lists),
    st.builds(rcp.Help, st.one_of(st.just(""), words)),
)
commands = st.one_of(undirected, st.builds(rcp.Direct, undirected))


def refusal(line):
    """Why a line is refused; None if it is a command."""
    try:
        parse(line)
    except BadCommand as error:
        return str(error)
    return None


@given(commands)
def test_every_command_is_read_as_it_was_written(command):
    assert parse(str(command)) == command


@given(commands, st.randoms())
def test_keywords_may_be_written_in_any_case(command, chance):
    verb, space, rest = str(command).partition(" ")
    assert parse("".join(chance.choice([c.lower(), c.upper()]) for c in verb) + space + rest) == command


@given(st.text())
def test_any_text_is_a_command_or_refused_in_words(text):
    assert refusal(text) != ""


@given(commands, st.integers(0, 10**6), st.characters())
def test_a_broken_command_is_a_command_or_refused_in_words(command, place, character):
    line = str(command)
    at = place % len(line)
    assert refusal(line[:at] + character + line[at + 1 :]) != ""


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("", "empty"),
        ("MOOVE WALKING FORWARD 1 STEPS", "closest: 'MOVE'"),
        ("MOVE WALKING FORWARD", "MOVE WALKING FORWARD 3 STEPS"),
        ("MOVE WALKING FORWARD many STEPS", "count is a number"),
        ("MOVE WALKING FORWARD nan STEPS", "count is a number"),
        ("MOVE WALKING FORWARD 1e999 STEPS", "finite"),
        ("GOTO 1", "GOTO <x> <y>"),
        ("GOTO OBJECT()", "GOTO <x> <y>"),
        ("GRAB antenna", "GRAB OBJECT(<id>)"),
        ("DIRECT DIRECT STOP", "any other command, once"),
        ("DIRECT", "empty"),
        ("CONTROL", "CONTROL BEGIN"),
        ("STOP now", "stands alone"),
        ("POSITION 1 2 1.5", "0 to 1"),
        ("QUERY SENSOR imu", "a list is"),
        ("QUERY", "QUERY PARAM"),
        ("SET step.length", "SET <parameter> <value>"),
        ("USE STRATEGY FOR x left", "whole number"),
        ("SELECT STRATEGY FOR 1 []", "no strategy"),
        ("STOP\x00", "printable"),
        ("x" * (LONGEST + 1), "bytes at most"),
    ],
)
def test_what_is_wrong_with_a_line_is_said(line, says):
    with pytest.raises(BadCommand, match=says.replace("(", r"\(").replace(")", r"\)")):
        parse(line)


def test_ten_thousand_lines_of_words_in_disorder_break_nothing():
    chance = random.Random(0)
    words = [*VERBS, "STRATEGY", "FOR", "OBJECT(a)", "OBJECT(", "[a, b]", "[", "]", "1", "-1e400", "nan", "é", "🤖"]
    reasons = [refusal(" ".join(chance.choices(words, k=chance.randint(0, 6)))) for _ in range(10_000)]
    assert None in reasons
    assert "" not in reasons
    assert len(set(reasons)) > 20
