"""Writes a graph as straight-line Python: what runs under a condition is below an `if`, loops are loops, functions are inlined."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from typing import Any

from everflow.export.values import CannotExpress, Names, Value, as_int, as_ints, as_number, as_operand, as_tensor
from everflow.graph.constants import known
from everflow.graph.operation import Operation
from everflow.graph.tensor import Tensor
from everflow.ops.control_flow.frame_bodies import as_loop, has_effect
from everflow.ops.control_flow.frame_lives import Frame, Lives, complement
from everflow.ops.control_flow.frame_op_types import FRAME_OPS, MERGES, SWITCHES
from everflow.runtime.frames import in_order
from everflow.runtime.plan import schedule

STEP = "    "
LOOPS = ("While", "StatelessWhile")
BRANCHES = ("If", "StatelessIf")
CALLS = ("PartitionedCall", "StatefulPartitionedCall")
HANDS_ON = (
    "Identity",
    "StopGradient",
    "PreventGradient",
    "Snapshot",
    "PlaceholderWithDefault",
    "RefIdentity",
    "ReadVariableOp",
    "EnsureShape",
    "CheckNumerics",
)
VARIABLES = ("VariableV2", "Variable", "VarHandleOp")
# What runs for its effect on something else than the outputs.
WATCHES = ("Assert", "Print", "PrintV2", "NoOp")
# How deep calls may be nested: a function that calls itself has no straight line.
DEEPEST = 40


class Node:
    """An op as the expressions see it: its inputs in the form that they ask for, and its attributes."""

    def __init__(self, program: Program, op: Operation, inputs: list[Value]) -> None:
        self.program = program
        self.op = op
        self.values = inputs

    def __len__(self) -> int:
        return len(self.values)

    def attr(self, name: str) -> Any:
        return self.op.attr(name)

    def dtype(self, index: int = 0) -> Any:
        return self.values[index].dtype

    def rank(self, index: int = 0) -> int | None:
        dims = self.op.inputs[index].dims
        return None if dims is None else len(dims)

    def kind(self, index: int = 0) -> str:
        return self.values[index].kind

    def constant(self, index: int) -> Any:
        """The value of an input that is known; None where it is not."""
        return self.values[index].array

    def t(self, index: int = 0) -> str:
        return as_tensor(self.values[index], self.program.keep_constant)

    def all(self, start: int = 0, stop: int | None = None) -> list[str]:
        return [self.t(i) for i in range(len(self.values))[start:stop]]

    def operand(self, index: int) -> str:
        """An input of arithmetic; one of them has to be a tensor."""
        others = [v for i, v in enumerate(self.values) if i != index]
        if any(v.kind == "tensor" for v in others):
            return as_operand(self.values[index], self.program.keep_constant)
        return self.t(index)

    def ints(self, index: int) -> str:
        return as_ints(self.values[index])

    def number(self, index: int) -> str:
        return as_number(self.values[index])

    def integer(self, index: int) -> str:
        return as_int(self.values[index])

    def value(self, text: str, kind: str) -> Value:
        """A result that is written where it is used."""
        return Value(text, kind, self.op.outputs[0].dtype.base_dtype)

    def call(self, function: str, *arguments: Any) -> str:
        """A call of one of everflow.export.torch_functions."""
        self.program.functions.add(function)
        return f"{function}({', '.join(map(str, arguments))})"


class Program:
    """The lines of one function, and what it needs from outside: variables, large constants, functions."""

    def __init__(self, expressions: dict[str, Any], names: Names, variable: Any, keep_constant: Any) -> None:
        self.expressions = expressions
        self.names = names
        self.variable = variable
        self.keep_constant = keep_constant
        self.functions: set[str] = set()
        self.lines: list[str] = []
        # By op type: why it can't be expressed, and where it is.
        self.unknown: dict[str, list[str]] = {}
        self._indent = STEP * 2
        self._guard = self._open = ""
        self._depth = 0

    # -- lines

    def line(self, text: str) -> None:
        if self._guard and self._open != self._guard:
            self.lines.append(f"{self._indent}if {self._guard}:")
        self._open = self._guard
        self.lines.append(self._indent + (STEP if self._guard else "") + text)

    @contextlib.contextmanager
    def block(self, header: str) -> Iterator[None]:
        """Lines below a header."""
        self.line(header)
        kept = self._indent, self._guard, self._open
        self._indent += STEP * 2 if self._guard else STEP
        self._guard = self._open = ""
        start = len(self.lines)
        yield
        if len(self.lines) == start:
            self.line("pass")
        self._indent, self._guard, self._open = kept

    def assigned(self, names: Sequence[str], values: Sequence[str]) -> None:
        """Assigns all at once: at the end of a round, a loop's variables may take each other's values."""
        pairs = [(name, value) for name, value in zip(names, values) if name != value]
        if any(name in re.findall(r"\w+", value) for name, _ in pairs for _, value in pairs):
            self.line(f"{', '.join(name for name, _ in pairs)} = {', '.join(value for _, value in pairs)}")
        else:
            for name, value in pairs:
                self.line(f"{name} = {value}")

    # -- graphs

    def graph(self, outputs: Sequence[Tensor], values: dict[Tensor, Value]) -> list[Value]:
        """Writes what computes the outputs, given values of some tensors."""
        self._depth += 1
        if self._depth > DEEPEST:
            raise CannotExpress("a function calls itself")
        order = schedule(list(outputs), [], values)  # type: ignore[arg-type]
        needed = _behind(outputs, values)
        lives = Lives(frozenset(values))
        for unit in in_order(order, values) if any(op.type in FRAME_OPS for op in order) else order:
            if isinstance(unit, Frame):
                if needed & set(unit.ops):
                    self._frame(unit, values, lives)
                continue
            life = lives.add(unit)
            if unit not in needed:
                if has_effect(unit) and unit.type not in WATCHES and unit.type not in VARIABLES:
                    self._refuse(unit, "it changes something")
                continue
            if any(t.branch is None for t in life):
                self._refuse(unit, "it is not known when it runs")
                continue
            undecided = [t for t in life if values[t.tensor].kind != "constant"]
            if any(bool(values[t.tensor].array) is not t.branch for t in life.difference(undecided)):
                continue
            self._guard = " and ".join(sorted({f"{'' if t.branch else 'not '}{values[t.tensor].text}" for t in undecided}))
            self._op(unit, values, lives)
            self._guard = ""
        self._open = ""
        self._depth -= 1
        return [values[t] for t in outputs]

    def _refuse(self, op: Operation, why: str) -> None:
        self.unknown.setdefault(f"{op.type} ({why})" if why else op.type, []).append(op.name)

    def _op(self, op: Operation, values: dict[Tensor, Value], lives: Lives) -> None:
        try:
            inputs = [values[t] for t in op.inputs]
        except KeyError as error:
            self._refuse(op, f"it needs {error.args[0].name}")
            return
        try:
            found = self._results(op, inputs, values, lives)
        except CannotExpress as error:
            self._refuse(op, str(error))
            found = [Value("None", "tensor", t.dtype.base_dtype) for t in op.outputs]
        for t, value in zip(op.outputs, found):
            values.setdefault(t, value)

    def _results(self, op: Operation, inputs: list[Value], values: dict[Tensor, Value], lives: Lives) -> list[Value]:
        if op.type in VARIABLES:
            return [self.variable(op)]
        if len(op.outputs) == 1:
            array = known(op.outputs[0])
            if array is not None:
                return [Value(op.name, "constant", op.outputs[0].dtype.base_dtype, array)]
        if op.type in HANDS_ON:
            return [inputs[0]]
        if op.type == "IdentityN":
            return inputs
        if op.type in SWITCHES:
            return [inputs[0], inputs[0]]
        if op.type in MERGES:
            return [self._merge(op, values, lives)]
        if op.type in LOOPS:
            condition, body = (self._body(op, op.attr(name).name) for name in ("cond", "body"))
            return self._loop(op.name, condition, body, inputs)
        if op.type in BRANCHES:
            return self._branches(op, inputs)
        if op.type in CALLS or op.graph._functions.get(op.type) is not None:
            return self._inline(self._body(op, op.attr("f").name if op.type in CALLS else op.type), inputs)
        express = self.expressions.get(op.type)
        if express is None:
            raise CannotExpress("")
        node = Node(self, op, inputs)
        found = express.format(*node.all()) if isinstance(express, str) else express(node)
        if isinstance(found, Value):
            return [found]
        if isinstance(found, list):
            return found
        kind = "items" if op.outputs[0].dtype.base_dtype.name == "variant" else "tensor"
        names = [self.names.new(op.name if len(op.outputs) == 1 else f"{op.name}_{i}") for i in range(len(op.outputs))]
        self.line(f"{', '.join(names)} = {found}")
        return [Value(name, kind, t.dtype.base_dtype) for name, t in zip(names, op.outputs)]

    # -- control flow

    def _merge(self, op: Operation, values: dict[Tensor, Value], lives: Lives) -> Value:
        pair = complement(*(lives.of([t]) for t in op.inputs))
        if pair is None or pair[1] is None or op.outputs[1]._consumers:
            raise CannotExpress("it is not one of two branches")
        token = pair[1]
        predicate = values[token.tensor]
        if predicate.kind == "constant":
            return values[op.inputs[1 if bool(predicate.array) is token.branch else 0]]
        one, other = (as_tensor(values[t], self.keep_constant) for t in op.inputs)
        chosen, rest = (other, one) if token.branch else (one, other)
        name = self.names.new(op.name)
        self.line(f"{name} = {chosen} if {predicate.text} else {rest}")
        return Value(name, "tensor", op.outputs[0].dtype.base_dtype)

    def _body(self, op: Operation, name: str) -> Any:
        found = op.graph._functions.get(name)
        if found is None:
            raise CannotExpress(f"there is no function {name}")
        return found.graph

    def _inline(self, body: Any, inputs: list[Value]) -> list[Value]:
        guard, self._guard = self._guard, ""
        with self.block(f"if {guard}:") if guard else contextlib.nullcontext():
            return self.graph(body.outputs, dict(zip(body.inputs, inputs)))

    def _branches(self, op: Operation, inputs: list[Value]) -> list[Value]:
        names = [self.names.new(t.name.removesuffix(":0")) for t in op.outputs]
        predicate = as_operand(inputs[0], self.keep_constant)
        kinds: list[str] = ["tensor"] * len(names)
        for header, attr in ((f"if {predicate}:", "then_branch"), ("else:", "else_branch")):
            body = self._body(op, op.attr(attr).name)
            with self.block(header):
                found = self.graph(body.outputs, dict(zip(body.inputs, inputs[1:])))
                kinds = [value.kind if value.kind == "items" else kind for value, kind in zip(found, kinds)]
                self.assigned(names, [as_tensor(value, self.keep_constant) for value in found])
        return [Value(name, kind, t.dtype.base_dtype) for name, kind, t in zip(names, kinds, op.outputs)]

    def _frame(self, frame: Frame, values: dict[Tensor, Value], lives: Lives) -> None:
        op = frame.exits[0] if frame.exits else frame.enters[0]
        loop = as_loop(frame)
        if loop is None or any(lives.of(e.inputs) for e in frame.enters):
            self._refuse(op, "it is not a plain loop")
            for e in frame.exits:
                values[e.outputs[0]] = Value("None", "tensor", e.outputs[0].dtype)
            return
        found = self._loop(frame.name, loop.condition, loop.body, [values[e.inputs[0]] for e in loop.enters])
        for e, k in zip(frame.exits, loop.exits):
            values[e.outputs[0]] = found[k]

    def _loop(self, name: str, condition: Any, body: Any, inputs: list[Value]) -> list[Value]:
        """A loop whose variables are the body's inputs; those that never change, and TensorArrays, keep their names."""
        changing = [i for i, (given, t) in enumerate(zip(body.inputs, body.outputs)) if t is not given and inputs[i].kind != "array"]
        names = {i: self.names.new(f"{name.removesuffix('/while_context')}_variable") for i in changing}
        current = [Value(names[i], "items" if v.kind == "items" else "tensor", v.dtype) if i in names else v for i, v in enumerate(inputs)]
        self.assigned(list(names.values()), [as_tensor(inputs[i], self.keep_constant) for i in changing])
        with self.block("while True:"):
            at = len(self.lines)
            holds = self.graph(condition.outputs, dict(zip(condition.inputs, current)))[0]
            if len(self.lines) == at + 1 and self.lines[at].lstrip().startswith(holds.text + " = "):
                self.lines[at - 1] = self.lines[at - 1].replace("while True:", f"while {self.lines[at].partition(' = ')[2]}:")
                del self.lines[at]
            else:
                self.line(f"if not {holds.text}:")
                self.line(STEP + "break")
            found = self.graph(body.outputs, dict(zip(body.inputs, current)))
            self.assigned(list(names.values()), [as_tensor(found[i], self.keep_constant) for i in changing])
        return current


def _behind(outputs: Sequence[Tensor], values: dict[Tensor, Value]) -> set[Operation]:
    """The ops whose results the outputs need, not those that only have to run before."""
    found: set[Operation] = set()
    stack = [t.op for t in outputs if t not in values]
    while stack:
        op = stack.pop()
        if op not in found:
            found.add(op)
            stack.extend(t.op for t in op.inputs if t not in values)
    return found
