"""TFE_Context, TFE_TensorHandle and TFE_Op: ops that run at once."""

from __future__ import annotations

import ctypes
import math
import socket
import threading
from ctypes import c_int64, c_ubyte
from typing import Any

import numpy as np

import everflow as tf
from everflow.c_api import operations
from everflow.c_api.boundary import (
    STATUS,
    I,
    N,
    P,
    S,
    array,
    c_function,
    drop,
    fill,
    handle,
    held,
    kept_text,
    numbers,
    parsed,
    tensor,
    text,
)
from everflow.c_api.functions import CFunction
from everflow.c_api.sessions import Devices
from everflow.eager import calls_by_name, execute
from everflow.eager.context import context as process_context
from everflow.eager.tensor import EagerTensor
from everflow.errors import OpError, invalid_argument, not_found
from everflow.graph import attrs as attr_values
from everflow.graph import dtypes, opdefs
from everflow.graph.functions import LIBRARY, FunctionName, add_library
from everflow.graph.stacks import EAGER, graphs
from everflow.graph.wire import complete_attrs, output_types_of
from everflow.proto import attr_value_pb2, config_pb2, function_pb2, tensorflow_server_pb2
from everflow.values import tensors as values

_POLICY_SILENT = 2
_CALL = "StatefulPartitionedCall"


class Options:
    """How a context is to be."""

    def __init__(self) -> None:
        self.config = config_pb2.ConfigProto()
        self.policy = _POLICY_SILENT


@c_function("TFE_NewContextOptions", result=P)
def new_options() -> int:
    """Options."""
    return handle(Options())


@c_function("TFE_ContextOptionsSetConfig", P, P, N, STATUS)
def set_config(options: Any, proto: Any, size: int) -> None:
    """The ConfigProto."""
    held(options).config = parsed(config_pb2.ConfigProto, ctypes.string_at(proto, size) if size else b"")


@c_function("TFE_ContextOptionsSetAsync", P, c_ubyte)
def set_async(options: Any, enable: int) -> None:
    """Ops are done when their call returns, in either case."""
    held(options)


@c_function("TFE_ContextOptionsSetDevicePlacementPolicy", P, I)
def set_policy(options: Any, policy: int) -> None:
    """What to do with inputs that lie elsewhere."""
    held(options).policy = policy


c_function("TFE_DeleteContextOptions", P)(drop)


class CContext:
    """Where ops run. Devices, functions and kernels are those of the process."""

    def __init__(self, options: Options) -> None:
        self.config, self.policy = options.config, options.policy
        self.policies = threading.local()
        self.ran: Any = None

    def note(self, kind: str, name: str | None, began: int, ended: int) -> None:
        """An op that ran, for the RunMetadata."""
        if not self.ran.step_stats.dev_stats:
            self.ran.step_stats.dev_stats.add(device=_local_device())
        stats = self.ran.step_stats.dev_stats[0].node_stats.add(node_name=name or kind, timeline_label=kind)
        stats.all_start_nanos, stats.all_start_micros = began, began // 1000
        stats.op_end_rel_nanos = stats.all_end_rel_nanos = ended - began
        stats.op_end_rel_micros = stats.all_end_rel_micros = max(1, (ended - began) // 1000)

    def listen(self, wanted: bool) -> None:
        """Begins or ends to note what runs."""
        if wanted and self.ran is None:
            self.ran = config_pb2.RunMetadata()
            execute.TRACES.append(self.note)
        elif not wanted and self.ran is not None:
            execute.TRACES.remove(self.note)
            self.ran = None


def _local_device() -> str:
    return process_context().list_devices()[0]


@c_function("TFE_NewContext", P, STATUS, result=P)
def new_context(options: Any) -> int:
    """A context."""
    return handle(CContext(held(options)))


@c_function("TFE_DeleteContext", P)
def delete_context(context: Any) -> None:
    """Lets a context go."""
    if context:
        held(context).listen(False)
        drop(context)


@c_function("TFE_ContextListDevices", P, STATUS, result=P)
def list_devices(context: Any) -> int:
    """The devices."""
    held(context)
    return handle(Devices([device for task in execute.CONTEXT.placer.tasks for device in task.devices()]))


@c_function("TFE_ContextClearCaches", P)
def clear_caches(context: Any) -> None:
    """Has kernels be made anew."""
    held(context)
    execute.forget_kernels()


@c_function("TFE_ContextSetThreadLocalDevicePlacementPolicy", P, I)
def set_thread_policy(context: Any, policy: int) -> None:
    """The policy of the calling thread."""
    held(context).policies.chosen = policy


@c_function("TFE_ContextGetDevicePlacementPolicy", P, result=I)
def get_policy(context: Any) -> int:
    """The policy of the calling thread."""
    found: CContext = held(context)
    return getattr(found.policies, "chosen", found.policy)


@c_function("TFE_ContextSetServerDef", P, I, P, N, STATUS)
def set_server_def(context: Any, keep_alive: int, proto: Any, size: int) -> None:
    """Makes the process a task of a cluster."""
    held(context)
    given = ctypes.string_at(proto, size) if size else b""
    process_context().set_server_def(parsed(tensorflow_server_pb2.ServerDef, given), keep_alive)


def _add_function(definition: Any) -> None:
    library = function_pb2.FunctionDefLibrary()
    library.function.add().CopyFrom(definition)
    add_library(LIBRARY, library)


@c_function("TFE_ContextAddFunctionDef", P, P, N, STATUS)
def add_function_def(context: Any, proto: Any, size: int) -> None:
    """Makes a FunctionDef known."""
    held(context)
    _add_function(parsed(function_pb2.FunctionDef, ctypes.string_at(proto, size) if size else b""))


@c_function("TFE_ContextAddFunction", P, P, STATUS)
def add_function(context: Any, function: Any) -> None:
    """Makes a function known."""
    held(context)
    found: CFunction = held(function)
    _add_function(found.definition)


@c_function("TFE_ContextRemoveFunction", P, S, STATUS)
def remove_function(context: Any, name: bytes) -> None:
    """Forgets a function."""
    held(context)
    if LIBRARY._functions.pop(text(name), None) is None:
        raise invalid_argument(f"Tried to remove non-existent function '{text(name)}'.")
    execute.CONTEXT.forget_function(text(name))
    execute.forget_kernels()


@c_function("TFE_ContextHasFunction", P, S, result=c_ubyte)
def has_function(context: Any, name: bytes) -> int:
    """Whether a function is known."""
    return int(text(name) in LIBRARY._functions)


@c_function("TFE_ContextEnableRunMetadata", P)
def enable_run_metadata(context: Any) -> None:
    """Begins to note what runs."""
    held(context).listen(True)


@c_function("TFE_ContextDisableRunMetadata", P)
def disable_run_metadata(context: Any) -> None:
    """Ends it."""
    held(context).listen(False)


@c_function("TFE_ContextExportRunMetadata", P, P, STATUS)
def export_run_metadata(context: Any, into: Any) -> None:
    """What ran since the last time."""
    found: CContext = held(context)
    fill(into, found.ran if found.ran is not None else config_pb2.RunMetadata())
    if found.ran is not None:
        found.ran.Clear()


for _step in ("TFE_ContextStartStep", "TFE_ContextEndStep"):
    # Nothing here is kept for a step only.
    c_function(_step, P)(lambda context: held(context) and None)


# -- tensors


class Held:
    """A tensor that C has a handle of, and the device of the op that made it."""

    def __init__(self, found: EagerTensor, device: str | None = None) -> None:
        self.tensor = found
        self.device = device or _local_device()


def _tensor(number: Any) -> Held:
    if not number:
        raise invalid_argument("The passed in handle is a nullptr")
    return held(number)


@c_function("TFE_NewTensorHandle", P, STATUS, result=P)
def new_handle(given: Any) -> int:
    """A tensor with a copy of a value."""
    value = array(given)
    dtype = dtypes.string if value.dtype == object else dtypes.as_dtype(value.dtype)
    return handle(Held(EagerTensor(values.from_numpy(np.array(value), dtype), dtype)))


c_function("TFE_DeleteTensorHandle", P)(drop)


@c_function("TFE_TensorHandleDataType", P, result=I)
def data_type(number: Any) -> int:
    """The type of the elements."""
    return held(number).tensor.dtype.as_datatype_enum


@c_function("TFE_TensorHandleNumDims", P, STATUS, result=I)
def rank(number: Any) -> int:
    """How many dimensions there are."""
    return len(_tensor(number).tensor.dims)


@c_function("TFE_TensorHandleNumElements", P, STATUS, result=c_int64)
def size(number: Any) -> int:
    """How many elements there are."""
    return math.prod(_tensor(number).tensor.dims)


@c_function("TFE_TensorHandleDim", P, I, STATUS, result=c_int64)
def dim(number: Any, index: int) -> int:
    """One of the sizes."""
    dims = _tensor(number).tensor.dims
    if not 0 <= index < len(dims):
        raise invalid_argument(f"There is no dimension {index} in a tensor of rank {len(dims)}.")
    return dims[index]


def _device_name(number: Any) -> int:
    found = _tensor(number)
    return kept_text(found, "device", found.device)


c_function("TFE_TensorHandleDeviceName", P, STATUS, result=P)(_device_name)
c_function("TFE_TensorHandleBackingDeviceName", P, STATUS, result=P)(_device_name)


@c_function("TFE_TensorHandleCopySharingTensor", P, STATUS, result=P)
def copy_handle(number: Any) -> int:
    """Another handle of the same tensor."""
    found = _tensor(number)
    return handle(Held(found.tensor, found.device))


@c_function("TFE_TensorHandleResolve", P, STATUS, result=P)
def resolve(number: Any) -> int:
    """The value."""
    found = _tensor(number).tensor
    return tensor(found.value if found.dtype in (dtypes.resource, dtypes.variant) else found.numpy(), found.dtype)


@c_function("TFE_TensorHandleCopyToDevice", P, P, S, STATUS, result=P)
def copy_to_device(number: Any, context: Any, name: bytes) -> int:
    """The tensor on a device."""
    held(context)
    found, wanted = _tensor(number), text(name)
    known = {device: device for device in process_context().list_devices()}
    short = {device.rpartition("device:")[2]: device for device in known}
    device = known.get(wanted) or short.get(wanted) or (_local_device() if not wanted else None)
    if device is None:
        raise invalid_argument(f"{wanted} unknown device.")
    with graphs.get_controller(EAGER), tf.device(device):
        return handle(Held(tf.identity(found.tensor), device))


class _Layout:
    def __init__(self, dims: tuple[int, ...]) -> None:
        self.dims = dims


@c_function("TFE_TensorHandleTensorDebugInfo", P, STATUS, result=P)
def layout(number: Any) -> int:
    """How the tensor lies on its device."""
    return handle(_Layout(_tensor(number).tensor.dims))


c_function("TFE_DeleteTensorDebugInfo", P)(drop)
c_function("TFE_TensorDebugInfoOnDeviceNumDims", P, result=I)(lambda info: len(held(info).dims))
c_function("TFE_TensorDebugInfoOnDeviceDim", P, I, result=c_int64)(lambda info, index: held(info).dims[index])


# -- ops


def _definition(name: str) -> opdefs.OpDef | None:
    """The definition of an op; None for a function that is known. Anything else is an error."""
    found = opdefs.find(name)
    if found is None and name not in LIBRARY._functions:
        raise not_found(
            f"'{name}' is neither a type of a primitive operation nor a name of a function registered in binary running on "
            f"{socket.gethostname()}. Make sure the operation or function is registered in the binary running in this process."
        )
    return found


class COp:
    """An op that is about to run; attributes are set by the functions that set those of operations of graphs."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.definition = _definition(name)
        self.device = ""
        self.inputs: list[EagerTensor] = []
        # How many of the op's arguments the inputs are.
        self.arguments = 0
        self.attrs: dict[str, Any] = {}

    def add(self, given: list[EagerTensor], is_list: bool) -> None:
        """Adds an argument; what a list holds is an attribute too."""
        arguments = () if self.definition is None else self.definition.inputs
        if is_list and self.arguments < len(arguments):
            argument = arguments[self.arguments]
            if argument.number_attr is not None and argument.number_attr not in self.attrs:
                self.attr(argument.number_attr).i = len(given)
            elif argument.type_list_attr is not None and argument.type_list_attr not in self.attrs:
                self.attr(argument.type_list_attr).list.type.extend(t.dtype.as_datatype_enum for t in given)
        self.arguments += 1
        self.inputs.extend(given)

    def attr(self, name: str) -> Any:
        """An attribute to be filled."""
        made = self.attrs[name] = attr_value_pb2.AttrValue()
        return made

    def complete(self) -> tuple[opdefs.OpDef, dict[str, Any]]:
        """The definition of what is called, and all attributes."""
        if self.definition is None:
            definition: Any = opdefs.find(_CALL)
            given = {
                "Tin": [t.dtype for t in self.inputs],
                "Tout": [t.dtype.base_dtype for t in LIBRARY._functions[self.name].graph.outputs],
                "f": FunctionName(self.name),
            }
        else:
            definition, given = self.definition, {}
            for key, value in self.attrs.items():
                if key not in definition.attrs:
                    raise invalid_argument(f"Attribute '{key}' does not exist for this operation")
                given[key] = attr_values.from_proto(value, definition.attrs[key].type)
            if not any(arg.is_list for arg in definition.inputs) and len(self.inputs) != len(definition.inputs):
                raise invalid_argument(f"expected {len(definition.inputs)} inputs, got {len(self.inputs)}")
        complete_attrs(definition, given, self.inputs, self.name)
        return definition, {key: given[key] for key in (*definition.inferred, *definition.explicit)}

    def run(self, room: int) -> list[EagerTensor]:
        """The outputs."""
        definition, attrs = self.complete()
        count = len(output_types_of(definition, attrs))
        if room < count:
            raise invalid_argument(f"Expecting {count} outputs, but *num_retvals is {room}")
        try:
            with graphs.get_controller(EAGER), tf.device(self.device or None):
                found = execute.run(definition, attrs, list(self.inputs))
        except OpError as error:
            # What Python adds to the words of an error is not C's.
            words = error.message.removesuffix(f" [Op:{definition.name}]")
            raise type(error)(None, None, words) from None  # type: ignore[call-arg]
        if found is None:
            return []
        parts = [found] if len(definition.outputs) == 1 else list(found)
        return [t for arg, part in zip(definition.outputs, parts) for t in (part if arg.is_list else [part])]


@c_function("TFE_NewOp", P, S, STATUS, result=P)
def new_op(context: Any, name: bytes) -> int:
    """An op, or the call of a function."""
    held(context)
    return handle(COp(text(name)))


c_function("TFE_DeleteOp", P)(drop)


@c_function("TFE_OpSetDevice", P, S, STATUS)
def set_device(op: Any, name: bytes) -> None:
    """Where the op runs."""
    found: COp = held(op)
    try:
        tf.DeviceSpec.from_string(text(name))
    except ValueError:
        raise invalid_argument(f"Malformed device specification '{text(name)}' in eager op: {found.name}") from None
    found.device = text(name)


@c_function("TFE_OpGetDevice", P, STATUS, result=P)
def get_device(op: Any) -> int:
    """Where the op runs."""
    found: COp = held(op)
    wanted = tf.DeviceSpec.from_string(found.device).to_string().rpartition("/device:")[2]
    device = next((d for d in process_context().list_devices() if wanted and d.endswith(wanted)), _local_device())
    return kept_text(found, "device", device)


@c_function("TFE_OpSetXLACompilation", P, c_ubyte)
def set_xla(op: Any, enable: int) -> None:
    """There is nothing to compile by."""
    held(op)


@c_function("TFE_OpAddInput", P, P, STATUS)
def add_input(op: Any, number: Any) -> None:
    """An input."""
    held(op).add([_tensor(number).tensor], is_list=False)


@c_function("TFE_OpAddInputList", P, P, I, STATUS)
def add_inputs(op: Any, given: Any, count: int) -> None:
    """An input that is a list."""
    held(op).add([_tensor(number).tensor for number in numbers(P, given, count)], is_list=True)


def _attr_type(definition: opdefs.OpDef | None, name: str, is_list: Any) -> int:
    if definition is None or name not in definition.attrs:
        raise invalid_argument(f"Attribute '{name}' does not exist for this operation")
    kind = definition.attrs[name].type
    listed = kind.startswith("list(")
    c_ubyte.from_address(is_list).value = listed
    return calls_by_name.KINDS[kind[5:-1] if listed else kind]


@c_function("TFE_OpGetAttrType", P, S, P, STATUS, result=I)
def attr_type(op: Any, name: bytes, is_list: Any) -> int:
    """The type of an attribute."""
    return _attr_type(held(op).definition, text(name), is_list)


@c_function("TFE_OpNameGetAttrType", P, S, S, P, STATUS, result=I)
def attr_type_by_name(context: Any, op: bytes, name: bytes, is_list: Any) -> int:
    """The type of an attribute of an op by its name."""
    held(context)
    return _attr_type(_definition(text(op)), text(name), is_list)


operations.set_attributes_by("TFE_OpSetAttr")
c_function("TFE_OpSetAttrShape", P, S, P, I, STATUS)(operations.set_shape)
c_function("TFE_OpSetAttrShapeList", P, S, P, P, I, STATUS)(operations.set_shapes)
c_function("TFE_OpSetAttrFunctionName", P, S, P, N)(operations.set_function)
c_function("TFE_OpSetAttrTensor", P, S, P, STATUS)(operations.set_tensor)


@c_function("TFE_OpSetAttrFunction", P, S, P)
def set_function(op: Any, name: bytes, function: Any) -> None:
    """A function, by an op that calls it."""
    held(op).attr(text(name)).func.name = held(function).name


@c_function("TFE_OpSetAttrFunctionList", P, S, P, I)
def set_functions(op: Any, name: bytes, functions: Any, count: int) -> None:
    """Functions, by ops that call them."""
    found = held(op).attr(text(name)).list
    found.SetInParent()
    for function in numbers(P, functions, count):
        found.func.add(name=held(function).name)


def _length(op: COp, name: str, of_inputs: bool) -> int:
    """How many tensors an argument of an op is, as far as its inputs and attributes say."""
    arguments = () if op.definition is None else op.definition.inputs if of_inputs else op.definition.outputs
    found = next((arg for arg in arguments if arg.name == name), None)
    if found is None:
        raise invalid_argument(f"{'Input' if of_inputs else 'Output'} '{name}' not found")
    if not found.is_list:
        return 1
    name = found.number_attr or found.type_list_attr or ""
    if name in op.attrs:
        return op.attrs[name].i if found.number_attr is not None else len(op.attrs[name].list.type)
    _, attrs = op.complete()
    return attrs[name] if found.number_attr is not None else len(attrs[name])


@c_function("TFE_OpGetInputLength", P, S, STATUS, result=I)
def input_length(op: Any, name: bytes) -> int:
    """How many tensors an input is."""
    return _length(held(op), text(name), True)


@c_function("TFE_OpGetOutputLength", P, S, STATUS, result=I)
def output_length(op: Any, name: bytes) -> int:
    """How many tensors an output is."""
    return _length(held(op), text(name), False)


@c_function("TFE_Execute", P, P, P, STATUS)
def execute_op(op: Any, into: Any, count: Any) -> None:
    """Runs an op."""
    room = ctypes.c_int.from_address(count)
    found = held(op).run(room.value)
    places = ctypes.cast(into, ctypes.POINTER(P))
    for i, each in enumerate(found):
        places[i] = handle(Held(each))
    room.value = len(found)
