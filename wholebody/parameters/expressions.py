"""Expressions of events: comparisons of parameters, taken apart node by node and compiled once.

    tasks.right_hand.error_norm < 0.01 and tasks.right_hand.state == 'enabled'

There are numbers, states in quotes, paths of parameters (one number of a vector as path[0]), + − * /, comparisons, and
`and`, `or`, `not`. Nothing can be called, and a dot only belongs to a path.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from wholebody.errors import BadExpression, closest
from wholebody.parameters.packed import STATES
from wholebody.parameters.parameter import Memory, in_place
from wholebody.parameters.reflection import Parameters, Slot

LONGEST = 1000
LOGIC = (ast.And, ast.Or, ast.Not)
ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)
SIGNS = (ast.USub, ast.UAdd)
COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)


@dataclass(frozen=True)
class Operand:
    """One number that an expression looks at."""

    slot: Slot
    index: int


@dataclass(frozen=True)
class Expression:
    """A condition that can be asked again and again: `holds()` reads the parameters where they are.

    condition  what is compiled: a tree in which parameters are names of places in memory
    memory     the places, by these names; a parameter has the same name in all expressions
    """

    text: str
    condition: ast.expr
    memory: Mapping[str, Memory]
    operands: tuple[Operand, ...]
    holds: Callable[[], bool]


def compile_expression(text: str, parameters: Parameters) -> Expression:
    """Take an expression apart and compile it; BadExpression shows what in it is refused, and why."""
    if not isinstance(text, str) or not text.strip():
        raise BadExpression(f'an expression is text such as "tasks.hand.error_norm < 0.01", not {text!r}')
    if len(text) > LONGEST:
        raise BadExpression(f"an expression of {len(text)} characters; {LONGEST} are enough")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        translator = Translator(text, parameters)
        body = translator.truth(tree)
    except SyntaxError as error:
        raise BadExpression(f"'{text}' is no expression: {error.msg}") from None
    except (RecursionError, MemoryError, ValueError) as error:
        if isinstance(error, BadExpression):
            raise
        raise BadExpression(f"'{text[:80]}' cannot be read: {error}") from None
    function = ast.Expression(ast.Lambda(ast.arguments([], [], None, [], [], None, []), body))
    memory = {name: in_place(slot.array) for name, slot in translator.names.items()}
    code = compile(ast.fix_missing_locations(function), "<expression>", "eval")
    holds = eval(code, {"__builtins__": {}, **memory})
    return Expression(text, body, memory, tuple(translator.operands), holds)


class Translator:
    """Makes a new tree of an expression's tree, in which paths are places in memory."""

    def __init__(self, text: str, parameters: Parameters) -> None:
        self.text, self.parameters = text, parameters
        self.names: dict[str, Slot] = {}
        self.operands: list[Operand] = []

    def truth(self, node: ast.expr) -> ast.expr:
        """Something that is true or false."""
        match node:
            case ast.BoolOp(op=op, values=values) if isinstance(op, LOGIC):
                return ast.BoolOp(op, [self.truth(each) for each in values])
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return ast.UnaryOp(ast.Not(), self.truth(operand))
            case ast.Compare(left=left, ops=ops, comparators=others):
                return self._comparison(node, [left, *others], ops)
            case ast.Constant(value=bool()):
                return node
        self._refuse_what_can_never_be(node)
        raise self._refused(node, "is no condition: compare it with something, as in … < 0.01")

    def number(self, node: ast.expr) -> ast.expr:
        """Something that is a number."""
        match node:
            case ast.BinOp(left=left, op=op, right=right) if isinstance(op, ARITHMETIC):
                return ast.BinOp(self.number(left), op, self.number(right))
            case ast.UnaryOp(op=op, operand=operand) if isinstance(op, SIGNS):
                return ast.UnaryOp(op, self.number(operand))
            case ast.Constant(value=value) if isinstance(value, int | float) and not isinstance(value, bool):
                return ast.Constant(float(value))
            case ast.Subscript(value=value, slice=ast.Constant(value=int(index))):
                return self._place(node, self._slot(value), index)
            case ast.Name() | ast.Attribute():
                return self._place(node, self._slot(node), None)
        self._refuse_what_can_never_be(node)
        raise self._refused(node, "is neither a number nor a parameter")

    def _comparison(self, whole: ast.Compare, sides: list[ast.expr], ops: list[ast.cmpop]) -> ast.expr:
        for op in ops:
            if not isinstance(op, COMPARISONS):
                raise self._refused(whole, "compares in a way that is not known; there are < <= > >= == !=")
        states = [side for side in sides if isinstance(side, ast.Constant) and isinstance(side.value, str)]
        if states:
            return self._state_comparison(whole, sides, ops)
        first, *others = (self.number(side) for side in sides)
        return ast.Compare(first, ops, others)

    def _state_comparison(self, whole: ast.Compare, sides: list[ast.expr], ops: list[ast.cmpop]) -> ast.expr:
        """A state by its name, such as tasks.hand.state == 'enabled'."""
        if len(sides) != 2 or not isinstance(ops[0], ast.Eq | ast.NotEq):
            raise self._refused(whole, "compares a state with more than == or !=")
        path, word = (sides[0], sides[1]) if isinstance(sides[1], ast.Constant) else (sides[1], sides[0])
        slot = self._slot(path)
        assert isinstance(word, ast.Constant)
        if slot.about.kind != "state" or word.value not in slot.about.choices:
            choices = slot.about.choices
            known = f"; it can be {', '.join(choices)}{closest(str(word.value), choices)}" if choices else ""
            raise self._refused(whole, f"can never be: {slot.about.path} is a {slot.about.kind}{known}")
        place = self._place(path, slot, None)
        return ast.Compare(place, ops, [ast.Constant(float(STATES[word.value]))])

    def _place(self, node: ast.expr, slot: Slot, index: int | None) -> ast.expr:
        about = slot.about
        if index is None and about.kind == "vector":
            raise self._refused(node, f"has {about.size} numbers; say which: {about.path}[0]")
        if index is not None and not (about.kind == "vector" and 0 <= index < about.size):
            most = f"from 0 to {about.size - 1}" if about.kind == "vector" else "none at all"
            raise self._refused(node, f"has no number {index}; the indices of {about.path} are {most}")
        name = f"_{id(slot)}"
        self.names[name] = slot
        operand = Operand(slot, index or 0)
        if operand not in self.operands:
            self.operands.append(operand)
        return ast.Subscript(ast.Name(name, ast.Load()), ast.Constant(index or 0), ast.Load())

    def _slot(self, node: ast.expr) -> Slot:
        """The parameter of a dotted path."""
        words: list[str] = []
        each: Any = node
        while isinstance(each, ast.Attribute):
            words.insert(0, each.attr)
            each = each.value
        if not isinstance(each, ast.Name):
            self._refuse_what_can_never_be(each)
            raise self._refused(node, "is no path of a parameter")
        path = ".".join([each.id, *words])
        if path not in self.parameters.paths:
            raise self._refused(node, f"is no parameter{closest(path, self.parameters.paths)}")
        return self.parameters.slot(path)

    def _refuse_what_can_never_be(self, node: ast.expr) -> None:
        for each in ast.walk(node):
            if isinstance(each, ast.Call):
                raise self._refused(each, "calls something; nothing can be called here")

    def _refused(self, node: ast.expr, why: str) -> BadExpression:
        part = ast.get_source_segment(self.text.strip(), node) or self.text
        return BadExpression(f"in '{self.text}': {part} {why}")
