"""`tf.test.TestCase`: a fresh default graph and fixed seeds for each test, sessions, and TensorFlow's assertions."""

from __future__ import annotations

import contextlib
import random
import re
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from absl.testing import absltest

from everflow import api
from everflow.api import internal, public
from everflow.errors import OpError
from everflow.graph import stacks
from everflow.graph.devices import canonical_name
from everflow.graph.graph import Graph
from everflow.ops.random.seeds import DEFAULT_GRAPH_SEED
from everflow.test import captures, program
from everflow.test.array_asserts import ArrayAssertions
from everflow.test.machine import gpu_device_name
from everflow.test.proto_asserts import ProtoAssertions
from everflow.test.sessions import EagerSession, ErrorLoggingSession, test_config
from everflow.test.threads import CheckedThread

_OTHER = (
    "The {} used to get the cached session is different than the one that was used to create the session. Maybe "
    "create a new session with self.session()"
)


def _once_called(name: str) -> Any:
    """A method by a name of old, which says how it is called now."""
    method = getattr(absltest.TestCase, name)

    def of_old(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(f"Please use {name} instead.", DeprecationWarning, stacklevel=2)
        return method(*args, **kwargs)

    return of_old


@public("test.TestCase")
@internal("framework.test_util.TensorFlowTestCase", "platform.test.TestCase")
class TestCase(ArrayAssertions, ProtoAssertions, absltest.TestCase):
    """The base class of tests of TensorFlow programs.

    class SquareTest(tf.test.TestCase):
        def test_squares(self):
            with self.session():
                self.assertAllEqual(tf.square([1, 2]).eval(), [1, 4])
    """

    def __init__(self, methodName: str = "runTest") -> None:
        super().__init__(methodName)
        self._threads: list[CheckedThread] = []
        self._tempdir: str | None = None
        self._cached_session: Any = None
        self._test_start_time: float | None = None
        # Whether the test is being set up inside a mode that was entered for it.
        self._keeps_graphs = False

    def setUp(self) -> None:
        super().setUp()
        # Test runners take `test_session` for a test. Cases that don't call this setUp pass it: it does nothing until it is entered.
        if self._testMethodName == "test_session":
            self.skipTest("Not a test.")
        self._ClearCachedSession()
        random.seed(DEFAULT_GRAPH_SEED)
        np.random.seed(DEFAULT_GRAPH_SEED)
        if not self._keeps_graphs:
            # A test that failed inside `with graph.as_default()` may have left its graph on the stack.
            stacks.forget_graphs()
        api.find("set_random_seed")(DEFAULT_GRAPH_SEED)
        self._test_start_time = time.time()

    def tearDown(self) -> None:
        for thread in self._threads:
            thread.check_termination()
        self._ClearCachedSession()
        super().tearDown()

    def _ClearCachedSession(self) -> None:
        if self._cached_session is not None:
            self._cached_session.close()
            self._cached_session = None

    def get_temp_dir(self) -> str:
        """A folder for this test's files."""
        if not self._tempdir:
            self._tempdir = tempfile.mkdtemp(dir=program.get_temp_dir())
        return self._tempdir

    def captureWritesToStream(self, stream: Any) -> Any:
        """A context whose value holds, in `contents()`, what was written to the stream's file descriptor inside."""
        return captures.captured(stream, self.get_temp_dir())

    # -- running

    @contextlib.contextmanager
    def session(self, graph: Any = None, config: Any = None, use_gpu: bool = False, force_gpu: bool = False) -> Iterator[Any]:
        """A new session, default inside the block; ops made inside are put on the CPU unless a GPU is asked for."""
        if stacks.in_eager_mode():
            yield None
            return
        with self._create_session(graph, config, force_gpu) as sess, self._placed(sess, use_gpu, force_gpu):
            yield sess

    @contextlib.contextmanager
    def cached_session(
        self, graph: Graph | None = None, config: Any = None, use_gpu: bool = False, force_gpu: bool = False
    ) -> Iterator[Any]:
        """The same session for all of the test's blocks."""
        if stacks.in_eager_mode():
            yield EagerSession(self)
            return
        sess = self._get_cached_session(graph, config, force_gpu, crash_if_inconsistent_args=True)
        with self._placed(sess, use_gpu, force_gpu):
            yield sess

    @contextlib.contextmanager
    def test_session(self, graph: Graph | None = None, config: Any = None, use_gpu: bool = False, force_gpu: bool = False) -> Iterator[Any]:
        """A cached session, or a new one if a graph is given."""
        if stacks.in_eager_mode():
            yield None
        elif graph is not None:
            with self.session(graph, config, use_gpu, force_gpu) as sess:
                yield sess
        else:
            sess = self._get_cached_session(None, config, force_gpu, crash_if_inconsistent_args=False)
            with self._placed(sess, use_gpu, force_gpu):
                yield sess

    def evaluate(self, tensors: Any) -> Any:
        """The values of nested tensors, computed in the default session or else in the test's own."""
        if stacks.in_eager_mode():
            return api.find("python.eager.evaluation.evaluated")(tensors)
        sess = stacks.get_default_session()
        if sess is not None:
            return sess.run(tensors)
        with self.test_session() as sess:
            return sess.run(tensors)

    @contextlib.contextmanager
    def _placed(self, sess: Any, use_gpu: bool, force_gpu: bool) -> Iterator[None]:
        with sess.graph.as_default(), sess.as_default():
            if force_gpu:
                with sess.graph.device(gpu_device_name() or "/device:GPU:0"):
                    yield
            elif use_gpu:
                yield
            else:
                with sess.graph.device("/device:CPU:0"):
                    yield

    def _create_session(self, graph: Any, config: Any, force_gpu: bool) -> Any:
        return ErrorLoggingSession(graph=graph, config=test_config(config, force_gpu))

    def _get_cached_session(
        self, graph: Any = None, config: Any = None, force_gpu: bool = False, crash_if_inconsistent_args: bool = True
    ) -> Any:
        if self._cached_session is None:
            self._cached_session = self._create_session(None, config, force_gpu)
            self._cached_graph, self._cached_config, self._cached_force_gpu = graph, config, force_gpu
        elif crash_if_inconsistent_args:
            if self._cached_graph is not graph:
                raise ValueError(_OTHER.format("graph"))
            if self._cached_config is not config:
                raise ValueError(_OTHER.format("config"))
            if bool(self._cached_force_gpu) is not bool(force_gpu):
                raise ValueError(_OTHER.format("force_gpu value"))
        return self._cached_session

    def checkedThread(self, target: Callable[..., Any], args: Any = None, kwargs: Any = None) -> CheckedThread:
        """A thread whose errors fail this test."""
        thread = CheckedThread(self, target, args, kwargs)
        self._threads.append(thread)
        return thread

    # -- errors and devices

    @contextlib.contextmanager
    def assertRaisesWithPredicateMatch(  # type: ignore[override]
        self, exception_type: Any, expected_err_re_or_predicate: Any
    ) -> Iterator[None]:
        """The block raises this type, with a message that holds a regular expression, or that satisfies a predicate."""
        if callable(expected_err_re_or_predicate):
            predicate = expected_err_re_or_predicate
        else:

            def predicate(error: BaseException) -> bool:
                text = error.message if isinstance(error, OpError) else str(error)
                op = error.op if isinstance(error, OpError) else None
                while op is not None:
                    text += "\nCaused by: " + op.name
                    op = op._original_op
                return re.search(expected_err_re_or_predicate, text) is not None

        try:
            yield
        except BaseException as error:
            if not isinstance(error, exception_type) or not predicate(error):
                raise AssertionError(f"Exception of type {type(error)}: {error}") from error
        else:
            names = exception_type if isinstance(exception_type, tuple) else (exception_type,)
            self.fail(" or ".join(each.__name__ for each in names) + " not raised")

    def assertRaisesOpError(self, expected_err_re_or_predicate: Any) -> Any:
        return self.assertRaisesWithPredicateMatch(OpError, expected_err_re_or_predicate)

    def assertDeviceEqual(self, device1: Any, device2: Any, msg: str | None = None) -> None:
        """Both name the same device, however it is written."""
        one, two = canonical_name(device1), canonical_name(device2)
        self.assertEqual(one, two, f"Devices {one} and {two} are not equal. {msg}")

    # Names that Python 3.12 no longer has, and that programs written for TensorFlow 1.x use.
    assert_ = failUnless = _once_called("assertTrue")
    failIf = _once_called("assertFalse")
    assertEquals = failUnlessEqual = _once_called("assertEqual")
    assertNotEquals = failIfEqual = _once_called("assertNotEqual")
    assertAlmostEquals = failUnlessAlmostEqual = _once_called("assertAlmostEqual")
    assertNotAlmostEquals = failIfAlmostEqual = _once_called("assertNotAlmostEqual")
    assertItemsEqual = absltest.TestCase.assertCountEqual
    assertRegexpMatches = _once_called("assertRegex")
    assertNotRegexpMatches = _once_called("assertNotRegex")
    assertRaisesRegexp = absltest.TestCase.assertRaisesRegex
    failUnlessRaises = _once_called("assertRaises")
