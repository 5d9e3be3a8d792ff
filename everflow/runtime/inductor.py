"""Parts of a plan through torch's compiler (Inductor): loops in C++ for what is read once and written once.

A part is traced by calling its kernels with tensors that have shapes and no numbers, on torch's `meta` device, where native kernels give
way to torch's own.
"""

from __future__ import annotations

import contextlib
import functools
import logging
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._guards import TracingContext, tracing
from torch._inductor import config
from torch._inductor.compile_fx import compile_fx_inner
from torch._inductor.decomposition import select_decomp_table
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

from everflow.ops.core.node import Node, Value
from everflow.runtime import codegen
from everflow.runtime.compilation import Part
from everflow.runtime.passes.host_sizes import keep_sizes_on_host
from everflow.values.tensors import torch_dtype

# The number of threads is that of the run, and shapes were looked at before.
SETTINGS = {"cpp.dynamic_threads": True, "size_asserts": False, "compile_threads": 1}


class Version:
    """Compiled code for tensors of certain shapes and strides; or for contiguous ones of which some sizes may be others."""

    def __init__(self, part: Part, xs: tuple[Any, ...], constants: list[Any], changed: list[set[int]]) -> None:
        self._constants, self._is_single = constants, len(part.results) == 1
        self._symbols = ShapeEnv() if changed else None
        mode = FakeTensorMode(shape_env=self._symbols)
        examples = []
        for i, x in enumerate((*xs, *constants)):
            if self._symbols is None:
                examples.append(mode.from_tensor(x, static_shapes=True))
                continue
            free = changed[i] if i < len(changed) else ()
            kinds = [DimDynamic.DUCK if axis in free else DimDynamic.STATIC for axis in range(x.ndim)]
            examples.append(mode.from_tensor(x.contiguous(), symbolic_context=StatelessSymbolicContext(dynamic_sizes=kinds)))
        with torch.no_grad(), tracing(TracingContext(mode)), config.patch(SETTINGS), mode, _quietly():
            self._code = compiled(traced(part, examples), examples)
        self._sizes = [list(x.shape) for x in examples[: len(xs)]]
        # Where each symbol is found.
        self._free: dict[str, tuple[int, int]] = {}
        for i, sizes in enumerate(self._sizes):
            for axis, size in enumerate(sizes):
                if isinstance(size, torch.SymInt):
                    self._free.setdefault(str(size), (i, axis))
        self._guards = self._symbols.produce_guards_expression(self._found(self._sizes)) if self._symbols is not None else None

    def _found(self, shapes: list[Any]) -> list[Any]:
        """The sizes that symbols stand for."""
        return [shapes[i][axis] for i, axis in self._free.values()]

    def takes(self, xs: tuple[Any, ...]) -> bool:
        """Whether the code is right for tensors of such shapes, which it was not made for."""
        if self._symbols is None:
            return False
        shapes = [x.shape for x in xs]
        known = dict(zip(self._free, self._found(shapes)))
        for shape, sizes in zip(shapes, self._sizes):
            if list(shape) != [known[str(size)] if isinstance(size, torch.SymInt) else size for size in sizes]:
                return False
        return self._guards is None or self._symbols.evaluate_guards_expression(self._guards, list(known.values()))

    def run(self, xs: tuple[Any, ...]) -> Any:
        """Computes the part."""
        if self._symbols is not None:
            xs = tuple([x.contiguous() for x in xs])
        found = self._code([*xs, *self._constants])
        return found[0] if self._is_single else found


def traced(part: Part, examples: list[Any]) -> Any:
    """The part as a graph of torch's ops on tensors like these, none of whose results shares memory with another tensor."""
    elsewhere = [torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device="meta") for x in examples]
    graph = make_fx(functools.partial(_computed, part))(*elsewhere)
    for node in graph.graph.nodes:
        if "device" in node.kwargs:
            node.update_kwarg("device", torch.device("cpu"))
    graph.recompile()

    def alone(*xs: Any) -> list[Any]:
        seen = {x.untyped_storage()._cdata for x in xs}
        results = []
        for y in graph(*xs):
            own = y.untyped_storage()._cdata
            results.append(y.clone() if own in seen else y)
            seen.add(own)
        return results

    table = {**select_decomp_table(), torch.ops.aten.tanh.default: _tangent}
    return make_fx(torch.func.functionalize(alone, remove="mutations_and_views"), table)(*examples)


def _computed(part: Part, *xs: Any) -> list[Any]:
    """What the kernels make of tensors without numbers; constants of more than a number come after the inputs."""
    count = len(part.inputs)
    plan = part.plan(_Elsewhere(part.context, dict(zip(part.constants, xs[count:]))))
    keep_sizes_on_host(plan)
    return list(codegen.generate(plan).call(*xs[:count]))


# The quotient of polynomials that native loops compute (elementwise_kernels.h): half the time of what the compiler would call.
NUMERATOR = (
    -2.76076847742355e-16, 2.00018790482477e-13, -8.60467152213735e-11, 5.12229709037114e-08, 1.48572235717979e-05, 6.37261928875436e-04,
    4.89352455891786e-03,
)  # fmt: skip
DENOMINATOR = (1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03)


def _tangent(x: Any) -> Any:
    """The hyperbolic tangent of floats as arithmetic."""
    if x.dtype != torch.float32:
        return NotImplemented
    x = x.clamp(-7.90531110763549805, 7.90531110763549805)
    square = x * x

    def polynomial(first: float, *rest: float) -> Any:
        found = square * first + rest[0]
        for coefficient in rest[1:]:
            found = found * square + coefficient
        return found

    return polynomial(*NUMERATOR) * x / polynomial(*DENOMINATOR)


class _Elsewhere:
    """A context whose constants are on torch's `meta` device, small ones as numbers that become part of the code."""

    def __init__(self, context: Any, constants: dict[Value, Any]) -> None:
        self._context, self._constants = context, constants

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def constant(self, node: Node) -> Any:
        value = node.outputs[0]
        if value in self._constants:
            return self._constants[value]
        return torch.full(value.constant.shape, value.constant.item(), dtype=torch_dtype(value.dtype), device="meta")  # type: ignore[union-attr]


def compiled(graph: Any, examples: list[Any]) -> Callable[[list[Any]], Any]:
    return compile_fx_inner(graph, examples).current_callable


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Has torch raise what goes wrong without telling of it as well: it may be the program's error."""
    logger = logging.getLogger("torch._subclasses.fake_tensor")
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before
