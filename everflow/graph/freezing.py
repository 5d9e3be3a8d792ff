"""Freezing: variables of a GraphDef become constants with the values they have in a session."""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow.api import public
from everflow.graph import dtypes, opdefs, shapes
from everflow.graph.graph_util import extract_sub_graph, node_name
from everflow.graph.tensor_proto import make_tensor_proto
from everflow.proto import node_def_pb2

_REFERENCES = ("Variable", "VariableV2")
# Ops that hand a resource on, with the attribute that holds its type.
_CARRIERS = {"Identity": "T", "Switch": "T", "Enter": "T", "Merge": "T", "NextIteration": "T", "Exit": "T", "Placeholder": "dtype"}
# Ops that give their inputs to functions: from which input on, the attribute with the types, the functions.
_CALLERS = {
    "If": (1, "Tin", ("then_branch", "else_branch")),
    "StatelessIf": (1, "Tin", ("then_branch", "else_branch")),
    "While": (0, "T", ("cond", "body")),
    "StatelessWhile": (0, "T", ("cond", "body")),
    "Case": (1, "Tin", ("branches",)),
    "PartitionedCall": (0, "Tin", ("f",)),
    "StatefulPartitionedCall": (0, "Tin", ("f",)),
}


@public("graph_util.convert_variables_to_constants")
def convert_variables_to_constants(
    sess: Any,
    input_graph_def: Any,
    output_node_names: list[str],
    variable_names_whitelist: Any = None,
    variable_names_blacklist: Any = None,
) -> Any:
    """The part of a graph that computes the named nodes, with constants in the place of variables."""
    graph_def = extract_sub_graph(input_graph_def, output_node_names)
    wanted: dict[str, Any] = {}
    for node in [*graph_def.node, *(n for f in graph_def.library.function for n in f.node_def)]:
        if node.op not in (*_REFERENCES, "VarHandleOp"):
            continue
        name = _variable_name(node)
        if variable_names_whitelist is not None and name not in variable_names_whitelist:
            continue
        if variable_names_blacklist is not None and name in variable_names_blacklist:
            continue
        wanted[name] = _reading_tensor(sess.graph, name, node)
    values = dict(zip(wanted, sess.run(list(wanted.values())))) if wanted else {}
    return extract_sub_graph(_Freezing(graph_def, values).run(), output_node_names)


def _variable_name(node: Any) -> str:
    """A variable's own name: in function bodies nodes stand for variables of the graph around them."""
    if node.op in _REFERENCES and "shared_name" in node.attr and node.attr["shared_name"].s:
        return node.attr["shared_name"].s.decode()
    return node.name


def _reading_tensor(graph: Any, name: str, node: Any) -> Any:
    if node.op in _REFERENCES:
        return graph.get_tensor_by_name(name + ":0")
    handle = graph.get_operation_by_name(name)
    for consumer in handle.outputs[0].consumers():
        if consumer.type == "ReadVariableOp":
            return consumer.outputs[0]
    raise ValueError(f"Nothing in the graph reads the variable {name}.")


class _Freezing:
    """One conversion: which tensors were handles of frozen variables, and the value of each variable."""

    def __init__(self, graph_def: Any, values: dict[str, np.ndarray]) -> None:
        self.graph_def = graph_def
        self.values = values
        self.functions = {f.signature.name: f for f in graph_def.library.function}
        self.frozen_functions: dict[tuple[str, tuple[int, ...]], str] = {}
        self.result = type(graph_def)()
        self.result.versions.CopyFrom(graph_def.versions)

    def run(self) -> Any:
        self.result.library.CopyFrom(self.graph_def.library)
        del self.result.library.function[:]
        for function in self.graph_def.library.function:
            self.result.library.function.add().CopyFrom(function)
        for function in self.result.library.function:
            self._freeze_body(function, {})
        self.result.node.extend(self._nodes(list(self.graph_def.node), {}))
        return self.result

    def _freeze_body(self, function: Any, handles: dict[str, np.ndarray]) -> None:
        nodes = self._nodes(list(function.node_def), handles, in_function=True)
        copies = [type(n).FromString(n.SerializeToString()) for n in nodes]
        renamed = _renamed_outputs(function.node_def, copies)
        for node in copies:
            inputs = [renamed.get(name, name) for name in node.input]
            del node.input[:]
            node.input.extend(inputs)
        for key, value in list(function.ret.items()):
            function.ret[key] = renamed.get(value, value)
        del function.node_def[:]
        function.node_def.extend(copies)

    def _nodes(self, nodes: list[Any], handles: dict[str, np.ndarray], in_function: bool = False) -> list[Any]:
        """The frozen form of nodes. `handles`: by node (or argument), the value of the variable behind it."""
        for node in nodes:
            if node.op == "VarHandleOp" and node.name in self.values:
                handles[node.name] = self.values[node.name]
        changed = True
        while changed:
            changed = False
            for node in nodes:
                if node.op in _CARRIERS and node.name not in handles and node.input and node_name(node.input[0]) in handles:
                    handles[node.name] = handles[node_name(node.input[0])]
                    changed = True
        found: list[Any] = []
        for node in nodes:
            found.extend(self._node(node, handles, in_function))
        return found

    def _node(self, node: Any, handles: dict[str, np.ndarray], in_function: bool) -> list[Any]:
        if node.op in _REFERENCES and _variable_name(node) in self.values:
            return [_constant(node.name, self.values[_variable_name(node)])]
        if node.op == "VarHandleOp" and node.name in handles:
            return [_constant(node.name, handles[node.name])]
        taken = {
            i: handles[node_name(name)] for i, name in enumerate(node.input) if not name.startswith("^") and node_name(name) in handles
        }
        if not taken:
            return [node]
        copied = type(node)()
        copied.CopyFrom(node)
        if node.op == "ReadVariableOp":
            return [_read(copied, taken[0])]
        if node.op == "ResourceGather":
            return _gather(copied, taken[0], ":output:0" if in_function else "")
        if node.op in _CARRIERS:
            copied.attr[_CARRIERS[node.op]].type = _type_of(taken[0])
            return [copied]
        if node.op in _CALLERS:
            return [self._call(copied, taken)]
        raise ValueError(f"Cannot freeze the variable that {node.name} ({node.op}) uses: only reads can be constants.")

    def _call(self, node: Any, taken: dict[int, np.ndarray]) -> Any:
        first, types, attrs = _CALLERS[node.op]
        for i, value in taken.items():
            node.attr[types].list.type[i - first] = _type_of(value)
            if node.op in ("While", "StatelessWhile") and len(node.attr["output_shapes"].list.shape) > i:
                node.attr["output_shapes"].list.shape[i].CopyFrom(shapes.to_proto(value.shape))
        arguments = {i - first: value for i, value in taken.items()}
        for attr in attrs:
            for function in node.attr[attr].list.func if attr == "branches" else [node.attr[attr].func]:
                function.name = self._function(function.name, arguments)
        return node

    def _function(self, name: str, arguments: dict[int, np.ndarray]) -> str:
        """The name of a function that takes values where the old one took handles."""
        key = (name, tuple(sorted(arguments)))
        if key in self.frozen_functions:
            return self.frozen_functions[key]
        new_name = self.frozen_functions[key] = f"{name}_frozen_{len(self.frozen_functions)}"
        old = self.functions[name]
        new = self.result.library.function.add()
        new.CopyFrom(old)
        new.signature.name = new_name
        handles = {}
        for i, value in arguments.items():
            arg = new.signature.input_arg[i]
            arg.type = _type_of(value)
            handles[arg.name] = value
            if i in new.arg_attr:
                new.arg_attr[i].attr["_output_shapes"].list.shape.add()
                del new.arg_attr[i].attr["_output_shapes"].list.shape[:-1]
                new.arg_attr[i].attr["_output_shapes"].list.shape[0].CopyFrom(shapes.to_proto(value.shape))
        for out in new.signature.output_arg:
            if new.ret[out.name] in handles:
                out.type = _type_of(handles[new.ret[out.name]])
        self._freeze_body(new, handles)
        return new_name


def _renamed_outputs(old: Any, new: list[Any]) -> dict[str, str]:
    """Inside a function a tensor's name holds that of the op's output; it changes where the op does."""
    ops = {node.name: node.op for node in new}
    found = {}
    for node in old:
        if ops[node.name] != node.op:
            before, after = opdefs.find(node.op), opdefs.find(ops[node.name])
            assert before is not None and after is not None
            found[f"{node.name}:{before.outputs[0].name}:0"] = f"{node.name}:{after.outputs[0].name}:0"
    return found


def _type_of(value: np.ndarray) -> int:
    return dtypes.as_dtype(value.dtype).as_datatype_enum


def _constant(name: str, value: np.ndarray) -> Any:
    value = np.asarray(value)
    node = node_def_pb2.NodeDef(name=name, op="Const")
    node.attr["dtype"].type = _type_of(value)
    node.attr["value"].tensor.CopyFrom(make_tensor_proto(value, dtype=dtypes.as_dtype(value.dtype), shape=value.shape))
    return node


def _read(node: Any, value: np.ndarray) -> Any:
    node.op = "Identity"
    groups = node.attr["_class"] if "_class" in node.attr else None
    kept = None if groups is None else groups.SerializeToString()
    node.attr.clear()
    node.attr["T"].type = _type_of(value)
    if kept is not None:
        node.attr["_class"].ParseFromString(kept)
    return node


def _gather(node: Any, value: np.ndarray, suffix: str) -> list[Any]:
    axis = _constant(node.name + "/axis", np.array(0, np.int32))
    indices = node.attr["Tindices"].type
    node.op = "GatherV2"
    control = [i for i in node.input if i.startswith("^")]
    data = [i for i in node.input if not i.startswith("^")]
    del node.input[:]
    node.input.extend([*data, axis.name + suffix, *control])
    node.attr.clear()
    node.attr["Tparams"].type = _type_of(value)
    node.attr["Tindices"].type = indices
    node.attr["Taxis"].type = dtypes.int32.as_datatype_enum
    return [axis, node]
