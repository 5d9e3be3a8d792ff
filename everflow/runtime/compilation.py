"""Parts of a plan that are compiled: for the shapes that come first, then for any sizes in place of those that changed."""

from __future__ import annotations

import functools
import os
import re
import shutil
import threading
import time
from collections.abc import Callable
from typing import Any

from everflow.ops.core.node import FEED, Node, Value
from everflow.platform import logging
from everflow.runtime import codegen
from everflow.runtime.failures import explained
from everflow.runtime.plan import Plan, remade

# A part is compiled so often for shapes that change; others then run as if nobody had asked.
MOST_VERSIONS = 4
# So many combinations of shapes are remembered with what computes them.
MOST_SHAPES = 64
# So often what is compiled and what is not compute the same shapes in turn, before the faster of the two stays.
TURNS = 5
# Constants of so many elements are part of the code.
SMALL = 1


def is_asked_for(config: Any) -> bool:
    """Whether whole steps are to be compiled: by the session's configuration, or by the flags of TF_XLA_FLAGS where it says nothing."""
    level = config.graph_options.optimizer_options.global_jit_level if config is not None else 0
    return level > 0 or (level == 0 and _is_asked_for_by_flags())


def _is_asked_for_by_flags() -> bool:
    found = re.findall(r"--tf_xla_auto_jit=(-?\d+)", os.environ.get("TF_XLA_FLAGS", ""))
    return bool(found) and int(found[-1]) > 0


@functools.cache
def is_possible() -> bool:
    """Whether there is a C++ compiler; says so once where there is none."""
    from torch._inductor.cpp_builder import get_cpp_compiler
    from torch._inductor.exc import InvalidCxxCompiler

    try:
        found = shutil.which(get_cpp_compiler())
    except InvalidCxxCompiler:
        found = None
    if found is None:
        logging.warning("Compilation was asked for, but there is no C++ compiler (CXX, g++ or clang++): steps run as usual.")
    return found is not None


class Part:
    """Nodes of a plan that become one: what they take, and which of their results are used afterwards."""

    def __init__(self, context: Any, members: list[Node], inputs: list[Value], results: list[Value], passes: Any) -> None:
        self.context, self.members, self.inputs, self.results, self._passes = context, members, inputs, results, passes
        taken = dict.fromkeys(v for node in members for v in node.inputs if v.constant is not None)
        self.constants = [v for v in taken if v.constant.size > SMALL]  # type: ignore[union-attr]

    def plan(self, context: Any) -> Plan:
        """The part as a plan of its own."""
        plan = Plan(context)
        known: dict[Value, Value] = {}
        for v in self.inputs:
            node = Node(FEED, v.node.name, {}, [], v.node.op, self.context)
            known[v] = node.add_output(v.dtype, v.dims)
            plan.feeds.append(known[v])
            plan.nodes.append(node)
        for node in self.members:
            for v in node.inputs:
                if v.node.is_constant and v not in known:
                    known[v] = v
                    plan.nodes.append(v.node)
            new = remade(node, [known[v] for v in node.inputs])
            new.fused = node.fused
            known.update(zip(node.outputs, new.outputs))
            plan.nodes.append(new)
        plan.fetches = [known[v] for v in self.results]
        return plan

    def kernel(self) -> Callable[..., Any]:
        """What computes the part, compiled at its first runs."""
        return Versions(self).run

    @functools.cached_property
    def _step(self) -> Any:
        from everflow.runtime import passes

        plan = self.plan(self.context)
        passes.run(plan, self._passes)
        return codegen.generate(plan)

    @property
    def is_one_loop(self) -> bool:
        """Whether one native kernel does all of it anyway, in one pass over memory: the compiler writes no better one."""
        return len(self._step.calls) == 1

    def ordinary(self) -> Callable[..., Any]:
        """The step that would run if nobody had asked for compilation."""
        step, single = self._step, len(self.results) == 1

        def run(*xs: Any) -> Any:
            try:
                found = step.call(*xs)
            except Exception as e:
                error = explained(e, step.culprit(e.__traceback__))
                raise error from (None if error is e else e)
            return found[0] if single else found

        return run


class Versions:
    """What is compiled of a part: for the shapes that came first, then for any sizes in place of those that changed."""

    def __init__(self, part: Part) -> None:
        self._part = part
        self._constants = [part.context.constant(v.node) for v in part.constants]
        self._ready: dict[Any, Callable[..., Any]] = {}
        self._versions: list[Any] = []
        self._lock = threading.Lock()
        self._first: list[tuple[int, ...]] = []
        self._is_given_up = part.is_one_loop

    def run(self, *xs: Any) -> Any:
        """Computes the part for what came."""
        key = tuple([(x.shape, x.stride()) for x in xs])
        found = self._ready.get(key)
        return found(xs) if found is not None else self._prepared(key, xs)

    @functools.cached_property
    def _ordinary(self) -> Callable[..., Any]:
        run = self._part.ordinary()
        return lambda xs: run(*xs)

    def _prepared(self, key: Any, xs: tuple[Any, ...]) -> Any:
        """Finds or makes what computes such shapes. What goes wrong on the way is either the program's error, which the ordinary step
        raises as well, or the compiler's."""
        with self._lock:
            if len(self._ready) >= MOST_SHAPES:
                self._ready.clear()
            found = next((v.run for v in self._versions if v.takes(xs)), None)
            if found is not None:
                self._ready[key] = Contest(self._ready, key, found, self._ordinary).run
                return found(xs)
            if self._is_given_up or len(self._versions) == MOST_VERSIONS:
                self._ready[key] = self._ordinary
                return self._ordinary(xs)
            try:
                version = self._compiled(xs)
                result = version.run(xs)
            except Exception as e:
                result = self._ordinary(xs)
                logging.warning("%s and %d more ops run as usual: %s", self._part.members[0].name, len(self._part.members) - 1, e)
                self._is_given_up = True
                self._ready[key] = self._ordinary
                return result
            self._versions.append(version)
            self._ready[key] = Contest(self._ready, key, version.run, self._ordinary).run
            return result

    def _compiled(self, xs: tuple[Any, ...]) -> Any:
        from everflow.runtime.inductor import Version

        shapes = [tuple(x.shape) for x in xs]
        changed = [{i for i, (a, b) in enumerate(zip(one, two)) if a != b} for one, two in zip(self._first, shapes)]
        self._first = self._first or shapes
        return Version(self._part, xs, self._constants, changed if any(changed) else [])


class Contest:
    """Computes shapes by what is compiled and by what is not, in turn, until it is known which is faster: that does it from then on."""

    def __init__(self, ready: dict[Any, Callable[..., Any]], key: Any, *rivals: Callable[..., Any]) -> None:
        self._ready, self._key, self._rivals = ready, key, rivals
        self._times: list[list[float]] = [[] for _ in rivals]

    def run(self, xs: Any) -> Any:
        """Computes what came, and takes the time."""
        i = min(range(len(self._rivals)), key=lambda i: len(self._times[i]))
        start = time.perf_counter()
        found = self._rivals[i](xs)
        self._times[i].append(time.perf_counter() - start)
        if all(len(times) >= TURNS for times in self._times):
            # The first times don't count: memory and caches are new. Half of the others may be disturbed.
            typical = [sorted(times[1:])[(TURNS - 1) // 2 - 1] for times in self._times]
            self._ready[self._key] = self._rivals[typical.index(min(typical))]
        return found
