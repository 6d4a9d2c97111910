"""Events: named conditions over parameters that are told once each time they come true.

events = Events(parameters, {"arrived": "tasks.right_hand.error_norm < 0.005"}, writer)
events.emit(now)                      # at the end of every cycle
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wholebody import messages
from wholebody.channels.channel import Writer
from wholebody.errors import BadExpression, closest
from wholebody.parameters.packed import STATES
from wholebody.parameters.parameter import Array, Bounds, Memory, Parameter, checked, in_place
from wholebody.parameters.reflection import About, Parameters, Slot, refreshing

VALUES = 8
"""Numbers that go with an event, at most."""
TEXT = 160
ARMED = Parameter("armed", "1", Bounds(0, 1), None, whole=True)


@dataclass
class Event:
    """A condition; how often it came true, and why it could not be computed when it could not."""

    name: str
    expression: Expression
    count: int = 0
    trouble: str = ""


class Events:
    """Tells of conditions that came true, on a channel of `messages.event()`: time, name, expression, count, values.

    An event fires in the first cycle in which its expression holds, and not again before it has been false; or before
    its parameter events.NAME.armed is set to 1, which lets it fire once more though it still holds. An expression that
    cannot be computed, because it divides by zero, counts as false.
    """

    def __init__(
        self,
        parameters: Parameters,
        expressions: Mapping[str, str],
        writer: Writer[messages.Event] | None = None,
        source: str = "",
    ) -> None:
        self._writer, self._source = writer, source
        armed = np.ones(len(expressions))
        self.events = tuple(
            _event(name, text, parameters, armed[number : number + 1])
            for number, (name, text) in enumerate(expressions.items())
        )
        self._watch = compile_watch([each.expression for each in self.events], in_place(armed), self._trouble)
        self._refresh = refreshing(one.slot for each in self.events for one in each.expression.operands)

    def bind(self, writer: Writer[messages.Event]) -> None:
        """Tell on this channel from now on."""
        self._writer = writer

    def emit(self, now: float) -> None:
        """Look at all conditions, and tell of those that came true."""
        for refresh in self._refresh:
            refresh()
        for number in self._watch():
            self._tell(self.events[number], now)

    def _trouble(self, number: int, error: ArithmeticError) -> None:
        self.events[number].trouble = str(error)

    def _tell(self, event: Event, now: float) -> None:
        event.count += 1
        if self._writer is None:
            return
        message = self._writer.message
        message.time, message.source, message.name = now, self._source, event.name
        message.text, message.count = event.expression.text, event.count
        message.values[:] = 0.0
        for number, operand in enumerate(event.expression.operands[:VALUES]):
            message.values[number] = operand.slot.array[operand.index]
        self._writer.put()


def _event(name: str, text: str, parameters: Parameters, armed: Array) -> Event:
    expression = compile_expression(text, parameters)
    about = About(f"events.{name}.armed", "whole", "1", 1, 0, 1, f"1: it fires when {text}; 0: it has", saved=False)

    def arm(value: Any) -> None:
        armed[:] = checked(about.path, ARMED, value, 1)

    parameters.add_slot(Slot(about, armed, arm))
    return Event(name, expression)


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
