"""Each worker's share of a dataset: of its files where it reads files, else of its elements."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.data.dataset import DatasetV1, DatasetV1Adapter, _VariantDataset
from everflow.data.tuning import _AutoShardDataset


@internal("distribute.input_ops.auto_shard_dataset")
def auto_shard_dataset(dataset: Any, num_shards: int, index: int) -> Any:
    """The share of one of several workers; all of it where the dataset's options say that it is not to be shared."""
    if dataset.options().experimental_distribute.auto_shard is False:
        return dataset
    found = _AutoShardDataset(dataset, num_shards, index)
    return DatasetV1Adapter(found) if isinstance(dataset, DatasetV1) else found


@internal("distribute.input_ops._clone_dataset")
def clone_dataset(dataset: Any) -> Any:
    """The same pipeline again, made of ops of its own, which are on the device that holds here."""
    if tf.executing_eagerly():
        return dataset
    variant = dataset._variant_tensor
    found = _VariantDataset(_cloned(variant.op, {}).outputs[variant.value_index], dataset.element_spec).with_options(dataset.options())
    return DatasetV1Adapter(found) if isinstance(dataset, DatasetV1) else found


def _cloned(op: Any, made: dict[Any, Any]) -> Any:
    """The op and those before it that make datasets, once more."""
    if op in made:
        return made[op]
    if not any(output.dtype == tf.variant for output in op.outputs):
        return op
    inputs = [_cloned(t.op, made).outputs[t.value_index] for t in op.inputs]
    attrs = {key: value for key, value in op.node_def.attr.items() if not key.startswith("_")}
    made[op] = op.graph.create_op(op.type, inputs, [t.dtype for t in op.outputs], name=op.name, attrs=attrs)
    return made[op]
