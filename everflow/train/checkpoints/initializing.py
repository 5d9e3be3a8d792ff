"""tf.train.init_from_checkpoint: variables whose initial values are those of a checkpoint."""

from __future__ import annotations

from typing import Any

from everflow.api import internal, public
from everflow.eager.context import executing_eagerly
from everflow.graph.scopes import device
from everflow.ops.core.registry import apply
from everflow.ops.variables.partitioned import PartitionedVariable
from everflow.ops.variables.store import default_variable_store
from everflow.ops.variables.variables import Variable
from everflow.platform import logging
from everflow.train.checkpoints.reader import _resolved, load_checkpoint
from everflow.train.checkpoints.saveable_making import op_list_to_dict, saveable_objects_for_op


@internal("training.checkpoint_utils._is_variable")
def _is_variable(x: Any) -> bool:
    return isinstance(x, Variable)


internal("training.checkpoint_utils._get_checkpoint_filename")(_resolved)


@public("train.init_from_checkpoint")
@internal("training.checkpoint_utils._init_from_checkpoint")
def init_from_checkpoint(ckpt_dir_or_file: Any, assignment_map: Any) -> None:
    """Makes values of a checkpoint the initial values of variables: {name in it: variable or name, "scope/": "other/"}."""
    checkpoint = _resolved(ckpt_dir_or_file)
    shapes = load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map()
    for wanted, given in sorted(assignment_map.items(), key=lambda item: item[0]):
        var: Any = None
        if _is_variable(given) or isinstance(given, list) and all(_is_variable(v) for v in given):
            var = given
        elif isinstance(given, PartitionedVariable):
            var = list(given)
        else:
            var = _variable_named(given)
        if var is None:
            _init_scope(ckpt_dir_or_file, checkpoint, wanted, given, shapes)
            continue
        if wanted not in shapes:
            raise ValueError(f"Tensor {wanted} is not found in {ckpt_dir_or_file} checkpoint {shapes}")
        _check_shape(var, wanted, shapes)
        _set_variable_or_list_initializer(var, checkpoint, wanted)
        logging.debug("Initialize variable %s from checkpoint %s with %s", _names(var), ckpt_dir_or_file, wanted)


def _store() -> dict[str, Any]:
    return default_variable_store()._vars


def _variable_named(name: str | None) -> Any:
    """A variable of the default store, its parts, or None."""
    store = _store()
    if name in store:
        return store[name]
    return _collect_partitioned_variable(name, store)


@internal("training.checkpoint_utils._collect_partitioned_variable")
def _collect_partitioned_variable(name: Any, all_vars: dict[str, Any]) -> list[Any] | None:
    if name + "/part_0" not in all_vars:
        return None
    found, i = [], 0
    while f"{name}/part_{i}" in all_vars:
        found.append(all_vars[f"{name}/part_{i}"])
        i += 1
    return found


def _names(var: Any) -> str:
    return ", ".join(sorted(v.name for v in var)) if isinstance(var, list) else var.name


def _check_shape(var: Any, name: str, shapes: dict[str, Any]) -> None:
    if isinstance(var, list):
        if not var:
            return
        info = var[0]._get_save_slice_info()
        whole = info.full_shape if info else shapes[name]
        if list(whole) != shapes[name]:
            raise ValueError(
                f"Shape of variable {_names(var)} ({list(whole)}) doesn't match with shape of tensor {name} ({shapes[name]}) "
                "from checkpoint reader."
            )
        return
    if not var.get_shape().is_compatible_with(shapes[name]):
        raise ValueError(
            f"Shape of variable {var.name} ({var.get_shape()}) doesn't match with shape of tensor {name} ({shapes[name]}) from checkpoint "
            "reader."
        )


def _init_scope(shown: Any, checkpoint: str, wanted: str, scope: str, shapes: dict[str, Any]) -> None:
    """Variables of one scope from those of another, by the rest of their names."""
    # What follows the last slash of the variables' side is ignored, as TensorFlow does.
    prefix = scope.rpartition("/")[0]
    if not wanted.endswith("/"):
        raise ValueError(
            f"Assignment map with scope only name {prefix} should map to scope only {wanted}. Should be 'scope/': 'other_scope/'."
        )
    store = _store()
    ckpt_prefix = wanted.removesuffix("/")
    for name in sorted(store):
        if prefix and not name.startswith(prefix + "/"):
            continue
        # All the parts of a variable are set with its first.
        rest = name if scope == "/" else name[len(prefix) + 1 :]
        var = store[name]
        if var._get_save_slice_info() is not None:
            if not name.endswith("/part_0"):
                continue
            rest = rest.removesuffix("/part_0")
            var = _collect_partitioned_variable(name.removesuffix("/part_0"), store)
        full = f"{ckpt_prefix}/{rest}" if ckpt_prefix else rest
        if full not in shapes:
            raise ValueError(f"Tensor {full} ({rest} in {wanted}) is not found in {shown} checkpoint")
        _check_shape(var, full, shapes)
        _set_variable_or_list_initializer(var, checkpoint, full)


@internal("training.checkpoint_utils._set_checkpoint_initializer")
def _set_checkpoint_initializer(
    variable: Any, ckpt_file: str, tensor_name: str, slice_spec: str, name: str = "checkpoint_initializer"
) -> None:
    dtype = variable.dtype.base_dtype
    with device(variable.device), device("/cpu:0"):
        (restored,) = apply("RestoreV2", ckpt_file, [tensor_name], [slice_spec], dtypes=[dtype], name=name)
    names = op_list_to_dict([variable])
    saveables = [saveable for key, op in names.items() for saveable in saveable_objects_for_op(op, key)]
    done = saveables[0].restore([restored], restored_shapes=None)
    if executing_eagerly():
        return
    variable._initializer_op = done
    restored.set_shape(variable.shape)
    variable._initial_value = restored


@internal("training.checkpoint_utils._set_variable_or_list_initializer")
def _set_variable_or_list_initializer(variable_or_list: Any, ckpt_file: str, tensor_name: str) -> None:
    """One variable, or the parts of one."""
    if not isinstance(variable_or_list, (list, tuple)):
        _set_checkpoint_initializer(variable_or_list, ckpt_file, tensor_name, "")
        return
    name = None
    for part in variable_or_list:
        info = part._get_save_slice_info()
        if name is None:
            name = info.full_name
        elif name != info.full_name:
            raise ValueError(f"Slices must all be from the same tensor: {name} != {info.full_name}")
        _set_checkpoint_initializer(part, ckpt_file, tensor_name, info.spec)
