"""Functions as a SavedModel's object graph tells of them."""

from __future__ import annotations

import inspect
from typing import Any

from everflow import nest
from everflow.api import internal
from everflow.eager.arguments import UnknownArgument, full_arg_spec
from everflow.eager.functions import ConcreteFunction, TracedFunction
from everflow.graph.tensor import Tensor
from everflow.graph.tensor_spec import TensorSpec
from everflow.graph.type_spec import CompositeTensor
from everflow.platform import logging
from everflow.proto import saved_object_graph_pb2
from everflow.saved_model.structures import StructureCoder


def concrete_functions_of(function: Any) -> list[ConcreteFunction]:
    """The traced bodies of a function that a file can tell of, each kind of arguments once."""
    if isinstance(function, ConcreteFunction):
        return [function]
    found: list[ConcreteFunction] = []
    seen: list[Any] = []
    for concrete in function._list_all_concrete_functions_for_serialization():
        signature = concrete.structured_input_signature
        if any(isinstance(leaf, UnknownArgument) for leaf in nest.flatten(signature)):
            logging.info("Unsupported signature for serialization: %s.", signature)
        elif signature not in seen:
            seen.append(signature)
            found.append(concrete)
    return found


@internal("saved_model.function_serialization.serialize_concrete_function")
def serialize_concrete_function(concrete_function: ConcreteFunction, node_ids: Any, coder: StructureCoder) -> Any:
    """What a body captures, and the structures of its arguments and results."""
    proto = saved_object_graph_pb2.SavedConcreteFunction()
    for capture in concrete_function.captured_inputs:
        if capture not in node_ids:
            raise KeyError(
                f"Failed to add concrete function {concrete_function.function_name!r} to object based saved model as it captures tensor "
                f"{capture!r} which is unsupported or not reachable from root. One reason could be that a stateful object or a variable "
                "that the function depends on is not assigned to an attribute of the serialized trackable object (see "
                "SaveTest.test_captures_unreachable_variable)."
            )
        proto.bound_inputs.append(node_ids[capture])
    proto.canonicalized_input_signature.CopyFrom(coder.encode_structure(concrete_function.structured_input_signature))
    proto.output_signature.CopyFrom(coder.encode_structure(_result_specs(concrete_function.structured_outputs)))
    return proto


def _result_specs(outputs: Any) -> Any:
    def spec(value: Any) -> Any:
        if isinstance(value, CompositeTensor):
            return value._type_spec
        return TensorSpec(value.shape, value.dtype.base_dtype) if isinstance(value, Tensor) else value

    if isinstance(outputs, dict):
        # The keys name the tensors, as far as they are not deeper in.
        return {
            key: TensorSpec(v.shape, v.dtype.base_dtype, key)
            if isinstance(v, Tensor) and not isinstance(v, CompositeTensor)
            else nest.map_structure(spec, v)
            for key, v in outputs.items()
        }
    return nest.map_structure(spec, outputs)


@internal("saved_model.function_serialization.serialize_bare_concrete_function")
def serialize_bare_concrete_function(concrete_function: ConcreteFunction) -> Any:
    """A body that is an attribute by itself."""
    return saved_object_graph_pb2.SavedBareConcreteFunction(
        concrete_function_name=concrete_function.function_name,
        argument_keywords=concrete_function._arg_keywords,
        allowed_positional_arguments=concrete_function._num_positional_args,
    )


@internal("saved_model.function_serialization.serialize_function")
def serialize_function(function: TracedFunction) -> Any:
    """A function with its bodies and its parameters."""
    coder = StructureCoder()
    proto = saved_object_graph_pb2.SavedFunction()
    spec = function.function_spec
    proto.function_spec.fullargspec.CopyFrom(coder.encode_structure(_storable(spec)))
    proto.function_spec.is_method = spec.is_method
    proto.function_spec.input_signature.CopyFrom(coder.encode_structure(spec.input_signature))
    proto.concrete_functions.extend(concrete.function_name for concrete in concrete_functions_of(function))
    return proto


def _storable(spec: Any) -> inspect.FullArgSpec:
    """The parameters without those that a partial has set."""
    kept = [p for p in spec.signature.parameters.values() if p.name not in spec.preset]
    return full_arg_spec(spec.signature.replace(parameters=kept))
