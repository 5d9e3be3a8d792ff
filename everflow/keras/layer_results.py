"""What calls of layers leave behind beside their outputs: losses, updates and metrics."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow import nest
from everflow.distribute.strategy_context import has_strategy, in_cross_replica_context
from everflow.eager.context import executing_eagerly
from everflow.graph.convert import convert_to_tensor
from everflow.graph.graph import Graph
from everflow.graph.operation import Operation
from everflow.graph.scopes import is_eager_outside, name_scope
from everflow.graph.stacks import get_default_graph
from everflow.graph.tensor import Tensor
from everflow.keras.call_context import call_context, get_reachable_from_inputs
from everflow.keras.config import floatx


class LayerResults:
    """The part of Layer that keeps losses, updates and metrics."""

    name: str
    trainable: bool
    stateful: bool
    _losses: list[Any]
    _callable_losses: list[Any]
    _eager_losses: list[Any]
    _updates: list[Any]
    _metrics: list[Any]
    _inbound_nodes: list[Any]
    _activity_regularizer: Any
    _of_layers: Any

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Adds loss tensors (or functions that make them): of the given inputs, or of none."""
        for loss in nest.flatten(losses):
            if callable(loss):
                self._callable_losses.append(_marked_function(loss, is_unconditional=inputs is None))
                continue
            if loss is None:
                continue
            if not isinstance(loss, Tensor) and not hasattr(loss, "_as_graph_element"):
                loss = convert_to_tensor(loss, dtype=_float_type())
            _refuse_in_branch(loss, "add_loss")
            if executing_eagerly():
                loss._unconditional_loss = inputs is None
                self._eager_losses.append(loss)
            else:
                loss._unconditional_loss = inputs is None
                self._losses.append(loss)

    @property
    def losses(self) -> list[Any]:
        """The losses of this layer and of the layers in it; functions are called."""
        found = list(self._eager_losses or self._losses)
        for function in self._callable_losses:
            loss = function()
            if loss is not None:
                found.append(loss)
        return found + self._of_layers("losses")

    def get_losses_for(self, inputs: Any) -> list[Any]:
        """The losses that follow from the inputs; with None, those that depend on no inputs."""
        losses = self.losses
        if inputs is None:
            return [loss for loss in losses if loss._unconditional_loss]
        conditional = [loss for loss in losses if not loss._unconditional_loss]
        reachable = get_reachable_from_inputs(inputs, conditional)
        return [loss for loss in conditional if loss in reachable]

    def _clear_losses(self) -> None:
        self._eager_losses.clear()
        for layer in self.__dict__.get("_layers", ()):
            if hasattr(layer, "_clear_losses"):
                layer._clear_losses()

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Adds ops that a training step shall run (or functions that make them)."""
        context = call_context()
        if context.in_call and context.frozen:
            return
        if has_strategy() and in_cross_replica_context():
            # Replicas have updates; what speaks for all of them has none.
            return
        if executing_eagerly():
            for update in _as_list(updates):
                if callable(update):
                    update()
            return
        if context.in_call:
            relevant = context.inputs
        else:
            relevant = [node.input_tensors for node in self._inbound_nodes]
        if any(callable(update) for update in _as_list(updates)) and is_eager_outside() and _is_part_of_control_flow(get_default_graph()):
            raise RuntimeError(_IN_BRANCH.format("the method `add_update`", "add_update"))
        ops = [_as_update(update) for update in _as_list(updates)]
        reachable = get_reachable_from_inputs(relevant, ops)
        for op in ops:
            op._unconditional_update = op not in reachable
        self._updates.extend(ops)

    @property
    def updates(self) -> list[Any]:
        """The update ops of this layer and of the layers in it; none where it is not trained."""
        if not self.trainable and not self.stateful:
            return []
        return self._updates + self._of_layers("updates")

    def get_updates_for(self, inputs: Any) -> list[Any]:
        """The updates that follow from the inputs; with None, those that depend on no inputs."""
        updates = self.updates
        if inputs is None:
            return [u for u in updates if u._unconditional_update]
        conditional = [u for u in updates if not u._unconditional_update]
        reachable = get_reachable_from_inputs(inputs, conditional)
        return [u for u in conditional if u in reachable]

    @property
    def metrics(self) -> list[Any]:
        """The metrics of this layer and of the layers in it."""
        return self._metrics + self._of_layers("metrics")

    def add_metric(self, value: Any, aggregation: Any = None, name: str | None = None) -> None:
        """Adds a tensor to watch: the result of a metric object, or a value whose mean is taken."""
        made_by_metric = hasattr(value, "_metric_obj")
        check_added_metric(aggregation, name, made_by_metric)
        if made_by_metric:
            name = value._metric_obj.name
        if not made_by_metric:
            value = convert_to_tensor(value)
        _refuse_in_branch(value, "add_metric")
        metric = next((m for m in self._metrics if m.name == name), None)
        if made_by_metric:
            if metric is None:
                self._metrics.append(value._metric_obj)
            return
        if metric is None:
            metric = tf.keras.metrics.Mean(name=name)
            self._metrics.append(metric)
        metric(value)

    def _handle_activity_regularization(self, inputs: Any, outputs: Any) -> None:
        if self._activity_regularizer is None:
            return
        with name_scope("ActivityRegularizer"):
            for output in nest.flatten(outputs):
                penalty = self._activity_regularizer(output)
                _refuse_in_branch(penalty, "activity_regularizer")
                batch_size = tf.cast(tf.shape(output)[0], penalty.dtype)
                self.add_loss(penalty / batch_size, inputs=inputs)


def check_added_metric(aggregation: Any, name: str | None, made_by_metric: bool = False) -> None:
    """Raises where `add_metric` was told too little or what it can't do."""
    if aggregation is not None and aggregation != "mean":
        raise ValueError(f"We currently support only `mean` sample-wise metric aggregation. You provided aggregation=`{aggregation}`")
    if made_by_metric:
        return
    if name is None:
        raise ValueError(
            "Please provide a name for your metric like `self.add_metric(tf.reduce_sum(inputs), name='mean_activation', "
            "aggregation='mean')`"
        )
    if aggregation is None:
        raise ValueError("`aggregation` must be specified when passing a plain tensor to `add_metric`.")


_IN_BRANCH = (
    "You are using {} in a control flow branch in your layer. This is not currently supported. Please move your call to {} out of the "
    "control flow branch: let both branches compute a value, and use it after them. You can also resolve this by marking your layer as "
    "dynamic (eager-only) by passing `dynamic=True` to the layer constructor; it must then implement `compute_output_shape`."
)


def _is_part_of_control_flow(graph: Graph) -> bool:
    return getattr(graph, "branch", None) is not None or getattr(graph, "is_loop", False)


def _refuse_in_branch(tensor: Any, method: str) -> None:
    """Raises for what a branch or loop of a traced body would keep to itself."""
    if not isinstance(tensor, Tensor) or tensor.is_eager or not is_eager_outside() or not _is_part_of_control_flow(tensor.graph):
        return
    used = "a layer with `activity_regularizer`" if method == "activity_regularizer" else f"the method `{method}`"
    raise RuntimeError(_IN_BRANCH.format(used, "the layer" if method == "activity_regularizer" else method))


def _float_type() -> str:
    return floatx()


def _as_list(updates: Any) -> list[Any]:
    return list(updates) if isinstance(updates, (list, tuple)) else [updates]


def _marked_function(function: Any, is_unconditional: bool) -> Any:
    """The function, marking the losses it makes."""

    def made() -> Any:
        loss = function()
        if loss is None:
            return None
        if not isinstance(loss, Tensor) and not hasattr(loss, "_as_graph_element"):
            loss = convert_to_tensor(loss, dtype=_float_type())
        loss._unconditional_loss = is_unconditional
        return loss

    return made


def _as_update(update: Any) -> Any:
    """The op that makes an update."""
    if callable(update):
        return _as_update(update())
    if isinstance(update, Operation):
        return update
    if hasattr(update, "op"):
        return update.op
    return convert_to_tensor(update).op
