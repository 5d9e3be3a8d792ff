"""tf.keras.datasets and tf.keras.utils.get_file: what is in the cache is checked, what is not is fetched."""

import gzip
import hashlib
import pickle
import tarfile

import numpy as np
import pytest

import everflow as tf
from everflow.keras import datasets, downloads


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty home folder; returns a function that puts an npz file into its cache."""
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / ".keras" / "datasets"
    folder.mkdir(parents=True)

    def put(name, **arrays):
        np.savez(folder / name, **arrays)
        monkeypatch.setitem(datasets.CHECKSUMS, name, hashlib.md5((folder / name).read_bytes()).hexdigest())

    put.folder = folder
    return put


def test_a_file_is_fetched_once_and_checked(tmp_path, cache):
    source = tmp_path / "source.txt"
    source.write_text("hello")
    checksum = hashlib.sha256(b"hello").hexdigest()
    path = tf.keras.utils.get_file("x.txt", source.as_uri(), file_hash=checksum)
    assert path == str(cache.folder / "x.txt") and open(path).read() == "hello"
    source.unlink()
    assert tf.keras.utils.get_file("x.txt", source.as_uri(), file_hash=checksum) == path


def test_a_damaged_file_is_fetched_again(tmp_path, cache, capsys):
    source = tmp_path / "source.txt"
    source.write_text("hello")
    (cache.folder / "x.txt").write_text("hell")
    path = tf.keras.utils.get_file("x.txt", source.as_uri(), md5_hash=hashlib.md5(b"hello").hexdigest())
    assert open(path).read() == "hello"
    assert "the md5 file hash does not match the original value" in capsys.readouterr().out


def test_what_comes_with_the_wrong_checksum_is_not_kept(tmp_path, cache):
    source = tmp_path / "source.txt"
    source.write_text("other")
    with pytest.raises(ValueError, match="its checksum is not"):
        tf.keras.utils.get_file("x.txt", source.as_uri(), file_hash="0" * 64)
    assert not (cache.folder / "x.txt").exists()


def test_without_a_network_the_error_says_where_the_file_belongs(cache):
    with pytest.raises(ConnectionError, match="URL fetch failure on http://127.0.0.1:9/x.npz: .*put the file at .*datasets/x.npz"):
        tf.keras.utils.get_file("x.npz", "http://127.0.0.1:9/x.npz")
    assert list(cache.folder.iterdir()) == []


def test_archives_are_unpacked(tmp_path, cache):
    (tmp_path / "things").mkdir()
    (tmp_path / "things" / "a").write_text("1")
    with tarfile.open(tmp_path / "things.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "things", "things")
    folder = tf.keras.utils.get_file("things", (tmp_path / "things.tar.gz").as_uri(), untar=True)
    assert open(folder + "/a").read() == "1"


def test_digits(cache):
    x = np.arange(12, dtype=np.uint8).reshape(3, 2, 2)
    cache("mnist.npz", x_train=x, y_train=np.arange(3), x_test=x[:1], y_test=np.arange(1))
    (x_train, y_train), (x_test, y_test) = tf.keras.datasets.mnist.load_data()
    np.testing.assert_array_equal(x_train, x)
    assert y_train.tolist() == [0, 1, 2] and x_test.shape == (1, 2, 2) and y_test.tolist() == [0]


def test_clothes(cache):
    folder = cache.folder / "fashion-mnist"
    folder.mkdir()
    for part, n in (("train", 2), ("t10k", 1)):
        (folder / f"{part}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(bytes(8) + bytes(range(n))))
        (folder / f"{part}-images-idx3-ubyte.gz").write_bytes(gzip.compress(bytes(16) + bytes([7]) * 784 * n))
    (x_train, y_train), (x_test, _) = tf.keras.datasets.fashion_mnist.load_data()
    assert x_train.shape == (2, 28, 28) and y_train.tolist() == [0, 1] and x_test.shape == (1, 28, 28) and x_test.min() == 7


def test_houses_are_shuffled_by_the_seed(cache):
    cache("boston_housing.npz", x=np.arange(10.0)[:, None], y=np.arange(10.0))
    (x_train, y_train), (x_test, y_test) = tf.keras.datasets.boston_housing.load_data()
    order = np.arange(10)
    np.random.RandomState(113).shuffle(order)
    assert y_train.tolist() == order[:8].tolist() and y_test.tolist() == order[8:].tolist() and x_train[:, 0].tolist() == y_train.tolist()


def test_pictures_of_a_hundred_kinds(cache, monkeypatch):
    folder = cache.folder / "cifar-100-python"
    folder.mkdir()
    archive = cache.folder / "cifar-100-python.tar.gz"
    archive.write_bytes(b"")
    monkeypatch.setitem(datasets.CHECKSUMS, archive.name, hashlib.md5(b"").hexdigest())
    data = np.arange(2 * 3072, dtype=np.uint16).astype(np.uint8).reshape(2, 3072)
    for part in ("train", "test"):
        (folder / part).write_bytes(pickle.dumps({b"data": data, b"fine_labels": [5, 6], b"coarse_labels": [1, 2]}))
    (x, y), _ = tf.keras.datasets.cifar100.load_data("coarse")
    assert x.shape == (2, 32, 32, 3) and y.tolist() == [[1], [2]] and x[0, 0, 1, 2] == data[0, 2048 + 1]
    with pytest.raises(ValueError, match="label_mode"):
        tf.keras.datasets.cifar100.load_data("rough")


def texts(*lists):
    found = np.empty(len(lists), object)
    found[:] = [list(words) for words in lists]
    return found


def test_reviews_are_numbered_words(cache):
    cache("imdb.npz", x_train=texts([1, 2, 50], [4]), y_train=np.array([1, 0]), x_test=texts([9, 9, 9, 9]), y_test=np.array([1]))
    (x_train, y_train), (x_test, _) = tf.keras.datasets.imdb.load_data(num_words=20)
    by_label = dict(zip(y_train.tolist(), x_train))
    assert by_label == {1: [1, 4, 5, 2], 0: [1, 7]} and x_test[0] == [1, 12, 12, 12, 12]
    (x_train, y_train), _ = tf.keras.datasets.imdb.load_data(start_char=None, oov_char=None, index_from=0, skip_top=2, num_words=10)
    assert dict(zip(y_train.tolist(), x_train)) == {1: [2], 0: [4]}
    with pytest.raises(ValueError, match="After filtering for sequences shorter than maxlen=2, no sequence was kept"):
        tf.keras.datasets.imdb.load_data(maxlen=2)


def test_news_are_split(cache):
    cache("reuters.npz", x=texts([1], [2], [3], [4], [5]), y=np.arange(5))
    (x_train, y_train), (x_test, y_test) = tf.keras.datasets.reuters.load_data(num_words=100)
    assert len(x_train) == 4 and len(x_test) == 1
    assert [x[1] - 4 for x in (*x_train, *x_test)] == [*y_train, *y_test]


def test_pictures_of_ten_kinds_stand_in_five_files(cache, monkeypatch):
    folder = cache.folder / "cifar-10-batches-py"
    folder.mkdir()
    archive = cache.folder / "cifar-10-batches-py.tar.gz"
    archive.write_bytes(b"")
    monkeypatch.setitem(datasets.CHECKSUMS, "cifar-10-python.tar.gz", hashlib.md5(b"").hexdigest())
    data = lambda i: np.full((2, 3072), i, np.uint8)
    for i, name in enumerate([*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"]):
        (folder / name).write_bytes(pickle.dumps({b"data": data(i), b"labels": [i, i + 1]}))
    (x, y), (x_test, y_test) = tf.keras.datasets.cifar10.load_data()
    assert x.shape == (10, 32, 32, 3) and x[:, 0, 0, 0].tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert y.tolist() == [[0], [1], [1], [2], [2], [3], [3], [4], [4], [5]] and y.dtype == np.uint8
    assert x_test.shape == (2, 32, 32, 3) and y_test.tolist() == [[5], [6]]


def test_pictures_may_have_their_channels_first(cache, monkeypatch):
    folder = cache.folder / "cifar-100-python"
    folder.mkdir()
    archive = cache.folder / "cifar-100-python.tar.gz"
    archive.write_bytes(b"")
    monkeypatch.setitem(datasets.CHECKSUMS, archive.name, hashlib.md5(b"").hexdigest())
    data = np.repeat(np.arange(3, dtype=np.uint8), 1024)[None]
    for part in ("train", "test"):
        (folder / part).write_bytes(pickle.dumps({b"data": data, b"fine_labels": [5], b"coarse_labels": [1]}))
    tf.keras.backend.set_image_data_format("channels_first")
    try:
        (x, y), (x_test, _) = tf.keras.datasets.cifar100.load_data()
    finally:
        tf.keras.backend.set_image_data_format("channels_last")
    assert x.shape == x_test.shape == (1, 3, 32, 32) and x[0, :, 0, 0].tolist() == [0, 1, 2] and y.tolist() == [[5]]


def test_houses_are_split_where_it_is_asked_for(cache):
    cache("boston_housing.npz", x=np.arange(10.0)[:, None], y=np.arange(10.0))
    (x_train, _), (x_test, _) = tf.keras.datasets.boston_housing.load_data(test_split=0.5)
    assert (len(x_train), len(x_test)) == (5, 5)
    assert len(tf.keras.datasets.boston_housing.load_data(test_split=0)[1][0]) == 0
    with pytest.raises(AssertionError, match="at least 0 and less than 1"):
        tf.keras.datasets.boston_housing.load_data(test_split=1)


@pytest.mark.parametrize("name", ["imdb", "reuters"])
def test_words_have_their_numbers_in_a_file(cache, monkeypatch, name):
    file = cache.folder / f"{name}_word_index.json"
    file.write_text('{"the": 1, "of": 2}')
    monkeypatch.setitem(datasets.CHECKSUMS, file.name, hashlib.md5(file.read_bytes()).hexdigest())
    assert getattr(tf.keras.datasets, name).get_word_index() == {"the": 1, "of": 2}


def test_the_number_of_words_has_an_older_name(cache):
    cache("imdb.npz", x_train=texts([1, 50]), y_train=np.array([1]), x_test=texts([9]), y_test=np.array([1]))
    (x_train, _), _ = tf.keras.datasets.imdb.load_data(nb_words=20)
    assert x_train[0] == [1, 4, 2]
    with pytest.raises(TypeError, match="Unrecognized keyword arguments: {'words': 20}"):
        tf.keras.datasets.imdb.load_data(words=20)


def test_without_a_home_files_are_kept_in_the_temporary_folder(tmp_path, cache, monkeypatch):
    source = tmp_path / "source.txt"
    source.write_text("hello")
    monkeypatch.setattr(downloads.os, "access", lambda path, mode: False)
    monkeypatch.setattr(downloads.tempfile, "gettempdir", lambda: str(tmp_path / "temporary"))
    path = tf.keras.utils.get_file("x.txt", source.as_uri())
    assert path == str(tmp_path / "temporary" / ".keras" / "datasets" / "x.txt")
