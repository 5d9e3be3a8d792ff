"""Writes a signature of a SavedModel as a PyTorch module, with its weights in a file beside it."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import os
import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np

from everflow import api
from everflow.export import torch_functions
from everflow.export.program import STEP, Program
from everflow.export.tidying import without_unused, wrapped
from everflow.export.torch_networks import EXPRESSIONS
from everflow.export.values import CannotExpress, Names, Value, as_tensor, torch_type
from everflow.graph.graph import Graph
from everflow.graph.operation import Operation
from everflow.graph.tensor import Tensor
from everflow.lazy import torch
from everflow.saved_model.loader import load

_HEADER = '''"""{summary}

The weights are in {weights}, beside this file:

    model = load()
    outputs = model({arguments})    # {{{outputs}}}
"""
{imports}

'''
_FOOTER = '''

def load(path=os.path.join(os.path.dirname(os.path.abspath(__file__)), {weights!r})):
    """The model with its weights."""
    model = Model()
    with numpy.load(path) as weights:
        model.load_state_dict({{name: torch.from_numpy(weights[name]) for name in weights.files}})
    return model.eval()
'''


class Weights:
    """What a module holds: a parameter or buffer for each variable and each large constant."""

    def __init__(self, sess: Any, trainable: set[str]) -> None:
        self.sess = sess
        self.trainable = trainable
        # A weight may be called neither like a part of every module nor like an argument of numpy.savez.
        self.names = Names([*dir(_module_class()), "training", "file", "allow_pickle"])
        self.arrays: dict[str, np.ndarray] = {}
        self.lines: list[str] = []
        self._known: dict[str, Value] = {}

    def variable(self, op: Operation) -> Value:
        """The weight that a variable is."""
        found = self._known.get(op.name)
        if found is None:
            dtype = op.attr("dtype").base_dtype
            if op.type == "VarHandleOp":
                with op.graph.as_default():
                    value = api.find("raw_ops.ReadVariableOp")(resource=op.outputs[0], dtype=dtype)
            else:
                value = op.outputs[0]
            found = self._known[op.name] = self._kept(op.name, self.sess.run(value), dtype, op.name in self.trainable)
        return found

    def constant(self, value: Value) -> str:
        """Where a large constant is."""
        if value.text not in self._known:
            self._known[value.text] = self._kept(value.text, value.array, value.dtype, False)
        return self._known[value.text].text

    def _kept(self, wanted: str, array: np.ndarray, dtype: Any, trained: bool) -> Value:
        name = self.names.new(wanted)
        shape = ", ".join(map(str, array.shape))
        empty = f"torch.empty({f'({shape})' if not shape else shape}, dtype={torch_type(dtype)})"
        if trained and dtype.is_floating:
            self.lines.append(f"self.{name} = torch.nn.Parameter({empty})")
        else:
            self.lines.append(f'self.register_buffer("{name}", {empty})')
        # numpy has no bfloat16 of its own; as a wider type its numbers are the same.
        self.arrays[name] = array.astype(np.float32) if dtype.name == "bfloat16" else np.asarray(array)
        return Value(f"self.{name}", "tensor", dtype)


@functools.cache
def _module_class() -> Any:
    return torch.nn.Module


def write_module(path: str, sess: Any, inputs: Mapping[str, Tensor], outputs: Mapping[str, Tensor], summary: str) -> None:
    """Writes what computes the outputs to `path`, and the weights to a file of the same name that ends in .npz.

    CannotExpress names the ops that have no form in torch.
    """
    trainable = {v.op.name for v in sess.graph.get_collection(api.find("GraphKeys").TRAINABLE_VARIABLES)}
    weights = Weights(sess, trainable)
    names = Names([*vars(torch_functions), *dir(builtins)])
    arguments = {key: names.new(key) for key in inputs}
    program = Program(EXPRESSIONS, names, weights.variable, weights.constant)
    values = {t: Value(arguments[key], "tensor", t.dtype.base_dtype) for key, t in inputs.items()}
    _refuse_text(inputs, "input")
    _refuse_text(outputs, "output")
    found = program.graph(list(outputs.values()), values)
    if program.unknown:
        raise CannotExpress(
            "these ops have no form in torch:\n"
            + "\n".join(
                f"  {kind}: {', '.join(nodes[:3])}{', ...' if len(nodes) > 3 else ''}" for kind, nodes in sorted(program.unknown.items())
            )
        )
    results = [f"{STEP * 3}{key!r}: {as_tensor(value, weights.constant)}," for key, value in zip(outputs, found)]
    lines = [part for line in without_unused(program.lines, "\n".join(results)) for part in wrapped(line)]
    weights_path = os.path.splitext(path)[0] + ".npz"
    text = "".join(f"\n{source}\n" for source in _sources(program.functions))
    text += "\n".join(
        [
            "",
            "class Model(torch.nn.Module):",
            f"{STEP}def __init__(self):",
            f"{STEP * 2}super().__init__()",
            *(STEP * 2 + line for line in weights.lines),
            "",
            f"{STEP}def forward({', '.join(['self', *arguments.values()])}):",
            *lines,
            f"{STEP * 2}return {{",
            *results,
            f"{STEP * 2}}}",
            "",
        ]
    )
    text += _FOOTER.format(weights=os.path.basename(weights_path))
    header = _HEADER.format(
        summary=summary,
        weights=os.path.basename(weights_path),
        arguments=", ".join(arguments.values()),
        outputs=", ".join(f"{key!r}: ..." for key in outputs),
        imports="\n".join(_imports(text)),
    )
    with open(path, "w", encoding="utf-8") as file:
        file.write(header + text)
    np.savez(weights_path, **weights.arrays)  # type: ignore[arg-type]


def _imports(text: str) -> list[str]:
    return [
        *(["import math"] if "math." in text else []),
        "import os",
        "",
        "import numpy",
        "import torch",
        *(["import torch.nn.functional as F"] if "F." in text else []),
    ]


def _refuse_text(tensors: Mapping[str, Tensor], what: str) -> None:
    for key, t in tensors.items():
        if not (t.dtype.is_floating or t.dtype.is_integer or t.dtype.is_bool or t.dtype.is_complex):
            raise CannotExpress(f"the {what} {key!r} is of type {t.dtype.name}, which torch does not have")


def _sources(wanted: set[str]) -> list[str]:
    """The text of functions, and of those that they call, in the order in which they stand."""
    everything = {name: f for name, f in vars(torch_functions).items() if inspect.isfunction(f)}
    stack, needed = list(wanted), set()
    while stack:
        name = stack.pop()
        if name not in needed:
            needed.add(name)
            tree = ast.parse(textwrap.dedent(inspect.getsource(everything[name])))
            stack.extend(n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id in everything)
    return [inspect.getsource(f).rstrip() + "\n" for name, f in everything.items() if name in needed]


def export_saved_model(saved_model: Any, path: str, tags: list[str], signature: str) -> None:
    """Writes a signature of a SavedModel as a module."""
    with Graph().as_default() as graph, api.find("Session")(graph=graph) as sess:
        meta_graph = load(sess, tags, saved_model)
        if signature not in meta_graph.signature_def:
            known = ", ".join(sorted(meta_graph.signature_def)) or "none"
            raise CannotExpress(f"there is no signature {signature!r}; there is: {known}")
        definition = meta_graph.signature_def[signature]
        ends = []
        for infos in (definition.inputs, definition.outputs):
            for key, info in infos.items():
                if info.WhichOneof("encoding") != "name":
                    raise CannotExpress(f"{key!r} is not one tensor")
            ends.append({key: graph.get_tensor_by_name(infos[key].name) for key in sorted(infos)})
        summary = f"{os.path.basename(os.path.normpath(saved_model))}: {signature!r} of a SavedModel, as a PyTorch module."
        write_module(path, sess, ends[0], ends[1], summary)
