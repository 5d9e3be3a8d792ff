"""From a function to the syntax tree of its definition, and from a tree back to a function on the same variables."""

from __future__ import annotations
import __future__

import ast
import copy
import gc
import inspect
import textwrap
import types
from typing import Any

from everflow.autograph.lowering import located

_FUTURE = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)


class NoSource(ValueError):
    """Where the text of a function is not to be found."""


def definition(function: types.FunctionType) -> Any:
    """The FunctionDef or Lambda that a function was made from, at its lines in the file."""
    code = function.__code__
    try:
        lines, first = inspect.getsourcelines(code)
    except (OSError, TypeError) as error:
        raise _not_located(function, error) from None
    is_lambda = code.co_name == "<lambda>"
    tree = _parsed("".join(lines), is_lambda)
    ast.increment_lineno(tree, first - 1)
    kinds = (ast.Lambda,) if is_lambda else (ast.FunctionDef, ast.AsyncFunctionDef)
    found = [n for n in ast.walk(tree) if isinstance(n, kinds) and _is_of(n, code)]
    if is_lambda and len(found) > 1:
        found = [n for n in found if _same_code(n, code)] or found
    if not found:
        # All that is compiled from strings says that its file is "<string>", which from Python 3.13 on is the text of `python -c`.
        raise _not_located(function, f"it is not at line {code.co_firstlineno} of {code.co_filename}")
    if is_lambda and len(found) > 1 and len({ast.dump(n) for n in found}) > 1:
        raise NoSource(f"Unable to tell which part of the source is the code of {function}.")
    tree = copy.deepcopy(found[0])
    _Mangling(function).visit(tree)
    return tree


def _not_located(function: types.FunctionType, reason: object) -> NoSource:
    return NoSource(
        f"Unable to locate the source code of {function}. Note that functions defined in certain environments, like the interactive "
        "Python shell do not expose their source code. If that is the case, you should to define them in a .py source file. If you "
        f"are certain the code is graph-compatible, wrap the call using @tf.autograph.do_not_convert. Original error: {reason}"
    )


def syntax_tree(text: str) -> Any:
    """What `ast.parse` gives; Python 3.11 raises SystemError where others parse in the middle of it, as collections of garbage let them."""
    try:
        return ast.parse(text)
    except SystemError:
        collects = gc.isenabled()
        gc.disable()
        try:
            return ast.parse(text)
        finally:
            if collects:
                gc.enable()


def _parsed(text: str, is_lambda: bool) -> ast.AST:
    text = textwrap.dedent(text)
    try:
        return syntax_tree(text)
    except SyntaxError as error:
        if not is_lambda:
            raise NoSource(f"Unable to parse the source of the function: {error}") from None
    # A lambda on a line that is only a part of a statement.
    for prefix, suffix in (("(", ")"), ("(", ""), ("f(", ")"), ("f(", ")" * 2)):
        try:
            return syntax_tree(f"{prefix}{text.strip().rstrip(',')}{suffix}")
        except SyntaxError:
            continue
    start = text.find("lambda")
    for end in range(len(text), start, -1):
        try:
            return syntax_tree("\n" * text[:start].count("\n") + "(" + text[start:end] + ")")
        except SyntaxError:
            continue
    raise NoSource("Unable to parse the source of the lambda.")


def _is_of(node: Any, code: types.CodeType) -> bool:
    if isinstance(node, ast.Lambda):
        given = [a.arg for a in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]]
        return given == list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    # A decorated function begins at its first decorator.
    lines = [node.lineno, *(d.lineno for d in node.decorator_list)]
    return node.name == code.co_name and min(lines) == code.co_firstlineno


def _same_code(node: Any, code: types.CodeType) -> bool:
    made = compile(ast.Expression(located(copy.deepcopy(node), node)), code.co_filename, "eval").co_consts[0]
    return made.co_code == code.co_code and made.co_names == code.co_names and made.co_consts == code.co_consts


class _Mangling(ast.NodeTransformer):
    """Names that begin with two underscores have the class's name before them, which a function outside of it would not."""

    def __init__(self, function: types.FunctionType) -> None:
        parts = function.__qualname__.split(".")
        owner = parts[-2] if len(parts) > 1 else ""
        self._owner = "" if owner == "<locals>" else owner.lstrip("_")

    def _mangled(self, name: str) -> str:
        is_private = self._owner and name.startswith("__") and not name.endswith("__")
        return f"_{self._owner}{name}" if is_private else name

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        node.attr = self._mangled(node.attr)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> Any:
        node.id = self._mangled(node.id)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        return node


def factory_code(tree: Any, code: types.CodeType, name: str) -> types.CodeType:
    """The code of a tree's function, whose free variables are those of the function that it was made from, and `ag__`."""
    if isinstance(tree, ast.Lambda):
        tree = located(ast.Assign([ast.Name(name, ast.Store())], tree), tree)
    else:
        tree.name, tree.decorator_list, tree.returns = name, [], None
        for a in ast.walk(tree.args):
            if isinstance(a, ast.arg):
                a.annotation = None
        count = len(tree.args.defaults), sum(d is not None for d in tree.args.kw_defaults)
        # Defaults are the values that the function already has; here only their number matters.
        tree.args.defaults = [ast.Constant(None)] * count[0]
        tree.args.kw_defaults = [None if d is None else ast.Constant(None) for d in tree.args.kw_defaults]
    free = [*code.co_freevars, "ag__"]
    variables = [ast.Assign([ast.Name(n, ast.Store())], ast.Constant(None)) for n in free]
    args = ast.arguments([], [], None, [], [], None, [])
    outer = ast.FunctionDef("factory", args, [*variables, tree], [], None)
    outer.type_params = []  # type: ignore[attr-defined]
    module = ast.Module([located(outer, tree)], [])
    made = compile(ast.fix_missing_locations(module), code.co_filename, "exec", flags=code.co_flags & _FUTURE, dont_inherit=True)
    factory = next(c for c in made.co_consts if isinstance(c, types.CodeType))
    wanted = "<lambda>" if isinstance(tree, ast.Assign) else name
    return next(c for c in factory.co_consts if isinstance(c, types.CodeType) and c.co_name == wanted)


def function_of(code: types.CodeType, original: types.FunctionType, operators: Any, name: str) -> types.FunctionType:
    """A function of some code that works on the variables of another one."""
    cells = dict(zip(original.__code__.co_freevars, original.__closure__ or ()))
    cells["ag__"] = types.CellType(operators)
    closure = tuple(cells[n] for n in code.co_freevars)
    made = types.FunctionType(code, original.__globals__, name, original.__defaults__, closure)
    made.__kwdefaults__ = original.__kwdefaults__
    made.__doc__ = original.__doc__
    made.__module__ = original.__module__
    return made
