"""Batching across steps: runs that come at the same time are computed as one batch (Batch, Unbatch, BatchFunction)."""

from __future__ import annotations

import bisect
import itertools
import threading
import time
from collections.abc import Callable
from typing import Any

from everflow.api import internal, public
from everflow.errors import OpError, deadline_exceeded, invalid_argument
from everflow.graph.defun import Defun
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.graph.shapes import Dims
from everflow.graph.tensor import Tensor
from everflow.lazy import torch
from everflow.ops.control_flow.calls import call_function
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op
from everflow.values.waiting import Waited

Kernel = Callable[..., Any]
_task_numbers = itertools.count(1)


class _Task:
    """What one run brings to a batch."""

    def __init__(self, tensors: tuple[Any, ...]) -> None:
        self.number = next(_task_numbers)
        self.tensors = tensors
        if any(t.ndim == 0 for t in tensors):
            raise invalid_argument("Batching input tensors must have at least one dimension")
        self.size = tensors[0].shape[0]
        if any(t.shape[0] != self.size for t in tensors):
            raise invalid_argument("Batching input tensors supplied in a given op invocation must have equal 0th-dimension size")


class _Batch:
    """Tasks that are computed together, by the run that came last."""

    def __init__(self, deadline: float) -> None:
        self.tasks: list[_Task] = []
        self.deadline = deadline
        self.closed = False
        self.done = threading.Event()
        self.results: Any = None
        self.error: Exception | None = None

    @property
    def size(self) -> int:
        return sum(t.size for t in self.tasks)

    def joined(self, allowed: list[int]) -> list[Any]:
        """Each input of all tasks one after the other, filled up to an allowed size with copies of its first row."""
        missing = 0
        if allowed:
            missing = allowed[min(bisect.bisect_left(allowed, self.size), len(allowed) - 1)] - self.size
        columns = []
        for parts in zip(*(t.tensors for t in self.tasks)):
            more = [parts[0][:1].expand(missing, *parts[0].shape[1:])] if missing > 0 else []
            columns.append(torch.cat([*parts, *more]))
        return columns

    def rows(self) -> list[tuple[int, int, int]]:
        """(number, first row, row after the last) of each task."""
        ends = list(itertools.accumulate(t.size for t in self.tasks))
        return [(t.number, end - t.size, end) for t, end in zip(self.tasks, ends)]


class Batcher:
    """Puts tasks into batches: a batch is computed when it is full, or when its first task has waited long enough."""

    def __init__(self, largest: int, timeout: float) -> None:
        self.largest, self.timeout = largest, timeout
        self.condition = threading.Condition()
        self.open: dict[str, _Batch] = {}

    def join(self, queue: str, task: _Task) -> _Batch:
        """The task's batch, once that is complete."""
        if task.size > self.largest:
            raise invalid_argument(f"Task size {task.size} is larger than maximum batch size {self.largest}")
        with self.condition:
            batch = self.open.get(queue)
            if batch is not None and batch.size + task.size > self.largest:
                self._close(queue, batch)
                batch = None
            if batch is None:
                batch = self.open[queue] = _Batch(time.monotonic() + self.timeout)
            batch.tasks.append(task)
            if batch.size >= self.largest:
                self._close(queue, batch)
            while not batch.closed:
                rest = batch.deadline - time.monotonic()
                if rest <= 0:
                    self._close(queue, batch)
                else:
                    self.condition.wait(rest)
        return batch

    def _close(self, queue: str, batch: _Batch) -> None:
        batch.closed = True
        if self.open.get(queue) is batch:
            del self.open[queue]
        self.condition.notify_all()


def _batcher(node: Node) -> tuple[Callable[[], Batcher], str, list[int]]:
    largest, allowed = node.attr("max_batch_size"), list(node.attr("allowed_batch_sizes") or [])
    if allowed and (allowed != sorted(set(allowed)) or allowed[-1] != largest):
        raise invalid_argument(
            "allowed_batch_sizes entries must be monotonically increasing, and the last one must equal max_batch_size"
            if allowed == sorted(set(allowed))
            else "allowed_batch_sizes entries must be monotonically increasing"
        )
    queue = node.attr("batching_queue")
    timeout = node.attr("batch_timeout_micros") / 1e6

    def get() -> Batcher:
        return node.context.resources.get(
            node.attr("container"), "batcher", node.attr("shared_name") or node.name, lambda: Batcher(largest, timeout)
        )

    return get, queue.decode() if isinstance(queue, bytes) else queue, allowed


def _batch(node: Node) -> Kernel:
    get, queue, allowed = _batcher(node)

    def run(*tensors: Any) -> Any:
        task = _Task(tensors)
        batch = get().join(queue, task)
        number = torch.tensor(task.number, dtype=torch.int64)
        if batch.tasks[-1] is not task:
            return (*(t[:0] for t in tensors), torch.zeros((0, 3), dtype=torch.int64), number)
        return (*batch.joined(allowed), torch.tensor(batch.rows(), dtype=torch.int64), number)

    return run


class Unbatcher(Waited):
    """Rows of computed batches that wait for the runs that they belong to."""

    def __init__(self, context: Any) -> None:
        super().__init__(context)
        self.ready: dict[int, Any] = {}

    def give(self, number: int, rows: Any) -> None:
        with self.condition:
            self.ready[number] = rows
            self.condition.notify_all()

    def take(self, number: int, timeout: float) -> Any:
        """The rows of a run, which may have to be waited for so many seconds."""
        deadline = time.monotonic() + timeout
        with self.condition:
            while number not in self.ready:
                rest = deadline - time.monotonic()
                if rest <= 0 or self.gone:
                    raise deadline_exceeded("Batched data did not arrive within timeout window.")
                self.condition.wait(rest)
            return self.ready.pop(number)

    def take_all(self, numbers: list[int]) -> list[Any]:
        """The rows of several runs, once all have come."""
        with self.condition:
            self.wait(lambda: all(n in self.ready for n in numbers), "The session ended before all gradients of a batch came.")
            return [self.ready.pop(n) for n in numbers]


def _unbatch(node: Node) -> Kernel:
    timeout = node.attr("timeout_micros") / 1e6

    def run(batched: Any, index: Any, number: Any) -> Any:
        unbatcher = node.context.resources.get(
            node.attr("container"), "unbatcher", node.attr("shared_name") or node.name, lambda: Unbatcher(node.context)
        )
        for owner, start, end in index.tolist():
            unbatcher.give(owner, batched[start:end].clone())
        return unbatcher.take(int(number), timeout)

    return run


def _unbatch_gradient(node: Node) -> Kernel:
    """Gradients of each run's rows, put together by the run that has computed the batch; the others have nothing more to do."""

    def run(batched: Any, index: Any, gradient: Any, number: Any) -> Any:
        unbatcher = node.context.resources.get(
            node.attr("container"), "unbatched gradients", node.attr("shared_name") or node.name, lambda: Unbatcher(node.context)
        )
        unbatcher.give(int(number), gradient)
        if not index.numel():
            return batched[:0]
        return torch.cat(unbatcher.take_all(index[:, 0].tolist()))

    return run


def _batch_gradient(o: Operation, *gradients: Any) -> Any:
    index, number = o.outputs[-2:]
    timeout = o.attr("grad_timeout_micros")
    return [
        apply("Unbatch", dy, index, number, timeout_micros=timeout, shared_name=f"batch_gradient_{o.name}_{i}")
        for i, dy in enumerate(gradients[: len(o.inputs)])
    ]


def _gradient_of_unbatch(o: Operation, dy: Any) -> Any:
    batched, index, number = o.inputs
    return apply("UnbatchGrad", batched, index, dy, number, shared_name=f"unbatch_gradient_{o.name}"), None, None


def _batch_function(node: Node) -> Kernel:
    get, queue, allowed = _batcher(node)
    count = len(node.attr("Tin"))
    name = node.attr("f").name
    function, entry = call_function(node, name), node.context.graph._get_function(name)

    def run(*values: Any) -> Any:
        if entry is not None and len(entry.graph.inputs) != len(values):
            raise invalid_argument(f"Expects {len(entry.graph.inputs)} arguments, but {len(values)} is provided")
        task = _Task(values[:count])
        batch = get().join(queue, task)
        if batch.tasks[-1] is task:
            try:
                found = function(*batch.joined(allowed), *values[count:])
                batch.results = found if isinstance(found, tuple) else (found,)
            except Exception as e:
                batch.error = e
            batch.done.set()
        batch.done.wait()
        if batch.error is not None:
            raise batch.error if isinstance(batch.error, OpError) else invalid_argument(str(batch.error))
        start, end = next((first, last) for number, first, last in batch.rows() if number == task.number)
        parts = tuple(r[start:end] for r in batch.results)
        return parts if len(parts) > 1 else parts[0]

    return run


op("Batch", kernel=_batch, shape=lambda o: [*(_any_rows(t.dims) for t in o.inputs), (None, 3), ()], gradient=_batch_gradient)
op("Unbatch", kernel=_unbatch, shape=lambda o: _any_rows(o.inputs[0].dims), gradient=_gradient_of_unbatch)
op("UnbatchGrad", kernel=_unbatch_gradient, shape=lambda o: _any_rows(o.inputs[2].dims), folds=False)
op("BatchFunction", kernel=_batch_function, shape=lambda o: [None] * len(o.outputs))


def _any_rows(dims: Dims) -> Any:
    return None if dims is None else (None, *dims[1:])


def _check_tensors(args: Any) -> None:
    for a in args:
        if not isinstance(a, Tensor):
            raise ValueError(f"All arguments to functions decorated with `batch_function` are supposed to be Tensors; found {a!r}")


@public("nondifferentiable_batch_function")
@internal("ops.batch_ops.batch_function")
def batch_function(
    num_batch_threads: int,
    max_batch_size: int,
    batch_timeout_micros: int,
    allowed_batch_sizes: Any = None,
    max_enqueued_batches: int = 10,
    autograph: bool = True,
) -> Callable[..., Any]:
    """Makes a function of tensors compute the calls of runs that come at the same time as one batch."""

    def decorator(fn: Callable[..., Any]) -> Callable[..., Any]:
        def decorated(*args: Any) -> Any:
            _check_tensors(args)

            def body(*inputs: Any) -> Any:
                for given, t in zip(args, inputs):
                    t.set_shape(_any_rows(given.dims))
                return fn(*inputs)

            body.__name__ = getattr(fn, "__name__", "batched")
            with name_scope("batch") as name:
                function = Defun(*[a.dtype.base_dtype for a in args])(body)
                types = [a.type for a in function.definition.signature.output_arg]
                found = apply(
                    "BatchFunction",
                    list(args),
                    function.captured_inputs,
                    f=function,
                    Tout=types,
                    num_batch_threads=num_batch_threads,
                    max_batch_size=max_batch_size,
                    batch_timeout_micros=batch_timeout_micros,
                    allowed_batch_sizes=allowed_batch_sizes,
                    max_enqueued_batches=max_enqueued_batches,
                    shared_name=name,
                    name=name,
                )
                return found[0] if len(found) == 1 else found

        return decorated

    return decorator


@internal("contrib.batching.python.ops.batch_ops.batch_function_v1")
def batch_function_v1(
    num_batch_threads: int,
    max_batch_size: int,
    batch_timeout_micros: int,
    allowed_batch_sizes: Any = None,
    grad_timeout_micros: int = 60_000_000,
    unbatch_timeout_micros: int = 60_000_000,
    max_enqueued_batches: int = 10,
) -> Callable[..., Any]:
    """The same for a function through which gradients flow: it becomes part of the graph, between a Batch and what takes that apart."""

    def decorator(fn: Callable[..., Any]) -> Callable[..., Any]:
        def decorated(*args: Any) -> Any:
            with name_scope("batch") as name:
                for a in args:
                    if not isinstance(a, Tensor):
                        raise ValueError(
                            f"All arguments to functions decorated with `batch_function` are supposed to be Tensors; found {a!r}"
                        )
                batched, index, number = apply(
                    "Batch",
                    list(args),
                    num_batch_threads=num_batch_threads,
                    max_batch_size=max_batch_size,
                    batch_timeout_micros=batch_timeout_micros,
                    allowed_batch_sizes=allowed_batch_sizes,
                    max_enqueued_batches=max_enqueued_batches,
                    grad_timeout_micros=grad_timeout_micros,
                    shared_name=name,
                )
                results = fn(*batched)
                with name_scope("unbatch") as scope:
                    parts = [
                        apply("Unbatch", t, index, number, timeout_micros=unbatch_timeout_micros, shared_name=f"{scope}/{t.name}")
                        for t in (results if isinstance(results, (list, tuple)) else [results])
                    ]
                return parts if isinstance(results, (list, tuple)) else parts[0]

        return decorated

    return decorator
