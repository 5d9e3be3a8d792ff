"""Small datasets to try things on: `tf.keras.datasets`. They are downloaded once, checked, and kept in a folder."""

from __future__ import annotations

import gzip
import json
import os
import pickle
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.keras.downloads import get_file
from everflow.platform import logging

Split = tuple[np.ndarray, np.ndarray]

STORE = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"
CIFAR = "https://www.cs.toronto.edu/~kriz/"
# MD5, or SHA-256 where it is longer.
CHECKSUMS = {
    "mnist.npz": "8a61469f7ea1b51cbae51d4f78837e45",
    "boston_housing.npz": "f553886a1f8d56431e820c5b82552d9d95cfcb96d1e678153f8839538947dff5",
    "imdb.npz": "599dadb1135973df5b59232a0e9a887c",
    "imdb_word_index.json": "bfafd718b763782e994055a2d397834f",
    "reuters.npz": "87aedbeb0cb229e378797a632c1997b6",
    "reuters_word_index.json": "4d44cc38712099c9e383dc6e5f11a921",
    "cifar-10-python.tar.gz": "6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce",
    "cifar-100-python.tar.gz": "85cd44d02ba6437773c5bbd22e183051d648de2e7d6b014e1ef29b855ba677a7",
}


def _arrays(path: str, name: str, *keys: str) -> list[np.ndarray]:
    with np.load(get_file(path, origin=STORE + name, file_hash=CHECKSUMS[name]), allow_pickle=True) as found:
        return [found[key] for key in keys]


@public("keras.datasets.mnist.load_data")
def load_mnist(path: str = "mnist.npz") -> tuple[Split, Split]:
    """Handwritten digits: 60,000 and 10,000 images of 28 x 28 bytes, with labels."""
    x_train, y_train, x_test, y_test = _arrays(path, "mnist.npz", "x_train", "y_train", "x_test", "y_test")
    return (x_train, y_train), (x_test, y_test)


@public("keras.datasets.fashion_mnist.load_data")
def load_fashion_mnist() -> tuple[Split, Split]:
    """Pieces of clothing in the form of the digits."""
    found = []
    folder = os.path.join("datasets", "fashion-mnist")
    for part in ("train", "t10k"):
        labels, images = (
            get_file(f"{part}-{what}.gz", origin=f"{STORE}{part}-{what}.gz", cache_subdir=folder)
            for what in ("labels-idx1-ubyte", "images-idx3-ubyte")
        )
        with gzip.open(labels, "rb") as file:
            y = np.frombuffer(file.read(), np.uint8, offset=8)
        with gzip.open(images, "rb") as file:
            found.append((np.frombuffer(file.read(), np.uint8, offset=16).reshape(len(y), 28, 28), y))
    return found[0], found[1]


@public("keras.datasets.boston_housing.load_data")
def load_boston_housing(path: str = "boston_housing.npz", test_split: float = 0.2, seed: int = 113) -> tuple[Split, Split]:
    """Prices of houses, and 13 numbers about each."""
    if not 0 <= test_split < 1:
        raise AssertionError("test_split must be at least 0 and less than 1")
    x, y = _shuffled(_arrays(path, "boston_housing.npz", "x", "y"), seed)
    first = int(len(x) * (1 - test_split))
    return (np.array(x[:first]), np.array(y[:first])), (np.array(x[first:]), np.array(y[first:]))


def _shuffled(columns: list[np.ndarray], seed: int | None = None) -> list[np.ndarray]:
    """In a random order of numpy's own generator, which is seeded unless it goes on."""
    if seed is not None:
        np.random.seed(seed)
    order = np.arange(len(columns[0]))
    np.random.shuffle(order)
    return [column[order] for column in columns]


def _cifar_batch(path: str, labels: str = "labels") -> Split:
    with open(path, "rb") as file:
        found = pickle.load(file, encoding="bytes")
    return found[b"data"].reshape(-1, 3, 32, 32), np.array(found[labels.encode()])


def _cifar(train: list[Split], test: Split) -> tuple[Split, Split]:
    x_train, y_train = (np.concatenate(column) for column in zip(*train))
    x_test, y_test = test
    if tf.keras.backend.image_data_format() == "channels_last":
        x_train, x_test = x_train.transpose(0, 2, 3, 1), x_test.transpose(0, 2, 3, 1)
    return (x_train, y_train.reshape(-1, 1)), (x_test, y_test.reshape(-1, 1))


@public("keras.datasets.cifar10.load_data")
def load_cifar10() -> tuple[Split, Split]:
    """50,000 and 10,000 small colour pictures of ten kinds of things."""
    name = "cifar-10-python.tar.gz"
    folder = get_file("cifar-10-batches-py", origin=CIFAR + name, untar=True, file_hash=CHECKSUMS[name])
    train = [_cifar_batch(os.path.join(folder, f"data_batch_{i}")) for i in range(1, 6)]
    (x_train, y_train), (x_test, y_test) = _cifar(train, _cifar_batch(os.path.join(folder, "test_batch")))
    return (x_train, y_train.astype(np.uint8)), (x_test, y_test)


@public("keras.datasets.cifar100.load_data")
def load_cifar100(label_mode: str = "fine") -> tuple[Split, Split]:
    """The same of a hundred kinds, or of the twenty groups that these fall into."""
    if label_mode not in ("fine", "coarse"):
        raise ValueError('`label_mode` must be one of `"fine"`, `"coarse"`.')
    name = "cifar-100-python.tar.gz"
    folder = get_file("cifar-100-python", origin=CIFAR + name, untar=True, file_hash=CHECKSUMS[name])
    train, test = (_cifar_batch(os.path.join(folder, part), label_mode + "_labels") for part in ("train", "test"))
    return _cifar([train], test)


class Reading:
    """How the texts of reviews and news are given: which words, with which signs for starts and for what is left out."""

    def __init__(
        self,
        num_words: int | None,
        skip_top: int,
        maxlen: int | None,
        start_char: int | None,
        oov_char: int | None,
        index_from: int,
        kwargs: dict[str, Any],
    ) -> None:
        if "nb_words" in kwargs:
            logging.warning("The `nb_words` argument in `load_data` has been renamed `num_words`.")
            num_words = kwargs.pop("nb_words")
        if kwargs:
            raise TypeError("Unrecognized keyword arguments: " + str(kwargs))
        self.num_words, self.skip_top, self.maxlen = num_words, skip_top, maxlen
        self.start_char, self.oov_char, self.index_from = start_char, oov_char, index_from

    def of(self, texts: Any, labels: Any) -> tuple[list[list[int]], Any]:
        """Texts as lists of word numbers, with the labels of those that are short enough."""
        start = [] if self.start_char is None else [self.start_char]
        found = [start + [word + self.index_from for word in text] for text in texts]
        if self.maxlen:
            kept = [i for i, text in enumerate(found) if len(text) < self.maxlen]
            found, labels = [found[i] for i in kept], [labels[i] for i in kept]
            if not found:
                raise ValueError(f"After filtering for sequences shorter than maxlen={self.maxlen}, no sequence was kept. Increase maxlen.")
        most = self.num_words or max(max(text) for text in found)
        if self.oov_char is not None:
            return [[word if self.skip_top <= word < most else self.oov_char for word in text] for text in found], labels
        return [[word for word in text if self.skip_top <= word < most] for text in found], labels


def _objects(texts: list[list[int]]) -> np.ndarray:
    found = np.empty(len(texts), object)
    found[:] = texts
    return found


@public("keras.datasets.imdb.load_data")
def load_imdb(
    path: str = "imdb.npz",
    num_words: int | None = None,
    skip_top: int = 0,
    maxlen: int | None = None,
    seed: int = 113,
    start_char: int | None = 1,
    oov_char: int | None = 2,
    index_from: int = 3,
    **kwargs: Any,
) -> tuple[Split, Split]:
    """Reviews of films as lists of word numbers, the most frequent words first, and whether they are in favour."""
    reading = Reading(num_words, skip_top, maxlen, start_char, oov_char, index_from, kwargs)
    x_train, y_train, x_test, y_test = _arrays(path, "imdb.npz", "x_train", "y_train", "x_test", "y_test")
    x_train, y_train = _shuffled([x_train, y_train], seed)
    x_test, y_test = _shuffled([x_test, y_test])
    texts, labels = reading.of(np.concatenate([x_train, x_test]), np.concatenate([y_train, y_test]))
    first = len(x_train)
    return (_objects(texts[:first]), np.array(labels[:first])), (_objects(texts[first:]), np.array(labels[first:]))


@public("keras.datasets.imdb.get_word_index")
def imdb_word_index(path: str = "imdb_word_index.json") -> dict[str, int]:
    """The number of each word in the reviews."""
    return _word_index(path, "imdb_word_index.json")


@public("keras.datasets.reuters.load_data")
def load_reuters(
    path: str = "reuters.npz",
    num_words: int | None = None,
    skip_top: int = 0,
    maxlen: int | None = None,
    test_split: float = 0.2,
    seed: int = 113,
    start_char: int | None = 1,
    oov_char: int | None = 2,
    index_from: int = 3,
    **kwargs: Any,
) -> tuple[Split, Split]:
    """News of an agency as lists of word numbers, and their topics."""
    reading = Reading(num_words, skip_top, maxlen, start_char, oov_char, index_from, kwargs)
    texts, labels = reading.of(*_shuffled(_arrays(path, "reuters.npz", "x", "y"), seed))
    first = int(len(texts) * (1 - test_split))
    return (_objects(texts[:first]), np.array(labels[:first])), (_objects(texts[first:]), np.array(labels[first:]))


@public("keras.datasets.reuters.get_word_index")
def reuters_word_index(path: str = "reuters_word_index.json") -> dict[str, int]:
    """The number of each word in the news."""
    return _word_index(path, "reuters_word_index.json")


def _word_index(path: str, name: str) -> dict[str, int]:
    with open(get_file(path, origin=STORE + name, file_hash=CHECKSUMS[name])) as file:
        return json.load(file)
