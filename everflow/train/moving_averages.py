"""Moving averages of variables and tensors."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow import api
from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.keys import GraphKeys
from everflow.graph.scopes import add_to_collection, colocate_with, init_scope, name_scope
from everflow.graph.stacks import get_default_graph
from everflow.ops.variables import assigning
from everflow.ops.variables.initializers import Zeros
from everflow.ops.variables.store import default_variable_store
from everflow.ops.variables.variable_scope import variable_scope
from everflow.ops.variables.variables import Variable
from everflow.platform.identity import Reference
from everflow.train import slots


@internal("training.moving_averages.assign_moving_average")
def assign_moving_average(variable: Any, value: Any, decay: Any, zero_debias: bool = True, name: str | None = None) -> Any:
    """variable = variable * decay + value * (1 - decay), as an op.

    With `zero_debias`, a variable that starts at zero is corrected for it, by Kingma and Ba (2015), which takes two
    more variables.
    """
    with name_scope(name, "AssignMovingAvg", [variable, value, decay]) as scope:
        decay = convert_to_tensor(1.0 - decay, name="decay")
        if decay.dtype != variable.dtype.base_dtype:
            decay = api.find("cast")(decay, variable.dtype.base_dtype)
        if zero_debias:
            return assigning.assign(variable, _debiased(variable, value, decay), name=scope)
        return assigning.assign_sub(variable, (variable - value) * decay, name=scope)


def _debiased(variable: Any, value: Any, decay: Any) -> Any:
    """The average of a variable that starts at zero, divided by the sum of the weights so far."""
    with variable_scope(variable.op.name, values=[variable, value, decay]), colocate_with(variable):
        zeros = Zeros(dtype=variable.dtype.base_dtype)
        biased = tf.get_variable(_unused("biased"), shape=variable.get_shape(), dtype=variable.dtype, initializer=zeros, trainable=False)
        steps = tf.get_variable(_unused("local_step"), shape=[], dtype=variable.dtype, initializer=zeros, trainable=False)
    updated = biased.assign_sub((biased - value) * decay)
    counted = steps.assign_add(1)
    return updated / (1 - api.find("pow")(1.0 - decay, counted))


def _unused(name: str) -> str:
    """The name, or the first of `name_1`, `name_2`, ... that no variable of the current scope has."""
    scope = tf.get_variable_scope()
    if scope.reuse:
        return name
    known = default_variable_store()._vars
    full, i = f"{scope.name}/{name}", 0
    while full + (f"_{i}" if i else "") in known:
        i += 1
    return f"{name}_{i}" if i else name


@internal("training.moving_averages.weighted_moving_average")
def weighted_moving_average(
    value: Any, decay: Any, weight: Any, truediv: bool = True, collections: Any = None, name: str | None = None
) -> Any:
    """A moving average in which each value counts by its weight."""
    if collections is None:
        collections = [GraphKeys.GLOBAL_VARIABLES]
    with variable_scope(name, "WeightedMovingAvg", [value, weight, decay]) as scope:
        zeros = Zeros(dtype=value.dtype)
        sums = tf.get_variable(
            "value_x_weight", shape=value.get_shape(), dtype=value.dtype, initializer=zeros, trainable=False, collections=collections
        )
        weights = tf.get_variable(
            "weight",
            shape=weight.get_shape(),
            dtype=weight.dtype,
            initializer=Zeros(dtype=weight.dtype),
            trainable=False,
            collections=collections,
        )
        numerator = assign_moving_average(sums, value * weight, decay, zero_debias=False)
        denominator = assign_moving_average(weights, weight, decay, zero_debias=False)
        divide = api.find("truediv" if truediv else "div")
        return divide(numerator, denominator, name=scope.name)


@public("train.ExponentialMovingAverage")
class ExponentialMovingAverage:
    """Keeps moving averages ("shadow variables") of variables, to use them in the variables' place for evaluation."""

    def __init__(self, decay: Any, num_updates: Any = None, zero_debias: bool = False, name: str = "ExponentialMovingAverage") -> None:
        self._decay = decay
        self._num_updates = num_updates
        self._zero_debias = zero_debias
        self._name = name
        self._averages: dict[Reference, Any] = {}

    @property
    def name(self) -> str:
        """What the shadow variables are called below their variable."""
        return self._name

    def apply(self, var_list: Any = None) -> Any:
        """An op that updates the averages of these variables and tensors (the trainable variables unless given)."""
        if var_list is None:
            var_list = tf.trainable_variables()
        debiased = set()
        for var in var_list:
            if var.dtype.base_dtype not in (dtypes.bfloat16, dtypes.float16, dtypes.float32, dtypes.float64):
                raise TypeError(f"The variables must be half, float, or double: {var.name}")
            if Reference(var) not in self._averages:
                with init_scope():
                    average = self._make(var)
                self._averages[Reference(var)] = average
                if self._zero_debias and not isinstance(var, Variable):
                    debiased.add(Reference(average))
        with name_scope(self.name) as scope:
            decay = convert_to_tensor(self._decay, name="decay")
            if self._num_updates is not None:
                updates = api.find("cast")(self._num_updates, dtypes.float32, name="num_updates")
                decay = api.find("minimum")(decay, (1.0 + updates) / (10.0 + updates))
            done = []
            for var in var_list:
                average = self._averages[Reference(var)]
                done.append(assign_moving_average(average, var, decay, zero_debias=Reference(average) in debiased))
            return api.find("group")(*done, name=scope)

    def _make(self, var: Any) -> Any:
        """A shadow variable; that of a variable starts with the variable's value, that of a tensor with zeros."""
        if isinstance(var, Variable):
            average = slots.create_slot(var, var.initialized_value(), self.name, colocate_with_primary=True)
            add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, var)
            return average
        return slots.create_zeros_slot(var, self.name, colocate_with_primary=var.op.type in ("Variable", "VariableV2", "VarHandleOp"))

    def average(self, var: Any) -> Any:
        """The shadow variable of a variable, or None."""
        return self._averages.get(Reference(var))

    def average_name(self, var: Any) -> str:
        """The name that the shadow variable of a variable has, or would have."""
        found = self._averages.get(Reference(var))
        if found is not None:
            return found.op.name
        return get_default_graph().unique_name(f"{var.op.name}/{self.name}", mark_as_used=False)

    def variables_to_restore(self, moving_avg_variables: Any = None) -> dict[str, Any]:
        """What a Saver needs to restore variables with their averages: {name in the checkpoint: variable}."""
        if moving_avg_variables is None:
            moving_avg_variables = tf.trainable_variables() + tf.moving_average_variables()
        found = {self.average_name(v): v for v in moving_avg_variables}
        averaged = {v.name for v in moving_avg_variables}
        for v in tf.global_variables():
            if v.name not in averaged and v.op.name not in found:
                found[v.op.name] = v
        return found
