"""A file of tests as a program: `tf.test.main()`, its temporary folder and its data."""

from __future__ import annotations

import atexit
import faulthandler
import inspect
import os
import shutil
import sys
import tempfile
import unittest.mock
from typing import Any

from absl import app
from absl.testing import absltest

from everflow.api import internal, public
from everflow.test import benchmark

mock = public("test.mock")(unittest.mock)
internal("platform.test.mock", "platform.googletest.mock")(unittest.mock)
internal("platform.googletest.TestCase")(absltest.TestCase)
internal("platform.googletest.unittest")(unittest)

_temp_dir = ""


@public("test.get_temp_dir")
@internal("platform.googletest.GetTempDir")
def get_temp_dir() -> str:
    """A folder for the files of this test program, removed when it ends."""
    global _temp_dir
    if not _temp_dir:
        caller = inspect.getfile(sys._getframe(1))
        _temp_dir = tempfile.mkdtemp(prefix=os.path.splitext(os.path.basename(caller))[0])
        atexit.register(shutil.rmtree, _temp_dir, ignore_errors=True)
    return _temp_dir


@public("test.test_src_dir_path")
@internal("platform.googletest.test_src_dir_path")
def test_src_dir_path(relative_path: str) -> str:
    """Where a data file of a source tree is; the environment's TEST_SRCDIR says where the tree is."""
    return os.path.join(os.environ["TEST_SRCDIR"], "org_tensorflow/tensorflow", relative_path)


setattr(test_src_dir_path, "__test__", False)  # noqa: B010


@internal("platform.googletest.StatefulSessionAvailable")
def stateful_session_available() -> bool:
    return False


@internal("framework.test_util.InstallStackTraceHandler")
def install_stack_trace_handler() -> None:
    """A crash of native code prints the Python stack."""
    if sys.__stderr__ is not None:
        faulthandler.enable(file=sys.__stderr__)


@internal("platform.googletest.g_main")
def run_tests(argv: list[str]) -> Any:
    """Runs the tests of the main module, or its share of them where the environment divides them among shards."""
    return absltest.main(argv=argv)


@public("test.main")
def main(argv: list[str] | None = None) -> Any:
    """Runs the tests of the main module, or with `--benchmarks=<pattern>` its benchmarks."""
    install_stack_trace_handler()
    argv = list(sys.argv if argv is None else argv)
    if any(arg.startswith(("--benchmarks", "-benchmarks")) for arg in argv):
        return app.run(lambda _: benchmark.benchmarks_main(lambda: None, argv=argv), argv=argv)
    return run_tests(argv)


internal("platform.googletest.main")(main)
