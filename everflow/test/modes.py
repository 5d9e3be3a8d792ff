"""Decorators that say in which modes a test runs: graph, eager, with or without TensorFlow 2 behaviour."""

from __future__ import annotations

import contextlib
import functools
import unittest
from collections.abc import Callable, Iterator
from typing import Any

from absl.testing import parameterized

import everflow as tf
from everflow.api import internal, public
from everflow.eager.context import eager_mode
from everflow.eager.context import graph_mode as building
from everflow.eager.devices import device
from everflow.test.decorating import each_test_method, for_tests


@contextlib.contextmanager
def graph_mode() -> Iterator[None]:
    """Around tests that build a graph."""
    with building():
        yield


@contextlib.contextmanager
def EAGER_MODE() -> Iterator[None]:
    """Around tests whose ops run at once."""
    with tf.Graph().as_default(), eager_mode():
        yield


def run_in_graph_mode(test: Callable[..., Any], case: Any, args: Any, kwargs: Any, config: Any, use_gpu: bool) -> None:
    """One run of a test, building a graph inside the case's session."""
    with graph_mode(), case.test_session(use_gpu=use_gpu, config=config):
        test(case, *args, **kwargs)


def run_in_eager_mode(test: Callable[..., Any], case: Any, args: Any, kwargs: Any, config: Any, use_gpu: bool) -> None:
    """One run of a test whose ops run at once."""
    with contextlib.nullcontext() if use_gpu else device("/device:CPU:0"):
        test(case, *args, **kwargs)


# The ways in which a test for all modes runs, one after another, and what is around each.
MODES: list[tuple[Any, Any]] = [(contextlib.nullcontext, run_in_graph_mode), (EAGER_MODE, run_in_eager_mode)]


def v2_behavior() -> bool:
    return False


@public("contrib.eager.run_test_in_graph_and_eager_modes")
@internal("framework.test_util.run_in_graph_and_eager_modes")
def run_in_graph_and_eager_modes(
    func: Callable[..., Any] | None = None,
    config: Any = None,
    use_gpu: bool = True,
    reset_test: bool = True,
    assert_no_eager_garbage: bool = False,
) -> Any:
    """The test runs once in each mode, set up anew between them."""

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        if isinstance(test, type):
            raise ValueError(
                "`run_in_graph_and_eager_modes` only supports test methods. Did you mean to use `run_all_in_graph_and_eager_modes`?"
            )

        @functools.wraps(test)
        def decorated(self: Any, *args: Any, **kwargs: Any) -> None:
            skips = []
            for i, (around, run) in enumerate(MODES):
                if i and reset_test:
                    self.tearDown()
                    self._tempdir = None
                with around():
                    if i and reset_test:
                        self._keeps_graphs = True
                        self.setUp()
                    try:
                        run(test, self, args, kwargs, config, use_gpu)
                    except unittest.SkipTest as skip:
                        skips.append(skip)
            if len(skips) == len(MODES):
                raise skips[0]

        return decorated

    return decorate if func is None else decorate(func)


@public("contrib.eager.run_all_tests_in_graph_and_eager_modes")
@internal("framework.test_util.run_all_in_graph_and_eager_modes")
def run_all_in_graph_and_eager_modes(cls: type) -> type:
    """Each test of the class runs in each mode, except those named `testSkipEager...`."""
    skipped = ("testSkipEager", "test_skip_eager")

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        return test if test.__name__.startswith(skipped) else run_in_graph_and_eager_modes(test)

    return each_test_method(cls, decorate)


@internal("framework.test_util.deprecated_graph_mode_only", "framework.test_util.run_deprecated_v1")
def graph_mode_only(func: Callable[..., Any] | None = None) -> Any:
    """The test (or each test of the class) builds a graph, whatever mode is on."""
    return for_tests(func, wrapping=graph_mode)


internal("framework.test_util.run_all_in_deprecated_graph_mode_only")(graph_mode_only)


@internal("framework.test_util.run_v1_only")
def run_v1_only(reason: str, func: Callable[..., Any] | None = None) -> Any:
    """The test is skipped where TensorFlow 2 behaviour is on."""
    if not isinstance(reason, str):
        raise ValueError(f"'reason' should be string, got {type(reason)}")
    return for_tests(func, unless=lambda: not v2_behavior(), reason=reason)


@internal("framework.test_util.run_v2_only")
def run_v2_only(func: Callable[..., Any] | None = None) -> Any:
    """The test is skipped unless TensorFlow 2 behaviour is on."""
    return for_tests(func, unless=v2_behavior, reason="Test is only compatible with v2")


@internal("framework.test_util.build_as_function_and_v1_graph")
def build_as_function_and_v1_graph(func: Callable[..., Any] | None = None) -> Any:
    """Makes two tests, `<name>_v1_graph` and `<name>_function`, which build ops in a graph and in a `tf.function`."""

    def decorate(test: Callable[..., Any]) -> Any:
        if isinstance(test, type):
            raise ValueError("`build_as_function_and_v1_graph` only supports test methods.")

        @parameterized.named_parameters(("_v1_graph", "v1_graph"), ("_function", "function"))
        @functools.wraps(test)
        def decorated(self: Any, run_mode: str, *args: Any, **kwargs: Any) -> None:
            if run_mode == "v1_graph":
                with graph_mode(), tf.Graph().as_default():
                    test(self, *args, **kwargs)
            else:
                with EAGER_MODE():
                    tf.function(lambda: test(self, *args, **kwargs))()

        return decorated

    return decorate if func is None else decorate(func)


@internal("framework.test_util.also_run_as_tf_function")
def also_run_as_tf_function(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function runs eagerly, and once more traced as a `tf.function`."""

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> None:
        with EAGER_MODE():
            f(*args, **kwargs)
            tf.function(lambda: f(*args, **kwargs))()

    return decorated


@internal("framework.test_util.py_func_if_in_function")
def py_func_if_in_function(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function of values; while a `tf.function` is traced, its call becomes an op that calls it with values."""

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        graph = tf.get_default_graph()
        if not graph.building_function:
            return f(*args, **kwargs)
        tensors = [arg for arg in args if hasattr(arg, "graph")]

        def with_values(*values: Any) -> None:
            rest = iter(values)
            f(*(next(rest) if hasattr(arg, "graph") else arg for arg in args), **kwargs)

        return tf.py_func(with_values, tensors, [])

    return decorated


# Control flow, version 2.


@internal("framework.test_util.enable_control_flow_v2")
def enable_control_flow_v2(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function runs while `tf.cond` and `tf.while_loop` make functional ops."""

    @functools.wraps(fn)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        if tf.control_flow_v2_enabled():
            return fn(*args, **kwargs)
        tf.enable_control_flow_v2()
        try:
            return fn(*args, **kwargs)
        finally:
            tf.disable_control_flow_v2()

    return decorated


@internal("framework.test_util.with_control_flow_v2")
def with_control_flow_v2(cls: type) -> type:
    """Each test of the class also runs, as `<name>WithControlFlowV2`, with control flow of version 2."""
    tests = {} if tf.control_flow_v2_enabled() else {name: test for name, test in vars(cls).items() if name.startswith("test")}
    for name, test in tests.items():
        if callable(test) and not getattr(test, "_disable_control_flow_v2", False):
            setattr(cls, f"{name}WithControlFlowV2", enable_control_flow_v2(test))
    return cls


@internal("framework.test_util.disable_control_flow_v2")
def disable_control_flow_v2(unused_msg: str) -> Callable[[Any], Any]:
    """Keeps a test from running with control flow of version 2."""

    def mark(test: Any) -> Any:
        test._disable_control_flow_v2 = True
        return test

    return mark


# Shapes always come from the same rules, and functional control flow always keeps what its gradient needs: these three
# ask for what is so anyway.
internal("framework.test_util.enable_c_shapes", "framework.test_util.with_c_shapes", "framework.test_util.enable_output_all_intermediates")(
    lambda what: what
)
