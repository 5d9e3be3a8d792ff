"""replicate_model_fn: a model function on several devices of this machine, each with a part of the batch."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.distribute.replica_devices import RoundRobin
from everflow.estimator.arguments import parameters_of
from everflow.estimator.export_outputs import ClassificationOutput, PredictOutput, RegressionOutput
from everflow.estimator.mode_keys import ModeKeys
from everflow.estimator.spec import EstimatorSpec
from everflow.graph.devices import DeviceSpec
from everflow.graph.scopes import device, name_scope
from everflow.graph.sparse_tensor import SparseTensor
from everflow.losses.weighting import Reduction
from everflow.ops.variables.variable_scope import AUTO_REUSE, variable_scope
from everflow.platform import logging
from everflow.runtime.devices import list_local_devices
from everflow.train.optimizer import Optimizer

_MODULE = "contrib.estimator.python.estimator.replicate_model_fn"
_VARIABLE_OPS = ("Variable", "VariableV2", "VarHandleOp", "AutoReloadVariable", "MutableHashTable", "MutableDenseHashTable")


@internal(_MODULE + "._VariableDistributionMode")
class VariableDistributionMode:
    """Where variables are: all on one device, or taking turns."""

    SHARED_LOCAL_PARAMETER_SERVER = 1
    SHARED_ROUND_ROBIN = 2


@internal(_MODULE + "._get_local_devices")
def local_devices(device_type: str) -> list[str]:
    """The names of the devices of a type."""
    return [found.name for found in list_local_devices() if found.device_type == device_type]


@public("contrib.estimator.replicate_model_fn")
@internal(_MODULE + ".replicate_model_fn")
def replicate_model_fn(model_fn: Any, loss_reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS, devices: Any = None) -> Any:
    """A model function like the given one, which splits each batch among devices; its optimizers have to be TowerOptimizers."""
    return replicate_with_mode(model_fn, loss_reduction, devices, VariableDistributionMode.SHARED_LOCAL_PARAMETER_SERVER)


@internal(_MODULE + "._replicate_model_fn_with_mode")
def replicate_with_mode(
    model_fn: Any, loss_reduction: str, devices: Any = None, mode: int = VariableDistributionMode.SHARED_LOCAL_PARAMETER_SERVER
) -> Any:
    """The same, with variables on one device or on all in turn."""
    if loss_reduction == Reduction.NONE:
        raise ValueError(f"Tower losses need to be reduced in some way, yet {loss_reduction} reduction is specified.")
    devices = devices or local_devices("GPU") or local_devices("CPU")
    on_one_gpu = len(devices) == 1 and "GPU" in devices[0].upper()
    together = devices[0] if on_one_gpu else "/CPU:0"
    ps_devices = devices if mode == VariableDistributionMode.SHARED_ROUND_ROBIN else [together]
    logging.info("Replicating the `model_fn` across %s.  Variables are going to be placed on %s.", devices, ps_devices)

    def replicated(features: Any, labels: Any, mode: Any, params: Any = None, config: Any = None) -> Any:
        feature_parts, label_parts = split_batch(features, labels, len(devices), device=together)
        towers = loss_towers(model_fn, mode, feature_parts, label_parts, params, config, devices, ps_devices, loss_reduction)
        if mode == ModeKeys.TRAIN:
            train_op = _train_op_of(towers)
            TowerOptimizer._forget()
            return train_spec(towers, train_op, aggregation_device=together)
        TowerOptimizer._forget()
        if mode == ModeKeys.EVAL:
            return eval_spec(towers, aggregation_device=together)
        return predict_spec(towers, aggregation_device=together)

    return replicated


class _TowersOfGraph:
    """What the optimizers of towers have been called for so far, in one graph."""

    def __init__(self, count: int, loss_reduction: str) -> None:
        self.count, self.loss_reduction = count, loss_reduction
        self.tower = 0
        # Of each call that a tower makes: the gradients of all towers.
        self.calls: dict[int, list[Any]] = {}
        self.made: list[int] = [0] * count

    @property
    def is_last(self) -> bool:
        return self.tower == self.count - 1


@public("contrib.estimator.TowerOptimizer")
@internal(_MODULE + ".TowerOptimizer")
class TowerOptimizer(Optimizer):
    """Collects the gradients of all towers, and has another optimizer apply their sums."""

    COLLECTION_FOR_GRAPH_STATES = "replicate_model_fn_graph_states"

    def __init__(self, optimizer_or_optimizer_fn: Any) -> None:
        self._given = optimizer_or_optimizer_fn
        self._made: Any = None

    def _get_optimizer(self) -> Any:
        if self._made is None:
            self._made = self._given() if callable(self._given) else self._given
        return self._made

    @classmethod
    def _state(cls) -> Any:
        states = tf.get_collection(cls.COLLECTION_FOR_GRAPH_STATES)
        return states[0] if states else None

    @classmethod
    def _start(cls, count: int, loss_reduction: str) -> Any:
        cls._forget()
        state = _TowersOfGraph(count, loss_reduction)
        tf.add_to_collection(cls.COLLECTION_FOR_GRAPH_STATES, state)
        return state

    @classmethod
    def _forget(cls) -> None:
        del tf.get_default_graph().get_collection_ref(cls.COLLECTION_FOR_GRAPH_STATES)[:]

    @classmethod
    def has_been_used(cls) -> bool:
        """Whether a tower of this graph has called one."""
        state = cls._state()
        return state is not None and any(state.made)

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> Any:
        """The gradients of the tower's share of the loss."""
        state = self._state()
        if state is not None:
            loss = _scaled(loss, state.loss_reduction, state.count)
        return self._get_optimizer().compute_gradients(loss, *args, **kwargs)

    # As published: the name comes among the others.
    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, **kwargs: Any) -> Any:  # type: ignore[override]
        """Keeps the gradients; the last tower applies the sums of all."""
        state = self._state()
        if state is None or state.count == 1:
            if state is not None:
                state.made[state.tower] += 1
            return self._get_optimizer().apply_gradients(grads_and_vars, global_step=global_step, **kwargs)
        call = state.made[state.tower]
        state.made[state.tower] += 1
        state.calls.setdefault(call, []).append(list(grads_and_vars))
        if not state.is_last:
            # What the gradients depend on happens in every tower.
            with tf.control_dependencies([g for g in _tensors(grads_and_vars)]):
                return tf.no_op(name="train_op_placeholder")
        if len(state.calls[call]) != state.count:
            raise ValueError(_UNEQUAL)
        # The last tower only uses variables; slots are new there.
        with tf.variable_scope(tf.get_variable_scope(), reuse=tf.AUTO_REUSE, auxiliary_name_scope=False):
            return self._get_optimizer().apply_gradients(_summed(state.calls[call]), global_step=global_step, **kwargs)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """The slot of the other optimizer."""
        return self._get_optimizer().get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        """The slots of the other optimizer."""
        return self._get_optimizer().get_slot_names(*args, **kwargs)

    def get_name(self, *args: Any, **kwargs: Any) -> Any:
        """The name of the other optimizer."""
        return self._get_optimizer().get_name(*args, **kwargs)

    def variables(self, *args: Any, **kwargs: Any) -> Any:
        """The variables of the other optimizer."""
        return self._get_optimizer().variables(*args, **kwargs)


_UNEQUAL = "Towers had different optimizer calls: each tower was supposed to make the same optimizer calls."


def _tensors(grads_and_vars: Any) -> list[Any]:
    found = [g for g, _ in grads_and_vars if g is not None]
    return [g.values if isinstance(g, tf.IndexedSlices) else g for g in found]


def _summed(towers: list[Any]) -> list[Any]:
    """The sum of the gradients of each variable over all towers."""
    by_variable: dict[int, tuple[Any, list[Any]]] = {}
    for grads_and_vars in towers:
        for gradient, variable in grads_and_vars:
            held = by_variable.setdefault(id(variable), (variable, []))[1]
            if gradient is not None:
                held.append(gradient)
    return [
        (compute_sum_on_device(gradients, variable.device) if gradients else None, variable) for variable, gradients in by_variable.values()
    ]


def _scaled(loss: Any, loss_reduction: str, count: int) -> Any:
    """The share of a tower in a loss that is a mean."""
    if count == 1 or loss is None or loss_reduction == Reduction.SUM:
        return loss
    return tf.divide(loss, float(count), name="averaged_loss")


@internal(_MODULE + "._split_batch")
def split_batch(features: Any, labels: Any, number_of_shards: int, device: Any) -> tuple[list[Any], list[Any]]:
    """The features and labels of each tower."""

    def parts_of(value: Any) -> list[Any]:
        if isinstance(value, dict):
            split = {key: parts_of(part) for key, part in value.items()}
            return [{key: parts[i] for key, parts in split.items()} for i in range(number_of_shards)]
        if isinstance(value, SparseTensor):
            return tf.sparse_split(sp_input=value, num_split=number_of_shards, axis=0)
        value = tf.convert_to_tensor(value)
        size = tf.dimension_value(value.shape[0]) if value.shape.ndims else None
        if size is not None and size % number_of_shards:
            raise ValueError(f"Batch size {size} needs to be divisible by the number of GPUs, which is {number_of_shards}.")
        return tf.split(value, number_of_shards)

    with name_scope("split_inputs"), tf.device(device):
        found = parts_of(features)
        return found, [None] * number_of_shards if labels is None else parts_of(labels)


@internal(_MODULE + "._get_loss_towers")
def loss_towers(
    model_fn: Any,
    mode: Any,
    features: Any,
    labels: Any,
    params: Any,
    config: Any,
    devices: Any,
    local_ps_devices: Any,
    loss_reduction: str,
    name_scope_pattern: str = "tower_{}",
) -> list[Any]:
    """The specs of all towers, which share their variables."""
    state = TowerOptimizer._start(len(devices), loss_reduction)
    taken = parameters_of(model_fn)
    given = {name: value for name, value in (("params", params), ("config", config)) if name in taken}
    strategy = RoundRobin(num_tasks=len(local_ps_devices))
    specs = []
    for i, worker in enumerate(devices):
        state.tower = i
        first = i == 0
        setter = local_device_setter(worker, local_ps_devices, strategy)
        with _scope_of_tower(name_scope_pattern.format(i), first), device(setter):
            labels_of_tower = {"labels": labels[i]} if "labels" in taken else {}
            spec = model_fn(mode=mode, features=features[i], **labels_of_tower, **given)
            if mode == ModeKeys.TRAIN and len(devices) > 1 and not state.made[i]:
                raise ValueError(
                    "Please wrap optimizers with TowerOptimizer in order to use replicate_model_fn with multiple `devices`."
                    if first
                    else _UNEQUAL
                )
            if spec.loss is not None:
                spec = spec._replace(loss=_scaled(spec.loss, loss_reduction, len(devices)))
            specs.append(spec)
    if mode == ModeKeys.TRAIN and len(set(state.made)) > 1:
        raise ValueError(_UNEQUAL)
    return specs


@contextlib.contextmanager
def _scope_of_tower(name: str, is_first: bool) -> Iterator[None]:
    """The first tower makes the variables, without a scope; others use them, in a scope of their own."""
    with variable_scope("", reuse=tf.get_variable_scope().reuse or (AUTO_REUSE if is_first else True)):
        if is_first:
            yield
        else:
            with name_scope(name):
                yield


@internal(_MODULE + "._local_device_setter")
def local_device_setter(worker_device: Any, ps_devices: Any, ps_strategy: Any) -> Any:
    """A device function: variables go to the servers' devices, all else to the worker's."""

    def choose(op: Any) -> Any:
        kind = op.type if hasattr(op, "type") else op.op
        place = ps_devices[ps_strategy(op)] if kind in _VARIABLE_OPS else worker_device
        chosen = DeviceSpec.from_string(place or "")
        chosen.merge_from(DeviceSpec.from_string(op.device or ""))
        return chosen.to_string()

    return choose


@internal(_MODULE + "._compute_sum_on_device")
def compute_sum_on_device(values: list[Any], device: Any, name: str | None = None) -> Any:
    """The sum of tensors or slices."""
    with tf.device(device):
        if all(isinstance(value, tf.IndexedSlices) for value in values):
            if name:
                raise ValueError(f"The name {name} is not expected to be given to IndexedSlices {values}")
            indices = tf.concat([value.indices for value in values], axis=0)
            held = tf.concat([value.values for value in values], axis=0)
            return tf.IndexedSlices(held, indices, values[0].dense_shape)
        return tf.add_n(values, name=name)


def _train_op_of(towers: list[Any]) -> Any:
    return tf.group(*(spec.train_op for spec in towers))


def _hooks(towers: list[Any], kind: str) -> list[Any]:
    return [hook for spec in towers for hook in getattr(spec, kind) or ()]


@internal(_MODULE + "._train_spec")
def train_spec(tower_specs: list[Any], train_op: Any, aggregation_device: Any, aggregated_loss_name: str = "loss") -> Any:
    """The last tower's spec, as its optimizer made the updates, with the loss of all and the op that trains."""
    loss = compute_sum_on_device([spec.loss for spec in tower_specs], aggregation_device, aggregated_loss_name)
    return EstimatorSpec(**{**_fields(tower_specs[-1]), "mode": ModeKeys.TRAIN, "train_op": train_op, "loss": loss})


def _fields(spec: Any) -> dict[str, Any]:
    return {name: getattr(spec, name) for name in EstimatorSpec._fields}


@internal(_MODULE + "._eval_spec")
def eval_spec(tower_specs: list[Any], aggregation_device: Any, aggregated_loss_name: str = "loss") -> Any:
    """The first tower's spec, with the loss of all and metrics that count what all count."""
    loss = compute_sum_on_device([spec.loss for spec in tower_specs], aggregation_device, aggregated_loss_name)
    updates = [update for spec in tower_specs for _, update in spec.eval_metric_ops.values()]
    with tf.control_dependencies(updates):
        reduced = reduce_metric_variables(number_of_towers=len(tower_specs))
    metrics = {name: (value, reduced) for name, (value, _) in tower_specs[0].eval_metric_ops.items()}
    fields = {**_fields(tower_specs[0]), "mode": ModeKeys.EVAL, "loss": loss, "eval_metric_ops": metrics}
    return EstimatorSpec(**fields)


@internal(_MODULE + "._reduce_metric_variables")
def reduce_metric_variables(number_of_towers: int) -> Any:
    """Adds what metrics of other towers have counted to those of the first, and sets them to zero."""
    if number_of_towers == 1:
        return tf.no_op()
    variables = tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)
    per_tower = len(variables) // number_of_towers
    if len(variables) % number_of_towers:
        raise ValueError(
            "Different `EstimatorSpec.eval_metric_ops` across `model_fn()` calls: Expected "
            f"{per_tower * number_of_towers} local variables, but got {len(variables)} instead."
        )
    sums = []
    for i, variable in enumerate(variables[:per_tower]):
        others = [variables[i + tower * per_tower] for tower in range(1, number_of_towers)]
        sums.append(tf.assign_add(variable, tf.add_n([tf.convert_to_tensor(v) for v in others])))
    with tf.control_dependencies(sums):
        return tf.group(*(tf.assign(v, tf.zeros_like(v)) for v in variables[per_tower:]))


@internal(_MODULE + "._predict_spec")
def predict_spec(tower_specs: list[Any], aggregation_device: Any) -> Any:
    """The first tower's spec, with the predictions of all."""
    with tf.device(aggregation_device):
        predictions = concat_tensor_dicts(*(spec.predictions for spec in tower_specs))
        exports = {key: _merged([spec.export_outputs[key] for spec in tower_specs]) for key in tower_specs[0].export_outputs or {}}
    fields = {**_fields(tower_specs[0]), "mode": ModeKeys.PREDICT, "predictions": predictions, "export_outputs": exports or None}
    return EstimatorSpec(**fields)


def _merged(outputs: list[Any]) -> Any:
    """The outputs of all towers as one."""

    def joined(name: str, how: Any) -> Any:
        parts = [getattr(output, name) for output in outputs]
        return None if parts[0] is None else how(parts, axis=0)

    if isinstance(outputs[0], ClassificationOutput):
        return ClassificationOutput(scores=joined("scores", tf.concat), classes=joined("classes", tf.stack))
    if isinstance(outputs[0], RegressionOutput):
        return RegressionOutput(value=joined("value", tf.concat))
    return PredictOutput(concat_tensor_dicts(*(output.outputs for output in outputs)))


@internal(_MODULE + "._concat_tensor_dicts")
def concat_tensor_dicts(*tensor_dicts: Any) -> dict[Any, Any]:
    """What the dicts hold by each key, one after the other."""

    def joined(key: Any) -> Any:
        parts = [found[key] for found in tensor_dicts if key in found]
        if isinstance(parts[0], SparseTensor):
            return tf.sparse_concat(axis=0, sp_inputs=parts)
        return tf.concat(parts, axis=0, name=key)

    return {key: joined(key) for key in {key: None for found in tensor_dicts for key in found}}
