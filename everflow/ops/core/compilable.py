"""Ops that a compiler makes loops of: on tensors without numbers their kernels are torch's ops alone, and what they find wrong are shapes.

Products, convolutions, pooling and the like are not among them: native kernels and libraries compute them as fast as compiled code would.
"""

from __future__ import annotations

from everflow.ops.core.node import Node

ELEMENTS = frozenset(
    """
    Abs Acos Acosh Add AddN AddV2 Asin Asinh Atan Atan2 Atanh Cast Ceil ClipByValue Cos Cosh Div DivNoNan Elu EluGrad Equal Erf
    Erfc Exp Expm1 Floor FloorDiv FloorMod Greater GreaterEqual Inv InvGrad IsFinite IsInf IsNan LeakyRelu LeakyReluGrad Less
    LessEqual Log Log1p LogicalAnd LogicalNot LogicalOr Maximum Minimum Mul MulNoNan Neg NotEqual OnesLike Pow RealDiv Reciprocal
    ReciprocalGrad Relu Relu6 Relu6Grad ReluGrad Rint Round Rsqrt RsqrtGrad Select SelectV2 Selu SeluGrad Sigmoid SigmoidGrad
    Sign Sin Sinh Softplus SoftplusGrad Softsign SoftsignGrad Sqrt SqrtGrad Square SquaredDifference Sub Tan Tanh TanhGrad Xdivy
    Xlogy ZerosLike
    """.split()
)
# What adds up, spreads or looks at whole rows: where compiled code saves the memory that single kernels touch.
ROWS = frozenset(
    """
    All Any BiasAdd BiasAddGrad BroadcastTo L2Loss LogSoftmax Max Mean Min Prod Softmax SoftmaxCrossEntropyWithLogits Sum Tile
    _SumToShape
    """.split()
)
# What only says where elements are.
PLACES = frozenset(
    """
    ConcatV2 ExpandDims Fill Identity Pack Pad PreventGradient Reshape Slice Split Squeeze StopGradient Transpose Unpack
    """.split()
)

FLOATS = ("float32", "float64", "bool")
INTEGERS = ("int32", "int64")


def is_compilable(node: Node) -> bool:
    """Whether a node can be part of compiled code: its results are floating or truths, so that no division by zero is an error."""
    if node.reads or not (node.type in ELEMENTS or node.type in ROWS or node.type in PLACES):
        return False
    return all(v.dtype.name in FLOATS for v in node.outputs) and all(v.dtype.name in FLOATS + INTEGERS for v in node.inputs)
