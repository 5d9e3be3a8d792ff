"""The MNIST reader of TensorFlow's tutorials."""

import functools
import gzip
import http.server
import struct
import threading

import numpy as np
import pytest

import everflow as tf
from everflow import alias
from everflow.data import mnist

TRAIN, TEST = 12, 4


def images_file(number):
    pixels = bytes(range(number)) * 4
    return gzip.compress(struct.pack(">4I", 2051, number, 2, 2) + pixels)


def labels_file(number):
    return gzip.compress(struct.pack(">2I", 2049, number) + bytes(i % 10 for i in range(number)))


FILES = {
    mnist.TRAIN_IMAGES: images_file(TRAIN),
    mnist.TRAIN_LABELS: labels_file(TRAIN),
    mnist.TEST_IMAGES: images_file(TEST),
    mnist.TEST_LABELS: labels_file(TEST),
}


@pytest.fixture
def folder(tmp_path):
    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data)
    return tmp_path


@pytest.fixture
def server(folder):
    """The address of a web server with the files."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def small(**options):
    return mnist.DataSet(np.arange(28, dtype=np.uint8).reshape(7, 2, 2, 1), np.arange(7), **options)


def test_a_folder_is_split_into_training_validation_and_test(folder):
    sets = mnist.read_data_sets(str(folder), validation_size=5)
    assert [s.num_examples for s in sets] == [TRAIN - 5, 5, TEST]
    assert sets.train.images.shape == (TRAIN - 5, 4) and sets.train.images.dtype == np.float32
    assert sets.validation.labels.tolist() == [0, 1, 2, 3, 4]
    assert sets.train.labels.tolist() == [5, 6, 7, 8, 9, 0, 1]
    np.testing.assert_allclose(sets.validation.images[1], np.array([4, 5, 6, 7]) / 255, rtol=1e-6)


def test_options_of_the_reader(folder):
    sets = mnist.read_data_sets(str(folder), one_hot=True, dtype=tf.uint8, reshape=False, validation_size=0)
    assert sets.train.images.shape == (TRAIN, 2, 2, 1) and sets.train.images.dtype == np.uint8
    assert sets.train.labels.shape == (TRAIN, 10) and sets.train.labels[3].tolist() == [0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
    assert sets.validation.num_examples == 0


@pytest.mark.parametrize("size", [-1, TRAIN + 1])
def test_the_validation_set_comes_out_of_the_training_set(folder, size):
    with pytest.raises(ValueError, match=f"^Validation size should be between 0 and 12. Received: {size}.$"):
        mnist.read_data_sets(str(folder), validation_size=size)


def test_batches_come_in_the_order_of_tensorflow():
    data = small(seed=3)
    batches = [data.next_batch(3)[1].tolist() for _ in range(6)]
    assert batches == [[4, 6, 5], [3, 1, 0], [2, 2, 1], [6, 5, 3], [0, 4, 4], [1, 5, 3]]
    assert data.epochs_completed == 2
    assert small(seed=3).next_batch(9)[1].tolist() == [4, 6, 5, 3, 1, 0, 2, 2, 1]


def test_the_graph_seed_sets_the_order_where_no_seed_is_given():
    with tf.Graph().as_default():
        tf.set_random_seed(5)
        data = small()
    assert [data.next_batch(3)[1].tolist() for _ in range(4)] == [[6, 2, 4], [1, 0, 5], [3, 5, 2], [0, 4, 6]]


def test_batches_without_shuffling():
    data = small(seed=3)
    batches = [data.next_batch(3, shuffle=False)[1].tolist() for _ in range(4)]
    assert batches == [[0, 1, 2], [3, 4, 5], [6, 0, 1], [2, 3, 4]]


def test_images_stay_with_their_labels():
    data = small(seed=1, dtype=np.uint8)
    images, labels = data.next_batch(7)
    assert (images[:, 0] // 4).tolist() == labels.tolist()


@pytest.mark.parametrize("dtype", [tf.float32, np.float32, "float32", float])
def test_float_types(dtype):
    assert small(dtype=dtype).images.max() == np.float32(27) * np.float32(1 / 255)


def test_other_image_types_are_refused():
    with pytest.raises(TypeError, match="^Invalid image dtype tf.int32, expected uint8 or float32$"):
        small(dtype=tf.int32)


def test_fake_data():
    sets = mnist.read_data_sets("nowhere", fake_data=True, one_hot=True)
    images, labels = sets.train.next_batch(2, fake_data=True)
    assert sets.test.num_examples == 10000
    assert images == [[1] * 784] * 2 and labels == [[1] + [0] * 9] * 2
    assert mnist.read_data_sets("nowhere", fake_data=True).train.next_batch(2, fake_data=True)[1] == [0, 0]


def test_files_of_another_kind_are_refused(tmp_path):
    path = tmp_path / "images.gz"
    path.write_bytes(labels_file(2))
    with open(path, "rb") as f:
        with pytest.raises(ValueError, match=f"^Invalid magic number 2049 in MNIST image file: {path}$"):
            mnist.extract_images(f)


def test_missing_files_are_downloaded_once(server, tmp_path):
    target = tmp_path / "fresh"
    assert mnist.read_data_sets(str(target), validation_size=2, source_url=server).train.num_examples == TRAIN - 2
    assert {p.name: p.read_bytes() for p in target.iterdir()} == FILES
    again = mnist.read_data_sets(str(target), validation_size=2, source_url="http://127.0.0.1:1/")
    assert again.test.num_examples == TEST


def test_a_download_that_is_not_mnist_is_refused(server, tmp_path, monkeypatch):
    monkeypatch.setattr(mnist, "DEFAULT_SOURCE_URL", server)
    with pytest.raises(ConnectionError, match="gave something else than the MNIST data$"):
        mnist.read_data_sets(str(tmp_path / "fresh"), source_url=server)
    assert list((tmp_path / "fresh").iterdir()) == []


def test_without_a_network_the_error_names_the_file(tmp_path):
    with pytest.raises(ConnectionError, match=f"^{tmp_path}/{mnist.TRAIN_IMAGES} is not there, and http://127.0.0.1:1/"):
        mnist.read_data_sets(str(tmp_path), source_url="http://127.0.0.1:1/")


def test_programs_find_it_under_its_tensorflow_names():
    for name in ("examples.tutorials.mnist.input_data", "contrib.learn.python.learn.datasets.mnist"):
        assert alias.locate("tensorflow." + name).read_data_sets is mnist.read_data_sets
    assert tf.contrib.learn.datasets.mnist.DataSet is mnist.DataSet
    assert tf.examples.tutorials.mnist.input_data.read_data_sets is mnist.read_data_sets
