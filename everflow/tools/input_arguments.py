"""Inputs of a model as a command line gives them: files, expressions, tf.Examples."""

from __future__ import annotations

import ast
import io
import operator
import re
from typing import Any

import numpy as np

from everflow.compat import as_bytes
from everflow.io import gfile
from everflow.platform import logging
from everflow.proto import example_pb2

_FILE = re.compile(r"([^=]+)=([^\[\]]+)\[([^\[\]]+)\]$")
_PLAIN_FILE = re.compile(r"([^=]+)=([^\[\]]+)$")


def _parts(text: str) -> list[str]:
    return [part for part in text.split(";") if part]


def preprocess_inputs_arg_string(inputs_str: str) -> dict[str, tuple[str, str | None]]:
    """{key: (file, name in it or None)} of 'key=file;key=file[name]'."""
    found: dict[str, tuple[str, str | None]] = {}
    for part in _parts(inputs_str):
        match = _FILE.match(part)
        if match:
            found[match.group(1)] = (match.group(2), match.group(3))
            continue
        match = _PLAIN_FILE.match(part)
        if not match:
            raise RuntimeError(
                f'--inputs "{part}" format is incorrect. Please follow"<input_key>=<filename>", or"<input_key>=<filename>[<variable_name>]"'
            )
        found[match.group(1)] = (match.group(2), None)
    return found


def preprocess_input_exprs_arg_string(input_exprs_str: str, safe: bool = False) -> dict[str, Any]:
    """{key: value} of 'key=expression;...'. `safe`: only literals; else also what numpy computes, as `np.ones((2, 3))`."""
    found = {}
    for part in _parts(input_exprs_str):
        key, equals, expression = part.partition("=")
        if not equals:
            raise RuntimeError(f'--input_exprs "{input_exprs_str}" format is incorrect. Please follow "<input_key>=<python expression>"')
        if safe:
            try:
                found[key] = ast.literal_eval(expression)
            except (ValueError, SyntaxError):
                raise RuntimeError(f'Expression "{expression}" is not a valid python literal.') from None
        else:
            found[key] = evaluated(expression)
    return found


_OPERATORS: dict[type, Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
# Parts of numpy that read files or run code.
_NOT_FOR_NUMBERS = {
    "load",
    "loadtxt",
    "genfromtxt",
    "fromfile",
    "fromregex",
    "memmap",
    "save",
    "savez",
    "savetxt",
    "savez_compressed",
    "lib",
    "f2py",
    "distutils",
    "testing",
    "ctypeslib",
    "tofile",
    "dump",
    "dumps",
    "DataSource",
    "vectorize",
    "frompyfunc",
    "fromfunction",
    "apply_along_axis",
    "apply_over_axes",
    "piecewise",
}


def evaluated(expression: str) -> Any:
    """The value of an expression of literals, arithmetic and numpy: no names, no attributes but those of numpy, so no other code runs."""
    try:
        return _value(ast.parse(expression.strip(), mode="eval").body)
    except SyntaxError:
        raise RuntimeError(f'Expression "{expression}" is not valid Python.') from None


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, (ast.List, ast.Tuple)):
        items = [_value(item) for item in node.elts]
        return items if isinstance(node, ast.List) else tuple(items)
    if isinstance(node, ast.Dict):
        return {_value(key): _value(value) for key, value in zip(node.keys, node.values) if key is not None}
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_value(node.left), _value(node.right))
    if isinstance(node, ast.UnaryOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_value(node.operand))
    if isinstance(node, ast.Name) and node.id in ("np", "numpy"):
        return np
    if isinstance(node, ast.Attribute) and not node.attr.startswith("_") and node.attr not in _NOT_FOR_NUMBERS:
        return getattr(_value(node.value), node.attr)
    if isinstance(node, ast.Call):
        function = _value(node.func)
        if function is not np:
            return function(*(_value(a) for a in node.args), **{k.arg: _value(k.value) for k in node.keywords if k.arg})
    raise RuntimeError(f'"{ast.unparse(node)}" is neither a number, a list nor a function of numpy (np.)')


def preprocess_input_examples_arg_string(input_examples_str: str) -> dict[str, list[bytes]]:
    """{key: serialized tf.Examples} of 'key=[{"feature": [values]}]'."""
    found: dict[str, Any] = preprocess_input_exprs_arg_string(input_examples_str, safe=True)
    for key, examples in found.items():
        if not isinstance(examples, list):
            raise ValueError(f'tf.Example input must be a list of dictionaries, but "{examples}" is {type(examples)}')
        found[key] = [_serialized(example) for example in examples]
    return found


def _serialized(example: dict[str, Any]) -> bytes:
    proto = example_pb2.Example()
    for name, values in example.items():
        if not isinstance(values, list):
            raise ValueError(f'feature value must be a list, but "{name}" is {type(values)}')
        feature = proto.features.feature[name]
        if isinstance(values[0], float) and all(isinstance(v, (int, float)) for v in values):
            feature.float_list.value.extend(values)
        elif isinstance(values[0], (str, bytes)):
            feature.bytes_list.value.extend(as_bytes(v) for v in values)
        elif isinstance(values[0], int):
            feature.int64_list.value.extend(values)
        else:
            raise ValueError(f"Type {type(values[0])} for value {values[0]} is not supported for tf.train.Feature.")
    return proto.SerializeToString()


def load_inputs_from_input_arg_string(inputs_str: str, input_exprs_str: str, input_examples_str: str) -> dict[str, Any]:
    """{key: value} of all three forms; a later form overrides an earlier one."""
    found: dict[str, Any] = {}
    for key, (path, name) in preprocess_inputs_arg_string(inputs_str).items():
        with gfile.GFile(path, "rb") as file:
            data = np.load(io.BytesIO(file.read()), allow_pickle=True)
        if isinstance(data, np.lib.npyio.NpzFile) or isinstance(data, dict):
            found[key] = _member(key, path, data, name)
        else:
            if name:
                print(f'Input file {path} contains a single ndarray. Name key "{name}" ignored.')
            found[key] = data
    for given in (preprocess_input_exprs_arg_string(input_exprs_str), preprocess_input_examples_arg_string(input_examples_str)):
        for key, value in given.items():
            if key in found:
                logging.warning(
                    "input_key %s has been specified with both --inputs and --input_exprs options. Value in the later one will be used.",
                    key,
                )
            found[key] = value
    return found


def _member(key: str, path: str, data: Any, name: str | None) -> Any:
    names = list(data.files if hasattr(data, "files") else data)
    if name:
        if name not in names:
            raise RuntimeError(f'Input file {path} does not contain variable with name "{name}".')
        return data[name]
    if len(names) != 1:
        raise RuntimeError(f"Input file {path} contains more than one ndarrays. Please specify the name of ndarray to use.")
    return data[names[0]]
