"""`tf.load_op_library` and its kin."""

from __future__ import annotations

import ctypes
import os
import re
import sys
import threading
import types
from collections.abc import Callable
from typing import Any

from everflow.api import public
from everflow.custom_ops import files, framework
from everflow.custom_ops.definitions import Words, op_def
from everflow.errors import OpError, already_exists, invalid_argument, not_found
from everflow.graph import dtypes, opdefs
from everflow.graph.constants import known
from everflow.graph.operation import Operation
from everflow.graph.wire import op_def_proto
from everflow.ops.core.node import Node
from everflow.ops.core.registry import generated, op
from everflow.proto.tensorflow.core.framework import op_def_pb2

_lock = threading.Lock()
_modules: dict[str, types.ModuleType] = {}


@public("load_op_library")
def load_op_library(library_filename: str) -> types.ModuleType:
    """Loads a library of custom ops, and returns a module with a function for each of them.

        zero_out = tf.load_op_library("./zero_out.so").zero_out

    A library is loaded once; its ops are known to graphs, files and eager mode from then on.
    """
    with _lock:
        path = os.path.realpath(library_filename)
        if path not in _modules:
            _modules[path] = _load(library_filename, path)
        return _modules[path]


def _load(given: str, path: str) -> types.ModuleType:
    functions = framework.functions()
    first, kernels = functions.everflow_op_count(), functions.everflow_kernel_count()
    _open(given)
    files.register_new()
    try:
        found = [(number, framework.registered(number)) for number in range(first, functions.everflow_op_count())]
        names = [words.name for _, words in found]
        for name in names:
            if opdefs.find(name) is not None or names.count(name) > 1:
                raise already_exists(f"Op with name {name}")
        definitions = [(number, words, _defined(words)) for number, words in found]
    except OpError:
        functions.everflow_forget(ctypes.c_int64(first), ctypes.c_int64(kernels))
        raise
    name = re.sub(r"\W", "_", os.path.splitext(os.path.basename(path))[0])
    module = types.ModuleType(name, f"The ops of {os.path.basename(path)}.")
    module.OP_LIST = _op_list([definition for *_, definition in definitions])  # type: ignore[attr-defined]
    for number, words, definition in definitions:
        _mean(number, words, definition)
        function = generated(words.name)
        function.__doc__ = words.doc or function.__doc__
        function.__name__ = function.__qualname__ = snake_case(words.name)
        setattr(module, function.__name__, function)
    return module


def _open(given: str) -> None:
    try:
        ctypes.CDLL(given if os.path.sep in given or not os.path.exists(given) else os.path.join(".", given))
    except OSError as error:
        text = str(error)
        if "undefined symbol: everflow_framework_abi_" in text:
            text = f"{given} was compiled with the headers of another version of Everflow; compile it again"
        elif "undefined symbol" in text:
            text += " (compile it with tf.sysconfig.get_compile_flags() and get_link_flags() of the TensorFlow that loads it)"
        raise not_found(text) from None


def _defined(words: Words) -> opdefs.OpDef:
    try:
        return op_def(words)
    except ValueError as error:
        raise invalid_argument(f"{error} for Op name: {words.name}") from None


def _op_list(definitions: list[opdefs.OpDef]) -> Any:
    return op_def_pb2.OpList(op=[op_def_proto(definition) for definition in definitions])


def snake_case(name: str) -> str:
    """The name of an op's function: ZeroOut2D becomes zero_out2d."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z0-9])(?=[A-Z][a-z])", "_", name).lower()


def _mean(number: int, words: Words, definition: opdefs.OpDef) -> None:
    """Tells the registry how the op is computed, and what its shapes are."""
    opdefs.define(definition)
    makes_variants = any(argument.type is dtypes.variant for argument in definition.outputs)

    def kernel(node: Node) -> Callable[..., Any]:
        attrs = {key: node.attr(key) for key in definition.attrs}
        if node.op is not None and "_kernel" in node.op.attrs:
            attrs["_kernel"] = node.op.attrs["_kernel"]

        def made() -> Callable[..., Any]:
            resources = node.context.resources
            manager = resources.get("", "custom ops", "", lambda: framework.Manager(resources.default_container))
            return framework.CustomNode(definition, node.name, attrs).kernel(manager)

        # What a kernel keeps is kept as long as the session.
        run = node.context.state(node, made) if definition.is_stateful else made()
        return _remembering(run, node) if makes_variants else run

    def shape(operation: Operation) -> Any:
        inputs = [(t.dims, known(t)) for t in operation.inputs]
        node = framework.CustomNode(definition, operation.name, {key: operation.attr(key) for key in definition.attrs})
        return node.shapes(number, inputs)

    op(words.name, kernel=kernel, shape=shape if "has_shape_function" in words.flags else None, folds=False)


def _remembering(run: Callable[..., Any], node: Node) -> Callable[..., Any]:
    """Has the streams that an op makes remember which op that was, so that pipelines can be written down."""

    def remembering(*inputs: Any) -> Any:
        values = run(*inputs)
        for value in values if isinstance(values, tuple) else (values,):
            if getattr(value, "made_by", inputs) is None:
                value.op_type, value.made_by = node.type, (node, inputs)
        return values

    return remembering


@public("load_library")
def load_library(library_location: str) -> None:
    """Loads a library, or all of a folder's: their ops and kernels are known from then on."""
    if not os.path.exists(library_location):
        raise OSError(2, "The file or folder to load kernel libraries from does not exist.", library_location)
    if os.path.isdir(library_location):
        for name in sorted(os.listdir(library_location)):
            if name.endswith(".so"):
                load_op_library(os.path.join(library_location, name))
    else:
        load_op_library(library_location)


@public("load_file_system_library")
def load_file_system_library(library_filename: str) -> None:
    """Loads a library with file systems: `tf.gfile`, and all that reads and writes through it, knows their schemes from then on."""
    load_op_library(library_filename)


@public("contrib.util.loader.load_op_library")
def load_op_library_beside(path: str) -> types.ModuleType:
    """Loads a library of custom ops that lies beside the module that asks for it."""
    here = os.path.dirname(os.path.abspath(sys._getframe(1).f_code.co_filename))
    return load_op_library(os.path.join(here, path))
