"""What the callbacks for TensorBoard write; tags, steps and plugins are those of TensorFlow 1.15.5."""

import os

import numpy as np
import pytest

import everflow as tf

L, keras, summary = tf.keras.layers, tf.keras, tf.compat.v2.summary
V1, V2 = tf.keras.callbacks.TensorBoard, tf.compat.v2.keras.callbacks.TensorBoard
X, Y = np.ones((10, 6, 6, 1), np.float32), np.ones((10, 1), np.float32)


def pictures(**kwargs):
    model = keras.Sequential([L.Conv2D(4, 3, input_shape=(6, 6, 1), name="conv"), L.Flatten(), L.Dense(1, name="dense")])
    model.compile("sgd", "mse", **kwargs)
    return model


@pytest.fixture(autouse=True)
def names_from_the_beginning():
    keras.backend.clear_session()


def fit(model, callback, x=X, y=Y, **kwargs):
    model.fit(x, y, batch_size=4, verbose=0, callbacks=[callback], **{"validation_data": (x, y), **kwargs})


def events(folder, run=""):
    """(step, what, kind) of all events of a run, file by file."""
    found = []
    here = os.path.join(folder, run)
    for name in sorted(n for n in os.listdir(here) if "tfevents" in n):
        for event in tf.train.summary_iterator(os.path.join(here, name)):
            kind = event.WhichOneof("what")
            if kind == "summary":
                found += [(event.step, v.tag, v.metadata.plugin_data.plugin_name or v.WhichOneof("value")) for v in event.summary.value]
            elif kind != "file_version":
                found.append((event.step, kind, ""))
    return found


def tags(folder, run=""):
    return [(step, tag) for step, tag, _ in events(folder, run)]


def test_training_and_validation_are_two_runs(eager, tmp_path):
    fit(pictures(), V2(str(tmp_path), profile_batch=0), epochs=2)
    assert events(tmp_path, "train") == [
        (0, "graph_def", ""),
        (0, "keras", "graph_keras_model"),
        (0, "epoch_loss", "simple_value"),
        (1, "epoch_loss", "simple_value"),
    ]
    assert events(tmp_path, "validation") == [(0, "epoch_loss", "simple_value"), (1, "epoch_loss", "simple_value")]


def test_models_that_run_eagerly_have_no_graph(eager, tmp_path):
    fit(pictures(run_eagerly=True), V2(str(tmp_path), profile_batch=0), validation_data=None)
    assert tags(tmp_path, "train") == [(0, "keras"), (0, "epoch_loss")]
    assert os.listdir(tmp_path) == ["train"]


def test_batches_are_counted_within_epochs_and_steps_over_all(eager, tmp_path):
    callback = V2(str(tmp_path), update_freq=2, write_graph=False, profile_batch=0)
    fit(pictures(), callback, epochs=2)
    wanted = [(0, "batch_loss"), (2, "batch_loss"), (0, "epoch_loss"), (3, "batch_loss"), (5, "batch_loss"), (1, "epoch_loss")]
    assert tags(tmp_path, "train") == wanted
    fit(pictures(), callback, epochs=2)
    assert tags(tmp_path, "train") == wanted * 2, "a second training starts again"


def test_weights_are_histograms_and_pictures(eager, tmp_path):
    fit(pictures(), V2(str(tmp_path), histogram_freq=2, write_images=True, write_graph=False, profile_batch=0), epochs=3)
    weights = [
        "conv/kernel_0",
        "conv/kernel_0/image/0",
        "conv/kernel_0/image/1",
        "conv/kernel_0/image/2",
        "conv/bias_0",
        "conv/bias_0/image/0",
        "dense/kernel_0",
        "dense/kernel_0/image/0",
        "dense/bias_0",
    ]
    assert tags(tmp_path, "train") == [
        *((0, tag) for tag in ["epoch_loss", *weights]),
        (1, "epoch_loss"),
        *((2, tag) for tag in ["epoch_loss", *weights]),
    ]


@pytest.mark.parametrize("batch", [1, 2])
def test_a_profile_of_one_batch(eager, tmp_path, batch):
    fit(pictures(), V2(str(tmp_path), profile_batch=batch, write_graph=False))
    assert (batch, f"batch_{batch}", "graph_run_metadata") in events(tmp_path, "train")
    (session,) = os.listdir(tmp_path / "train" / "plugins" / "profile")
    assert os.listdir(tmp_path / "train" / "plugins" / "profile" / session) == ["local.trace"]


def test_the_projector_is_told_of_embeddings(eager, tmp_path):
    model = keras.Sequential([L.Embedding(9, 3, input_length=5, name="words"), L.Flatten(), L.Dense(1)])
    model.compile("sgd", "mse")
    callback = V2(str(tmp_path), embeddings_freq=1, embeddings_metadata={"words": "words.tsv"}, profile_batch=0)
    fit(model, callback, np.ones((10, 5), np.int32))
    assert (tmp_path / "projector_config.pbtxt").read_text() == (
        'embeddings {\n  tensor_name: "words/embeddings:0"\n  metadata_path: "words.tsv"\n}\n'
    )
    assert [9, 3] in [shape for _, shape in tf.train.list_variables(str(tmp_path / "train" / "keras_embedding.ckpt-0"))]
    with pytest.raises(ValueError, match=r"Unrecognized `Embedding` layer names .*: dict_keys\(\['word'\]\)"):
        fit(model, V2(str(tmp_path), embeddings_freq=1, embeddings_metadata={"word": "words.tsv"}), np.ones((10, 5), np.int32))


def test_unknown_arguments_are_refused_and_former_ones_are_not(caplog):
    with pytest.raises(ValueError, match="Unrecognized arguments in `TensorBoard` Callback: {'wwrite_images'}"):
        V2(wwrite_images=True)
    V2(batch_size=3)


class Watched(L.Layer):
    def build(self, shape):
        self.w = self.add_weight("w", (1,), initializer="ones")
        super().build(shape)

    def call(self, x):
        summary.scalar("sum", tf.reduce_sum(x))
        summary.scalar("weight", tf.reduce_sum(self.w))
        return x * self.w


@pytest.mark.parametrize("at_once", [False, True])
def test_layers_write_to_the_same_files(eager, tmp_path, at_once):
    model = keras.Sequential([Watched(name="watched", input_shape=(2,))], name="model")
    keras.Sequential([Watched(name="others", input_shape=(2,))])
    keras.Sequential([Watched(name="watched", input_shape=(2,))])
    model.compile("sgd", "mse", run_eagerly=at_once)
    x = np.ones((8, 2), np.float32)
    fit(model, V2(str(tmp_path), update_freq=2, write_graph=False, profile_batch=0), x, 0 * x)
    both = [(0, "model/watched/sum"), (0, "model/watched/weight")]
    assert tags(tmp_path, "train") == [*both, (0, "batch_loss"), (0, "epoch_loss")]
    assert tags(tmp_path, "validation") == [*both, (0, "epoch_loss")]


def test_layers_write_to_the_writer_of_the_program(eager, tmp_path):
    model = keras.Sequential([Watched(name="watched", input_shape=(2,))], name="model")
    model.compile("sgd", "mse")
    writer = summary.create_file_writer(str(tmp_path))
    summary.experimental.set_step(7)
    with writer.as_default():
        model.fit(np.ones((2, 2)), np.ones((2, 2)), verbose=0)
    model.fit(np.ones((2, 2)), np.ones((2, 2)), verbose=0)
    writer.close()
    summary.experimental.set_step(None)
    assert tags(tmp_path) == [(7, "model/watched/sum"), (7, "model/watched/weight")]


def test_evaluation_gives_the_default_writer_back(eager, tmp_path):
    model = keras.Sequential([Watched(name="watched", input_shape=(2,))], name="model")
    model.compile("sgd", "mse")
    callback = V2(str(tmp_path), update_freq="batch", write_graph=False)
    model.evaluate(np.ones((2, 2)), np.ones((2, 2)), verbose=0, callbacks=[callback])
    assert tags(tmp_path, "validation") == [(0, "model/watched/sum"), (0, "model/watched/weight")]
    assert not summary.scalar("x", 1.0, step=1).numpy()


def test_in_graphs_of_version_1(tmp_path):
    fit(pictures(), V2(str(tmp_path), update_freq="batch"), epochs=1)
    assert tags(tmp_path, "train") == [(0, "graph_def"), (0, "keras"), *((i, "batch_loss") for i in range(3)), (0, "epoch_loss")]
    assert tags(tmp_path, "validation") == [(0, "epoch_loss")]


def test_version_1_profiles_a_batch(tmp_path):
    fit(pictures(), V1(str(tmp_path), write_graph=False))
    (session,) = os.listdir(tmp_path / "plugins" / "profile")
    assert os.listdir(tmp_path / "plugins" / "profile" / session) == ["local.trace"]
    assert tags(tmp_path) == [(0, "epoch_loss"), (0, "epoch_val_loss")]


def test_version_1_where_ops_run_at_once(eager, tmp_path):
    fit(pictures(), V1(str(tmp_path), update_freq=5, histogram_freq=1, profile_batch=0), epochs=2)
    assert events(tmp_path) == [
        (0, "graph_def", ""),
        (1, "batch_loss", "simple_value"),
        (10, "epoch_loss", "simple_value"),
        (10, "epoch_val_loss", "simple_value"),
        (3, "batch_loss", "simple_value"),
        (5, "batch_loss", "simple_value"),
        (20, "epoch_loss", "simple_value"),
        (20, "epoch_val_loss", "simple_value"),
    ]


def test_arrays_to_validate_come_in_batches_as_large_as_a_generators():
    sizes = []
    model = keras.Sequential([L.Dense(1, input_shape=(2,))])
    model.compile("sgd", "mse")
    noting = keras.callbacks.LambdaCallback()
    noting.on_test_batch_end = lambda batch, logs=None: sizes.append(logs["size"])
    three = (np.ones((3, 2)), np.ones((3, 1)))
    model.fit(iter([three] * 4), steps_per_epoch=2, validation_data=(np.ones((7, 2)), np.ones((7, 1))), callbacks=[noting], verbose=0)
    assert sizes == [3, 3, 1]
