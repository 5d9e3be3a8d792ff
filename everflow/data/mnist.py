"""The handwritten digits of TensorFlow's tutorials: `tensorflow.examples.tutorials.mnist.input_data.read_data_sets`."""

from __future__ import annotations

import gzip
import hashlib
import math
import os
import tempfile
import urllib.error
import urllib.request
from typing import Any, BinaryIO, NamedTuple

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.graph import dtypes

DATASETS = "contrib.learn.python.learn.datasets."


def _names(name: str) -> tuple[str, str]:
    """Where programs look for a part of the module: the public place and the one below."""
    return f"contrib.learn.datasets.mnist.{name}", f"{DATASETS}mnist.{name}"


DEFAULT_SOURCE_URL = public(*_names("DEFAULT_SOURCE_URL"))("https://storage.googleapis.com/cvdf-datasets/mnist/")

TRAIN_IMAGES = "train-images-idx3-ubyte.gz"
TRAIN_LABELS = "train-labels-idx1-ubyte.gz"
TEST_IMAGES = "t10k-images-idx3-ubyte.gz"
TEST_LABELS = "t10k-labels-idx1-ubyte.gz"
# SHA-256 of what is inside, since the same data may be compressed in many ways.
CHECKSUMS = {
    TRAIN_IMAGES: "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    TRAIN_LABELS: "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    TEST_IMAGES: "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    TEST_LABELS: "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
}
IMAGES_MAGIC, LABELS_MAGIC = 2051, 2049
FAKE_EXAMPLES = 10000
PIXELS, CLASSES = 784, 10


@public(*_names("extract_images"))
def extract_images(f: BinaryIO) -> np.ndarray:
    """The images in a gzipped idx file: uint8, [number, rows, columns, 1]."""
    data = _idx(f, IMAGES_MAGIC, "image")
    number, rows, columns = (int(n) for n in np.frombuffer(data, ">u4", 3, 4))
    return np.frombuffer(data, np.uint8, number * rows * columns, 16).reshape(number, rows, columns, 1)


@public(*_names("extract_labels"))
def extract_labels(f: BinaryIO, one_hot: bool = False, num_classes: int = CLASSES) -> np.ndarray:
    """The labels in a gzipped idx file: uint8, [number]."""
    data = _idx(f, LABELS_MAGIC, "label")
    labels = np.frombuffer(data, np.uint8, int.from_bytes(data[4:8], "big"), 8)
    return dense_to_one_hot(labels, num_classes) if one_hot else labels


def _idx(f: BinaryIO, magic: int, kind: str) -> bytes:
    print("Extracting", f.name)
    data = gzip.decompress(f.read())
    found = int.from_bytes(data[:4], "big")
    if found != magic:
        raise ValueError(f"Invalid magic number {found} in MNIST {kind} file: {f.name}")
    return data


@public(*_names("dense_to_one_hot"))
def dense_to_one_hot(labels_dense: np.ndarray, num_classes: int) -> np.ndarray:
    return np.eye(num_classes)[np.ravel(labels_dense)]


@public(*_names("DataSet"))
class DataSet:
    """Images and labels, dealt out in shuffled batches."""

    def __init__(
        self,
        images: Any,
        labels: Any,
        fake_data: bool = False,
        one_hot: bool = False,
        dtype: dtypes.DTypeLike = dtypes.float32,
        reshape: bool = True,
        seed: int | None = None,
    ) -> None:
        graph_seed, op_seed = tf.get_seed(seed)
        # Batches follow numpy's global generator, as programs that seed it expect.
        np.random.seed(graph_seed if seed is None else op_seed)
        dtype = dtypes.as_dtype(dtype)
        if dtype not in (dtypes.uint8, dtypes.float32):
            raise TypeError(f"Invalid image dtype {dtype!r}, expected uint8 or float32")
        self.one_hot = one_hot
        self._epochs_completed = 0
        self._position = 0
        if fake_data:
            self._num_examples = FAKE_EXAMPLES
        else:
            if images.shape[0] != labels.shape[0]:
                raise AssertionError(f"images.shape: {images.shape} labels.shape: {labels.shape}")
            self._num_examples = images.shape[0]
            if reshape:
                if images.shape[3] != 1:
                    raise AssertionError(f"images of {images.shape[3]} channels can't be flattened; pass reshape=False")
                images = images.reshape(len(images), math.prod(images.shape[1:3]))
            if dtype == dtypes.float32:
                images = images.astype(np.float32) * (1.0 / 255.0)
        self._images = images
        self._labels = labels

    @property
    def images(self) -> np.ndarray:
        return self._images

    @property
    def labels(self) -> np.ndarray:
        return self._labels

    @property
    def num_examples(self) -> int:
        return self._num_examples

    @property
    def epochs_completed(self) -> int:
        return self._epochs_completed

    def next_batch(self, batch_size: int, fake_data: bool = False, shuffle: bool = True) -> tuple[Any, Any]:
        """The next examples; a batch that crosses the end of an epoch is filled from the next one."""
        if fake_data:
            label = [1] + [0] * (CLASSES - 1) if self.one_hot else 0
            return [[1] * PIXELS for _ in range(batch_size)], [label for _ in range(batch_size)]
        start = self._position
        if self._epochs_completed == 0 and start == 0 and shuffle:
            self._shuffle()
        if start + batch_size <= self._num_examples:
            self._position = start + batch_size
            return self._images[start : self._position], self._labels[start : self._position]
        self._epochs_completed += 1
        images, labels = self._images[start:], self._labels[start:]
        if shuffle:
            self._shuffle()
        self._position = batch_size - (self._num_examples - start)
        return (np.concatenate((images, self._images[: self._position])), np.concatenate((labels, self._labels[: self._position])))

    def _shuffle(self) -> None:
        order = np.arange(self._num_examples)
        np.random.shuffle(order)
        self._images = self._images[order]
        self._labels = self._labels[order]


@public(DATASETS + "base.Dataset")
class Dataset(NamedTuple):
    """Examples and what should be learnt of them."""

    data: Any
    target: Any


@public(DATASETS + "base.Datasets")
class Datasets(NamedTuple):
    """One collection, split for training, validation and testing."""

    train: Any
    validation: Any
    test: Any


@public(DATASETS + "base.maybe_download")
def maybe_download(filename: str, work_directory: str, source_url: str) -> str:
    """The path of a file in a folder, fetched from `source_url` unless it is there."""
    path = os.path.join(work_directory, filename)
    if os.path.exists(path):
        return path
    os.makedirs(work_directory, exist_ok=True)
    try:
        with urllib.request.urlopen(source_url, timeout=60) as answer:
            data = answer.read()
    except (urllib.error.URLError, TimeoutError) as error:
        reason = getattr(error, "reason", error)
        raise ConnectionError(f"{path} is not there, and {source_url} can't be downloaded: {reason}") from error
    expected = CHECKSUMS.get(filename)
    if source_url == DEFAULT_SOURCE_URL + filename and hashlib.sha256(gzip.decompress(data)).hexdigest() != expected:
        raise ConnectionError(f"{source_url} gave something else than the MNIST data")
    with tempfile.NamedTemporaryFile(dir=work_directory, delete=False) as fresh:
        fresh.write(data)
    os.replace(fresh.name, path)
    print("Successfully downloaded", filename, len(data), "bytes.")
    return path


@public(*_names("read_data_sets"))
def read_data_sets(
    train_dir: str,
    fake_data: bool = False,
    one_hot: bool = False,
    dtype: Any = dtypes.float32,
    reshape: bool = True,
    validation_size: int = 5000,
    seed: int | None = None,
    source_url: str = DEFAULT_SOURCE_URL,
) -> Datasets:
    """MNIST as a training, a validation and a test set, read from a folder; what is missing there is downloaded."""
    if fake_data:
        fake = [DataSet([], [], fake_data=True, one_hot=one_hot, dtype=dtype, seed=seed) for _ in range(3)]
        return Datasets(*fake)
    source_url = source_url or DEFAULT_SOURCE_URL

    def read(extract: Any, name: str, **options: Any) -> np.ndarray:
        with open(maybe_download(name, train_dir, source_url + name), "rb") as f:
            return extract(f, **options)

    images, labels = read(extract_images, TRAIN_IMAGES), read(extract_labels, TRAIN_LABELS, one_hot=one_hot)
    test_images, test_labels = read(extract_images, TEST_IMAGES), read(extract_labels, TEST_LABELS, one_hot=one_hot)
    if not 0 <= validation_size <= len(images):
        raise ValueError(f"Validation size should be between 0 and {len(images)}. Received: {validation_size}.")
    options = {"dtype": dtype, "reshape": reshape, "seed": seed}
    return Datasets(
        train=DataSet(images[validation_size:], labels[validation_size:], **options),
        validation=DataSet(images[:validation_size], labels[:validation_size], **options),
        test=DataSet(test_images, test_labels, **options),
    )


@public(*_names("load_mnist"))
def load_mnist(train_dir: str = "MNIST-data") -> Datasets:
    return read_data_sets(train_dir)
