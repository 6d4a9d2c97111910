"""Watch: the conditions of all events as one function, compiled once, which says in every cycle which came true."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from wholebody.parameters.expressions import Expression
from wholebody.parameters.parameter import Memory

Watch = Callable[[], tuple[int, ...]]
"""The numbers of the events that fire now."""

FUNCTION = """
def watch():
    fired = ()
    return fired
"""
EVENT = """
try:
    holds = CONDITION
except ArithmeticError as error:
    holds = False
    trouble({number}, error)
if holds:
    if armed[{number}]:
        armed[{number}] = 0.0
        fired += ({number},)
elif not armed[{number}]:
    armed[{number}] = 1.0
"""


class _Fill(ast.NodeTransformer):
    """Puts a condition where it belongs."""

    def __init__(self, condition: ast.expr) -> None:
        self._condition = condition

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._condition if node.id == "CONDITION" else node


def compile_watch(
    expressions: Sequence[Expression], armed: Memory, trouble: Callable[[int, ArithmeticError], None]
) -> Watch:
    """One function for all: an event fires if it holds and is armed, and is armed again when it does not hold.

    armed    a number for each event: 1 if it is armed
    trouble  is told of a condition that cannot be computed, and so counts as false
    """
    names: dict[str, object] = {"armed": armed, "trouble": trouble, "ArithmeticError": ArithmeticError}
    tree = ast.parse(FUNCTION)
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    for number, each in enumerate(expressions):
        steps = _Fill(each.condition).visit(ast.parse(EVENT.format(number=number)))
        function.body[-1:-1] = steps.body
        names.update(each.memory)
    made: dict[str, Watch] = {}
    exec(compile(ast.fix_missing_locations(tree), "<events>", "exec"), {"__builtins__": {}, **names}, made)
    return made["watch"]
