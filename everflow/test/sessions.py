"""The session that tests run in."""

from __future__ import annotations

from typing import Any

from everflow.api import internal
from everflow.errors import OutOfRangeError
from everflow.platform import logging
from everflow.proto import config_pb2, rewriter_config_pb2
from everflow.runtime.session import Session


def test_config(config: Any, force_gpu: bool) -> Any:
    """The configuration for a test: what it gives, with soft placement unless the test must be on the GPU.

    Constants are not folded, so that a test of an op runs that op's kernel.
    """
    made = config_pb2.ConfigProto()
    if config is None:
        made.allow_soft_placement = not force_gpu
    else:
        made.CopyFrom(config)
        if force_gpu:
            made.allow_soft_placement = False
    made.graph_options.optimizer_options.opt_level = config_pb2.OptimizerOptions.L0
    rewrites = made.graph_options.rewrite_options
    rewrites.constant_folding = rewriter_config_pb2.RewriterConfig.OFF
    rewrites.pin_to_host_optimization = rewriter_config_pb2.RewriterConfig.OFF
    return made


setattr(test_config, "__test__", False)  # noqa: B010


@internal("framework.test_util.ErrorLoggingSession")
class ErrorLoggingSession(Session):
    """Logs the errors of `run`, except the one that says that the input has ended."""

    def run(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().run(*args, **kwargs)
        except Exception as error:
            if not isinstance(error, OutOfRangeError):
                logging.error(str(error))
            raise


@internal("framework.test_util.FakeEagerSession")
class EagerSession:
    """Stands for a session where ops run at once: `run` gives the values of tensors."""

    def __init__(self, test_case: Any) -> None:
        self._test_case = test_case

    def run(self, fetches: Any, *args: Any, **kwargs: Any) -> Any:
        """The values of nested tensors."""
        if kwargs.pop("feed_dict", None) or args:
            raise RuntimeError("placeholders and feeds can not be used when ops run at once")
        return self._test_case.evaluate(fetches)
