"""tf.contrib.learn.datasets: small collections of examples to learn from."""

from __future__ import annotations

import csv
import json
import os
import random
import sys
import tarfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from everflow.api import public
from everflow.contrib.learn.synthetic import circles, spirals
from everflow.data.mnist import DATASETS as BELOW
from everflow.data.mnist import Dataset, Datasets, load_mnist, maybe_download

PUBLIC = "contrib.learn.datasets."
BASE = BELOW + "base."
TEXTS = BELOW + "text_datasets."

# Programs replace the clock and the web of this module: it stands for TensorFlow's as a whole.
public(BELOW + "base")(sys.modules[__name__])
for _thing in (Dataset, Datasets, maybe_download):
    public(f"{PUBLIC}base.{_thing.__name__}")(_thing)

# A connection that took too long.
_TIMED_OUT = 110

DBPEDIA_URL = public(TEXTS + "DBPEDIA_URL")("https://github.com/le-scientifique/torchDatasets/raw/master/dbpedia_csv.tar.gz")


@public(PUBLIC + "base.load_csv_with_header", BASE + "load_csv_with_header")
def load_csv_with_header(filename: str, target_dtype: Any, features_dtype: Any, target_column: int = -1) -> Dataset:
    """A file of numbers whose first line says how many examples and how many features follow."""
    with open(filename, newline="") as file:
        rows = csv.reader(file)
        header = next(rows)
        samples, features = int(header[0]), int(header[1])
        data, target = _columns(rows, target_dtype, features_dtype, target_column)
    return Dataset(data.reshape(samples, features), target)


@public(PUBLIC + "base.load_csv_without_header", BASE + "load_csv_without_header")
def load_csv_without_header(filename: str, target_dtype: Any, features_dtype: Any, target_column: int = -1) -> Dataset:
    """A file of examples, a line each, one column of which is what to learn."""
    with open(filename, newline="") as file:
        return Dataset(*_columns(csv.reader(file), target_dtype, features_dtype, target_column))


def _columns(rows: Any, target_dtype: Any, features_dtype: Any, target_column: int) -> tuple[np.ndarray, np.ndarray]:
    data, target = [], []
    for row in rows:
        target.append(row.pop(target_column))
        data.append(np.asarray(row, features_dtype))
    return np.array(data), np.array(target, target_dtype)


@public(PUBLIC + "base.shrink_csv", BASE + "shrink_csv")
def shrink_csv(filename: str, ratio: int) -> None:
    """Writes every `ratio`-th line of a file to a `_small` file beside it."""
    with open(filename, newline="") as file, open(filename.replace(".", "_small."), "w", newline="") as small:
        csv.writer(small).writerows(row for i, row in enumerate(csv.reader(file)) if i % ratio == 0)


def _kept(name: str, target_dtype: Any) -> Dataset:
    rows = json.loads((Path(__file__).parent / f"{name}.json").read_text())
    return Dataset(np.array([row[:-1] for row in rows], np.float64), np.array([row[-1] for row in rows], target_dtype))


@public(PUBLIC + "load_iris", BELOW + "load_iris", PUBLIC + "base.load_iris", BASE + "load_iris")
def load_iris(data_path: str | None = None) -> Dataset:
    """Fisher's irises: four measures of 150 flowers of three species."""
    return _kept("iris", np.int64) if data_path is None else load_csv_with_header(data_path, np.int64, np.float64)


@public(PUBLIC + "load_boston", BELOW + "load_boston", PUBLIC + "base.load_boston", BASE + "load_boston")
def load_boston(data_path: str | None = None) -> Dataset:
    """The prices of 506 houses in Boston, and thirteen facts about each."""
    return _kept("boston", np.float64) if data_path is None else load_csv_with_header(data_path, np.float64, np.float64)


@public(PUBLIC + "base.retry", BASE + "retry")
def retry(
    initial_delay: float, max_delay: float, factor: float = 2.0, jitter: float = 0.25, is_retriable: Any = None
) -> Callable[[Any], Any]:
    """Has a function tried again after longer and longer delays, where its error may go away."""
    if factor < 1:
        raise ValueError(f"factor must be >= 1; was {factor:f}")
    if jitter >= 1:
        raise ValueError(f"jitter must be < 1; was {jitter:f}")

    def delays() -> Iterator[float]:
        delay = initial_delay
        while delay <= max_delay:
            yield delay * random.uniform(1 - jitter, 1 + jitter)
            delay *= factor

    def wrap(function: Any) -> Any:
        def tried(*args: Any, **kwargs: Any) -> Any:
            for delay in delays():
                try:
                    return function(*args, **kwargs)
                except Exception as error:
                    if is_retriable is not None:
                        if not is_retriable(error):
                            raise
                        time.sleep(delay)
            return function(*args, **kwargs)

        return tried

    return wrap


@public(PUBLIC + "base.urlretrieve_with_retry", BASE + "urlretrieve_with_retry")
@retry(initial_delay=1.0, max_delay=16.0, is_retriable=lambda error: isinstance(error, OSError) and error.errno == _TIMED_OUT)
def urlretrieve_with_retry(url: str, filename: str | None = None) -> Any:
    """Fetches a file, again where a connection takes too long."""
    return urllib.request.urlretrieve(url, filename)


@public(TEXTS + "maybe_download_dbpedia")
def maybe_download_dbpedia(data_dir: str) -> None:
    """Puts the articles of DBpedia below a folder, unless they are there."""
    folder = os.path.join(data_dir, "dbpedia_csv")
    if all(os.path.exists(os.path.join(folder, name)) for name in ("train.csv", "test.csv")):
        return
    archive = maybe_download("dbpedia_csv.tar.gz", data_dir, DBPEDIA_URL)
    with tarfile.open(archive, "r:*") as packed:
        packed.extractall(data_dir, filter="data")


@public(TEXTS + "load_dbpedia")
def load_dbpedia(size: str = "small", test_with_fake_data: bool = False) -> Datasets:
    """Articles of DBpedia with the class of what each is about; "small" takes every 1000th of them."""
    if test_with_fake_data:
        raise ValueError("Everflow has no made-up articles; load_dbpedia with test_with_fake_data=False reads the real ones")
    folder = os.path.join(os.getenv("TF_EXP_BASE_DIR", ""), "dbpedia_data")
    maybe_download_dbpedia(folder)
    paths = [os.path.join(folder, "dbpedia_csv", name) for name in ("train.csv", "test.csv")]
    if size == "small":
        for path in paths:
            shrink_csv(path, 1000)
        paths = [path.replace(".csv", "_small.csv") for path in paths]
    train, test = (load_csv_without_header(path, np.int32, str, 0) for path in paths)
    return Datasets(train, None, test)


LOADERS = public(PUBLIC + "DATASETS", BELOW + "DATASETS")(
    {"iris": load_iris, "boston": load_boston, "mnist": load_mnist, "dbpedia": load_dbpedia}
)


@public(PUBLIC + "load_dataset", BELOW + "load_dataset")
def load_dataset(name: str, size: str = "small", test_with_fake_data: bool = False) -> Any:
    """One of the collections by its name."""
    if name not in LOADERS:
        raise ValueError(f"Name of dataset is not found: {name}")
    return load_dbpedia(size, test_with_fake_data) if name == "dbpedia" else LOADERS[name]()


SYNTHETIC = public(BELOW + "SYNTHETIC", PUBLIC + "SYNTHETIC")({"circles": circles, "spirals": spirals})


@public(PUBLIC + "make_dataset", BELOW + "make_dataset")
def make_dataset(name: str, n_samples: int = 100, noise: Any = None, seed: int = 42, *args: Any, **kwargs: Any) -> Dataset:
    """Points of a made-up collection by its name."""
    if name not in SYNTHETIC:
        raise ValueError(f"Synthetic dataset not found or not implemeted: {name}")
    return SYNTHETIC[name](*args, n_samples=n_samples, noise=noise, seed=seed, **kwargs)
