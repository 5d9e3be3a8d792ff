"""Partial runs: a step whose feeds come and whose fetches go piece by piece."""

from __future__ import annotations

import itertools
from typing import Any

from everflow import errors
from everflow.graph.operation import Operation
from everflow.graph.tensor import Tensor
from everflow.runtime import feeds as feeding
from everflow.runtime import interpreter
from everflow.runtime.codegen import generate
from everflow.runtime.fetches import Fetches
from everflow.runtime.plan import Node, Value, make_plan
from everflow.runtime.runner import fetch_converter

_serial = itertools.count()


class PartialRun:
    """The state of one partial run: what is known already, and which nodes have run."""

    def __init__(self, session: Any, fetches: Any, feeds: Any) -> None:
        graph = session.graph
        self.session = session
        self.handle = f"partial_run_{next(_serial)}"
        wanted = Fetches(graph, list(fetches) if isinstance(fetches, (list, tuple)) else [fetches])
        if not wanted.elements:
            raise errors.InvalidArgumentError(None, None, "Must specify at least one target to fetch or execute.")
        self.feeds = [t for key in feeds or [] for t in feeding.feed_tensors(graph, key)]
        # Nothing is merged or left out: each fetch may be asked for on its own.
        self.tensors, self.operations = wanted.tensors, wanted.operations
        self.plan = make_plan(session._context, self.tensors, self.operations, self.feeds)
        self.values = dict(zip(self.tensors, self.plan.fetches))
        self.step = generate(self.plan)
        self.known: dict[Value, Any] = interpreter.start(self.step, [])
        self.places = dict(zip(self.feeds, self.plan.feeds))
        self.done: set[Node] = set()
        self.fetched: set[Any] = set()

    def advance(self, fetches: Any, feed_dict: dict[Any, Any] | None) -> Any:
        """Feeds some of the feeds and computes some of the fetches."""
        graph = self.session.graph
        for t, value in feeding.flattened(graph, feed_dict or {}).items():
            place = self.places.get(t)
            if place is None:
                raise errors.InvalidArgumentError(None, None, f"The feed {t.name} was not specified in partial_run_setup.")
            if place in self.known:
                raise errors.InvalidArgumentError(None, None, f"The feed {t.name} has already been fed.")
            self.known[place] = feeding.feed_converter(t)(value)
        wanted = Fetches(graph, fetches)
        for element in wanted.elements:
            known = element in self.values if isinstance(element, Tensor) else element in self.operations
            if not known:
                raise errors.InvalidArgumentError(None, None, f"The fetch {element.name} was not specified in partial_run_setup.")
            if element in self.fetched:
                raise errors.InvalidArgumentError(None, None, f"The fetch {element.name} has already been fetched.")
        self._run([self._node(e) for e in wanted.elements])
        self.fetched.update(wanted.elements)
        found: list[Any] = []
        for element in wanted.elements:
            if isinstance(element, Operation):
                found.append(None)
                continue
            value = self.values[element]
            current = self.known[value]
            found.append(fetch_converter(element, False)(current.read() if value.dtype._is_ref_dtype else current))
        if len(self.fetched) == len(self.tensors) + len(self.operations):
            del self.session._partial_runs[self.handle]
        return wanted.build(found)

    def _node(self, element: Any) -> Node | None:
        if isinstance(element, Tensor):
            return self.values[element].node
        return next((n for n in self.plan.nodes if n.op is element), None)

    def _run(self, nodes: list[Node | None]) -> None:
        needed: set[Node] = set()
        stack = [n for n in nodes if n is not None]
        by_op = {n.op: n for n in self.plan.nodes}
        while stack:
            node = stack.pop()
            if node in needed or node in self.done:
                continue
            if node.is_feed:
                if node.outputs[0] not in self.known:
                    raise errors.InvalidArgumentError(
                        None, None, f"Must provide the feed {node.name}:0 before fetching what depends on it."
                    )
                continue
            needed.add(node)
            stack.extend(v.node for v in node.inputs)
            if node.op is not None:
                stack.extend(by_op[c] for c in node.op.control_inputs if c in by_op)
        for call in self.step.calls:
            if call.node in needed:
                interpreter.advance(call, self.known)
                self.done.add(call.node)
