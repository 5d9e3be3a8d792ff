"""The callback that writes for TensorBoard."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.eager.context import executing_eagerly
from everflow.graph.stacks import get_default_graph
from everflow.keras.backend.graph import get_graph
from everflow.keras.backend.session import get_session
from everflow.keras.callbacks.base import Callback


@public("keras.callbacks.TensorBoard", "contrib.keras.api.keras.callbacks.TensorBoard")
@internal("keras.callbacks_v1.TensorBoard", "keras.callbacks.TensorBoard")
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
        self.histogram_freq = 0 if executing_eagerly() else histogram_freq
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
        self.writer: Any = None
        self.saver: Any = None

    def set_model(self, model: Any) -> None:
        self.model = model
        graph = get_graph()
        if self.histogram_freq and self.merged is None:
            with graph.as_default():
                for layer in model.layers:
                    self._summarize(layer)
                self.merged = tf.summary.merge_all()
        if executing_eagerly():
            with tf.Graph().as_default():
                self.writer = tf.summary.FileWriter(self.log_dir)
            if self.write_graph and model.outputs and not model.run_eagerly:
                self.writer.add_graph(graph)
        else:
            self.writer = tf.summary.FileWriter(self.log_dir, get_default_graph() if self.write_graph else None)
        if self.embeddings_freq and self.embeddings_data is not None:
            self._set_embeddings(model)

    def _summarize(self, layer: Any) -> None:
        """Summaries of a layer's weights, their gradients and its output."""
        for weight in layer.weights:
            name = weight.name.replace(":", "_")
            tf.summary.histogram(name, weight)
            if self.write_images:
                image = _as_image(weight)
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
        names = self.embeddings_layer_names or [la.name for la in model.layers if type(la).__name__ == "Embedding"]
        self._embedded: list[Any] = []
        data = self.embeddings_data if isinstance(self.embeddings_data, (list, tuple)) else [self.embeddings_data]
        rows = len(data[0])
        lines = []
        with get_graph().as_default():
            for layer in model.layers:
                if layer.name not in names:
                    continue
                flat = tf.reshape(layer.output, (tf.shape(layer.output)[0], -1))
                size = int(np.prod([d for d in layer.output.shape.as_list()[1:]]))
                kept = tf.Variable(tf.zeros((rows, size)), name=layer.name + "_embedding", trainable=False)
                place = tf.placeholder("int32", [], name="embedding_row_" + layer.name)
                count = tf.shape(flat)[0]
                self._embedded.append((kept, tf.scatter_update(kept, tf.range(place, place + count), flat), place))
                lines.append(f'embeddings {{\n  tensor_name: "{kept.op.name}"\n')
                metadata = self.embeddings_metadata
                if isinstance(metadata, dict):
                    metadata = metadata.get(layer.name)
                if metadata:
                    lines.append(f'  metadata_path: "{metadata}"\n')
                lines.append("}\n")
            self.saver = tf.train.Saver([kept for kept, _, _ in self._embedded])
        os.makedirs(self.log_dir, exist_ok=True)
        with open(os.path.join(self.log_dir, "projector_config.pbtxt"), "w") as f:
            f.write("".join(lines))
        get_session().run(tf.variables_initializer([kept for kept, _, _ in self._embedded]))

    def _write(self, values: dict[str, Any], step: int) -> None:
        summary = tf.Summary()
        for name, value in values.items():
            summary.value.add(tag=name, simple_value=float(np.asarray(value)))
        self.writer.add_summary(summary, step)
        self.writer.flush()

    def on_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        logs = logs or {}
        self._samples_seen += logs.get("size", 1)
        if self.update_freq != "epoch" and self._samples_seen - self._samples_seen_at_last_write >= self.update_freq:
            values = {f"batch_{k}": v for k, v in logs.items() if k not in ("batch", "size", "num_steps")}
            self._write(values, self._total_batches_seen)
            self._samples_seen_at_last_write = self._samples_seen
        self._total_batches_seen += 1

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
        values = {f"epoch_{k}": v for k, v in (logs or {}).items() if k not in ("batch", "size", "num_steps")}
        self._write(values, epoch if self.update_freq == "epoch" else self._samples_seen)
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
        data = self.embeddings_data if isinstance(self.embeddings_data, (list, tuple)) else [self.embeddings_data]
        session, rows = get_session(), len(data[0])
        for start in range(0, rows, self.batch_size):
            feed = {t: d[start : start + self.batch_size] for t, d in zip(self.model.inputs, data)}
            feed.update({place: start for _, _, place in self._embedded})
            session.run([update for _, update, _ in self._embedded], feed)
        self.saver.save(session, os.path.join(self.log_dir, "keras_embedding.ckpt"), epoch)

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        self.writer.close()


def _as_image(weight: Any) -> Any:
    """A weight as an image of one channel; None where it has too many dimensions."""
    image = tf.squeeze(weight)
    sizes = image.shape.as_list()
    if len(sizes) == 2:
        if sizes[0] > sizes[1]:
            image = tf.transpose(image)
            sizes = sizes[::-1]
        return tf.reshape(image, [1, *sizes, 1])
    if len(sizes) == 3:
        image = tf.transpose(image, [2, 0, 1])
        return tf.reshape(image, [*image.shape.as_list(), 1])
    return tf.reshape(image, [1, sizes[0], 1, 1]) if len(sizes) == 1 else None
