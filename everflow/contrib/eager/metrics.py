"""tfe.metrics: objects that add up over calls, in eager programs and in graphs."""

from __future__ import annotations

import re
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.eager.functions import defun
from everflow.graph import dtypes
from everflow.graph.keys import GraphKeys
from everflow.train.tracking.autotracking import AutoTrackable


@internal("contrib.eager.python.metrics_impl.Metric")
@public("contrib.eager.metrics.Metric")
class Metric(AutoTrackable):
    """The base of metrics: `call` updates variables, `result` says what they come to."""

    def __init__(self, name: str | None = None, use_global_variables: bool = False) -> None:
        self._built = False
        self._vars: list[Any] = []
        self._initial_values: dict[Any, Any] = {}
        self._name = name or type(self).__name__
        self._use_global_variables = use_global_variables
        self._scope = re.sub("[^A-Za-z0-9.]", "_", self._name)
        # Where `build` is called by hand, variables of a graph have names of their own.
        self._prefix = ""
        if not tf.executing_eagerly():
            # One op of a graph does all that a call does, whichever of its results is asked for.
            self.call = defun(self.call)  # type: ignore[method-assign]

    @property
    def name(self) -> str:
        """The metric's name."""
        return self._name

    @property
    def variables(self) -> list[Any]:
        """The variables in which it adds up."""
        return self._vars

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Updates the metric; returns the arguments, in a graph as what is computed with the updates."""
        if not self._built:
            self._prefix = self._scope + "/"
            with tf.name_scope(self._scope if tf.executing_eagerly() else self._prefix):
                self.build(*args, **kwargs)
            self._built = True
        return self.call(*args, **kwargs)

    def build(self, *args: Any, **kwargs: Any) -> None:
        """Makes the variables, at the first call."""
        raise NotImplementedError("Metrics must define a build() member function")

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Updates the variables."""
        raise NotImplementedError("Metrics must define a call() member function")

    def result(self) -> Any:
        """What the metric comes to so far."""
        raise NotImplementedError("Metrics must define a result() member function")

    def value(self) -> Any:
        """The same as `result`."""
        return self.result()

    def aggregate(self, metrics: Any) -> Any:
        """Adds what other metrics of the same kind have added up; in a graph, the op that does so."""
        for m in metrics:
            if type(self) is not type(m):
                raise TypeError(f"All metrics must be the same type, '{type(self)}' != '{type(m)}'.")
        updates = []
        for i, v in enumerate(self._vars):
            if any(m._vars[i].name != v.name for m in metrics):
                raise ValueError("All metrics must have variables in the same order.")
            updates.append(v.assign_add(tf.add_n([tf.convert_to_tensor(m._vars[i], v.dtype.base_dtype) for m in metrics])))
        return None if tf.executing_eagerly() else tf.group(updates)

    def init_variables(self) -> Any:
        """Starts again; in a graph, the op that does so."""
        if not tf.executing_eagerly():
            return tf.group([v.initializer for v in self._vars])
        for v in self._vars:
            v.assign(self._initial_values[v])
        return None

    def add_variable(self, name: str, shape: Any = None, dtype: dtypes.DTypeLike | None = None, initializer: Any = None) -> Any:
        """Makes a variable; only `build` may do so."""
        if self._built:
            raise RuntimeError("Can't call add_variable() except in build().")
        for known in self._vars:
            if known.name in (f"{name}:0", f"{self._scope}/{name}:0"):
                return known
        key = GraphKeys.GLOBAL_VARIABLES if self._use_global_variables else GraphKeys.LOCAL_VARIABLES
        collections = None if tf.executing_eagerly() else [key, GraphKeys.METRIC_VARIABLES]
        v = tf.get_variable(
            name if tf.executing_eagerly() else f"{self._prefix}{name}",
            shape,
            dtype,
            initializer,
            trainable=False,
            collections=collections,
            use_resource=True,
        )
        if tf.executing_eagerly():
            v._handle_name = f"{self._scope}/{name}:0"
            self._initial_values[v] = v.value()
        self._vars.append(v)
        return v


@internal("contrib.eager.python.metrics_impl.Mean")
@public("contrib.eager.metrics.Mean")
class Mean(Metric):
    """The mean of all values, weighted."""

    def __init__(self, name: str | None = None, dtype: dtypes.DTypeLike = dtypes.float64, use_global_variables: bool = False) -> None:
        super().__init__(name, use_global_variables)
        self.dtype = dtype

    def build(self, *args: Any, **kwargs: Any) -> None:
        """The sum of the values and of the weights."""
        self.numer = self.add_variable("numer", (), self.dtype, tf.zeros_initializer())
        self.denom = self.add_variable("denom", (), self.dtype, tf.zeros_initializer())

    def call(self, values: Any, weights: Any = None) -> Any:
        """Adds values; returns what was added up."""
        if weights is None:
            self.denom.assign_add(tf.cast(tf.identity(tf.size(values)), self.dtype))
            values = tf.reduce_sum(values)
            self.numer.assign_add(tf.cast(values, self.dtype))
        else:
            weights = tf.cast(weights, self.dtype)
            self.denom.assign_add(tf.reduce_sum(weights))
            values = tf.cast(values, self.dtype) * weights
            self.numer.assign_add(tf.reduce_sum(values))
        return values if weights is None else (values, weights)

    def result(self, write_summary: bool = True) -> Any:
        """The mean; a summary of it is written where summaries are on."""
        found = self.numer / self.denom
        if write_summary:
            tf.contrib.summary.scalar(self.name, found)
        return found


class _Hits(Mean):
    """How often predictions are right."""

    def call(self, labels: Any, predictions: Any, weights: Any = None) -> Any:  # type: ignore[override]
        """Adds predictions."""
        self.check(labels, predictions)
        labels, predictions = self.compared(labels, predictions)
        super().call(tf.cast(tf.equal(labels, predictions), self.dtype), weights=weights)
        return (labels, predictions) if weights is None else (labels, predictions, weights)

    def check(self, labels: Any, predictions: Any) -> None:
        """Raises an error for labels and predictions that don't go together."""
        tf.debugging.assert_equal(tf.shape(labels), tf.shape(predictions), message="Shapes of labels and predictions are unequal")

    def compared(self, labels: Any, predictions: Any) -> tuple[Any, Any]:
        """What is equal where predictions are right."""
        return labels, predictions


@internal("contrib.eager.python.metrics_impl.Accuracy")
@public("contrib.eager.metrics.Accuracy")
class Accuracy(_Hits):
    """How often predictions equal labels."""

    def __init__(self, name: str | None = None, dtype: dtypes.DTypeLike = dtypes.float64) -> None:
        super().__init__(name, dtype)


@internal("contrib.eager.python.metrics_impl.CategoricalAccuracy")
@public("contrib.eager.metrics.CategoricalAccuracy")
class CategoricalAccuracy(_Hits):
    """How often the largest prediction is at the label, given as a one-hot vector."""

    def __init__(self, name: str | None = None, dtype: dtypes.DTypeLike = dtypes.float64) -> None:
        super().__init__(name, dtype)

    def compared(self, labels: Any, predictions: Any) -> tuple[Any, Any]:
        """The positions."""
        return tf.argmax(labels, axis=-1), tf.argmax(predictions, axis=-1)


@internal("contrib.eager.python.metrics_impl.BinaryAccuracy")
@public("contrib.eager.metrics.BinaryAccuracy")
class BinaryAccuracy(_Hits):
    """How often a prediction is on the label's side of a threshold."""

    def __init__(self, threshold: float, name: str | None = None, dtype: dtypes.DTypeLike = dtypes.float64) -> None:
        super().__init__(name, dtype)
        self.threshold = threshold

    def compared(self, labels: Any, predictions: Any) -> tuple[Any, Any]:
        """The sides."""
        return tf.cast(labels, tf.bool), tf.greater(predictions, self.threshold)


@internal("contrib.eager.python.metrics_impl.SparseAccuracy")
@public("contrib.eager.metrics.SparseAccuracy")
class SparseAccuracy(_Hits):
    """How often the largest prediction is at the label, given as a number."""

    def __init__(self, name: str | None = None, dtype: dtypes.DTypeLike = dtypes.float64) -> None:
        super().__init__(name, dtype)

    def check(self, labels: Any, predictions: Any) -> None:
        """There must be as many labels as predictions."""
        tf.debugging.assert_equal(tf.shape(labels)[0], tf.shape(predictions)[0], message="First axis of labels and predictions is unequal")

    def compared(self, labels: Any, predictions: Any) -> tuple[Any, Any]:
        """The label, and the position."""
        return tf.cast(labels, tf.int64), tf.argmax(predictions, axis=-1)
