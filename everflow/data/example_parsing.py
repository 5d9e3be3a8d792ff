"""Batches of serialized Examples parsed within a pipeline."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.api import public
from everflow.data.dataset import UnaryDataset, scalar
from everflow.data.elements import Element
from everflow.data.experimental import Transformation
from everflow.data.map_ops import MapStream
from everflow.data.parallel_ops import AUTOTUNE
from everflow.data.streams import Stream, dataset_op, signature
from everflow.errors import invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.sparse_tensor import SparseTensorSpec
from everflow.graph.tensor_spec import TensorSpec
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply
from everflow.ops.parsing.example_functions import _EXAMPLE_KINDS, _Wanted, _with_sparse_features, _with_steps
from everflow.ops.parsing.example_ops import _example_parser


@dataset_op("ParseExampleDataset", "ExperimentalParseExampleDataset")
def _parse_examples(node: Node) -> Callable[..., Stream]:
    types, dims = signature(node)
    sparse_keys = [k.encode() for k in node.attr("sparse_keys")]
    dense_keys = [k.encode() for k in node.attr("dense_keys")]
    sparse_types = node.attr("sparse_types")
    # Elements have their components in the order of all keys.
    order = sorted(range(len(sparse_keys) + len(dense_keys)), key=lambda i: [*sparse_keys, *dense_keys][i])

    def make(source: Stream, calls: Any, *defaults: Any) -> Stream:
        if int(calls) <= 0 and int(calls) != AUTOTUNE:
            raise invalid_argument("num_parallel_calls must be greater than zero.")
        parser = _example_parser(sparse_keys, sparse_types, dense_keys, node.attr("Tdense"), node.attr("dense_shapes"), defaults)

        def parse(serialized: Any) -> Element:
            if serialized.ndim != 1:
                raise invalid_argument(f"Expected serialized to be a vector, got shape: {shapes.describe(serialized.shape)}")
            found = parser.parse(serialized, None, 1)
            values = [a if a.dtype == object else torch.from_numpy(a) for a in found]
            n = len(sparse_keys)
            components = [_packed((values[i], values[n + i], values[2 * n + i]), sparse_types[i]) for i in range(n)] + values[3 * n :]
            return tuple(components[i] for i in order)

        return MapStream(source, types, dims, parse, True)

    return make


def _packed(parts: tuple[Any, Any, Any], dtype: dtypes.DTypeLike) -> np.ndarray:
    """A sparse tensor as one array: each part with its type."""
    found = np.empty(3, object)
    for i, part in enumerate(parts):
        found[i] = part, dtype if i == 1 else dtypes.int64
    return found


class _ParseExampleDataset(UnaryDataset):
    """The features of batches of serialized Examples."""

    def __init__(self, input_dataset: Any, features: Any, num_parallel_calls: Any) -> None:
        spec = input_dataset.element_spec
        if not (isinstance(spec, TensorSpec) and spec.is_compatible_with(TensorSpec([None], dtypes.string))):
            raise TypeError("Input dataset should be a dataset of vectors of strings")
        wanted = _Wanted(_with_steps(features), _EXAMPLE_KINDS)
        wanted.check()
        batch = (spec.shape.as_dims() or (None,))[0]
        found: dict[str, Any] = {key: SparseTensorSpec([batch, None], dtype) for key, dtype in zip(wanted.sparse_keys, wanted.sparse_types)}
        for key, dtype, shape in zip(wanted.dense_keys, wanted.dense_types, wanted.dense_shapes):
            found[key] = TensorSpec(shapes.TensorShape([batch]).concatenate(shapes.as_shape(shape)), dtype)
        self._structure = {key: found[key] for key in sorted(found)}
        super().__init__(
            input_dataset,
            apply(
                "ParseExampleDataset",
                input_dataset._variant_tensor,
                scalar(num_parallel_calls, dtypes.int64, "num_parallel_calls"),
                wanted.default_tensors(),
                sparse_keys=wanted.sparse_keys,
                dense_keys=wanted.dense_keys,
                sparse_types=wanted.sparse_types,
                dense_shapes=wanted.dense_shapes,
                **self._flat_structure,
            ),
        )

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return self._structure


@public("data.experimental.parse_example_dataset", "contrib.data.parse_example_dataset")
def parse_example_dataset(features: Any, num_parallel_calls: Any = 1) -> Transformation:
    """The features of batches of serialized Examples, by key."""
    if features is None:
        raise ValueError("Missing: features was None.")

    def transform(dataset: Any) -> Any:
        parsed: Any = _ParseExampleDataset(dataset, features, num_parallel_calls)
        wanted = _Wanted(_with_steps(features), _EXAMPLE_KINDS)
        if wanted.sparse:
            parsed = parsed.map(lambda found: _with_sparse_features(features, wanted, found), num_parallel_calls=num_parallel_calls)
        return parsed

    return transform
