"""What Everflow writes, a real TensorFlow reads: the same values."""
import numpy as np
import pytest

import everflow as tf
from everflow.eager.context import eager_mode

# A type, and values of it as the other side prints them.
KINDS = {
    "float16": [1.5, -2], "bfloat16": [1.5, -2], "float32": [1.25], "float64": [0.1], "int8": [-3], "uint8": [200], "int16": [-300],
    "uint16": [60000], "int32": [-70000], "int64": [1 << 40], "bool": [True, False], "string": ["", "a", "xyz" * 100],
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
        "found = {k: [x.decode() for x in v] if v.dtype == object else plain(v) for k, v in found.items()}", path)
    if version == 2:
        assert found.pop("parts") == np.arange(15).reshape(5, 3).tolist()
    assert found == kinds


def test_object_checkpoints(real_tensorflow, tmp_path):
    with eager_mode():
        path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0]), nested=[tf.Variable(3)]).save(str(tmp_path / "c"))
    assert real_tensorflow(
        "c = tf.train.Checkpoint(v=tf.Variable([0., 0.]), nested=[tf.Variable(0)])\n"
        "c.restore(sys.argv[1]).assert_existing_objects_matched()\n"
        "found = [c.v.numpy().tolist(), int(c.nested[0])]", path) == [[1, 2], 3]


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
        "    found.append(s.run('y:0', {'x:0': [[1., 1.]]}).tolist())", tmp_path / "m", path)
    assert found == [[[3.5]], [[3.5]]]


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
        "    found = [s.run(sys.argv[2] + ':0', {'x:0': v}).tolist() for v in ([1., 2.], [-1.])]", tmp_path / "frozen.pb", name)
    assert found == here == [[2, 4], [1]]
