"""Verbs: a goal's dataclass as text and back, words as values, and what is refused, by field, unit and bounds."""

import json
import math
from dataclasses import dataclass
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wholebody.behaviors import crawling_goals, reaching_goals, walking_goals
from wholebody.errors import BadParameter, UnknownName
from wholebody.parameters import Bounds, Size, Unit
from wholebody.parameters.text import UNITS, value_of
from wholebody.parameters.verbs import described, verb_of, verbs_in
from wholebody.services import AtMost
from wholebody.services.records import field_names, format_of


@dataclass(frozen=True)
class Pour:
    """Pour something.

    And so on, which no list of verbs shows.

    place  where to
    """

    place: Annotated[tuple[float, float], Unit("m"), Bounds(-2, 2), Size(2)]
    tilt: Annotated[float, Unit("rad"), Bounds(0, 1.5)] = 0.5
    cups: Annotated[int, Unit("1"), Bounds(1, 9)] = 1
    hand: Literal["left", "right"] = "right"
    slowly: bool = False
    what: Annotated[str, AtMost(12)] = "tea"


POUR = verbs_in(described([Pour]))["pour"]


@pytest.mark.parametrize("kind", [Pour, *walking_goals.GOALS, *crawling_goals.GOALS, *reaching_goals.GOALS])
def test_a_described_goal_makes_the_very_records_of_its_class(kind):
    found = verbs_in(described([kind]))
    if kind is walking_goals.FollowFootsteps:
        assert found == {}, "nobody types footsteps"
        return
    (verb,) = found.values()
    assert verb == verb_of(kind)
    if field_names(kind):
        assert format_of(verb.kind).dtype == format_of(kind).dtype


def test_words_are_arguments_in_their_order_or_by_name():
    goal = POUR.goal(["0.5,-30cm", "20deg", "slowly=on", "cups=3", "hand=left"])
    assert vars(goal) == vars(Pour((0.5, -0.3), math.radians(20), 3, "left", True))
    assert vars(POUR.goal([(0.5, 0.1)], cups=2)) == vars(Pour((0.5, 0.1), cups=2)), "values will do, too"


@given(st.floats(0, 1.5), st.integers(1, 9), st.sampled_from(["left", "right"]), st.booleans())
def test_what_is_written_is_read_as_the_same(tilt, cups, hand, slowly):
    words = ["place=1,1", f"tilt={tilt!r}rad", f"cups={cups}", f"hand={hand}", f"slowly={slowly}"]
    assert vars(POUR.goal(words)) == vars(Pour((1.0, 1.0), tilt, cups, hand, slowly))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["1,1", "2"], r"tilt = 2\.0 is outside 0 … 1\.5 rad"),
        (["1,1", "90deg"], r"tilt = 1\.57\S* is outside 0 … 1\.5 rad"),
        (["1,1", "5s"], "tilt is a number in rad or deg or °, not '5s'"),
        (["1,1", "tilt=high"], "tilt is a number in rad"),
        (["1,3"], "place = .* is outside -2 … 2 m"),
        (["1,1,1"], "place is 2 numbers, not '1,1,1'"),
        (["1,1", "cups=2.5"], r"cups must be a whole number, not 2\.5"),
        (["1,1", "cups=many"], "cups is a whole number, not 'many'"),
        (["1,1", "hand=third"], "hand is one of left, right, not 'third'"),
        (["1,1", "slowly=maybe"], "slowly is on or off, not 'maybe'"),
        (["1,1", "tilt=1e400"], "tilt must be finite"),
        ([], r"pour needs place; write: pour place=VECTOR m \[tilt=0\.5 rad\]"),
        (["1,1", *"123456"], "pour takes 6 arguments"),
    ],
)
def test_what_will_not_do_is_refused_by_field_unit_and_bounds(words, says):
    with pytest.raises(BadParameter, match=says):
        POUR.goal(words)


def test_an_argument_that_is_not_there_has_a_nearest():
    with pytest.raises(UnknownName, match="no argument of pour 'slow'; closest: 'slowly'"):
        POUR.goal(["slow=1"])


def test_the_description_is_plain_json_for_any_language():
    (pour,) = json.loads(described([Pour]))
    assert pour["help"] == "Pour something."
    tilt = next(each for each in pour["arguments"] if each["name"] == "tilt")
    assert tilt == {
        "name": "tilt", "kind": "number", "size": 1, "unit": "rad", "meaning": "", "lower": 0.0, "upper": 1.5,
        "choices": [], "required": False, "value": 0.5,
    }  # fmt: skip
    assert pour["arguments"][0]["required"]
    assert pour["arguments"][0]["meaning"] == "where to"


@pytest.mark.parametrize(("unit", "other"), [(unit, other) for unit, others in UNITS.items() for other in others])
def test_every_other_unit_is_so_much_of_its_own(unit, other):
    @dataclass(frozen=True)
    class Measure:
        value: Annotated[float, Unit(unit)]

    about = verb_of(Measure).arguments[0]
    assert value_of(about, f"-2.5{other}") == pytest.approx(-2.5 * UNITS[unit][other])
    assert value_of(about, f"3 {unit}" if unit != "1" else "3") == 3.0
