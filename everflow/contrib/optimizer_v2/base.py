"""tf.contrib.optimizer_v2.OptimizerV2."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.convert import convert_to_tensor
from everflow.graph.dtypes import DTypeLike
from everflow.graph.indexed_slices import IndexedSlices
from everflow.graph.keys import GraphKeys
from everflow.graph.scopes import colocate_with, control_dependencies, init_scope, name_scope
from everflow.graph.stacks import get_default_graph, in_eager_mode
from everflow.graph.tensor import Tensor
from everflow.train import optimizer as first
from everflow.train.optimizer import Optimizer, deduplicated, is_resource


class OptimizerState:
    """What an optimizer knows in one step: its slots, its other variables, and hyperparameters as tensors."""

    def __init__(self, optimizer: OptimizerV2) -> None:
        self._optimizer = optimizer
        self._hyper: dict[str, Any] = {}

    def _prepare(self) -> None:
        """Turns hyperparameters into tensors, by their names' order."""
        for name, value in sorted(self._optimizer._hyper.items()):
            value = value() if callable(value) and not hasattr(value, "dtype") else value
            self._hyper[name] = convert_to_tensor(value, name=name)

    def get_hyper(self, name: str, dtype: DTypeLike | None = None) -> Any:
        """A hyperparameter as a tensor."""
        return self._hyper[name] if dtype is None else tf.cast(self._hyper[name], dtype)

    def _op_name(self, given: str | None) -> str:
        return given or self._optimizer._name

    def zeros_slot(self, var: Any, slot_name: str, optional_op_name: str | None = None) -> Any:
        """A slot of zeros."""
        return self._optimizer._zeros_slot(var, slot_name, self._op_name(optional_op_name))

    def create_slot(self, var: Any, val: Any, slot_name: str, optional_op_name: str | None = None) -> Any:
        """A slot that starts with a tensor's value."""
        return self._optimizer._get_or_make_slot(var, val, slot_name, self._op_name(optional_op_name))

    def create_slot_with_initializer(
        self, var: Any, initializer: Any, shape: Any, dtype: DTypeLike, slot_name: str, optional_op_name: str | None = None
    ) -> Any:
        """A slot that starts with what an initializer makes."""
        return self._optimizer._get_or_make_slot_with_initializer(
            var, initializer, shape, dtype, slot_name, self._op_name(optional_op_name)
        )

    def get_slot(self, var: Any, name: str) -> Any:
        """The slot of a variable."""
        return self._optimizer.get_slot(var, name)

    def get_slot_names(self) -> list[str]:
        """The names of slots."""
        return self._optimizer.get_slot_names()

    def create_non_slot(self, initial_value: Any, name: str, colocate_with: Any = None) -> Any:
        """A variable that belongs to no other."""
        return self._optimizer._create_non_slot_variable(initial_value, name, colocate_with)

    def get_non_slot(self, name: str) -> Any:
        """A variable that belongs to no other, by its name."""
        return self._optimizer._get_non_slot_variable(name, None if in_eager_mode() else get_default_graph())


@public("contrib.optimizer_v2.OptimizerV2")
class OptimizerV2(Optimizer):
    """Base of the optimizers: a subclass says `_create_vars(var_list, state)` and how a variable changes, given the state."""

    def __init__(self, use_locking: bool, name: str) -> None:
        super().__init__(use_locking, name)
        if type(self)._create_slots is not OptimizerV2._create_slots:
            raise RuntimeError(
                f"Override _create_vars instead of _create_slots when descending from OptimizerV2 (class {type(self).__name__})"
            )
        self._hyper: dict[str, Any] = {}

    def _set_hyper(self, name: str, value: Any) -> None:
        """Sets a hyperparameter: a number, a tensor or a function."""
        self._hyper[name] = value

    def minimize(  # type: ignore[override]
        self,
        loss: Any,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: Any = None,
        name: str | None = None,
        grad_loss: Any = None,
        stop_gradients: Any = None,
        scale_loss_by_num_replicas: bool = False,
    ) -> Any:
        """The op that takes one step towards a smaller loss."""
        pairs = self.compute_gradients(
            loss, var_list, gate_gradients, aggregation_method, grad_loss, stop_gradients, scale_loss_by_num_replicas
        )
        if all(gradient is None for gradient, _ in pairs):
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that do not support gradients, "
                f"between variables {[str(v) for _, v in pairs]} and loss {loss}."
            )
        return self.apply_gradients(pairs, global_step=global_step, name=name)

    def compute_gradients(  # type: ignore[override]
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: Any = None,
        grad_loss: Any = None,
        stop_gradients: Any = None,
        scale_loss_by_num_replicas: bool = False,
    ) -> list[tuple[Any, Any]]:
        """Pairs of gradient and variable; gradients don't go through `stop_gradients`."""
        if scale_loss_by_num_replicas:
            replicas = tf.distribute.get_strategy().num_replicas_in_sync
            loss = (lambda given=loss: given() / replicas) if callable(loss) else loss / replicas
        if stop_gradients is None or callable(loss):
            return super().compute_gradients(loss, var_list, gate_gradients, aggregation_method, grad_loss=grad_loss)
        variables = tf.trainable_variables() if var_list is None else tf.nest.flatten(var_list)
        gradients = tf.gradients(
            loss,
            variables,
            grad_ys=grad_loss,
            gate_gradients=gate_gradients == self.GATE_OP,
            aggregation_method=aggregation_method,
            stop_gradients=stop_gradients,
        )
        return list(zip(tf.tuple(gradients) if gate_gradients == self.GATE_GRAPH else gradients, variables))

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """The op that updates the variables with their gradients, and then adds one to `global_step`."""
        pairs = [(first._as_gradient(gradient), var) for gradient, var in grads_and_vars]
        if not pairs:
            raise ValueError("No variables provided.")
        for _, var in pairs:
            first._check_optimizable(var)
        wanted = [(gradient, var) for gradient, var in pairs if gradient is not None]
        if not wanted:
            raise ValueError(f"No gradients provided for any variable: {[str(v) for _, v in pairs]}.")
        state = OptimizerState(self)
        for _, var in wanted:
            if isinstance(var, Tensor):
                raise NotImplementedError("Trying to update a Tensor ", var)
        with name_scope(name, self._name) as scope:
            state._prepare()
            with init_scope(), name_scope(None):
                self._create_vars([var for _, var in wanted], state)
            self._prepare(state)
            updates = []
            for gradient, var in wanted:
                with name_scope("update_" + first._scope_of(var)), colocate_with(var):
                    updates.append(self._changed(gradient, var, state))
            with control_dependencies([] if in_eager_mode() else updates):
                last = self._finish(state)
            done = [*updates, *([] if last is None else [last])]
            if global_step is None:
                step = tf.group(*done, name=scope)
            else:
                with control_dependencies([tf.group(*done, name="update")]), colocate_with(global_step):
                    step = first._incremented(global_step, scope)
        if in_eager_mode():
            return step
        step = step.op if isinstance(step, Tensor) else step
        train_ops = tf.get_collection_ref(GraphKeys.TRAIN_OP)
        if step not in train_ops:
            train_ops.append(step)
        return step

    def _changed(self, gradient: Any, var: Any, state: OptimizerState) -> Any:
        """The op that changes a variable by its gradient, and then by its constraint."""
        constraint = getattr(var, "constraint", None)
        if isinstance(gradient, IndexedSlices):
            if constraint is not None:
                raise RuntimeError("Cannot use a constraint function on a sparse variable.")
            if is_resource(var):
                return self._resource_apply_sparse_duplicate_indices(gradient.values, var, gradient.indices, state)
            return self._apply_sparse_duplicate_indices(gradient, var, state)
        update = self._resource_apply_dense(gradient, var, state) if is_resource(var) else self._apply_dense(gradient, var, state)
        if constraint is None:
            return update
        with control_dependencies([update]):
            return var.assign(constraint(var))

    # What subclasses define.

    def _create_slots(self, var_list: list[Any]) -> None:
        self._create_vars(var_list, OptimizerState(self))

    def _create_vars(self, var_list: list[Any], state: OptimizerState) -> None:
        """Makes slots and other variables; nothing by default."""

    def _prepare(self, state: OptimizerState) -> None:  # type: ignore[override]
        """Comes before the variables are updated; nothing by default."""

    def _apply_dense(self, grad: Any, var: Any, state: OptimizerState) -> Any:  # type: ignore[override]
        """The update of a variable held by reference."""
        raise NotImplementedError

    def _resource_apply_dense(self, grad: Any, handle: Any, state: OptimizerState) -> Any:  # type: ignore[override]
        """The update of a resource variable."""
        raise NotImplementedError

    def _apply_sparse(self, grad: Any, var: Any, state: OptimizerState) -> Any:  # type: ignore[override]
        """The update of some rows, all different, of a variable held by reference."""
        raise NotImplementedError

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any, state: OptimizerState) -> Any:  # type: ignore[override]
        """The update of some rows, all different, of a resource variable."""
        raise NotImplementedError

    def _apply_sparse_duplicate_indices(self, grad: Any, var: Any, state: OptimizerState) -> Any:  # type: ignore[override]
        """The update of some rows, where one may be named more than once."""
        values, indices = deduplicated(grad.values, grad.indices)
        return self._apply_sparse(IndexedSlices(values, indices, grad.dense_shape), var, state)

    def _resource_apply_sparse_duplicate_indices(  # type: ignore[override]
        self, grad: Any, handle: Any, indices: Any, state: OptimizerState
    ) -> Any:
        """The same for resource variables."""
        values, distinct = deduplicated(grad, indices)
        return self._resource_apply_sparse(values, handle, distinct, state)

    def _finish(self, state: OptimizerState) -> Any:  # type: ignore[override]
        """An op that comes after the updates, if any."""
        return None
