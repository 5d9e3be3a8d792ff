"""What a network is made of: its ops in a line, as a tree, or layer by layer with their numbers of parameters."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.specs.combinators import SPECS
from everflow.contrib.specs.reading import create_net

SHORT_NAMES = public(SPECS + "SHORT_NAMES")(
    {"BiasAdd": "biasadd", "Const": "_", "Conv2D": "conv", "MatMul": "dot", "Placeholder": "_", "Sigmoid": "sig", "Variable": "var"}
)
public(SPECS + "SHORT_NAMES_SRC")([*itertools.chain.from_iterable(SHORT_NAMES.items())])

# A layer of a summary: its name, its number of parameters, its shape.
Layer = tuple[str, int, Any]


def _operation(x: Any) -> Any:
    return x if isinstance(x, tf.Operation) else x.op


def _shape(x: Any) -> Any:
    return (x.outputs[0] if isinstance(x, tf.Operation) else x).shape.as_list()


@public(SPECS + "tf_structure")
def tf_structure(x: Any, include_shapes: bool = False, finished: set[Any] | None = None) -> str:
    """The ops behind a tensor, inputs first; `<>` stands for one that was there before, and identities are left out."""
    done: set[Any] = set() if finished is None else finished
    op = _operation(x)
    if op in done:
        return " <>"
    done.add(op)
    text = "".join(tf_structure(i, include_shapes, done) for i in op.inputs)
    if include_shapes:
        text += f" {_shape(x)}"
    return text if op.type == "Identity" else f"{text} {SHORT_NAMES.get(op.type, op.type.lower())}"


@public(SPECS + "tf_print")
def tf_print(x: Any, depth: int = 0, finished: set[Any] | None = None, printer: Callable[[str], Any] = print) -> None:
    """Prints the ops behind a tensor as a tree, with their types and shapes."""
    done: set[Any] = set() if finished is None else finished
    op = _operation(x)
    if op.type == "Identity":
        return tf_print(op.inputs[0], depth, done, printer)
    printer(f"{'  ' * depth}{f'<{op.name}>' if op in done else op.name} {op.type} {_shape(x)}")
    if op not in done:
        done.add(op)
        for i in op.inputs:
            tf_print(i, depth + 1, done, printer)
    return None


@public(SPECS + "tf_num_params")
def tf_num_params(x: Any) -> int:
    """How many elements the variables behind a tensor have; those that are reached by two ways count twice."""
    op = _operation(x)
    if op.type in ("Variable", "VariableV2", "VarHandleOp"):
        return tf.TensorShape(op.get_attr("shape")).num_elements() or 0
    return sum(map(tf_num_params, op.inputs))


@public(SPECS + "tf_left_split")
def tf_left_split(op: Any) -> tuple[Any, list[Any]]:
    """The first input of an op, which is what a layer works on, and the others."""
    return (op.inputs[0] if len(op.inputs) else None), list(op.inputs[1:])


@public(SPECS + "tf_parameter_iter")
def tf_parameter_iter(x: Any) -> Iterator[Layer]:
    """The ops from a tensor along their first inputs: their names, the parameters that come in by the others, their shapes."""
    while x is not None:
        left, others = tf_left_split(_operation(x))
        yield _operation(x).name, sum(map(tf_num_params, others)), _shape(x)
        x = left


def _layers(parts: Iterable[Layer]) -> Iterator[Layer]:
    """Ops in a row that are of the same layer, as one."""
    for name, group in itertools.groupby(parts, lambda part: part[0].partition("/")[0]):
        ops = list(group)
        yield name, sum(params for _, params, _ in ops), ops[0][2]


@public(SPECS + "tf_parameter_summary")
def tf_parameter_summary(x: Any, printer: Callable[[str], Any] = print, combine: bool = True) -> None:
    """Prints the layers before a tensor, first to last: their numbers of parameters, names and shapes."""
    parts = tf_parameter_iter(x)
    for name, params, shape in reversed(list(_layers(parts) if combine else parts)):
        printer(f"{params:10d} {name:20s} {shape}")


def _network(spec: str, inputs: Any, input_shape: Any, input_type: Any) -> Any:
    return create_net(spec, tf.placeholder(input_type, input_shape) if inputs is None else inputs)


@public(SPECS + "tf_spec_structure")
def tf_spec_structure(spec: str, inputs: Any = None, input_shape: Any = None, input_type: Any = tf.float32) -> str:
    """The ops of the network of a text, in a line."""
    return tf_structure(_network(spec, inputs, input_shape, input_type)).strip()


@public(SPECS + "tf_spec_summary")
def tf_spec_summary(spec: str, inputs: Any = None, input_shape: Any = None, input_type: Any = tf.float32) -> None:
    """Prints the layers of the network of a text."""
    tf_parameter_summary(_network(spec, inputs, input_shape, input_type))


@public(SPECS + "tf_spec_print")
def tf_spec_print(spec: str, inputs: Any = None, input_shape: Any = None, input_type: Any = tf.float32) -> None:
    """Prints the network of a text as a tree of ops."""
    tf_print(_network(spec, inputs, input_shape, input_type))
