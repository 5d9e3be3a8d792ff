"""A model of several TPU shards on a processor: each shard gets its part of the batch, and the host sees what they give together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import everflow as tf
from everflow import nest
from everflow.data.dataset import DatasetV2
from everflow.estimator.mode_keys import ModeKeys
from everflow.estimator.spec import EstimatorSpec
from everflow.summary.recording import flush, summary_writer_initializer_op
from everflow.train.session_run_hook import SessionRunArgs, SessionRunHook


class HostCallHook(SessionRunHook):
    """Runs what a host call made with each step, and opens and flushes the files that it writes summaries to."""

    def __init__(self, made: Any) -> None:
        self._made = [one for one in nest.flatten(made) if one is not None]
        self._opening: list[Any] = []
        self._flushing: list[Any] = []

    def begin(self) -> None:
        """Finds the files of the graph."""
        self._opening = summary_writer_initializer_op()
        self._flushing = [flush(writer=op.inputs[0]) for op in self._opening]

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Opens them."""
        session.run(self._opening)

    def before_run(self, run_context: Any) -> Any:
        """Has the step do the call too."""
        return SessionRunArgs(self._made)

    def end(self, session: Any) -> None:
        """Leaves nothing unwritten."""
        session.run(self._flushing)


def joined_inputs(given: Sequence[Any]) -> Any:
    """What an input function gave for each shard, as one batch."""
    if isinstance(given[0], DatasetV2):
        return tf.data.Dataset.zip(tuple(given)).map(lambda *shards: _joined(shards))
    return _joined(given)


def joined_batches(dataset: Any, shards: int) -> Any:
    """A dataset of shards' batches as one of whole batches: each shard gets one in turn."""
    if not isinstance(dataset, DatasetV2):
        raise ValueError("Datasets are the only inputs that PER_HOST_V2 and BROADCAST take.")

    def rows(tensor: Any) -> Any:
        sizes = tensor.shape.as_list()
        whole = None if sizes[1] is None else sizes[0] * sizes[1]
        return tf.reshape(tensor, tf.concat([[-1], tf.shape(tensor)[2:]], 0)) if whole is None else tf.reshape(tensor, [whole, *sizes[2:]])

    def flat(*parts: Any) -> Any:
        found = nest.map_structure(rows, parts)
        return found[0] if len(found) == 1 else found

    return dataset.batch(shards, drop_remainder=True).map(flat)


def _joined(parts: Sequence[Any]) -> Any:
    return nest.map_structure(lambda *tensors: tf.concat(tensors, 0), *parts)


def _split(structure: Any, axes: Any, shards: int) -> list[Any]:
    """The parts of a batch; an axis of None gives all shards the whole."""
    if structure is None:
        return [None] * shards
    flat = nest.flatten(structure)
    each = [axes] * len(flat) if axes is None or isinstance(axes, int) else nest.flatten(axes)
    parts = [[t] * shards if axis is None else tf.split(t, shards, axis=axis) for t, axis in zip(flat, each)]
    return [nest.pack_sequence_as(structure, [own[i] for own in parts]) for i in range(shards)]


def _padded(structure: Any, shards: int) -> tuple[Any, Any]:
    """A batch whose rows can be shared out evenly, and how many rows it had: a last batch may be short."""
    rows = tf.shape(nest.flatten(structure)[0])[0]
    lacking = (shards - rows % shards) % shards

    def padded(tensor: Any) -> Any:
        found = tf.concat([tensor, tf.tile(tensor[:1], tf.concat([[lacking], tf.ones_like(tf.shape(tensor)[1:])], 0))], 0)
        found.set_shape([None, *tensor.shape.as_list()[1:]])
        return found

    return nest.map_structure(padded, structure), rows


def shards_as_one(
    model_fn: Callable[..., Any], features: Any, labels: Any, mode: str, config: Any, shards: int, batch_axis: Any
) -> EstimatorSpec:
    """The specs of all shards as one. Sums across shards join them, and the first one's step is that of all: their variables are one."""
    rows = None
    if mode == ModeKeys.PREDICT:
        features, rows = _padded(features, shards)
    axes = (0, 0) if batch_axis is None else tuple(batch_axis)
    feature_axes, label_axes = (axes[0], axes[1]) if len(axes) == 2 else (0, 0)
    feature_parts, label_parts = _split(features, feature_axes, shards), _split(labels, label_axes, shards)
    specs: list[Any] = []

    def computation() -> Any:
        i = len(specs)
        spec = model_fn(feature_parts[i], label_parts[i], mode, config, shards)
        specs.append(spec)
        return tf.no_op() if spec.loss is None else tf.identity(spec.loss)

    tf.tpu.replicate(computation, [[] for _ in range(shards)])
    first = specs[0]
    if isinstance(first, EstimatorSpec):
        raise ValueError(f"model_fn must return a TPUEstimatorSpec on TPUs, not {type(first).__name__}.")
    loss = None if first.loss is None else tf.add_n([tf.convert_to_tensor(spec.loss) for spec in specs]) / shards
    hooks = () if first.host_call is None else (HostCallHook(_of_all("host_call", specs)),)
    predictions = None
    if first.predictions is not None:
        predictions = nest.map_structure(lambda *parts: tf.concat(parts, 0)[:rows], *[spec.predictions for spec in specs])
    return EstimatorSpec(
        mode=mode,
        predictions=predictions,
        loss=loss,
        train_op=first.train_op,
        eval_metric_ops=None if first.eval_metrics is None else _of_all("eval_metrics", specs),
        export_outputs=first.export_outputs,
        scaffold=first.scaffold_fn() if first.scaffold_fn else None,
        training_hooks=first.training_hooks + hooks,
        evaluation_hooks=first.evaluation_hooks + hooks,
        prediction_hooks=first.prediction_hooks + hooks,
    )


def _of_all(name: str, specs: Sequence[Any]) -> Any:
    """Calls the host's function with what all shards give, one below the other; each must have a batch axis for that."""
    function = getattr(specs[0], name)[0]
    given = [getattr(spec, name)[1] for spec in specs]
    for tensor in nest.flatten(given[0]):
        if tensor.shape.ndims == 0:
            raise RuntimeError(
                f"The tensor {tensor} of {name} must have a batch axis: what shards give to their host is put one below the other."
            )
    together = nest.map_structure(lambda *parts: tf.concat(parts, 0), *given)
    return function(**together) if isinstance(together, dict) else function(*together)
