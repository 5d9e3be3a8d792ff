"""tf.keras.metrics.Metric: variables that batches add to, and the number that follows from them."""

from __future__ import annotations

import abc
import types
import weakref
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.eager.context import executing_eagerly
from everflow.graph import dtypes
from everflow.graph.scopes import control_dependencies
from everflow.keras import config
from everflow.keras.backend.session import batch_set_value
from everflow.keras.call_context import graph_of_symbolic
from everflow.keras.layer import Layer
from everflow.ops.variables.variables import VariableAggregation, VariableSynchronization


def _weakly(method: Any) -> Any:
    """A bound method as a function that does not keep its object alive."""
    owner, function = weakref.ref(method.__self__), method.__func__

    def call(*args: Any, **kwargs: Any) -> Any:
        return function(owner(), *args, **kwargs)

    call.__wrapped__ = function  # type: ignore[attr-defined]
    return call


def _updating(update_state: Any) -> Any:
    """`update_state` whose op is among the metric's updates."""

    def updated(metric: Any, *args: Any, **kwargs: Any) -> Any:
        with graph_of_symbolic(args, kwargs):
            op = update_state(*args, **kwargs)
            if op is not None and not executing_eagerly():
                metric.add_update(op)
            return op

    return updated


def _resulting(result: Any) -> Any:
    """`result` whose tensor leads back to the metric."""

    def found(metric: Any, *args: Any) -> Any:
        value = tf.identity(result(*args))
        metric._call_result = value
        return value

    return found


@public("keras.metrics.Metric")
@internal("keras.metrics.Metric")
class Metric(Layer, metaclass=abc.ABCMeta):
    """Base of metrics: `update_state` adds a batch, `result` is the number so far, `reset_states` starts again.

    class Largest(tf.keras.metrics.Metric):
        def __init__(self, name="largest"):
            super().__init__(name=name)
            self.value = self.add_weight("value", initializer="zeros")

        def update_state(self, y_true, y_pred, sample_weight=None):
            return self.value.assign(tf.maximum(self.value, tf.reduce_max(y_pred)))

        def result(self):
            return self.value
    """

    def __init__(self, name: str | None = None, dtype: dtypes.DTypeLike | None = None, **kwargs: Any) -> None:
        super().__init__(name=name, dtype=dtype, **kwargs)
        self.stateful = True
        self.built = True
        self._dtype = self._dtype_policy.variable_dtype or config.floatx()

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        metric = super().__new__(cls)
        # On the instance, around whatever a subclass defines.
        metric.__dict__["update_state"] = types.MethodType(_updating(_weakly(metric.update_state)), metric)
        metric.__dict__["result"] = types.MethodType(_resulting(_weakly(metric.result)), metric)
        return metric

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with graph_of_symbolic(args, kwargs):
            update = self.update_state(*args, **kwargs)
            with control_dependencies([] if update is None or executing_eagerly() else [update]):
                value = self.result()
            # Past the tensor's slots: `add_metric` finds the metric by it.
            value._metric_obj = self
            return value

    def reset_states(self) -> None:
        """Starts again: all variables become zero."""
        batch_set_value([(v, 0) for v in self.variables])

    @abc.abstractmethod
    def update_state(self, *args: Any, **kwargs: Any) -> Any:
        """Adds a batch."""
        raise NotImplementedError("Must be implemented in subclasses.")

    @abc.abstractmethod
    def result(self) -> Any:
        """The number so far."""
        raise NotImplementedError("Must be implemented in subclasses.")

    def add_weight(  # type: ignore[override]
        self,
        name: str,
        shape: Any = (),
        aggregation: Any = VariableAggregation.SUM,
        synchronization: Any = VariableSynchronization.ON_READ,
        initializer: Any = None,
        dtype: dtypes.DTypeLike | None = None,
    ) -> Any:
        """A variable of the metric."""
        return super().add_weight(
            name=name,
            shape=shape,
            dtype=self._dtype if dtype is None else dtype,
            trainable=False,
            initializer=initializer,
            collections=[],
            synchronization=synchronization,
            aggregation=aggregation,
        )

    def get_config(self) -> dict[str, Any]:
        return {"name": self.name, "dtype": self.dtype}


@internal("keras.metrics.clone_metric")
def clone_metric(metric: Any) -> Any:
    """A metric like another, that counts on its own."""
    return type(metric).from_config(metric.get_config()) if isinstance(metric, Metric) else metric


@internal("keras.metrics.clone_metrics")
def clone_metrics(metrics: Any) -> Any:
    """Metrics like others."""
    return [clone_metric(m) for m in metrics]
