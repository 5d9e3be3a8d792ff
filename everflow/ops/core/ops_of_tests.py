"""The ops that TensorFlow defines to test graphs with (`tensorflow.python.framework.test_ops`); some of them can run."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from everflow import versions
from everflow.api import internal
from everflow.errors import invalid_argument, not_found
from everflow.graph import dtypes
from everflow.graph.devices import DeviceSpec
from everflow.graph.shapes import with_rank
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import generated, op

NAMES = """
    A Attr AttrBool AttrBoolList AttrDefault AttrEmptyListDefault AttrEnum AttrEnumList AttrFloat AttrListDefault AttrListMin
    AttrListTypeDefault AttrMin AttrPartialShape AttrPartialShapeList AttrShape AttrShapeList AttrTypeDefault B Binary
    ComplexStruct CopyOp DefaultAttrs DevicePlacementOp FiveFloatOutputs FloatInput FloatOutput FloatOutputStringOutput Foo1
    Foo2 Foo3 FuncAttr FuncListAttr GraphDefVersion InPolymorphicTwice Int64Output IntAttr IntInput IntInputFloatInput
    IntInputIntOutput IntOutput IntOutputFloatOutput KernelLabel KernelLabelRequired ListInput ListOutput MixedStruct
    NInPolymorphicTwice NInTwice NInTwoTypeVariables NIntsIn NIntsOut NIntsOutDefault NPolymorphicIn NPolymorphicOut
    NPolymorphicOutDefault NPolymorphicRestrictIn NPolymorphicRestrictOut None Old OpWithDefaultAttr OpWithFutureDefaultAttr
    OutT OutTypeList OutTypeListRestrict Polymorphic PolymorphicDefaultOut PolymorphicOut RefIn RefInputFloatInput
    RefInputFloatInputIntOutput RefInputIntInput RefOut RefOutput RefOutputFloatOutput RequiresOlderGraphVersion ReservedAttr
    ReservedInput ResourceCreateOp ResourceInitializedOp ResourceUsingOp Restrict Simple SimpleStruct StringListAttr
    StubResourceHandleOp TestAttr TestStringOutput TwoFloatInputs TwoFloatInputsFloatOutput TwoFloatInputsIntOutput
    TwoFloatOutputs TwoIntInputs TwoIntOutputs TwoRefsIn TypeList TypeListRestrict TypeListTwice Unary
""".split()

for _name in NAMES:
    internal("framework.test_ops." + re.sub(r"(?<=[a-z0-9])([A-Z])|(?<=[A-Z])([A-Z][a-z])", r"_\1\2", _name).lower())(generated(_name))


def _label(node: Node) -> Callable[..., Any]:
    text = np.array(f"My label is: {node.attrs.get('_kernel') or 'default'}".encode(), dtype=object)
    return lambda *_: text


def _one(node: Node) -> Callable[[], Any]:
    if node.attr("T") is not dtypes.float32:
        raise invalid_argument(f"No OpKernel was registered to support Op 'TestAttr' with these attrs: [T={node.attr('T').name}]")
    return lambda: torch.ones(())


def _failing(node: Node) -> Callable[..., Any]:
    raise invalid_argument("Failure during construction.")


def _place(node: Node) -> Callable[[], Any]:
    device = (node.op.device if node.op is not None else "") or "/device:CPU:0"
    whole = DeviceSpec.from_string("/job:localhost/replica:0/task:0/device:CPU:0").make_merged_spec(DeviceSpec.from_string(device))
    text = np.array(whole.to_string().encode(), dtype=object)
    return lambda: text


def _of_vector(operation: Any) -> tuple[int, ...]:
    with_rank(operation.inputs[0].dims, 1)
    return ()


def _of_older_graph(operation: Any) -> tuple[int, ...]:
    if operation.graph.graph_def_versions.producer != versions.GRAPH_DEF_VERSION - 1:
        raise ValueError("Wrong graph version for shape")
    return ()


op("RequiresOlderGraphVersion", shape=_of_older_graph)
op("KernelLabel", kernel=_label, shape=lambda operation: ())
op("KernelLabelRequired", kernel=_label, shape=_of_vector)
op(
    "GraphDefVersion",
    shape=lambda operation: (),
    kernel=lambda node: lambda: torch.tensor(node.context.graph.graph_def_versions.producer, dtype=torch.int32),
)
op("TestAttr", kernel=_one)
op("ConstructionFails", kernel=_failing)
op("DevicePlacementOp", kernel=_place, shape=lambda operation: ())
op("Old", kernel=lambda node: lambda: None)
op("None", kernel=lambda node: lambda: None)
op("FloatOutput", kernel=lambda node: lambda: torch.zeros(()))
op("IntOutput", kernel=lambda node: lambda: torch.zeros((), dtype=torch.int32))


class _Stub:
    """A resource that does nothing but exist."""

    exists = False


def _stub(node: Node) -> Callable[[], _Stub]:
    found = node.context.resources.get(node.attr("container"), "stub", node.attr("shared_name") or node.name, _Stub)
    return lambda: found


def _create(stub: _Stub) -> None:
    stub.exists = True


def _use(stub: _Stub) -> None:
    if not stub.exists:
        raise not_found("Resource does not exist.")


op("StubResourceHandleOp", kernel=_stub, shape=lambda operation: ())
op("ResourceCreateOp", kernel=lambda node: _create)
op("ResourceInitializedOp", kernel=lambda node: lambda stub: torch.tensor(stub.exists), shape=lambda operation: ())
op("ResourceUsingOp", kernel=lambda node: _use)
