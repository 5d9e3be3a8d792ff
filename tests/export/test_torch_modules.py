"""Exported PyTorch modules give the outputs of the graphs that they were made from."""

import importlib.util
import subprocess
import sys

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.cli.main import main
from everflow.export.torch_module import write_module
from everflow.export.values import CannotExpress

RANDOM = np.random.RandomState(0)


@pytest.fixture(autouse=True)
def seed(graph):
    tf.set_random_seed(1)


def loaded(path):
    spec = importlib.util.spec_from_file_location("exported", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.load()


def same(tmp_path, inputs, outputs, fed, tolerance=1e-5):
    """Exports, runs both, compares; returns the text."""
    path = str(tmp_path / "model.py")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        expected = sess.run(outputs, {inputs[key]: fed[key] for key in inputs})
        write_module(path, sess, inputs, outputs, "A test.")
    with torch.no_grad():
        found = loaded(path)(*(torch.from_numpy(np.asarray(fed[key])) for key in inputs))
    assert list(found) == list(outputs)
    for key, value in expected.items():
        assert found[key].numpy().dtype == value.dtype and found[key].shape == value.shape
        np.testing.assert_allclose(found[key].numpy(), value, rtol=tolerance, atol=tolerance)
    with open(path) as file:
        return file.read()


def image(*shape):
    return RANDOM.rand(*shape).astype(np.float32)


def test_a_convolutional_network_with_batch_normalization(tmp_path):
    x = tf.placeholder(tf.float32, [None, 13, 13, 3])
    h = tf.layers.conv2d(x, 8, 5, padding="same", activation=tf.nn.relu)
    h = tf.layers.max_pooling2d(h, 2, 2, padding="same")
    h = tf.layers.conv2d(h, 6, 3, strides=2, padding="same")
    h = tf.nn.relu6(tf.layers.batch_normalization(h))
    h = tf.layers.separable_conv2d(h, 4, 3, dilation_rate=1, depth_multiplier=2)
    h = tf.layers.conv2d_transpose(h, 3, 3, strides=2, padding="same")
    h = tf.layers.average_pooling2d(h, 2, 1, padding="same")
    logits = tf.layers.dense(tf.layers.dropout(tf.layers.flatten(h)), 5)
    text = same(
        tmp_path, {"image": x}, {"classes": tf.argmax(logits, 1), "probabilities": tf.nn.softmax(logits)}, {"image": image(2, 13, 13, 3)}
    )
    assert "self.conv2d_kernel = torch.nn.Parameter(torch.empty(5, 5, 3, 8, dtype=torch.float32))" in text
    assert 'self.register_buffer("batch_normalization_moving_mean"' in text
    assert "dense_matmul = flatten_reshape @ self.dense_kernel" in text
    assert "def forward(self, image):" in text and "everflow" not in text and "tensorflow" not in text


def test_an_lstm_over_embedded_words(tmp_path):
    ids, lengths = tf.placeholder(tf.int32, [None, None]), tf.placeholder(tf.int32, [None])
    x = tf.nn.embedding_lookup(tf.get_variable("words", [20, 4]), ids)
    out, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(6), x, sequence_length=lengths, dtype=tf.float32)
    text = same(
        tmp_path,
        {"ids": ids, "lengths": lengths},
        {"out": out, "last": state.h},
        {"ids": RANDOM.randint(0, 20, [3, 5]).astype(np.int32), "lengths": np.array([5, 2, 3], np.int32)},
    )
    assert "F.embedding(ids, self.words)" in text and "while True:" in text


@pytest.mark.parametrize("version", [1, 2])
def test_loops_and_branches_of_both_kinds(tmp_path, version):
    x = tf.placeholder(tf.float32, [3])
    with tf.Graph().as_default() as graph:
        if version == 2:
            tf.compat.v1.enable_control_flow_v2()
        try:
            a = tf.placeholder(tf.float32, [3], name="x")
            i, y = tf.while_loop(
                lambda i, y: tf.logical_and(i < 10, tf.reduce_sum(y) < 100.0),
                lambda i, y: (i + 1, y * 1.5 + tf.cond(i > 3, lambda: 1.0, lambda: a[0])),
                [tf.constant(0), a],
            )
            tf.cond(tf.reduce_sum(a) > 1, lambda: y, lambda: tf.zeros([3]), name="last")
            tf.identity(i, "rounds")
        finally:
            tf.compat.v1.disable_control_flow_v2()
        definition = graph.as_graph_def()
    last = [n.name for n in definition.node if n.name.startswith("last/")][-1] if version == 1 else "last"
    rounds, y = tf.import_graph_def(definition, {"x": x}, ["rounds:0", last + ":0"])
    same(tmp_path, {"x": x}, {"rounds": rounds, "y": y}, {"x": np.array([0.1, 0.2, 0.9], np.float32)})


def test_branches_made_of_switches(tmp_path):
    """As TensorFlow 1 writes them."""
    x, p = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.bool, [])
    no, yes = tf.raw_ops.Switch(data=x, pred=p)
    y = tf.raw_ops.Merge(inputs=[tf.exp(no), yes * 2.0])[0]
    for chosen in (True, False):
        text = same(tmp_path, {"x": x, "p": p}, {"y": y}, {"x": np.array([1.0, 2.0], np.float32), "p": np.array(chosen)})
    assert "if not p:\n            exp = torch.exp(x)" in text


def test_functions_are_inlined(tmp_path):
    @tf.function
    def scaled(a, by):
        return a * by + tf.cast(tf.shape(a)[0], tf.float32)

    x = tf.placeholder(tf.float32, [None, 2])
    same(tmp_path, {"x": x}, {"y": scaled(x, tf.constant(3.0))}, {"x": image(4, 2)})


X = image(2, 3, 4)
ONE_INPUT = {
    "arithmetic": lambda x: (x + 1.0) * 2.0 - x / 3.0 + (4.0 - x) ** 2,
    "comparing": lambda x: tf.where(tf.logical_and(x > 0.2, x <= 0.8), x, tf.zeros_like(x)),
    "maximum": lambda x: tf.maximum(x, 0.5) + tf.minimum(0.3, x),
    "clip": lambda x: tf.clip_by_value(x, 0.2, 0.7),
    "integers": lambda x: tf.reduce_sum(tf.cast(x * 10, tf.int32), 1) // 3 % 4,
    "means": lambda x: tf.reduce_mean(x, [0, 2], keepdims=True) + tf.reduce_max(x) - tf.reduce_min(x, -1, keepdims=True),
    "products": lambda x: tf.reduce_prod(x, [0, 1]),
    "any": lambda x: tf.reduce_any(x > 0.9, [1, 2]),
    "norm": lambda x: tf.nn.l2_normalize(x, -1),
    "moments": lambda x: tf.stack(tf.nn.moments(x, [0, 1])),
    "reshape": lambda x: tf.reshape(x, [tf.shape(x)[0], -1]),
    "shape": lambda x: tf.shape(x)[1:] * 2,
    "fill": lambda x: tf.fill(tf.shape(x), 2.5) + tf.zeros([tf.shape(x)[0], 1, 1]),
    "transpose": lambda x: tf.transpose(x, [2, 0, 1]),
    "squeeze": lambda x: tf.squeeze(tf.expand_dims(x, 1), [1]),
    "concat": lambda x: tf.concat([x, x * 2.0], 1),
    "stack": lambda x: tf.stack(tf.unstack(x, axis=1), axis=2),
    "split": lambda x: tf.add_n(tf.split(x, 2, axis=2)) + tf.split(x, [2, 1, 1], 2)[1],
    "slices": lambda x: x[:, 1:, ::2] + x[0, tf.newaxis, :2, -1:],
    "backwards": lambda x: x[:, ::-1, 3:0:-2],
    "slice": lambda x: tf.slice(x, [0, 1, 0], [-1, 2, 3]),
    "gather": lambda x: tf.gather(x, [[2, 0], [1, 1]], axis=1),
    "gather_nd": lambda x: tf.gather_nd(x, [[0, 1], [1, 2]]),
    "tile": lambda x: tf.tile(x, [1, 2, 1]),
    "pad": lambda x: tf.pad(x, [[0, 0], [1, 2], [0, 1]], constant_values=3.0),
    "mirror": lambda x: tf.pad(x, [[0, 0], [2, 1], [1, 2]], "REFLECT") + tf.pad(x, [[0, 0], [2, 1], [1, 2]], "SYMMETRIC"),
    "range": lambda x: tf.range(tf.shape(x)[1]) * 2,
    "one_hot": lambda x: tf.one_hot(tf.argmax(x, 2, output_type=tf.int32), 4, 2.0, -1.0, axis=1),
    "top_k": lambda x: tf.nn.top_k(x, 2).values + tf.cast(tf.nn.top_k(x, 2).indices, tf.float32),
    "cumsum": lambda x: tf.cumsum(x, 1, exclusive=True, reverse=True),
    "reverse": lambda x: tf.reverse(x, [1]) + tf.reverse_sequence(x, [1, 3], 1, 0),
    "matmul": lambda x: tf.matmul(x, x, transpose_b=True),
    "bands": lambda x: tf.nn.softmax(x) + tf.nn.log_softmax(x) + tf.nn.elu(x) + tf.nn.selu(x) + tf.nn.leaky_relu(x - 0.5),
    "softplus": lambda x: tf.nn.softplus(x) + tf.nn.softsign(x) + tf.sigmoid(x) + tf.tanh(x) + tf.erf(x),
    "constants": lambda x: x + np.arange(24.0, dtype=np.float32).reshape(2, 3, 4),
    "division": lambda x: tf.div_no_nan(x, tf.round(x)) + tf.math.squared_difference(x, 2.0),
    "layer_norm": lambda x: tf.nn.batch_normalization(x, 0.5, 2.0, None, 1.5, 1e-3),
    "parts": lambda x: tf.nn.embedding_lookup([tf.constant(image(3, 2)), tf.constant(image(2, 2))], tf.cast(x * 4, tf.int32), "mod"),
    "map": lambda x: tf.map_fn(lambda row: tf.reduce_sum(row, 0) * 2.0, x),
    "scatter": lambda x: tf.scatter_nd([[1], [0]], x[:, 0], [3, 4]),
}


@pytest.mark.parametrize("what", ONE_INPUT)
def test_ops(tmp_path, what):
    x = tf.placeholder(tf.float32, [None, 3, 4])
    same(tmp_path, {"x": x}, {"y": ONE_INPUT[what](x)}, {"x": X})


IMAGES = {
    "valid": lambda x: tf.nn.conv2d(x, tf.constant(image(3, 2, 2, 4)), [1, 2, 1, 1], "VALID"),
    "dilated": lambda x: tf.nn.conv2d(x, tf.constant(image(3, 3, 2, 4)), [1, 1, 1, 1], "SAME", dilations=[1, 2, 2, 1]),
    "pools": lambda x: tf.nn.max_pool(x, [1, 3, 3, 1], [1, 2, 2, 1], "VALID") + tf.nn.avg_pool(x, [1, 3, 3, 1], [1, 2, 2, 1], "VALID"),
    "bilinear": lambda x: tf.image.resize_bilinear(x, [5, 9]) + tf.image.resize_bilinear(x, [5, 9], align_corners=True),
    "nearest": lambda x: tf.image.resize_nearest_neighbor(x, [5, 9]),
    "lrn": lambda x: tf.nn.lrn(x, 1, 1.0, 0.5, 0.75),
    "depth": lambda x: tf.depth_to_space(tf.space_to_depth(x, 2), 2),
    "trained": lambda x: tf.nn.fused_batch_norm(x, tf.ones([2]), tf.zeros([2]))[0],
}


@pytest.mark.parametrize("what", IMAGES)
def test_images(tmp_path, what):
    x = tf.placeholder(tf.float32, [None, 8, 6, 2])
    same(tmp_path, {"x": x}, {"y": IMAGES[what](x)}, {"x": image(2, 8, 6, 2)})


def saved_model(folder, inputs, outputs):
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        tf.saved_model.simple_save(sess, str(folder), inputs, outputs)
    return str(folder)


def test_the_command_writes_a_program_that_runs_alone(tmp_path):
    x = tf.placeholder(tf.float32, [None, 2])
    y = tf.layers.dense(x, 3, kernel_initializer=tf.ones_initializer())
    folder = saved_model(tmp_path / "saved", {"x": x}, {"y": y})
    assert main(["export", "torch", folder, str(tmp_path / "dense.py")]) == 0
    program = "import sys, torch, dense; print(dense.load()(torch.ones(1, 2))['y'].tolist(), 'everflow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.strip() == "[[2.0, 2.0, 2.0]] False", done.stderr


def test_the_command_says_what_it_cannot_do(tmp_path, capsys):
    text = tf.placeholder(tf.string, [None])
    folder = saved_model(tmp_path / "text", {"words": text}, {"lengths": tf.strings.length(text)})
    assert main(["export", "torch", folder, str(tmp_path / "m.py")]) == 1
    assert "the input 'words' is of type string" in capsys.readouterr().err
    assert main(["export", "torch", folder, str(tmp_path / "m.py"), "--signature_def", "other"]) == 1
    assert "there is no signature 'other'; there is: serving_default" in capsys.readouterr().err
    assert main(["export", "torch", folder, str(tmp_path / "m.py"), "--tag_set", "train"]) == 1
    assert "train" in capsys.readouterr().err and not (tmp_path / "m.py").exists()


def test_ops_without_a_form_are_named(tmp_path):
    x = tf.placeholder(tf.int64, [None])
    table = tf.contrib.lookup.MutableHashTable(tf.int64, tf.float32, -1.0)
    v = tf.get_variable("v", initializer=1.0)
    with tf.control_dependencies([tf.assign_add(v, 1.0)]):
        y = table.lookup(x) + tf.random_uniform([])
    with tf.Session() as sess, pytest.raises(CannotExpress) as error:
        write_module(str(tmp_path / "m.py"), sess, {"x": x}, {"y": y}, "")
    for name in ("MutableHashTableV2", "LookupTableFindV2", "RandomUniform: random_uniform", "AssignAdd (it changes something)"):
        assert name in str(error.value)
    assert not (tmp_path / "m.py").exists()
