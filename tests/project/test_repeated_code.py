"""tools/repeated_code.py: what counts as code that is there twice."""

from textwrap import dedent

import pytest
import repeated_code

SIX = """
    a = f(1)
    b = a.c + 2
    if b:
        g(b)
    for each in b:
        h(each, "x")
"""
RENAMED = """
    one = two(7)
    three = one.four + 5
    if three:
        five(three)
    for six in three:
        seven(six, "y")
"""


def function(body, name="f"):
    return f"def {name}():\n{body}"


def found(**files):
    return repeated_code.repeats({name: dedent(text) for name, text in files.items()})


def test_other_names_numbers_and_texts_make_no_other_code():
    (repeat,) = found(a=function(SIX), b="x = f()\n\n\n" + function(RENAMED, "other"))
    assert repeat.size == 7, "with the definition of the function"
    assert repeat.extra == 7
    assert [place[0] for place in repeat.places] == ["a", "b"]


def test_five_statements_are_too_few_and_another_operator_is_other_code():
    assert (
        found(a=SIX.replace("    a = f(1)\n", "").strip("\n"), b=RENAMED.replace("    one = two(7)\n", "").strip("\n"))
        == []
    )
    assert found(a=function(SIX), b=function(RENAMED.replace("+", "*"))) == []


def test_what_is_there_three_times_could_go_twice_and_is_counted_once_at_its_longest():
    (repeat,) = found(a=function(SIX) + "\n" + function(SIX), b=function(RENAMED))
    assert len(repeat.places) == 3
    assert repeat.extra == 14


def test_a_run_in_the_middle_of_others_is_found():
    (repeat,) = found(
        a=function(SIX + "    return a\n"), b=function("    k = 1 + q\n" + RENAMED.lstrip("\n") + "    del k\n")
    )
    assert repeat.size == 6


def test_declarations_imports_and_docstrings_do_not_count():
    fields = "".join(
        f"    field{n}: int = {n}\n    CONSTANT{n} = {n}\n    FLAG{n} = 1 << {n}\n    part{n} = Part('{n}')\n"
        for n in range(6)
    )
    declared = f"class A:\n    '''Text.'''\n{fields}"
    assert found(a=f"def f():\n{fields}", b=f"def f():\n{fields}") != []
    imports = "".join(f"import m{n}\n" for n in range(8))
    assert found(a=imports + declared, b=imports + declared) == []


@pytest.mark.slow
def test_the_package_has_no_more_of_it_than_before_it_was_rebuilt():
    repeats = repeated_code.repeats(repeated_code.on_disk(["wholebody"]))
    assert sum(each.extra for each in repeats) <= 22, "0.4 of what it was"
