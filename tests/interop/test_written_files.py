"""What Everflow writes, a real TensorFlow reads: the same values."""

import numpy as np
import pytest

import everflow as tf
from everflow.eager.context import eager_mode

# A type, and values of it as the other side prints them.
KINDS = {
    "float16": [1.5, -2],
    "bfloat16": [1.5, -2],
    "float32": [1.25],
    "float64": [0.1],
    "int8": [-3],
    "uint8": [200],
    "int16": [-300],
    "uint16": [60000],
    "int32": [-70000],
    "int64": [1 << 40],
    "bool": [True, False],
    "string": ["", "a", "xyz" * 100],
}


@pytest.mark.parametrize("version", [1, 2])
def test_checkpoints(real_tensorflow, tmp_path, version):
    kinds = {k: v for k, v in KINDS.items() if version == 2 or k not in ("bfloat16", "uint16", "float16")}
    with tf.Graph().as_default(), tf.Session() as sess:
        for name, values in kinds.items():
            tf.get_variable(name, initializer=tf.constant(values, dtype=tf.as_dtype(name)))
        sess.run(tf.global_variables_initializer())
        if version == 2:  # TensorFlow's reader refuses parts in files of version 1.
            parts = tf.get_variable("parts", [5, 3], partitioner=tf.fixed_size_partitioner(2))
            sess.run(parts.assign(np.arange(15, dtype=np.float32).reshape(5, 3)))
        path = tf.train.Saver(write_version=version).save(sess, str(tmp_path / "m"), write_meta_graph=False)
    found = real_tensorflow(
        "r = tf.train.load_checkpoint(sys.argv[1])\n"
        "found = {k: np.asarray(r.get_tensor(k)) for k in r.get_variable_to_shape_map()}\n"
        "plain = lambda v: np.asarray(v, 'float64' if v.dtype.kind not in 'iub' else None).tolist()\n"
        "found = {k: [x.decode() for x in v] if v.dtype == object else plain(v) for k, v in found.items()}",
        path,
    )
    if version == 2:
        assert found.pop("parts") == np.arange(15).reshape(5, 3).tolist()
    assert found == kinds


def test_object_checkpoints(real_tensorflow, tmp_path):
    with eager_mode():
        path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0]), nested=[tf.Variable(3)]).save(str(tmp_path / "c"))
    assert real_tensorflow(
        "c = tf.train.Checkpoint(v=tf.Variable([0., 0.]), nested=[tf.Variable(0)])\n"
        "c.restore(sys.argv[1]).assert_existing_objects_matched()\n"
        "found = [c.v.numpy().tolist(), int(c.nested[0])]",
        path,
    ) == [[1, 2], 3]


def test_saved_models_and_metagraphs(real_tensorflow, tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        w = tf.get_variable("w", initializer=[[1.0], [2.0]], use_resource=True)
        b = tf.get_variable("b", initializer=0.5)
        y = tf.nn.relu(tf.matmul(x, w) + b, name="y")
        sess.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(sess, str(tmp_path / "m"), {"x": x}, {"y": y})
        path = tf.train.Saver().save(sess, str(tmp_path / "ckpt"))
    found = real_tensorflow(
        "v1 = tf.compat.v1\n"
        "m = tf.saved_model.load(sys.argv[1])\n"
        "found = [m.signatures['serving_default'](x=tf.constant([[1., 1.]]))['y'].numpy().tolist()]\n"
        "with v1.Graph().as_default(), v1.Session() as s:\n"
        "    v1.train.import_meta_graph(sys.argv[2] + '.meta').restore(s, sys.argv[2])\n"
        "    found.append(s.run('y:0', {'x:0': [[1., 1.]]}).tolist())",
        tmp_path / "m",
        path,
    )
    assert found == [[[3.5]], [[3.5]]]


def test_saved_models_of_objects(real_tensorflow, tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("alpha\nbeta\n")
    with tf.Graph().as_default(), eager_mode():
        root = tf.Module()
        root.v, root.parts = tf.Variable(2.0), [tf.Variable(1.0), {"k": tf.Variable(4.0)}]
        root.table = tf.lookup.StaticHashTable(
            tf.lookup.TextFileInitializer(
                str(words), tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER
            ),
            -1,
        )
        scale = tf.constant(10.0)

        def bump(by):
            root.v.assign_add(by)
            root.v.assign_add(by)
            return root.v * 1.0

        def count(n):
            return tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, tf.cond(s > 10, lambda: s + 1, lambda: s + i)), [0, 0])[1]

        root.f = tf.function(lambda x, negate=False: -x * root.v if negate else {"y": x * root.v * scale + root.parts[0]})
        root.f(tf.constant([1.0])), root.f(tf.constant(1.0), True)
        root.bump = tf.function(bump, input_signature=[tf.TensorSpec([], tf.float32)])
        root.ids = tf.function(lambda x: root.table.lookup(x), input_signature=[tf.TensorSpec([None], tf.string)])
        root.count = tf.function(count, input_signature=[tf.TensorSpec([], tf.int32)])
        tf.saved_model.save(root, str(tmp_path / "m"), signatures={"serving_default": root.ids})
    words.unlink()
    assert real_tensorflow(
        "m = tf.saved_model.load(sys.argv[1])\n"
        "with tf.GradientTape() as tape:\n"
        "    y = m.f(tf.constant([3.]))['y']\n"
        "found = [y.numpy().tolist(), float(tape.gradient(y, m.v)), float(m.f(tf.constant(5.), negate=True))]\n"
        "found += [float(m.bump(tf.constant(1.)))]\n"
        "found += [float(m.v), float(m.parts[1]['k']), m.ids(tf.constant(['beta', 'x'])).numpy().tolist(), int(m.count(tf.constant(10)))]\n"
        "v1 = tf.compat.v1\n"
        "with v1.Graph().as_default(), v1.Session() as s:\n"
        "    told = v1.saved_model.load(s, ['serve'], sys.argv[1]).signature_def['serving_default']\n"
        "    found.append(s.run(told.outputs['output_0'].name, {told.inputs['x'].name: ['alpha']}).tolist())",
        tmp_path / "m",
    ) == [[61], 30, -10, 4, 4, 4, [1, -1], 19, [0]]


def test_frozen_graphs(real_tensorflow, tmp_path):
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None], name="x")
        w = tf.get_variable("w", initializer=2.0)
        tf.cond(tf.reduce_sum(x) > 0, lambda: x * w, lambda: -x, name="y")
        sess.run(tf.global_variables_initializer())
        name = [op.name for op in graph.get_operations() if op.type in ("Merge", "If", "StatelessIf", "Identity")][-1]
        frozen = tf.graph_util.convert_variables_to_constants(sess, graph.as_graph_def(), [name])
        here = [sess.run(name + ":0", {"x:0": value}).tolist() for value in ([1.0, 2.0], [-1.0])]
    (tmp_path / "frozen.pb").write_bytes(frozen.SerializeToString())
    found = real_tensorflow(
        "v1 = tf.compat.v1\ng = v1.GraphDef.FromString(open(sys.argv[1], 'rb').read())\n"
        "with v1.Graph().as_default(), v1.Session() as s:\n"
        "    v1.import_graph_def(g, name='')\n"
        "    found = [s.run(sys.argv[2] + ':0', {'x:0': v}).tolist() for v in ([1., 2.], [-1.])]",
        tmp_path / "frozen.pb",
        name,
    )
    assert found == here == [[2, 4], [1]]
