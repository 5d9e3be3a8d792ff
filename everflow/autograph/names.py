"""Which names a piece of code binds, which it reads, and which are still of use after it."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class _Binding(ast.NodeVisitor):
    """Collects the names that code binds in its own scope, not in those of functions and classes inside it."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            self.names.add(node.id)

    def visit_FunctionDef(self, node: Any) -> None:
        self.names.add(node.name)

    visit_AsyncFunctionDef = visit_ClassDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """Binds nothing here."""

    def _comprehension(self, node: Any) -> None:
        # Of what a comprehension binds, only `:=` is seen outside.
        self.names.update(n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr))

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_alias(self, node: ast.alias) -> None:
        self.names.add(node.asname or node.name.split(".")[0])

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.names.add(node.name)
        self.generic_visit(node)

    def visit_MatchAs(self, node: Any) -> None:
        if node.name:
            self.names.add(node.name)
        self.generic_visit(node)

    visit_MatchStar = visit_MatchAs

    def visit_MatchMapping(self, node: Any) -> None:
        if node.rest:
            self.names.add(node.rest)
        self.generic_visit(node)


def bound(code: ast.AST | Iterable[ast.AST]) -> set[str]:
    """The names that statements or expressions bind."""
    visitor = _Binding()
    for node in [code] if isinstance(code, ast.AST) else code:
        visitor.visit(node)
    return visitor.names


def parameters(arguments: ast.arguments) -> list[str]:
    """The names of a function's parameters."""
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every += [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
    return [a.arg for a in every]


def declared(function: Any, kind: type) -> set[str]:
    """The names that a function declares global, or nonlocal."""
    return {name for node in own(function.body) if isinstance(node, kind) for name in node.names}  # type: ignore[attr-defined]


def own(body: Any) -> Iterable[ast.AST]:
    """All nodes of a function's body but those inside of other functions and classes."""
    stack: list[Any] = list(body) if isinstance(body, list) else [body]
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            stack.extend(ast.iter_child_nodes(node))


def reads(code: Any) -> set[str]:
    """The names that code reads, and those that functions inside it take from around them."""
    found: set[str] = set()
    for node in code if isinstance(code, list) else [code]:
        _read(node, found)
    return found


def _read(node: Any, found: set[str]) -> None:
    if node is None:
        return
    if isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Load):
            found.add(node.id)
    elif isinstance(node, FUNCTIONS):
        inner = reads(node.body)
        body = node.body if isinstance(node.body, list) else [node.body]
        outer = {n for kind in (ast.Nonlocal, ast.Global) for n in declared(node, kind)}
        found |= (inner - set(parameters(node.args)) - bound(body)) | outer
        for part in [*node.args.defaults, *node.args.kw_defaults, *getattr(node, "decorator_list", ())]:
            _read(part, found)
    elif isinstance(node, COMPREHENSIONS):
        inner = set()
        for child in ast.iter_child_nodes(node):
            _read(child, inner)
        found |= inner - {n for g in node.generators for n in bound(g.target)}
    else:
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
        for child in ast.iter_child_nodes(node):
            _read(child, found)


def free_in_functions(body: list[Any]) -> set[str]:
    """The names that functions made inside a body use of it; they may do so at any time."""
    return {name for node in own(body) if isinstance(node, FUNCTIONS) for name in reads(node)}


class Liveness:
    """Notes on each `if` and loop which names are read after it (`live`), and on loops which an iteration begins with (`head`).

    Jumps have to be lowered before.
    """

    def __init__(self, body: list[Any], at_end: set[str]) -> None:
        self._always: list[set[str]] = [at_end | free_in_functions(body)]
        self._block(body, set())

    def _block(self, statements: list[Any], out: set[str]) -> set[str]:
        for statement in reversed(statements):
            out = self._statement(statement, out | self._always[-1])
        return out | self._always[-1]

    def _statement(self, node: Any, out: set[str]) -> set[str]:
        if isinstance(node, ast.If):
            node.live = out  # type: ignore[attr-defined]
            return reads(node.test) | self._block(node.body, out) | self._block(node.orelse, out)
        if isinstance(node, (ast.While, ast.For)):
            return self._loop(node, out)
        if isinstance(node, ast.With):
            names = {n for item in node.items for n in bound(item)}
            return (self._block(node.body, out) - names) | {n for item in node.items for n in reads(item)}
        if isinstance(node, ast.Try) or type(node).__name__ == "TryStar":
            return self._try(node, out)
        if isinstance(node, ast.Match):
            cases = [self._block(c.body, out) - bound(c.pattern) | reads(c.pattern) | reads(c.guard) for c in node.cases]
            return reads(node.subject).union(out, *cases)
        if isinstance(node, (ast.Return, ast.Raise)):
            return reads(node)
        return (out - bound(node)) | reads(node)

    def _loop(self, node: Any, out: set[str]) -> set[str]:
        node.live = out
        before = set() if isinstance(node, ast.For) else reads(node.test)
        before |= {node.broke} if node.broke else set()
        target = bound(node.target) if isinstance(node, ast.For) else set()
        head = out | before
        # Twice: what the second iteration begins with is live at the end of the first.
        for _ in range(2):
            head = out | before | (self._block(node.body, head) - target)
        node.head = head
        return head | reads(node.iter) if isinstance(node, ast.For) else head

    def _try(self, node: Any, out: set[str]) -> set[str]:
        final = self._block(node.finalbody, out)
        handlers: set[str] = set()
        for h in node.handlers:
            handlers |= (self._block(h.body, final) - {h.name}) | reads(h.type)
        self._always.append(self._always[-1] | handlers | final)
        found = self._block(node.body, self._block(node.orelse, final))
        self._always.pop()
        return found | handlers
