"""What libraries build their own rewriting of Python code on: tensorflow.python.autograph.pyct.transformer."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterator
from typing import Any

import gast

from everflow.api import internal

EntityInfo = internal("autograph.pyct.transformer.EntityInfo")(
    collections.namedtuple("EntityInfo", ("source_code", "source_file", "future_features", "namespace"))
)


@internal("autograph.pyct.transformer.Context")
class Context:
    """What is known of the code that is being rewritten."""

    def __init__(self, info: Any) -> None:
        self.info = info
        self.current_origin: Any = None


class _Stack:
    """States of one type, one for each level that was entered; attributes are those of the innermost."""

    def __init__(self, type_: type) -> None:
        self.__dict__.update(type=type_, stack=[])
        self.enter()

    def enter(self) -> None:
        self.stack.append(self.type())

    def exit(self) -> Any:
        return self.stack.pop()

    @property
    def level(self) -> int:
        return len(self.stack)

    @property
    def value(self) -> Any:
        return self.stack[-1]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.stack)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["stack"][-1], name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.stack[-1], name, value)


class _States(dict[type, _Stack]):
    def __missing__(self, type_: type) -> _Stack:
        return self.setdefault(type_, _Stack(type_))


@internal("autograph.pyct.transformer.Base")
class Base(gast.NodeTransformer):
    """Visits the nodes of code, and knows in which function or class it is and what was said of the scopes around."""

    def __init__(self, ctx: Any) -> None:
        self.ctx = ctx
        self.state = _States()
        self._enclosing_entities: list[Any] = []
        self._scopes: list[dict[str, Any]] = []

    @property
    def enclosing_entities(self) -> tuple[Any, ...]:
        return tuple(self._enclosing_entities)

    @property
    def local_scope_level(self) -> int:
        return len(self._scopes)

    def enter_local_scope(self, inherit: Any = None) -> None:
        """Opens a scope; names in `inherit` come along from the one around."""
        around = self._scopes[-1] if self._scopes else {}
        self._scopes.append({name: around[name] for name in inherit or () if name in around})

    def exit_local_scope(self, keep: Any = None) -> dict[str, Any]:
        """Closes the scope and returns what was in it; names in `keep` stay in the one around."""
        closed = self._scopes.pop()
        if self._scopes:
            self._scopes[-1].update({name: closed[name] for name in keep or () if name in closed})
        return closed

    def set_local(self, name: str, value: Any) -> None:
        self._scopes[-1][name] = value

    def get_local(self, name: str, default: Any = None) -> Any:
        return self._scopes[-1].get(name, default)

    def debug_print(self, node: Any) -> Any:
        print(gast.dump(node))
        return node

    def visit_block(self, nodes: Any, before_visit: Any = None, after_visit: Any = None) -> Any:
        """Visits statements one after another.

        `after_visit` gets each and returns a pair: what replaces it, and the list into which the statements after it go (None: the same).
        """
        if nodes is None:
            return None
        results: list[Any] = []
        target = results
        for node in nodes:
            if before_visit:
                before_visit()
            new = self.visit(node)
            inner = None
            if after_visit and new:
                new, inner = after_visit(new)
            if new:
                target.extend(new if isinstance(new, (list, tuple)) else [new])
            target = target if inner is None else inner
        return results

    def apply_to_single_assignments(self, targets: Any, values: Any, apply_fn: Callable[[Any, Any], None]) -> None:
        """Calls a function with each name and value of an assignment; (a, b) = c gives a, c[0] and b, c[1]."""
        for target in targets if isinstance(targets, (list, tuple)) else [targets]:
            if not isinstance(target, (gast.Tuple, gast.List)):
                apply_fn(target, values)
                continue
            for i, part in enumerate(target.elts):
                if isinstance(values, (gast.Tuple, gast.List)):
                    value = values.elts[i]
                else:
                    value = gast.Subscript(values, gast.Constant(i, None), ctx=gast.Load())
                self.apply_to_single_assignments(part, value, apply_fn)

    def visit(self, node: Any) -> Any:
        """The node, or what replaces it."""
        if not isinstance(node, gast.AST):
            raise ValueError(f'invalid value for "node": expected "ast.AST", got "{type(node)}"')
        entity = isinstance(node, (gast.FunctionDef, gast.ClassDef, gast.Lambda))
        if entity:
            self._enclosing_entities.append(node)
        try:
            return super().visit(node)
        finally:
            if entity:
                self._enclosing_entities.pop()
