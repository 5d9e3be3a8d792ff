"""Regular expressions on strings, in the syntax of RE2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.api import public
from everflow.compat import forward_compatible
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.attrs import raw
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.ops.core.shape_rules import same_as_input
from everflow.ops.strings.re2 import compiled, full_match, replacer
from everflow.values.texts import mapped

Kernel = Callable[..., Any]


def _scalar(value: Any, name: str) -> bytes:
    if value.ndim:
        raise invalid_argument(f"{name} must be scalar, but received {shapes.describe(value.shape)}")
    return value.item()


def _matches(texts: Any, is_match: Callable[[bytes], bool]) -> Any:
    return torch.tensor([is_match(text) for text in texts.ravel().tolist()], dtype=torch.bool).reshape(texts.shape)


def _regex_replace(node: Node) -> Kernel:
    everywhere = node.attr("replace_global")
    return lambda x, pattern, rewrite: mapped(replacer(compiled(_scalar(pattern, "Pattern")), _scalar(rewrite, "Rewrite"), everywhere), x)


def _static_replace(node: Node) -> Kernel:
    replace = replacer(compiled(raw(node.attr("pattern"))), raw(node.attr("rewrite")), node.attr("replace_global"))
    return lambda x: mapped(replace, x)


def _static_match(node: Node) -> Kernel:
    is_match = full_match(compiled(raw(node.attr("pattern"))))
    return lambda x: _matches(x, is_match)


def _dynamic_shape(o: Operation) -> Any:
    for t in o.inputs[1:]:
        shapes.with_rank(t.dims, 0)
    return o.inputs[0].dims


op("RegexReplace", kernel=_regex_replace, shape=_dynamic_shape, gradient=not_differentiable)
op("StaticRegexReplace", kernel=_static_replace, shape=same_as_input)
op(
    "RegexFullMatch",
    kernel=lambda node: lambda x, pattern: _matches(x, full_match(compiled(_scalar(pattern, "Pattern")))),
    shape=_dynamic_shape,
)
op("StaticRegexFullMatch", kernel=_static_match, shape=same_as_input)


@public("regex_replace", "strings.regex_replace", ragged="elements")
def regex_replace(input: Any, pattern: Any, rewrite: Any, replace_global: bool = True, name: str | None = None) -> Any:
    r"""Each string with the matches of a pattern replaced; `\1` in the replacement stands for the first group."""
    if isinstance(pattern, (str, bytes)) and isinstance(rewrite, (str, bytes)):
        return apply("StaticRegexReplace", input, pattern=pattern, rewrite=rewrite, replace_global=replace_global, name=name)
    return apply("RegexReplace", input, pattern, rewrite, replace_global=replace_global, name=name)


@public("strings.regex_full_match", ragged="elements")
def regex_full_match(input: Any, pattern: Any, name: str | None = None) -> Any:
    """Whether all of each string matches a pattern."""
    if isinstance(pattern, (str, bytes)) and forward_compatible(2018, 11, 10):
        return apply("StaticRegexFullMatch", input, pattern=pattern, name=name)
    return apply("RegexFullMatch", input, pattern, name=name)
