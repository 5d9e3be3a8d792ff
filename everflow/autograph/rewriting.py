"""Rewriting a function so that its ifs, loops and calls go through operators, which look at run time whether tensors decide."""

from __future__ import annotations

import ast
from typing import Any

from everflow.autograph import names
from everflow.autograph.lowering import Lowering, Namer, located

# Tests that Python alone answers: these stay as they are.
_PLAIN_CALLS = ("isinstance", "issubclass", "hasattr", "callable")


def rewritten(tree: Any, equality: bool) -> Any:
    """A function definition or lambda with its control flow and calls rewritten; `ag__` stands for the operators in it."""
    return _Rewriting(Namer(tree), equality).visit(tree)


class _Rewriting(ast.NodeTransformer):
    """Rewrites functions from the outside to the inside."""

    def __init__(self, namer: Namer, equality: bool) -> None:
        self._namer = namer
        self._equality = equality
        self._self_names: list[str | None] = []
        self._globals: list[set[str]] = []
        self._locals: list[set[str]] = []

    # -- functions

    def visit_FunctionDef(self, node: Any) -> Any:
        self._enter(node)
        if any(isinstance(n, (ast.Yield, ast.YieldFrom, ast.Await)) for n in names.own(node.body)):
            self._leave()
            return node
        lowering = Lowering(self._namer)
        document = node.body[:1] if ast.get_docstring(node, clean=False) is not None else []
        body = lowering.lowered(node.body[len(document) :]) if len(node.body) > len(document) else []
        outer = names.declared(node, ast.Nonlocal)
        names.Liveness(body, outer | self._globals[-1])
        node.body = document + self._visit_block(body)
        moved = self._locals[-1] - set(names.parameters(node.args)) - outer - self._globals[-1]
        # A bare annotation makes a name one of the function's own, without giving it a value.
        declarations = [located(ast.AnnAssign(ast.Name(n, ast.Store()), ast.Constant(None), None, 1), node.body[0]) for n in sorted(moved)]
        node.body = document + declarations + node.body[len(document) :]
        self._leave()
        node.args = self._visit_defaults(node.args)
        return node

    def visit_AsyncFunctionDef(self, node: Any) -> Any:
        return node

    def visit_ClassDef(self, node: Any) -> Any:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        self._enter(node)
        node.body = self.visit(node.body)
        self._leave()
        node.args = self._visit_defaults(node.args)
        return node

    def _enter(self, node: Any) -> None:
        first = [*node.args.posonlyargs, *node.args.args][:1]
        self._self_names.append(first[0].arg if first else None)
        self._globals.append(names.declared(node, ast.Global) if isinstance(node.body, list) else set())
        self._locals.append(set())

    def _leave(self) -> None:
        for stack in (self._self_names, self._globals, self._locals):
            stack.pop()

    def _visit_defaults(self, arguments: ast.arguments) -> ast.arguments:
        arguments.defaults = [self.visit(d) for d in arguments.defaults]
        arguments.kw_defaults = [None if d is None else self.visit(d) for d in arguments.kw_defaults]
        return arguments

    def _visit_block(self, statements: list[Any]) -> list[Any]:
        found: list[Any] = []
        for s in statements:
            made = self.visit(s)
            found.extend(made if isinstance(made, list) else [made] if made is not None else [])
        return found

    # -- statements

    def visit_If(self, node: Any) -> Any:
        if _is_plain(node.test):
            node.test = self.visit(node.test)
            node.body, node.orelse = self._visit_block(node.body), self._visit_block(node.orelse)
            return node
        state = (names.bound(node.body) | names.bound(node.orelse)) & node.live
        places = _places([*node.body, *node.orelse])
        test = self.visit(node.test)
        then = self._moved("then__", node.body, node)
        other = self._moved("else__", node.orelse, node)
        call = _call("if_", test, _name(then.name), _name(other.name), _strings(state), places)
        return [then, other, located(ast.Expr(call), node)]

    def visit_While(self, node: Any) -> Any:
        options = _taken_options(node.body)
        state = names.bound(node.body) & node.head
        places = _places(node.body)
        test: Any = node.test
        if node.broke:
            test = ast.BoolOp(ast.And(), [ast.UnaryOp(ast.Not(), _name(node.broke)), test])
        checked = self._moved("test__", [located(ast.Return(test), node)], node)
        body = self._moved("body__", node.body, node)
        call = _call("while_", _name(checked.name), _name(body.name), _strings(state), places, options)
        return [checked, body, located(ast.Expr(call), node)]

    def visit_For(self, node: Any) -> Any:
        options = _taken_options(node.body)
        items = self.visit(node.iter)
        item = self._namer("item__")
        take = located(ast.Assign([node.target], _name(item)), node.target)
        state = (names.bound(node.body) & node.head) | (names.bound(node.target) & node.live)
        places = _places([take, *node.body])
        body = self._moved("body__", [take, *node.body], node, item)
        goes_on: Any = ast.Constant(None)
        made = [body]
        if node.broke:
            test = located(ast.Return(ast.UnaryOp(ast.Not(), _name(node.broke))), node)
            made.append(self._moved("test__", [test], node))
            goes_on = _name(made[-1].name)
        call = _call("for_", items, _name(body.name), goes_on, _strings(state), places, options)
        return [*made, located(ast.Expr(call), node)]

    def _moved(self, name: str, statements: list[Any], place: Any, parameter: str | None = None) -> Any:
        """Statements as a function of their own, which works on the variables of the function around it."""
        own = names.bound(statements)
        body = self._visit_block(statements)
        self._locals[-1] |= own
        kept = own & self._globals[-1]
        scopes: list[Any] = [ast.Nonlocal(sorted(own - kept))] if own - kept else []
        scopes += [ast.Global(sorted(kept))] if kept else []
        args = ast.arguments([], [ast.arg(parameter)] if parameter else [], None, [], [], None, [])
        made = ast.FunctionDef(self._namer(name), args, [*scopes, *body] or [ast.Pass()], [], None)
        made.type_params = []  # type: ignore[attr-defined]
        return located(made, place)

    def visit_Assert(self, node: ast.Assert) -> Any:
        message = node.msg if node.msg is not None else ast.Constant("Assertion error")
        call = _call("assert_", self.visit(node.test), _lambda(self.visit(message)))
        return located(ast.Expr(call), node)

    # -- expressions

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        values = [self.visit(v) for v in node.values]
        if _is_plain(node) or any(isinstance(n, ast.NamedExpr) for v in values for n in ast.walk(v)):
            node.values = values
            return node
        return located(_call("and_" if isinstance(node.op, ast.And) else "or_", *map(_lambda, values)), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        node.operand = self.visit(node.operand)
        if isinstance(node.op, ast.Not) and not _is_plain(node.operand):
            return located(_call("not_", node.operand), node)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        self.generic_visit(node)
        if _is_plain(node.test) or any(isinstance(n, ast.NamedExpr) for v in (node.body, node.orelse) for n in ast.walk(v)):
            return node
        return located(_call("choose", node.test, _lambda(node.body), _lambda(node.orelse)), node)

    def visit_Compare(self, node: ast.Compare) -> Any:
        self.generic_visit(node)
        if self._equality and len(node.ops) == 1 and isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
            name = "equal" if isinstance(node.ops[0], ast.Eq) else "not_equal"
            return located(_call(name, node.left, node.comparators[0]), node)
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
            # Without arguments it looks at the frame that calls it, which may be that of a moved body.
            first = self._self_names[-1]
            if first is not None:
                node.args = [located(_name("__class__"), node), located(_name(first), node)]
            return node
        self.generic_visit(node)
        node.func = located(_call("converted", node.func), node.func)
        return node

    def visit_Nonlocal(self, node: ast.Nonlocal) -> Any:
        return node


def _is_plain(test: Any) -> bool:
    """Whether a test surely has a Python value for an answer."""
    if isinstance(test, ast.Compare):
        return all(isinstance(o, (ast.Is, ast.IsNot)) for o in test.ops)
    if isinstance(test, ast.Call):
        return isinstance(test.func, ast.Name) and test.func.id in _PLAIN_CALLS
    if isinstance(test, ast.BoolOp):
        return all(map(_is_plain, test.values))
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _is_plain(test.operand)
    return isinstance(test, ast.Constant)


def _places(statements: list[Any]) -> ast.expr:
    """The attributes and fixed items that statements assign, as operators for them."""
    found: dict[str, Any] = {}
    for node in names.own(statements):
        if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store) and _is_fixed(node):
            found.setdefault(ast.unparse(node), node)
    made: list[ast.expr] = []
    for text, node in sorted(found.items()):
        key = ast.Constant(node.attr) if isinstance(node, ast.Attribute) else node.slice
        kind = "attribute" if isinstance(node, ast.Attribute) else "item"
        made.append(_call(kind, ast.Constant(text), _lambda(node.value), key))
    return ast.Tuple(made, ast.Load())


def _is_fixed(node: Any) -> bool:
    """Whether it is a name, or an attribute or constant item of such."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Constant) and _is_fixed(node.value)
    return isinstance(node, ast.Name) or isinstance(node, ast.Attribute) and _is_fixed(node.value)


def _taken_options(body: list[Any]) -> ast.expr:
    """Takes calls of `set_loop_options` out of a loop's body: what they say is said to the loop."""
    for node in body:
        call = node.value if isinstance(node, ast.Expr) else None
        if isinstance(call, ast.Call):
            name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", None)
            if name == "set_loop_options":
                body.remove(node)
                if not body:
                    body.append(located(ast.Pass(), node))
                order = ("parallel_iterations", "back_prop", "swap_memory", "maximum_iterations")
                keywords = [ast.keyword(k, v) for k, v in zip(order, call.args)] + call.keywords
                return _lambda(ast.Call(ast.Name("dict", ast.Load()), [], keywords))
    return ast.Constant(None)


def _name(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def _call(operator: str, *args: ast.expr) -> ast.Call:
    return ast.Call(ast.Attribute(ast.Name("ag__", ast.Load()), operator, ast.Load()), list(args), [])


def _lambda(body: ast.expr) -> ast.expr:
    return located(ast.Lambda(ast.arguments([], [], None, [], [], None, []), body), body)


def _strings(texts: set[str]) -> ast.expr:
    return ast.Tuple([ast.Constant(t) for t in sorted(texts)], ast.Load())
