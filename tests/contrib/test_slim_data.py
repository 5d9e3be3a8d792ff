"""tf.contrib.slim's datasets: records, readers, decoders and providers."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib.slim.datasets import DataProvider, Dataset, DatasetDataProvider
from everflow.contrib.slim.example_decoding import (
    BackupHandler,
    BoundingBox,
    Image,
    ItemHandlerCallback,
    LookupTensor,
    SparseTensor,
    Tensor,
    TFExampleDecoder,
)
from everflow.contrib.slim.parallel_reading import ParallelReader, get_data_files, parallel_read, single_pass_read
from everflow.contrib.slim.queues import NestedQueueRunnerError, QueueRunners
from running import run


def example(**features):
    made = tf.train.Example()
    for name, values in features.items():
        feature = made.features.feature[name]
        if isinstance(values[0], bytes):
            feature.bytes_list.value.extend(values)
        elif isinstance(values[0], int):
            feature.int64_list.value.extend(values)
        else:
            feature.float_list.value.extend(values)
    return made.SerializeToString()


def decoded(features, handlers, **values):
    return run(TFExampleDecoder(features, handlers).decode(tf.constant(example(**values))))


VALUES, NUMBERS = tf.VarLenFeature(tf.float32), tf.VarLenFeature(tf.int64)


def test_tensors_take_shapes_that_are_given_or_stored():
    features = {"x": VALUES, "height": tf.FixedLenFeature([], tf.int64), "sizes": NUMBERS}
    handlers = {"flat": Tensor("x"), "given": Tensor("x", shape=[2, 3]), "stored": Tensor("x", shape_keys=["height"])}
    handlers["list"] = Tensor("x", shape_keys="sizes")
    found = decoded(features, handlers, x=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], height=[6], sizes=[3, 2])
    assert [part.shape for part in found] == [(6,), (2, 3), (6,), (3, 2)] and found[3].tolist() == [[1, 2], [3, 4], [5, 6]]
    with pytest.raises(ValueError, match="Cannot specify both shape_keys and shape"):
        Tensor("x", shape_keys="sizes", shape=[1])


def test_a_feature_that_is_not_there_has_the_default_value():
    found = decoded({"x": tf.FixedLenFeature([2], tf.float32, [7.0, 8.0])}, {"x": Tensor("x", shape=[2, 1])}, y=[1.0])
    assert found[0].tolist() == [[7], [8]]


def test_boxes_are_rows_of_their_sides():
    sides = {f"box/{side}": VALUES for side in ("ymin", "xmin", "ymax", "xmax")}
    values = {"box/ymin": [0.1, 0.2], "box/xmin": [0.3, 0.4], "box/ymax": [0.5, 0.6], "box/xmax": [0.7, 0.8]}
    found = decoded(sides, {"box": BoundingBox(prefix="box/")}, **values)[0]
    np.testing.assert_allclose(found, [[0.1, 0.3, 0.5, 0.7], [0.2, 0.4, 0.6, 0.8]], rtol=1e-6)
    with pytest.raises(ValueError, match="expects 4 keys but got 2"):
        BoundingBox(["a", "b"])


def test_sparse_tensors_of_places_and_values():
    features = {"indices": NUMBERS, "values": VALUES}
    handlers = {"sparse": SparseTensor(shape=[5]), "dense": SparseTensor(shape=[5], densify=True)}
    sparse, dense = decoded(features, handlers, indices=[1, 4], values=[2.0, 3.0])
    assert sparse.indices.tolist() == [[1], [4]] and dense.tolist() == [0, 2, 0, 0, 3]


def test_lookups_callbacks_and_backups(session):
    table = tf.contrib.lookup.index_table_from_tensor(["cat", "dog"])
    features = {"names": tf.VarLenFeature(tf.string), "none": NUMBERS, "ids": NUMBERS}
    handlers = {
        "labels": LookupTensor("names", table),
        "sum": ItemHandlerCallback(["ids"], lambda found: tf.reduce_sum(found["ids"].values)),
        "ids": BackupHandler(Tensor("none"), Tensor("ids")),
    }
    items = TFExampleDecoder(features, handlers).decode(tf.constant(example(names=[b"dog", b"cat"], ids=[3, 4])))
    session.run(tf.tables_initializer())
    labels, total, ids = session.run(items)
    assert labels.tolist() == [1, 0] and total == 7 and ids.tolist() == [3, 4]
    with pytest.raises(ValueError, match="Backup handler is of type"):
        BackupHandler(Tensor("ids"), None)


@pytest.mark.parametrize("form", ["jpeg", "png", "raw"])
def test_pictures_by_their_content_or_raw(form, session):
    picture = np.full((4, 3, 3), 200, np.uint8)
    encode = {"jpeg": tf.image.encode_jpeg, "png": tf.image.encode_png, "raw": None}[form]
    data = picture.tobytes() if encode is None else session.run(encode(picture))
    features = {"image/encoded": tf.FixedLenFeature([], tf.string), "image/format": tf.FixedLenFeature([], tf.string, "jpeg")}
    handlers = {"image": Image(shape=[4, 3, 3])}
    found = decoded(features, handlers, **{"image/encoded": [data], "image/format": [form.encode()]})[0]
    assert found.dtype == np.uint8 and abs(found.astype(int) - 200).max() <= 2


def test_several_pictures(session):
    data = [session.run(tf.image.encode_png(np.full((2, 2, 1), shade, np.uint8))) for shade in (10, 20)]
    features = {"image/encoded": tf.FixedLenFeature([2], tf.string), "image/format": tf.FixedLenFeature([], tf.string)}
    handler = Image(channels=1, repeated=True)
    found = decoded(features, {"images": handler}, **{"image/encoded": data, "image/format": [b"png"]})[0]
    assert found.shape == (2, 2, 2, 1) and found[:, 0, 0, 0].tolist() == [10, 20]


@pytest.fixture
def files(tmp_path):
    names = []
    for shard in range(2):
        names.append(str(tmp_path / f"data-{shard}.tfrecord"))
        with tf.python_io.TFRecordWriter(names[-1]) as writer:
            for i in range(5):
                writer.write(example(label=[10 * shard + i]))
    return names


def dataset(sources):
    decoder = TFExampleDecoder({"label": tf.FixedLenFeature([], tf.int64)}, {"label": Tensor("label")})
    return Dataset(sources, tf.TFRecordReader, decoder, 10, {"label": "a number"}, num_classes=3)


@pytest.mark.parametrize("shuffle", [False, True])
def test_a_provider_gives_every_record(files, shuffle, session):
    provider = DatasetDataProvider(dataset(files), num_readers=2, shuffle=shuffle, num_epochs=1, common_queue_min=2)
    label, key = provider.get(["label", "record_key"])
    assert label.shape == () and provider.num_samples() == 10 and sorted(provider.list_items()) == ["label", "record_key"]
    session.run(tf.local_variables_initializer())
    with QueueRunners(session):
        found = [session.run([label, key]) for _ in range(10)]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(label)
    assert sorted(number for number, _ in found) == [0, 1, 2, 3, 4, 10, 11, 12, 13, 14]
    assert all(key.startswith(files[0][:-10].encode()) for _, key in found)


def test_what_a_provider_does_not_have(files):
    provider = DatasetDataProvider(dataset(files))
    with pytest.raises(ValueError, match="items must be a list or tuple"):
        provider.get("label")
    with pytest.raises(ValueError, match=r"Item \[size\] is invalid"):
        provider.get(["size"])
    with pytest.raises(ValueError, match="record_key"):
        DatasetDataProvider(dataset(files), record_key="label")
    assert dataset(files).num_classes == 3 and issubclass(DatasetDataProvider, DataProvider)


def test_one_pass_keeps_the_order(files, session):
    _, value = single_pass_read(files, tf.TFRecordReader)
    session.run(tf.local_variables_initializer())
    with QueueRunners(session):
        with pytest.raises(NestedQueueRunnerError), QueueRunners(session):
            pass
        assert [session.run(value) for _ in range(10)] == [example(label=[i]) for i in (0, 1, 2, 3, 4, 10, 11, 12, 13, 14)]


def test_files_of_patterns(files, tmp_path):
    assert sorted(get_data_files(str(tmp_path / "data-*"))) == files and get_data_files([files[0], "x"]) == [files[0], "x"]
    with pytest.raises(ValueError, match="No data files found"):
        get_data_files(str(tmp_path / "other*"))


def test_names_of_a_parallel_read(files):
    key, value = parallel_read(files, tf.TFRecordReader, num_readers=2)
    assert value.op.name == "parallel_read/common_queue_Dequeue" and key.dtype == value.dtype == tf.string
    assert [o.name for o in tf.get_default_graph().get_operations() if o.type == "TFRecordReaderV2"] == [
        "parallel_read/TFRecordReaderV2",
        "parallel_read/TFRecordReaderV2_1",
    ]
    with pytest.raises(TypeError, match="common_queue.dtypes must be"):
        ParallelReader(tf.TFRecordReader, tf.FIFOQueue(3, [tf.string]))
