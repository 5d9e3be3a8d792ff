"""What tests of heads assert, in TensorFlow and in programs that test heads of their own."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.proto.tensorflow.core.framework import summary_pb2
from everflow.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY

internal("estimator.head.head_utils._DEFAULT_SERVING_KEY", "estimator.canned.head._DEFAULT_SERVING_KEY")(DEFAULT_SERVING_SIGNATURE_DEF_KEY)


@internal("estimator.head.head_utils._initialize_variables")
def initialize_variables(test_case: Any, scaffold: Any) -> None:
    """Makes a session ready as a scaffold says; it may be given once only."""
    scaffold.finalize()
    for unused in ("init_feed_dict", "init_fn"):
        test_case.assertIsNone(getattr(scaffold, unused))
    session = tf.get_default_session()
    for step in ("init_op", "ready_for_local_init_op", "local_init_op", "ready_op"):
        session.run(getattr(scaffold, step))
    test_case.assertIsNotNone(scaffold.saver)


@internal("estimator.head.head_utils._assert_simple_summaries")
def assert_simple_summaries(test_case: Any, expected_summaries: dict[str, float], summary_str: Any, tol: float = 1e-6) -> None:
    """Asserts which numbers a serialized summary holds."""
    summary = summary_pb2.Summary()
    summary.ParseFromString(tf.compat.as_bytes(summary_str))
    found = {value.tag: value.simple_value for value in summary.value}
    test_case.assertAllClose(expected_summaries, found, rtol=tol, atol=tol)


@internal("estimator.head.head_utils._assert_no_hooks")
def assert_no_hooks(test_case: Any, spec: Any) -> None:
    """Asserts that a spec trains without hooks."""
    test_case.assertAllEqual([], spec.training_chief_hooks)
    test_case.assertAllEqual([], spec.training_hooks)
