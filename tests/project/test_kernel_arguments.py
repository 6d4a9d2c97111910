"""Kernels that are called with anything but what their packages give them raise, or do something harmless.

Calls are recorded as packages make them, and then each is repeated with one argument spoilt. What has the wrong type
must raise; what has the right type and a wrong size or value may be taken, but no memory beyond the arrays is touched:
`make sanitize` runs these tests, too, and there every such access ends the process.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from kernel_calls import AHandle, AnArray, Call, Lapack, Player, like, recorded

from wholebody import _kernels

REFUSED = (AttributeError, TypeError, ValueError, IndexError, OverflowError, SystemError, MemoryError)
ALL = sorted(name for name, value in vars(_kernels).items() if callable(value) and not name.startswith("_"))
NOT_RECORDED = {  # they need more of a walk than is recorded
    *("estimation_detect_contacts", "estimation_first_frozen", "estimation_update_support"),
    *("locomotion_find_ground", "locomotion_swing", "locomotion_swing_at", "locomotion_turn_feet"),
    "model_variant",  # takes nothing
    *(name for name in ALL if name.startswith("model_updater")),  # a thread answers them when it gets to it
}
NAMES = [name for name in ALL if name not in NOT_RECORDED]
FAR = (-1, 2**31 + 5, 2**62, -(2**62))
MOST_USED = 20
"""How many handles that were made of spoilt arguments are used."""
MOST_ELEMENTS = 10
"""Of an array of integers, how many are spoilt one by one."""


@pytest.fixture(scope="module")
def calls() -> list[Call]:
    return recorded()


def first_of(calls: list[Call], name: str) -> int:
    return next(number for number, each in enumerate(calls) if each.name == name)


def player_before(calls: list[Call], number: int) -> Player:
    player = Player()
    for each in calls[:number]:
        player.play(each)
    return player


def test_nearly_every_kernel_is_recorded(calls):
    assert set(NAMES) <= {each.name for each in calls}


@pytest.mark.parametrize("name", sorted(NOT_RECORDED))
def test_kernels_that_are_not_recorded_refuse_what_is_no_handle_and_no_array(name):
    for count in range(1, 9):
        with pytest.raises(REFUSED):
            getattr(_kernels, name)(*[object()] * count)


def test_calls_can_be_repeated_to_the_last_bit(calls):
    player = Player()
    for each in calls:
        result = player.play(each)
        assert isinstance(each.result, AHandle) or repr(result) == repr(each.result), each.name
        assert all(player.arrays[k].tobytes() == value.tobytes() for k, value in each.after.items()), each.name


@pytest.mark.parametrize("name", NAMES)
def test_too_few_and_too_many_arguments_are_refused(calls, name):
    number = first_of(calls, name)
    arguments = player_before(calls, number).prepare(calls[number])
    for spoilt in ([], arguments[:-1], [*arguments, 1.0]):
        with pytest.raises(TypeError, match=name):
            getattr(_kernels, name)(*spoilt)


@pytest.mark.parametrize("name", NAMES)
def test_arguments_of_another_type_are_refused(calls, name):
    number = first_of(calls, name)
    player = player_before(calls, number)
    for position, wrong, what in of_wrong_type(player, calls[number]):
        arguments = player.prepare(calls[number])
        arguments[position] = wrong
        with pytest.raises(REFUSED):
            print(name, position, what, getattr(_kernels, name)(*arguments))


def of_wrong_type(player: Player, call: Call) -> Iterator[tuple[int, Any, str]]:
    """Arguments that must be refused: position, what is given instead, and what that is."""
    good = player.prepare(call)
    others = [each for each in player.results if type(each).__name__ == "PyCapsule"]
    for position, (told, argument) in enumerate(zip(call.arguments, good, strict=True)):
        if isinstance(told, bool):
            continue
        yield position, None, "nothing"
        yield position, "text", "text"
        if isinstance(told, AHandle | Lapack):
            kind = repr(argument).split('"')[1]
            others_here = [each for each in others if f'"{kind}"' not in repr(each)]
            yield from ((position, each, "another handle") for each in others_here[:3])
        if isinstance(told, AnArray):
            yield from ((position, wrong, what) for wrong, what in wrong_arrays(argument))
        if isinstance(told, tuple):
            yield position, (), "an empty tuple"
            for at, inside in enumerate(argument):
                if isinstance(inside, np.ndarray):
                    for wrong, what in wrong_arrays(inside):
                        yield position, like(argument, [*argument[:at], wrong, *argument[at + 1 :]]), f"{what} at {at}"


def wrong_arrays(array: np.ndarray) -> Iterator[tuple[Any, str]]:
    with np.errstate(over="ignore", invalid="ignore"):  # memory that nothing was written into yet
        yield array.astype(np.float32), "other numbers"
    yield array.astype(complex), "complex numbers"
    if array.size > 1:
        yield np.repeat(array.ravel(), 2)[::2], "every second of an array"
    yield array.astype(object), "objects"


@pytest.mark.parametrize("name", NAMES)
def test_arguments_of_another_size_or_value_do_no_harm(calls, name):
    number = first_of(calls, name)
    player = player_before(calls, number)
    users, used = users_of(calls, number), 0
    for position, wrong in of_wrong_value(player, calls[number]):
        arguments = player.prepare(calls[number])
        arguments[position] = wrong
        try:
            result = getattr(_kernels, name)(*arguments)
        except REFUSED:
            continue
        used += 1
        if isinstance(calls[number].result, AHandle) and used < MOST_USED:
            use(player, calls, users, number, result)


def users_of(calls: list[Call], number: int) -> list[int]:
    """The calls that need the handle that a call made, directly or not, and those that make other handles they need."""
    needed, found, names = {number}, [], set()
    for later, each in enumerate(calls[number + 1 :], number + 1):
        makes, uses = isinstance(each.result, AHandle), bool(needed & handles_in(each.arguments))
        if makes or (uses and each.name not in names):
            found.append(later)
        if uses:
            names.add(each.name)
            needed |= {later} if makes else set()
    return found if names else []


def handles_in(arguments: Any) -> set[int]:
    if isinstance(arguments, AHandle):
        return {arguments.call}
    return set().union(*(handles_in(each) for each in arguments)) if isinstance(arguments, tuple | list) else set()


def use(player: Player, calls: list[Call], users: list[int], number: int, handle: Any) -> None:
    """Repeat the calls that need a handle, with another handle."""
    using = Player()
    using.arrays = {k: value.copy() for k, value in player.arrays.items()}
    using.results = [*player.results, handle]
    for user in users:
        using.results += [None] * (user - len(using.results))
        try:
            using.play(calls[user])
        except REFUSED:
            using.results.append(None)


def of_wrong_value(player: Player, call: Call) -> Iterator[tuple[int, Any]]:
    good = player.prepare(call)
    same = [each for each in player.results if type(each).__name__ == "PyCapsule"]
    for position, (told, argument) in enumerate(zip(call.arguments, good, strict=True)):
        if isinstance(told, AHandle):
            kind = repr(argument).split('"')[1]
            yield from ((position, each) for each in same if f'"{kind}"' in repr(each))
        elif isinstance(told, AnArray):
            yield from ((position, wrong) for wrong in spoilt_arrays(argument))
        elif isinstance(told, tuple):
            yield position, argument[:-1]
            for at, inside in enumerate(argument):
                if isinstance(inside, np.ndarray):
                    for wrong in spoilt_arrays(inside):
                        yield position, like(argument, [*argument[:at], wrong, *argument[at + 1 :]])
        elif isinstance(told, float):
            yield from ((position, wrong) for wrong in (np.nan, np.inf, -np.inf, -1.0, 0.0, 1e300))
        elif isinstance(told, int):
            yield from ((position, wrong) for wrong in (*FAR, 0, 1, 1000, 2**70))


def spoilt_arrays(array: np.ndarray) -> Iterator[np.ndarray]:
    flat = array.ravel()
    yield flat[:0].copy()
    yield flat[:-1].copy()
    yield np.append(flat, flat[-1:] if flat.size else np.zeros(1, array.dtype))
    yield np.repeat(flat, 2)
    if array.dtype == np.int64:
        for value in (*FAR, 1):
            yield np.full_like(array, value)
        for at in np.linspace(0, flat.size - 1, min(flat.size, MOST_ELEMENTS)).astype(int).tolist():
            for value in (FAR[at % len(FAR)], int(flat[at]) + 1):
                spoilt = array.copy()
                spoilt.ravel()[at] = value
                yield spoilt
    elif array.dtype == np.float64:
        for number in (np.nan, np.inf, -1e300, 0.0):
            yield np.full_like(array, number)
        readonly = array.copy()
        readonly.flags.writeable = False
        yield readonly


def test_under_the_sanitizers_their_extension_is_loaded():
    if "WHOLEBODY_SANITIZED" in os.environ:
        assert "sanitize" in str(_kernels.__file__)
