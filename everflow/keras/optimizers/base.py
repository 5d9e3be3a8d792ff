"""tf.keras.optimizers.Optimizer: hyperparameters that can change between steps, slots beside variables, one counter of steps."""

from __future__ import annotations

import inspect
from typing import Any

import everflow as tf
from everflow import api, nest
from everflow.api import internal, public
from everflow.distribute.strategy_context import get_replica_context, has_strategy
from everflow.distribute.values import Mirrored
from everflow.eager.context import executing_eagerly
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.indexed_slices import IndexedSlices
from everflow.graph.scopes import control_dependencies, init_scope, name_scope
from everflow.graph.tensor import Tensor
from everflow.graph.trackable import Trackable
from everflow.keras import initializers
from everflow.keras.backend.session import batch_get_value, batch_set_value, get_value, set_value, track_variable
from everflow.keras.layer_variables import make_variable
from everflow.keras.serialization import deserialize_keras_object, serialize_keras_object
from everflow.ops.core.registry import apply
from everflow.ops.variables.variables import Variable, VariableAggregation, VariableSynchronization
from everflow.train import schedules
from everflow.train.optimizer import deduplicated
from everflow.train.schedules import LearningRateSchedule
from everflow.train.tracking.positions import CheckpointInitialValue

_OWN = ("clipnorm", "clipvalue", "lr", "decay")


def key_of(var: Any) -> Any:
    """What tells the variables of an optimizer apart."""
    var = getattr(var, "_mirrored_in", var)
    return var._shared_name if getattr(var, "_in_graph_mode", False) or not hasattr(var, "_unique_id") else var._unique_id


def has_momentum(momentum: Any) -> bool:
    """Whether there is any momentum; a plain number of it can't be more than one."""
    if isinstance(momentum, (int, float)) and not 0 <= momentum <= 1:
        raise ValueError("`momentum` must be between [0, 1].")
    return isinstance(momentum, Tensor) or callable(momentum) or momentum > 0


@public("keras.optimizers.Optimizer")
@internal("keras.optimizer_v2.optimizer_v2.OptimizerV2")
class OptimizerV2(Trackable):
    """Base of the optimizers: a subclass makes slots and says how one variable changes.

    class Plain(tf.keras.optimizers.Optimizer):
        def _resource_apply_dense(self, grad, var):
            return var.assign_sub(0.1 * grad)
    """

    # What a class writes into its config: hyperparameters and attributes, in this order.
    _in_config: tuple[str, ...] = ()

    def __init__(self, name: str, **kwargs: Any) -> None:
        self.__dict__.update(
            _hyper={},
            _slots={},
            _slot_names=[],
            _weights=[],
            _iterations=None,
            _hypers_created=False,
            _deferred_slots={},
            _use_locking=True,
        )
        for key, value in kwargs.items():
            if key not in _OWN:
                raise TypeError(f"Unexpected keyword argument passed to optimizer: {key}")
            if value < 0:
                raise ValueError(f"Expected {key} >= 0, received: {value}")
        self._name = name
        self._initial_decay = kwargs.pop("decay", 0.0)
        if "clipnorm" in kwargs:
            self.clipnorm = kwargs["clipnorm"]
        if "clipvalue" in kwargs:
            self.clipvalue = kwargs["clipvalue"]

    # Hyperparameters

    def _set_hyper(self, name: str, value: Any) -> None:
        """Sets a hyperparameter: a number, a tensor, a function without arguments or a schedule."""
        before = self._hyper.get(name)
        if (
            before is None
            or callable(before)
            or isinstance(before, (Tensor, int, float, LearningRateSchedule))
            or callable(value)
            or isinstance(value, (Tensor, LearningRateSchedule))
        ):
            self._hyper[name] = value
        else:
            set_value(before, value)

    def _set_hypers(self, kwargs: dict[str, Any], learning_rate: Any, **others: Any) -> None:
        """Sets those that a constructor was given: the learning rate, also as `lr` in its `kwargs`, its decay, and others."""
        given = {"learning_rate": kwargs.get("lr", learning_rate), "decay": self._initial_decay, **others}
        for name, value in given.items():
            self._set_hyper(name, value)

    def _get_hyper(self, name: str, dtype: dtypes.DTypeLike | None = None) -> Any:
        """A hyperparameter as a variable or tensor, or the schedule it is."""
        if not self._hypers_created:
            self._create_hypers()
        value = self._hyper[name]
        if isinstance(value, LearningRateSchedule):
            return value
        if callable(value):
            value = value()
        return value if dtype is None else tf.cast(value, dtype)

    def __getattr__(self, name: str) -> Any:
        if name == "lr":
            name = "learning_rate"
        if name in self.__dict__.get("_hyper", ()):
            return self._get_hyper(name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "lr":
            name = "learning_rate"
        if name in self.__dict__.get("_hyper", ()):
            self._set_hyper(name, value)
        else:
            object.__setattr__(self, name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._hyper, *(["lr"] if "learning_rate" in self._hyper else [])})

    def _create_hypers(self) -> None:
        if self._hypers_created:
            return
        for name in sorted(self._hyper):
            value = self._hyper[name]
            if not callable(value) and not isinstance(value, (Tensor, Variable, LearningRateSchedule)):
                self._hyper[name] = self._counter(name, initializer=value)
        self._hypers_created = True

    def _counter(self, name: str, **settings: Any) -> Any:
        """A number that steps don't train, the same on all replicas."""
        return self.add_weight(name, shape=[], trainable=False, aggregation=VariableAggregation.ONLY_FIRST_REPLICA, **settings)

    @property
    def iterations(self) -> Any:
        """How many steps were taken."""
        if self._iterations is None:
            self._iterations = self._counter("iter", dtype=dtypes.int64)
            self._weights.append(self._iterations)
        return self._iterations

    @iterations.setter
    def iterations(self, variable: Any) -> None:
        if self._iterations is not None:
            raise RuntimeError("Cannot set `iterations` to a new Variable after the Optimizer weights have been created")
        self._iterations = variable
        if isinstance(variable, Trackable):
            self._track_trackable(variable, name="iter", overwrite=True)
        self._weights.append(variable)

    def _decayed_lr(self, var_dtype: Any) -> Any:
        """The learning rate of this step."""
        rate = self._get_hyper("learning_rate", var_dtype)
        if isinstance(rate, LearningRateSchedule):
            rate = tf.cast(rate(tf.cast(self.iterations, var_dtype)), var_dtype)
        if self._initial_decay > 0.0:
            step = tf.cast(self.iterations, var_dtype)
            rate = rate / (1.0 + self._get_hyper("decay", var_dtype) * step)
        return rate

    # Gradients

    def minimize(self, loss: Any, var_list: Any, grad_loss: Any = None, name: str | None = None) -> Any:
        """Takes one step towards a smaller value of the function `loss`."""
        return self.apply_gradients(self._compute_gradients(loss, var_list=var_list, grad_loss=grad_loss), name=name)

    def _compute_gradients(self, loss: Any, var_list: Any, grad_loss: Any = None) -> list[tuple[Any, Any]]:
        with tf.GradientTape() as tape:
            if not callable(var_list):
                tape.watch(var_list)
            value = loss()
        variables = nest.flatten(var_list() if callable(var_list) else var_list)
        with name_scope(self._name + "/gradients"):
            gradients = self._clipped(tape.gradient(value, variables, grad_loss))
        pairs = list(zip(gradients, variables))
        self._assert_valid_dtypes([v for g, v in pairs if g is not None and v.dtype != dtypes.resource])
        return pairs

    def _clipped(self, gradients: Any) -> list[Any]:
        if hasattr(self, "clipnorm"):
            gradients = [None if g is None else tf.clip_by_norm(g, self.clipnorm) for g in gradients]
        if hasattr(self, "clipvalue"):
            gradients = [None if g is None else tf.clip_by_value(g, -self.clipvalue, self.clipvalue) for g in gradients]
        return list(gradients)

    def get_gradients(self, loss: Any, params: Any) -> list[Any]:
        """The gradients of a loss tensor, clipped where the optimizer clips."""
        params = nest.flatten(params)
        with name_scope(self._name + "/gradients"):
            gradients = tf.gradients(loss, params)
            for gradient, param in zip(gradients, params):
                if gradient is None:
                    raise ValueError(
                        f"Variable {param} has `None` for gradient. Please make sure that all of your ops have a gradient defined (i.e. "
                        "are differentiable). Common ops without gradient: K.argmax, K.round, K.eval."
                    )
            return self._clipped(gradients)

    def get_updates(self, loss: Any, params: Any) -> list[Any]:
        """The ops of one step."""
        pairs = list(zip(self.get_gradients(loss, params), params))
        self._assert_valid_dtypes([v for g, v in pairs if g is not None and v.dtype != dtypes.resource])
        return [self.apply_gradients(pairs)]

    def apply_gradients(self, grads_and_vars: Any, name: str | None = None) -> Any:
        """Changes each variable by its gradient, then counts the step."""
        pairs = _with_gradient(list(grads_and_vars))
        variables = [v for _, v in pairs]
        strategy = None if has_strategy() else next((v._distribute_strategy for v in variables if hasattr(v, "devices")), None)
        if strategy is not None:
            # All copies of the variables take the same step.
            with strategy.scope():
                self._create_all(variables)
                return self._distributed_apply(strategy, pairs, name)
        with name_scope(self._name):
            self._create_all(variables)
            context = get_replica_context()
            if has_strategy() and context is not None:
                return context.merge_call(self._distributed_apply, args=(pairs,), kwargs={"name": name})
            state = self._prepare(variables)
            with name_scope(name or self._name) as scope:
                return self._counted([self._apply(g, v, state) for g, v in pairs], scope)

    def _create_all(self, variables: list[Any]) -> None:
        """Makes what the optimizer keeps from step to step."""
        with init_scope():
            self.iterations  # noqa: B018 (makes the variable)
            self._create_hypers()
            self._create_slots(variables)

    def _distributed_apply(self, distribution: Any, grads_and_vars: Any, name: str | None = None) -> Any:
        """The step of all replicas of a strategy together: their gradients are added up."""
        extended = distribution.extended
        pairs = list(grads_and_vars)
        reduced = extended.batch_reduce_to("SUM", [(g, v) for g, v in pairs])
        pairs = [(g, v) for g, (_, v) in zip(reduced, pairs)]
        copies = [copy for _, var in pairs for copy in distribution.experimental_local_results(var)]
        state = self._prepare(copies)
        with name_scope(name or self._name) as scope:
            done = [extended.update(var, lambda copy, g: self._apply(g, copy, state), args=(g,), group=False) for g, var in pairs]
            return self._counted(nest.flatten(done), scope)

    def _counted(self, updates: list[Any], scope: str) -> Any:
        """Counts the step after its updates."""
        if executing_eagerly():
            self.iterations.assign_add(1)
            return self.iterations
        with control_dependencies([u for u in updates if u is not None]):
            counted = self.iterations.assign_add(1)
            if isinstance(counted, Mirrored):
                return tf.group(*(copy.op for copy in counted.values), name=scope)
            return counted.op if hasattr(counted, "op") else tf.no_op(name=scope)

    def _apply(self, gradient: Any, var: Any, state: Any) -> Any:
        with name_scope("update_" + var.name.partition(":")[0].replace("/", "_") if not executing_eagerly() else "update"):
            if isinstance(gradient, IndexedSlices):
                if var.constraint is not None:
                    raise RuntimeError("Cannot use a constraint function on a sparse variable.")
                update = self._with_state(self._resource_apply_sparse_duplicate_indices, state)
                return update(gradient.values, var, gradient.indices)
            if isinstance(var, Tensor):
                raise NotImplementedError("Trying to update a Tensor ", var)
            done = self._with_state(self._resource_apply_dense, state)(gradient, var)
            if var.constraint is None:
                return done
            with control_dependencies([done] if done is not None else []):
                return var.assign(var.constraint(var))

    def _with_state(self, method: Any, state: Any) -> Any:
        """The method, given the step's numbers where it wants them."""
        if "apply_state" not in inspect.signature(method).parameters:
            return method
        return lambda *args: method(*args, apply_state=state)

    def _prepare(self, var_list: Any) -> dict[Any, Any]:
        """The numbers of this step, by device and type."""
        state: dict[Any, Any] = {}
        for var in var_list:
            place = (var.device, var.dtype.base_dtype)
            if place not in state:
                state[place] = {}
                self._prepare_local(*place, state)
        return state

    def _prepare_local(self, var_device: Any, var_dtype: Any, apply_state: Any) -> None:
        if "learning_rate" in self._hyper:
            rate = tf.identity(self._decayed_lr(var_dtype))
            apply_state[(var_device, var_dtype)]["lr_t"] = rate

    def _numbers(self, var: Any, state: Any) -> dict[str, Any]:
        """The numbers of this step for a variable."""
        place = (var.device, var.dtype.base_dtype)
        if not state or place not in state:
            state = {place: {}}
            self._prepare_local(*place, state)
        return state[place]

    def _fallback_apply_state(self, var_device: Any, var_dtype: Any) -> dict[str, Any]:
        state: dict[Any, Any] = {(var_device, var_dtype): {}}
        self._prepare_local(var_device, var_dtype, state)
        return state[(var_device, var_dtype)]

    # What subclasses define

    def _create_slots(self, var_list: Any) -> None:
        """Makes the slots of variables."""

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        """Changes a variable by its gradient."""
        raise NotImplementedError

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        """Changes rows of a variable, each named once."""
        raise NotImplementedError

    def _resource_apply_sparse_duplicate_indices(self, grad: Any, handle: Any, indices: Any, apply_state: Any = None) -> Any:
        """Changes rows of a variable; gradients of one row are added first."""
        values, rows = deduplicated(grad, indices)
        return self._with_state(self._resource_apply_sparse, apply_state)(values, handle, rows)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an optimizer like this one."""
        names = [name for name in ("clipnorm", "clipvalue") if hasattr(self, name)]
        return {"name": self._name, **{name: self._written(name) for name in (*names, *self._in_config)}}

    def _written(self, name: str) -> Any:
        if name in self._hyper:
            return self._serialize_hyperparameter(name)
        return getattr(self, name if name in self.__dict__ else f"_{name}")

    @classmethod
    def from_config(cls, config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
        """An optimizer with these arguments."""
        config = dict(config)
        if "lr" in config:
            config["learning_rate"] = config.pop("lr")
        if isinstance(config.get("learning_rate"), dict):
            config["learning_rate"] = deserialize_schedule(config["learning_rate"], custom_objects=custom_objects)
        return cls(**config)

    def _serialize_hyperparameter(self, hyperparameter_name: str) -> Any:
        value = self._hyper[hyperparameter_name]
        if isinstance(value, LearningRateSchedule):
            return serialize_schedule(value)
        if callable(value):
            return value()
        return get_value(value) if isinstance(value, (Tensor, Variable)) else value

    # Variables

    def add_slot(self, var: Any, slot_name: str, initializer: Any = "zeros") -> Any:
        """The slot of a variable, made where it is missing."""
        if slot_name not in self._slot_names:
            self._slot_names.append(slot_name)
        slots = self._slots.setdefault(key_of(var), {})
        if slot_name in slots:
            return slots[slot_name]
        dtype = var.dtype.base_dtype
        if isinstance(initializer, str) or callable(initializer):
            make = initializers.get(initializer)
            initializer = lambda: make(var.shape, dtype=dtype)
        name = f"{var._shared_name}/{slot_name}"
        slots[slot_name] = slot = tf.Variable(initializer, name=name, dtype=dtype, trainable=False, use_resource=True)
        track_variable(slot)
        self._restore_slot_variable(slot_name=slot_name, variable=var, slot_variable=slot)
        self._weights.append(slot)
        return slot

    def get_slot(self, var: Any, slot_name: str) -> Any:
        """The slot of a variable."""
        return self._slots[key_of(var)][slot_name]

    def get_slot_names(self) -> list[str]:
        """The names of the slots."""
        return self._slot_names

    def add_weight(
        self,
        name: str,
        shape: Any,
        dtype: dtypes.DTypeLike | None = None,
        initializer: Any = "zeros",
        trainable: bool | None = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
    ) -> Any:
        """A variable of the optimizer itself."""
        dtype = dtypes.as_dtype(dtype or dtypes.float32)
        if synchronization != VariableSynchronization.ON_READ:
            trainable = trainable is None or trainable
        elif trainable:
            raise ValueError(
                "Synchronization value can be set to VariableSynchronization.ON_READ only for non-trainable variables. You have "
                "specified trainable=True and synchronization=VariableSynchronization.ON_READ."
            )
        if isinstance(initializer, str) or callable(initializer):
            initializer = initializers.get(initializer)
        elif not isinstance(initializer, Tensor):
            initializer = convert_to_tensor(initializer, dtype=dtype) if executing_eagerly() else tf.constant_initializer(initializer)
        made = self._add_variable_with_custom_getter(
            name,
            shape,
            dtype,
            initializer,
            make_variable,
            overwrite=True,
            use_resource=True,
            trainable=bool(trainable),
            synchronization=synchronization,
            aggregation=aggregation,
        )
        track_variable(made)
        return made

    def variables(self) -> list[Any]:
        """The counter of steps and the slots."""
        return self._weights

    @property
    def weights(self) -> list[Any]:
        """The counter of steps and the slots."""
        return self._weights

    def get_weights(self) -> list[Any]:
        """Their values."""
        return batch_get_value(self.weights)

    def set_weights(self, weights: Any) -> None:
        """Sets their values, in the same order."""
        params = self.weights
        if len(params) != len(weights):
            raise ValueError(
                f"You called `set_weights(weights)` on optimizer {self._name} with a  weight list of length {len(weights)}, but the "
                f"optimizer was expecting {len(params)} weights. Provided weights: {str(weights)[:50]}..."
            )
        pairs = []
        for old, p, w in zip(batch_get_value(params), params, weights):
            if old.shape != w.shape:
                raise ValueError(f"Optimizer weight shape {old.shape} not compatible with provided weight shape {w.shape}")
            pairs.append((p, w))
        batch_set_value(pairs)

    # Checkpoints

    def _restore_slot_variable(self, slot_name: str, variable: Any, slot_variable: Any) -> None:
        waiting = self._deferred_slots.get(slot_name, {}).pop(key_of(variable), [])
        for position in sorted(waiting, key=lambda p: p.restore_uid, reverse=True):
            position.restore(slot_variable)

    def _create_or_restore_slot_variable(self, slot_variable_position: Any, slot_name: str, variable: Any) -> None:
        """Restores a slot; where it can't be made now, it is restored when it is."""
        slot = self._slots.get(key_of(variable), {}).get(slot_name)
        if slot is None and executing_eagerly() and slot_variable_position.is_simple_variable():
            slot = self.add_slot(
                var=variable, slot_name=slot_name, initializer=CheckpointInitialValue(checkpoint_position=slot_variable_position)
            )
        if slot is not None:
            slot_variable_position.restore(slot)
        else:
            self._deferred_slots.setdefault(slot_name, {}).setdefault(key_of(variable), []).append(slot_variable_position)

    # What subclasses use

    def _assert_valid_dtypes(self, tensors: Any) -> None:
        valid = self._valid_dtypes()
        for t in tensors:
            dtype = t.dtype.base_dtype
            if dtype not in valid:
                raise ValueError(f"Invalid type {dtype!r} for {t.name}, expected: {[v for v in valid]}.")

    def _valid_dtypes(self) -> set[dtypes.DType]:
        return {dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64}

    def _call_if_callable(self, param: Any) -> Any:
        return param() if callable(param) else param

    def _resource_scatter_add(self, x: Any, i: Any, v: Any) -> Any:
        with control_dependencies([apply("ResourceScatterAdd", x.handle, i, v)]):
            return x.value()

    def _resource_scatter_update(self, x: Any, i: Any, v: Any) -> Any:
        with control_dependencies([apply("ResourceScatterUpdate", x.handle, i, v)]):
            return x.value()


def _with_gradient(pairs: list[Any]) -> list[Any]:
    """The pairs that have a gradient; variables of which none has one are a mistake."""
    found = [(g, v) for g, v in pairs if g is not None]
    if pairs and not found:
        raise ValueError(f"No gradients provided for any variable: {[v.name for _, v in pairs]}.")
    missing = [v.name for g, v in pairs if g is None]
    if missing:
        tf.logging.warning("Gradients do not exist for variables %s when minimizing the loss.", missing)
    return found


@public("keras.optimizers.schedules.serialize")
def serialize_schedule(learning_rate_schedule: Any) -> Any:
    """A schedule as data."""
    return serialize_keras_object(learning_rate_schedule)


@public("keras.optimizers.schedules.deserialize")
def deserialize_schedule(config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """The schedule that data describe."""
    known = {n: api.find(f"keras.optimizers.schedules.{n}") for n in api.members("keras.optimizers.schedules") if n[0].isupper()}
    known.update({n: getattr(schedules, n) for n in dir(schedules) if n.endswith(("Decay", "Restarts"))})
    return deserialize_keras_object(config, module_objects=known, custom_objects=custom_objects, printable_module_name="decay")
