"""Ops that are run at once by name, with attributes in one flat tuple: how TensorFlow's generated code calls them."""

from __future__ import annotations

from typing import Any

from everflow import errors
from everflow.api import internal
from everflow.eager.execute import run
from everflow.eager.statuses import NotOkStatus
from everflow.eager.tensor import EagerTensor
from everflow.graph import attrs as attr_values
from everflow.graph import dtypes, opdefs
from everflow.graph.convert import convert_to_tensor
from everflow.graph.shapes import as_shape
from everflow.graph.stacks import EAGER, graphs
from everflow.graph.tensor import Tensor
from everflow.graph.wire import output_types_of
from everflow.ops.core import registry

# The numbers of the kinds of attributes.
KINDS = {"string": 0, "int": 1, "float": 2, "bool": 3, "type": 4, "shape": 5, "tensor": 6, "func": 8}
for _kind, _number in KINDS.items():
    internal(f"pywrap_tensorflow.TF_ATTR_{_kind.upper()}")(_number)


@internal("eager.core._FallbackException")
class FallbackException(Exception):
    """Raised where a call needs more care than the quick way takes."""


@internal("eager.core._SymbolicException")
class SymbolicException(Exception):
    """Raised where a tensor of a graph is given to an op that runs at once."""


@internal("eager.execute.execute", "eager.execute.quick_execute")
def execute(op_name: Any, num_outputs: int, inputs: Any, attrs: Any, ctx: Any, name: str | None = None) -> list[Any]:
    """Runs an op; the inputs are tensors, and attributes alternate with their names."""
    definition = opdefs.find(attr_values.text(op_name))
    if definition is None:
        raise errors.NotFoundError(None, None, f"Op type not registered '{attr_values.text(op_name)}' in binary running on localhost.")
    if not isinstance(num_outputs, int):
        raise TypeError(f"expected a number of outputs, got {num_outputs!r}")
    for t in inputs:
        if isinstance(t, Tensor) and not t.is_eager:
            raise SymbolicException(
                "Inputs to eager execution function cannot be Keras symbolic tensors, but found "
                f"{[x for x in inputs if isinstance(x, Tensor) and not x.is_eager]}"
            )
        if not isinstance(t, EagerTensor):
            raise TypeError(f"expected an EagerTensor, got {t!r} of type {type(t).__name__}")
    values = _attributes(definition, attrs or ())
    with graphs.get_controller(EAGER):
        if num_outputs < len(output_types_of(definition, values)):
            raise errors.InvalidArgumentError(
                None, None, f"Expecting {len(output_types_of(definition, values))} outputs, but *num_retvals is {num_outputs}"
            )
        found = run(definition, values, list(inputs), name)
    if found is None:
        return []
    declared = definition.outputs
    parts = [found] if len(declared) == 1 else list(found)
    return [t for arg, part in zip(declared, parts) for t in (part if arg.is_list else [part])]


def _attributes(definition: opdefs.OpDef, given: Any) -> dict[str, Any]:
    """Attributes as ops keep them, in the order of the definition; bad values are the caller's invalid arguments."""
    pairs = dict(zip(given[::2], given[1::2]))
    for name in pairs:
        if attr_values.text(name) not in definition.attrs:
            raise errors.InvalidArgumentError(None, None, f"Operation '{definition.name}' has no attr named '{attr_values.text(name)}'.")
    values = {}
    try:
        for name in (*definition.inferred, *definition.explicit):
            attr = definition.attrs[name]
            value = pairs.get(name, pairs.get(name.encode()))
            if value is not None:
                if attr.type.startswith("list(") and not isinstance(value, (list, tuple)):
                    raise TypeError(f"expecting a list for attr {name}, got {type(value).__name__}")
                values[name] = attr_values.normalized(_checked(value, attr.type), attr.type, name)
            elif attr.has_default:
                values[name] = attr.default
            else:
                raise TypeError(f"attr {name} is missing")
    except (TypeError, ValueError) as error:
        raise errors.InvalidArgumentError(None, None, str(error)) from None
    return values


def _checked(value: Any, kind: str) -> Any:
    inner = kind[5:-1] if kind.startswith("list(") else kind
    for v in value if kind.startswith("list(") else [value]:
        if inner == "shape" and isinstance(v, int) or inner == "int" and isinstance(v, str):
            raise TypeError(f"Expecting {inner}, got {v!r}")
    return value


@internal("pywrap_tensorflow.TFE_Py_FastPathExecute")
def fast_path_execute(*args: Any) -> Any:
    """Runs an op on anything that makes tensors; what a graph has to be built for is left to others."""
    if len(args) < 5:
        raise ValueError(f"There must be at least 5 items in the input tuple, got {len(args)}")
    op_name, name = args[2], args[3]
    if not isinstance(op_name, (str, bytes)):
        raise TypeError(f"expected a string for op_name, got {type(op_name).__name__} instead")
    definition = opdefs.find(attr_values.text(op_name))
    if definition is None:
        raise FallbackException(f"No op named {op_name!r}")
    count = len(definition.inputs)
    if len(args) < 5 + count:
        raise ValueError(f"Tuple size smaller than intended. Expected to be at least {5 + count}, was {len(args)}")
    inputs, rest = args[5 : 5 + count], args[5 + count :]
    flat = [t for x in inputs for t in (x if isinstance(x, (list, tuple)) else [x])]
    if any(isinstance(getattr(t, "handle", t), Tensor) and not getattr(t, "handle", t).is_eager for t in flat):
        raise FallbackException("This function does not handle the case of the path where all inputs are not already EagerTensors.")
    attrs = dict(zip(rest[::2], rest[1::2]))
    for key, value in attrs.items():
        attr = definition.attrs[key]
        if attr.minimum is not None and isinstance(value, int) and value < attr.minimum:
            raise FallbackException(f"attr {key} is {value}")
    try:
        with graphs.get_controller(EAGER):
            return registry.apply(definition.name, *inputs, name=name, **attrs)
    except errors.OpError as error:
        raise NotOkStatus(error.message, error.error_code) from None


@internal("pywrap_tensorflow.TFE_Py_RegisterExceptionClass")
def register_exception_class(kind: Any) -> None:
    """Checks what is offered as the class of exceptions; ours are raised as they are."""
    if not (isinstance(kind, type) and issubclass(kind, Exception)):
        raise TypeError(f"TFE_Py_RegisterExceptionClass: Registered class should be subclass of Exception, got {kind}.")


@internal("eager.execute.args_to_matching_eager")
def args_to_matching_eager(l: Any, ctx: Any, default_dtype: Any = None) -> tuple[Any, list[Any]]:
    """Values as tensors of one type: that of the tensors among them, or a preferred one."""
    dtype = next((t.dtype.base_dtype for t in l if isinstance(getattr(t, "dtype", None), dtypes.DType)), None)
    found = []
    for value in l:
        found.append(convert_to_tensor(value, dtype=dtype, preferred_dtype=default_dtype))
        dtype = dtype or found[-1].dtype.base_dtype
    return dtype or default_dtype, found


@internal("eager.execute.convert_to_mixed_eager_tensors")
def convert_to_mixed_eager_tensors(values: Any, ctx: Any) -> tuple[list[Any], list[Any]]:
    """Values as tensors, each of its own type."""
    found = [convert_to_tensor(v) for v in values]
    return [t.dtype for t in found], found


def _maker(kind: str, article: str) -> Any:
    def make(value: Any, arg_name: str) -> Any:
        try:
            return attr_values.normalized(value, kind, arg_name)
        except TypeError:
            raise TypeError(f"Expected {article} for argument '{arg_name}' not {value!r}.") from None

    return make


make_int = internal("eager.execute.make_int")(_maker("int", "int"))
make_float = internal("eager.execute.make_float")(_maker("float", "float"))
make_bool = internal("eager.execute.make_bool")(_maker("bool", "bool"))
make_str = internal("eager.execute.make_str")(_maker("string", "string"))


@internal("eager.execute.make_type")
def make_type(v: Any, arg_name: str) -> int:
    """The number of a dtype."""
    return attr_values.normalized(v, "type", arg_name).as_datatype_enum


@internal("eager.execute.make_shape")
def make_shape(v: Any, arg_name: str) -> Any:
    """A shape as a list of sizes, or None."""
    dims = attr_values.normalized(v, "shape", arg_name)
    return None if dims is None else list(dims)


@internal("eager.backprop.op_attr_type")
def op_attr_type(op_type: str, attr_name: str) -> Any:
    """The number of an attribute's kind; in a list where the attribute is one."""
    definition = opdefs.find(op_type)
    assert definition is not None
    kind = definition.attrs[attr_name].type
    return [KINDS[kind[5:-1]]] if kind.startswith("list(") else KINDS[kind]


@internal("eager.backprop.make_attr")
def make_attr(attr_type: Any, value: Any) -> Any:
    """An attribute's value as gradient functions see it: dtypes for numbers of types, protos for shapes."""
    if isinstance(attr_type, list):
        return [make_attr(attr_type[0], v) for v in value]
    if attr_type == KINDS["type"]:
        return dtypes.as_dtype(value)
    if attr_type == KINDS["shape"]:
        return as_shape(value).as_proto()
    return value
