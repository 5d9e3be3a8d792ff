"""Variables of models: made with a regularizer and collections, found again by scope, name and suffix."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.framework.arg_scopes import add_arg_scope
from everflow.graph import dtypes
from everflow.graph.keys import GraphKeys
from everflow.ops.variables.partitioned import PartitionedVariable
from everflow.proto import saver_pb2
from everflow.train.checkpoints.reader import new_checkpoint_reader
from everflow.train.checkpoints.saver import Saver


@public("contrib.framework.zero_initializer", "contrib.slim.zero_initializer")
def zero_initializer(ref: Any, use_locking: bool = True, name: str = "zero_initializer") -> Any:
    """Fills a variable with zeros, in place; it must not have a value yet."""
    fresh = tf.Assert(tf.logical_not(tf.is_variable_initialized(ref)), ["input is already initialized"])
    with tf.control_dependencies([fresh]):
        return tf.assign(ref, tf.zeros(ref.get_shape(), ref.dtype.base_dtype), use_locking=use_locking, name=name)


@public("contrib.framework.local_variable", "contrib.slim.local_variable")
def local_variable(initial_value: Any, validate_shape: bool = True, name: str | None = None, use_resource: bool | None = None) -> Any:
    """A variable that is neither trained nor saved."""
    return tf.Variable(
        initial_value,
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES],
        validate_shape=validate_shape,
        use_resource=use_resource,
        name=name,
    )


@public("contrib.framework.global_variable", "contrib.slim.global_variable")
def global_variable(initial_value: Any, validate_shape: bool = True, name: str | None = None, use_resource: bool | None = None) -> Any:
    """A variable that is saved but not trained."""
    return tf.Variable(
        initial_value,
        trainable=False,
        collections=[GraphKeys.GLOBAL_VARIABLES],
        validate_shape=validate_shape,
        use_resource=use_resource,
        name=name,
    )


@public("contrib.framework.variable", "contrib.slim.variable")
@add_arg_scope
def variable(
    name: str,
    shape: Any = None,
    dtype: dtypes.DTypeLike | None = None,
    initializer: Any = None,
    regularizer: Callable[..., Any] | None = None,
    trainable: bool = True,
    collections: Any = None,
    caching_device: Any = None,
    device: Any = None,
    partitioner: Callable[..., Any] | None = None,
    custom_getter: Any = None,
    use_resource: bool | None = None,
    synchronization: Any = tf.VariableSynchronization.AUTO,
    aggregation: Any = tf.VariableAggregation.NONE,
) -> Any:
    """The variable of this name, made or reused as the scope says; `device` may choose where it stands."""
    settings = dict(locals())
    del settings["device"], settings["custom_getter"]
    # Each collection once.
    settings["collections"] = list(dict.fromkeys([GraphKeys.GLOBAL_VARIABLES] if collections is None else collections))
    getter = tf.get_variable if custom_getter is None else _calling(custom_getter)
    with tf.device(device or ""):
        return getter(**settings)


def _calling(custom_getter: Any) -> Any:
    """A function like get_variable; what a custom getter does not take as a reuse argument comes from the scope."""

    def getter(name: str, **settings: Any) -> Any:
        return custom_getter(name=name, reuse=tf.get_variable_scope().reuse, **settings)

    return getter


@public("contrib.framework.model_variable", "contrib.slim.model_variable")
@add_arg_scope
def model_variable(
    name: str,
    shape: Any = None,
    dtype: dtypes.DTypeLike = dtypes.float32,
    initializer: Any = None,
    regularizer: Callable[..., Any] | None = None,
    trainable: bool = True,
    collections: Any = None,
    caching_device: Any = None,
    device: Any = None,
    partitioner: Callable[..., Any] | None = None,
    custom_getter: Any = None,
    use_resource: bool | None = None,
    synchronization: Any = tf.VariableSynchronization.AUTO,
    aggregation: Any = tf.VariableAggregation.NONE,
) -> Any:
    """A variable of the model: what a checkpoint of it for others holds."""
    settings = dict(locals())
    settings["collections"] = [*(collections or []), GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES]
    return variable(**settings)


@public("contrib.framework.add_model_variable", "contrib.slim.add_model_variable")
def add_model_variable(var: Any) -> None:
    """Puts a variable among those of the model, if it is not there."""
    if var not in tf.get_collection(GraphKeys.MODEL_VARIABLES):
        tf.add_to_collection(GraphKeys.MODEL_VARIABLES, var)


@public("contrib.framework.get_variables", "contrib.slim.get_variables")
def get_variables(scope: Any = None, suffix: str | None = None, collection: Any = GraphKeys.GLOBAL_VARIABLES) -> list[Any]:
    """The variables of a collection whose names start like a scope, and end like a suffix."""
    pattern = scope.name if isinstance(scope, tf.VariableScope) else scope
    if suffix is not None:
        pattern = f"{pattern or ''}.*{suffix}{'' if ':' in suffix else ':'}"
    return tf.get_collection(collection, pattern)


@public("contrib.framework.get_model_variables", "contrib.slim.get_model_variables")
def get_model_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """The variables of the model."""
    return get_variables(scope, suffix, GraphKeys.MODEL_VARIABLES)


@public("contrib.framework.get_local_variables", "contrib.slim.get_local_variables")
def get_local_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """The variables that are neither trained nor saved."""
    return get_variables(scope, suffix, GraphKeys.LOCAL_VARIABLES)


@public("contrib.framework.get_trainable_variables", "contrib.slim.get_trainable_variables")
def get_trainable_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """The variables that are trained."""
    return get_variables(scope, suffix, GraphKeys.TRAINABLE_VARIABLES)


@public("contrib.framework.get_variables_to_restore", "contrib.slim.get_variables_to_restore")
def get_variables_to_restore(include: Any = None, exclude: Any = None) -> list[Any]:
    """The variables whose names start like one of `include` (all where it is None) and like none of `exclude`."""
    if include is None:
        found = get_variables()
    else:
        if not isinstance(include, (list, tuple)):
            raise TypeError("include is provided but is not a list or a tuple.")
        found = [v for scope in include for v in get_variables(scope)]
    if exclude is None:
        return found
    if not isinstance(exclude, (list, tuple)):
        raise TypeError("exclude is provided but is not a list or a tuple.")
    left_out = {id(v) for scope in exclude for v in get_variables(scope)}
    return [v for v in found if id(v) not in left_out]


@public("contrib.framework.get_variables_by_suffix", "contrib.slim.get_variables_by_suffix")
def get_variables_by_suffix(suffix: str, scope: Any = None) -> list[Any]:
    """The variables whose names end like this."""
    return get_variables(scope=scope, suffix=suffix)


@public("contrib.framework.get_variables_by_name", "contrib.slim.get_variables_by_name")
def get_variables_by_name(given_name: str, scope: Any = None) -> list[Any]:
    """The variables of this name, in any scope."""
    return get_variables(scope=scope, suffix="/" + given_name + ":|^" + given_name + ":")


@public("contrib.framework.get_unique_variable", "contrib.slim.get_unique_variable")
def get_unique_variable(var_op_name: str) -> Any:
    """The one variable whose op has this name."""
    candidates = get_variables(scope=var_op_name)
    if not candidates:
        raise ValueError(f"Couldn't find variable {var_op_name}")
    for candidate in candidates:
        if candidate.op.name == var_op_name:
            return candidate
    raise ValueError(f"Variable {var_op_name} does not uniquely identify a variable")


@public("contrib.framework.get_variable_full_name", "contrib.slim.get_variable_full_name")
def get_variable_full_name(var: Any) -> str:
    """The name under which a variable is saved: of a part of one, that of the whole."""
    return var._save_slice_info.full_name if getattr(var, "_save_slice_info", None) else var.op.name


@public("contrib.framework.filter_variables", "contrib.slim.filter_variables")
def filter_variables(var_list: Any, include_patterns: Any = None, exclude_patterns: Any = None, reg_search: bool = True) -> list[Any]:
    """The variables whose names match one of the first patterns and none of the others, anywhere or from the start on."""
    matches = re.search if reg_search else re.match
    if not include_patterns:
        found = list(var_list)
    else:
        if not isinstance(include_patterns, (list, tuple)):
            raise ValueError("include_patterns must be a list or tuple.")
        found = []
        for v in var_list:
            if any(matches(pattern, v.op.name) for pattern in include_patterns):
                found.append(v)
    if exclude_patterns is None:
        return found
    return [v for v in found if not any(matches(pattern, v.op.name) for pattern in exclude_patterns)]


@public("contrib.framework.VariableDeviceChooser", "contrib.slim.VariableDeviceChooser")
class VariableDeviceChooser:
    """Spreads variables over parameter servers, one after the other."""

    def __init__(
        self, num_tasks: int = 0, job_name: str = "ps", device_type: str = "CPU", device_index: int = 0, replica: Any = None
    ) -> None:
        self._job_name = job_name
        self._device_type = device_type
        self._device_index = device_index
        self._replica = replica
        self._num_tasks = num_tasks
        self._next_task_id = 0

    def __call__(self, op: Any) -> str:
        place: dict[str, Any] = {"device_type": self._device_type, "device_index": self._device_index, "replica": self._replica}
        if self._num_tasks > 0:
            place |= {"job": self._job_name, "task": self._next_task_id}
            self._next_task_id = (self._next_task_id + 1) % self._num_tasks
        return tf.DeviceSpec(**place).to_string()


@public("contrib.framework.assign_from_values", "contrib.slim.assign_from_values")
def assign_from_values(var_names_to_values: dict[str, Any]) -> tuple[Any, dict[Any, Any]]:
    """(an op that gives variables values, what must be fed to it)."""
    feed: dict[Any, Any] = {}
    ops = []
    for name, value in var_names_to_values.items():
        found = get_variables(name)
        if not found:
            raise ValueError(f"Variable {name} wasn't found")
        if len(found) > 1 and found[0].op.name != name:
            found = [v for v in found if v.op.name == name] or found
        var = found[0]
        placeholder = tf.placeholder(var.dtype.base_dtype, shape=var.get_shape(), name=f"placeholder/{var.op.name}")
        ops.append(var.assign(placeholder))
        feed[placeholder] = value.reshape(var.get_shape())
    return tf.group(*ops), feed


@public("contrib.framework.assign_from_values_fn", "contrib.slim.assign_from_values_fn")
def assign_from_values_fn(var_names_to_values: dict[str, Any]) -> Any:
    """A function of a session that gives variables values."""
    op, feed = assign_from_values(var_names_to_values)
    return lambda session: session.run(op, feed)


def _as_dict(var_list: Any) -> dict[str, Any]:
    """The variables of each name in a checkpoint."""
    if isinstance(var_list, dict):
        return var_list
    found: dict[str, Any] = {}
    for v in var_list:
        found.setdefault(get_variable_full_name(v), []).append(v)
    return found


@public("contrib.framework.assign_from_checkpoint", "contrib.slim.assign_from_checkpoint")
def assign_from_checkpoint(model_path: str, var_list: Any, ignore_missing_vars: bool = False) -> tuple[Any, dict[Any, Any]]:
    """(an op that gives variables their values in a checkpoint, what must be fed to it)."""
    reader = new_checkpoint_reader(model_path)
    ops: list[Any] = []
    feed: dict[Any, Any] = {}
    for name, variables in _as_dict(var_list).items():
        if not reader.has_tensor(name):
            report = f"Checkpoint is missing variable [{name}]"
            if not ignore_missing_vars:
                raise ValueError(report)
            tf.logging.warning(report)
            continue
        value = reader.get_tensor(name)
        for var in _parts(variables):
            info = getattr(var, "_save_slice_info", None)
            part = value if info is None else value[tuple(slice(o, o + n) for o, n in zip(info.var_offset, info.var_shape))]
            placeholder = tf.placeholder(var.dtype.base_dtype, shape=var.get_shape(), name=f"placeholder/{var.op.name}")
            ops.append(var.assign(placeholder))
            if not var.get_shape().is_compatible_with(value.shape) and info is None:
                raise ValueError(
                    f"Total size of new array must be unchanged for {name} lh_shape: [{value.shape}], rh_shape: [{var.get_shape()}]"
                )
            feed[placeholder] = part.reshape(var.get_shape().as_list())
    return tf.group(*ops), feed


def _parts(variables: Any) -> list[Any]:
    if isinstance(variables, PartitionedVariable):
        return list(variables)
    if not isinstance(variables, (list, tuple)):
        return [variables]
    return [part for v in variables for part in _parts(v)]


@public("contrib.framework.assign_from_checkpoint_fn", "contrib.slim.assign_from_checkpoint_fn")
def assign_from_checkpoint_fn(model_path: str, var_list: Any, ignore_missing_vars: bool = False, reshape_variables: bool = False) -> Any:
    """A function of a session that gives variables their values in a checkpoint."""
    if not var_list:
        raise ValueError("var_list cannot be empty")
    if ignore_missing_vars:
        reader = new_checkpoint_reader(model_path)
        by_name = var_list if isinstance(var_list, dict) else {var.op.name: var for var in var_list}
        available = {}
        for name, var in by_name.items():
            if reader.has_tensor(name):
                available[name] = var
            else:
                tf.logging.warning("Variable %s missing in checkpoint %s", name, model_path)
        var_list = available
    if not var_list:
        tf.logging.warning("No Variables to restore")
        return None
    saver = Saver(var_list, reshape=reshape_variables, write_version=saver_pb2.SaverDef.V1)
    return lambda session: saver.restore(session, model_path)
