"""Record files pass to a real TensorFlow and back."""

import pytest

import everflow as tf

# The other side reads each file, and writes what it read in a file of its own.
PASS_ON = """
path, compression = sys.argv[1:]
dataset = tf.data.TFRecordDataset(path, compression_type=compression)
records = [r.numpy() for r in dataset]
features = {"values": tf.io.VarLenFeature(tf.float32), "name": tf.io.FixedLenFeature([], tf.string), "ids": tf.io.VarLenFeature(tf.int64)}
parsed = [tf.io.parse_single_example(r, features) for r in records[:2]]
found = [[tf.sparse.to_dense(p["values"]).numpy().tolist(), p["name"].numpy().decode(), tf.sparse.to_dense(p["ids"]).numpy().tolist()]
         for p in parsed] + [len(records[2])]
with tf.io.TFRecordWriter(path + ".back", compression) as writer:
    for record in reversed(records):
        writer.write(record)
"""


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
def test_records_are_read_on_both_sides(real_tensorflow, tmp_path, compression):
    def example(values, name, ids):
        return tf.train.Example(
            features=tf.train.Features(
                feature={
                    "values": tf.train.Feature(float_list=tf.train.FloatList(value=values)),
                    "name": tf.train.Feature(bytes_list=tf.train.BytesList(value=[name])),
                    "ids": tf.train.Feature(int64_list=tf.train.Int64List(value=ids)),
                }
            )
        ).SerializeToString()

    records = [example([0.5, -2.0], b"first", [1, -(1 << 40)]), example([], b"", []), bytes(range(256)) * 4000]
    path = str(tmp_path / "x.tfrecord")
    kind = getattr(tf.python_io.TFRecordCompressionType, compression or "NONE")
    with tf.python_io.TFRecordWriter(path, tf.python_io.TFRecordOptions(kind)) as writer:
        for record in records:
            writer.write(record)
    assert real_tensorflow(PASS_ON, path, compression) == [[[0.5, -2.0], "first", [1, -(1 << 40)]], [[], "", []], 1024000]
    with tf.Graph().as_default(), tf.Session() as session:
        following = tf.data.TFRecordDataset(path + ".back", compression).make_one_shot_iterator().get_next()
        assert [session.run(following) for _ in range(3)] == records[::-1]
