"""tf.contrib.learn.datasets: what the collections hold."""

import urllib.error

import numpy as np
import pytest

import everflow as tf


def test_irises_are_150_flowers_of_three_species():
    flowers = tf.contrib.learn.datasets.load_dataset("iris")
    assert flowers.data.shape == (150, 4) and flowers.data.dtype == np.float64
    assert flowers.data[0].tolist() == [5.1, 3.5, 1.4, 0.2]
    assert np.bincount(flowers.target).tolist() == [50, 50, 50]


def test_houses_have_thirteen_facts_and_a_price():
    houses = tf.contrib.learn.datasets.load_boston()
    assert houses.data.shape == (506, 13) and houses.target[0] == 24.0


def test_csv_with_a_header(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("2,3,x\n1,2,3,0\n4,5,6,1\n")
    found = tf.contrib.learn.datasets.base.load_csv_with_header(str(path), np.int32, np.float32)
    assert found.data.tolist() == [[1, 2, 3], [4, 5, 6]] and found.target.tolist() == [0, 1]


def test_digits_are_looked_for_in_the_folder_of_the_program(tmp_path, monkeypatch):
    def offline(url, timeout):
        raise urllib.error.URLError("no network")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("urllib.request.urlopen", offline)
    with pytest.raises(ConnectionError, match="MNIST-data"):
        tf.contrib.learn.datasets.load_dataset("mnist")


def test_unknown_collections_are_named():
    with pytest.raises(ValueError, match="Name of dataset is not found: nope"):
        tf.contrib.learn.datasets.load_dataset("nope")
