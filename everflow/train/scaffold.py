"""Scaffold: the ops that every training program needs around its model."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.keys import GraphKeys
from everflow.ops.variables import resource_sets
from everflow.platform import logging
from everflow.train.checkpoints.saver import Saver, get_saver_or_default
from everflow.train.tracking.checkpoint import Checkpoint
from everflow.train.tracking.graph_view import ObjectGraphView

_USE_DEFAULT = 0
_TAKEN_OVER = ("_init_op", "_init_feed_dict", "_user_init_fn", "_ready_op", "_ready_for_local_init_op", "_local_init_op", "_saver")


@public("train.Scaffold")
class Scaffold:
    """Ops that initialize, check, summarize and save a model; `finalize` makes those that were not given."""

    def __init__(
        self,
        init_op: Any = None,
        init_feed_dict: Any = None,
        init_fn: Any = None,
        ready_op: Any = None,
        ready_for_local_init_op: Any = None,
        local_init_op: Any = None,
        summary_op: Any = None,
        saver: Any = None,
        copy_from_scaffold: Any = None,
    ) -> None:
        self._init_op = init_op
        self._init_feed_dict = init_feed_dict
        self._user_init_fn = init_fn
        self._ready_op = ready_op
        self._ready_for_local_init_op = ready_for_local_init_op
        self._local_init_op = local_init_op
        self._summary_op = summary_op
        self._saver = saver
        if copy_from_scaffold is not None:
            if not isinstance(copy_from_scaffold, Scaffold):
                raise TypeError("copy_from_scaffold is not a Scaffold instance.")
            for name in _TAKEN_OVER:
                if getattr(self, name) is None:
                    setattr(self, name, getattr(copy_from_scaffold, name))
            if self._summary_op is None and copy_from_scaffold._summary_op is not _USE_DEFAULT:
                self._summary_op = copy_from_scaffold._summary_op
        if self._summary_op is None:
            self._summary_op = _USE_DEFAULT
        user_init_fn = self._user_init_fn
        self._init_fn = (lambda sess: user_init_fn(self, sess)) if user_init_fn else None

    def finalize(self) -> Scaffold:
        """Makes what is missing and finalizes the graph."""
        if self._init_op is None:
            self._init_op = Scaffold.get_or_default("init_op", GraphKeys.INIT_OP, _default_init_op)
        if self._ready_op is None:
            self._ready_op = Scaffold.get_or_default("ready_op", GraphKeys.READY_OP, _default_ready_op)
        if self._ready_for_local_init_op is None:
            self._ready_for_local_init_op = Scaffold.get_or_default(
                "ready_for_local_init_op", GraphKeys.READY_FOR_LOCAL_INIT_OP, _default_ready_for_local_init_op
            )
        if self._local_init_op is None:
            self._local_init_op = Scaffold.get_or_default("local_init_op", GraphKeys.LOCAL_INIT_OP, Scaffold.default_local_init_op)
        if self._summary_op is _USE_DEFAULT:
            self._summary_op = Scaffold.get_or_default("summary_op", GraphKeys.SUMMARY_OP, tf.summary.merge_all)
        if self._saver is None:
            self._saver = get_saver_or_default()
        if isinstance(self._saver, Checkpoint):
            self._saver = Saver(ObjectGraphView(self._saver).frozen_saveable_objects(), sharded=True)
        elif isinstance(self._saver, Saver):
            self._saver.build()
        tf.get_default_graph().finalize()
        logging.info("Graph was finalized.")
        return self

    init_fn = property(attrgetter("_init_fn"))
    init_op = property(attrgetter("_init_op"))
    ready_op = property(attrgetter("_ready_op"))
    ready_for_local_init_op = property(attrgetter("_ready_for_local_init_op"))
    local_init_op = property(attrgetter("_local_init_op"))
    summary_op = property(lambda self: None if self._summary_op is _USE_DEFAULT else self._summary_op)
    saver = property(attrgetter("_saver"))
    init_feed_dict = property(attrgetter("_init_feed_dict"))

    @staticmethod
    def get_or_default(arg_name: str, collection_key: str, default_constructor: Any) -> Any:
        """The one item of a collection; a new one, which is added, where there is none."""
        found = tf.get_collection(collection_key)
        if len(found) > 1:
            raise RuntimeError(
                f'More than one item in the collection "{collection_key}". Please indicate which one to use by passing it '
                f"to the tf.Scaffold constructor as:  tf.Scaffold({arg_name}=item to use)"
            )
        if found:
            return found[0]
        made = default_constructor()
        if made is not None:
            tf.add_to_collection(collection_key, made)
        return made

    @staticmethod
    def default_local_init_op() -> Any:
        """Initializes local variables, tables and local resources."""
        return tf.group(
            tf.local_variables_initializer(), tf.tables_initializer(), resource_sets.initialize_resources(resource_sets.local_resources())
        )


def _default_init_op() -> Any:
    return tf.group(tf.global_variables_initializer(), resource_sets.initialize_resources(resource_sets.shared_resources()))


def _default_ready_op() -> Any:
    return tf.concat([tf.report_uninitialized_variables(), resource_sets.report_uninitialized_resources()], 0)


def _default_ready_for_local_init_op() -> Any:
    return tf.concat(
        [
            tf.report_uninitialized_variables(tf.global_variables()),
            resource_sets.report_uninitialized_resources(resource_sets.shared_resources()),
        ],
        0,
    )
