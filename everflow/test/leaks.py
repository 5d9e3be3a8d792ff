"""Decorators that fail a test when objects outlive it."""

from __future__ import annotations

import contextlib
import functools
import gc
from collections.abc import Callable
from typing import Any

from everflow.api import internal
from everflow.eager.context import eager_mode, executing_eagerly
from everflow.graph import stacks
from everflow.graph.graph import Graph
from everflow.graph.shapes import Dimension, TensorShape
from everflow.graph.tensor import Tensor
from everflow.platform import logging
from everflow.test import modes


def _tensor_like_objects() -> list[Any]:
    return [each for each in gc.get_objects() if issubclass(type(each), (Tensor, TensorShape, Dimension))]


@internal("framework.test_util.assert_no_new_tensors")
def assert_no_new_tensors(f: Callable[..., Any]) -> Callable[..., Any]:
    """The test runs in a graph of its own, and no tensor or shape made in it may outlive it."""

    @functools.wraps(f)
    def decorated(self: Any, **kwargs: Any) -> Any:
        mode = eager_mode() if executing_eagerly() else contextlib.nullcontext()
        gc.collect()
        # The objects themselves are kept, so that a new one can't get the address of one that has gone.
        existing = _tensor_like_objects()
        before = {id(each) for each in existing}
        with Graph().as_default(), mode:
            result = f(self, **kwargs)
        gc.collect()
        left = [each for each in _tensor_like_objects() if id(each) not in before]
        if left:
            raise AssertionError(f"{len(left)} Tensors not deallocated after test: {left}")
        return result

    return decorated


@internal("framework.test_util.assert_no_garbage_created")
def assert_no_garbage_created(f: Callable[..., Any]) -> Callable[..., Any]:
    """The test may leave no reference cycles behind."""

    @functools.wraps(f)
    def decorated(self: Any, **kwargs: Any) -> Any:
        gc.collect()
        flags = gc.get_debug()
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        before = len(gc.garbage)
        try:
            result = f(self, **kwargs)
            gc.collect()
            new = gc.garbage[before:]
            if new:
                logging.error("The decorated test created work for Python's garbage collector: %d objects.", len(new))
                for each in new[:20]:
                    logging.error("  %s: %r", type(each), each)
            self.assertEqual(before, len(gc.garbage))
        finally:
            gc.set_debug(flags)
            del gc.garbage[before:]
        return result

    return decorated


@internal("framework.test_util.assert_no_new_pyobjects_executing_eagerly")
def assert_no_new_pyobjects_executing_eagerly(f: Callable[..., Any]) -> Callable[..., Any]:
    """In eager execution, running the test again and again may not make the number of objects grow."""

    @functools.wraps(f)
    def decorated(self: Any, *args: Any, **kwargs: Any) -> None:
        with modes.EAGER_MODE():
            gc.disable()
            try:
                self._keeps_graphs = True
                self.setUp()
                f(self, *args, **kwargs)
                collections_before = _collection_sizes()
                gc.collect()
                before = len(gc.get_objects())
                for _ in range(10):
                    f(self, *args, **kwargs)
                gc.collect()
                new = len(gc.get_objects()) - before
                self.assertEqual(collections_before, _collection_sizes(), "Collection sizes must not grow")
                self.assertLessEqual(new, 0, f"{new} objects outlive the test")
            finally:
                gc.enable()

    return decorated


def _collection_sizes() -> dict[Any, int]:
    graph = stacks.get_default_graph()
    return {key: len(graph.get_collection_ref(key)) for key in graph.get_all_collection_keys()}
