"""docs/coverage.md is true: every row of the specification is there, and what it names exists."""

from dataclasses import replace

import pytest
import specification

ROWS = specification.rows()
WORKING = specification.Row("a title", "make demo", "tests/project/test_coverage.py", "docs/channels.md")


def test_every_row_is_there_and_what_it_names_exists():
    assert specification.problems(ROWS) == []


def test_the_page_is_up_to_date():
    assert specification.PAGE.read_text(encoding="utf-8") == specification.page(ROWS), (
        "docs/coverage.md is old; run `make docs`"
    )


def problems_of(row):
    """What is said of a row that takes the place of the first."""
    return [each for each in specification.problems(ROWS | {"H1": row}) if each.startswith("H1")]


@pytest.mark.parametrize("cell", specification.SHOWN)
@pytest.mark.parametrize("missing", ["", "some of it"])
def test_a_row_that_works_names_a_command_a_test_and_a_figure(cell, missing):
    assert problems_of(replace(WORKING, missing=missing)) == []
    assert f"names no {cell}" in "".join(problems_of(replace(WORKING, missing=missing, **{cell: ""})))


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("command", "wholebody fly"),
        ("command", "wholebody walk --wings"),
        ("command", "wholebody motion fly"),
        ("command", "wholebody bench flying"),
        ("command", "make flight"),
        ("command", "python -m experiments.flying"),
        ("command", "python examples/fly.py"),
        ("command", "fly"),
        ("test", "tests/cli/test_flying.py"),
        ("figure", "docs/flying.md"),
        ("figure", "docs/walking.md#flown"),
        ("figure", "wholebody bench flying"),
    ],
)
def test_what_does_not_exist_is_found(cell, value):
    assert [value in each for each in problems_of(replace(WORKING, **{cell: value}))] == [True]


@pytest.mark.parametrize(
    "command",
    [
        "wholebody walk --stabilizer dcm",
        "wholebody motion capture",
        "wholebody bench walk",
        "python -m experiments.crawl_ik",
        "python examples/wave.py",
    ],
)
def test_what_exists_is_not_complained_of(command):
    assert problems_of(replace(WORKING, command=command)) == []


def test_a_row_that_is_left_out_or_that_nobody_asked_for_is_found():
    assert specification.problems({name: row for name, row in ROWS.items() if name != "B4"}) == [
        "B4: the row is missing"
    ]
    assert specification.problems(ROWS | {"B99": WORKING}) == ["B99: there is no such row"]


def test_what_is_missing_is_said_and_nothing_to_show_is_not_yet():
    assert specification.Row("a title", missing="all of it").state == "not yet"
    row = replace(WORKING, missing="a wing")
    assert row.state == "partly"
    assert "| partly; missing: a wing |" in specification.page(ROWS | {"H1": row})
