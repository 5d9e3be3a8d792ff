"""What an input function gives: datasets and iterators become features and labels, with a hook that starts them."""

from __future__ import annotations

from typing import Any

from everflow.api import internal
from everflow.data.dataset import DatasetV2, make_initializable_iterator
from everflow.train.session_run_hook import SessionRunHook


@internal("estimator.util._DatasetInitializerHook", "estimator.util.DistributedIteratorInitializerHook")
class IteratorInitializerHook(SessionRunHook):
    """Starts an iterator once there is a session."""

    def __init__(self, iterator: Any) -> None:
        self._iterator = iterator

    def begin(self) -> None:
        self._initializer = self._iterator.initializer

    def after_create_session(self, session: Any, coord: Any) -> None:
        del coord
        session.run(self._initializer)


@internal("estimator.util.parse_input_fn_result")
def with_hooks(given: Any) -> tuple[Any, Any, list[Any]]:
    """Features, labels and hooks of what an input function gave."""
    hooks: list[Any] = []
    if isinstance(given, DatasetV2):
        iterator = make_initializable_iterator(given)
        hooks.append(IteratorInitializerHook(iterator))
        given = iterator.get_next()
    features, labels = features_and_labels(given)
    return features, labels, hooks


@internal("estimator.util.parse_iterator_result")
def features_and_labels(given: Any) -> tuple[Any, Any]:
    """A pair, where there are labels."""
    if isinstance(given, (list, tuple)):
        if len(given) != 2:
            raise ValueError("input_fn should return (features, labels) as a len 2 tuple.")
        return given[0], given[1]
    return given, None
