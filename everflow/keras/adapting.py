"""Layers whose state comes from a pass over data before training: `layer.adapt(data)`."""

from __future__ import annotations

import collections
from collections.abc import Iterator
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal
from everflow.data.dataset import DatasetV2
from everflow.eager.context import executing_eagerly
from everflow.graph.dtypes import DTypeLike
from everflow.keras.backend.session import get_session
from everflow.keras.layer import Layer


@internal("keras.engine.base_preprocessing_layer.PreprocessingLayer")
class PreprocessingLayer(Layer):
    """A layer that may look at data before it is used."""

    def adapt(self, data: Any, reset_state: bool = True) -> None:
        """Takes the state from data, a dataset or an array; with `reset_state=False` in addition to what was seen before."""


@internal("keras.engine.base_preprocessing_layer.Combiner")
class Combiner:
    """How batches become a state: each is added to an accumulator, accumulators can be merged, and the last one becomes weights."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def compute(self, batch_values: Any, accumulator: Any = None) -> Any:
        """The accumulator with a further batch, or that of a first batch."""
        raise NotImplementedError(f"{type(self).__name__}.compute")

    def merge(self, accumulators: Any) -> Any:
        """One accumulator of several."""
        raise NotImplementedError(f"{type(self).__name__}.merge")

    def extract(self, accumulator: Any) -> dict[str, Any]:
        """The values of the state's variables, by their names."""
        raise NotImplementedError(f"{type(self).__name__}.extract")

    def restore(self, output: dict[str, Any]) -> Any:
        """The accumulator that gave these values."""
        raise NotImplementedError(f"{type(self).__name__}.restore")

    def serialize(self, accumulator: Any) -> bytes:
        """An accumulator as bytes, to be sent elsewhere."""
        raise NotImplementedError(f"{type(self).__name__}.serialize")

    def deserialize(self, encoded_accumulator: bytes) -> Any:
        """An accumulator from its bytes."""
        raise NotImplementedError(f"{type(self).__name__}.deserialize")


@internal(
    "keras.engine.base_preprocessing_layer.CombinerPreprocessingLayer",
    "keras.engine.base_preprocessing_layer_v1.CombinerPreprocessingLayer",
)
class CombinerPreprocessingLayer(PreprocessingLayer):
    """A layer whose state a Combiner computes. Subclasses add the variables of the state in `build`, by `_add_state_variable`."""

    def __init__(self, combiner: Combiner, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._combiner = combiner
        self._previously_updated = False
        self.state_variables: dict[str, Any] = collections.OrderedDict()

    def _add_state_variable(
        self,
        name: str,
        shape: Any,
        dtype: DTypeLike,
        initializer: Any = None,
        partitioner: Any = None,
        use_resource: bool | None = None,
        **kwargs: Any,
    ) -> Any:
        """A weight that adapting sets and training leaves alone."""
        weight = self.add_weight(
            name=name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            regularizer=None,
            trainable=False,
            constraint=None,
            partitioner=partitioner,
            use_resource=use_resource,
            **kwargs,
        )
        self.state_variables[name] = weight
        return weight

    def _restore_updates(self) -> dict[str, Any]:
        """The values of the state's variables as arrays."""
        return dict(zip(self.state_variables, tf.keras.backend.batch_get_value([*self.state_variables.values()])))

    def _set_state_variables(self, updates: dict[str, Any]) -> None:
        """Gives variables of the state values, by their names."""
        if not self.built:
            raise RuntimeError("_set_state_variables() must be called after build().")
        for name, value in updates.items():
            tf.keras.backend.set_value(self.state_variables[name], value)

    def _dataset_is_infinite(self, dataset: Any) -> bool:
        size: Any = tf.data.experimental.cardinality(dataset)
        return int(size if executing_eagerly() else get_session().run(size)) == tf.data.experimental.INFINITE_CARDINALITY

    def _get_dataset_iterator(self, dataset: Any) -> Iterator[Any]:
        """The elements: tensors where ops run at once, else arrays."""
        return iter(dataset) if executing_eagerly() else _read_by_session(dataset)

    def adapt(self, data: Any, reset_state: bool = True) -> None:
        """Takes the state from a dataset, or from an array as one batch; with `reset_state=False` in addition to what was seen before."""
        if isinstance(data, DatasetV2):
            if self._dataset_is_infinite(data):
                raise ValueError(
                    'The dataset passed to "adapt()" has an infinite number of elements. Please use dataset.take(...) to make the '
                    "number of elements finite."
                )
            batches = self._get_dataset_iterator(data)
        elif isinstance(data, np.ndarray):
            batches = iter([data])
        else:
            raise ValueError(f"adapt() requires a Dataset or a Numpy array as input, got {type(data)}")
        accumulator = None if reset_state else self._combiner.restore(self._restore_updates())
        for batch in batches:
            if not self.built:
                shape = getattr(batch, "shape", None)
                self.build(tuple(shape) if shape is not None else None)
                self.built = True
            accumulator = self._combiner.compute(batch, accumulator)
        self._set_state_variables(self._combiner.extract(accumulator))
        self._previously_updated = True


def _read_by_session(dataset: Any) -> Iterator[Any]:
    iterator = tf.compat.v1.data.make_initializable_iterator(dataset)
    following = iterator.get_next()
    session = get_session()
    session.run(iterator.initializer)
    while True:
        try:
            yield session.run(following)
        except tf.errors.OutOfRangeError:
            return
