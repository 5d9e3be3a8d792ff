"""Pieces that handbooks list: pictures as tensors, frozen files, scripts, parts of a network trained alone."""

import subprocess
import sys

import numpy as np

import everflow as tf


def test_a_picture_becomes_a_batch_of_one(tmp_path):
    path = str(tmp_path / "grey.jpg")
    with tf.Session() as session:
        with open(path, "wb") as file:
            file.write(session.run(tf.image.encode_jpeg(tf.fill([20, 30, 3], tf.constant(128, tf.uint8)))))
        pixels = tf.image.decode_jpeg(tf.read_file(path, "file_reader"), channels=3, name="jpeg_reader")
        resized = tf.image.resize_bilinear(tf.expand_dims(tf.cast(pixels, tf.float32), 0), [15, 25])
        value = session.run(tf.divide(tf.subtract(resized, [0]), [255]))
    assert value.shape == (1, 15, 25, 3)
    np.testing.assert_allclose(value, 128 / 255, atol=0.01)


def test_a_written_graph_comes_back_below_import(tmp_path):
    tf.multiply(tf.constant([1.0, 2.0]), 3.0, name="tripled")
    tf.train.write_graph(tf.get_default_graph(), str(tmp_path), "graph.pb", as_text=False)
    definition = tf.GraphDef()
    definition.ParseFromString((tmp_path / "graph.pb").read_bytes())
    with tf.Graph().as_default() as again:
        tf.import_graph_def(definition)
    with tf.Session(graph=again) as session:
        assert session.run("import/tripled:0").tolist() == [3, 6]


def test_only_the_last_layer_learns():
    hidden = tf.layers.dense(tf.ones([4, 3]), 5, name="base")
    loss = tf.reduce_mean(tf.square(tf.layers.dense(hidden, 1, name="head") - 1))
    head = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope="head")
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss, var_list=head)
    base = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope="base")[0]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = session.run([base, head[1]])
        session.run(step)
        after = session.run([base, head[1]])
    assert np.array_equal(before[0], after[0]) and not np.array_equal(before[1], after[1])


def test_a_script_reads_its_flags_and_hands_on_the_rest(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(
        "import tensorflow as tf\n"
        "tf.app.flags.DEFINE_integer('steps', 3, 'how many')\n"
        "tf.app.flags.DEFINE_boolean('fast', False, 'hurry')\n"
        "def main(argv):\n"
        "    print(tf.app.flags.FLAGS.steps, tf.app.flags.FLAGS.fast, argv[1:])\n"
        "if __name__ == '__main__':\n"
        "    tf.app.run()\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "everflow", "run", str(script), "--steps=5", "--fast", "rest"], capture_output=True, text=True, timeout=600
    )
    assert done.stdout.strip() == "5 True ['rest']", done.stderr


def test_a_new_estimator_starts_from_the_embeddings_of_an_old_one(tmp_path):
    column = tf.feature_column.embedding_column(tf.feature_column.categorical_column_with_vocabulary_list("word", ["a", "b"]), dimension=3)

    def data():
        return tf.data.Dataset.from_tensors(({"word": [["a"], ["b"]]}, [[0], [1]])).repeat()

    old = tf.estimator.DNNClassifier([4], [column], model_dir=str(tmp_path / "old")).train(data, steps=2)
    start = tf.estimator.WarmStartSettings(ckpt_to_initialize_from=old.model_dir, vars_to_warm_start=".*embedding_weights")
    slow = tf.train.GradientDescentOptimizer(1e-9)
    new = tf.estimator.DNNClassifier([4], [column], model_dir=str(tmp_path / "new"), warm_start_from=start, optimizer=slow)
    new.train(data, steps=1)
    name = next(n for n in new.get_variable_names() if n.endswith("embedding_weights"))
    np.testing.assert_allclose(new.get_variable_value(name), old.get_variable_value(name), atol=1e-6)
