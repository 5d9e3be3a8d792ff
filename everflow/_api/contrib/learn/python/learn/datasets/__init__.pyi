"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.datasets import LOADERS as _DATASETS
DATASETS = _DATASETS
from everflow.contrib.learn.datasets import SYNTHETIC as SYNTHETIC
base: Any
from everflow.contrib.learn.datasets import load_boston as load_boston
from everflow.contrib.learn.datasets import load_dataset as load_dataset
from everflow.contrib.learn.datasets import load_iris as load_iris
from everflow.contrib.learn.datasets import make_dataset as make_dataset
from everflow._api.contrib.learn.python.learn.datasets import mnist as mnist
from everflow._api.contrib.learn.python.learn.datasets import synthetic as synthetic
from everflow._api.contrib.learn.python.learn.datasets import text_datasets as text_datasets
