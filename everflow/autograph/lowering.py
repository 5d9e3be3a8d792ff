"""Taking `return`, `break` and `continue` out of the middle of code: flags say what must not run any more."""

from __future__ import annotations

import ast
from typing import Any

from everflow.autograph import names

JUMPS = (ast.Return, ast.Break, ast.Continue)


class Namer:
    """Names that the code does not use itself."""

    def __init__(self, tree: ast.AST) -> None:
        self._used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} | {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}

    def __call__(self, wish: str) -> str:
        name, number = wish, 0
        while name in self._used:
            number += 1
            name = f"{wish}_{number}"
        self._used.add(name)
        return name


class _Loop:
    """The flags of a loop: whether it was left, and whether the rest of this iteration is left out."""

    def __init__(self, namer: Namer) -> None:
        self.broke = namer("broke__")
        self.skipped = namer("skipped__")


def _jumps(node: Any) -> set[type]:
    """The kinds of jumps in a statement that lead out of it."""
    if isinstance(node, (*names.FUNCTIONS, ast.ClassDef)):
        return set()
    if isinstance(node, JUMPS):
        return {type(node)}
    found = {kind for child in ast.iter_child_nodes(node) for kind in _jumps(child)}
    if isinstance(node, (ast.While, ast.For)):
        inside = {kind for child in node.body for kind in _jumps(child)}
        after = {kind for child in node.orelse for kind in _jumps(child)}
        return (inside & {ast.Return}) | after
    return found


def _always_jumps(statements: list[Any]) -> bool:
    """Whether no way leads to the end of a block."""
    for node in statements:
        if isinstance(node, (*JUMPS, ast.Raise)):
            return True
        if isinstance(node, ast.If) and node.orelse and _always_jumps(node.body) and _always_jumps(node.orelse):
            return True
        if isinstance(node, ast.With) and _always_jumps(node.body):
            return True
    return False


class Lowering:
    """Rewrites the body of one function.

    `returns` has the names of the variable for the function's result and of the flag that says that it is there, where the
    function returns from its middle.
    """

    def __init__(self, namer: Namer) -> None:
        self._namer = namer
        self._loops: list[_Loop] = []
        self.returns: tuple[str, str] | None = None

    def lowered(self, body: list[Any]) -> list[Any]:
        """The body with at most one `return`, at its end."""
        if any(ast.Return in _jumps(node) for node in body if not isinstance(node, ast.Return)):
            self.returns = self._namer("result__"), self._namer("returned__")
        else:
            end = next((i for i, node in enumerate(body) if isinstance(node, ast.Return)), None)
            if end is not None:
                return self._block(body[:end]) + [body[end]]
            return self._block(body)
        result, returned = self.returns
        place = body[0]
        start = [_assign(result, _operator("NOTHING"), place), _assign(returned, ast.Constant(False), place)]
        last = ast.Return(ast.Call(_operator("result"), [ast.Name(result, ast.Load())], []))
        return [*start, *self._block(body), located(last, body[-1])]

    def _block(self, statements: list[Any]) -> list[Any]:
        made: list[Any] = []
        for i, node in enumerate(statements):
            kinds = _jumps(node)
            rest = statements[i + 1 :]
            if not kinds:
                made.extend(self._compound(node))
                continue
            if isinstance(node, JUMPS):
                return made + self._jump(node)
            if isinstance(node, ast.If) and rest:
                if _always_jumps(node.body):
                    node.orelse, rest = [*node.orelse, *rest], []
                elif node.orelse and _always_jumps(node.orelse):
                    node.body, rest = [*node.body, *rest], []
            made.extend(self._compound(node))
            if rest:
                made.append(_if(self._going_on(kinds), self._block(rest), rest[0]))
            return made
        return made

    def _compound(self, node: Any) -> list[Any]:
        """A statement with the statements inside it lowered."""
        if isinstance(node, (ast.While, ast.For)):
            return self._loop(node)
        if isinstance(node, (*names.FUNCTIONS, ast.ClassDef)):
            return [node]
        guarded = isinstance(node, ast.Try) and node.orelse and set().union(*map(_jumps, node.body))
        for field in ("body", "orelse", "finalbody"):
            if isinstance(getattr(node, field, None), list):
                setattr(node, field, self._block(getattr(node, field)))
        if guarded:
            node.orelse = [_if(self._going_on(guarded), node.orelse, node.orelse[0])]
        for part in [*getattr(node, "handlers", ()), *getattr(node, "cases", ())]:
            part.body = self._block(part.body)
        return [node]

    def _loop(self, node: Any) -> list[Any]:
        inside = {kind for child in node.body for kind in _jumps(child)}
        loop = _Loop(self._namer)
        self._loops.append(loop)
        node.body = self._block(node.body)
        self._loops.pop()
        before: list[Any] = []
        if ast.Continue in inside:
            node.body.insert(0, _assign(loop.skipped, ast.Constant(False), node.body[0]))
        node.broke = None
        if inside & {ast.Break, ast.Return}:
            before.append(_assign(loop.broke, ast.Constant(False), node))
            node.broke = loop.broke
        after = node.orelse
        node.orelse = []
        if after and node.broke:
            return [*before, node, _if(_none_of([loop.broke]), self._block(after), after[0])]
        return [*before, node, *self._block(after)]

    def _jump(self, node: Any) -> list[Any]:
        flags = []
        if isinstance(node, ast.Return):
            assert self.returns is not None
            result, returned = self.returns
            value = node.value if node.value is not None else ast.Constant(None)
            flags = [_assign(result, value, node), _set(returned, node), *(_set(loop.broke, node) for loop in self._loops)]
        elif isinstance(node, ast.Break):
            flags = [_set(self._loops[-1].broke, node)]
        else:
            flags = [_set(self._loops[-1].skipped, node)]
        return flags

    def _going_on(self, kinds: set[type]) -> ast.expr:
        """That no jump of these kinds was made."""
        flags = []
        if self._loops:
            if kinds & {ast.Break, ast.Return}:
                flags.append(self._loops[-1].broke)
            if ast.Continue in kinds:
                flags.append(self._loops[-1].skipped)
        elif self.returns is not None:
            flags.append(self.returns[1])
        return _none_of(flags)


def _none_of(flags: list[str]) -> ast.expr:
    tests: list[ast.expr] = [ast.UnaryOp(ast.Not(), ast.Name(f, ast.Load())) for f in flags]
    return tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)


def _operator(name: str) -> ast.expr:
    return ast.Attribute(ast.Name("ag__", ast.Load()), name, ast.Load())


def _assign(name: str, value: ast.expr, place: ast.AST) -> Any:
    return located(ast.Assign([ast.Name(name, ast.Store())], value), place)


def _set(flag: str, place: ast.AST) -> Any:
    return _assign(flag, ast.Constant(True), place)


def _if(test: ast.expr, body: list[Any], place: ast.AST) -> Any:
    return located(ast.If(test, body, []), place)


def located(node: Any, place: Any) -> Any:
    """A new node, and what is new inside it, at the place of the code that it stands for."""
    stack: list[Any] = [node]
    while stack:
        found = stack.pop()
        if not hasattr(found, "lineno") and "lineno" in found._attributes:
            ast.copy_location(found, place)
            if not hasattr(found, "lineno"):
                found.lineno, found.col_offset, found.end_lineno, found.end_col_offset = 1, 0, 1, 0
        stack.extend(ast.iter_child_nodes(found))
    return node
