"""tf.train.Optimizer: computes gradients and applies them. Subclasses say how one variable is updated."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.distribute.strategy_context import has_strategy
from everflow.eager.context import executing_eagerly
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.graph import Graph
from everflow.graph.indexed_slices import IndexedSlices, convert_to_tensor_or_indexed_slices
from everflow.graph.keys import GraphKeys
from everflow.graph.scopes import colocate_with, control_dependencies, init_scope, name_scope
from everflow.graph.stacks import get_default_graph
from everflow.graph.tensor import Tensor
from everflow.ops.core.registry import apply
from everflow.ops.variables.variables import Variable
from everflow.train import slots
from everflow.train.tracking.optimizer_state import TrackableOptimizer


def is_resource(var: Any) -> bool:
    """Whether a variable is reached by a handle rather than by reference."""
    return getattr(var, "handle", None) is not None


@internal("training.optimizer._var_key")
def variable_key(var: Any) -> Any:
    """What stands for a variable in an optimizer's tables."""
    var = getattr(var, "_mirrored_in", var)
    return (var.op.graph, var.op.name) if hasattr(var, "op") else var._unique_id


@internal("training.optimizer._deduplicate_indexed_slices")
def deduplicated(values: Any, indices: Any) -> tuple[Any, Any]:
    """Slices whose indices are distinct: rows with the same index are summed. Returns values and indices."""
    distinct, positions = apply("Unique", indices)
    return apply("UnsortedSegmentSum", values, positions, tf.shape(distinct)[0]), distinct


@internal("training.optimizer.get_filtered_grad_fn")
def get_filtered_grad_fn(grad_fn: Any) -> Any:
    """A function that makes pairs of gradient and variable, without those that have no gradient."""

    def filtered(*args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        return [(gradient, var) for gradient, var in grad_fn(*args, **kwargs) if gradient is not None]

    return filtered


@public("train.Optimizer")
class Optimizer(TrackableOptimizer):
    """Base of the optimizers. A subclass defines `_apply_dense` and `_apply_sparse` for variables held by reference,
    `_resource_apply_dense` and `_resource_apply_sparse` for resource variables; and, where it needs them,
    `_create_slots`, `_prepare` and `_finish`."""

    GATE_NONE = 0
    GATE_OP = 1
    GATE_GRAPH = 2

    def __init__(self, use_locking: bool, name: str) -> None:
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._use_locking = use_locking
        self._name = name
        # {slot name: {variable key: slot variable}}
        self._slots: dict[str, dict[Any, Any]] = {}
        # {(name, graph): variable} for state that belongs to no single variable.
        self._non_slot_dict: dict[Any, Any] = {}

    def get_name(self) -> str:
        """The name given at construction."""
        return self._name

    def minimize(
        self,
        loss: Any,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:
        """The op that takes one step towards a smaller loss."""
        pairs = self.compute_gradients(
            loss,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        if all(gradient is None for gradient, _ in pairs):
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that do not support gradients, "
                f"between variables {[str(v) for _, v in pairs]} and loss {loss}."
            )
        return self.apply_gradients(pairs, global_step=global_step, name=name)

    def compute_gradients(
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> list[tuple[Any, Any]]:
        """Pairs of gradient and variable; the gradient is None where the loss does not depend on the variable."""
        if callable(loss):
            return self._taped_gradients(loss, var_list, grad_loss)
        if executing_eagerly():
            raise RuntimeError("`loss` passed to Optimizer.compute_gradients should be a function when eager execution is enabled.")
        gates = {f"Optimizer.{gate}": getattr(Optimizer, gate) for gate in ("GATE_NONE", "GATE_OP", "GATE_GRAPH")}
        if gate_gradients not in gates.values():
            raise ValueError(f"gate_gradients must be one of: {', '.join(gates)}.  Not {gate_gradients}")
        self._assert_valid_dtypes([loss] if grad_loss is None else [loss, grad_loss])
        if var_list is None:
            var_list = tf.trainable_variables() + tf.get_collection(GraphKeys.TRAINABLE_RESOURCE_VARIABLES)
        else:
            var_list = tf.nest.flatten(var_list)
        var_list = [*var_list, *tf.get_collection(GraphKeys._STREAMING_MODEL_PORTS)]
        if not var_list:
            raise ValueError("No variables to optimize.")
        for var in var_list:
            _check_optimizable(var)
        if has_strategy():
            from everflow.train.distributed_updates import scaled_loss

            loss = scaled_loss(loss)
        gradients = tf.gradients(
            loss,
            var_list,
            grad_ys=grad_loss,
            gate_gradients=gate_gradients == Optimizer.GATE_OP,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
        )
        if gate_gradients == Optimizer.GATE_GRAPH:
            gradients = tf.tuple(gradients)
        pairs = list(zip(gradients, var_list))
        self._assert_valid_dtypes([v for g, v in pairs if g is not None and v.dtype != dtypes.resource])
        return pairs

    def _taped_gradients(self, loss: Any, var_list: Any, grad_loss: Any) -> list[tuple[Any, Any]]:
        """The gradients of a loss that is a function."""
        with tf.GradientTape() as tape:
            if var_list is not None:
                tape.watch(var_list)
            value = loss()
            if has_strategy():
                from everflow.train.distributed_updates import scaled_loss

                value = scaled_loss(value)
        if var_list is None:
            var_list = tape.watched_variables()
        return list(zip(tape.gradient(value, var_list, grad_loss), var_list))

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """The op that updates the variables with their gradients, and then adds one to `global_step`."""
        pairs = tuple(grads_and_vars)
        if not pairs:
            raise ValueError("No variables provided.")
        pairs = tuple((_as_gradient(gradient), var) for gradient, var in pairs)
        for _, var in pairs:
            _check_optimizable(var)
        wanted = [(gradient, var) for gradient, var in pairs if gradient is not None]
        if not wanted:
            raise ValueError(f"No gradients provided for any variable: {[str(v) for _, v in pairs]}.")
        if has_strategy():
            from everflow.train.distributed_updates import apply_merged

            return apply_merged(self, pairs, global_step, name)
        with init_scope():
            self._create_slots([var for _, var in wanted])
        with name_scope(name, self._name) as scope:
            self._prepare()
            updates = []
            for gradient, var in wanted:
                with name_scope("update_" + _scope_of(var)), colocate_with(var):
                    updates.append(self._update_variable(gradient, var))
            if global_step is None:
                step = self._finish(updates, scope)
            else:
                with control_dependencies([self._finish(updates, "update")]), colocate_with(global_step):
                    step = _incremented(global_step, scope)
        if executing_eagerly():
            return step
        if isinstance(step, Tensor):
            step = step.op
        train_ops = tf.get_collection_ref(GraphKeys.TRAIN_OP)
        if step not in train_ops:
            train_ops.append(step)
        return step

    def _distributed_apply(self, distribution: Any, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """The step of all replicas of a strategy together."""
        from everflow.train.distributed_updates import apply_for_all

        return apply_for_all(self, distribution, grads_and_vars, global_step, name)

    def _update_variable(self, gradient: Any, var: Any) -> Any:
        """The op that changes a variable by its gradient, and then by its constraint."""
        sparse = isinstance(gradient, IndexedSlices)
        constraint = getattr(var, "constraint", None)
        if isinstance(var, Tensor):
            raise NotImplementedError("Trying to update a Tensor ", var)
        if sparse and constraint is not None:
            raise RuntimeError("Cannot use a constraint function on a sparse variable.")
        if is_resource(var):
            if sparse:
                return self._resource_apply_sparse_duplicate_indices(gradient.values, var, gradient.indices)
            update = self._resource_apply_dense(gradient, var)
        elif sparse:
            return self._apply_sparse_duplicate_indices(gradient, var)
        else:
            update = self._apply_dense(gradient, var)
        if constraint is None:
            return update
        with control_dependencies([update]):
            return var.assign(constraint(var))

    def get_slot(self, var: Any, name: str) -> Any:
        """The slot of a variable, such as its momentum; None if it has none of that name."""
        return self._slots.get(name, {}).get(variable_key(var))

    def get_slot_names(self) -> list[str]:
        """The names of the slots that variables have."""
        return sorted(self._slots)

    def variables(self) -> list[Any]:
        """The optimizer's own state in the default graph, ordered by name."""
        found = [*self._non_slot_variables(), *(slot for table in self._slots.values() for slot in table.values())]
        if not executing_eagerly():
            graph = get_default_graph()
            found = [v for v in found if getattr(v, "_in_graph_mode", True) and v.op.graph is graph]
        return sorted(found, key=lambda v: v.name)

    # What subclasses define.

    def _create_slots(self, var_list: list[Any]) -> None:
        """Makes the slots of the variables; nothing by default."""

    def _prepare(self) -> None:
        """Turns hyperparameters into tensors before the variables are updated; nothing by default."""

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        """The update of a variable held by reference."""
        raise NotImplementedError

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        """The update of a resource variable."""
        raise NotImplementedError

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        """The update of some rows, all different, of a variable held by reference; `grad` is an IndexedSlices."""
        raise NotImplementedError

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        """The update of some rows, all different, of a resource variable."""
        raise NotImplementedError

    def _apply_sparse_duplicate_indices(self, grad: Any, var: Any) -> Any:
        """The update of some rows, where one may be named more than once: their gradients are summed first."""
        values, indices = deduplicated(grad.values, grad.indices)
        return self._apply_sparse(IndexedSlices(values, indices, grad.dense_shape), var)

    def _resource_apply_sparse_duplicate_indices(self, grad: Any, handle: Any, indices: Any) -> Any:
        """The same for resource variables."""
        values, distinct = deduplicated(grad, indices)
        return self._resource_apply_sparse(values, handle, distinct)

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        """One op for all updates."""
        return tf.group(*update_ops, name=name_scope)

    def _valid_dtypes(self) -> set[dtypes.DType]:
        """The dtypes of losses and variables that can be optimized."""
        return {dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64}

    # What subclasses use.

    def _assert_valid_dtypes(self, tensors: list[Any]) -> None:
        valid = self._valid_dtypes()
        for t in tensors:
            if t.dtype.base_dtype not in valid:
                raise ValueError(f"Invalid type {t.dtype.base_dtype!r} for {t.name}, expected: {list(valid)}.")

    def _call_if_callable(self, param: Any) -> Any:
        """A hyperparameter may be a function without arguments."""
        return param() if callable(param) else param

    def _slot_dict(self, slot_name: str) -> dict[Any, Any]:
        """The table of the slots of one name."""
        return self._slots.setdefault(slot_name, {})

    def _get_or_make_slot(self, var: Any, val: Any, slot_name: str, op_name: str) -> Any:
        """A slot that starts with a tensor's value."""
        return self._made_once(slot_name, var, lambda: slots.create_slot(var, val, op_name))

    def _get_or_make_slot_with_initializer(
        self, var: Any, initializer: Any, shape: Any, dtype: dtypes.DTypeLike, slot_name: str, op_name: str
    ) -> Any:
        """A slot that starts with what an initializer makes."""
        return self._made_once(slot_name, var, lambda: slots.create_slot_with_initializer(var, initializer, shape, dtype, op_name))

    def _zeros_slot(self, var: Any, slot_name: str, op_name: str) -> Any:
        """A slot that starts with zeros."""
        return self._made_once(slot_name, var, lambda: slots.create_zeros_slot(var, op_name))

    def _made_once(self, slot_name: str, var: Any, make: Any) -> Any:
        table, key = self._slot_dict(slot_name), variable_key(var)
        if key not in table:
            table[key] = made = make()
            self._restore_slot_variable(slot_name, var, made)
        return table[key]

    def _create_non_slot_variable(self, initial_value: Any, name: str, colocate_with: Any) -> Any:
        """State that belongs to no single variable, kept near the variable `colocate_with`."""
        key = (name, None if executing_eagerly() else colocate_with.graph)
        if key not in self._non_slot_dict:
            self._maybe_initialize_trackable()
            waiting = self._preload_simple_restoration(name=name, shape=None) if executing_eagerly() else None
            with tf.colocate_with(colocate_with):
                made = tf.Variable(
                    initial_value if waiting is None else waiting, name=name, trainable=False, use_resource=is_resource(colocate_with)
                )
            self._non_slot_dict[key] = made
            self._handle_deferred_dependencies(name=name, trackable=made)
        return self._non_slot_dict[key]

    def _get_non_slot_variable(self, name: str, graph: Graph | None = None) -> Any:
        """State that was made with `_create_non_slot_variable`; None if there is none of that name."""
        return self._non_slot_dict.get((name, graph))

    def _non_slot_variables(self) -> Any:
        """All state that belongs to no single variable."""
        return self._non_slot_dict.values()


def _as_gradient(gradient: Any) -> Any:
    if gradient is None:
        return None
    try:
        gradient = convert_to_tensor_or_indexed_slices(gradient)
    except TypeError:
        raise TypeError(f"Gradient must be convertible to a Tensor or IndexedSlices, or None: {gradient}") from None
    if not isinstance(gradient, (Tensor, IndexedSlices)):
        raise TypeError(f"Gradient must be a Tensor, IndexedSlices, or None: {gradient}")
    return gradient


def _check_optimizable(var: Any) -> None:
    if not isinstance(var, (Tensor, Variable)) and not is_resource(var):
        raise NotImplementedError("Trying to optimize unsupported type ", var)


def _scope_of(var: Any) -> str:
    """What an update's scope says of the variable: nothing where the variable is not part of a graph."""
    return var.op.name if getattr(var, "_in_graph_mode", True) and not executing_eagerly() else ""


def _incremented(global_step: Any, scope: str) -> Any:
    if is_resource(global_step):
        one = convert_to_tensor(1, dtype=global_step.dtype)
        return apply("AssignAddVariableOp", global_step.handle, one, name=scope)
    return tf.assign_add(global_step, 1, name=scope)
