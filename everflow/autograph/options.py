"""What programs say about conversion: its options, and notes on their own lists."""

from __future__ import annotations

import ast
from typing import Any

from everflow.api import internal, public
from everflow.autograph.features import Feature
from everflow.graph import dtypes
from everflow.graph.tensor import Tensor
from everflow.ops.core.registry import apply

_NOT_SAID = object()


@public("contrib.autograph.ConversionOptions")
@internal("autograph.core.converter.ConversionOptions")
class ConversionOptions:
    """What a conversion covers: the functions that are called too, and which optional features."""

    def __init__(
        self,
        recursive: bool = False,
        user_requested: bool = False,
        internal_convert_user_code: bool = True,
        optional_features: Any = Feature.ALL,
    ) -> None:
        self.recursive = recursive
        self.user_requested = user_requested
        self.internal_convert_user_code = internal_convert_user_code
        given = optional_features or ()
        self.optional_features = frozenset(given if isinstance(given, (list, tuple, set, frozenset)) else (given,))

    def as_tuple(self) -> tuple[bool, bool, bool, frozenset[Feature]]:
        """All options."""
        return self.recursive, self.user_requested, self.internal_convert_user_code, self.optional_features

    def __hash__(self) -> int:
        return hash(self.as_tuple())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConversionOptions) and self.as_tuple() == other.as_tuple()

    def uses(self, feature: Feature) -> bool:
        """Whether a feature was asked for."""
        return Feature.ALL in self.optional_features or feature in self.optional_features

    def call_options(self) -> ConversionOptions:
        """The options for functions that a converted one calls."""
        return ConversionOptions(self.recursive, False, self.recursive, self.optional_features)

    def to_ast(self) -> ast.expr:
        """An expression that makes the same options."""
        features = ", ".join(f"ag__.Feature.{f.name}" for f in sorted(self.optional_features, key=lambda f: f.name))
        text = (
            f"ag__.ConversionOptions(recursive={self.recursive}, user_requested={self.user_requested}, "
            f"internal_convert_user_code={self.internal_convert_user_code}, optional_features=[{features}])"
        )
        return ast.parse(text, mode="eval").body


@public("contrib.autograph.set_element_type")
@internal("autograph.lang.directives.set_element_type")
def set_element_type(entity: Any, dtype: dtypes.DTypeLike, shape: Any = _NOT_SAID) -> None:
    """Tells the reader of a program, and what converts it, the type of a list's elements; it changes nothing when it runs."""


@public("contrib.autograph.stack")
@internal("autograph.lang.special_functions.stack")
def stack(list_or_tensor: Any, element_dtype: Any = None, strict: bool = True) -> Any:
    """The elements of a tensor list along a new first axis; a tensor of another kind is left as it is."""
    if not isinstance(list_or_tensor, Tensor):
        if strict:
            raise ValueError(f"{list_or_tensor} must be stackable when strict=True")
        return list_or_tensor
    if list_or_tensor.dtype.base_dtype is not dtypes.variant:
        return list_or_tensor
    if element_dtype is None:
        raise ValueError("cannot stack a list without knowing its element type; use set_element_type to annotate it")
    shape = apply("TensorListElementShape", list_or_tensor, shape_type=dtypes.int32)
    return apply("TensorListStack", list_or_tensor, shape, element_dtype=dtypes.as_dtype(element_dtype))
