"""The callback of version 2 that writes for TensorBoard: training and validation are two runs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from google.protobuf import text_format

import everflow as tf
from everflow.api import internal, public
from everflow.eager.context import eager_mode, executing_eagerly
from everflow.io import gfile
from everflow.keras.backend.graph import get_graph
from everflow.keras.callbacks.base import Callback
from everflow.keras.callbacks.weight_images import weight_image
from everflow.keras.layers.embedding import Embedding
from everflow.platform import logging
from everflow.proto import projector_config_pb2
from everflow.summary import recording
from everflow.summary.traces import trace_export, trace_on
from everflow.summary.writing import create_file_writer, keras_model

# What version 1 took, and what to say of it.
_FORMER = {
    "write_grads": "`write_grads` will be ignored in TensorFlow 2.0 for the `TensorBoard` Callback.",
    "batch_size": "`batch_size` is no longer needed in the `TensorBoard` Callback and will be ignored in TensorFlow 2.0.",
    "embeddings_layer_names": "`embeddings_layer_names` is not supported in TensorFlow 2.0. Instead, all `Embedding` layers will be "
    "visualized.",
    "embeddings_data": "`embeddings_data` is not supported in TensorFlow 2.0. Instead, all `Embedding` variables will be visualized.",
}
_NOT_METRICS = ("batch", "size", "num_steps")


@public("compat.v2.keras.callbacks.TensorBoard")
@internal("keras.callbacks.TensorBoard")
class TensorBoard(Callback):
    """Writes metrics, the model and its graph, and where asked for weights, pictures of them, embeddings and a profile of one batch.

    Summaries that layers write themselves go to the same files where `update_freq` is not "epoch".
    """

    def __init__(
        self,
        log_dir: str = "logs",
        histogram_freq: int = 0,
        write_graph: bool = True,
        write_images: bool = False,
        update_freq: Any = "epoch",
        profile_batch: int = 2,
        embeddings_freq: int = 0,
        embeddings_metadata: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        self._chief_worker_only = True
        for name in kwargs:
            if name in _FORMER and kwargs[name]:
                logging.warning(_FORMER[name])
        if unknown := set(kwargs) - set(_FORMER):
            raise ValueError(f"Unrecognized arguments in `TensorBoard` Callback: {unknown}")
        self.log_dir = log_dir
        self.histogram_freq = histogram_freq
        self.write_graph = write_graph
        self.write_images = write_images
        self.update_freq = 1 if update_freq == "batch" else update_freq
        self.embeddings_freq = embeddings_freq
        self.embeddings_metadata = embeddings_metadata
        self._profile_batch = profile_batch
        self._train_run_name = "train"
        self._validation_run_name = "validation"
        self._is_tracing = False
        self._is_training = False
        self._writers: dict[str, Any] = {}
        self._outer: Any = None
        self._count_anew()

    # -- files

    def _get_writer(self, run: str) -> Any:
        if run not in self._writers:
            self._writers[run] = create_file_writer(os.path.join(self.log_dir, run))
        return self._writers[run]

    @contextmanager
    def _writing(self, run: str) -> Iterator[None]:
        """Within the block, summaries are made at once and written to the files of a run."""
        with eager_mode(), self._get_writer(run).as_default(), recording.always_record_summaries():
            yield

    def _close_writers(self) -> None:
        with eager_mode():
            for writer in self._writers.values():
                writer.close()
        self._writers.clear()

    def _log_metrics(self, logs: dict[str, Any] | None, prefix: str, step: int) -> None:
        found: dict[str, dict[str, Any]] = {self._train_run_name: {}, self._validation_run_name: {}}
        for name, value in (logs or {}).items():
            if name not in _NOT_METRICS:
                of_validation = name.startswith("val_")
                found[self._validation_run_name if of_validation else self._train_run_name][
                    prefix + (name[4:] if of_validation else name)
                ] = value
        for run, values in found.items():
            if values:
                with self._writing(run):
                    for name, value in values.items():
                        recording.scalar(name, value, step=step)

    # -- summaries that the model's layers make

    def _count_anew(self) -> None:
        self._total_batches_seen = {self._train_run_name: 0, self._validation_run_name: 0}
        self._steps: dict[str, Any] = {}

    def _lend_writer(self, run: str) -> None:
        """Has summaries of layers be written as often as those of batches. Functions read their step from a variable."""
        if self.update_freq == "epoch" or not executing_eagerly():
            return
        if run not in self._steps:
            self._steps[run] = tf.Variable(self._total_batches_seen[run], dtype=tf.int64, trainable=False)
        if self._outer is None:
            self._outer = recording.defaults()
        step = self._steps[run]
        recording.set_defaults(self._get_writer(run), lambda: tf.equal(step % self.update_freq, 0), step)

    def _take_writer_back(self) -> None:
        if self._outer is not None:
            recording.set_defaults(*self._outer)
            self._outer = None

    def _count(self, run: str) -> None:
        self._total_batches_seen[run] += 1
        if run in self._steps:
            self._steps[run].assign(self._total_batches_seen[run])

    # -- when

    def set_model(self, model: Any) -> None:
        self.model = model
        self._close_writers()
        self._count_anew()
        if self.write_graph:
            graph = get_graph()
            with self._writing(self._train_run_name):
                if not model.run_eagerly:
                    recording.graph(graph, step=0)
                if model._is_graph_network or type(model).__name__ == "Sequential":
                    keras_model("keras", model, step=0)
        if self.embeddings_freq:
            self._configure_embeddings()

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        self._is_training = True
        self._count_anew()
        if self._profile_batch == 1:
            self._begin_trace()

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self._lend_writer(self._train_run_name)

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        if self.update_freq != "epoch" and batch % self.update_freq == 0:
            self._log_metrics(logs, "batch_", self._total_batches_seen[self._train_run_name])
        self._count(self._train_run_name)
        if self._is_tracing:
            self._end_trace()
        elif self._total_batches_seen[self._train_run_name] == self._profile_batch - 1:
            self._begin_trace()

    def on_test_begin(self, logs: dict[str, Any] | None = None) -> None:
        self._lend_writer(self._validation_run_name)

    def on_test_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        if self.update_freq != "epoch":
            self._count(self._validation_run_name)

    def on_test_end(self, logs: dict[str, Any] | None = None) -> None:
        if not self._is_training:
            self._take_writer_back()
            self._close_writers()

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self._log_metrics(logs, "epoch_", epoch)
        if self.histogram_freq and epoch % self.histogram_freq == 0:
            self._log_weights(epoch)
        if self.embeddings_freq and epoch % self.embeddings_freq == 0:
            self._log_embeddings(epoch)

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        self._abandon()

    def _abandon(self) -> None:
        if self._is_tracing:
            self._end_trace()
        self._is_training = False
        self._take_writer_back()
        self._close_writers()

    # -- what

    def _begin_trace(self) -> None:
        if executing_eagerly():
            trace_on(graph=True, profiler=True)
            self._is_tracing = True

    def _end_trace(self) -> None:
        step = self._total_batches_seen[self._train_run_name]
        with self._writing(self._train_run_name):
            trace_export(f"batch_{step}", step=step, profiler_outdir=os.path.join(self.log_dir, self._train_run_name))
        self._is_tracing = False

    def _log_weights(self, epoch: int) -> None:
        weights = [weight for layer in self.model.layers for weight in layer.weights]
        for weight, value in zip(weights, tf.keras.backend.batch_get_value(weights)):
            name = weight.name.replace(":", "_")
            with self._writing(self._train_run_name):
                recording.histogram(name, value, step=epoch)
                if self.write_images and (image := weight_image(value)) is not None:
                    recording.image(name, image, step=epoch)

    def _log_embeddings(self, epoch: int) -> None:
        self.model.save_weights(os.path.join(self.log_dir, self._train_run_name, f"keras_embedding.ckpt-{epoch}"))

    def _configure_embeddings(self) -> None:
        """Tells the projector which variables are embeddings."""
        given = self.embeddings_metadata
        paths = dict(given) if isinstance(given, dict) else {}
        config = projector_config_pb2.ProjectorConfig()
        for layer in self.model.layers:
            if isinstance(layer, Embedding):
                path = paths.pop(layer.name, None) if isinstance(given, dict) else given
                config.embeddings.add(tensor_name=layer.embeddings.name, metadata_path=path)
        if paths:
            raise ValueError(
                "Unrecognized `Embedding` layer names passed to `keras.callbacks.TensorBoard` `embeddings_metadata` argument: "
                + str(paths.keys())
            )
        gfile.recursive_create_dir_v2(self.log_dir)
        with gfile.GFile(os.path.join(self.log_dir, "projector_config.pbtxt"), "w") as out:
            out.write(text_format.MessageToString(config))
