"""The callback of version 1 that writes for TensorBoard."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from google.protobuf import text_format

import everflow as tf
from everflow.api import internal, public
from everflow.eager import profiler
from everflow.eager.context import executing_eagerly
from everflow.graph.stacks import get_default_graph
from everflow.io import gfile
from everflow.keras.backend.graph import get_graph
from everflow.keras.backend.session import get_session
from everflow.keras.callbacks.base import Callback
from everflow.keras.callbacks.weight_images import weight_image
from everflow.platform import logging
from everflow.proto import projector_config_pb2
from everflow.summary import recording
from everflow.summary.writing import create_file_writer


@public("keras.callbacks.TensorBoard", "contrib.keras.api.keras.callbacks.TensorBoard")
@internal("keras.callbacks_v1.TensorBoard")
class TensorBoard(Callback):
    """Writes losses and metrics, the graph, and where asked for weights, gradients and embeddings."""

    def __init__(
        self,
        log_dir: str = "./logs",
        histogram_freq: int = 0,
        batch_size: int = 32,
        write_graph: bool = True,
        write_grads: bool = False,
        write_images: bool = False,
        embeddings_freq: int = 0,
        embeddings_layer_names: Any = None,
        embeddings_metadata: Any = None,
        embeddings_data: Any = None,
        update_freq: Any = "epoch",
        profile_batch: int = 2,
    ) -> None:
        super().__init__()
        self._chief_worker_only = True
        self.log_dir = log_dir
        if histogram_freq and executing_eagerly():
            logging.warning("Weight and gradient histograms not supported for eagerexecution, setting `histogram_freq` to `0`.")
            histogram_freq = 0
        self.histogram_freq = histogram_freq
        self.merged: Any = None
        self.write_graph = write_graph
        self.write_grads = write_grads
        self.write_images = write_images
        self.batch_size = batch_size
        self.embeddings_freq = embeddings_freq
        self.embeddings_layer_names = embeddings_layer_names
        self.embeddings_metadata = embeddings_metadata
        self.embeddings_data = embeddings_data
        # Every batch is the same as every sample.
        self.update_freq = 1 if update_freq == "batch" else update_freq
        self._samples_seen = 0
        self._samples_seen_at_last_write = 0
        self._total_batches_seen = 0
        self._total_val_batches_seen = 0
        self._profile_batch = profile_batch
        self._is_profiling = False
        self.writer: Any = None
        self.saver: Any = None

    def _init_writer(self, model: Any) -> None:
        """Opens the file of events, and writes the graph."""
        if not executing_eagerly():
            self.writer = tf.summary.FileWriter(self.log_dir, get_default_graph() if self.write_graph else None)
            return
        self.writer = create_file_writer(self.log_dir)
        if self.write_graph and not model.run_eagerly:
            with self.writer.as_default(), recording.always_record_summaries():
                recording.graph(get_graph(), step=0)

    def set_model(self, model: Any) -> None:
        self.model = model
        graph = get_graph()
        if self.histogram_freq and self.merged is None:
            with graph.as_default():
                for layer in model.layers:
                    self._summarize(layer)
                self.merged = tf.summary.merge_all()
        self._init_writer(model)
        if self.embeddings_freq and self.embeddings_data is not None:
            self._set_embeddings(model)

    def _summarize(self, layer: Any) -> None:
        """Summaries of a layer's weights, their gradients and its output."""
        for weight in layer.weights:
            name = weight.name.replace(":", "_")
            tf.summary.histogram(name, weight)
            if self.write_images:
                image = weight_image(weight)
                if image is not None:
                    tf.summary.image(name, image)
        if self.write_grads:
            for weight in layer.trainable_weights:
                gradient = self.model.optimizer.get_gradients(self.model.total_loss, [weight])[0]
                tf.summary.histogram(f"{weight.name.replace(':', '_')}_grad", getattr(gradient, "values", gradient))
        if hasattr(layer, "output") and layer._inbound_nodes:
            outputs = layer.output if isinstance(layer.output, list) else [layer.output]
            for i, output in enumerate(outputs):
                tf.summary.histogram(f"{layer.name}_out_{i}" if len(outputs) > 1 else f"{layer.name}_out", output)

    def _set_embeddings(self, model: Any) -> None:
        """Variables that keep what embedding layers give for the data, and how the projector finds them."""
        names = self.embeddings_layer_names or [layer.name for layer in model.layers if type(layer).__name__ == "Embedding"]
        rows = len(self._embedded_data()[0])
        config = projector_config_pb2.ProjectorConfig()
        self._embedded: list[Any] = []
        with get_graph().as_default():
            for layer in model.layers:
                if layer.name not in names:
                    continue
                flat = tf.reshape(layer.output, (tf.shape(layer.output)[0], -1))
                size = int(np.prod(layer.output.shape.as_list()[1:]))
                kept = tf.Variable(tf.zeros((rows, size)), name=layer.name + "_embedding", trainable=False)
                place = tf.placeholder("int32", [], name="embedding_row_" + layer.name)
                count = tf.shape(flat)[0]
                self._embedded.append((kept, tf.scatter_update(kept, tf.range(place, place + count), flat), place))
                metadata = self.embeddings_metadata
                path = metadata.get(layer.name) if isinstance(metadata, dict) else metadata
                config.embeddings.add(tensor_name=kept.name, metadata_path=path)
            self.saver = tf.train.Saver([kept for kept, _, _ in self._embedded])
        gfile.recursive_create_dir_v2(self.log_dir)
        with gfile.GFile(os.path.join(self.log_dir, "projector_config.pbtxt"), "w") as out:
            out.write(text_format.MessageToString(config))
        get_session().run(tf.variables_initializer([kept for kept, _, _ in self._embedded]))

    def _embedded_data(self) -> Any:
        return self.embeddings_data if isinstance(self.embeddings_data, (list, tuple)) else [self.embeddings_data]

    def _write_custom_summaries(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Writes metrics by name."""
        if executing_eagerly():
            with self.writer.as_default(), recording.always_record_summaries():
                for name, value in (logs or {}).items():
                    recording.scalar(name, np.asarray(value).item(), step=step)
            return
        for name, value in (logs or {}).items():
            self.writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag=name, simple_value=np.asarray(value).item())]), step)
        self.writer.flush()

    def _begin_profile(self) -> None:
        try:
            profiler.start()
        except profiler.ProfilerAlreadyRunningError:
            return  # by another callback
        self._is_profiling = True

    def _end_profile(self) -> None:
        profiler.save(self.log_dir, profiler.stop())
        self._is_profiling = False

    def _abandon(self) -> None:
        if self._is_profiling:
            self._end_profile()

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        if self._profile_batch == 1:
            self._begin_profile()

    def on_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        logs = logs or {}
        self._samples_seen += logs.get("size", 1)
        if self.update_freq != "epoch" and self._samples_seen - self._samples_seen_at_last_write >= self.update_freq:
            self._write_custom_summaries(self._total_batches_seen, _named("batch_", logs))
            self._samples_seen_at_last_write = self._samples_seen
        self._total_batches_seen += 1
        if self._is_profiling:
            self._end_profile()
        elif self._total_batches_seen == self._profile_batch - 1:
            self._begin_profile()

    def _write_merged(self, summary: Any) -> None:
        self.writer.add_summary(summary, self._total_val_batches_seen)
        self._total_val_batches_seen += 1

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        if self.histogram_freq and epoch % self.histogram_freq == 0 and self.merged is not None:
            self.model._make_test_function()
            function = self.model.test_function
            if self.merged not in function.fetches:
                function.fetches.append(self.merged)
            function.fetch_callbacks[self.merged] = self._write_merged

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self._write_custom_summaries(epoch if self.update_freq == "epoch" else self._samples_seen, _named("epoch_", logs or {}))
        if self.histogram_freq and self.merged is not None and self.model.test_function is not None:
            function = self.model.test_function
            if self.merged in function.fetches:
                function.fetches.remove(self.merged)
            function.fetch_callbacks.pop(self.merged, None)
        if self.embeddings_data is None and self.embeddings_freq:
            raise ValueError("To visualize embeddings, embeddings_data must be provided.")
        if self.embeddings_freq and self.embeddings_data is not None and epoch % self.embeddings_freq == 0:
            self._save_embeddings(epoch)

    def _save_embeddings(self, epoch: int) -> None:
        data = self._embedded_data()
        session, rows = get_session(), len(data[0])
        for start in range(0, rows, self.batch_size):
            feed = {t: d[start : start + self.batch_size] for t, d in zip(self.model.inputs, data)}
            feed.update({place: start for _, _, place in self._embedded})
            session.run([update for _, update, _ in self._embedded], feed)
        self.saver.save(session, os.path.join(self.log_dir, "keras_embedding.ckpt"), epoch)

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        self._abandon()
        self.writer.close()


def _named(prefix: str, logs: dict[str, Any]) -> dict[str, Any]:
    """The losses and metrics among what callbacks hear, as they are called in TensorBoard."""
    return {prefix + name: value for name, value in logs.items() if name not in ("batch", "size", "num_steps")}
