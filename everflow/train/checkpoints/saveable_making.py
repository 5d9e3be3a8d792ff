"""From variables and other objects to what a checkpoint holds of them."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.eager.context import executing_eagerly
from everflow.graph.convert import internal_convert_to_tensor
from everflow.graph.devices import DeviceSpec
from everflow.graph.scopes import device, init_scope
from everflow.graph.tensor import Tensor
from everflow.graph.trackable import VARIABLE_VALUE_KEY, Trackable
from everflow.ops.core.registry import apply
from everflow.ops.variables.partitioned import PartitionedVariable
from everflow.ops.variables.resource_variables import is_resource_variable
from everflow.ops.variables.variables import Variable
from everflow.train.checkpoints.saveable import SaveableObject, SaveSpec

_REFERENCES = ("Variable", "VariableV2", "AutoReloadVariable")
_VARIABLE_OPS = internal("training.saving.saveable_object_util._VARIABLE_OPS")({*_REFERENCES, "VarHandleOp", "ReadVariableOp"})


@internal("training.saving.saveable_object_util.set_cpu0")
def set_cpu0(device_string: Any) -> str:
    """The first CPU of the machine that a device belongs to."""
    parsed = DeviceSpec.from_string(device_string or "")
    return parsed.replace(device_type="CPU", device_index=0).to_string()


@internal("training.saving.saveable_object_util.ReferenceVariableSaveable", "training.saver.BaseSaverBuilder.VariableSaveable")
class ReferenceVariableSaveable(SaveableObject):
    """A reference variable."""

    def __init__(self, var: Any, slice_spec: str, name: str) -> None:
        super().__init__(var, [SaveSpec(var, slice_spec, name, dtype=var.dtype)], name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """Assigns the restored value."""
        value = _reshaped(restored_tensors, restored_shapes)
        return tf.assign(self.op, value, validate_shape=restored_shapes is None and self.op.get_shape().is_fully_defined())


@internal("training.saving.saveable_object_util.ResourceVariableSaveable", "training.saver.BaseSaverBuilder.ResourceVariableSaveable")
class ResourceVariableSaveable(SaveableObject):
    """A resource variable, or a read of one."""

    def __init__(self, var: Any, slice_spec: str, name: str) -> None:
        self._var_device = var.device
        self._var_shape = var.shape
        if isinstance(var, Tensor):
            self.handle_op = var.op.inputs[0]
            tensor: Any = var
        elif is_resource_variable(var):
            self.handle_op = var.handle
            tensor = functools.partial(_read, var)
        else:
            raise ValueError(f"Saveable is neither a resource variable nor a read operation. Got: {var!r}")
        super().__init__(var, [SaveSpec(tensor, slice_spec, name, dtype=var.dtype, device=var.device)], name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """Assigns the restored value."""
        value = _reshaped(restored_tensors, restored_shapes)
        with device(self._var_device):
            value = apply("Identity", value)
            self._var_shape.assert_is_compatible_with(value.get_shape())
            return apply("AssignVariableOp", self.handle_op, value)


def _reshaped(tensors: Any, shapes: Any) -> Any:
    """The one restored tensor, in the shape that is asked for."""
    return tensors[0] if shapes is None else apply("Reshape", tensors[0], shapes[0])


def _read(variable: Any) -> Any:
    with device(variable.device):
        value = variable.read_value()
    # Files are written by the CPU of the machine that has the variable.
    with device(set_cpu0(variable.device)):
        return apply("Identity", value)


@internal("training.saving.saveable_object_util._tensor_comes_from_variable")
def comes_from_variable(tensor: Any) -> bool:
    """Whether a tensor is a variable, or a read of one."""
    return isinstance(tensor, Tensor) and tensor.op.type in _VARIABLE_OPS


@internal("training.saving.saveable_object_util.saveable_objects_for_op")
def saveable_objects_for_op(op: Any, name: str) -> Iterator[SaveableObject]:
    """What a checkpoint holds of an object under a name."""
    if not isinstance(name, str):
        raise TypeError(f"names_to_saveables must be a dict mapping string names to trackable operations. Name is not a string: {name}")
    if isinstance(op, SaveableObject):
        yield op
    elif hasattr(op, "_saveable"):
        yield op._saveable(name)
    elif isinstance(op, (list, tuple, PartitionedVariable)):
        yield from _for_parts(op, name)
    elif isinstance(op, Trackable) and not isinstance(op, Variable):
        for attr, factory in op._gather_saveables_for_checkpoint().items():
            full_name = name if attr == VARIABLE_VALUE_KEY else f"{name}_{attr}"
            if callable(factory) and not isinstance(factory, (Variable, SaveableObject)):
                found = factory(name=full_name)
                yield from saveable_objects_for_op(found, found.name)
            else:
                yield from saveable_objects_for_op(factory, full_name)
    elif isinstance(op, Variable) and is_resource_variable(op):
        read = getattr(op, "_graph_element", None) if op._in_graph_mode else None
        yield ResourceVariableSaveable(op if read is None else read, "", name)
    else:
        with init_scope():
            if executing_eagerly():
                raise ValueError(f"Can only save/restore ResourceVariable objects when eager execution is enabled, got type {type(op)}.")
            tensor = internal_convert_to_tensor(op, as_ref=True)
            if not comes_from_variable(tensor):
                raise TypeError(f"names_to_saveables must be a dict mapping string names to Tensors/Variables. Not a variable: {tensor}")
        kind = ReferenceVariableSaveable if tensor.op.type in _REFERENCES else ResourceVariableSaveable
        yield kind(tensor, "", name)


def _for_parts(parts: Any, name: str) -> Iterator[SaveableObject]:
    full_name = None
    for variable in parts:
        if isinstance(variable, SaveableObject):
            yield variable
            continue
        if not isinstance(variable, Variable):
            raise ValueError(f"Slices must all be Variables: {variable}")
        info = variable._get_save_slice_info()
        if not info:
            raise ValueError(f"Slices must all be slices: {variable}")
        if full_name is None:
            full_name = info.full_name
        elif full_name != info.full_name:
            raise ValueError(f"Slices must all be from the same tensor: {full_name} != {info.full_name}")
        kind = ReferenceVariableSaveable if variable.op.type in _REFERENCES else ResourceVariableSaveable
        yield kind(variable, info.spec, name)


@internal("training.saving.saveable_object_util.op_list_to_dict", "training.saver.BaseSaverBuilder.OpListToDict")
def op_list_to_dict(op_list: Any, convert_variable_to_tensor: bool = True) -> dict[str, Any]:
    """{name in the checkpoint: what to save}, of variables, parts of variables and other objects."""
    if not isinstance(op_list, (list, tuple, set)):
        raise TypeError(f"Variables to save should be passed in a dict or a list: {op_list}")
    names: dict[str, Any] = {}

    def put(name: str, value: Any) -> None:
        if name in names:
            raise ValueError(f"At least two variables have the same name: {name}")
        names[name] = value

    for var in sorted(op_list, key=lambda v: v.name) if isinstance(op_list, set) else op_list:
        if isinstance(var, SaveableObject):
            names[var.name] = var
        elif isinstance(var, PartitionedVariable):
            put(var.name, var)
        elif hasattr(var, "_saveable"):
            put(var.name.partition(":")[0], var)
        elif isinstance(var, Variable) and var._get_save_slice_info():
            name = var._get_save_slice_info().full_name
            if name not in names:
                names[name] = [var]
            elif isinstance(names[name], list):
                names[name].append(var)
            else:
                raise ValueError(f"Mixing slices and non-slices with the same name: {name}")
        elif isinstance(var, Trackable) and not isinstance(var, Variable):
            saveables = [
                factory(name=attr) if callable(factory) else factory for attr, factory in var._gather_saveables_for_checkpoint().items()
            ]
            names.update(op_list_to_dict(saveables))
        elif not getattr(var, "_in_graph_mode", isinstance(var, Variable) or not executing_eagerly()):
            if not is_resource_variable(var):
                raise ValueError(f"Can only save/restore ResourceVariables when eager execution is enabled, got type: {type(var)}.")
            if var._shared_name in names and names[var._shared_name] is not var:
                raise ValueError(f"At least two variables have the same name: {var._shared_name}")
            names[var._shared_name] = var
        else:
            if convert_variable_to_tensor:
                with init_scope():
                    var = var._graph_element if is_resource_variable(var) else internal_convert_to_tensor(var, as_ref=True)
                if not comes_from_variable(var):
                    raise TypeError(f"Variable to save is not a Variable: {var}")
            name = var.op.inputs[0].op.name if var.op.type == "ReadVariableOp" else var.op.name
            put(name, var)
    return names


@internal("training.saving.saveable_object_util.validate_and_slice_inputs", "training.saver.BaseSaverBuilder._ValidateAndSliceInputs")
def validate_and_slice_inputs(names_to_saveables: Any) -> list[SaveableObject]:
    """The entries of a checkpoint, by name; nothing may be in it twice."""
    if not isinstance(names_to_saveables, dict):
        names_to_saveables = op_list_to_dict(names_to_saveables)
    saveables: list[SaveableObject] = []
    seen: set[int] = set()
    for name in sorted(names_to_saveables):
        for saveable in saveable_objects_for_op(names_to_saveables[name], name):
            if id(saveable.op) in seen:
                raise ValueError(f"The same saveable will be restored with two names: {saveable.name}")
            saveables.append(saveable)
            seen.add(id(saveable.op))
    return saveables


def create_saveable_object(factory: Any, key: str) -> SaveableObject:
    """The entry of an object's attribute: of a variable, or made by a function."""
    if callable(factory) and not isinstance(factory, (Variable, SaveableObject)):
        made = factory(name=key)
        if isinstance(made, SaveableObject):
            return made
        factory = made
    found = list(saveable_objects_for_op(factory, key))
    if len(found) != 1:
        raise ValueError(f"Expected one entry of a checkpoint for {key}, got {len(found)}")
    return found[0]
