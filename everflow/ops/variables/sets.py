"""The variables of a graph: its collections of them, and ops that initialize them or ask whether they are."""

from __future__ import annotations

import os
from typing import Any

from everflow import api
from everflow.api import internal, public
from everflow.graph.convert import constant
from everflow.graph.keys import GraphKeys
from everflow.graph.scopes import colocate_with, device, get_collection, name_scope
from everflow.graph.stacks import get_default_graph
from everflow.ops.core.registry import apply
from everflow.ops.variables import assigning


@public("global_variables")
def global_variables(scope: str | None = None) -> list[Any]:
    """The variables that are shared across a cluster: all that tf.Variable makes unless told otherwise."""
    return get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


@public("all_variables")
def all_variables() -> list[Any]:
    """An older name of `tf.global_variables`."""
    return global_variables()


@public("local_variables")
def local_variables(scope: str | None = None) -> list[Any]:
    """The variables of this process alone, which are not saved: counters and the like."""
    return get_collection(GraphKeys.LOCAL_VARIABLES, scope)


@public("model_variables")
def model_variables(scope: str | None = None) -> list[Any]:
    """The variables that a model needs for inference."""
    return get_collection(GraphKeys.MODEL_VARIABLES, scope)


@public("trainable_variables")
def trainable_variables(scope: str | None = None) -> list[Any]:
    """The variables that optimizers change."""
    return get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)


@public("moving_average_variables")
def moving_average_variables(scope: str | None = None) -> list[Any]:
    """The variables that have a moving average."""
    return get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


@internal("ops.variables._all_saveable_objects")
def saveable_objects(scope: str | None = None) -> list[Any]:
    """What a Saver saves unless told otherwise."""
    return get_collection(GraphKeys.GLOBAL_VARIABLES, scope) + get_collection(GraphKeys.SAVEABLE_OBJECTS, scope)


@public("variables_initializer", "initializers.variables", "initialize_variables")
def variables_initializer(var_list: Any, name: str = "init") -> Any:
    """An op that initializes the given variables."""
    if var_list:
        return api.find("group")(*[v.initializer for v in var_list], name=name)
    return api.find("no_op")(name=name)


@public("global_variables_initializer", "initializers.global_variables", "initialize_all_variables")
def global_variables_initializer() -> Any:
    """An op that initializes the global variables."""
    return variables_initializer(global_variables())


@public("local_variables_initializer", "initializers.local_variables", "initialize_local_variables")
def local_variables_initializer() -> Any:
    """An op that initializes the local variables."""
    return variables_initializer(local_variables())


@public("is_variable_initialized")
@internal("ops.variables.is_variable_initialized")
def is_variable_initialized(variable: Any) -> Any:
    """Whether a variable has a value yet."""
    return assigning.is_variable_initialized(variable)


def _known_variables() -> list[Any]:
    """The variables of the collections; where there are none, the references that the graph's ops hand out."""
    found = global_variables() + local_variables()
    if found:
        return found
    kinds = ("Variable", "VariableV2", "AutoReloadVariable")
    return [op.outputs[0] for op in get_default_graph().get_operations() if op.type in kinds]


@public("assert_variables_initialized")
def assert_variables_initialized(var_list: Any = None) -> Any:
    """An op that fails unless all the variables have a value; None where there are none."""
    if var_list is None:
        var_list = _known_variables()
    if not var_list:
        return None
    ranks = []
    for variable in var_list:
        with colocate_with(variable.op):
            ranks.append(apply("Rank", variable))
    return ranks[0] if len(ranks) == 1 else api.find("stack")(ranks)


@public("report_uninitialized_variables")
def report_uninitialized_variables(var_list: Any = None, name: str = "report_uninitialized_variables") -> Any:
    """A tensor with the names of the variables that have no value yet."""
    if var_list is None:
        var_list = _known_variables()
    with name_scope(name):
        initialized = [assigning.is_variable_initialized(v) for v in var_list]
        with device(os.environ.get("TF_DEVICE_FOR_UNINITIALIZED_VARIABLE_REPORTING", "/cpu:0")):
            if not var_list:
                return constant([], dtype="string")
            missing = api.find("logical_not")(api.find("stack")(initialized))
            names = constant([v.op.name for v in var_list])
            return api.find("boolean_mask")(names, missing)
